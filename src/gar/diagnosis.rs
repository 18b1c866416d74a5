//! What Δ = GAR − Acc says about a cell.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The reading of Δ by its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Diagnosis {
    /// The interval lies below 0: more cases pass than show the gold action.
    Masking,
    /// The interval lies above 0: more cases show the gold action than pass.
    ExecutionGap,
    /// The interval holds 0.
    NoClearGap,
}

impl Diagnosis {
    /// Reads an interval of Δ (in any unit).
    #[must_use]
    pub fn of_interval([low, high]: [f64; 2]) -> Self {
        if high < 0.0 {
            Self::Masking
        } else if low > 0.0 {
            Self::ExecutionGap
        } else {
            Self::NoClearGap
        }
    }

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Masking => "masking",
            Self::ExecutionGap => "execution_gap",
            Self::NoClearGap => "no_clear_gap",
        }
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
