//! A model's reply to a prompt, judged exactly as an imported answer: the same reader finds the answer object, the same
//! check takes or refuses its answers.

use super::answer::{IDENTITY, find_objects, the_answer};
use super::check::{BatchExpectation, ImportOutcome, check_import};
use super::exchange::{AnswerForm, AnswerRow, LineProblem, Meta};
use super::text::quoted;
use super::view::RaterCase;

/// What is sound and what is wrong in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// There is no answer object in it, or several that differ.
    NoAnswer(String),
    /// What the check says of the answer object, with what was wrong in reading it.
    Answer {
        /// Problems of the object itself (doubled keys, unknown keys, a value that is no text).
        unread: Vec<LineProblem>,
        /// What became of its answers.
        outcome: ImportOutcome,
    },
}

/// Reads and checks the reply to one case. `expected` is the batch as for an import; `meta` is whose prompt it was.
#[must_use]
pub fn check_reply(meta: &Meta, case: &RaterCase, expected: &BatchExpectation<'_>, text: &str) -> Reply {
    let answer = match the_answer(find_objects(text, 1)) {
        Ok(answer) => answer,
        Err(message) => return Reply::NoAnswer(message),
    };
    let asked = [
        meta.batch.as_str(),
        &meta.rubric,
        &meta.rubric_digest,
        meta.rater.as_str(),
        case.view.case.as_str(),
        &case.digest,
    ];
    for ((key, said), asked) in IDENTITY.iter().zip(&answer.identity).zip(asked) {
        if let Some(said) = said.as_ref().filter(|said| *said != asked) {
            return Reply::NoAnswer(format!("the answer is for {key} {}, not {}", quoted(said), quoted(asked)));
        }
    }
    let row = AnswerRow {
        line: 1,
        form: AnswerForm::Json,
        batch: meta.batch.as_str().to_owned(),
        rubric_digest: meta.rubric_digest.clone(),
        rater: meta.rater.as_str().to_owned(),
        case: case.view.case.as_str().to_owned(),
        case_digest: case.digest.clone(),
        answers: answer.answers,
    };
    Reply::Answer { unread: answer.problems, outcome: check_import(expected, vec![row]) }
}
