//! How many cases an audit needs for an interval of a wanted width: of a rate, of kappa, of the corrected metric.
//!
//! The width is that of the interval that the estimate will have when the sample comes out as guessed; half of the samples
//! give a wider one.

use serde::Serialize;

use super::EstimateError;
use super::disagreement::expected_limits;
use super::finite::corrected_z;
use super::stratified::{clopper_pearson_real, first_from};
use crate::agree::{Table, kappa};

/// A stratum of a plan with its guess.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedStratum {
    /// Its cases.
    pub population: u64,
    /// Cases to draw.
    pub n: u64,
    /// The guessed rate.
    pub rate: f64,
    /// Variance of one case.
    pub variance: f64,
}

/// Expected half-width of the interval of a rate.
///
/// Clopper and Pearson's limits for n* = p(1 − p)/V cases, V the stratified variance with finite population correction
/// (Cochran 1977, 5.6); for one stratum n* = n(N − 1)/(N − n). `None` where a stratum has nothing drawn.
#[must_use]
pub fn rate_half_width(strata: &[PlannedStratum], level: f64) -> Option<f64> {
    let all: f64 = strata.iter().map(|stratum| stratum.population as f64).sum();
    let rate = strata.iter().map(|stratum| stratum.population as f64 / all * stratum.rate).sum::<f64>();
    let variance = variance(strata)?;
    if variance <= 0.0 {
        let census = strata.iter().all(|stratum| stratum.n >= stratum.population);
        // A rate of 0 or 1 that is guessed has a width all the same: that of a simple random sample.
        let n = strata.iter().map(|stratum| stratum.n as f64).sum();
        return Some(if census { 0.0 } else { clopper_pearson_real(rate * n, n, level).width() / 2.0 });
    }
    let effective = rate * (1.0 - rate) / variance;
    Some(clopper_pearson_real(rate * effective, effective, level).width() / 2.0)
}

/// A stratum of a plan with its guess of how label and metric differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedDisagreement {
    /// Its cases.
    pub population: u64,
    /// Cases to draw.
    pub n: u64,
    /// The guessed share with the label and no hit.
    pub label_only: f64,
    /// The guessed share with a hit and no label.
    pub hit_only: f64,
}

/// Expected half-width of the corrected metric (λ = 1): that of the interval of [`super::difference::difference`] when the
/// sample comes out as guessed. `None` where a stratum has nothing drawn.
///
/// # Errors
/// A level outside (0, 1).
pub fn corrected_half_width(strata: &[PlannedDisagreement], level: f64) -> Result<Option<f64>, EstimateError> {
    let all: f64 = strata.iter().map(|stratum| stratum.population as f64).sum();
    let (mut below, mut above) = (0.0f64, 0.0f64);
    for stratum in strata.iter().filter(|stratum| stratum.population > 0) {
        if stratum.n == 0 {
            return Ok(None);
        }
        let (population, shares) = (stratum.population as f64, [stratum.label_only, stratum.hit_only]);
        let own = expected_limits(shares, stratum.n as f64, population, level)?;
        let (weight, seen) = (population / all, stratum.label_only - stratum.hit_only);
        below = below.hypot(weight * (seen - own.low));
        above = above.hypot(weight * (own.high - seen));
    }
    Ok(Some(f64::midpoint(below, above)))
}

/// Σ W²·σ²·(N − n)/(N − 1)/n.
fn variance(strata: &[PlannedStratum]) -> Option<f64> {
    let all: f64 = strata.iter().map(|stratum| stratum.population as f64).sum();
    let mut sum = 0.0;
    for stratum in strata.iter().filter(|stratum| stratum.population > 0) {
        if stratum.n == 0 {
            return None;
        }
        let weight = stratum.population as f64 / all;
        let unseen = corrected_z(1.0, stratum.n, stratum.population).powi(2);
        sum += weight * weight * stratum.variance * unseen / stratum.n as f64;
    }
    Some(sum)
}

/// Cases of a table of shares: enough for rounding not to matter.
const LARGE: f64 = 1e9;

/// The standard deviation of kappa for one case: SE·√n of Fleiss, Cohen & Everitt 1969 for two raters with the same share of
/// yes and this kappa. `None` where it is undefined.
#[must_use]
pub fn kappa_deviation(kappa_guess: f64, prevalence: f64) -> Option<f64> {
    if !(prevalence > 0.0 && prevalence < 1.0 && kappa_guess < 1.0) {
        return None;
    }
    // The formula over shares, by way of a table.
    let (p, q) = (prevalence, 1.0 - prevalence);
    let cell = |same: f64, chance: f64| {
        let share = kappa_guess * same + (1.0 - kappa_guess) * chance;
        (share >= 0.0).then(|| (share * LARGE).round() as u64)
    };
    let rows = [vec![cell(p, p * p)?, cell(0.0, p * q)?], vec![cell(0.0, p * q)?, cell(q, q * q)?]];
    let table = Table::numbered(&rows).ok()?;
    let found = kappa::cohen(&table);
    Some(found.se.filter(|_| found.reason.is_none())? * LARGE.sqrt())
}

/// The smallest sample with at most the wanted half-width, among `least..=most`; `None` where even the largest is too small.
#[must_use]
pub fn smallest(least: u64, most: u64, wanted: f64, half_width: impl Fn(u64) -> Option<f64>) -> Option<u64> {
    first_from(least, most, |n| half_width(n).is_some_and(|width| width <= wanted))
}

