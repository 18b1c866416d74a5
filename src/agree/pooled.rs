//! Kappas of strata put together, and the test that they are one kappa.

use serde::Serialize;

use super::kappa::Kappa;
use super::margins::ChiSquare;
use super::{Undefined, tails::chi_square_p};

/// The inverse-variance mean of the strata's kappas.
///
/// It describes an average stratum, not a population: strata chosen by outcome have no common population.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PooledKappa {
    /// The mean, weighted by 1/SE².
    pub kappa: f64,
    /// Its standard error.
    pub se: f64,
    /// κ ± z·SE.
    pub ci95: [f64; 2],
    /// The strata in it.
    pub strata: Vec<String>,
    /// The others, with the reason why they have no weight.
    pub left_out: Vec<(String, Undefined)>,
    /// The test of equal kappas; `None` with a single stratum.
    pub homogeneity: Option<ChiSquare>,
}

/// Pools kappas. Fleiss 1981, Statistical Methods for Rates and Proportions, ch. 13; SAS PROC FREQ, "overall kappa".
///
/// # Errors
/// No stratum with a standard error above zero.
pub fn pooled(strata: &[(String, Kappa)], z: f64) -> Result<PooledKappa, Undefined> {
    let (mut used, mut left_out) = (Vec::new(), Vec::new());
    for (name, kappa) in strata {
        match (kappa.reason, kappa.kappa, kappa.se) {
            (None, Some(value), Some(se)) if se > 0.0 => used.push((name, value, se.powi(-2))),
            (reason, ..) => left_out.push((name.clone(), reason.unwrap_or(Undefined::Degenerate))),
        }
    }
    let total: f64 = used.iter().map(|(_, _, weight)| weight).sum();
    if used.is_empty() {
        return Err(Undefined::NoStratum);
    }
    let kappa = used.iter().map(|(_, value, weight)| value * weight).sum::<f64>() / total;
    let se = total.sqrt().recip();
    let chi2 = used.iter().map(|(_, value, weight)| weight * (value - kappa).powi(2)).sum();
    let df = used.len() as u32 - 1;
    Ok(PooledKappa {
        kappa,
        se,
        ci95: [kappa - z * se, kappa + z * se],
        strata: used.into_iter().map(|(name, ..)| name.clone()).collect(),
        left_out,
        homogeneity: (df > 0).then(|| ChiSquare { chi2, df, p: chi_square_p(chi2, df) }),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Table, kappa::cohen};
    use super::*;

    #[test]
    fn strata_without_weight_are_named() {
        let kappa = |rows: &[Vec<u64>]| cohen(&Table::numbered(rows).expect("square"));
        let strata = [
            ("A".to_owned(), kappa(&[vec![20, 5], vec![10, 15]])),
            ("B".to_owned(), kappa(&[vec![9, 0], vec![0, 9]])),
            ("C".to_owned(), kappa(&[vec![9]])),
        ];
        let found = pooled(&strata, 1.96).expect("one stratum");
        assert_eq!(found.strata, ["A"]);
        assert_eq!(found.left_out, [("B".to_owned(), Undefined::Degenerate), ("C".to_owned(), Undefined::OneCategory)]);
        assert!((found.kappa - 0.4).abs() < 1e-12 && found.homogeneity.is_none());
        assert_eq!(pooled(&strata[1..], 1.96), Err(Undefined::NoStratum));
    }
}
