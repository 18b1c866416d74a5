//! Quantiles and tail probabilities of the distributions that intervals and tests need.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// The standard normal quantile that a two-sided interval of a confidence level uses: 1.96 for 0.95; `None` for a level
/// outside (0, 1).
#[must_use]
pub fn z_of_level(level: f64) -> Option<f64> {
    (level > 0.0 && level < 1.0).then(|| Normal::standard().inverse_cdf(0.5 + level / 2.0))
}

/// The same of Student's t; `None` for a level outside (0, 1) or without degrees of freedom.
#[must_use]
pub fn t_of_level(level: f64, df: u64) -> Option<f64> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    StudentsT::new(0.0, 1.0, df as f64).ok().map(|law| law.inverse_cdf(0.5 + level / 2.0))
}

/// The probability that a standard normal variable is below `x`.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    let tail = two_sided_p(x) / 2.0;
    if x > 0.0 { 1.0 - tail } else { tail }
}

/// The standard normal quantile of a share; `None` outside (0, 1).
#[must_use]
pub fn normal_quantile(share: f64) -> Option<f64> {
    (share > 0.0 && share < 1.0).then(|| Normal::standard().inverse_cdf(share))
}

/// The two-sided p-value of a standard normal statistic.
#[must_use]
pub fn two_sided_p(z: f64) -> f64 {
    // The incomplete gamma function of statrs is good to 1e-14, its error function only to 1e-11.
    chi_square_p(z * z, 1)
}

/// The probability that a chi-square variable of `df` degrees of freedom exceeds `x`; 1 for no degrees of freedom.
#[must_use]
pub fn chi_square_p(x: f64, df: u32) -> f64 {
    ChiSquared::new(f64::from(df)).map_or(1.0, |law| law.sf(x.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed tables (Abramowitz & Stegun 26.5, 26.8, 26.10; R 4.2.2 for more digits).
    #[test]
    fn quantiles_and_tails_match_printed_tables() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(z_of_level(0.95).expect("level"), 1.959_963_984_540_054);
        close(z_of_level(0.99).expect("level"), 2.575_829_303_548_901);
        close(z_of_level(0.9).expect("level"), 1.644_853_626_951_472_7);
        close(two_sided_p(1.959_963_984_540_054), 0.05);
        close(normal_cdf(-1.959_963_984_540_054), 0.025);
        close(normal_cdf(1.959_963_984_540_054), 0.975);
        close(normal_quantile(0.975).expect("share"), 1.959_963_984_540_054);
        // The square of a standard normal is chi-square with one degree of freedom; with two it is exponential.
        close(chi_square_p(1.959_963_984_540_054f64.powi(2), 1), 0.05);
        close(chi_square_p(6.0, 2), (-3.0f64).exp());
        close(chi_square_p(0.0, 3), 1.0);
        // With one degree of freedom t is Cauchy's law; 14 degrees: 2.144786687917804 (R).
        assert!((t_of_level(0.95, 1).expect("df") - (0.475 * std::f64::consts::PI).tan()).abs() < 1e-9);
        assert!((t_of_level(0.95, 14).expect("df") - 2.144_786_687_917_804).abs() < 1e-9);
        assert_eq!(
            (z_of_level(1.0), z_of_level(f64::NAN), t_of_level(0.95, 0), normal_quantile(0.0)),
            (None, None, None, None)
        );
    }
}
