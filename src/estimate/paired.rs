//! Paired proportions: the same cases judged twice. Difference intervals and McNemar's tests.

use serde::Serialize;
use statrs::distribution::{Binomial, Discrete, DiscreteCDF};

use super::intervals::wilson;
use super::normal::chi_square_p;
use super::{EstimateError, Interval, check_z, falling_root};

/// Cases by both judgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Pairs {
    /// Yes by both.
    pub both: u64,
    /// Yes by the first only.
    pub first_only: u64,
    /// Yes by the second only.
    pub second_only: u64,
    /// Yes by neither.
    pub neither: u64,
}

impl Pairs {
    /// All cases.
    #[must_use]
    pub fn n(self) -> u64 {
        self.both.saturating_add(self.first_only).saturating_add(self.second_only).saturating_add(self.neither)
    }

    /// The first's rate less the second's; `None` without cases.
    #[must_use]
    pub fn difference(self) -> Option<f64> {
        let n = self.n();
        (n > 0).then(|| (self.first_only as f64 - self.second_only as f64) / n as f64)
    }

    fn shares(self) -> Result<(f64, f64), EstimateError> {
        let n = self.n();
        if n == 0 {
            return Err(EstimateError::NoTrials);
        }
        Ok((self.first_only as f64 / n as f64, self.second_only as f64 / n as f64))
    }
}

/// Newcombe's square-and-add interval with correlation corrected for continuity. Newcombe 1998, Stat. Med.
/// 17:2635-2650, method 10.
///
/// # Errors
/// No cases, z not positive.
pub fn newcombe(pairs: Pairs, z: f64) -> Result<Interval, EstimateError> {
    let (first_only, second_only) = pairs.shares()?;
    let n = pairs.n();
    let (k1, k2) = (pairs.both.saturating_add(pairs.first_only), pairs.both.saturating_add(pairs.second_only));
    let (p1, p2) = (k1 as f64 / n as f64, k2 as f64 / n as f64);
    let (one, two) = (wilson(k1, n, z)?, wilson(k2, n, z)?);
    let margins = k1 as f64 * (n - k1) as f64 * k2 as f64 * (n - k2) as f64;
    let cross = pairs.both as f64 * pairs.neither as f64 - pairs.first_only as f64 * pairs.second_only as f64;
    let phi = if margins == 0.0 {
        0.0
    } else {
        (if cross > 0.0 { (cross - n as f64 / 2.0).max(0.0) } else { cross }) / margins.sqrt()
    };
    let join = |a: f64, b: f64| (a * a - 2.0 * phi * a * b + b * b).max(0.0).sqrt();
    let difference = first_only - second_only;
    Ok(Interval::new(
        (difference - join(p1 - one.low, two.high - p2)).max(-1.0),
        (difference + join(one.high - p1, p2 - two.low)).min(1.0),
    ))
}

/// Tango's score interval: all differences that the score test does not reject. Tango 1998, Stat. Med. 17:891-908.
///
/// # Errors
/// No cases, z not positive.
pub fn tango(pairs: Pairs, z: f64) -> Result<Interval, EstimateError> {
    let (first_only, second_only) = pairs.shares()?;
    tango_of_shares(first_only, second_only, pairs.n() as f64, z)
}

/// [`tango`] from the two shares that differ; `n` need not be a whole number.
pub(super) fn tango_of_shares(first_only: f64, second_only: f64, n: f64, z: f64) -> Result<Interval, EstimateError> {
    check_z(z)?;
    let observed = first_only - second_only;
    let excess = |delta: f64| {
        // The most likely share of second-only cases when the difference is delta: root of a quadratic.
        let b = -first_only - second_only + (2.0 - first_only + second_only) * delta;
        let c = -second_only * delta * (1.0 - delta);
        let share = ((b * b - 8.0 * c).max(0.0).sqrt() - b) / 4.0;
        let variance = (2.0 * share + delta * (1.0 - delta)).max(0.0) / n;
        (observed - delta).powi(2) - z * z * variance
    };
    let low = if observed <= -1.0 { -1.0 } else { falling_root(-1.0, observed, excess) };
    let high = if observed >= 1.0 { 1.0 } else { falling_root(observed, 1.0, |delta| -excess(delta)) };
    Ok(Interval::new(low, high))
}

/// McNemar's tests of equal rates, from the pairs that differ.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct McNemar {
    /// Yes by the first only.
    pub first_only: u64,
    /// Yes by the second only.
    pub second_only: u64,
    /// (b − c)² / (b + c).
    pub chi2: f64,
    /// Its p-value with one degree of freedom.
    pub p: f64,
    /// (|b − c| − 1)² / (b + c), 0 where |b − c| < 1.
    pub chi2_cc: f64,
    /// Its p-value.
    pub p_cc: f64,
    /// The exact two-sided binomial p-value.
    pub exact_p: f64,
    /// The mid-p value: the exact one less the probability of what was observed.
    pub midp: f64,
}

