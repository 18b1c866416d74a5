//! Rates and their differences with intervals.
//!
//! Pure: counts in, limits out. Limits are shares. A rate without trials has no interval: that is an error here, never
//! 0 to 1 in silence.

pub mod clustered;
pub mod coverage;
pub mod coverage_design;
pub mod difference;
pub mod differences;
mod disagreement;
pub mod findings;
pub mod finite;
pub mod intervals;
pub mod judge;
pub mod normal;
mod nuisance;
pub mod paired;

pub use crate::agree::Z95;
pub mod paper;
pub mod ppi;
pub mod rogan_gladen;
pub mod size;
pub mod stratified;
pub mod summary;
pub mod survey;
pub mod weighted;
pub mod weighted_kappa;

pub use intervals::{Method, proportion};
pub use normal::z_of_level;

use serde::Serialize;

/// Lower and upper limit of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
}

impl Interval {
    /// From two limits.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// The limits as `[low, high]`.
    #[must_use]
    pub fn limits(self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// Upper less lower limit.
    #[must_use]
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}

impl From<(f64, f64)> for Interval {
    fn from((low, high): (f64, f64)) -> Self {
        Self { low, high }
    }
}

/// Why there is no estimate.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum EstimateError {
    /// Nothing was counted.
    #[error("a rate of no trials is undefined")]
    NoTrials,
    /// More successes than trials.
    #[error("{k} successes in {n} trials")]
    MoreThanAll {
        /// Successes.
        k: u64,
        /// Trials.
        n: u64,
    },
    /// A confidence level outside (0, 1), or a multiple of the standard error that is not a positive number.
    #[error("a confidence level lies between 0 and 1 and its normal quantile is positive, got {value}")]
    Level {
        /// The value.
        value: f64,
    },
    /// No pair of values differs.
    #[error("no pair differs, so a test of the difference has nothing to go by")]
    NoDiscordantPairs,
}

/// Checks `k` of `n`.
pub(crate) fn check_counts(k: u64, n: u64) -> Result<(), EstimateError> {
    match (k, n) {
        (_, 0) => Err(EstimateError::NoTrials),
        (k, n) if k > n => Err(EstimateError::MoreThanAll { k, n }),
        _ => Ok(()),
    }
}

/// Checks a multiple of the standard error.
pub(crate) fn check_z(z: f64) -> Result<(), EstimateError> {
    if z.is_finite() && z > 0.0 { Ok(()) } else { Err(EstimateError::Level { value: z }) }
}

/// Finds where a function that falls from positive to negative crosses zero in `low..high`, to full precision.
pub(crate) fn falling_root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    // 200 halvings are more than a double can make; the loop ends when the middle is one of the ends.
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if f(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}
