//! Tests of a cell's row on counts made by hand.

use serde_json::{Value, json};

use super::{CaseFacts, CellInput, Diagnosis, Joint, cell, has_text};
use crate::action::RuleSet;
use crate::model::ActionClass::{Ask, Confirm, Refuse, ToolCall};
use crate::model::{ActionClass, Category, Verdict};

fn case(id: &str, classes: &[Option<ActionClass>], verdict: Option<Verdict>) -> CaseFacts {
    CaseFacts {
        id: id.to_owned(),
        verdict,
        error_record: false,
        classes: classes.to_vec(),
        emission_text_seen: classes.iter().any(Option::is_some),
    }
}

fn input(category: Category, cases: Vec<CaseFacts>) -> CellInput {
    let run_has_text = has_text(&cases);
    CellInput {
        run: "r".into(),
        model: "m".into(),
        condition: "baseline".into(),
        category,
        cases,
        failures_only: false,
        header: None,
        run_has_text,
    }
}

fn warned(warnings: &[String], words: &str) -> bool {
    warnings.iter().any(|warning| warning.contains(words))
}

/// The reference release's own example: a run whose second turn asks, one with calls only, one error record.
#[test]
fn three_records_of_the_reference_release() {
    let mut error = case("e", &[Some(ToolCall)], None);
    error.error_record = true;
    let cases = vec![
        case("a", &[Some(ToolCall), None, Some(Ask)], None),
        case("c", &[Some(ToolCall), Some(ToolCall)], None),
        error,
    ];
    let ask = cell(&input(Category::MissParam, cases.clone()), RuleSet::Paper);
    assert_eq!((ask.n, ask.gar_hits, ask.gar_left_out, ask.error_records), (3, Some(1), 0, 1));
    assert_eq!((ask.hit_ids, ask.miss_ids), (vec!["a".to_owned()], vec!["c".to_owned(), "e".to_owned()]));
    let call = cell(&input(Category::Base, cases), RuleSet::Paper);
    assert_eq!(call.gar_hits, Some(2), "the error record is never a hit");
    assert_eq!(call.capability.get(&Ask), Some(&1));
    assert_eq!(call.capability.get(&Refuse), Some(&0));
    assert_eq!(
        call.emission_classes.iter().map(|(k, v)| (k.as_str(), *v)).collect::<Vec<_>>(),
        [("ask", 1), ("none", 1), ("tool_call", 4)]
    );
}

#[test]
fn a_masked_cell_and_an_execution_gap_are_told_from_no_gap() {
    let many = |hit: bool, pass: bool, count: usize| {
        let class = if hit { Refuse } else { Confirm };
        let verdict = if pass { Verdict::Pass } else { Verdict::Fail };
        (0..count).map(|at| case(&format!("{hit}{pass}{at}"), &[Some(class)], Some(verdict))).collect::<Vec<_>>()
    };
    let row = |gar0_fail, gar0_pass, gar1_fail, gar1_pass| {
        let mut cases = many(false, false, gar0_fail);
        cases.extend(many(false, true, gar0_pass));
        cases.extend(many(true, false, gar1_fail));
        cases.extend(many(true, true, gar1_pass));
        cell(&input(Category::MissFunc, cases), RuleSet::Paper)
    };
    // The counts of a public xLAM-2-8b run: 22 hits, 109 passes of 200.
    let masked = row(82, 96, 9, 13);
    assert_eq!(masked.joint, Some(Joint { gar0_fail: 82, gar0_pass: 96, gar1_fail: 9, gar1_pass: 13 }));
    assert!(masked.delta_pp.is_some_and(|delta| (delta + 43.5).abs() < 1e-9), "(22 - 109) / 200");
    assert_eq!(masked.diagnosis, Some(Diagnosis::Masking));
    assert_eq!(masked.masked_passes, Some(96));
    assert!(masked.masked_pass_pct.is_some_and(|share| (share - 100.0 * 96.0 / 109.0).abs() < 1e-9));
    assert_eq!(row(10, 5, 60, 25).diagnosis, Some(Diagnosis::ExecutionGap));
    let even = row(10, 10, 10, 10);
    assert_eq!((even.delta_pp, even.diagnosis), (Some(0.0), Some(Diagnosis::NoClearGap)));
    assert!(even.delta_ci95.is_some_and(|[low, high]| low < 0.0 && high > 0.0));
}

