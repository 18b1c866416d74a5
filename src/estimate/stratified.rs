//! Means, totals and proportions of a stratified simple random sample without replacement, with the linearised standard
//! errors and intervals of survey practice (R `survey`: `svymean`, `svytotal`, `svyciprop`).
//!
//! They are here to be compared with. Their intervals lean on a variance that is estimated from the sample, and a sample
//! without a single hit has none: the audit's own rates come from [`super::weighted`].

use serde::Serialize;

use super::Interval;
use super::normal::beta_quantile;
use crate::agree::tails::t_of_level;

/// A stratum's sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StratumValues<'a> {
    /// Cases of the stratum, drawn or not.
    pub population: u64,
    /// The values of the drawn cases.
    pub values: &'a [f64],
}

/// Why a design has no estimate.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum DesignError {
    /// A stratum of the population without a sampled case.
    #[error("a stratum of {population} cases has no sampled case, so nothing is known about it")]
    NothingSampled {
        /// Its cases.
        population: u64,
    },
    /// More sampled than there is.
    #[error("{sampled} cases were sampled from a stratum of {population}")]
    MoreThanAll {
        /// Sampled.
        sampled: u64,
        /// There.
        population: u64,
    },
    /// More hits than cases.
    #[error("{k} hits among {n} cases")]
    MoreHitsThanCases {
        /// Hits.
        k: u64,
        /// Cases.
        n: u64,
    },
    /// No stratum, or none with a case.
    #[error("there is no case")]
    Empty,
    /// A value that is no number.
    #[error("a value is not a finite number")]
    NotFinite,
    /// A confidence level outside 0 to 1.
    #[error("a confidence level lies between 0 and 1, got {level}")]
    Level {
        /// The level.
        level: f64,
    },
}

/// An estimate of a mean and a total.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stratified {
    /// The mean, each stratum weighted by its population.
    pub mean: f64,
    /// Its standard error; `None` where a stratum has one sampled case of several, which has no variance.
    pub se: Option<f64>,
    /// Mean × population.
    pub total: f64,
    /// Its standard error.
    pub se_total: Option<f64>,
    /// Sampled cases.
    pub n: u64,
    /// Cases.
    pub population: u64,
    /// Sampled cases less strata.
    pub df: u64,
    /// Variance over that of a simple random sample of the same size without replacement (Kish 1965).
    pub deff: Option<f64>,
}

/// The stratified mean, Σ N_h ȳ_h / N, with variance Σ (N_h/N)² (1 − n_h/N_h) s_h²/n_h. Cochran 1977, Sampling Techniques,
/// 5.3 to 5.6.
///
/// # Errors
/// A stratum with nothing sampled or more than all; no case; a value that is not finite.
pub fn mean(strata: &[StratumValues<'_>]) -> Result<Stratified, DesignError> {
    let population: u64 = strata.iter().map(|stratum| stratum.population).fold(0, u64::saturating_add);
    if population == 0 {
        return Err(DesignError::Empty);
    }
    let all = population as f64;
    let (mut estimate, mut variance) = (0.0, Some(0.0));
    let (mut n, mut used) = (0u64, 0u64);
    for stratum in strata.iter().filter(|stratum| stratum.population > 0) {
        let sampled = stratum.values.len() as u64;
        if sampled == 0 {
            return Err(DesignError::NothingSampled { population: stratum.population });
        }
        if sampled > stratum.population {
            return Err(DesignError::MoreThanAll { sampled, population: stratum.population });
        }
        if stratum.values.iter().any(|value| !value.is_finite()) {
            return Err(DesignError::NotFinite);
        }
        let (here, size) = (stratum.population as f64, sampled as f64);
        let share = here / all;
        let centre = stratum.values.iter().sum::<f64>() / size;
        estimate += share * centre;
        let unseen = 1.0 - size / here;
        if sampled < stratum.population {
            let squares: f64 = stratum.values.iter().map(|value| (value - centre).powi(2)).sum();
            let own = (sampled > 1).then(|| share * share * unseen * squares / (size - 1.0) / size);
            variance = variance.zip(own).map(|(sum, own)| sum + own);
        }
        n += sampled;
        used += 1;
    }
    let se = variance.map(f64::sqrt);
    let spread = |stratum: &StratumValues<'_>| {
        let weight = stratum.population as f64 / stratum.values.len().max(1) as f64;
        weight * stratum.values.iter().map(|value| (value - estimate).powi(2)).sum::<f64>()
    };
    let size = n as f64;
    let simple = strata.iter().map(spread).sum::<f64>() / all * size / (size - 1.0) / size * (1.0 - size / all);
    Ok(Stratified {
        mean: estimate,
        se,
        total: estimate * all,
        se_total: se.map(|se| se * all),
        n,
        population,
        df: n - used,
        deff: variance.filter(|_| simple > 0.0).map(|variance| variance / simple),
    })
}

/// Intervals of a proportion under a design, from its estimate and standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DesignIntervals {
    /// Korn & Graubard's.
    pub korn_graubard: [f64; 2],
    /// On the logit scale.
    pub logit: [f64; 2],
    /// p ± t·SE.
    pub wald_t: [f64; 2],
}

