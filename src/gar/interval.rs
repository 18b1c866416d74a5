//! Wilson's score interval for a proportion.

/// The reference release's critical value; its published intervals use it in place of [`Z_95`].
pub(super) const Z_PAPER: f64 = 1.96;

/// The 97.5 % point of the normal distribution.
pub(super) const Z_95: f64 = 1.959_963_984_540_054;

/// Wilson's interval (1927) of `hits` out of `n` as fractions, clamped to 0 and 1. `None`: n = 0.
pub(super) fn wilson(hits: u64, n: u64, z: f64) -> Option<[f64; 2]> {
    if n == 0 {
        return None;
    }
    let (none, all) = (hits == 0, hits == n);
    let (hits, n) = (hits as f64, n as f64);
    let p = hits / n;
    let denominator = 1.0 + z * z / n;
    let centre = (p + z * z / (2.0 * n)) / denominator;
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).max(0.0).sqrt() / denominator;
    // Exact at the ends, where rounding would leave a trace.
    let low = if none { 0.0 } else { (centre - half).max(0.0) };
    let high = if all { 1.0 } else { (centre + half).min(1.0) };
    Some([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(hits: u64, n: u64, low: f64, high: f64) {
        let [l, h] = wilson(hits, n, Z_95).expect("n > 0");
        assert!((l - low).abs() < 1e-8 && (h - high).abs() < 1e-8, "{hits}/{n}: {l} {h}");
    }

    /// Newcombe, R. G. (1998a), Statistics in Medicine 17, 857–872, table I (.2553 to .3662 and .0624 to .1605); more digits
    /// from statsmodels 0.15.0.
    #[test]
    fn newcombe_1998_table_1() {
        check(81, 263, 0.255_288_519_878_274, 0.366_209_576_982_8);
        check(15, 148, 0.062_386_399_530_736_3, 0.160_487_241_723_308);
    }

    /// Closed forms at the ends, as printed by statsmodels 0.15.0.
    #[test]
    fn all_and_none() {
        check(0, 10, 0.0, 0.277_532_799_862_889);
        check(10, 10, 0.722_467_200_137_111, 1.0);
        check(1, 1, 0.206_549_314_377_237, 1.0);
    }

    #[test]
    fn no_cases_have_no_interval_and_bounds_are_clamped() {
        assert_eq!(wilson(0, 0, Z_95), None);
        assert_eq!(wilson(0, 7, Z_95).map(|bounds| bounds[0]), Some(0.0));
        assert_eq!(wilson(7, 7, Z_95).map(|bounds| bounds[1]), Some(1.0));
    }
}
