//! Which rulings of a file are taken, and what is wrong with the others.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::files::RulingRow;
use super::plan::RatedCase;
use super::{Item, ItemKind};
use crate::model::{BatchName, CaseIdentity, LabelId, RaterName, RatingValue};
use crate::rate::check::{MappedValue, StoredRating};
use crate::rate::exchange::LineProblem;
use crate::rate::text::quoted;
use crate::rubric::{RationaleRule, Rubric, Severity, check_case, check_value, derived_value};

/// What a file is checked against.
#[derive(Debug, Clone)]
pub struct AdjudicationExpectation<'a> {
    /// The batch.
    pub batch: BatchName,
    /// The adjudicator whose rulings are expected.
    pub adjudicator: RaterName,
    /// The batch's rubric.
    pub rubric: &'a Rubric,
    /// The cases with both raters' answers, for the rules between final values.
    pub cases: BTreeMap<CaseIdentity, RatedCase>,
    /// What was planned, with the ruling that is stored.
    pub items: Vec<ExpectedItem>,
    /// What follows by rule once the rest is ruled on, with what is stored.
    pub by_rule: Vec<ExpectedItem>,
    /// May a ruling that is stored be changed?
    pub revise: bool,
}

/// An item that may be ruled on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedItem {
    /// The item as planned now.
    pub item: Item,
    /// The stored ruling.
    pub existing: Option<StoredRating>,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RulingOutcome {
    /// Rulings to store, in the order of the file.
    pub accepted: Vec<AcceptedRuling>,
    /// Rulings that are stored already, as they are.
    pub unchanged: Vec<(CaseIdentity, LabelId)>,
    /// Values that were written differently, and what they were taken for.
    pub mapped: Vec<MappedValue>,
    /// Items of the file without a ruling.
    pub missing: Vec<(CaseIdentity, LabelId)>,
    /// What the adjudicator should know.
    pub warnings: Vec<LineProblem>,
    /// What is wrong; the rulings concerned are not in `accepted`.
    pub problems: Vec<LineProblem>,
}

/// A ruling to store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AcceptedRuling {
    /// The line it came from.
    pub line: u64,
    /// The case.
    pub case: CaseIdentity,
    /// The label.
    pub label: LabelId,
    /// Disagreement or spot check.
    pub kind: ItemKind,
    /// The ruling.
    pub value: RatingValue,
    /// Why.
    pub note: String,
    /// For a spot check: is the ruling the value on which the raters agree?
    pub correct: Option<bool>,
    /// The stored ruling that it replaces.
    pub revises: Option<RatingValue>,
}

/// A ruling of the file that is valid by itself.
struct Candidate<'a> {
    line: u64,
    expected: &'a ExpectedItem,
    value: RatingValue,
    note: String,
    mapped_from: Option<String>,
}

type Key = (CaseIdentity, LabelId);

/// Checks the rows of a file. A row counts only if batch, rubric digest, adjudicator and item fit, if what was shown is
/// still what the raters say (`item_digest`), and if no other row rules on the same item. The final values that follow
/// must satisfy the rubric's rules: where all labels of a broken rule are the adjudicator's to rule on, the rulings
/// concerned are refused; where the raters agree on one of them, it is a warning, since that value is not at hand.
#[must_use]
pub fn check_rulings(expected: &AdjudicationExpectation<'_>, rows: Vec<RulingRow>) -> RulingOutcome {
    let mut outcome = RulingOutcome::default();
    let digest = expected.rubric.digest();
    let items: BTreeMap<(&str, &str), &ExpectedItem> =
        expected.items.iter().map(|item| ((item.item.case.as_str(), item.item.label.as_str()), item)).collect();
    let mut seen: BTreeMap<Key, u64> = BTreeMap::new();
    let mut doubled: BTreeSet<Key> = BTreeSet::new();
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for row in rows {
        let problem = |message: String| LineProblem::new(row.line, message).case(&row.case).label(&row.label);
        let item = match fitting_item(expected, &digest, &items, &row) {
            Ok(item) => item,
            Err((message, hint)) => {
                outcome.problems.push(problem(message).hint(hint));
                continue;
            }
        };
        let key = (item.item.case.clone(), item.item.label.clone());
        if let Some(first) = seen.get(&key) {
            let message = format!("the item stands in line {first} already");
            outcome.problems.push(problem(message).hint("keep one row; none of them was taken"));
            doubled.insert(key);
            continue;
        }
        seen.insert(key, row.line);
        candidates.extend(candidate(expected, item, &row, &mut outcome));
    }
    candidates.retain(|candidate| !doubled.contains(&candidate.key()));
    outcome.missing.retain(|key| !doubled.contains(key));
    refuse_inconsistent(expected, &mut candidates, &mut outcome);
    let derived = derived(expected, &candidates);
    for candidate in candidates {
        take(candidate, &mut outcome);
    }
    outcome.accepted.extend(derived);
    outcome.problems.sort_by_key(|problem| problem.line);
    outcome
}

