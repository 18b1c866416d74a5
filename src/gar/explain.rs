//! Emission by emission what each rule set saw, and why they differ; cases that change between the two, by rule.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::evidence::{CaseEmissions, paper_turns, strict_turns, verdict};
use super::gold_turn::GoldTurnCase;
use super::window::{gold_window, strict_hit};
use crate::action::{Classified, Classifier, RuleEffect, StrictRule, StrictRules, StrictVerdict};
use crate::model::{ActionClass, Category};

/// What both rule sets say about one emission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainRow {
    /// The turn, from 0.
    pub turn: usize,
    /// The step in the turn, from 0.
    pub step: usize,
    /// Is the turn in the gold window? `None`: the window is not known.
    pub in_window: Option<bool>,
    /// Under `paper`: class, form, cue with its offset, tools.
    pub paper: Classified,
    /// Under `strict`: the same, and what its rules did.
    pub strict: StrictVerdict,
    /// Why the classes differ; `None`: they do not.
    pub why: Option<String>,
}

/// Explains a case emission by emission. An error record has no rows.
#[must_use]
pub fn explain(category: Category, case: CaseEmissions<'_>, rules: &StrictRules) -> Vec<ExplainRow> {
    let window = case.truth.and_then(|truth| gold_window(category, truth));
    let mut rows = Vec::new();
    for (turn, emissions) in case.turns.unwrap_or_default().iter().enumerate() {
        for (step, raw) in emissions.iter().enumerate() {
            let paper = Classifier::paper().classify_json(raw).unwrap_or_default();
            let strict = verdict(raw, rules);
            let why = why(&paper, &strict);
            let in_window = window.as_ref().map(|window| window.contains(&turn));
            rows.push(ExplainRow { turn, step, in_window, paper, strict, why });
        }
    }
    rows
}

fn why(paper: &Classified, strict: &StrictVerdict) -> Option<String> {
    if paper.class == strict.class {
        return None;
    }
    let name = |class: Option<ActionClass>| class.map_or("none", ActionClass::as_str);
    // What took paper's class away, and what gave the class of strict.
    let parts: Vec<String> = strict
        .fired
        .iter()
        .filter_map(|hit| match hit.effect {
            RuleEffect::Ignores(class) if Some(class) == paper.class => {
                Some(format!("{} ignores {:?} at byte {}", hit.rule, hit.cue, hit.offset))
            }
            RuleEffect::Adds(class) if Some(class) == strict.class => {
                Some(format!("{} adds {:?} at byte {}", hit.rule, hit.cue, hit.offset))
            }
            _ => None,
        })
        .collect();
    let left = strict.cue.as_ref().filter(|cue| !strict.fired.iter().any(|hit| hit.offset == cue.offset));
    let left = left.map(|cue| format!("; {:?} at byte {} is left", cue.cue, cue.offset)).unwrap_or_default();
    Some(format!("{} becomes {}: {}{left}", name(paper.class), name(strict.class), parts.join("; ")))
}

/// A case that hits under one rule set and not under the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseChange {
    /// The case id.
    pub id: String,
    /// Under `paper` (any turn).
    pub paper: bool,
    /// Under `strict`.
    pub strict: bool,
    /// The rules without which the case would not change: with any one of them off, both rule sets agree. Empty: only
    /// several together make the change.
    pub rules: Vec<StrictRule>,
}

/// How many cases a rule changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RuleChange {
    /// Hits under `strict` only.
    pub gained: u64,
    /// Hits under `paper` only.
    pub lost: u64,
}

/// The cases of a cell that change between `paper` and `strict`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CellDiff {
    /// All records.
    pub n: u64,
    /// Records whose hit under `strict` is not known.
    pub left_out: u64,
    /// Hits under both.
    pub both: u64,
    /// Hits under neither.
    pub neither: u64,
    /// The cases that change, in the order of the input.
    pub changed: Vec<CaseChange>,
    /// Per rule the cases that it alone decides. A case can stand under several rules.
    pub by_rule: BTreeMap<StrictRule, RuleChange>,
    /// Changed cases that no single rule decides.
    pub several: RuleChange,
}

/// Compares the rule sets over the cases of a cell.
#[must_use]
pub fn diff<'c>(
    category: Category,
    cases: impl IntoIterator<Item = CaseEmissions<'c>>,
    rules: &StrictRules,
) -> CellDiff {
    let gold = Some(category.gold_action());
    let mut out = CellDiff::default();
    for case in cases {
        out.n += 1;
        let turns = case.turns.unwrap_or_default();
        let paper = paper_turns(turns).iter().any(|turn| turn.classes.contains(&gold));
        let under = |rules: &StrictRules| {
            let facts = strict_turns(turns, rules);
            strict_hit(category, GoldTurnCase { turns: case.turns.map(|_| facts.as_slice()), truth: case.truth }, rules)
        };
        let Some(strict) = under(rules) else {
            out.left_out += 1;
            continue;
        };
        match (paper, strict) {
            (true, true) => out.both += 1,
            (false, false) => out.neither += 1,
            _ => {
                let deciding: Vec<StrictRule> =
                    rules.iter().filter(|rule| under(&rules.clone().without(*rule)) == Some(paper)).collect();
                for rule in &deciding {
                    count(out.by_rule.entry(*rule).or_default(), strict);
                }
                if deciding.is_empty() {
                    count(&mut out.several, strict);
                }
                out.changed.push(CaseChange { id: case.id.to_owned(), paper, strict, rules: deciding });
            }
        }
    }
    out
}

