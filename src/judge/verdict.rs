//! What a completion is worth: answers to store, or what to tell the model.

use std::collections::BTreeMap;

use super::reply::{Completion, spoken};
use crate::model::{LabelId, RatingValue};
use crate::rate::{BatchExpectation, ExpectedCase, LineProblem, Meta, RaterCase, Reply, check_reply};
use crate::rubric::Rubric;
use crate::store::{JudgeAnswer, ReplyOutcome};

/// A completion that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    /// One per asked label, in the rubric's order.
    pub answers: Vec<JudgeAnswer>,
    /// What follows by rule from them.
    pub derived: Vec<JudgeAnswer>,
    /// The first reason why it is not whole; `None`: it is.
    pub reason: Option<&'static str>,
    /// What is wrong, in sentences.
    pub problems: Vec<String>,
}

impl Verdict {
    /// What becomes of the reply. `final_word`: the model is not asked again; then what is sound counts.
    pub(super) fn outcome(&self, final_word: bool) -> ReplyOutcome {
        let whole = self.reason.is_none() || self.answers.iter().all(|answer| answer.value.is_some());
        match (self.reason, final_word) {
            (Some(_), false) => ReplyOutcome::Again,
            _ if whole => ReplyOutcome::Verdict,
            _ => ReplyOutcome::NoVerdict,
        }
    }
}

/// Whose reply is checked against what.
pub(super) struct Check<'a> {
    pub meta: &'a Meta,
    pub rubric: &'a Rubric,
    pub case: &'a RaterCase,
    pub facts: &'a ExpectedCase,
}

impl Check<'_> {
    /// Checks a completion.
    pub(super) fn of(&self, completion: &Completion) -> Verdict {
        let cut = completion.finish_reason.as_deref() == Some("length");
        let filtered = completion.finish_reason.as_deref() == Some("content_filter");
        if let Some(refusal) = &completion.refusal {
            return self.nothing("refused", format!("the model refused: {}", super::reply::server_message(refusal)));
        }
        // A first answer is checked against nothing stored.
        let facts = ExpectedCase { existing: BTreeMap::new(), ..self.facts.clone() };
        let expected = BatchExpectation {
            batch: self.meta.batch.clone(),
            rater: self.meta.rater.clone(),
            rubric: self.rubric,
            cases: BTreeMap::from([(self.case.view.case.clone(), facts)]),
            revise: false,
        };
        match check_reply(self.meta, self.case, &expected, spoken(&completion.content)) {
            Reply::NoAnswer(_) if filtered => {
                self.nothing("refused", "the server's filter cut the answer off".to_owned())
            }
            Reply::NoAnswer(message) if cut => self.nothing("cut_off", format!("the answer was cut off: {message}")),
            Reply::NoAnswer(message) => self.nothing("no_answer", message),
            Reply::Answer { unread, outcome } if unread.is_empty() && !outcome.untouched.is_empty() => {
                self.nothing("no_answer", "no label is answered".to_owned())
            }
            Reply::Answer { unread, outcome } => {
                let mut problems: Vec<&LineProblem> = unread.iter().chain(&outcome.problems).collect();
                problems.sort_by(|one, two| one.label.cmp(&two.label));
                let mut verdict =
                    Verdict { answers: Vec::new(), derived: Vec::new(), reason: None, problems: Vec::new() };
                for accepted in &outcome.accepted {
                    let answer = JudgeAnswer {
                        label: accepted.label.clone(),
                        value: Some(accepted.value.clone()),
                        rationale: accepted.rationale.clone(),
                        reason: None,
                    };
                    let asked = self.rubric.label(&accepted.label).is_some_and(|label| label.asked);
                    if asked { &mut verdict.answers } else { &mut verdict.derived }.push(answer);
                }
                verdict.problems.extend(problems.iter().map(|problem| sentence(problem)));
                for label in self.rubric.labels.iter().filter(|label| label.asked) {
                    if verdict.answers.iter().any(|answer| answer.label == label.id) {
                        continue;
                    }
                    let named = problems.iter().any(|problem| problem.label.as_deref() == Some(label.id.as_str()));
                    let missing = outcome.missing.iter().any(|(_, missing)| *missing == label.id);
                    let reason = match (missing, named) {
                        (true, _) => "label_missing",
                        (_, true) => "invalid_answer",
                        // Refused together with another label, at which the broken rule is reported.
                        _ => "contradiction",
                    };
                    if missing && !named {
                        verdict.problems.push(format!("{} is not answered", label.id));
                    }
                    verdict.reason.get_or_insert(reason);
                    verdict.answers.push(without(label.id.clone(), reason));
                }
                if !problems.is_empty() {
                    verdict.reason.get_or_insert("invalid_answer");
                }
                let place = |label: &LabelId| self.rubric.labels.iter().position(|known| known.id == *label);
                verdict.answers.sort_by_key(|answer| place(&answer.label));
                verdict
            }
        }
    }

    /// No label has a verdict.
    pub(super) fn nothing(&self, reason: &'static str, problem: String) -> Verdict {
        let asked = self.rubric.labels.iter().filter(|label| label.asked);
        Verdict {
            answers: asked.map(|label| without(label.id.clone(), reason)).collect(),
            derived: Vec::new(),
            reason: Some(reason),
            problems: vec![problem],
        }
    }
}

fn without(label: LabelId, reason: &str) -> JudgeAnswer {
    let value: Option<RatingValue> = None;
    JudgeAnswer { label, value, rationale: String::new(), reason: Some(reason.to_owned()) }
}

fn sentence(problem: &LineProblem) -> String {
    match &problem.hint {
        Some(hint) => format!("{} ({hint})", problem.message),
        None => problem.message.clone(),
    }
}