impl Candidate<'_> {
    fn key(&self) -> Key {
        (self.expected.item.case.clone(), self.expected.item.label.clone())
    }

    fn is_unchanged(&self) -> bool {
        self.expected
            .existing
            .as_ref()
            .is_some_and(|stored| stored.value == self.value && (self.note.is_empty() || self.note == stored.rationale))
    }

    fn problem(&self, message: String) -> LineProblem {
        let item = &self.expected.item;
        LineProblem::new(self.line, message).case(item.case.as_str()).label(item.label.as_str())
    }
}

fn fitting_item<'e>(
    expected: &AdjudicationExpectation<'_>,
    rubric_digest: &str,
    items: &BTreeMap<(&str, &str), &'e ExpectedItem>,
    row: &RulingRow,
) -> Result<&'e ExpectedItem, (String, &'static str)> {
    if row.batch != expected.batch.as_str() {
        let message = format!("the row belongs to batch {}, not {:?}", quoted(&row.batch), expected.batch.as_str());
        return Err((message, "import the file that was exported for this batch"));
    }
    if row.adjudicator != expected.adjudicator.as_str() {
        let found = quoted(&row.adjudicator);
        let message = format!("the row is of adjudicator {found}, not {:?}", expected.adjudicator.as_str());
        return Err((message, "every adjudicator answers the file that was exported for them"));
    }
    if row.rubric_digest != rubric_digest {
        let found = quoted(&row.rubric_digest);
        let message = format!("the row was made under the rubric digest {found}, not {rubric_digest}");
        return Err((message, "rulings under another rubric cannot be mixed in; export again"));
    }
    let Some(item) = items.get(&(row.case.as_str(), row.label.as_str())) else {
        let message = format!("{} of case {} is not up for adjudication", quoted(&row.label), quoted(&row.case));
        return Err((message, "case and label must stay as exported; raters may have settled it since"));
    };
    if row.item_digest != item.item.digest() {
        let message = "the raters' answers are not those that were shown".to_owned();
        return Err((message, "an answer was revised since; export the adjudication again"));
    }
    Ok(item)
}

/// Reads the ruling of a row that belongs here; `None` if there is none, or none that can be taken.
fn candidate<'e>(
    expected: &AdjudicationExpectation<'_>,
    item: &'e ExpectedItem,
    row: &RulingRow,
    outcome: &mut RulingOutcome,
) -> Option<Candidate<'e>> {
    let label = expected.rubric.label(&item.item.label)?;
    let problem = |message: String| LineProblem::new(row.line, message).case(&row.case).label(&row.label);
    let events = expected.cases.get(&item.item.case).and_then(|case| case.events.as_ref());
    let read = match check_value(&label.narrowed(events), &row.value) {
        Ok(read) => read,
        Err(error) => {
            outcome.problems.push(problem(error.to_string()).hint(error.hint()));
            return None;
        }
    };
    let note = if row.note.trim().is_empty() { String::new() } else { row.note.clone() };
    let Some(value) = read.value else {
        if !note.is_empty() {
            outcome.warnings.push(problem(format!("{} has a note but no value", label.id)));
        }
        if item.existing.is_none() {
            outcome.missing.push((item.item.case.clone(), label.id.clone()));
        }
        return None;
    };
    let candidate = Candidate { line: row.line, expected: item, value, note, mapped_from: read.mapped_from };
    if candidate.is_unchanged() {
        return Some(candidate);
    }
    if let Some(stored) = item.existing.as_ref().filter(|_| !expected.revise) {
        let what = if stored.value == candidate.value { "another note" } else { stored.value.as_str() };
        let message = format!("{} is {} here, but stored with {what}", label.id, candidate.value);
        outcome.problems.push(problem(message).hint("import with leave to revise, or restore the stored ruling"));
        return None;
    }
    // That an agreed value is right needs no reason.
    let confirms = item.item.kind == ItemKind::SpotCheck && candidate.value == item.item.left.value;
    if candidate.note.is_empty() && !confirms {
        let found = problem(format!("the ruling on {} has no note", label.id));
        match expected.rubric.rationale {
            RationaleRule::Required => {
                outcome.problems.push(found.hint("say why in a few words"));
                return None;
            }
            RationaleRule::Expected => outcome.warnings.push(found),
            RationaleRule::Optional => {}
        }
    }
    Some(candidate)
}

