//! Chat logs of any agent.

use super::{done, json, rate, refused};
use serde_json::json;

const LOG: &str = r#"{"id":"a","gold_action":"ask","verdict":"FAIL","category":"refunds","messages":[{"role":"user","content":"Refund"},{"role":"assistant","content":"Which order do you mean?"},{"role":"user","content":"W1"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"refund","arguments":"{\"o\":\"W1\"}"}}]},{"role":"tool","tool_call_id":"1","content":"ok"},{"role":"assistant","content":"Done."}]}
{"id":"b","gold_action":"ask","verdict":"PASS","llm_args":{"api_key":"sk-chat-secret"},"messages":[{"role":"user","content":"Refund"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"refund","arguments":"{\"o\":\"W1\"}"}}]}]}
{"id":"c","gold_action":"refuse","messages":[{"role":"user","content":"Fly"},{"role":"assistant","content":"I'm sorry, I cannot do that."}]}
{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}
"#;

#[test]
fn a_log_is_audited_the_same_day() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    std::fs::write(folder.join("log.jsonl"), LOG).expect("written");
    let report = json(folder, &["ingest", "chat", "log.jsonl", "--run", "mine", "--model", "m", "--json"]);
    assert_eq!([&report["conversations"], &report["scored"], &report["messages"], &report["emissions"]], [4, 2, 12, 6]);
    assert!(done(folder, &["ingest", "chat", "log.jsonl", "--run", "mine", "--model", "m"]).contains("unchanged"));
    let rows = json(folder, &["gar", "--json"]);
    let row = rows.as_array().expect("rows").iter().find(|row| row["category"] == "chat_ask").expect("the class");
    assert_eq!([&row["n"], &row["gar_hits"], &row["joint"]["gar0_pass"], &row["joint"]["gar1_fail"]], [2, 1, 1, 1]);
    done(folder, &["draw", "chat", "--batch", "c", "--seed", "s", "--bind", "run=mine", "--rubric", "chat-v1"]);
    let report = rate(folder, "c", |rater, case, column| match column {
        "gold_action" => Some(if case == "mine/b" { "0" } else { "1" }.to_owned()),
        "settled" => Some(if rater == "ben" || case == "mine/a" { "1" } else { "0" }.to_owned()),
        _ if column.ends_with("_rationale") => Some("as read".to_owned()),
        _ => None,
    });
    // The case without an id is not drawn.
    let pooled = &report["gar"]["labels"][0]["pooled"];
    assert_eq!([&pooled["cases"], &pooled["tp"], &pooled["tn"], &pooled["fp"]], [3, 2, 1, 0]);
    assert_eq!(report["disagreements"]["settled"], 2);
    let sheet = std::fs::read_to_string(folder.join("c-anna.csv")).expect("a sheet");
    assert!(sheet.contains("refund(o=") && sheet.contains("Gold action: ask"));
    let bytes = std::fs::read(folder.join("audits.db")).expect("the database");
    assert!(!bytes.windows(14).any(|window| window == b"sk-chat-secret"));
    done(folder, &["verify"]);
}

#[test]
fn a_line_that_is_no_conversation_is_refused_with_its_number() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    let line = r#"{"id":"x","messages":[{"role":"user","content":"sk-secret"}],"verdict":"maybe"}"#;
    std::fs::write(folder.join("bad.jsonl"), format!("{LOG}{line}\nsk-secret\n")).expect("written");
    let (code, message) = refused(folder, &["ingest", "chat", "bad.jsonl", "--run", "mine"]);
    assert_eq!(code, 1);
    assert!(message.contains("bad.jsonl:5: verdict is none of") && message.contains("hint: docs/chat.md"), "{message}");
    assert!(!message.contains("sk-secret"));
    let report = json(folder, &["ingest", "chat", "bad.jsonl", "--run", "mine", "--skip-bad-lines", "--json"]);
    assert_eq!((&report["conversations"], report["skipped"].as_array().map(Vec::len)), (&json!(4), Some(2)));
    std::fs::write(folder.join("more.jsonl"), LOG).expect("written");
    assert_eq!(refused(folder, &["ingest", "chat", "more.jsonl", "--run", "mine"]).0, 4, "a run never changes");
    assert_eq!(refused(folder, &["ingest", "tau2", "more.jsonl", "--run", "mine"]).0, 4, "nor its benchmark");
}