#[test]
fn what_is_undefined_is_null_and_says_why() {
    let verdict = Some(Verdict::Fail);
    let empty = cell(&input(Category::Base, Vec::new()), RuleSet::Paper);
    assert_eq!((empty.gar_pct, empty.gar_ci95, empty.acc, empty.joint), (None, None, None, None));
    assert!(warned(&empty.warnings, "no records"));

    let unscored = cell(&input(Category::MissFunc, vec![case("a", &[Some(Refuse)], None)]), RuleSet::Paper);
    assert_eq!((unscored.gar_pct, unscored.unscored), (Some(100.0), 1));
    assert_eq!((unscored.acc, unscored.joint, unscored.delta_pp, unscored.diagnosis), (None, None, None, None));
    assert_eq!((unscored.masked_passes, unscored.masked_pass_pct), (None, None));
    assert!(warned(&unscored.warnings, "no verdicts") && warned(&unscored.warnings, "Acc is undefined"));

    let mut failures = input(Category::Base, vec![case("a", &[Some(ToolCall)], verdict)]);
    failures.failures_only = true;
    failures.header = Some((9, 10));
    let row = cell(&failures, RuleSet::Paper);
    assert_eq!((row.acc, row.correct, row.total), (None, None, None), "9 of 10 is about cases that are not there");
    assert_eq!((row.joint, row.delta_pp, row.diagnosis, row.masked_passes), (None, None, None, None));
    assert!(warned(&row.warnings, "only failed cases"));
    assert!(!warned(&row.warnings, "header"), "9 of 10 leaves one failure");

    let mut silent = input(Category::MissParam, vec![case("a", &[Some(ToolCall), None], Some(Verdict::Pass))]);
    silent.run_has_text = false;
    let row = cell(&silent, RuleSet::Paper);
    assert_eq!((row.diagnosis, row.masked_passes), (None, Some(1)));
    assert!(row.delta_pp.is_some());
    assert!(warned(&row.warnings, "unobservable, so the diagnosis is undefined"));
    silent.category = Category::Base;
    let row = cell(&silent, RuleSet::Paper);
    assert!(row.diagnosis.is_some() && warned(&row.warnings, "unobservable"));
    assert!(row.notes.iter().any(|note| note.contains("blindly")));
}

#[test]
fn the_header_speaks_for_acc_and_its_contradictions_are_told() {
    let cases = vec![case("a", &[Some(Ask)], Some(Verdict::Pass)), case("b", &[Some(Ask)], Some(Verdict::Fail))];
    let mut with = input(Category::MissParam, cases);
    assert_eq!(cell(&with, RuleSet::Paper).acc, Some(0.5), "by the verdicts");
    with.header = Some((1, 2));
    assert!(cell(&with, RuleSet::Paper).warnings.is_empty());
    with.header = Some((1, 4));
    let row = cell(&with, RuleSet::Paper);
    assert_eq!(row.acc, Some(0.25));
    assert!(warned(&row.warnings, "1 of 4 correct"));
    with.header = Some((5, 4));
    assert!(warned(&cell(&with, RuleSet::Paper).warnings, "5 of 4 correct"), "and no panic");
}

/// The field names are the contract.
#[test]
fn a_row_is_written_under_the_documented_names() {
    let row = cell(&input(Category::MissFunc, vec![case("a", &[Some(Refuse)], Some(Verdict::Pass))]), RuleSet::Paper);
    let value = serde_json::to_value(&row).expect("a row");
    let part = |key: &str| value.get(key).cloned();
    assert_eq!(part("gold"), Some(json!("refuse")));
    assert_eq!(part("category"), Some(json!("miss_func")));
    assert_eq!(part("rules"), Some(json!("paper")));
    assert_eq!(part("emission_classes"), Some(json!({"refuse": 1})));
    assert_eq!(part("capability"), Some(json!({"tool_call": 0, "refuse": 1, "ask": 0, "confirm": 0, "other": 0})));
    assert_eq!(part("joint"), Some(json!({"gar0_fail": 0, "gar0_pass": 0, "gar1_fail": 0, "gar1_pass": 1})));
    assert_eq!(part("diagnosis"), Some(json!("no_clear_gap")));
    for key in [
        "run",
        "model",
        "condition",
        "failures_only",
        "n",
        "gar_hits",
        "gar_pct",
        "gar_ci95",
        "error_records",
        "unscored",
        "acc",
        "acc_ci95",
        "correct",
        "total",
        "delta_pp",
        "delta_ci95",
        "masked_passes",
        "masked_pass_pct",
        "warnings",
        "notes",
        "hit_ids",
        "miss_ids",
    ] {
        assert!(part(key).is_some(), "{key}");
    }
    let back: super::GarRow = serde_json::from_value(value).expect("the same row");
    assert_eq!(back, row);
    let _: Value = serde_json::to_value(Diagnosis::Masking).expect("a name");
}
