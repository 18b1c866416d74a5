//! Judges one row that belongs to the batch: its values, then how they fit the stored ones and each other.

use std::collections::{BTreeMap, BTreeSet};

use super::{AcceptedRating, BatchExpectation, ExpectedCase, ImportOutcome, MappedValue};
use crate::model::{CaseIdentity, LabelId, RatingValue};
use crate::rate::exchange::{AnswerForm, AnswerRow, LineProblem, RawAnswer};
use crate::rate::sheet::BY_RULE;
use crate::rate::text::quoted;
use crate::rubric::{
    Applicability, Label, RationaleRule, Severity, Violation, applicability, check_case, check_value, derived_value,
};

/// A row with all that it is judged by.
pub(super) struct RowCheck<'a> {
    pub expected: &'a BatchExpectation<'a>,
    pub case: &'a CaseIdentity,
    pub facts: &'a ExpectedCase,
    pub row: &'a AnswerRow,
}

/// An answer of the row that is valid by itself.
struct Candidate {
    value: RatingValue,
    /// Empty where it is blank.
    rationale: String,
    mapped_from: Option<String>,
}

type Candidates = BTreeMap<LabelId, Candidate>;

impl RowCheck<'_> {
    /// Judges the row. `passed_over` collects columns that are no label, so that each is reported once.
    pub(super) fn run(&self, passed_over: &mut BTreeSet<String>, outcome: &mut ImportOutcome) {
        let mut refused = BTreeSet::new();
        let mut candidates = self.read(passed_over, &mut refused, outcome);
        if !self.expected.rubric.labels.iter().any(|label| self.is_own_answer(label, &candidates)) {
            if refused.is_empty() {
                outcome.untouched.push(self.case.clone());
            }
            return;
        }
        for label in &self.expected.rubric.labels {
            if label.asked && self.is_closed(label) && !refused.contains(&label.id) {
                let value = RatingValue::NotApplicable;
                let filled_in = || Candidate { value, rationale: String::new(), mapped_from: None };
                candidates.entry(label.id.clone()).or_insert_with(filled_in);
            }
        }
        self.refuse_unacceptable(&mut candidates, &mut refused, outcome);
        self.refuse_inconsistent(&mut candidates, &mut refused, outcome);
        self.derive(&mut candidates);
        for label in &self.expected.rubric.labels {
            let open = label.asked && !refused.contains(&label.id) && !self.facts.existing.contains_key(&label.id);
            match candidates.remove(&label.id) {
                Some(candidate) => self.take(label, candidate, outcome),
                None if open => outcome.missing.push((self.case.clone(), label.id.clone())),
                None => {}
            }
        }
    }

    fn problem(&self, label: &str, message: impl Into<String>) -> LineProblem {
        LineProblem::new(self.row.line, message).case(self.case.as_str()).label(label)
    }

    /// Does category or stratum say that the label does not apply?
    fn is_closed(&self, label: &Label) -> bool {
        applicability(label, self.facts.category, &self.facts.stratum) == Applicability::NotApplicable
    }

    /// Is there an answer that was not filled in by the export?
    fn is_own_answer(&self, label: &Label, candidates: &Candidates) -> bool {
        let answer = candidates.get(&label.id);
        answer.is_some_and(|answer| !(self.is_closed(label) && answer.value == RatingValue::NotApplicable))
    }

    /// Labels differ in more than letter case (the rubric's own check), so headers may be written in any.
    fn label_of(&self, answer: &RawAnswer) -> Option<&Label> {
        let name = answer.label.trim();
        self.expected.rubric.labels.iter().find(|label| label.id.as_str().eq_ignore_ascii_case(name))
    }

    /// Reads the values, each by itself.
    fn read(
        &self,
        passed_over: &mut BTreeSet<String>,
        refused: &mut BTreeSet<LabelId>,
        outcome: &mut ImportOutcome,
    ) -> Candidates {
        let mut found = Candidates::new();
        for answer in &self.row.answers {
            let Some(label) = self.label_of(answer) else {
                self.unknown_label(answer, passed_over, outcome);
                continue;
            };
            if !label.asked {
                self.not_asked(label, answer, outcome);
                continue;
            }
            match check_value(&label.narrowed(self.facts.events.as_ref()), &answer.value) {
                Ok(read) => {
                    let blank = answer.rationale.trim().is_empty();
                    let rationale = if blank { String::new() } else { answer.rationale.clone() };
                    let Some(value) = read.value else {
                        if !blank {
                            let message = format!("{} has a rationale but no value", label.id);
                            outcome.warnings.push(self.problem(label.id.as_str(), message));
                        }
                        continue;
                    };
                    let candidate = Candidate { value, rationale, mapped_from: read.mapped_from };
                    if found.insert(label.id.clone(), candidate).is_some() {
                        let message = format!("{} is answered twice in this row", label.id);
                        outcome.problems.push(self.problem(label.id.as_str(), message));
                        refused.insert(label.id.clone());
                    }
                }
                Err(error) => {
                    outcome.problems.push(self.problem(label.id.as_str(), error.to_string()).hint(error.hint()));
                    refused.insert(label.id.clone());
                }
            }
        }
        found.retain(|label, _| !refused.contains(label));
        found
    }

    /// A cell of a label that is not asked is passed over; what stands in it is reported unless we wrote it.
    fn not_asked(&self, label: &Label, answer: &RawAnswer, outcome: &mut ImportOutcome) {
        let stored = self.facts.existing.get(&label.id).map(|stored| stored.value.as_str());
        let value = answer.value.trim();
        let ours =
            value.is_empty() || value == BY_RULE || value == RatingValue::NOT_APPLICABLE || stored == Some(value);
        if !ours {
            let message =
                format!("{} is not asked: it follows from other answers, {} is passed over", label.id, quoted(value));
            outcome.warnings.push(self.problem(label.id.as_str(), message));
        }
    }

    /// The row's answers over the stored ones; labels that are not asked are left out, as they follow from these.
    fn together(&self, candidates: &Candidates) -> BTreeMap<LabelId, RatingValue> {
        let stored = self.facts.existing.iter().map(|(label, stored)| (label.clone(), stored.value.clone()));
        let mut together: BTreeMap<LabelId, RatingValue> = stored.collect();
        together.extend(candidates.iter().map(|(label, candidate)| (label.clone(), candidate.value.clone())));
        together.retain(|label, _| self.expected.rubric.label(label).is_some_and(|label| label.asked));
        together
    }

    /// Computes the labels that are not asked.
    fn derive(&self, candidates: &mut Candidates) {
        let together = self.together(candidates);
        for label in self.expected.rubric.labels.iter().filter(|label| !label.asked) {
            if let Some(value) = derived_value(self.expected.rubric, &label.id, &self.facts.facts(), &together) {
                let rationale = "follows by rule from the other answers".to_owned();
                candidates.insert(label.id.clone(), Candidate { value, rationale, mapped_from: None });
            }
        }
    }

    fn unknown_label(&self, answer: &RawAnswer, passed_over: &mut BTreeSet<String>, outcome: &mut ImportOutcome) {
        let message = format!("{} is no label of this rubric", quoted(&answer.label));
        match self.row.form {
            AnswerForm::Json => outcome.problems.push(self.problem(&answer.label, message)),
            AnswerForm::Sheet => {
                if !answer.is_blank() && passed_over.insert(answer.label.to_lowercase()) {
                    let warning = LineProblem::new(self.row.line, format!("{message}; the column is passed over"));
                    outcome.warnings.push(warning.label(&answer.label));
                }
            }
        }
    }

    /// Refuses answers that would change a stored one without leave, and answers without a rationale that needs one.
    fn refuse_unacceptable(
        &self,
        candidates: &mut Candidates,
        refused: &mut BTreeSet<LabelId>,
        outcome: &mut ImportOutcome,
    ) {
        for label in &self.expected.rubric.labels {
            let Some(candidate) = candidates.get(&label.id) else { continue };
            let stored = self.facts.existing.get(&label.id);
            let problem = if self.is_unchanged(label, candidate) {
                None
            } else if let Some(stored) = stored.filter(|_| !self.expected.revise) {
                let what = match &stored.value {
                    value if *value == candidate.value => "another rationale",
                    value => value.as_str(),
                };
                let message = format!("{} is {} here, but stored with {what}", label.id, candidate.value);
                let hint = "import with leave to revise, or restore the stored answer in the file";
                Some(self.problem(label.id.as_str(), message).hint(hint))
            } else if candidate.rationale.is_empty() && !self.is_closed(label) {
                let problem = self.problem(label.id.as_str(), format!("{} has no rationale", label.id));
                match self.expected.rubric.rationale {
                    RationaleRule::Required => Some(problem.hint("say why in a few words")),
                    RationaleRule::Expected => {
                        outcome.warnings.push(problem);
                        None
                    }
                    RationaleRule::Optional => None,
                }
            } else {
                None
            };
            if let Some(problem) = problem {
                outcome.problems.push(problem);
                candidates.remove(&label.id);
                refused.insert(label.id.clone());
            }
        }
    }

    /// Refuses the answers that break a rule, until none is broken: without one of the row's answers its stored value
    /// counts again, which may contradict another of them.
    fn refuse_inconsistent(
        &self,
        candidates: &mut Candidates,
        refused: &mut BTreeSet<LabelId>,
        outcome: &mut ImportOutcome,
    ) {
        let mut warned: Vec<Violation> = Vec::new();
        // Each round but the last takes at least one answer out.
        for _ in 0..=candidates.len() {
            let together = self.together(candidates);
            let mut broken = BTreeSet::new();
            for violation in check_case(self.expected.rubric, &self.facts.facts(), &together) {
                // What only stored answers break is not this file's doing.
                if !violation.labels.iter().any(|label| candidates.contains_key(label)) {
                    continue;
                }
                let label = violation.labels.last().map_or("", LabelId::as_str);
                let problem = self.problem(label, violation.message.clone()).hint(violation.hint.clone());
                if violation.severity == Severity::Error {
                    broken.extend(violation.labels);
                    outcome.problems.push(problem);
                } else if !warned.contains(&violation) {
                    outcome.warnings.push(problem);
                    warned.push(violation);
                }
            }
            if broken.is_empty() {
                return;
            }
            candidates.retain(|label, _| !broken.contains(label));
            refused.extend(broken);
        }
    }

    /// Is the answer stored already? A blank rationale takes nothing back.
    fn is_unchanged(&self, label: &Label, candidate: &Candidate) -> bool {
        self.facts.existing.get(&label.id).is_some_and(|stored| {
            let same_words = candidate.rationale.is_empty() || candidate.rationale == stored.rationale;
            stored.value == candidate.value && same_words
        })
    }

    fn take(&self, label: &Label, candidate: Candidate, outcome: &mut ImportOutcome) {
        if self.is_unchanged(label, &candidate) {
            outcome.unchanged.push((self.case.clone(), label.id.clone()));
            return;
        }
        let (line, case, label) = (self.row.line, self.case.clone(), label.id.clone());
        let Candidate { value, rationale, mapped_from } = candidate;
        if let Some(from) = mapped_from {
            let (case, label) = (case.clone(), label.clone());
            outcome.mapped.push(MappedValue { line, case, label, from, to: value.clone() });
        }
        let revises = self.facts.existing.get(&label).map(|stored| stored.value.clone());
        outcome.accepted.push(AcceptedRating { line, case, label, value, rationale, revises });
    }
}
