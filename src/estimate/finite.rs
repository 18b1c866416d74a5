//! Intervals for a share of a finite population from a simple random sample without replacement.
//!
//! A benchmark has 200 cases in a category, and an audit may look at a quarter of them: what was seen is known, and only
//! the rest is uncertain. A stratum that was looked at as a whole has an interval of no width, rightly.

use statrs::function::gamma::ln_gamma;

use super::stratified::{DesignError, first_from};
use super::{EstimateError, Interval, paired};

/// The exact interval for the share of hits among `population` cases of which `n` were drawn and `k` hit: every number of
/// hits that neither one-sided test at (1 − level)/2 rejects. The limits are whole numbers of hits over the population.
///
/// Coverage is never below the level. Buonaccorsi 1987, Am. Stat. 41:215-218; Wright 1991, Exact Confidence Bounds when
/// Sampling from Small Finite Universes.
///
/// # Errors
/// Nothing drawn, more drawn than there is, more hits than drawn, a level outside (0, 1).
pub fn hypergeometric(k: u64, n: u64, population: u64, level: f64) -> Result<Interval, DesignError> {
    limits(k, n, population, level, 0.0)
}

/// As [`hypergeometric`], the observed count taken half into each tail (mid-p): narrower, and below the level for some
/// populations.
///
/// # Errors
/// As [`hypergeometric`].
pub fn hypergeometric_mid_p(k: u64, n: u64, population: u64, level: f64) -> Result<Interval, DesignError> {
    limits(k, n, population, level, 0.5)
}

fn limits(k: u64, n: u64, population: u64, level: f64, half: f64) -> Result<Interval, DesignError> {
    check(k, n, population)?;
    if !(level > 0.0 && level < 1.0) {
        return Err(DesignError::Level { level });
    }
    let tail = (1.0 - level) / 2.0;
    let (least, most) = (k, population - (n - k));
    let all = population as f64;
    // Rounding must not reject the count that makes a tail exactly as large as allowed.
    let more = |hits: u64| upper_tail(k, n, hits, population, half) > tail * (1.0 + 1e-9);
    let low = first_from(least, most, more).unwrap_or(most);
    // The lower tail for `hits` is the upper tail of the misses.
    let fewer = |misses: u64| upper_tail(n - k, n, misses, population, half) > tail * (1.0 + 1e-9);
    let high = population - first_from(n - k, population - k, fewer).unwrap_or(population - k);
    Ok(Interval::new(low as f64 / all, high.max(low) as f64 / all))
}

pub(super) fn check(k: u64, n: u64, population: u64) -> Result<(), DesignError> {
    match (k, n) {
        (_, 0) => Err(DesignError::NothingSampled { population }),
        (_, n) if n > population => Err(DesignError::MoreThanAll { sampled: n, population }),
        (k, n) if k > n => Err(DesignError::MoreHitsThanCases { k, n }),
        _ => Ok(()),
    }
}

