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
    /// The weights count every pair of used categories as full agreement: the coefficient is 0/0.
    NoDisagreementPossible,
    /// An interval or ratio measure over categories that are not numbers.
    NotNumeric,
    /// A ratio measure over values below zero.
    NotRatio,
    /// Fewer than two raters (or no unit with two ratings).
    TooFewRaters,
    /// Fewer than two units: nothing varies between units.
    TooFewUnits,
    /// The formula needs the same number of ratings on every unit.
    UnequalRatings,
    /// No value differs between the raters, so a test of their difference has nothing to go by.
    NothingDiffers,
    /// No stratum has both a value and a standard error above zero.
    NoStratum,
    /// Every bootstrap replicate lies on one side of the estimate.
    OneSided,
    /// Fewer than two families of cases.
    TooFewFamilies,
    /// Leaving one unit out makes the statistic undefined.
    FragileUnit,
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
            Self::NoDisagreementPossible => "no_disagreement_possible",
            Self::NotNumeric => "not_numeric",
            Self::NotRatio => "not_ratio",
            Self::TooFewRaters => "too_few_raters",
            Self::TooFewUnits => "too_few_units",
            Self::UnequalRatings => "unequal_ratings",
            Self::NothingDiffers => "nothing_differs",
            Self::NoStratum => "no_stratum",
            Self::OneSided => "one_sided",
            Self::TooFewFamilies => "too_few_families",
            Self::FragileUnit => "fragile_unit",
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
            Self::NoDisagreementPossible => {
                "the weights count every pair of used categories as full agreement, so the coefficient is 0/0"
            }
            Self::NotNumeric => "interval and ratio measures need categories that are numbers",
            Self::NotRatio => "a ratio measure needs values of at least zero",
            Self::TooFewRaters => "no unit has ratings from two raters",
            Self::TooFewUnits => "there are fewer than two units, so nothing varies between units",
            Self::UnequalRatings => "the units have different numbers of ratings",
            Self::NothingDiffers => "no value differs between the raters",
            Self::NoStratum => "no stratum has a value with a standard error above zero",
            Self::OneSided => "every bootstrap replicate lies on one side of the estimate",
            Self::TooFewFamilies => "there are fewer than two families of cases to resample",
            Self::FragileUnit => "the statistic becomes undefined when a single unit is left out",
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
