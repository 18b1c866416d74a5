//! The difference of two proportions measured on the same cases, with Newcombe's square-and-add interval.

use super::interval::{Z_95, wilson};

/// Cases by two yes/no answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PairedCounts {
    pub(super) both: u64,
    pub(super) first_only: u64,
    pub(super) second_only: u64,
    pub(super) neither: u64,
}

/// p1 − p2 as a fraction with its 95 % interval: Newcombe, R. G. (1998b), Statistics in Medicine 17, 2635–2650, method 10
/// (Wilson intervals of the two margins, squared and added with the continuity-corrected φ of the table). `None`: no cases.
pub(super) fn paired_difference(counts: PairedCounts) -> Option<(f64, [f64; 2])> {
    let PairedCounts { both, first_only, second_only, neither } = counts;
    let n = both + first_only + second_only + neither;
    let [low1, high1] = wilson(both + first_only, n, Z_95)?;
    let [low2, high2] = wilson(both + second_only, n, Z_95)?;
    let (a, b, c, d, n) = (both as f64, first_only as f64, second_only as f64, neither as f64, n as f64);
    let (p1, p2) = ((a + b) / n, (a + c) / n);
    let difference = (b - c) / n;
    let phi = phi(a, b, c, d);
    let (down1, up1, down2, up2) = (p1 - low1, high1 - p1, p2 - low2, high2 - p2);
    let below = (down1 * down1 - 2.0 * phi * down1 * up2 + up2 * up2).max(0.0).sqrt();
    let above = (down2 * down2 - 2.0 * phi * down2 * up1 + up1 * up1).max(0.0).sqrt();
    Some((difference, [(difference - below).max(-1.0), (difference + above).min(1.0)]))
}

/// φ of the table; a positive association is drawn towards 0 by n/2. 0 where a margin is empty.
fn phi(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let product = (a + b) * (c + d) * (a + c) * (b + d);
    if product <= 0.0 {
        return 0.0;
    }
    let cross = a * d - b * c;
    let corrected = if cross > 0.0 { (cross - (a + b + c + d) / 2.0).max(0.0) } else { cross };
    corrected / product.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(table: [u64; 4], difference: f64, low: f64, high: f64) {
        let [both, first_only, second_only, neither] = table;
        let counts = PairedCounts { both, first_only, second_only, neither };
        let (d, [l, h]) = paired_difference(counts).expect("cases");
        assert!((d - difference).abs() < 1e-12, "{d}");
        assert!((l - low).abs() < 1e-7 && (h - high).abs() < 1e-7, "{l} {h}");
    }

    /// Altman, Machin, Bryant & Gardner (2000), Statistics with Confidence, table 6.2 (published 0.122, 0.011 to 0.226); more
    /// digits from R contingencytables 3.0.1.
    #[test]
    fn altman_2000_table_6_2() {
        check([14, 5, 0, 22], 0.121_951_219_512_195, 0.011_483_241_383_033_3, 0.226_492_684_351_211);
    }

    /// Bentur (2009), airway hyper-responsiveness (published −0.286, −0.507 to −0.026); more digits from R
    /// contingencytables 3.0.1.
    #[test]
    fn bentur_2009() {
        check([1, 1, 7, 12], -0.285_714_285_714_286, -0.506_920_226_686_141, -0.025_559_124_164_859_8);
    }

    #[test]
    fn empty_margins_have_an_interval_and_no_cases_have_none() {
        assert_eq!(paired_difference(PairedCounts::default()), None);
        let (difference, [low, high]) =
            paired_difference(PairedCounts { both: 0, first_only: 0, second_only: 90, neither: 10 }).expect("cases");
        assert!((difference + 0.9).abs() < 1e-12 && -1.0 <= low && low < difference && difference < high && high < 0.0);
    }
}
