//! What can be wrong with a plan file, where, and what to do about it.

use crate::error::{Error, Place};
use crate::model::IdError;

use super::RoleError;

/// A plan file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct PlanError {
    /// The file as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column in bytes, from 1.
    pub column: u64,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a plan file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not TOML, an unknown or missing key, a value of the wrong type.
    #[error("{0}")]
    Toml(String),
    /// A name that cannot be used.
    #[error("{0}")]
    Name(#[from] IdError),
    /// A role that cannot be used.
    #[error("{0}")]
    RoleName(#[from] RoleError),
    /// A role that the plan does not declare.
    #[error("role `{role}` is not declared")]
    UnknownRole {
        /// The role.
        role: String,
        /// The declared ones.
        known: Vec<String>,
    },
    /// A word that is none of the allowed ones.
    #[error("`{value}` is not a {what}")]
    UnknownWord {
        /// What the word should be.
        what: &'static str,
        /// The word.
        value: String,
        /// The allowed words.
        known: Vec<String>,
    },
    /// A list without elements, which would match no case (or every case).
    #[error("`{key}` is empty")]
    Empty {
        /// The key.
        key: &'static str,
    },
    /// Two strata with one id.
    #[error("stratum `{id}` is there twice")]
    DuplicateStratum {
        /// The id.
        id: String,
    },
    /// No stratum at all.
    #[error("the plan has no stratum")]
    NoStrata,
    /// A `[[cells]]` table that would make too many strata.
    #[error("`{id}` makes more than {limit} strata")]
    TooManyCells {
        /// The table's id.
        id: String,
        /// The most allowed.
        limit: usize,
    },
    /// Predicates nested too deeply.
    #[error("conditions are nested more than {limit} deep")]
    TooDeep {
        /// The most allowed.
        limit: usize,
    },
    /// A transition is asked of a run that has no second condition.
    #[error("a transition is asked for, but role `{role}` has no second condition")]
    NoPair {
        /// The role.
        role: String,
    },
    /// A role paired with itself.
    #[error("role `{role}` is paired with itself")]
    SelfPair {
        /// The role.
        role: String,
    },
    /// A fixed allocation without a quota.
    #[error("`{stratum}` has no quota")]
    NoQuota {
        /// The stratum or table of cells.
        stratum: String,
    },
    /// A number that must be at least 1.
    #[error("`{key}` must be at least 1")]
    Zero {
        /// The key.
        key: &'static str,
    },
    /// A key that has no meaning under the plan's allocation.
    #[error("`{key}` has no meaning under allocation = \"{method}\"")]
    Meaningless {
        /// The key.
        key: &'static str,
        /// The method.
        method: &'static str,
    },
    /// A computed allocation without a total to share.
    #[error("allocation = \"{method}\" needs a `total`")]
    NoTotal {
        /// The method.
        method: &'static str,
    },
    /// A guess outside (0, 1).
    #[error("`rate_guess` must lie strictly between 0 and 1, got {value}")]
    Rate {
        /// The value as text.
        value: String,
    },
    /// A cell dimension without values to split by.
    #[error("`by` names `model`, but the table lists neither `run` nor `model`")]
    NoModels,
}

impl Problem {
    /// What the user can do.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Toml(_) => {
                "compare the file with strata/mechanism.toml; strings need quotes, unknown keys are refused".into()
            }
            Self::Name(_) | Self::RoleName(_) => "choose another name".into(),
            Self::UnknownRole { known, .. } if known.is_empty() => {
                "declare it under [roles] with a few words on what it stands for, or bind it under [runs]".into()
            }
            Self::UnknownRole { known, .. } => {
                format!("declare it under [roles], or use one of: {}", known.join(", "))
            }
            Self::UnknownWord { known, .. } => format!("use one of: {}", known.join(", ")),
            Self::Empty { key } => format!("list at least one value, or leave `{key}` out"),
            Self::DuplicateStratum { .. } => "give each stratum (and each table of cells) an id of its own".into(),
            Self::NoStrata => "add a [[stratum]] or a [[cells]] table".into(),
            Self::TooManyCells { .. } => "split by fewer dimensions, or list fewer values".into(),
            Self::TooDeep { .. } => "flatten the condition, or use `where`".into(),
            Self::NoPair { role } => format!("add the second condition under [pairs]: {role} = \"…\""),
            Self::SelfPair { .. } => "name the role of the other condition".into(),
            Self::NoQuota { .. } => {
                "add `quota`, or let the plan compute it: allocation = \"proportional\", total = …".into()
            }
            Self::Zero { key } => format!("give a positive number, or leave `{key}` out"),
            Self::Meaningless { key, .. } => format!("remove `{key}`, or change `allocation`"),
            Self::NoTotal { .. } => "add `total`: the number of cases to share between the strata".into(),
            Self::Rate { .. } => "guess the share of cases with the finding; leave it out for 0.5".into(),
            Self::NoModels => "list roles under `run` or models under `model`, or drop `model` from `by`".into(),
        }
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        let place = Place { file: error.file.into(), line: Some(error.line), column: Some(error.column) };
        Self::data(error.problem.to_string()).at(place).hint(error.problem.hint())
    }
}

/// Line and column (in bytes), both from 1, of a byte offset in a text.
pub(super) fn line_and_column(text: &str, offset: usize) -> (u64, u64) {
    let bytes = text.as_bytes();
    let before = bytes.get(..offset.min(bytes.len())).unwrap_or_default();
    let line = before.split(|byte| *byte == b'\n').count();
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    (line as u64, column as u64)
}