fn count(change: &mut RuleChange, gained: bool) {
    if gained {
        change.gained += 1;
    } else {
        change.lost += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GroundTruth;

    fn turns(texts: &[&[&str]]) -> Vec<Vec<String>> {
        let raw = |text: &&str| serde_json::Value::from(*text).to_string();
        texts.iter().map(|turn| turn.iter().map(raw).collect()).collect()
    }

    const CALL: &str = "[ls()]";

    fn truth() -> GroundTruth {
        GroundTruth {
            calls: vec![vec!["f()".to_owned()], Vec::new(), vec!["f()".to_owned()]],
            held_out_tools: vec!["f".to_owned()],
            return_turn: Some(2),
        }
    }

    #[test]
    fn a_row_says_why_the_classes_differ() {
        let turns = turns(&[&[CALL], &["The file cannot be found. Which one?"], &["It is 3. Anything else?", "not"]]);
        let truth = truth();
        let case = CaseEmissions { id: "a", turns: Some(&turns), truth: Some(&truth) };
        let rows = explain(Category::MissFunc, case, &StrictRules::all());
        let places: Vec<(usize, usize, Option<bool>)> =
            rows.iter().map(|row| (row.turn, row.step, row.in_window)).collect();
        assert_eq!(places, [(0, 0, Some(false)), (1, 0, Some(true)), (2, 0, Some(false)), (2, 1, Some(false))]);
        let why: Vec<Option<&str>> = rows.iter().map(|row| row.why.as_deref()).collect();
        assert_eq!(
            why,
            [
                None,
                Some("refuse becomes ask: reported-error ignores \"cannot\" at byte 9; \"?\" at byte 35 is left"),
                Some("ask becomes other: courtesy-question ignores \"?\" at byte 22"),
                None
            ]
        );
        let unknown = CaseEmissions { truth: None, ..case };
        assert!(explain(Category::MissFunc, unknown, &StrictRules::all()).iter().all(|row| row.in_window.is_none()));
        let error = CaseEmissions { turns: None, ..case };
        assert!(explain(Category::MissFunc, error, &StrictRules::all()).is_empty());
    }

    #[test]
    fn changed_cases_stand_under_the_rules_that_decide_them() {
        let truth = truth();
        let cases = [
            // The refusal comes at the wrong turn.
            turns(&[&["I cannot do that."], &[CALL], &[CALL]]),
            // At the right turn, but it is a report.
            turns(&[&[CALL], &["The file cannot be found."], &[CALL]]),
            // A report at the wrong turn: two rules, and neither alone decides.
            turns(&[&["The file cannot be found."], &[CALL], &[CALL]]),
            // No listed cue.
            turns(&[&[CALL], &["There is no tool for that."], &[CALL]]),
            turns(&[&[CALL], &["I cannot do that."], &[CALL]]),
            turns(&[&[CALL], &[CALL], &[CALL]]),
        ];
        let ids = ["window", "report", "two", "uncued", "both", "neither"];
        let all =
            ids.iter().zip(&cases).map(|(id, turns)| CaseEmissions { id, turns: Some(turns), truth: Some(&truth) });
        let unknown = CaseEmissions { id: "unknown", turns: cases.first().map(Vec::as_slice), truth: None };
        let found = diff(Category::MissFunc, all.chain([unknown]), &StrictRules::all());
        assert_eq!((found.n, found.left_out, found.both, found.neither), (7, 1, 1, 1));
        let changed: Vec<(&str, bool, &[StrictRule])> =
            found.changed.iter().map(|case| (case.id.as_str(), case.strict, case.rules.as_slice())).collect();
        assert_eq!(
            changed,
            [
                ("window", false, &[StrictRule::GoldWindow][..]),
                ("report", false, &[StrictRule::ReportedError][..]),
                ("two", false, &[][..]),
                ("uncued", true, &[StrictRule::UncuedRefusal][..])
            ]
        );
        assert_eq!(found.by_rule.get(&StrictRule::UncuedRefusal), Some(&RuleChange { gained: 1, lost: 0 }));
        assert_eq!(found.several, RuleChange { gained: 0, lost: 1 });
    }
}
