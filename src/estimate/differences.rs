//! Intervals for the difference of two independent proportions, first less second.

use serde::Serialize;

use super::{EstimateError, Interval, check_counts, check_z, falling_root};
use crate::agree::percent;

/// Successes and trials of two independent groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TwoGroups {
    k1: u64,
    n1: u64,
    k2: u64,
    n2: u64,
}

impl TwoGroups {
    /// `k1` of `n1` against `k2` of `n2`.
    ///
    /// # Errors
    /// A group without trials, or with more successes than trials.
    pub fn new(k1: u64, n1: u64, k2: u64, n2: u64) -> Result<Self, EstimateError> {
        check_counts(k1, n1)?;
        check_counts(k2, n2)?;
        Ok(Self { k1, n1, k2, n2 })
    }

    /// The two rates.
    #[must_use]
    pub fn rates(self) -> (f64, f64) {
        (self.k1 as f64 / self.n1 as f64, self.k2 as f64 / self.n2 as f64)
    }

    /// The difference of the rates.
    #[must_use]
    pub fn difference(self) -> f64 {
        let (p1, p2) = self.rates();
        p1 - p2
    }
}

/// Newcombe's hybrid score interval: Wilson limits squared and added. Newcombe 1998, Stat. Med. 17:873-890, method 10.
///
/// # Errors
/// z not positive.
pub fn newcombe(groups: TwoGroups, z: f64) -> Result<Interval, EstimateError> {
    check_z(z)?;
    percent::difference(groups.k1, groups.n1, groups.k2, groups.n2, z)
        .map(Interval::from)
        .ok_or(EstimateError::NoTrials)
}

/// The score interval of Miettinen & Nurminen 1985, Stat. Med. 4:213-226: all differences that a score test with
/// variance factor N/(N − 1) does not reject.
///
/// # Errors
/// z not positive.
pub fn miettinen_nurminen(groups: TwoGroups, z: f64) -> Result<Interval, EstimateError> {
    let total = groups.n1 as f64 + groups.n2 as f64;
    score(groups, z, total / (total - 1.0))
}

/// The score interval of Mee 1984, Biometrics 40:1175-1176: as Miettinen & Nurminen without the variance factor.
///
/// # Errors
/// z not positive.
pub fn mee(groups: TwoGroups, z: f64) -> Result<Interval, EstimateError> {
    score(groups, z, 1.0)
}

/// Agresti & Caffo 2000, Am. Stat. 54:280-288: a success and a failure added to each group. Clamped to −1 to 1.
///
/// # Errors
/// z not positive.
pub fn agresti_caffo(groups: TwoGroups, z: f64) -> Result<Interval, EstimateError> {
    check_z(z)?;
    let plus = |k: u64, n: u64| ((k as f64 + 1.0) / (n as f64 + 2.0), n as f64 + 2.0);
    let ((p1, n1), (p2, n2)) = (plus(groups.k1, groups.n1), plus(groups.k2, groups.n2));
    let half = z * (p1 * (1.0 - p1) / n1 + p2 * (1.0 - p2) / n2).sqrt();
    Ok(Interval::new((p1 - p2 - half).max(-1.0), (p1 - p2 + half).min(1.0)))
}

/// The textbook interval, clamped to −1 to 1: for comparison only.
///
/// # Errors
/// z not positive.
pub fn wald(groups: TwoGroups, z: f64) -> Result<Interval, EstimateError> {
    check_z(z)?;
    let ((p1, p2), d) = (groups.rates(), groups.difference());
    let half = z * (p1 * (1.0 - p1) / groups.n1 as f64 + p2 * (1.0 - p2) / groups.n2 as f64).sqrt();
    Ok(Interval::new((d - half).max(-1.0), (d + half).min(1.0)))
}

