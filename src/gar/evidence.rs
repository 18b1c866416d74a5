//! The emissions of a case as they were saved, and what a rule set makes of them turn by turn.

use super::gold_turn::TurnFacts;
use crate::action::{Classifier, StrictRules, StrictVerdict, strict_json};
use crate::model::GroundTruth;

/// A case with its emissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseEmissions<'c> {
    /// The case id.
    pub id: &'c str,
    /// Per turn the emissions, one JSON value each, as the run file holds them; `None`: an error record.
    pub turns: Option<&'c [Vec<String>]>,
    /// The ground truth; `None`: the data set does not know the case.
    pub truth: Option<&'c GroundTruth>,
}

/// The turns under the rule set `paper`. An emission that is no JSON has no class.
#[must_use]
pub fn paper_turns(turns: &[Vec<String>]) -> Vec<TurnFacts> {
    facts(turns, |raw| {
        let found = Classifier::paper().classify_json(raw).unwrap_or_default();
        (found.class, found.calls)
    })
}

/// The turns under the rule set `strict`.
#[must_use]
pub fn strict_turns(turns: &[Vec<String>], rules: &StrictRules) -> Vec<TurnFacts> {
    facts(turns, |raw| {
        let found = verdict(raw, rules);
        (found.class, found.calls)
    })
}

/// What `strict` says about a saved emission; nothing about one that is no JSON.
pub(super) fn verdict(raw: &str, rules: &StrictRules) -> StrictVerdict {
    strict_json(raw, rules).unwrap_or_default()
}

fn facts(
    turns: &[Vec<String>],
    classify: impl Fn(&str) -> (Option<crate::model::ActionClass>, Vec<String>),
) -> Vec<TurnFacts> {
    let turn = |emissions: &Vec<String>| {
        let (classes, calls): (Vec<_>, Vec<_>) = emissions.iter().map(|raw| classify(raw)).unzip();
        TurnFacts { classes, calls: calls.concat() }
    };
    turns.iter().map(turn).collect()
}
