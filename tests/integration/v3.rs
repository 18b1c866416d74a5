//! The mechanical rater as a stored rater, the rubric of version 3, the same cases under another rubric, and families of
//! models, through the program itself on the demo's scripted runs.

use std::path::Path;
use std::process::{Command, Output};

use dualrater::demo::Truth;
use dualrater::model::{ActionClass, BatchName, LabelId, RaterName, RatingValue};
use dualrater::store::Store;
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

/// The rows of a rating sheet with the answers of `sim-careful` in the demo filled in for another rater and rubric.
fn fill(sheet: &Path, answers: &Path, rater: &str) {
    let text = std::fs::read_to_string(answers).expect("the demo's sheet");
    let mut known = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let names = known.headers().expect("a header").clone();
    let position = |names: &csv::StringRecord, name: &str| names.iter().position(|other| other == name);
    let case = position(&names, "case").expect("a case");
    let rows: Vec<csv::StringRecord> = known.records().map(|row| row.expect("a row")).collect();
    let text = std::fs::read_to_string(sheet).expect("a sheet");
    let mut blank = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let wanted = blank.headers().expect("a header").clone();
    let mut out = csv::Writer::from_path(sheet).expect("a sheet");
    out.write_record(&wanted).expect("written");
    for row in blank.records() {
        let row = row.expect("a row");
        let own = row.get(position(&wanted, "case").expect("a case"));
        let source = rows.iter().find(|known| known.get(case) == own).expect("the same cases");
        let filled = wanted.iter().zip(&row).map(|(name, cell)| {
            let label = name.trim_end_matches("_rationale");
            let old = match label {
                "B3_after_return" => "B3",
                "B1a" | "B1b" | "B4" | "B6" | "B7" => label,
                // Whether a held-out tool was called while absent was not asked before; nobody called one.
                "B3_while_absent" if cell.is_empty() && name == label => return "0",
                _ => return cell,
            };
            let column = if name == label { old.to_owned() } else { format!("{old}_rationale") };
            position(&names, &column).and_then(|column| source.get(column)).unwrap_or(cell)
        });
        out.write_record(filled).expect("written");
    }
    out.flush().expect("written");
    assert!(text.contains(rater) && text.contains("(by rule)"), "B5 is closed");
}

#[test]
fn the_same_cases_under_another_rubric_keep_their_ratings_apart() {
    let folder = demo();
    let at = folder.path();
    let agreement = || done(at, &["agree", "--batch", "demo", "--replicates", "50", "--json"]);
    let before = agreement();
    done(at, &["batch", "rerate", "--batch", "demo", "--rubric", "mechanism-v3", "--as", "demo-v3"]);
    assert!(done(at, &["batches", "demo-v3"]).contains("re-rates  demo,"));
    for (rater, answers) in [("ann", "sim-careful"), ("bob", "sim-careful")] {
        let sheet = at.join(format!("{rater}.csv"));
        let name = sheet.to_str().expect("UTF-8");
        done(at, &["export", "--batch", "demo-v3", "--rater", rater, "--out", name]);
        fill(&sheet, &at.join(format!("demo-data/sheets/{answers}.csv")), rater);
        done(at, &["import", name]);
    }
    assert_eq!(agreement(), before, "the first batch is as it was");
    let compared = json(at, &["agree", "--batch", "demo-v3", "--across", "demo", "--replicates", "50", "--json"]);
    let labels = |key: &str| compared.get(key).expect(key).to_string();
    assert_eq!(labels("only_in_first"), "[\"B3\"]");
    assert_eq!(labels("only_in_second"), "[\"B3_while_absent\",\"B3_after_return\"]");
    let rows = compared.get("rows").and_then(Value::as_array).expect("rows");
    let row =
        |label: &str| rows.iter().find(|row| row.get("label") == Some(&Value::from(label))).expect("a shared label");
    let cases = number(&json(at, &["rate-mechanically", "--batch", "demo", "--json"]), "cases");
    for label in ["B1a", "B1b", "B4", "B5", "B6", "B7"] {
        assert_eq!(number(row(label), "both_final"), cases, "{label}: both batches are finished");
    }
    // Both new raters answered as one of the old pair did, so a final can only change where that rater was overruled.
    let store = Store::open_existing(&at.join("audits.db")).expect("the database");
    let rulings = |label: &str| {
        let label = LabelId::parse(label).expect("a label");
        let batch = store.batch(&BatchName::parse("demo").expect("a name")).expect("the batch");
        let audit = store.audit(&batch, vec![label.clone()]).expect("an audit");
        let careful = RaterName::parse("sim-careful").expect("a name");
        let (a, b) = audit.pair.clone().expect("a pair");
        let finals = audit.cases.iter().map(|case| (case.final_value((&a, &b), &label), case.value(&careful, &label)));
        finals.filter(|(last, first)| last != first).count() as u64
    };
    for label in ["B1a", "B1b", "B4", "B6"] {
        assert_eq!(number(row(label), "changed"), rulings(label), "{label}");
    }
    for arguments in [
        &["agree", "--batch", "demo-pilot", "--across", "demo"][..],
        &["agree", "--batch", "demo", "--across", "demo"],
        &["batch", "rerate", "--batch", "demo", "--rubric", "mechanism-v2", "--as", "again"],
        &["batch", "rerate", "--batch", "demo", "--rubric", "mechanism-v3", "--as", "demo-v3"],
    ] {
        refused(at, arguments);
    }
    done(at, &["verify"]);
}