fn score(groups: TwoGroups, z: f64, factor: f64) -> Result<Interval, EstimateError> {
    check_z(z)?;
    let observed = groups.difference();
    // Rejected when the squared distance exceeds z² times its variance under the tested difference.
    let excess = |delta: f64| {
        let (p1, p2) = restricted(groups, delta);
        let variance = p1 * (1.0 - p1) / groups.n1 as f64 + p2 * (1.0 - p2) / groups.n2 as f64;
        (observed - delta).powi(2) - z * z * factor * variance
    };
    let low = if observed <= -1.0 { -1.0 } else { falling_root(-1.0, observed, excess) };
    let high = if observed >= 1.0 { 1.0 } else { falling_root(observed, 1.0, |delta| -excess(delta)) };
    Ok(Interval::new(low, high))
}

/// The most likely rates whose difference is `delta`: the root of the likelihood's slope, which falls.
fn restricted(groups: TwoGroups, delta: f64) -> (f64, f64) {
    let (x1, y1) = (groups.k1 as f64, (groups.n1 - groups.k1) as f64);
    let (x2, y2) = (groups.k2 as f64, (groups.n2 - groups.k2) as f64);
    // A term without events has no pull, also where its rate is 0.
    let pull = |events: f64, rate: f64| if events > 0.0 { events / rate } else { 0.0 };
    let p2 = falling_root((-delta).max(0.0), (1.0 - delta).min(1.0), |p2| {
        let p1 = p2 + delta;
        pull(x1, p1) - pull(y1, 1.0 - p1) + pull(x2, p2) - pull(y2, 1.0 - p2)
    });
    ((p2 + delta).clamp(0.0, 1.0), p2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agree::Z95;
    use proptest::prelude::*;

    #[test]
    fn groups_need_trials() {
        assert_eq!(TwoGroups::new(0, 0, 1, 2), Err(EstimateError::NoTrials));
        assert_eq!(TwoGroups::new(0, 1, 3, 2), Err(EstimateError::MoreThanAll { k: 3, n: 2 }));
    }

    /// Newcombe 1998, Table II, method 5 (Mee): 56/70 − 48/80 is .0533 to .3377; 9/10 − 3/10 is .1821 to .8370.
    #[test]
    fn newcombe_1998_table_ii_mee() {
        for (k1, n1, k2, n2, low, high) in [(56, 70, 48, 80, 0.0533, 0.3377), (9, 10, 3, 10, 0.1821, 0.8370)] {
            let found = mee(TwoGroups::new(k1, n1, k2, n2).expect("counts"), Z95).expect("z");
            assert!((found.low - low).abs() < 6e-5 && (found.high - high).abs() < 6e-5, "{found:?}");
        }
    }

    proptest! {
        #[test]
        fn limits_hold_the_difference_and_mirror(
            n1 in 1u64..300, n2 in 1u64..300, s1 in 0.0f64..=1.0, s2 in 0.0f64..=1.0
        ) {
            let (k1, k2) = ((s1 * n1 as f64).round() as u64, (s2 * n2 as f64).round() as u64);
            let there = TwoGroups::new(k1, n1, k2, n2).expect("counts");
            let back = TwoGroups::new(k2, n2, k1, n1).expect("counts");
            for (name, method) in [
                ("newcombe", newcombe as fn(TwoGroups, f64) -> Result<Interval, EstimateError>),
                ("miettinen_nurminen", miettinen_nurminen),
                ("mee", mee),
                ("wald", wald),
            ] {
                let (a, b) = (method(there, Z95).expect("z"), method(back, Z95).expect("z"));
                let d = there.difference();
                prop_assert!(a.low >= -1.0 - 1e-12 && a.high <= 1.0 + 1e-12, "{name}: {a:?}");
                prop_assert!(a.low <= d + 1e-9 && d <= a.high + 1e-9, "{name}: {a:?} around {d}");
                prop_assert!((a.low + b.high).abs() < 1e-7 && (a.high + b.low).abs() < 1e-7, "{name}: {a:?} {b:?}");
            }
        }
    }
}
