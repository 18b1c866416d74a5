//! Limits of "label only" less "hit only": by how much a metric and a label differ on average, from a sample without
//! replacement.
//!
//! Two intervals, and the wider limit counts. Tango's score interval with the finite population correction is near its
//! level on average over populations, and below it for some (three fifths of a point to two points at half of 200 cases
//! seen). The exact limits of the two shares, each without replacement, squared and added (Newcombe 1998, Stat. Med.
//! 17:873-890; MOVER, see [`super::weighted`]) fill those in; alone they are too short where one kind was never seen.

use super::difference::PairedPart;
use super::finite::{hypergeometric, tango};
use super::normal::z_of_level;
use super::paired::{Pairs, tango_of_shares};
use super::stratified::{DesignError, clopper_pearson_real};
use super::{EstimateError, Interval};

/// Limits for the mean of (label − hit) among all cases of a stratum.
///
/// # Errors
/// Nothing drawn, more drawn than there is, a level outside (0, 1).
pub(super) fn limits(part: PairedPart, level: f64) -> Result<Interval, DesignError> {
    let z = z_of_level(level).map_err(|_| DesignError::Level { level })?;
    let pairs = Pairs { both: part.tp, first_only: part.false_negatives, second_only: part.fp, neither: part.tn };
    let score = tango(pairs, part.population, z).map_err(|_| DesignError::Empty)?;
    let n = part.n();
    let share = |k: u64| hypergeometric(k, n, part.population, level);
    let shares = [part.false_negatives as f64 / n as f64, part.fp as f64 / n as f64];
    let exact = squared_and_added(shares, share(part.false_negatives)?, share(part.fp)?);
    Ok(wider(score, exact))
}

/// The same limits for shares that are expected and not counted, as a plan has them: `n` of `population` cases drawn.
///
/// Clopper and Pearson's limits at n(N − 1)/(N − n) cases stand in for the exact ones, which exist for whole counts only.
///
/// # Errors
/// A level outside (0, 1).
pub(super) fn expected_limits(
    [label_only, hit_only]: [f64; 2],
    n: f64,
    population: f64,
    level: f64,
) -> Result<Interval, EstimateError> {
    let z = z_of_level(level)?;
    let seen = label_only - hit_only;
    if n >= population {
        return Ok(Interval::new(seen, seen));
    }
    let cases = n * (population - 1.0) / (population - n);
    let score = tango_of_shares(label_only, hit_only, cases, z)?;
    let share = |share: f64| clopper_pearson_real(share * cases, cases, level);
    Ok(wider(score, squared_and_added([label_only, hit_only], share(label_only), share(hit_only))))
}

fn squared_and_added([first, second]: [f64; 2], one: Interval, two: Interval) -> Interval {
    let up = |interval: Interval, share: f64| (interval.high - share).max(0.0);
    let down = |interval: Interval, share: f64| (share - interval.low).max(0.0);
    let seen = first - second;
    Interval::new(
        (seen - down(one, first).hypot(up(two, second))).max(-1.0),
        (seen + up(one, first).hypot(down(two, second))).min(1.0),
    )
}

fn wider(one: Interval, two: Interval) -> Interval {
    Interval::new(one.low.min(two.low), one.high.max(two.high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(population: u64, [tp, fp, false_negatives, tn]: [u64; 4]) -> PairedPart {
        PairedPart { population, hits: tp + fp, tp, fp, false_negatives, tn }
    }

    /// By hand, nothing differs in 3 of 10 cases: each kind can make up at most 6 of 10 (see the exact interval), and
    /// √(0² + 0.6²) on either side; Tango's limits are z²(1 − f)/(n + z²(1 − f)) with 1 − f = 7/9: 0.4990.
    #[test]
    fn nothing_differs_in_three_of_ten() {
        let found = limits(part(10, [1, 0, 0, 2]), 0.95).expect("drawn");
        assert!((found.low + 0.6).abs() < 1e-9 && (found.high - 0.6).abs() < 1e-9, "{found:?}");
        // Five of fifty, again nothing: Tango's limit is z²·(45/49)/(5 + z²·(45/49)) = 0.4137; the exact ones allow 25 of 50,
        // C(25,5)/C(50,5) = 0.0251 > 0.025, and not 26, where it is 0.0201.
        let found = limits(part(50, [2, 0, 0, 3]), 0.95).expect("drawn");
        assert!((found.high - 0.5).abs() < 1e-9, "{found:?}");
    }

    /// A plan's limits are those of the sample that comes out as expected, within a case of the population.
    #[test]
    fn a_plan_expects_what_a_sample_has() {
        for (population, n, fp, fnn) in [(200, 50, 2, 1), (1000, 100, 3, 5), (5000, 40, 0, 4)] {
            let sample = limits(part(population, [0, fp, fnn, n - fp - fnn]), 0.95).expect("drawn");
            let shares = [fnn as f64 / n as f64, fp as f64 / n as f64];
            let plan = expected_limits(shares, n as f64, population as f64, 0.95).expect("a level");
            let near = 2.0 / population as f64 + 0.02 * sample.width();
            assert!((plan.low - sample.low).abs() < near, "{plan:?} {sample:?}");
            assert!((plan.high - sample.high).abs() < near, "{plan:?} {sample:?}");
        }
    }

    proptest! {
        /// More of the population seen never makes the planned interval wider; all of it seen leaves no width.
        #[test]
        fn a_larger_sample_is_never_worse(a in 0.0f64..0.5, b in 0.0f64..0.5, population in 20u32..2000) {
            let mut before = 2.0;
            for step in 1..=20 {
                let n = f64::from(population) * f64::from(step) / 20.0;
                let width = expected_limits([a, b], n, f64::from(population), 0.95).expect("a level").width();
                prop_assert!(width <= before + 1e-9, "{n}: {width} {before}");
                before = width;
            }
            prop_assert!(before.abs() < 1e-12);
        }
    }
}
