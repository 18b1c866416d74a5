//! The benchmark grader's verdict and its change between two runs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The benchmark grader's verdict on a case. A case without one is *unscored*, never a fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The trajectory passed.
    Pass,
    /// The trajectory failed.
    Fail,
}

impl Verdict {
    /// `PASS` or `FAIL`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
        }
    }

    /// Reads `pass` or `fail` in any letter case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Pass, Self::Fail].into_iter().find(|verdict| verdict.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A case's verdict in two runs, written `PASS_to_FAIL`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Transition {
    /// In the first run (the baseline).
    pub from: Verdict,
    /// In the second run (the probe's condition).
    pub to: Verdict,
}

impl Transition {
    /// Reads `PASS_to_FAIL` and the like, in any letter case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let lower = text.to_ascii_lowercase();
        let (from, to) = lower.split_once("_to_")?;
        Some(Self { from: Verdict::parse(from)?, to: Verdict::parse(to)? })
    }
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}_to_{}", self.from, self.to))
    }
}

impl TryFrom<String> for Transition {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text:?} is not a transition such as PASS_to_FAIL"))
    }
}

impl From<Transition> for String {
    fn from(transition: Transition) -> Self {
        transition.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transitions_read_and_write_the_published_form() {
        let transition = Transition::parse("pass_to_FAIL").expect("valid");
        assert_eq!(transition.to_string(), "PASS_to_FAIL");
        assert!(Transition::parse("PASS-FAIL").is_none());
    }
}