/// McNemar 1947, Psychometrika 12:153-157; mid-p after Fagerland, Lydersen & Laake 2013, BMC Med. Res. Methodol. 13:91.
///
/// # Errors
/// No pair differs.
pub fn mcnemar(first_only: u64, second_only: u64) -> Result<McNemar, EstimateError> {
    let differing = first_only.saturating_add(second_only);
    let law = Binomial::new(0.5, differing).map_err(|_| EstimateError::NoDiscordantPairs)?;
    if differing == 0 {
        return Err(EstimateError::NoDiscordantPairs);
    }
    let gap = first_only.abs_diff(second_only) as f64;
    let chi2 = gap * gap / differing as f64;
    let chi2_cc = (gap - 1.0).max(0.0).powi(2) / differing as f64;
    let fewer = first_only.min(second_only);
    let tail = law.cdf(fewer);
    let equal = first_only == second_only;
    Ok(McNemar {
        first_only,
        second_only,
        chi2,
        p: chi_square_p(chi2, 1),
        chi2_cc,
        p_cc: chi_square_p(chi2_cc, 1),
        exact_p: (2.0 * tail).min(1.0),
        midp: if equal { 1.0 - law.pmf(fewer) / 2.0 } else { 2.0 * tail - law.pmf(fewer) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agree::Z95;
    use proptest::prelude::*;

    fn pairs(both: u64, first_only: u64, second_only: u64, neither: u64) -> Pairs {
        Pairs { both, first_only, second_only, neither }
    }

    /// The likelihood of a difference, maximised by brute force over a grid: independent of the closed form.
    fn score_at(pairs: Pairs, delta: f64) -> f64 {
        let n = pairs.n() as f64;
        let (b, c) = (pairs.first_only as f64, pairs.second_only as f64);
        let log = |count: f64, share: f64| if count > 0.0 { count * share.ln() } else { 0.0 };
        let (lowest, highest) = ((-delta).max(0.0), (1.0 - delta) / 2.0);
        let mut best = (f64::NEG_INFINITY, lowest);
        for step in 1..400_000 {
            let share = lowest + (highest - lowest) * f64::from(step) / 400_000.0;
            let value = log(c, share) + log(b, share + delta) + log(n - b - c, 1.0 - 2.0 * share - delta);
            if value > best.0 {
                best = (value, share);
            }
        }
        (b - c - n * delta) / (n * (2.0 * best.1 + delta - delta * delta)).sqrt()
    }

    #[test]
    fn tango_limits_are_where_the_score_test_turns() {
        for found in [pairs(14, 5, 0, 22), pairs(1, 1, 7, 12), pairs(10, 3, 4, 8)] {
            let interval = tango(found, Z95).expect("cases");
            assert!((score_at(found, interval.low) - Z95).abs() < 1e-4, "{interval:?}");
            assert!((score_at(found, interval.high) + Z95).abs() < 1e-4, "{interval:?}");
        }
    }

    #[test]
    fn nothing_differs_or_nothing_is_there() {
        assert_eq!(mcnemar(0, 0), Err(EstimateError::NoDiscordantPairs));
        assert_eq!(newcombe(pairs(0, 0, 0, 0), Z95), Err(EstimateError::NoTrials));
        assert_eq!(tango(pairs(0, 0, 0, 0), Z95), Err(EstimateError::NoTrials));
        let same = tango(pairs(10, 0, 0, 10), Z95).expect("cases");
        assert!((same.low + same.high).abs() < 1e-12 && same.high > 0.0);
        // Counts at the edge of what can be written neither overflow nor hang.
        assert!(newcombe(pairs(u64::MAX, u64::MAX, 1, 1), Z95).is_ok());
        // Five against five: the exact test cannot be smaller than 1.
        assert!((mcnemar(5, 5).expect("differing").exact_p - 1.0).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn limits_hold_the_difference_and_mirror(a in 0u64..60, b in 0u64..60, c in 0u64..60, d in 0u64..60) {
            prop_assume!(a + b + c + d > 0);
            let (there, back) = (pairs(a, b, c, d), pairs(a, c, b, d));
            let observed = there.difference().expect("cases");
            for method in [newcombe as fn(Pairs, f64) -> Result<Interval, EstimateError>, tango] {
                let (one, two) = (method(there, Z95).expect("cases"), method(back, Z95).expect("cases"));
                prop_assert!(one.low >= -1.0 && one.high <= 1.0);
                prop_assert!(one.low <= observed + 1e-9 && observed <= one.high + 1e-9);
                prop_assert!((one.low + two.high).abs() < 1e-7 && (one.high + two.low).abs() < 1e-7);
            }
            if b + c > 0 {
                let (one, two) = (mcnemar(b, c).expect("differing"), mcnemar(c, b).expect("differing"));
                prop_assert!((one.midp - two.midp).abs() < 1e-12 && one.midp <= one.exact_p + 1e-12);
                prop_assert!((0.0..=1.0).contains(&one.midp) && (0.0..=1.0).contains(&one.exact_p));
            }
        }
    }
}
