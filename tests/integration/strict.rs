//! The rule set `strict` on real and scripted runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use dualrater::action::{RuleEffect, RuleSet, StrictRule, StrictRules, classify_json, strict_json};
use dualrater::gar::{
    CaseEmissions, CaseEvidence, CellDiff, GoldTurnCase, RubricVersion, diff, mechanical, strict_hit, strict_turns,
};
use dualrater::model::{Category, GroundTruth, LabelId};
use serde_json::{Value, json};

use crate::action::{find, lines, steps, truths};

/// A record's id and its emissions as JSON texts, turn by turn.
type Record = (String, Option<Vec<Vec<String>>>);

fn records(file: &Path) -> Vec<Record> {
    lines(file)
        .iter()
        .map(|record| {
            let turn = |turn: &Value| steps(turn).iter().map(Value::to_string).collect();
            let turns = record.get("result").and_then(Value::as_array).map(|turns| turns.iter().map(turn).collect());
            (record.get("id").and_then(Value::as_str).expect("an id").to_owned(), turns)
        })
        .collect()
}

fn strict_hits(run: &Path, category: Category, truths: &BTreeMap<String, GroundTruth>) -> usize {
    let rules = StrictRules::all();
    let records = records(&find(&run.join("result"), category, "result").expect("a result file"));
    let hit = |(id, turns): &Record| {
        let facts = turns.as_ref().map(|turns| strict_turns(turns, &rules));
        strict_hit(category, GoldTurnCase { turns: facts.as_deref(), truth: truths.get(id) }, &rules) == Some(true)
    };
    records.iter().filter(|record| hit(record)).count()
}

/// What the scripted model does is known: `calibrated` declines or asks at the turn that calls for it, `masked` never does,
/// `mixed` does as calibrated in the cases of the published any-turn count.
#[test]
fn scripted_runs_hit_as_their_script_says() {
    let Some(folder) = crate::shared::folder() else { return };
    for category in [Category::MissFunc, Category::MissParam] {
        let truths = truths(&folder.join("data/bfcl"), category);
        let hits = |run: &str| strict_hits(&folder.join("runs/bfcl-scripted").join(run), category, &truths);
        assert_eq!((hits("calibrated"), hits("masked")), (200, 0), "{category}");
        let expected = fs::read_to_string(folder.join("data/expected/bfcl-gold-turn.json")).expect("a readable file");
        let expected: Vec<Value> = serde_json::from_str(&expected).expect("a JSON list");
        let mixed = expected.iter().find(|row| {
            row.get("run") == Some(&json!("mixed")) && row.get("category") == Some(&json!(category.as_str()))
        });
        let mixed = mixed.and_then(|row| row.get("gar_turn_any")).and_then(Value::as_u64).expect("a count");
        assert_eq!(hits("mixed") as u64, mixed, "{category}");
    }
}

/// The mechanical rater's B1a and B3 (while absent) of version 3 are the reference numbers of the gold turn; where text was
/// not saved, no text class is claimed.
#[test]
fn mechanical_labels_count_up_to_the_gold_turn_reference() {
    let Some(folder) = crate::shared::folder() else { return };
    let expected = fs::read_to_string(folder.join("data/expected/bfcl-gold-turn.json")).expect("a readable file");
    let expected: Vec<Value> = serde_json::from_str(&expected).expect("a JSON list");
    let mut compared = 0;
    for row in &expected {
        let text = |field: &str| row.get(field).and_then(Value::as_str).expect("a text");
        // The calls of the scripted long contexts are those of base.
        let category = Category::parse(text("category")).expect("a category");
        if category == Category::LongContext {
            continue;
        }
        let truths = truths(&folder.join(text("dataset")), category);
        let run = ["runs/bfcl", "runs/bfcl-scripted"].map(|runs| folder.join(runs).join(text("run")));
        let run = run.into_iter().find(|run| run.is_dir()).expect("the run");
        let records = records(&find(&run.join("result"), category, "result").expect("a result file"));
        let (mut at_gold_turn, mut while_absent) = (0_u64, 0_u64);
        for (id, turns) in &records {
            let case = CaseEvidence {
                category,
                turns: turns.as_deref(),
                truth: truths.get(id),
                verdict: None,
                text_saved: !text("run").contains("gpt-oss"),
            };
            let answers = mechanical(RubricVersion::V3, RuleSet::Paper, &case);
            let one = |label: &str| {
                let label = LabelId::parse(label).expect("a label");
                answers.get(&label).is_some_and(|(value, _)| value.is_one())
            };
            at_gold_turn += u64::from(one("B1a"));
            while_absent += u64::from(one("B3_while_absent"));
        }
        let count = |field: &str| row.get(field).and_then(Value::as_u64);
        assert_eq!(Some(at_gold_turn), count("gar_turn_class"), "{} {category}", text("run"));
        if category == Category::MissFunc {
            assert_eq!(Some(while_absent), count("held_out_called_before_return"), "{}", text("run"));
        }
        compared += 1;
    }
    assert_eq!(compared, 15);
}

