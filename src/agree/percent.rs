//! Raw agreement and the score interval of a proportion.

use super::Table;

/// The share of units on which both raters agree; `None` without units.
#[must_use]
pub fn observed_agreement(table: &Table) -> Option<f64> {
    (table.n() > 0).then(|| table.agreeing() as f64 / table.n() as f64)
}

/// Wilson's score interval `(low, high)` for `k` of `n`, as the formula gives it: at `k = 0` and `k = n` rounding may
/// leave it a hair outside 0 to 1. `None` for `n = 0` or `k > n`.
///
/// Wilson 1927, J. Am. Stat. Assoc. 22:209-212.
#[must_use]
pub fn wilson_unclamped(k: u64, n: u64, z: f64) -> Option<(f64, f64)> {
    if n == 0 || k > n {
        return None;
    }
    let (n, p) = (n as f64, k as f64 / n as f64);
    let denominator = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / denominator;
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt() / denominator;
    Some((centre - half, centre + half))
}

/// Wilson's score interval; exactly 0 at `k = 0` and exactly 1 at `k = n`. `None` for `n = 0` or `k > n`.
#[must_use]
pub fn wilson(k: u64, n: u64, z: f64) -> Option<(f64, f64)> {
    let (low, high) = wilson_unclamped(k, n, z)?;
    Some((if k == 0 { 0.0 } else { low.max(0.0) }, if k == n { 1.0 } else { high.min(1.0) }))
}

/// The interval `(low, high)` of the difference of two independent proportions, `k1 / n1` less `k2 / n2`: Wilson limits
/// squared and added. `None` where one of them is undefined.
///
/// Newcombe 1998, Stat. Med. 17:873-890, method 10.
#[must_use]
pub fn difference(k1: u64, n1: u64, k2: u64, n2: u64, z: f64) -> Option<(f64, f64)> {
    let ((low1, high1), (low2, high2)) = (wilson(k1, n1, z)?, wilson(k2, n2, z)?);
    let (p1, p2) = (k1 as f64 / n1 as f64, k2 as f64 / n2 as f64);
    Some((p1 - p2 - (p1 - low1).hypot(high2 - p2), p1 - p2 + (high1 - p1).hypot(p2 - low2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agree::Z95;

    #[test]
    fn wilson_at_the_edges_is_exact() {
        // Closed forms: the upper limit for 0 of n is z²/(n + z²).
        let (low, high) = wilson(0, 10, Z95).expect("n > 0");
        assert_eq!(low.to_bits(), 0.0f64.to_bits());
        assert!((high - Z95 * Z95 / (10.0 + Z95 * Z95)).abs() < 1e-15);
        let (low, high) = wilson(21, 21, Z95).expect("n > 0");
        assert_eq!(high.to_bits(), 1.0f64.to_bits());
        assert!((low - 21.0 / (21.0 + Z95 * Z95)).abs() < 1e-15);
        assert_eq!(wilson(0, 0, Z95), None);
        assert_eq!(wilson(2, 1, Z95), None);
    }
}
