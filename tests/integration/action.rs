//! The classifier and the GAR table against the reference release's numbers for real and scripted runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use dualrater::action::{RuleSet, classify};
use dualrater::gar::{CaseFacts, CellInput, GarRow, GoldTurnCase, TurnFacts, cell, gold_turn_cell, has_text};
use dualrater::model::{Category, GroundTruth, Verdict};
use serde_json::Value;

pub(crate) fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("a readable file");
    text.split('\n')
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).expect("a JSON line"))
        .collect()
}

fn expected(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("data/expected").join(name)).expect("a readable file");
    serde_json::from_str(&text).expect("a JSON list")
}

/// The file of a category in a folder: its name holds `multi_turn_<category>_<kind>`.
pub(crate) fn find(folder: &Path, category: Category, kind: &str) -> Option<PathBuf> {
    let wanted = format!("multi_turn_{category}_{kind}");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).ok()?.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.into_iter().find(|file| file.file_name().is_some_and(|name| name.to_string_lossy().contains(&wanted)))
}

/// A turn's emissions; a turn that is no list is one emission.
pub(crate) fn steps(turn: &Value) -> &[Value] {
    turn.as_array().map_or(std::slice::from_ref(turn), Vec::as_slice)
}

fn cell_of(run: &Path, category: Category) -> CellInput {
    let file = find(&run.join("result"), category, "result").expect("a result file");
    let score = find(&run.join("score"), category, "score").map(|file| lines(&file));
    let failed: Option<BTreeSet<String>> = score
        .as_ref()
        .map(|lines| lines.iter().skip(1).filter_map(|line| line.get("id")?.as_str()).map(str::to_owned).collect());
    let header = score.as_ref().and_then(|lines| {
        let header = lines.first()?;
        Some((header.get("correct_count")?.as_u64()?, header.get("total_count")?.as_u64()?))
    });
    let cases: Vec<CaseFacts> = lines(&file)
        .iter()
        .map(|record| {
            let id = record.get("id").and_then(Value::as_str).expect("an id").to_owned();
            let turns = record.get("result").and_then(Value::as_array);
            let emissions: Vec<&Value> = turns.into_iter().flatten().flat_map(steps).collect();
            CaseFacts {
                verdict: failed.as_ref().map(|failed| if failed.contains(&id) { Verdict::Fail } else { Verdict::Pass }),
                error_record: turns.is_none(),
                classes: emissions.iter().map(|emission| classify(emission).class).collect(),
                emission_text_seen: emissions.iter().any(|emission| emission.is_string()),
                id,
            }
        })
        .collect();
    CellInput {
        run: run.file_name().expect("a name").to_string_lossy().into_owned(),
        model: String::new(),
        condition: String::new(),
        category,
        run_has_text: has_text(&cases),
        cases,
        failures_only: false,
        header,
    }
}

fn close(ours: Option<f64>, expected: Option<&Value>) -> bool {
    match (ours, expected.and_then(Value::as_f64)) {
        (None, None) => true,
        (Some(ours), Some(expected)) => (ours - expected).abs() < 1e-9,
        _ => false,
    }
}

fn check(row: &GarRow, expected: &Value) {
    let name = format!("{} {}", row.run, row.category);
    let ours = serde_json::to_value(row).expect("a row");
    for field in ["category", "gold", "n", "gar_hits", "error_records", "emission_classes"] {
        assert_eq!(ours.get(field), expected.get(field), "{name} {field}");
    }
    for field in ["correct", "total", "joint"] {
        let expected = expected.get(field).unwrap_or(&Value::Null);
        assert_eq!(ours.get(field), Some(expected), "{name} {field}");
    }
    assert!(close(row.gar_pct, expected.get("gar_pct")), "{name} gar_pct");
    assert!(close(row.acc, expected.get("acc")), "{name} acc");
    let lists: Vec<&str> = ["hit_ids", "miss_ids"].into_iter().filter(|field| expected.get(field).is_some()).collect();
    assert!(!lists.is_empty(), "{name} lists neither hits nor misses");
    for field in lists {
        assert_eq!(ours.get(field), expected.get(field), "{name} {field}");
    }
    assert_eq!(Some(row.hit_ids.len() as u64), row.gar_hits, "{name}");
    assert_eq!((row.hit_ids.len() + row.miss_ids.len()) as u64, row.n, "{name}");
    assert!(!row.warnings.iter().any(|warning| warning.contains("header says")), "{name}: {:?}", row.warnings);
}

