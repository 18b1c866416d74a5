//! The mechanical rater as a stored rater, the rubric of version 3, the same cases under another rubric, and families of
//! models, through the program itself on the demo's scripted runs.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn dualrater(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dualrater"));
    command.current_dir(folder).env_remove("DUALRATER_DB").args(arguments).output().expect("the program runs")
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = dualrater(folder, arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(folder, arguments)).expect("JSON on stdout")
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = dualrater(folder, arguments);
    assert!(!output.status.success(), "{arguments:?} is refused");
    String::from_utf8(output.stderr).expect("UTF-8")
}

fn demo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    done(folder.path(), &["demo"]);
    folder
}

fn count(summary: &Value, label: &str, value: &str) -> u64 {
    summary.pointer(&format!("/labels/{label}/{value}")).and_then(Value::as_u64).unwrap_or(0)
}

fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).expect("a count")
}

#[test]
fn the_mechanical_rater_is_stored_once_and_never_of_record() {
    let folder = demo();
    let at = folder.path();
    let first = json(at, &["rate-mechanically", "--batch", "demo", "--json"]);
    let cases = number(&first, "cases");
    assert_eq!(number(&first, "stored"), 5 * cases, "B1a, B1b, B3, B4 and B5 of every case");
    let sheet = std::fs::read_to_string(at.join("demo-data/sheets/sim-careful.csv")).expect("the demo's sheet");
    let mut rows = csv::Reader::from_reader(sheet.as_bytes());
    let column = rows.headers().expect("a header").iter().position(|name| name == "category").expect("a category");
    let outside = rows.records().filter(|row| row.as_ref().expect("a row").get(column) != Some("miss_func")).count();
    assert_eq!(count(&first, "B3", "n.a."), outside as u64, "only miss_func holds tools out");
    assert!(count(&first, "B1a", "1") <= count(&first, "B1b", "1"), "the gold turn is one of the turns of B1b");
    let again = json(at, &["rate-mechanically", "--batch", "demo", "--json"]);
    assert_eq!((number(&again, "stored"), number(&again, "unchanged")), (0, 5 * cases));
    assert_eq!(again.get("chain_head"), first.get("chain_head"));
    done(at, &["rate-mechanically", "--batch", "demo", "--rules", "strict"]);
    done(at, &["verify"]);
    let message = refused(at, &["raters", "--batch", "demo", "--pair", "sim-careful,mechanical-paper"]);
    assert!(message.contains("cannot be of record"), "{message}");
    let raters = "sim-careful,mechanical-paper";
    let rows = json(at, &["agree", "--batch", "demo", "--raters", raters, "--replicates", "50", "--json"]);
    let b1a = rows.as_array().expect("rows").iter().find(|row| row.get("label") == Some(&Value::from("B1a")));
    assert_eq!(number(b1a.expect("B1a"), "n"), cases);
}

#[test]
fn the_report_sets_raters_beside_the_mechanical_rater() {
    let folder = demo();
    let at = folder.path();
    let report = |out: &str| json(at, &["report", "--batch", "demo", "--out", out, "--replicates", "50", "--json"]);
    let before = report("before");
    assert!(before.get("mechanical").is_none());
    done(at, &["rate-mechanically", "--batch", "demo"]);
    let after = report("after");
    assert_eq!(before.get("agreement"), after.get("agreement"), "the pair of record is as before");
    let rows = after.pointer("/mechanical/rows").and_then(Value::as_array).expect("rows");
    assert_eq!(rows.len(), 2 * 5, "two raters, five computed labels");
    let text = std::fs::read_to_string(at.join("after/report.md")).expect("a report");
    assert!(text.contains("no independent evidence"));
}

#[test]
fn an_audit_without_case_text_cannot_be_rated_mechanically() {
    let Some(labels) = crate::shared::path("data/paper-audit/labels-main.jsonl") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let labels = labels.to_str().expect("UTF-8");
    done(folder.path(), &["ingest", "labels", labels, "--batch", "published", "--split", "main"]);
    let message = refused(folder.path(), &["rate-mechanically", "--batch", "published"]);
    assert!(message.contains("no text here"), "{message}");
}
