//! Quantiles and tail probabilities of the distributions that intervals and tests need.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use statrs::function::beta::checked_beta_reg;

use super::EstimateError;

/// The standard normal quantile that a two-sided interval of a confidence level uses: 1.96 for 0.95.
///
/// # Errors
/// A level outside (0, 1).
pub fn z_of_level(level: f64) -> Result<f64, EstimateError> {
    if !(level > 0.0 && level < 1.0) {
        return Err(EstimateError::Level { value: level });
    }
    Ok(Normal::standard().inverse_cdf(0.5 + level / 2.0))
}

/// The confidence level of a two-sided interval of ± z standard errors: 0.95 for 1.96.
#[must_use]
pub fn level_of_z(z: f64) -> f64 {
    1.0 - two_sided_p(z)
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

/// The regularised incomplete beta function; the ends of 0 to 1 outside.
pub(crate) fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    checked_beta_reg(a, b, x.clamp(0.0, 1.0)).unwrap_or(if x <= 0.0 { 0.0 } else { 1.0 })
}

/// The quantile of a beta distribution with positive parameters, by bisection.
pub(crate) fn beta_quantile(a: f64, b: f64, share: f64) -> f64 {
    super::falling_root(0.0, 1.0, |x| share - beta_cdf(a, b, x))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed tables (Abramowitz & Stegun 26.5, 26.8; R 4.2.2 for more digits).
    #[test]
    fn quantiles_and_tails_match_printed_tables() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(z_of_level(0.95).expect("level"), 1.959_963_984_540_054);
        close(z_of_level(0.99).expect("level"), 2.575_829_303_548_901);
        close(z_of_level(0.9).expect("level"), 1.644_853_626_951_472_7);
        close(two_sided_p(1.959_963_984_540_054), 0.05);
        close(level_of_z(1.959_963_984_540_054), 0.95);
        // The square of a standard normal is chi-square with one degree of freedom; with two it is exponential.
        close(chi_square_p(1.959_963_984_540_054f64.powi(2), 1), 0.05);
        close(chi_square_p(6.0, 2), (-3.0f64).exp());
        close(chi_square_p(0.0, 3), 1.0);
        // Beta(1, b) and Beta(a, 1) have closed forms; Beta(2, 3) at 0.4 is 0.5248.
        close(beta_quantile(1.0, 10.0, 0.975), 1.0 - 0.025f64.powf(0.1));
        close(beta_quantile(7.0, 1.0, 0.025), 0.025f64.powf(1.0 / 7.0));
        close(beta_cdf(2.0, 3.0, 0.4), 0.5248);
        assert!(z_of_level(1.0).is_err() && z_of_level(0.0).is_err() && z_of_level(f64::NAN).is_err());
    }
}
