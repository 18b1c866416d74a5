//! Which answers of a file are taken, and what is wrong with the others.

mod row;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use self::row::RowCheck;
use super::exchange::{AnswerRow, LineProblem};
use super::text::quoted;
use crate::model::{BatchName, CaseIdentity, Category, LabelId, RaterName, RatingValue, Verdict};
use crate::rubric::{CaseFacts, Rubric};

/// What a file is checked against.
#[derive(Debug, Clone)]
pub struct BatchExpectation<'a> {
    /// The batch.
    pub batch: BatchName,
    /// The rater whose answers are expected.
    pub rater: RaterName,
    /// The batch's rubric.
    pub rubric: &'a Rubric,
    /// Its cases.
    pub cases: BTreeMap<CaseIdentity, ExpectedCase>,
    /// May an answer that is stored be changed?
    pub revise: bool,
}

/// A case that may be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedCase {
    /// The digest of what the rater was shown.
    pub digest: String,
    /// The category.
    pub category: Category,
    /// The stratum.
    pub stratum: String,
    /// The grader's verdict on the baseline.
    pub verdict: Option<Verdict>,
    /// What a probe did to the second condition (see [`crate::model::CaseText::events`]).
    pub events: Option<BTreeSet<String>>,
    /// This rater's stored answers.
    pub existing: BTreeMap<LabelId, StoredRating>,
}

impl ExpectedCase {
    /// What the rubric's rules look at.
    #[must_use]
    pub fn facts(&self) -> CaseFacts<'_> {
        CaseFacts { category: self.category, stratum: &self.stratum, verdict: self.verdict }
    }
}

/// An answer that is stored already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRating {
    /// The value.
    pub value: RatingValue,
    /// The rationale.
    pub rationale: String,
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ImportOutcome {
    /// Answers to store, in the order of the file.
    pub accepted: Vec<AcceptedRating>,
    /// Answers that are stored already, as they are.
    pub unchanged: Vec<(CaseIdentity, LabelId)>,
    /// Values that were written differently, and what they were taken for.
    pub mapped: Vec<MappedValue>,
    /// Labels without an answer in rows that answer others.
    pub missing: Vec<(CaseIdentity, LabelId)>,
    /// Cases whose row answers nothing.
    pub untouched: Vec<CaseIdentity>,
    /// What the rater should know, without harm to the answers.
    pub warnings: Vec<LineProblem>,
    /// What is wrong; the answers concerned are not in `accepted`.
    pub problems: Vec<LineProblem>,
}

/// An answer to store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AcceptedRating {
    /// The line it came from.
    pub line: u64,
    /// The case.
    pub case: CaseIdentity,
    /// The label.
    pub label: LabelId,
    /// The value.
    pub value: RatingValue,
    /// The rationale.
    pub rationale: String,
    /// The stored value that it replaces.
    pub revises: Option<RatingValue>,
}

/// A value that was written differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MappedValue {
    /// The line.
    pub line: u64,
    /// The case.
    pub case: CaseIdentity,
    /// The label.
    pub label: LabelId,
    /// As it was written.
    pub from: String,
    /// What it was taken for.
    pub to: RatingValue,
}

/// Checks the rows of a file.
///
/// A row counts only if batch, rubric digest, rater, case and case digest fit, and if no other row of the file is about
/// the same case (else none of them counts, as neither is better). Its values must be answers to their labels; then the
/// answers, together with the stored ones that the row leaves open, must satisfy the rubric's rules, or those that a
/// broken rule names are refused. A row without any answer of its own is untouched: its filled-in *n.a.* are not
/// answers. In any other row a label that does not apply is *n.a.* even where the cell is blank.
#[must_use]
pub fn check_import(expected: &BatchExpectation<'_>, rows: Vec<AnswerRow>) -> ImportOutcome {
    let mut outcome = ImportOutcome::default();
    let digest = expected.rubric.digest();
    let mut seen: BTreeMap<CaseIdentity, u64> = BTreeMap::new();
    let mut doubled: BTreeSet<CaseIdentity> = BTreeSet::new();
    let mut fitting: Vec<(CaseIdentity, &ExpectedCase, AnswerRow)> = Vec::new();
    for row in rows {
        let Some((case, facts)) = fitting_case(expected, &digest, &row, &mut outcome.problems) else { continue };
        if let Some(first) = seen.get(&case) {
            let message = format!("the case stands in line {first} already");
            let hint = "keep one row; none of them was taken";
            outcome.problems.push(LineProblem::new(row.line, message).case(case.as_str()).hint(hint));
            doubled.insert(case);
            continue;
        }
        seen.insert(case.clone(), row.line);
        fitting.push((case, facts, row));
    }
    let mut passed_over: BTreeSet<String> = BTreeSet::new();
    for (case, facts, row) in fitting {
        if !doubled.contains(&case) {
            RowCheck { expected, case: &case, facts, row: &row }.run(&mut passed_over, &mut outcome);
        }
    }
    outcome.problems.sort_by_key(|problem| problem.line);
    outcome
}

/// The case of a row, if the row belongs here at all.
fn fitting_case<'e>(
    expected: &'e BatchExpectation<'_>,
    rubric_digest: &str,
    row: &AnswerRow,
    problems: &mut Vec<LineProblem>,
) -> Option<(CaseIdentity, &'e ExpectedCase)> {
    let mut refuse = |message: String, hint: &str| {
        problems.push(LineProblem::new(row.line, message).case(&row.case).hint(hint));
        None
    };
    if row.batch != expected.batch.as_str() {
        let message = format!("the row belongs to batch {}, not {:?}", quoted(&row.batch), expected.batch.as_str());
        return refuse(message, "import the file that was exported for this batch");
    }
    if row.rater != expected.rater.as_str() {
        let message = format!("the row is of rater {}, not {:?}", quoted(&row.rater), expected.rater.as_str());
        return refuse(message, "every rater answers the file that was exported for them");
    }
    if row.rubric_digest != rubric_digest {
        let message =
            format!("the row was made under the rubric digest {}, not {rubric_digest}", quoted(&row.rubric_digest));
        return refuse(
            message,
            "answers under another rubric cannot be mixed in; export again and answer under this one",
        );
    }
    let case = CaseIdentity::parse(&row.case).ok();
    let Some((case, facts)) = case.and_then(|case| expected.cases.get_key_value(&case)) else {
        return refuse(format!("the batch has no case {}", quoted(&row.case)), "the case's name must stay as exported");
    };
    if row.case_digest != facts.digest {
        let message = format!("the row was made for another state of the case (digest {})", quoted(&row.case_digest));
        return refuse(message, "what the rater saw has changed since; export the case again");
    }
    Some((case.clone(), facts))
}

#[cfg(test)]
mod tests;
