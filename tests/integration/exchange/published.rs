//! The rubric and the case view against published labels and real runs.

use std::collections::BTreeMap;
use std::io::BufRead as _;

use dualrater::rate::{Piece, pieces};
use dualrater::rubric::{CaseFacts, check_case, check_value};
use serde_json::Value;

use super::*;

/// The published audit: all 200 cases, both raters and the finals, hold answers that the rubric takes, and satisfy its
/// rules; so the file of our words does not ask for more than the audit gave.
#[test]
fn the_published_labels_satisfy_mechanism_v2() {
    let Some(path) = crate::shared::path("data/paper-audit/labels-main.jsonl") else { return };
    let rubric = rubric();
    let text = std::fs::read_to_string(path).expect("readable");
    let mut checked = 0;
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let stratum = record["stratum"].as_str().expect("stratum");
        let facts = CaseFacts {
            category: Category::parse(record["category"].as_str().expect("category")).expect("known"),
            stratum,
            verdict: record["baseline"].as_str().and_then(Verdict::parse),
        };
        for who in ["a", "b", "final"] {
            let mut answers = BTreeMap::new();
            for (id, value) in record[who].as_object().expect("labels") {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let known = rubric.label(&label(id)).expect("in the rubric");
                let answer = check_value(known, &text).expect("valid");
                assert_eq!(answer.mapped_from, None);
                answers.insert(label(id), answer.value.expect("given"));
            }
            assert_eq!(answers.len(), 7);
            assert_eq!(check_case(&rubric, &facts, &answers), [], "{who} of {line}");
            checked += 1;
        }
    }
    assert_eq!(checked, 600);
}

/// Calls of real runs are shown as calls. The numbers of tool-call emissions are those that the reference classifier
/// gives; those among them whose arguments are no JSON object (counted with Python's json module) are shown raw.
#[test]
fn calls_of_real_runs_are_recognised() {
    let Some(path) = crate::shared::path("data/expected/bfcl-gar.json") else { return };
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("readable")).expect("JSON");
    let mut runs = 0;
    for row in expected.as_array().expect("rows") {
        let (run, category) = (row["run"].as_str().expect("run"), row["category"].as_str().expect("category"));
        if !["Salesforce_Llama-xLAM-2-8b-fc-r", "openai_gpt-oss-20b", "glyphh-hdc__claude-opus-4.5"].contains(&run) {
            continue;
        }
        let Some(folder) = crate::shared::path(&format!("runs/bfcl/{run}/result")) else { return };
        let suffix = format!("multi_turn_{category}_result.json");
        let file = std::fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").path());
        let file = file.into_iter().find(|path| path.to_string_lossy().ends_with(&suffix)).expect("result file");
        let mut with_calls = 0_u64;
        for line in std::io::BufReader::new(std::fs::File::open(file).expect("readable")).lines() {
            let record: Value = serde_json::from_str(&line.expect("text")).expect("JSON");
            for emission in record["result"].as_array().into_iter().flatten().filter_map(Value::as_array).flatten() {
                let shown = pieces(&emission.to_string());
                with_calls += u64::from(shown.iter().any(|piece| matches!(piece, Piece::Call(_))));
            }
        }
        let raw = match (run, category) {
            ("openai_gpt-oss-20b", "base" | "miss_param") => 4,
            ("openai_gpt-oss-20b", "miss_func") => 8,
            _ => 0,
        };
        let calls = row["emission_classes"]["tool_call"].as_u64().expect("count");
        assert_eq!(with_calls + raw, calls, "{run} {category}");
        runs += 1;
    }
    assert!(runs >= 6, "{runs}");
}