/// Refuses rulings whose final values break a rule, until none is broken.
fn refuse_inconsistent(
    expected: &AdjudicationExpectation<'_>,
    candidates: &mut Vec<Candidate<'_>>,
    outcome: &mut RulingOutcome,
) {
    let touched: BTreeSet<CaseIdentity> = candidates.iter().map(|c| c.expected.item.case.clone()).collect();
    for case in touched {
        let Some(rated) = expected.cases.get(&case) else { continue };
        let ours: BTreeMap<&LabelId, &ExpectedItem> =
            expected.items.iter().filter(|i| i.item.case == case).map(|i| (&i.item.label, i)).collect();
        let mut warned: Vec<LineProblem> = Vec::new();
        for _ in 0..=ours.len() {
            let ruled: BTreeMap<&LabelId, &Candidate<'_>> = candidates
                .iter()
                .filter(|c| c.expected.item.case == case)
                .map(|c| (&c.expected.item.label, c))
                .collect();
            let finals = finals(expected.rubric, rated, &ours, &ruled);
            let mut broken: BTreeSet<LabelId> = BTreeSet::new();
            for violation in check_case(expected.rubric, &rated.facts(), &finals) {
                let Some(candidate) = violation.labels.iter().rev().find_map(|label| ruled.get(label)) else {
                    continue;
                };
                let at_hand = violation.labels.iter().all(|label| ours.contains_key(label));
                let problem = candidate.problem(format!("final values: {}", violation.message)).hint(violation.hint);
                if at_hand && violation.severity == Severity::Error {
                    broken.extend(violation.labels);
                    outcome.problems.push(problem);
                } else if !warned.contains(&problem) {
                    warned.push(problem);
                }
            }
            if broken.is_empty() {
                break;
            }
            candidates.retain(|c| c.expected.item.case != case || !broken.contains(&c.expected.item.label));
        }
        outcome.warnings.append(&mut warned);
    }
}

/// The final values that follow by rule from those of the cases that the file rules on.
fn derived(expected: &AdjudicationExpectation<'_>, candidates: &[Candidate<'_>]) -> Vec<AcceptedRuling> {
    let derive = |by_rule: &ExpectedItem| {
        let item = &by_rule.item;
        let here = |candidate: &&Candidate<'_>| candidate.expected.item.case == item.case;
        let line = candidates.iter().filter(here).map(|candidate| candidate.line).max()?;
        let rated = expected.cases.get(&item.case)?;
        let ours: BTreeMap<&LabelId, &ExpectedItem> =
            expected.items.iter().filter(|other| other.item.case == item.case).map(|o| (&o.item.label, o)).collect();
        let ruled =
            candidates.iter().filter(here).map(|candidate| (&candidate.expected.item.label, candidate)).collect();
        let finals = finals(expected.rubric, rated, &ours, &ruled);
        let value = derived_value(expected.rubric, &item.label, &rated.facts(), &finals)?;
        let stored = by_rule.existing.as_ref().map(|stored| stored.value.clone());
        (stored.as_ref() != Some(&value)).then(|| AcceptedRuling {
            line,
            case: item.case.clone(),
            label: item.label.clone(),
            kind: item.kind,
            correct: (item.kind == ItemKind::SpotCheck).then(|| value == item.left.value),
            value,
            note: "by rule from the other final values".to_owned(),
            revises: stored,
        })
    };
    expected.by_rule.iter().filter_map(derive).collect()
}

/// The final values of a case, as far as they are known.
fn finals(
    rubric: &Rubric,
    rated: &RatedCase,
    ours: &BTreeMap<&LabelId, &ExpectedItem>,
    ruled: &BTreeMap<&LabelId, &Candidate<'_>>,
) -> BTreeMap<LabelId, RatingValue> {
    let value = |label: &LabelId| {
        let stored = ours.get(label).and_then(|item| item.existing.as_ref()).map(|stored| &stored.value);
        let shared = rated.pair(label).filter(|(one, two)| one.value == two.value).map(|(one, _)| &one.value);
        ruled.get(label).map(|candidate| &candidate.value).or(stored).or(shared).cloned()
    };
    rubric.labels.iter().filter_map(|label| Some((label.id.clone(), value(&label.id)?))).collect()
}

fn take(candidate: Candidate<'_>, outcome: &mut RulingOutcome) {
    let (case, label) = candidate.key();
    if candidate.is_unchanged() {
        outcome.unchanged.push((case, label));
        return;
    }
    let Candidate { line, expected, value, note, mapped_from } = candidate;
    let kind = expected.item.kind;
    if let Some(from) = mapped_from {
        let (case, label) = (case.clone(), label.clone());
        outcome.mapped.push(MappedValue { line, case, label, from, to: value.clone() });
    }
    let correct = (kind == ItemKind::SpotCheck).then(|| value == expected.item.left.value);
    let revises = expected.existing.as_ref().map(|stored| stored.value.clone());
    outcome.accepted.push(AcceptedRuling { line, case, label, kind, value, note, correct, revises });
}
