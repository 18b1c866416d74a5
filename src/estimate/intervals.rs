//! Intervals for one proportion `k / n`.
//!
//! Wilson is the default: its coverage is near the nominal level on average, where Wald's collapses near 0 and 1 and
//! Clopper-Pearson's is always above. All limits are those of a simple random sample.

use serde::Serialize;

use super::normal::{beta_cdf, beta_quantile, level_of_z, z_of_level};
use super::{EstimateError, Interval, check_counts, check_z, falling_root};
use crate::agree::percent;

/// A kind of interval for a proportion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Wilson's score interval.
    Wilson,
    /// Wilson's score interval with continuity correction.
    WilsonCc,
    /// Clopper & Pearson's exact interval.
    ClopperPearson,
    /// Clopper & Pearson with the mid-p convention.
    Midp,
    /// Jeffreys' equal-tailed interval.
    Jeffreys,
    /// Agresti & Coull with z² pseudo-trials.
    AgrestiCoull,
    /// Agresti & Coull with 4 pseudo-trials.
    AgrestiCoullAdd4,
    /// The textbook normal interval, for comparison only.
    Wald,
}

impl Method {
    /// All methods, the default first.
    pub const ALL: [Self; 8] = [
        Self::Wilson,
        Self::WilsonCc,
        Self::ClopperPearson,
        Self::Midp,
        Self::Jeffreys,
        Self::AgrestiCoull,
        Self::AgrestiCoullAdd4,
        Self::Wald,
    ];

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wilson => "wilson",
            Self::WilsonCc => "wilson_cc",
            Self::ClopperPearson => "clopper_pearson",
            Self::Midp => "midp",
            Self::Jeffreys => "jeffreys",
            Self::AgrestiCoull => "agresti_coull",
            Self::AgrestiCoullAdd4 => "agresti_coull_add4",
            Self::Wald => "wald",
        }
    }
}

/// The interval of a method at a confidence level such as 0.95.
///
/// # Errors
/// No trials, more successes than trials, a level outside (0, 1).
pub fn proportion(method: Method, k: u64, n: u64, level: f64) -> Result<Interval, EstimateError> {
    let z = z_of_level(level)?;
    match method {
        Method::Wilson => wilson(k, n, z),
        Method::WilsonCc => wilson_continuity(k, n, z),
        Method::ClopperPearson => clopper_pearson(k, n, level),
        Method::Midp => mid_p(k, n, level),
        Method::Jeffreys => jeffreys(k, n, level),
        Method::AgrestiCoull => agresti_coull(k, n, z),
        Method::AgrestiCoullAdd4 => agresti_coull_add4(k, n, z),
        Method::Wald => wald(k, n, z),
    }
}

/// Wilson's score interval, exactly 0 at `k = 0` and 1 at `k = n`. Wilson 1927.
///
/// # Errors
/// No trials, more successes than trials, z not positive.
pub fn wilson(k: u64, n: u64, z: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    check_z(z)?;
    percent::wilson(k, n, z).map(Interval::from).ok_or(EstimateError::NoTrials)
}

/// Wilson's score interval as the formula gives it, not clamped (the published study's convention).
///
/// # Errors
/// As [`wilson`].
pub fn wilson_unclamped(k: u64, n: u64, z: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    check_z(z)?;
    percent::wilson_unclamped(k, n, z).map(Interval::from).ok_or(EstimateError::NoTrials)
}

/// Wilson's interval with continuity correction. Newcombe 1998, Stat. Med. 17:857-872, method 4.
///
/// # Errors
/// As [`wilson`].
pub fn wilson_continuity(k: u64, n: u64, z: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    check_z(z)?;
    let (size, p, z2) = (n as f64, k as f64 / n as f64, z * z);
    let q = 1.0 - p;
    let middle = 2.0 * size * p + z2;
    let root = |inside: f64| z * inside.max(0.0).sqrt();
    let low = middle - 1.0 - root(z2 - 2.0 - 1.0 / size + 4.0 * p * (size * q + 1.0));
    let high = middle + 1.0 + root(z2 + 2.0 - 1.0 / size + 4.0 * p * (size * q - 1.0));
    let scale = 2.0 * (size + z2);
    Ok(Interval::new(
        if k == 0 { 0.0 } else { (low / scale).max(0.0) },
        if k == n { 1.0 } else { (high / scale).min(1.0) },
    ))
}