/// P(X ≥ k), less `half` of P(X = k), for X hits among `n` drawn from `population` cases of which `hits` hit.
fn upper_tail(k: u64, n: u64, hits: u64, population: u64, half: f64) -> f64 {
    let top = n.min(hits);
    if k > top {
        return 0.0;
    }
    let choose = |n: u64, k: u64| ln_gamma(n as f64 + 1.0) - ln_gamma(k as f64 + 1.0) - ln_gamma((n - k) as f64 + 1.0);
    let bottom = n.saturating_sub(population - hits);
    let whole = choose(population, n);
    let probability = |x: u64| (choose(hits, x) + choose(population - hits, n - x) - whole).exp();
    if k <= bottom {
        return if k < bottom { 1.0 } else { 1.0 - half * probability(k) };
    }
    // From the first term on by the ratio of neighbours.
    let (mut term, mut sum) = (probability(k), 0.0);
    sum += (1.0 - half) * term;
    for x in k..top {
        let up = (hits - x) as f64 * (n - x) as f64;
        let down = (x + 1) as f64 * (population + x + 1 - hits - n) as f64;
        term *= up / down;
        sum += term;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum.min(1.0)
}

/// The standard normal multiple of a level, made smaller by the finite population: z·√((N − n)/(N − 1)).
///
/// The score intervals (Wilson's, Tango's) turn on the variance under the tested value; without replacement that variance
/// is smaller by this factor (Cochran 1977, 3.2).
#[must_use]
pub fn corrected_z(z: f64, n: u64, population: u64) -> f64 {
    if population <= 1 || n >= population {
        return 0.0;
    }
    z * ((population - n) as f64 / (population as f64 - 1.0)).sqrt()
}

/// Tango's score interval for the difference of two shares of one sample ("first only" less "second only") with the finite
/// population correction of [`corrected_z`].
///
/// # Errors
/// No pairs.
pub fn tango(pairs: paired::Pairs, population: u64, z: f64) -> Result<Interval, EstimateError> {
    let z = corrected_z(z, pairs.n(), population);
    if z == 0.0 {
        let seen = pairs.difference().ok_or(EstimateError::NoTrials)?;
        return Ok(Interval::new(seen, seen));
    }
    paired::tango(pairs, z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Method, proportion};
    use proptest::prelude::*;

    fn close(found: Interval, low: f64, high: f64) {
        assert!((found.low - low).abs() < 1e-12 && (found.high - high).abs() < 1e-12, "{found:?} {low} {high}");
    }

    /// By hand. Two of four drawn, both hit: with 2 hits P(X = 2) is 1/6, with 3 it is 1/2, all above 0.025, so 2 to 4 of 4.
    /// One of 100 drawn and a hit: P = M/100 exceeds 0.025 from M = 3 on. None of 3 hit among 10: with 7 hits
    /// P(X = 0) = 1/120, with 6 it is 4/120 > 0.025, so at most 6.
    #[test]
    fn small_populations_by_hand() {
        close(hypergeometric(2, 2, 4, 0.95).expect("drawn"), 0.5, 1.0);
        close(hypergeometric(1, 1, 100, 0.95).expect("drawn"), 0.03, 1.0);
        close(hypergeometric(0, 3, 10, 0.95).expect("drawn"), 0.0, 0.6);
        close(hypergeometric(3, 3, 3, 0.95).expect("all"), 1.0, 1.0);
        close(hypergeometric(1, 3, 3, 0.95).expect("all"), 1.0 / 3.0, 1.0 / 3.0);
        assert_eq!(hypergeometric(0, 0, 3, 0.95), Err(DesignError::NothingSampled { population: 3 }));
        assert_eq!(hypergeometric(0, 4, 3, 0.95), Err(DesignError::MoreThanAll { sampled: 4, population: 3 }));
        assert_eq!(hypergeometric(2, 1, 3, 0.95), Err(DesignError::MoreHitsThanCases { k: 2, n: 1 }));
        assert!(hypergeometric(1, 1, 3, 1.0).is_err());
    }

    /// With a population far larger than the sample the law is binomial and the limits are Clopper and Pearson's.
    #[test]
    fn a_large_population_gives_clopper_and_pearson() {
        for (k, n) in [(0, 10), (3, 20), (47, 48), (5, 48)] {
            let exact = proportion(Method::ClopperPearson, k, n, 0.95).expect("trials");
            let found = hypergeometric(k, n, 50_000_000, 0.95).expect("drawn");
            assert!((found.low - exact.low).abs() < 1e-5 && (found.high - exact.high).abs() < 1e-5, "{k} {n}");
            let mid = proportion(Method::Midp, k, n, 0.95).expect("trials");
            let found = hypergeometric_mid_p(k, n, 50_000_000, 0.95).expect("drawn");
            assert!((found.low - mid.low).abs() < 1e-5 && (found.high - mid.high).abs() < 1e-5, "{k} {n}");
        }
    }

    /// Every population of 25 and every sample size: summed over all samples, the interval holds the truth in at least 95 %.
    #[test]
    fn coverage_is_never_below_the_level() {
        for n in 1..=25u64 {
            for hits in 0..=25u64 {
                let held: f64 = (0..=n.min(hits))
                    .filter(|k| {
                        hypergeometric(*k, n, 25, 0.95).is_ok_and(|found| {
                            found.low <= hits as f64 / 25.0 + 1e-12 && hits as f64 / 25.0 <= found.high + 1e-12
                        })
                    })
                    .map(|k| upper_tail(k, n, hits, 25, 0.0) - upper_tail(k + 1, n, hits, 25, 0.0))
                    .sum();
                assert!(held >= 0.95 - 1e-9, "n {n}, hits {hits}: {held}");
            }
        }
    }

    proptest! {
        #[test]
        fn limits_mirror_hold_the_share_and_what_was_seen(k in 0u64..40, misses in 0u64..40, rest in 0u64..200) {
            let n = k + misses;
            prop_assume!(n > 0);
            let population = n + rest;
            let found = hypergeometric(k, n, population, 0.95).expect("drawn");
            let back = hypergeometric(misses, n, population, 0.95).expect("drawn");
            prop_assert!((found.low + back.high - 1.0).abs() < 1e-12 && (found.high + back.low - 1.0).abs() < 1e-12);
            let all = population as f64;
            prop_assert!(found.low >= k as f64 / all - 1e-12 && found.high <= (population - misses) as f64 / all + 1e-12);
            let share = k as f64 / n as f64;
            // A limit is a whole number of hits, so the share of the sample may lie up to one case outside.
            prop_assert!(found.low <= share + 1.0 / all && share <= found.high + 1.0 / all);
            let narrow = hypergeometric_mid_p(k, n, population, 0.95).expect("drawn");
            prop_assert!(narrow.low >= found.low - 1e-12 && narrow.high <= found.high + 1e-12);
            if rest == 0 { prop_assert!(found.width().abs() < 1e-12); }
        }
    }
}