/// What one rating of a case costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Minutes {
    /// Minutes a case and rater.
    pub per_case: f64,
    /// Gaps between the saved ratings of neighbouring cases that it is the median of; 0: stated.
    pub from_gaps: u64,
}

/// Longest gap that is still taken for work on one case, in seconds.
const LONGEST: f64 = 30.0 * 60.0;
/// Fewest gaps that make a median.
const FEWEST: usize = 5;

/// The median time between the first ratings of neighbouring cases, from per rater the moments in seconds at which each case
/// was first rated. Gaps of 0 (a file imported at once) and of more than half an hour (a pause) are left out; `None` where
/// fewer than five are left.
#[must_use]
pub fn minutes(raters: &[Vec<f64>]) -> Option<Minutes> {
    let mut gaps: Vec<f64> = Vec::new();
    for moments in raters {
        let mut moments = moments.clone();
        moments.sort_by(f64::total_cmp);
        let gap = moments.iter().zip(moments.iter().skip(1)).map(|(before, after)| after - before);
        gaps.extend(gap.filter(|gap| *gap > 0.0 && *gap <= LONGEST));
    }
    if gaps.len() < FEWEST {
        return None;
    }
    gaps.sort_by(f64::total_cmp);
    let middle = gaps.len() / 2;
    let upper = gaps.get(middle).copied()?;
    let median = if gaps.len() % 2 == 1 { upper } else { f64::midpoint(gaps.get(middle - 1).copied()?, upper) };
    Some(Minutes { per_case: median / 60.0, from_gaps: gaps.len() as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(population: u64, n: u64, rate: f64) -> [PlannedStratum; 1] {
        [PlannedStratum { population, n, rate, variance: rate * (1.0 - rate) }]
    }

    /// Textbook: 385 cases for ± 5 points at one half from a large population (Cochran 1977, 4.4: z²/4d² = 384.2), about
    /// 278 of 1000. Clopper and Pearson's limits ask for some 4 % more than the normal ones.
    #[test]
    fn sizes_are_near_the_textbook() {
        let need = |population: u64| {
            smallest(1, population, 0.05, |n| rate_half_width(&one(population, n, 0.5), 0.95)).expect("reachable")
        };
        assert!((385..=410).contains(&need(100_000_000)), "{}", need(100_000_000));
        assert!((278..=292).contains(&need(1000)), "{}", need(1000));
        assert_eq!(rate_half_width(&one(50, 50, 0.5), 0.95), Some(0.0));
        assert_eq!(rate_half_width(&one(50, 0, 0.5), 0.95), None);
        assert_eq!(smallest(1, 100, 0.01, |_| Some(0.02)), None);
        // None of 72 hit: the upper limit is 1 − 0.025^(1/72) = 0.0499, half of it 0.025.
        let rare = smallest(1, 100_000, 0.025, |n| rate_half_width(&one(10_000_000, n, 0.0), 0.95));
        assert_eq!(rare, Some(72));
    }

    /// At kappa 0 the variance is that of the test of zero with equal margins: SE·√n = 1 (Fleiss, Cohen & Everitt 1969,
    /// formula 14: pe/(1 − pe)·… for margins of one half (pe + pe² − Σ)/(1 − pe)² = 1).
    #[test]
    fn kappa_at_zero_has_deviation_one() {
        assert!((kappa_deviation(0.0, 0.5).expect("defined") - 1.0).abs() < 1e-6);
        assert!(kappa_deviation(0.8, 0.05).expect("defined") > kappa_deviation(0.8, 0.5).expect("defined"));
        assert_eq!((kappa_deviation(1.0, 0.5), kappa_deviation(0.5, 0.0)), (None, None));
    }

    #[test]
    fn times_between_cases() {
        let steady: Vec<f64> = (0..9).map(|at| f64::from(at) * 120.0).collect();
        let found = minutes(&[steady.clone(), vec![0.0, 9000.0, 9180.0]]).expect("gaps");
        assert!((found.per_case - 2.0).abs() < 1e-12 && found.from_gaps == 9);
        assert_eq!(minutes(&[vec![5.0; 40]]), None, "imported at once");
        assert_eq!(minutes(&[steady[..4].to_vec()]), None);
    }

    /// A corrected metric that errs in 4 % of a large sample, evenly: the interval is near z·√(0.04/n) and never below it;
    /// without any error it is the one that the estimator gives such a sample (0 of 72 in a large frame: up to 0.0499 either
    /// way, 1 − 0.025^(1/72)).
    #[test]
    fn corrected_metric() {
        let stratum =
            |n, share| PlannedDisagreement { population: 1_000_000_000, n, label_only: share, hit_only: share };
        let found = corrected_half_width(&[stratum(10_000, 0.02)], 0.95).expect("a level").expect("drawn");
        let normal = 1.959_963_984_54 * 0.002;
        assert!(found >= normal && found < 1.05 * normal, "{found}");
        let found = corrected_half_width(&[stratum(72, 0.0)], 0.95).expect("a level").expect("drawn");
        assert!(found > 0.0499 && found < 0.052, "{found}");
        assert_eq!(corrected_half_width(&[stratum(0, 0.0)], 0.95).expect("a level"), None);
    }
}
