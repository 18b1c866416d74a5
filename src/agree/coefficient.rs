//! A chance-corrected coefficient with its parts.

use serde::Serialize;

use super::{Undefined, tails};

/// (pa − pe) / (1 − pe) with its standard error, or the reason why not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Coefficient {
    /// The coefficient.
    pub coef: Option<f64>,
    /// Its standard error over a sample of units (the raters are taken as given).
    pub se: Option<f64>,
    /// Observed (weighted) agreement.
    pub pa: Option<f64>,
    /// Agreement expected by chance.
    pub pe: Option<f64>,
    /// Units that count.
    pub n: u64,
    /// Why the coefficient, its standard error or its interval is missing.
    pub reason: Option<Undefined>,
}

impl Coefficient {
    /// One that has no value.
    #[must_use]
    pub(crate) fn undefined(n: u64, reason: Undefined) -> Self {
        Self { coef: None, se: None, pa: None, pe: None, n, reason: Some(reason) }
    }

    /// The interval with Student's t of n − 1 degrees of freedom, as irrCAC has it; the upper limit is at most 1.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn interval(&self, level: f64) -> Result<[f64; 2], Undefined> {
        if let Some(reason) = self.reason {
            return Err(reason);
        }
        match (self.coef, self.se, tails::t_of_level(level, self.n.saturating_sub(1))) {
            (Some(coef), Some(se), Some(t)) => Ok([coef - t * se, (coef + t * se).min(1.0)]),
            _ => Err(Undefined::TooFewUnits),
        }
    }
}