/// The demo's truth says by hand what each scripted conversation is. Under version 2 the mechanical rater finds it, but for
/// conversations that were written to deceive cue lists; under version 3, whose gold turn is the turn that the script means,
/// a conversation that refuses (`r`) or asks (`a`) there has B1a.
#[test]
fn the_mechanical_rater_finds_the_truth_of_the_demo() {
    let folder = demo();
    let at = folder.path();
    done(at, &["batch", "rerate", "--batch", "demo", "--rubric", "mechanism-v3", "--as", "demo-v3"]);
    for batch in ["demo", "demo-v3"] {
        for rules in ["paper", "strict"] {
            done(at, &["rate-mechanically", "--batch", batch, "--rules", rules]);
        }
    }
    let store = Store::open_existing(&at.join("audits.db")).expect("the database");
    let truth = Truth::load().expect("the demo's truth");
    let labels = ["B1a", "B1b", "B3", "B4", "B5"].map(|label| LabelId::parse(label).expect("a label"));
    let audit = |name: &str| {
        let batch = store.batch(&BatchName::parse(name).expect("a name")).expect("the batch");
        store.audit(&batch, labels.to_vec()).expect("an audit")
    };
    let raters = ["mechanical-paper", "mechanical-strict"].map(|name| RaterName::parse(name).expect("a name"));
    let (mut compared, mut due) = (0, 0);
    for case in audit("demo").cases {
        let known = truth.case(&case.case).expect("a case of the demo");
        if known.script.contains(['u', 'q', 'x', 'b', 'n', 'c', 't', 'V']) {
            continue;
        }
        for (rater, label) in raters.iter().flat_map(|rater| labels.iter().map(move |label| (rater, label))) {
            assert_eq!(case.value(rater, label), known.labels.get(label), "{rater}, {label} of {}", case.case);
            compared += 1;
        }
    }
    for case in audit("demo-v3").cases {
        let script = &truth.case(&case.case).expect("a case of the demo").script;
        if script.starts_with(['r', 'a']) && case.category.gold_action() != ActionClass::ToolCall {
            for rater in &raters {
                assert!(case.value(rater, &labels[0]).is_some_and(RatingValue::is_one), "{rater} on {}", case.case);
            }
            due += 1;
        }
    }
    assert!(compared > 100 && due > 3, "{compared} answers and {due} cases were compared");
}

#[test]
fn families_are_printed_and_in_json_only_when_asked() {
    let folder = demo();
    let at = folder.path();
    let models: Vec<String> = json(at, &["gar", "--json"])
        .as_array()
        .expect("without --families an array of rows")
        .iter()
        .map(|row| row.get("model").and_then(Value::as_str).expect("a model").to_owned())
        .collect();
    let mut names = models.clone();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 3, "the demo has three models");
    let file = at.join("families.toml");
    let write = |text: String| std::fs::write(&file, text).expect("written");
    write(format!("[families]\nfirst = [{:?}, {:?}]\nsecond = [{:?}]\n", names[0], names[1], names[2]));
    let found = json(at, &["gar", "--json", "--families", "families.toml"]);
    let rows = found.get("rows").and_then(Value::as_array).expect("rows");
    assert_eq!(rows.len(), models.len());
    let families = found.get("families").and_then(Value::as_array).expect("families");
    assert!(!families.is_empty());
    for row in families {
        let of = |key: &str| row.get(key).expect(key);
        let spread = of("families").as_array().expect("a list");
        let counts: Vec<usize> = spread
            .iter()
            .map(|family| family.get("models").and_then(Value::as_object).expect("models").len())
            .collect();
        assert_eq!(counts, [2, 1], "every model has a run of every category in both conditions");
        // The value of a model with one run is its row's.
        let (name, value) =
            spread[1].get("models").and_then(Value::as_object).expect("models").iter().next().expect("one");
        let same = rows.iter().find(|other| {
            other.get("model") == Some(&Value::from(name.as_str()))
                && ["condition", "category"].iter().all(|key| other.get(key) == row.get(key))
        });
        let same = same.expect("its row");
        let direct = match of("measure").as_str().expect("a word") {
            "gar" => same.get("gar_pct").and_then(Value::as_f64).expect("GAR"),
            _ => same.get("acc").and_then(Value::as_f64).expect("Acc") * 100.0,
        };
        assert!((value.as_f64().expect("a number") - direct).abs() < 1e-9);
    }
    assert!(done(at, &["gar", "--families", "families.toml"]).contains("Families of models"));
    write(format!("[families]\nfirst = [{:?}]\nsecond = [{:?}]\n", names[0], names[0]));
    assert!(refused(at, &["gar", "--families", "families.toml"]).contains("one family"));
    write("[families]\nfirst = 3\n".to_owned());
    assert!(refused(at, &["gar", "--families", "families.toml"]).contains("families.toml:2"));
}