/// The three design intervals of a proportion; `None` where they are undefined: at 0 and 1, without a standard error above
/// 0, without degrees of freedom.
///
/// Korn & Graubard 1998, Surv. Methodol. 24:193-201: Clopper and Pearson's limits for n* = p(1 − p)/SE² cases, times
/// (t_{n−1}/t_df)². Logit: ± t·SE/(p(1 − p)) on the logit scale (as R's `svyciprop`).
#[must_use]
pub fn proportion_intervals(p: f64, se: f64, n: u64, df: u64, level: f64) -> Option<DesignIntervals> {
    if !(p > 0.0 && p < 1.0 && se > 0.0 && se.is_finite()) {
        return None;
    }
    let (t, t_n) = (t_of_level(level, df)?, t_of_level(level, n.checked_sub(1)?)?);
    let effective = p * (1.0 - p) / (se * se) * (t_n / t).powi(2);
    let half = t * se / (p * (1.0 - p));
    let middle = (p / (1.0 - p)).ln();
    let back = |logit: f64| 1.0 / (1.0 + (-logit).exp());
    Some(DesignIntervals {
        korn_graubard: clopper_pearson_real(p * effective, effective, level).limits(),
        logit: [back(middle - half), back(middle + half)],
        wald_t: [p - t * se, p + t * se],
    })
}

/// Clopper and Pearson's limits for `k` of `n` that need not be whole numbers.
pub(super) fn clopper_pearson_real(k: f64, n: f64, level: f64) -> Interval {
    let tail = (1.0 - level) / 2.0;
    Interval::new(
        if k <= 0.0 { 0.0 } else { beta_quantile(k, n - k + 1.0, tail) },
        if k >= n { 1.0 } else { beta_quantile(k + 1.0, n - k, 1.0 - tail) },
    )
}

/// Wilson's limits for a share of `n` cases, where `n` need not be a whole number.
pub(super) fn wilson_real(p: f64, n: f64, z: f64) -> Interval {
    if n <= 0.0 {
        return Interval::new(0.0, 1.0);
    }
    let scale = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / scale;
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).max(0.0).sqrt() / scale;
    Interval::new(
        if p <= 0.0 { 0.0 } else { (centre - half).max(0.0) },
        if p >= 1.0 { 1.0 } else { (centre + half).min(1.0) },
    )
}

/// The smallest whole number of a range for which a test holds, if it holds from there on; `None` where it does not hold at
/// the end.
pub(super) fn first_from(low: u64, high: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if low > high || !holds(high) {
        return None;
    }
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stratum(population: u64, values: &[f64]) -> StratumValues<'_> {
        StratumValues { population, values }
    }

    #[test]
    fn designs_without_an_estimate_say_why() {
        assert_eq!(mean(&[]), Err(DesignError::Empty));
        assert_eq!(mean(&[stratum(3, &[])]), Err(DesignError::NothingSampled { population: 3 }));
        assert_eq!(mean(&[stratum(1, &[1.0, 0.0])]), Err(DesignError::MoreThanAll { sampled: 2, population: 1 }));
        assert_eq!(mean(&[stratum(3, &[f64::NAN])]), Err(DesignError::NotFinite));
        // One case of several has no variance; one of one is known.
        assert_eq!(mean(&[stratum(3, &[1.0]), stratum(5, &[0.0, 1.0])]).expect("cases").se, None);
        assert!(mean(&[stratum(1, &[1.0]), stratum(5, &[0.0, 1.0])]).expect("cases").se.is_some());
        assert_eq!(proportion_intervals(0.0, 0.1, 10, 8, 0.95), None);
        assert_eq!(proportion_intervals(0.5, 0.0, 10, 8, 0.95), None);
    }

    proptest! {
        /// Cochran 1977, 2.6: without strata the variance of the mean is (1 − n/N) s²/n.
        #[test]
        fn one_stratum_is_a_simple_random_sample(values in prop::collection::vec(-5.0f64..5.0, 2..30), more in 0u64..50) {
            let n = values.len() as f64;
            let population = values.len() as u64 + more;
            let found = mean(&[stratum(population, &values)]).expect("cases");
            let centre = values.iter().sum::<f64>() / n;
            let s2 = values.iter().map(|v| (v - centre).powi(2)).sum::<f64>() / (n - 1.0);
            let want = ((1.0 - n / population as f64) * s2 / n).sqrt();
            prop_assert!((found.mean - centre).abs() < 1e-12);
            prop_assert!((found.se.expect("two cases") - want).abs() < 1e-12);
            if more == 0 { prop_assert!(found.se.expect("all seen").abs() < 1e-12); }
        }

        /// Strata in another order, or with their values in another order, give the same.
        #[test]
        fn order_never_matters(a in prop::collection::vec(0.0f64..1.0, 2..9), b in prop::collection::vec(0.0f64..1.0, 2..9)) {
            let (mut c, mut d) = (a.clone(), b.clone());
            c.reverse();
            d.reverse();
            let one = mean(&[stratum(20, &a), stratum(50, &b)]).expect("cases");
            let two = mean(&[stratum(50, &d), stratum(20, &c)]).expect("cases");
            prop_assert!((one.mean - two.mean).abs() < 1e-12);
            prop_assert!((one.se.expect("se") - two.se.expect("se")).abs() < 1e-12);
        }
    }
}
