//! Checks of the demo's data against itself and against counts made by hand from the letters in `demo/script.toml`.

mod data;
mod raters;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::*;
use crate::model::{CaseIdentity, Category, Verdict};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn file(path: &str) -> Vec<Value> {
    let (_, text) = files().iter().find(|(name, _)| *name == path).expect("a file of the demo");
    lines(text)
}

fn id(row: &Value) -> String {
    row["id"].as_str().expect("an id").to_owned()
}

/// Verdicts as an import finds them: a case is a pass if the score file does not list it.
fn verdicts(run: &str) -> BTreeMap<String, Verdict> {
    let place = RUNS.iter().position(|one| one.name == run).expect("a run of the demo");
    let mut found = BTreeMap::new();
    for [(_, result), (_, score)] in &RUN_FILES[place] {
        let failed: BTreeSet<String> = lines(score)[1..].iter().map(id).collect();
        for case in lines(result).iter().map(id) {
            let verdict = if failed.contains(&case) { Verdict::Fail } else { Verdict::Pass };
            found.insert(case, verdict);
        }
    }
    found
}

fn category_count(run: &str, category: Category, verdict: Verdict) -> usize {
    let of = |(case, found): &(String, Verdict)| Category::of_case_id(case) == Some(category) && *found == verdict;
    verdicts(run).into_iter().filter(of).count()
}

fn transitions(baseline: &str, second: &str, from: Verdict, to: Verdict) -> usize {
    let second = verdicts(second);
    verdicts(baseline).iter().filter(|(case, verdict)| **verdict == from && second[*case] == to).count()
}

#[test]
fn every_stratum_has_more_cases_than_main_and_pilot_want() {
    use Verdict::{Fail, Pass};
    // Counted by hand in script.toml; the quotas are 6, 5, 5, 4, 4, 4, 3 and 1 each for the pilot.
    assert_eq!(category_count("masked-baseline", Category::MissFunc, Fail), 11, "A");
    assert_eq!(category_count("masked-baseline", Category::MissParam, Fail), 8, "B");
    assert_eq!(transitions("mixed-baseline", "mixed-probe", Fail, Fail), 18, "C");
    assert_eq!(transitions("calibrated-baseline", "calibrated-probe", Pass, Fail), 17, "D");
    assert_eq!(transitions("mixed-baseline", "mixed-probe", Fail, Pass), 13, "E");
    assert_eq!(transitions("mixed-baseline", "mixed-probe", Pass, Fail), 16, "F");
    assert_eq!(transitions("calibrated-baseline", "calibrated-probe", Fail, Fail), 9, "G");
}

#[test]
fn the_plans_want_what_the_study_wants_at_a_smaller_size() {
    for (text, quotas) in [(PLAN, [6, 5, 5, 4, 4, 4, 3]), (PILOT_PLAN, [1; 7])] {
        let plan: toml::Table = text.parse().expect("TOML");
        let strata = plan["stratum"].as_array().expect("strata");
        let ids: Vec<_> = strata.iter().map(|stratum| stratum["id"].as_str().expect("an id")).collect();
        assert_eq!(ids, ["A", "B", "C", "D", "E", "F", "G"]);
        let found: Vec<_> = strata.iter().map(|stratum| stratum["quota"].as_integer().expect("a quota")).collect();
        assert_eq!(found, quotas);
        for run in RUNS.iter().filter_map(|run| Some((run.role?, run.name))) {
            assert_eq!(plan["runs"][run.0].as_str(), Some(run.1));
        }
    }
}

#[test]
fn truth_covers_every_case_and_has_the_verdicts_of_the_score_files() {
    let truth = Truth::load().expect("sound data");
    assert_eq!(truth.cases().len(), 6 * 4 * 24);
    for run in &RUNS {
        for (case, verdict) in verdicts(run.name) {
            let identity = CaseIdentity::parse(&format!("{}/{case}", run.name)).expect("valid");
            assert_eq!(truth.case(&identity).expect("a truth").verdict, verdict, "{identity}");
        }
    }
}

#[test]
fn truth_keeps_the_rules_between_labels() {
    let truth = Truth::load().expect("sound data");
    for case in truth.cases() {
        let value = |label: &str| {
            let (_, value) = case.labels.iter().find(|(id, _)| id.as_str() == label).expect("the label");
            value.as_str()
        };
        assert!(value("B1a") == "0" || value("B1b") == "1", "{case:?}");
        assert_eq!(value("B5") == "1", case.verdict == Verdict::Pass && value("B1a") == "0", "{case:?}");
        assert_eq!(value("B3") == "n.a.", case.category != Category::MissFunc, "{case:?}");
        assert!(["0", "1"].contains(&value("B4")), "{case:?}");
    }
}

