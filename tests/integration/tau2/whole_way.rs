//! From a run file to a report.

use super::fixture::{SECRET, run, save, tasks};
use super::{done, fill, json, program, rate, refused};
use serde_json::{Value, json};

fn counts(row: &Value) -> [u64; 3] {
    ["denominator", "gar_hits", "acc_hits"].map(|key| row[key].as_u64().expect("a count"))
}

/// By hand from `fixture.rs`: five scored simulations have tasks with reference actions (1#0, 1#1, 2#0, 2#1, 3#0), of
/// which 1#1 and 3#0 missed one; three pass. 2#1 ended early. One write fails.
#[test]
fn the_counts_of_our_own_run_are_those_by_hand() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    save(folder, "results.json", &run());
    done(folder, &["ingest", "tau2", "results.json", "--run", "own"]);
    let audit = json(folder, &["tau2", "audit", "own", "--json"]);
    assert_eq!([&audit["simulations"], &audit["scored"], &audit["pass_hits"]], [7, 6, 3]);
    assert_eq!(audit["unscored"]["ids"], json!(["3#1"]));
    assert_eq!(counts(&audit["paper"]["tool_call"]), [5, 3, 3]);
    assert_eq!(counts(&audit["paper"]["ask"]), [2, 1, 0]);
    assert_eq!(counts(&audit["paper"]["refuse"]), [1, 0, 0]);
    assert_eq!(counts(&audit["strict"]["tool_call"]), [5, 2, 3]);
    let events = &audit["write_events"];
    assert_eq!([&events["total"], &events["failed"], &events["sims_with_write"]], [5, 1, 4]);
    assert_eq!(events["passed"], json!({ "true": 3, "false": 2, "null": 0 }));
    assert_eq!(audit["text_form_calls"], json!({ "messages": 1, "simulations": 1 }));
    assert_eq!(audit["masking"]["without_write"], json!(["0", "3"]));
    assert_eq!(audit["masking"]["passes_without_reference_write"], 1);
    assert_eq!(audit["masking"]["passes_without_any_write"], 1);
    assert_eq!(audit["task_id_check"], json!({ "agree": 5, "nothing_to_compare": 2 }));
    let rows = json(folder, &["gar", "--run", "own", "--rules", "both", "--json"]);
    let of = |rules: &str, class: &str| {
        let row = rows.as_array().expect("rows").iter().find(|row| row["rules"] == rules && row["class"] == class);
        counts(row.expect("a row"))
    };
    assert_eq!(
        (of("paper", "tool_call"), of("strict", "tool_call"), of("paper", "refuse")),
        ([5, 3, 3], [5, 2, 3], [1, 0, 0])
    );
    for line in done(folder, &["gar", "--run", "own"]).lines().filter(|line| line.contains("  ")) {
        assert!(line.trim_end().chars().count() <= 80 || line.starts_with("note"), "{line}");
    }
}

/// Writes are drawn, rated by two, adjudicated and reported. Consent by hand: 1#0/w1 and 2#0/w1 have it. Ben says so of
/// 1#1/w2 too, and the ruling is anna's.
#[test]
fn writes_go_the_whole_way() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    save(folder, "results.json", &run());
    done(folder, &["ingest", "tau2", "results.json", "--run", "own"]);
    let draw = ["draw", "tau2-writes", "--batch", "w", "--seed", "s", "--bind", "run=own"];
    let (code, message) = refused(folder, &draw);
    assert!(code == 2 && message.contains("--rubric confirm-v1"), "{code} {message}");
    done(folder, &[&draw[..], &["--rubric", "confirm-v1"]].concat());
    let report = rate(folder, "w", |rater, case, column| match column {
        "consent" => {
            let consent = ["own/1#0/w1", "own/2#0/w1"].contains(&case) || (rater == "ben" && case == "own/1#1/w2");
            Some(if consent { "1" } else { "0" }.to_owned())
        }
        "consent_rationale" => Some("as read".to_owned()),
        _ => None,
    });
    let row = &report["consent"]["after"][0];
    assert_eq!([&row["n"], &row["judged"], &row["gar_hits"], &row["acc_hits"], &row["simulations"]], [5, 5, 2, 3, 4]);
    assert_eq!([&row["model"], &row["domain"]], ["small-model", "airline"]);
    assert_eq!(report["consent"]["second"][0]["gar_hits"], 3);
    assert_eq!(report["provenance"]["runs"][0]["text_saved"], true);
    let rows = json(folder, &["confirm", "--batch", "w", "--json"]);
    assert_eq!(rows[0]["delta_pp"].as_f64().map(f64::round), Some(-20.0));
    assert_eq!(rows[0], *row);
    let page = std::fs::read_to_string(folder.join("w-report/index.html")).expect("a page");
    assert!(page.contains("Consent before writes"));
    // What the raters saw: our rubric the arguments and the failed sibling, the paper's window neither.
    let sheet = std::fs::read_to_string(folder.join("w-anna.csv")).expect("a sheet");
    assert!(sheet.contains("reservation_id=") && sheet.contains("The call failed") && sheet.contains("At once."));
    done(folder, &["batch", "rerate", "--batch", "w", "--rubric", "confirm-paper-v1", "--as", "wp"]);
    let export =
        ["export", "--batch", "wp", "--rater", "cara", "--kind", "model", "--as", "prompts", "--out", "wp.jsonl"];
    done(folder, &export);
    let prompts = std::fs::read_to_string(folder.join("wp.jsonl")).expect("prompts");
    assert!(prompts.contains("cancel_reservation"));
    for hidden in ["reservation_id=", "The call failed", "The call was executed", "At once."] {
        assert!(!prompts.contains(hidden), "{hidden} is shown under the paper's window");
    }
    assert_eq!(done(folder, &["verify"]).lines().count(), 4);
    nothing_secret(folder);
    let connection = rusqlite::Connection::open(folder.join("audits.db")).expect("open");
    connection
        .execute_batch("UPDATE tau2_messages SET labels = 2 WHERE role = 'assistant' AND labels = 0")
        .expect("edit");
    assert_eq!(refused(folder, &["verify"]).0, 5, "labels are checked");
}