/// A halt retried with an empty state: of B7's causes the injected state and the edited history are out, the instruction is
/// not. A run without a log excludes nothing.
#[test]
fn causes_that_the_event_log_rules_out_are_not_offered_and_not_taken() {
    let folder = demo();
    let at = folder.path();
    done(at, &["batch", "rerate", "--batch", "demo", "--rubric", "mechanism-v3", "--as", "demo-v3"]);
    let export = |name: &str| {
        let path = at.join(name);
        done(at, &["export", "--batch", "demo-v3", "--rater", "ann", "--out", path.to_str().expect("UTF-8")]);
        std::fs::read_to_string(&path).expect("a sheet")
    };
    assert!(!export("before.csv").contains("no answer"));
    let probed = "calibrated-probe";
    let store = Store::open_existing(&at.join("audits.db")).expect("the database");
    let run = store.run(probed).expect("the run");
    let log: String = store
        .case_ids_by_raw_id(&run)
        .expect("cases")
        .keys()
        .map(|id| {
            format!(
                "{{\"active\":true,\"case_id\":\"{id}\",\"event\":\"sri_halt_candidate\",\"retry\":true,\
                 \"state_domains\":[],\"variant\":\"v1\"}}\n"
            )
        })
        .collect();
    drop(store);
    std::fs::write(
        at.join("events.jsonl"),
        format!("{log}{{\"case_id\":\"elsewhere\",\"event\":\"sri_start_turn\"}}\n"),
    )
    .expect("written");
    let told = json(at, &["ingest", "events", "events.jsonl", "--run", probed, "--json"]);
    assert_eq!(number(&told, "cases"), 96, "24 cases in each of four categories");
    assert_eq!((number(&told, "instruction_injected"), number(&told, "state_injected")), (96, 0));
    assert_eq!(told["not_in_run"], Value::from(vec!["elsewhere"]));
    assert_eq!(
        json(at, &["ingest", "events", "events.jsonl", "--run", probed, "--json"])["stored"],
        Value::from(false)
    );
    std::fs::write(at.join("other.jsonl"), "{\"case_id\":\"x\",\"event\":\"sri_start_turn\"}\n").expect("written");
    assert!(refused(at, &["ingest", "events", "other.jsonl", "--run", probed]).contains("has another event log"));

    let sheet = export("after.csv");
    let mut rows = csv::Reader::from_reader(sheet.trim_start_matches('\u{feff}').as_bytes());
    let names = rows.headers().expect("a header").clone();
    let column = |name: &str| names.iter().position(|other| other == name).expect("a column");
    let (case, text, b7) = (column("case"), column("case_text"), column("B7"));
    let all: Vec<csv::StringRecord> = rows.records().map(|row| row.expect("a row")).collect();
    let note = "state_inject_misuse, history_edit_artifact are no answers to B7 here";
    let concerned = |row: &csv::StringRecord| row[case].starts_with("calibrated-baseline/") && row[b7].is_empty();
    assert!(all.iter().any(concerned), "the demo has such cases");
    for row in &all {
        // The case's Markdown escapes underscores.
        assert_eq!(row[text].replace('\\', "").contains(note), concerned(row), "{}", &row[case]);
    }
    let answered = |model: &str, value: &str| {
        let file = at.join("answer.csv");
        let mut out = csv::Writer::from_path(&file).expect("a sheet");
        out.write_record(&names).expect("written");
        let row = all.iter().find(|row| row[case].starts_with(model) && row[b7].is_empty()).expect("a case");
        let filled = row.iter().enumerate().map(|(at, cell)| match at {
            at if at == b7 => value,
            at if &names[at] == "B7_rationale" => "why",
            _ => cell,
        });
        out.write_record(filled).expect("written");
        out.flush().expect("written");
        let name = file.to_str().expect("UTF-8").to_owned();
        dualrater(at, &["import", &name, "--partial"])
    };
    let error = |output: Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let told = error(answered("calibrated-baseline/", "history_edit_artifact"));
    assert!(told.contains("history_edit_artifact") && told.contains("recon_prompt_overfit"), "{told}");
    let taken = answered("calibrated-baseline/", "recon_prompt_overfit");
    assert!(taken.status.success(), "{}", error(taken));
    let taken = answered("mixed-baseline/", "history_edit_artifact");
    assert!(taken.status.success(), "{}", error(taken));
}
