//! What can be wrong with a rubric file, with line, column and advice.

use std::fmt;
use std::path::Path;

use crate::error::{Error, Place};
use crate::model::IdError;

/// One thing that is wrong in a rubric file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What.
    pub kind: ProblemKind,
    /// The line, from 1.
    pub line: u64,
    /// The column in bytes, from 1.
    pub column: u64,
    /// What to do.
    pub hint: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.kind)
    }
}

/// The kinds of problems.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The file is not TOML.
    #[error("not TOML: {0}")]
    Syntax(String),
    /// A key that means nothing here.
    #[error("unknown key {key:?} in {place}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it stands.
        place: String,
    },
    /// A key that must be there.
    #[error("{place} needs the key {key:?}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// Where it is missing.
        place: String,
    },
    /// A value of the wrong type.
    #[error("{key:?} in {place} must be {expected}, not {found}")]
    WrongType {
        /// The key.
        key: String,
        /// Where it stands.
        place: String,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// A text or list without content.
    #[error("{key:?} in {place} is empty")]
    Empty {
        /// The key.
        key: String,
        /// Where it stands.
        place: String,
    },
    /// A word from a fixed list was expected.
    #[error("{found:?} is no value of {key:?} in {place}")]
    UnknownWord {
        /// The key.
        key: String,
        /// Where it stands.
        place: String,
        /// The word.
        found: String,
    },
    /// The same thing twice.
    #[error("{what} {name:?} stands twice in {place}")]
    Duplicate {
        /// What kind of thing.
        what: &'static str,
        /// Its name.
        name: String,
        /// Where it stands.
        place: String,
    },
    /// A label that the rubric does not have.
    #[error("{place} names the label {name:?}, which this rubric does not have")]
    NoSuchLabel {
        /// The label.
        name: String,
        /// Where it is named.
        place: String,
    },
    /// A value that the label does not have.
    #[error("{place} names {value:?}, which is no answer to {label}")]
    NoSuchValue {
        /// The label.
        label: String,
        /// The value.
        value: String,
        /// Where it is named.
        place: String,
    },
    /// A name that cannot be one.
    #[error("{0}")]
    BadName(IdError),
    /// Two statements that cannot both hold.
    #[error("{0}")]
    Contradiction(String),
}

/// Everything that is wrong in a rubric file, in the order of the lines; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", summary(.problems))]
pub struct RubricError {
    /// The problems.
    pub problems: Vec<Problem>,
}

fn summary(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

impl RubricError {
    /// The program's error for a rubric that was read from `file`: the first problem with its place and hint, the
    /// others below it.
    #[must_use]
    pub fn into_error(self, file: &Path) -> Error {
        let mut problems = self.problems.into_iter();
        let Some(first) = problems.next() else {
            return Error::data("the rubric cannot be used").at(Place::file(file));
        };
        let rest: Vec<String> = problems
            .map(|problem| format!("\n{}:{}:{}: {}", file.display(), problem.line, problem.column, problem.kind))
            .collect();
        let place = Place { file: file.to_path_buf(), line: Some(first.line), column: Some(first.column) };
        let error = Error::data(format!("{}{}", first.kind, rest.concat())).at(place);
        match first.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// Collects problems while a file is read.
pub(super) struct Problems<'s> {
    text: &'s str,
    found: Vec<(usize, Problem)>,
}

impl<'s> Problems<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        Self { text, found: Vec::new() }
    }

    /// Records a problem at a byte offset.
    pub(super) fn add(&mut self, offset: usize, kind: ProblemKind, hint: Option<String>) {
        let before = self.text.as_bytes().get(..offset).unwrap_or(self.text.as_bytes());
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.split(|byte| *byte == b'\n').count() as u64;
        let column = (before.len() - line_start) as u64 + 1;
        self.found.push((offset, Problem { kind, line, column, hint }));
    }

    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// The value if nothing was found, else the problems in the order of the file.
    pub(super) fn or<T>(mut self, value: Option<T>) -> Result<T, RubricError> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => {
                self.found.sort_by_key(|(offset, _)| *offset);
                Err(RubricError { problems: self.found.into_iter().map(|(_, problem)| problem).collect() })
            }
        }
    }
}