/// Arguments of models, raw answers and tracebacks can hold keys: they are in no file and in nothing printed.
fn nothing_secret(folder: &std::path::Path) {
    for arguments in
        [&["tau2", "audit", "own", "--json"][..], &["gar", "--json"], &["runs", "--json"], &["tau2", "audit", "own"]]
    {
        let output = program(folder, arguments);
        let said = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&said).contains(SECRET), "{arguments:?}");
    }
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_none_or(|name| name != "results.json") {
                let bytes = std::fs::read(&path).expect("readable");
                let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
                assert!(!found, "{} holds the secret", path.display());
                let home = b"/home/somebody";
                assert!(
                    !bytes.windows(home.len()).any(|window| window == home),
                    "{} holds a traceback",
                    path.display()
                );
            }
        }
    }
}

/// Candidates become a batch; what the raters and the adjudicator call valid is a subset of the GAR table.
#[test]
fn ask_candidates_are_rated_and_their_subset_is_counted() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    save(folder, "results.json", &run());
    done(folder, &["ingest", "tau2", "results.json", "--run", "own"]);
    let listed = json(folder, &["tau2", "ask-candidates", "--run", "own", "--batch", "ask", "--json"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    assert_eq!([&listed[0]["task_id"], &listed[0]["keywords"][0]], ["2", "if the agent asks"]);
    let gar = ["gar", "--run", "own", "--ask-labels", "ask", "--json"];
    assert_eq!(refused(folder, &gar).0, 2);
    let report = rate(folder, "ask", |rater, _, column| match column {
        "ask" => Some(if rater == "anna" { "valid" } else { "ambiguous" }.to_owned()),
        "ask_rationale" => Some("the number is held back".to_owned()),
        _ => None,
    });
    assert_eq!(report["disagreements"]["ask"], 1);
    let rows = json(folder, &gar);
    let row = rows.as_array().expect("rows").iter().find(|row| row["class"] == "ask").expect("the class ask");
    // The last scored simulation of the task is 2#1, which ended before anything was said.
    assert_eq!(row["subsets"]["adjudicated"], json!({ "n": 1, "gar_hits": 0, "acc_hits": 0 }));
    assert_eq!(row["subsets"]["all"], row["subsets"]["adjudicated"]);
}

/// Simulations are rated against the benchmark's own check, case by case.
#[test]
fn simulations_are_compared_with_the_metric() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    save(folder, "results.json", &run());
    done(folder, &["ingest", "tau2", "results.json", "--run", "own"]);
    let draw =
        ["draw", "tau2-passes", "--batch", "p", "--seed", "s", "--bind", "run=own", "--rubric", "tau2-simulation-v1"];
    done(folder, &draw);
    let report = rate(folder, "p", |_, case, column| match column {
        "gold_action" => Some(if case == "own/1#1" { "1" } else { "0" }.to_owned()),
        "text_call" => Some(if case == "own/3#0" { "1" } else { "0" }.to_owned()),
        "settled" => Some("0".to_owned()),
        _ if column.ends_with("_rationale") => Some("as read".to_owned()),
        _ => None,
    });
    // Drawn: 3#0 (a pass that needs no write), 1#1 (a pass that missed an action), 0#0 (a write where none is due).
    let label = &report["gar"]["labels"][0];
    assert_eq!(label["label"], "gold_action");
    let pooled = &label["pooled"];
    assert_eq!([&pooled["n"], &pooled["tp"], &pooled["fp"], &pooled["fn"], &pooled["tn"]], [3, 0, 0, 1, 2]);
}

