//! Every interval for a proportion or a difference at once: what `dualrater rate-ci` and `rate-diff` print.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::differences::{self, TwoGroups};
use super::normal::z_of_level;
use super::paired::{self, McNemar, Pairs};
use super::{EstimateError, Interval, Method, proportion};

/// One proportion with every interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateSummary {
    /// Successes.
    pub k: u64,
    /// Trials.
    pub n: u64,
    /// k/n.
    pub rate: f64,
    /// The confidence level.
    pub level: f64,
    /// The name of the default.
    pub default: &'static str,
    /// `[low, high]` by the name of the method.
    #[serde(flatten)]
    pub intervals: Map<String, Value>,
}

/// Every interval for `k` of `n`, the default first.
///
/// # Errors
/// No trials, more successes than trials, a level outside (0, 1).
pub fn rate(k: u64, n: u64, level: f64) -> Result<RateSummary, EstimateError> {
    let mut intervals = Map::new();
    for method in Method::ALL {
        intervals.insert(method.as_str().to_owned(), json!(proportion(method, k, n, level)?.limits()));
    }
    Ok(RateSummary { k, n, rate: k as f64 / n as f64, level, default: Method::Wilson.as_str(), intervals })
}

/// The difference of two proportions with every interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DifferenceSummary {
    /// Successes of the first group.
    pub k1: u64,
    /// Its trials.
    pub n1: u64,
    /// Successes of the second group.
    pub k2: u64,
    /// Its trials.
    pub n2: u64,
    /// k1/n1.
    pub rate1: f64,
    /// k2/n2.
    pub rate2: f64,
    /// rate1 − rate2.
    pub diff: f64,
    /// The confidence level.
    pub level: f64,
    /// The name of the default.
    pub default: &'static str,
    /// `[low, high]` by the name of the method.
    #[serde(flatten)]
    pub intervals: Map<String, Value>,
}

/// A way to make an interval of a difference.
pub type DifferenceMethod = fn(TwoGroups, f64) -> Result<Interval, EstimateError>;

/// The intervals for a difference by name, the default first.
pub const DIFFERENCES: [(&str, DifferenceMethod); 5] = [
    ("newcombe", differences::newcombe),
    ("miettinen_nurminen", differences::miettinen_nurminen),
    ("mee", differences::mee),
    ("agresti_caffo", differences::agresti_caffo),
    ("wald", differences::wald),
];

/// Every interval for the difference of `k1` of `n1` and `k2` of `n2`.
///
/// # Errors
/// As [`rate`].
pub fn difference((k1, n1): (u64, u64), (k2, n2): (u64, u64), level: f64) -> Result<DifferenceSummary, EstimateError> {
    let z = z_of_level(level)?;
    let groups = TwoGroups::new(k1, n1, k2, n2)?;
    let mut intervals = Map::new();
    for (name, method) in DIFFERENCES {
        intervals.insert(name.to_owned(), json!(method(groups, z)?.limits()));
    }
    let ((rate1, rate2), diff) = (groups.rates(), groups.difference());
    Ok(DifferenceSummary { k1, n1, k2, n2, rate1, rate2, diff, level, default: "newcombe", intervals })
}

/// The same cases judged twice: the difference with its intervals, and McNemar's tests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairedSummary {
    /// The table of pairs.
    #[serde(flatten)]
    pub pairs: Pairs,
    /// Pairs.
    pub n: u64,
    /// Rate of the first judgement less that of the second.
    pub diff: f64,
    /// The confidence level.
    pub level: f64,
    /// The name of the default.
    pub default: &'static str,
    /// `[low, high]` by the name of the method.
    #[serde(flatten)]
    pub intervals: Map<String, Value>,
    /// McNemar's tests; null where no pair differs.
    pub mcnemar: Option<McNemar>,
}

/// The difference of paired proportions with Newcombe's and Tango's interval, and McNemar's tests.
///
/// # Errors
/// No pairs, a level outside (0, 1).
pub fn paired(pairs: Pairs, level: f64) -> Result<PairedSummary, EstimateError> {
    let z = z_of_level(level)?;
    let diff = pairs.difference().ok_or(EstimateError::NoTrials)?;
    let mut intervals = Map::new();
    intervals.insert("newcombe".to_owned(), json!(paired::newcombe(pairs, z)?.limits()));
    intervals.insert("tango".to_owned(), json!(paired::tango(pairs, z)?.limits()));
    let mcnemar = paired::mcnemar(pairs.first_only, pairs.second_only).ok();
    Ok(PairedSummary { pairs, n: pairs.n(), diff, level, default: "newcombe", intervals, mcnemar })
}