#[test]
fn b7_applies_exactly_in_strata_d_and_f() {
    let truth = Truth::load().expect("sound data");
    let mut modes: BTreeMap<&str, usize> = BTreeMap::new();
    for case in truth.cases() {
        let (_, mode) = case.labels.iter().find(|(label, _)| label.as_str() == "B7").expect("the label");
        *modes.entry(mode.as_str()).or_default() += 1;
        let applies = mode.value().is_some();
        let drawn = ["mixed-baseline", "calibrated-baseline"].contains(&case.case.run());
        let second = case.case.as_str().replace("-baseline/", "-probe/");
        let second = truth.case(&CaseIdentity::parse(&second).expect("valid")).expect("a truth");
        let broken = case.verdict == Verdict::Pass && second.verdict == Verdict::Fail;
        assert_eq!(applies, drawn && broken, "{}", case.case);
    }
    // By hand: the probe's letters in the 33 places where a pass becomes a fail (k and i believe the state).
    let expected = [
        ("history_edit_artifact", 6),
        ("n.a.", 576 - 33),
        ("recon_prompt_overfit", 8),
        ("state_inject_misuse", 13),
        ("unclassified", 6),
    ];
    assert_eq!(modes, BTreeMap::from(expected));
}

#[test]
fn cross_table_is_the_one_counted_by_hand_from_the_script() {
    let hand = [
        ("masked-baseline", "base", [1, 1, 0, 22]),
        ("masked-baseline", "long_context", [0, 0, 0, 24]),
        ("masked-baseline", "miss_func", [18, 2, 1, 3]),
        ("masked-baseline", "miss_param", [16, 5, 1, 2]),
        ("mixed-baseline", "miss_func", [9, 2, 2, 11]),
        ("mixed-baseline", "miss_param", [7, 4, 2, 11]),
        ("calibrated-baseline", "miss_func", [2, 1, 2, 19]),
        ("calibrated-baseline", "miss_param", [1, 3, 2, 18]),
    ];
    let rows = expected_crosstab().expect("sound data");
    assert_eq!(rows.len(), 24);
    for (run, category, cells) in hand {
        let of = |row: &&CrosstabRow| row.run.as_str() == run && row.category.as_str() == category;
        let row = rows.iter().find(of).expect("a row");
        assert_eq!([row.b1b0_gar0, row.b1b0_gar1, row.b1b1_gar0, row.b1b1_gar1], cells, "{run} {category}");
    }
}

#[test]
fn cross_table_closes_with_the_truth() {
    let truth = Truth::load().expect("sound data");
    for row in expected_crosstab().expect("sound data") {
        let of = |case: &&DemoCase| case.case.run() == row.run.as_str() && case.category == row.category;
        let cases: Vec<_> = truth.cases().iter().filter(of).collect();
        let count = |b1b: bool, gar: bool| {
            let one = |case: &DemoCase| case.labels.iter().any(|(label, v)| label.as_str() == "B1b" && v.is_one());
            cases.iter().filter(|case| one(case) == b1b && case.gar_hit == gar).count() as u32
        };
        let cells = [row.b1b0_gar0, row.b1b0_gar1, row.b1b1_gar0, row.b1b1_gar1];
        assert_eq!([count(false, false), count(false, true), count(true, false), count(true, true)], cells);
        assert_eq!(cells.iter().sum::<u32>(), row.n);
        let passes = cases.iter().filter(|case| case.verdict == Verdict::Pass).count() as u32;
        assert_eq!(passes, row.correct);
    }
}

#[test]
fn masked_passes_without_the_gold_action_are_the_ones_in_the_script() {
    // miss_func: 9 m., 1 mn, 1 c. of 13 passes; miss_param: 10 m., 2 mx, 1 b., 1 t. of 16.
    let truth = Truth::load().expect("sound data");
    for (category, expected) in [(Category::MissFunc, 11), (Category::MissParam, 14)] {
        let masked = |case: &&DemoCase| {
            case.case.run() == "masked-baseline" && case.category == category && case.verdict == Verdict::Pass
        };
        let without = |case: &&DemoCase| case.labels.iter().any(|(l, v)| l.as_str() == "B1b" && !v.is_one());
        assert_eq!(truth.cases().iter().filter(masked).filter(without).count(), expected);
    }
}
