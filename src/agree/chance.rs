//! Coefficients for two raters that differ in what they call chance: Scott's π, Bennett's S (PABAK, Brennan-Prediger) and
//! Gwet's AC1 and AC2.
//!
//! Conventions. No unit, or a single category in the list: undefined. Scott's π is undefined where a single category is
//! used; S and AC1 are then 1 if the list holds others (chance does not depend on use, or vanishes), with standard
//! error 0 and no interval. S, AC1 and AC2 depend on the number of categories in the list, used or not.

use serde::Serialize;

use super::{Coefficient, Table, Undefined, Weights};

/// What agreement by chance means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chance {
    /// Both raters draw from the pooled margins. Scott 1955, Public Opin. Q. 19:321-325.
    Scott,
    /// Every category is as likely. Bennett, Alpert & Goldstein 1954, Public Opin. Q. 18:303-308; Brennan & Prediger
    /// 1981, Educ. Psychol. Meas. 41:687-699; for two categories PABAK (Byrt et al. 1993).
    Uniform,
    /// A random rating on a unit that is hard to rate. Gwet 2008, Br. J. Math. Stat. Psychol. 61:29-48.
    Gwet,
}

/// The coefficient of a table. Its standard error is that of irrCAC's table functions (finite-population factor 1,
/// divisor n): Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., ch. 5.
#[must_use]
pub fn two_raters(table: &Table, weights: &Weights, chance: Chance) -> Coefficient {
    let (n, q) = (table.n(), table.size());
    if n == 0 {
        return Coefficient::undefined(n, Undefined::NoUnits);
    }
    let total = n as f64;
    let uses: Vec<u64> = table.row_totals().iter().zip(table.column_totals()).map(|(r, c)| r + c).collect();
    let used = uses.iter().filter(|count| **count > 0).count();
    let pi: Vec<f64> = uses.iter().map(|count| *count as f64 / (2.0 * total)).collect();
    let cells = || (0..q).flat_map(|i| (0..q).map(move |j| (i, j)));
    let mut pa: f64 = cells().map(|(i, j)| weights.get(i, j) * table.get(i, j) as f64 / total).sum();
    if cells().all(|(i, j)| table.get(i, j) == 0 || weights.get(i, j) >= 1.0) {
        pa = 1.0;
    }
    let mut result = Coefficient { pa: Some(pa), ..Coefficient::undefined(n, Undefined::OneCategory) };
    if q < 2 || (chance == Chance::Scott && used < 2) {
        result.pe = (q > 0).then_some(1.0);
        return result;
    }
    let free = weights.sum() / (q * (q - 1)) as f64;
    // The share of chance agreement that each category adds: pe is its mean over all ratings.
    let of_category: Vec<f64> = match chance {
        Chance::Scott => (0..q).map(|i| pi.iter().enumerate().map(|(j, p)| weights.mirrored(i, j) * p).sum()).collect(),
        Chance::Uniform => vec![weights.sum() / (q * q) as f64; q],
        Chance::Gwet => pi.iter().map(|p| free * (1.0 - p)).collect(),
    };
    let pe: f64 = pi.iter().zip(&of_category).map(|(p, e)| p * e).sum();
    result.pe = Some(pe);
    if 1.0 - pe <= 1e-14 {
        result.reason = Some(Undefined::NoDisagreementPossible);
        return result;
    }
    let coef = if pa >= 1.0 { 1.0 } else { (pa - pe) / (1.0 - pe) };
    result.coef = Some(coef);
    let deviation = |i: usize, j: usize| {
        let both = |at: usize| of_category.get(at).copied().unwrap_or(0.0);
        weights.get(i, j) - (1.0 - coef) * (both(i) + both(j))
    };
    let centre = pa - 2.0 * (1.0 - coef) * pe;
    let spread: f64 = cells().map(|(i, j)| table.get(i, j) as f64 / total * (deviation(i, j) - centre).powi(2)).sum();
    let se = if pa >= 1.0 { 0.0 } else { spread.sqrt() / (total.sqrt() * (1.0 - pe)) };
    result.se = Some(se);
    result.reason = (se == 0.0).then_some(Undefined::Degenerate);
    result
}

/// Scott's π.
#[must_use]
pub fn scott(table: &Table) -> Coefficient {
    two_raters(table, &Weights::identity(table.size()), Chance::Scott)
}

/// Bennett's S; for two categories this is PABAK.
#[must_use]
pub fn bennett(table: &Table) -> Coefficient {
    two_raters(table, &Weights::identity(table.size()), Chance::Uniform)
}

/// Gwet's AC1; AC2 with weights other than identity is [`two_raters`] with [`Chance::Gwet`].
#[must_use]
pub fn gwet(table: &Table) -> Coefficient {
    two_raters(table, &Weights::identity(table.size()), Chance::Gwet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_and_degenerate_are_said() {
        let table = |rows: &[Vec<u64>]| Table::numbered(rows).expect("square");
        for coefficient in [scott, bennett, gwet] {
            assert_eq!(coefficient(&table(&[vec![10]])).reason, Some(Undefined::OneCategory));
            assert_eq!(coefficient(&table(&[])).reason, Some(Undefined::NoUnits));
            let perfect = coefficient(&table(&[vec![5, 0], vec![0, 5]]));
            assert_eq!((perfect.coef, perfect.se, perfect.reason), (Some(1.0), Some(0.0), Some(Undefined::Degenerate)));
            assert_eq!(perfect.interval(0.95), Err(Undefined::Degenerate));
        }
        let one_of_two = table(&[vec![10, 0], vec![0, 0]]);
        assert_eq!(scott(&one_of_two).coef, None);
        assert_eq!((bennett(&one_of_two).coef, gwet(&one_of_two).coef), (Some(1.0), Some(1.0)));
        assert_eq!(gwet(&one_of_two).reason, Some(Undefined::Degenerate));
    }
}