/// The exact interval of Clopper & Pearson 1934, Biometrika 26:404-413, by beta quantiles.
///
/// # Errors
/// No trials, more successes than trials, a level outside (0, 1).
pub fn clopper_pearson(k: u64, n: u64, level: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    z_of_level(level)?;
    let tail = (1.0 - level) / 2.0;
    let (yes, no) = (k as f64, (n - k) as f64);
    let low = if k == 0 { 0.0 } else { beta_quantile(yes, no + 1.0, tail) };
    let high = if k == n { 1.0 } else { beta_quantile(yes + 1.0, no, 1.0 - tail) };
    Ok(Interval::new(low, high))
}

/// The mid-p interval: as Clopper-Pearson, the observed count taken half into each tail. Lancaster 1961, J. Am. Stat.
/// Assoc. 56:223-234.
///
/// # Errors
/// As [`clopper_pearson`].
pub fn mid_p(k: u64, n: u64, level: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    z_of_level(level)?;
    let tail = (1.0 - level) / 2.0;
    let (yes, no) = (k as f64, (n - k) as f64);
    // P(X >= k) and P(X > k) at p; their mean is the upper mid-p tail, which rises with p.
    let at_least = |p: f64| if k == 0 { 1.0 } else { beta_cdf(yes, no + 1.0, p) };
    let more = |p: f64| if k == n { 0.0 } else { beta_cdf(yes + 1.0, no, p) };
    let upper_tail = |p: f64| f64::midpoint(at_least(p), more(p));
    let low = if k == 0 { 0.0 } else { falling_root(0.0, 1.0, |p| tail - upper_tail(p)) };
    let high = if k == n { 1.0 } else { falling_root(0.0, 1.0, |p| 1.0 - tail - upper_tail(p)) };
    Ok(Interval::new(low, high))
}

/// Jeffreys' equal-tailed interval (prior Beta(½, ½)), 0 at `k = 0` and 1 at `k = n`. Brown, Cai & DasGupta 2001, Stat.
/// Sci. 16:101-133.
///
/// # Errors
/// As [`clopper_pearson`].
pub fn jeffreys(k: u64, n: u64, level: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    z_of_level(level)?;
    let tail = (1.0 - level) / 2.0;
    let (a, b) = (k as f64 + 0.5, (n - k) as f64 + 0.5);
    let low = if k == 0 { 0.0 } else { beta_quantile(a, b, tail) };
    let high = if k == n { 1.0 } else { beta_quantile(a, b, 1.0 - tail) };
    Ok(Interval::new(low, high))
}

/// Agresti & Coull 1998, Am. Stat. 52:119-126, with z² pseudo-trials, half of them successes. Not clamped: near 0 and 1
/// the limits may leave 0 to 1.
///
/// # Errors
/// As [`wilson`].
pub fn agresti_coull(k: u64, n: u64, z: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    check_z(z)?;
    Ok(around((k as f64 + z * z / 2.0) / (n as f64 + z * z), n as f64 + z * z, z))
}

/// Agresti & Coull's simpler form: two successes and two failures added, whatever the level. Not clamped.
///
/// # Errors
/// As [`wilson`].
pub fn agresti_coull_add4(k: u64, n: u64, z: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    check_z(z)?;
    Ok(around((k as f64 + 2.0) / (n as f64 + 4.0), n as f64 + 4.0, z))
}

