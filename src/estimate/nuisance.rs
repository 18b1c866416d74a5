//! Limits of a weighted sum over strata by a score test whose variance is the largest that the sample leaves possible.
//!
//! A sum θ = Σ W_h p_h is tested at a value with the variance Σ a_h p_h(1 − p_h); the p_h are unknown. Here each is held
//! inside its own exact interval, and of all p_h that sum to the tested value those with the greatest variance are taken
//! (nuisance parameters confined to a confidence set: Berger & Boos 1994, J. Am. Stat. Assoc. 89:1012-1016). With strata of
//! one or two cases, of which nothing is known, that is the variance of a sample without strata; with large strata that
//! differ it keeps what stratification gains. Joining limits stratum by stratum (MOVER) fails where many strata are small,
//! because a stratum without a hit then brings no downward width; this does not.

use super::{Interval, falling_root};

/// What is known of one stratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stratum {
    /// Its share of the population, W.
    pub weight: f64,
    /// The variance of W times its estimate per unit of p(1 − p): W²(N − n)/(N − 1)/n.
    pub scale: f64,
    /// Where its share p can lie.
    pub share: Interval,
}

impl Stratum {
    /// The share at which variance less `slope` × share is greatest, and p(1 − p) there. The share falls with the slope.
    fn best(self, slope: f64) -> (f64, f64) {
        let p = f64::midpoint(1.0, -slope).clamp(self.share.low, self.share.high);
        (p, p * (1.0 - p))
    }
}

/// The greatest variance of the sum when the sum is `target`.
fn greatest_variance(strata: &[Stratum], target: f64) -> f64 {
    let at = |mu: f64| {
        strata.iter().fold((0.0, 0.0), |(sum, variance), stratum| {
            let slope = if stratum.scale > 0.0 { mu * stratum.weight / stratum.scale } else { 0.0 };
            let (value, own) = stratum.best(slope);
            (sum + stratum.weight * value, variance + stratum.scale * own)
        })
    };
    // Beyond a slope of 1 every share lies at an end.
    let steepest = strata.iter().map(|stratum| stratum.scale / stratum.weight.max(1e-300)).fold(0.0, f64::max) * 2.0;
    let mu = falling_root(-steepest, steepest, |mu| at(mu).0 - target);
    at(mu).1
}

/// All values of the sum that the test at ± z does not reject, around the estimate.
pub(super) fn limits(estimate: f64, strata: &[Stratum], z: f64) -> [f64; 2] {
    let (least, most) = strata.iter().fold((0.0, 0.0), |(least, most), stratum| {
        (least + stratum.weight * stratum.share.low, most + stratum.weight * stratum.share.high)
    });
    let excess = |value: f64| (estimate - value).powi(2) - z * z * greatest_variance(strata, value);
    let low = if least >= estimate || excess(least) <= 0.0 {
        least.min(estimate)
    } else {
        falling_root(least, estimate, excess)
    };
    let high = if most <= estimate || excess(most) <= 0.0 {
        most.max(estimate)
    } else {
        falling_root(estimate, most, |value| -excess(value))
    };
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agree::Z95;
    use crate::estimate::intervals::wilson;

    fn free(weight: f64, scale: f64) -> Stratum {
        Stratum { weight, scale, share: Interval::new(0.0, 1.0) }
    }

    /// One stratum, nothing held: Wilson's interval. Ten equal strata of one case: that of a sample of ten without strata.
    #[test]
    fn nothing_held_is_wilson() {
        for (k, n) in [(3u32, 20u32), (0, 12), (10, 10)] {
            let want = wilson(k.into(), n.into(), Z95).expect("trials");
            let p = f64::from(k) / f64::from(n);
            for strata in [vec![free(1.0, 1.0 / f64::from(n))], vec![free(0.1, 0.01 * 10.0 / f64::from(n)); 10]] {
                let [low, high] = limits(p, &strata, Z95);
                assert!((low - want.low).abs() < 1e-6 && (high - want.high).abs() < 1e-6, "{k} {n} {low} {high}");
            }
        }
    }

    /// The greatest variance by brute force over a grid of two strata.
    #[test]
    fn greatest_variance_is_the_greatest() {
        let one = Stratum { weight: 0.7, scale: 0.02, share: Interval::new(0.1, 0.6) };
        let two = Stratum { weight: 0.3, scale: 0.05, share: Interval::new(0.05, 0.3) };
        for target in [0.1, 0.2, 0.3, 0.45] {
            let mut best = 0.0f64;
            for step in 0..=100_000 {
                let q = 0.05 + 0.25 * f64::from(step) / 100_000.0;
                let p = (target - 0.3 * q) / 0.7;
                if (0.1..=0.6).contains(&p) {
                    best = best.max(0.02 * p * (1.0 - p) + 0.05 * q * (1.0 - q));
                }
            }
            let found = greatest_variance(&[one, two], target);
            assert!((found - best).abs() < 1e-6, "{target}: {found} {best}");
        }
    }
}
