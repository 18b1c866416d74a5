//! Rule sets: versions of the classifier under a name that tables carry.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which rules classify emissions and decide a gold action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSet {
    /// The published classifier with its quirks, so that published numbers can be checked.
    Paper,
    /// The classifier that we would publish.
    Strict,
}

/// A rule set that this build cannot apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the rule set {0} is not available yet; use paper")]
pub struct RuleSetError(pub RuleSet);

impl RuleSet {
    /// All rule sets.
    pub const ALL: [Self; 2] = [Self::Paper, Self::Strict];

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Strict => "strict",
        }
    }

    /// Reads the written form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rules| rules.as_str() == text)
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
