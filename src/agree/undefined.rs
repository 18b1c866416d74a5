//! Why a measure or an interval has no value.

use std::fmt;

use serde::{Serialize, Serializer};

/// The reason of an undefined value. Its code stands in machine-readable output as `reason`, its text in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Undefined {
    /// No case has a usable value from both raters.
    NoUnits,
    /// Every value is the same category: chance agreement is 1 and the coefficient is 0/0.
    OneCategory,
    /// One rater gave a single category throughout: kappa is 0 whatever the other rater did.
    ConstantRater,
    /// The standard error is 0 (perfect agreement, or every replicate the same): an interval of no width would
    /// claim certainty that the sample does not give.
    Degenerate,
    /// More than 5 % of the bootstrap replicates were undefined.
    TooManyUndefined,
    /// No bootstrap replicate was asked for.
    NoReplicates,
}

impl Undefined {
    /// The short code, stable.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NoUnits => "no_units",
            Self::OneCategory => "one_category",
            Self::ConstantRater => "constant_rater",
            Self::Degenerate => "degenerate",
            Self::TooManyUndefined => "too_many_undefined",
            Self::NoReplicates => "no_replicates",
        }
    }

    /// A sentence for people.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::NoUnits => "no case has a usable value from both raters",
            Self::OneCategory => "only one category was used, so chance agreement is 1 and the coefficient is 0/0",
            Self::ConstantRater => {
                "one rater used a single category throughout, so kappa is 0 whatever the other rater did"
            }
            Self::Degenerate => "the standard error is 0, and an interval of no width would claim certainty",
            Self::TooManyUndefined => "more than 5 % of the bootstrap replicates were undefined",
            Self::NoReplicates => "no bootstrap replicates were drawn",
        }
    }
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl Serialize for Undefined {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}
