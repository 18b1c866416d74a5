//! What all exchange files have in common: whose they are, their rows of raw answers, and what is wrong with them.

use serde::Serialize;

use crate::model::{BatchName, RaterName};
use crate::rubric::Rubric;

/// To what a file belongs; written into every row of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// The batch.
    pub batch: BatchName,
    /// The rubric's id.
    pub rubric: String,
    /// The rubric's digest.
    pub rubric_digest: String,
    /// The rater (for adjudications: the adjudicator).
    pub rater: RaterName,
}

impl Meta {
    /// The meta data of a rater's file.
    #[must_use]
    pub fn new(batch: &BatchName, rubric: &Rubric, rater: &RaterName) -> Self {
        Self { batch: batch.clone(), rubric: rubric.id.clone(), rubric_digest: rubric.digest(), rater: rater.clone() }
    }
}

/// In what form an answer came; decides how strict an unknown label is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// A row of a table: columns that are no label are passed over, and said so.
    Sheet,
    /// A JSON object: every name in it must be a label.
    Json,
}

/// The answers to one case, as they stand in a file; nothing is checked yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnswerRow {
    /// The line at which the row begins, from 1.
    pub line: u64,
    /// The form it came in.
    pub form: AnswerForm,
    /// The batch it says it belongs to.
    pub batch: String,
    /// The rubric digest it says it was made under.
    pub rubric_digest: String,
    /// The rater it says it is from.
    pub rater: String,
    /// The case.
    pub case: String,
    /// The digest of what the rater saw.
    pub case_digest: String,
    /// The answers.
    pub answers: Vec<RawAnswer>,
}

/// One answer as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RawAnswer {
    /// The label's name.
    pub label: String,
    /// The value's text; blank: not answered.
    pub value: String,
    /// The rationale.
    pub rationale: String,
}

impl RawAnswer {
    /// Is there neither value nor rationale?
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.value.trim().is_empty() && self.rationale.trim().is_empty()
    }
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AnswerFile {
    /// Its rows.
    pub rows: Vec<AnswerRow>,
    /// What could not be read.
    pub problems: Vec<LineProblem>,
}

/// Something wrong at a line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LineProblem {
    /// The line, from 1.
    pub line: u64,
    /// The case, where it is known.
    pub case: Option<String>,
    /// The label, where it is about one.
    pub label: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl LineProblem {
    /// A problem of a whole line.
    #[must_use]
    pub fn new(line: u64, message: impl Into<String>) -> Self {
        Self { line, case: None, label: None, message: message.into(), hint: None }
    }

    /// The same problem about a case.
    #[must_use]
    pub fn case(mut self, case: &str) -> Self {
        self.case = Some(one_line(case));
        self
    }

    /// The same problem about a label.
    #[must_use]
    pub fn label(mut self, label: &str) -> Self {
        self.label = Some(one_line(label));
        self
    }

    /// The same problem with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Names come from files; they go to terminals.
fn one_line(text: &str) -> String {
    super::inert::visible(text).replace(['\n', '\t'], " ")
}
