//! Confidence levels, normal quantiles and beta quantiles.

use statrs::function::beta::checked_beta_reg;

use super::EstimateError;
use crate::agree::tails;

pub use crate::agree::tails::{chi_square_p, two_sided_p};

/// The standard normal quantile that a two-sided interval of a confidence level uses: 1.96 for 0.95.
///
/// # Errors
/// A level outside (0, 1).
pub fn z_of_level(level: f64) -> Result<f64, EstimateError> {
    tails::z_of_level(level).ok_or(EstimateError::Level { value: level })
}

/// The confidence level of a two-sided interval of ± z standard errors: 0.95 for 1.96.
#[must_use]
pub fn level_of_z(z: f64) -> f64 {
    1.0 - two_sided_p(z)
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

    /// Beta(1, b) and Beta(a, 1) have closed forms; Beta(2, 3) at 0.4 is 0.5248.
    #[test]
    fn beta_matches_closed_forms() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(beta_quantile(1.0, 10.0, 0.975), 1.0 - 0.025f64.powf(0.1));
        close(beta_quantile(7.0, 1.0, 0.025), 0.025f64.powf(1.0 / 7.0));
        close(beta_cdf(2.0, 3.0, 0.4), 0.5248);
        close(level_of_z(1.959_963_984_540_054), 0.95);
        assert!(z_of_level(1.0).is_err() && z_of_level(0.0).is_err() && z_of_level(f64::NAN).is_err());
    }
}