/// Every result file below the folder of real runs, with its run and category.
fn files(folder: &Path) -> Vec<(String, Category, PathBuf)> {
    let mut runs: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    runs.sort();
    let mut found = Vec::new();
    for run in runs {
        let name = run.file_name().expect("a name").to_string_lossy().into_owned();
        for part in ["result", "derived"] {
            for category in Category::ALL {
                found.extend(find(&run.join(part), category, "result").map(|file| (name.clone(), category, file)));
            }
        }
    }
    found
}

#[test]
fn without_rules_real_emissions_have_the_classes_of_paper() {
    let Some(folder) = crate::shared::folder() else { return };
    let mut emissions = BTreeSet::new();
    for (_, _, file) in files(&folder.join("runs/bfcl")) {
        emissions.extend(records(&file).into_iter().filter_map(|(_, turns)| turns).flatten().flatten());
    }
    assert!(emissions.len() > 10_000, "something was compared");
    let none = StrictRules::none();
    for raw in &emissions {
        let (paper, strict) = (classify_json(raw).expect("JSON"), strict_json(raw, &none).expect("JSON"));
        assert_eq!((paper.class, paper.form, paper.calls), (strict.class, strict.form, strict.calls), "{raw}");
        assert!(strict.fired.is_empty(), "{raw}");
    }
}

/// Not a check: writes what both rule sets say about each line of `DUALRATER_STRICT_IN` (one JSON value a line) to
/// `DUALRATER_STRICT_OUT`, for `scripts/rules-audit.py`. `DUALRATER_STRICT_RULES` switches rules.
#[test]
fn verdicts_are_dumped_where_asked_for() {
    let (Ok(from), Ok(to)) = (std::env::var("DUALRATER_STRICT_IN"), std::env::var("DUALRATER_STRICT_OUT")) else {
        return;
    };
    let rules = StrictRules::parse(&std::env::var("DUALRATER_STRICT_RULES").unwrap_or_default()).expect("rules");
    let mut out = fs::File::create(to).expect("a writable file");
    for line in BufReader::new(fs::File::open(from).expect("a readable file")).lines() {
        let line = line.expect("UTF-8");
        let (paper, strict) = (classify_json(&line).expect("JSON"), strict_json(&line, &rules).expect("JSON"));
        let record = json!({"paper": paper.class, "strict": strict.class, "cue": strict.cue, "form": strict.form,
            "fired": strict.fired});
        writeln!(out, "{record}").expect("a writable file");
    }
}

/// Not a check: writes the counts of `docs/rules.md` to `DUALRATER_STRICT_TABLE`, per run and category of the shared runs:
/// emissions whose class changes, by rule, and cases whose hit changes.
#[test]
fn counts_are_written_where_asked_for() {
    let (Some(folder), Ok(to)) = (crate::shared::folder(), std::env::var("DUALRATER_STRICT_TABLE")) else { return };
    let rules = StrictRules::all();
    let mut out = fs::File::create(to).expect("a writable file");
    for runs in ["runs/bfcl", "runs/bfcl-scripted"] {
        for (run, category, file) in files(&folder.join(runs)) {
            let dataset =
                if run == "Salesforce_Llama-xLAM-2-8b-fc-r" { "runs/bfcl/_data/bfcl-2025-08" } else { "data/bfcl" };
            let truths = truths(&folder.join(dataset), category);
            let records = records(&file);
            let mut changed: BTreeMap<String, u64> = BTreeMap::new();
            let mut by_rule: BTreeMap<StrictRule, u64> = BTreeMap::new();
            let mut emissions = 0;
            for raw in records.iter().filter_map(|record| record.1.as_ref()).flatten().flatten() {
                emissions += 1;
                let (paper, strict) = (classify_json(raw).expect("JSON"), strict_json(raw, &rules).expect("JSON"));
                if paper.class == strict.class {
                    continue;
                }
                let name = |class: Option<dualrater::model::ActionClass>| class.map_or("none", |class| class.as_str());
                *changed.entry(format!("{} to {}", name(paper.class), name(strict.class))).or_default() += 1;
                let touched = strict.fired.iter().filter(|hit| match hit.effect {
                    RuleEffect::Ignores(class) => Some(class) == paper.class,
                    RuleEffect::Adds(class) => Some(class) == strict.class,
                });
                let touched: BTreeSet<StrictRule> = touched.map(|hit| hit.rule).collect();
                for rule in touched {
                    *by_rule.entry(rule).or_default() += 1;
                }
            }
            let cases: Vec<CaseEmissions<'_>> = records
                .iter()
                .map(|(id, turns)| CaseEmissions { id, turns: turns.as_deref(), truth: truths.get(id) })
                .collect();
            let all: CellDiff = diff(category, cases.iter().copied(), &rules);
            let any_turn = diff(category, cases, &rules.clone().without(StrictRule::GoldWindow));
            let record = json!({"run": run, "category": category, "emissions": emissions, "changed": changed,
                "by_rule": by_rule, "all": all, "any_turn": any_turn});
            writeln!(out, "{record}").expect("a writable file");
        }
    }
}
