//! Requests in a file, answers in another: in any order, whole or in part, with errors, twice.

use serde_json::json;

use super::*;

const EXPORT: [&str; 9] = ["export", "--batch", "demo", "--rater", "m1", "--model", "m", "--as", "openai-batch"];

fn requests(at: &Path) -> Vec<Value> {
    let text = done(at, &EXPORT);
    text.lines().map(|line| serde_json::from_str(line).expect("a request")).collect()
}

/// A line of a results file in the form that the batch service documents.
fn result(request: &Value, content: &str) -> Value {
    json!({
        "id": "batch_req_1",
        "custom_id": request["custom_id"],
        "response": {
            "status_code": 200,
            "request_id": "r",
            "body": {
                "object": "chat.completion",
                "model": "m-2026",
                "choices": [{ "index": 0, "message": { "role": "assistant", "content": content }, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 5, "completion_tokens": 6 },
            },
        },
        "error": null,
    })
}

fn valid(request: &Value) -> String {
    server::answer_to(&request["body"]["response_format"]["json_schema"]["schema"]).to_string()
}

fn write(at: &Path, lines: &[Value]) -> String {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(at.join("results.jsonl"), text).expect("written");
    "results.jsonl".to_owned()
}

#[test]
fn results_are_taken_in_any_order_in_part_and_with_errors() {
    let folder = project();
    let at = folder.path();
    let asked = requests(at);
    let all = cases(at) as usize;
    assert_eq!(asked.len(), all);
    for request in &asked {
        assert_eq!((request["method"].as_str(), request["url"].as_str()), (Some("POST"), Some("/v1/chat/completions")));
        assert_eq!(request["body"]["model"], "m");
    }
    let mut ids: Vec<&str> = asked.iter().map(|request| request["custom_id"].as_str().expect("an id")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "every request has an id of its own");
    // Backwards; a third missing; one not valid, one that the service failed, one of nobody, one that is no line at all.
    let mut lines: Vec<Value> =
        asked.iter().skip(all / 3).rev().map(|request| result(request, &valid(request))).collect();
    let given = lines.len();
    lines[0] = result(&asked[all - 1], "I cannot say.");
    lines[1] = json!({ "custom_id": asked[all - 2]["custom_id"], "response": null,
        "error": { "code": "batch_expired", "message": "too late" } });
    lines[2] = json!({ "custom_id": asked[all - 3]["custom_id"], "error": null,
        "response": { "status_code": 500, "body": { "error": { "message": "server error" } } } });
    lines.push(result(&json!({ "custom_id": "dr1-unknown" }), "{}"));
    let file = write(at, &lines);
    let output = run(at, &["import", &file, "--json"]);
    assert_eq!(output.status.code(), Some(1), "lines that could not be used are an error, and the others are stored");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(count(&found, "/verdicts") as usize, given - 3);
    assert_eq!((count(&found, "/to_ask_again"), count(&found, "/not_answered")), (1, 2));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("batch_expired too late") && said.contains("dr1-unknown"), "{said}");
    // The same file again: nothing is doubled.
    let again: Value = serde_json::from_slice(&run(at, &["import", &file, "--json"]).stdout).expect("JSON");
    assert_eq!((count(&again, "/stored"), count(&again, "/known") as usize), (0, given - 2));
    assert_eq!(again["chain_head"], found["chain_head"]);
    // What is open is exported again, the invalid one with its conversation, and completes the batch.
    let open = requests(at);
    assert_eq!(open.len(), all - (given - 3));
    let second: Vec<&Value> =
        open.iter().filter(|one| one["body"]["messages"].as_array().map(Vec::len) == Some(4)).collect();
    assert_eq!(second.len(), 1);
    assert_eq!(second[0]["body"]["messages"][2]["content"], "I cannot say.");
    let lines: Vec<Value> = open.iter().map(|request| result(request, &valid(request))).collect();
    let file = write(at, &lines);
    let last = json(at, &["import", &file, "--json"]);
    assert_eq!(count(&last, "/verdicts") as usize, open.len());
    assert!(requests(at).is_empty());
    let rated = "SELECT count(DISTINCT identity) FROM ratings WHERE rater = 'm1' AND label = 'B1a'";
    assert_eq!(query(at, rated) as usize, all);
    assert_eq!(text(at, "SELECT DISTINCT reported_model FROM judge_replies"), "m-2026");
    done(at, &["verify"]);
    // A server on line takes over under the same name where a file left off: nothing is left.
    let server = sound();
    done(at, &judge(&server.url(), &[]));
    assert!(server.asked().is_empty());
}

#[test]
fn a_dry_import_stores_nothing() {
    let folder = project();
    let at = folder.path();
    let asked = requests(at);
    let lines: Vec<Value> = asked.iter().map(|request| result(request, &valid(request))).collect();
    let file = write(at, &lines);
    let found = json(at, &["import", &file, "--dry-run", "--json"]);
    assert_eq!(count(&found, "/verdicts") as usize, asked.len());
    assert_eq!(query(at, "SELECT count(*) FROM judge_replies"), 0);
}