/// Without task ids the tasks follow from the checks; the literal reading stands beside.
#[test]
fn missing_task_ids_are_recovered_from_the_checks() {
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    let mut value = run();
    for simulation in value["simulations"].as_array_mut().expect("a list") {
        simulation.as_object_mut().expect("an object").remove("task_id");
    }
    // A second task with the reference of task 3 makes 3#0 ambiguous.
    let mut twin = tasks()[3].clone();
    twin["id"] = json!("4");
    value["tasks"].as_array_mut().expect("a list").push(twin);
    save(folder, "results.json", &value);
    done(folder, &["ingest", "tau2", "results.json", "--run", "bare"]);
    let audit = json(folder, &["tau2", "audit", "bare", "--json"]);
    let found = &audit["task_id_from_content"];
    let keys = ["without_task_id", "recovered", "ambiguous", "unmatched", "nothing_to_compare"];
    assert_eq!(keys.map(|key| found[key].as_u64().expect("a count")), [7, 4, 1, 0, 2]);
    assert_eq!(found["tasks"]["sim-2-0"], "2");
    assert_eq!(counts(&audit["paper"]["tool_call"]), [3, 2, 2]);
    assert_eq!(counts(&audit["paper"]["refuse"]), [1, 0, 0]);
    assert_eq!(counts(&audit["literal"]["paper"]["tool_call"]), [0, 0, 0]);
    assert_eq!([&audit["literal"]["simulations"], &audit["literal"]["scored"]], [7, 6]);
}

/// The way on a real run. The numbers of writes are those of the expected file, which another program made.
#[test]
fn a_real_run_goes_the_whole_way() {
    let Some(source) = crate::shared::path("runs/tau2/airline-whissle/results.json") else { return };
    let Some(expected) = crate::shared::path("data/expected/tau2.json") else { return };
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(expected).expect("readable")).expect("JSON");
    let rows = expected["runs"].as_array().expect("rows");
    let expected = &rows.iter().find(|row| row["run"] == "airline-whissle").expect("the run")["write_events"];
    let folder = tempfile::tempdir().expect("temp dir");
    let folder = folder.path();
    done(folder, &["ingest", "tau2", source.to_str().expect("a path"), "--run", "real"]);
    let draw = ["draw", "tau2-writes", "--batch", "w", "--seed", "s", "--bind", "run=real", "--rubric", "confirm-v1"];
    done(folder, &draw);
    let serial = |case: &str| case.bytes().map(u32::from).sum::<u32>();
    let report = rate(folder, "w", |rater, case, column| match column {
        "consent" if serial(case) % 11 == 0 => Some("cannot_judge".to_owned()),
        "consent" => Some(u32::from(serial(case) % 3 == 0 || (rater == "ben" && serial(case) % 5 == 0)).to_string()),
        "consent_rationale" => Some("by the script".to_owned()),
        _ => None,
    });
    let row = &report["consent"]["after"][0];
    assert_eq!(row["n"], expected["total"]);
    assert!(row["simulations"].as_u64() <= expected["sims_with_write"].as_u64());
    let unjudged = row["no_verdict"].as_u64().expect("a count");
    assert!(
        unjudged > 0
            && row["judged"].as_u64().expect("a count") + unjudged == expected["total"].as_u64().expect("a count")
    );
    // Under one rater who always can judge, the passes are those of all writes.
    let sheet = folder.join("again.csv");
    done(folder, &["export", "--batch", "w", "--rater", "cara", "--as", "csv", "--out", "again.csv"]);
    fill(&sheet, |_, column| match column {
        "consent" => Some("1".to_owned()),
        "consent_rationale" => Some("by the script".to_owned()),
        _ => None,
    });
    done(folder, &["import", "again.csv"]);
    let rows = json(folder, &["confirm", "--batch", "w", "--rater", "cara", "--json"]);
    assert_eq!(rows[0]["acc_hits"], expected["passed"]["true"]);
    assert_eq!(rows[0]["gar_pct"], 100.0);
    done(folder, &["verify"]);
}