fn compare(file: &str, runs: &str, rows: usize) {
    let Some(folder) = crate::shared::folder() else { return };
    let expected = expected(&folder, file);
    assert_eq!(expected.len(), rows, "rows of {file}");
    let mut hits: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &expected {
        let run = row.get("run").and_then(Value::as_str).expect("a run");
        let category = row.get("category").and_then(Value::as_str).and_then(Category::parse).expect("a category");
        let ours = cell(&cell_of(&folder.join(runs).join(run), category), RuleSet::Paper);
        check(&ours, row);
        *hits.entry(category.as_str()).or_default() += ours.gar_hits.expect("paper knows its hits");
    }
    assert!(hits.values().sum::<u64>() > 0, "something was compared");
}

#[test]
fn real_runs_have_the_reference_numbers() {
    compare("bfcl-gar.json", "runs/bfcl", 34);
}

#[test]
fn scripted_runs_have_the_reference_numbers() {
    compare("bfcl-scripted-gar.json", "runs/bfcl-scripted", 12);
}

/// Ground truth by case id, from a folder of question and answer files.
pub(crate) fn truths(dataset: &Path, category: Category) -> BTreeMap<String, GroundTruth> {
    let id = |line: &Value| line.get("id").and_then(Value::as_str).expect("an id").to_owned();
    let file = |folder: &Path| -> PathBuf {
        let wanted = format!("multi_turn_{category}.json");
        let mut entries = fs::read_dir(folder).expect("a data set").map(|entry| entry.expect("an entry").path());
        entries
            .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&wanted)))
            .expect("the category's file")
    };
    let mut truths: BTreeMap<String, GroundTruth> = lines(&file(&dataset.join("possible_answer")))
        .iter()
        .map(|line| {
            let calls = serde_json::from_value(line.get("ground_truth").cloned().expect("a ground truth"));
            (id(line), GroundTruth { calls: calls.expect("calls per turn"), ..GroundTruth::default() })
        })
        .collect();
    for line in lines(&file(dataset)) {
        let Some(missed) = line.get("missed_function").and_then(Value::as_object) else { continue };
        let truth = truths.get_mut(&id(&line)).expect("an answer to each question");
        truth.return_turn = missed.keys().map(|turn| turn.parse().expect("a turn")).min();
        truth.held_out_tools =
            missed.values().flat_map(steps).map(|tool| tool.as_str().expect("a name").to_owned()).collect();
    }
    truths
}

#[test]
fn gold_turn_counts_are_the_reference_numbers() {
    let Some(folder) = crate::shared::folder() else { return };
    let expected = expected(&folder, "bfcl-gold-turn.json");
    assert_eq!(expected.len(), 18);
    for row in &expected {
        let text = |field: &str| row.get(field).and_then(Value::as_str).expect("a text");
        let category = Category::parse(text("category")).expect("a category");
        let truths = truths(&folder.join(text("dataset")), category);
        let run = ["runs/bfcl", "runs/bfcl-scripted"]
            .into_iter()
            .map(|runs| folder.join(runs).join(text("run")))
            .find(|run| run.is_dir())
            .expect("the run");
        let records = lines(&find(&run.join("result"), category, "result").expect("a result file"));
        let turns: Vec<Option<Vec<TurnFacts>>> = records
            .iter()
            .map(|record| {
                let turns = record.get("result")?.as_array()?;
                Some(turns.iter().map(turn_facts).collect())
            })
            .collect();
        let cases = records.iter().zip(&turns).map(|(record, turns)| GoldTurnCase {
            turns: turns.as_deref(),
            truth: record.get("id").and_then(Value::as_str).and_then(|id| truths.get(id)),
        });
        let counts = gold_turn_cell(category, cases);
        let ours = cell(&cell_of(&run, category), RuleSet::Paper).with_gold_turn(&counts);
        let ours = serde_json::to_value(&ours).expect("a row");
        for field in [
            "n",
            "gar_turn_any",
            "gar_turn_class",
            "calls_at_gold_turn",
            "no_such_turn_in_result",
            "held_out_called_before_return",
        ] {
            let expected = row.get(field).unwrap_or(&Value::Null);
            assert_eq!(ours.get(field), Some(expected), "{} {category} {field}", text("run"));
        }
        assert_eq!(counts.without_ground_truth, 0);
    }
}

fn turn_facts(turn: &Value) -> TurnFacts {
    let emissions: Vec<_> = steps(turn).iter().map(classify).collect();
    TurnFacts {
        classes: emissions.iter().map(|emission| emission.class).collect(),
        calls: emissions.into_iter().flat_map(|emission| emission.calls).collect(),
    }
}