/// The textbook interval p ± z·√(pq/n), not clamped. Of no width at 0 and n: for comparison only.
///
/// # Errors
/// As [`wilson`].
pub fn wald(k: u64, n: u64, z: f64) -> Result<Interval, EstimateError> {
    check_counts(k, n)?;
    check_z(z)?;
    Ok(around(k as f64 / n as f64, n as f64, z))
}

/// Every interval of a proportion, in the order of [`Method::ALL`].
///
/// # Errors
/// As [`proportion`].
pub fn all(k: u64, n: u64, level: f64) -> Result<Vec<(Method, Interval)>, EstimateError> {
    Method::ALL.into_iter().map(|method| Ok((method, proportion(method, k, n, level)?))).collect()
}

/// The confidence level that a multiple of the standard error stands for.
#[must_use]
pub fn level(z: f64) -> f64 {
    level_of_z(z)
}

fn around(p: f64, size: f64, z: f64) -> Interval {
    let half = z * (p * (1.0 - p) / size).sqrt();
    Interval::new(p - half, p + half)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 13 of 16 (Fagerland, Lydersen & Laake 2017, ch. 2): R contingencytables 3.0.1 prints .5602-.9398 for the
    /// variant that adds two successes and two failures.
    #[test]
    fn fagerland_2017_agresti_coull_add4() {
        let found = proportion(Method::AgrestiCoullAdd4, 13, 16, 0.95).expect("counts");
        assert!((found.low - 0.5602).abs() < 5e-5 && (found.high - 0.9398).abs() < 5e-5);
    }

    /// Newcombe 1998, Table I: Wald for 81/263 and 15/148.
    #[test]
    fn newcombe_1998_table_i_wald() {
        for (k, n, low, high) in [(81, 263, 0.2522, 0.3638), (15, 148, 0.0527, 0.1500)] {
            let found = proportion(Method::Wald, k, n, 0.95).expect("counts");
            assert!((found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5);
        }
    }

    #[test]
    fn impossible_counts_are_errors() {
        for method in Method::ALL {
            assert_eq!(proportion(method, 0, 0, 0.95), Err(EstimateError::NoTrials));
            assert_eq!(proportion(method, 3, 2, 0.95), Err(EstimateError::MoreThanAll { k: 3, n: 2 }));
            assert!(matches!(proportion(method, 1, 2, 1.0), Err(EstimateError::Level { .. })));
        }
        assert!(matches!(wilson(1, 2, f64::NAN), Err(EstimateError::Level { .. })));
    }

    proptest! {
        #[test]
        fn limits_hold_the_rate_and_mirror(n in 1u64..2000, share in 0.0f64..=1.0, level in 0.5f64..0.999) {
            let k = (share * n as f64).round() as u64;
            let p = k as f64 / n as f64;
            for method in Method::ALL {
                let found = proportion(method, k, n, level).expect("counts");
                prop_assert!(found.low.is_finite() && found.high.is_finite());
                if method != Method::AgrestiCoullAdd4 {
                    prop_assert!(found.low <= p + 1e-12 && p <= found.high + 1e-12, "{method:?} {found:?} {p}");
                }
                let mirror = proportion(method, n - k, n, level).expect("counts");
                prop_assert!((mirror.low - (1.0 - found.high)).abs() < 1e-9);
                prop_assert!((mirror.high - (1.0 - found.low)).abs() < 1e-9);
                let bounded = !matches!(method, Method::AgrestiCoull | Method::AgrestiCoullAdd4 | Method::Wald);
                prop_assert!(!bounded || (found.low >= 0.0 && found.high <= 1.0));
            }
        }

        /// The exact interval contains the mid-p interval.
        #[test]
        fn exact_is_wider_than_mid_p(n in 1u64..500, share in 0.0f64..=1.0) {
            let k = (share * n as f64).round() as u64;
            let (exact, mid) = (clopper_pearson(k, n, 0.95).expect("counts"), mid_p(k, n, 0.95).expect("counts"));
            prop_assert!(exact.low <= mid.low + 1e-12 && mid.high <= exact.high + 1e-12);
        }
    }
}
