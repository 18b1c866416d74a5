//! Fleiss' kappa in its classical form, Light's kappa, and the panel of all coefficients for many raters.

use serde::Serialize;

use super::panel::{Counts, Panel};
use super::{Coefficient, TableError, Undefined, Weights, many, tails, weighted};

/// Fleiss' kappa where every unit has the same number of ratings, with the test of zero.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleissKappa {
    /// Units.
    pub n: u64,
    /// Ratings on each unit.
    pub ratings: u64,
    /// Observed agreement.
    pub pa: f64,
    /// Chance agreement.
    pub pe: f64,
    /// The coefficient.
    pub kappa: f64,
    /// Its standard error where the ratings are independent. Fleiss, Nee & Landis 1979, Psychol. Bull. 86:974-977. (For an
    /// interval use the standard error of [`many::fleiss`]: this one holds only if kappa is 0.)
    pub se_h0: f64,
    /// kappa / se_h0.
    pub z: f64,
    /// Two-sided p-value of the test of zero.
    pub p: f64,
    /// Each category against all others; `None` where nobody or everybody always used it.
    pub categories: Vec<(String, Option<f64>)>,
}

/// Fleiss 1971, Psychol. Bull. 76:378-382.
///
/// # Errors
/// No units, fewer than two ratings a unit, different numbers of ratings, or a single category used.
pub fn fleiss(counts: &Counts) -> Result<FleissKappa, Undefined> {
    let q = counts.categories().len();
    let ratings_of = |unit: &[u32]| unit.iter().map(|count| u64::from(*count)).sum::<u64>();
    let ratings = counts.units().next().map(ratings_of).ok_or(Undefined::NoUnits)?;
    if counts.units().any(|unit| ratings_of(unit) != ratings) {
        return Err(Undefined::UnequalRatings);
    }
    if ratings < 2 {
        return Err(Undefined::TooFewRaters);
    }
    let mut uses = vec![0u64; q];
    // Products of counts need more bits than the counts.
    let mut split = vec![0u128; q];
    let (mut n, mut agreeing) = (0u64, 0u128);
    for unit in counts.units() {
        n += 1;
        for ((uses, split), count) in uses.iter_mut().zip(&mut split).zip(unit) {
            let count = u64::from(*count);
            *uses += count;
            *split += u128::from(count) * u128::from(ratings - count);
            agreeing += u128::from(count) * u128::from(count.saturating_sub(1));
        }
    }
    if uses.iter().filter(|count| **count > 0).count() < 2 {
        return Err(Undefined::OneCategory);
    }
    let (units, m) = (n as f64, ratings as f64);
    let pa = agreeing as f64 / (units * m * (m - 1.0));
    let shares: Vec<f64> = uses.iter().map(|count| *count as f64 / (units * m)).collect();
    let pe: f64 = shares.iter().map(|p| p * p).sum();
    let kappa = (pa - pe) / (1.0 - pe);
    let products: f64 = shares.iter().map(|p| p * (1.0 - p)).sum();
    let skew: f64 = shares.iter().map(|p| p * (1.0 - p) * (1.0 - 2.0 * p)).sum();
    let variance = 2.0 * (products * products - skew) / (products * products * units * m * (m - 1.0));
    let se_h0 = variance.max(0.0).sqrt();
    let z = kappa / se_h0;
    let categories = counts
        .categories()
        .iter()
        .zip(shares.iter().zip(&split))
        .map(|(category, (p, split))| {
            let free = units * m * (m - 1.0) * p * (1.0 - p);
            (category.clone(), (free > 0.0).then(|| 1.0 - *split as f64 / free))
        })
        .collect();
    Ok(FleissKappa { n, ratings, pa, pe, kappa, se_h0, z, p: tails::two_sided_p(z), categories })
}

/// The kappa of one pair of a panel's raters (counted from 0).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairKappa {
    /// First rater.
    pub first: usize,
    /// Second rater.
    pub second: usize,
    /// Their (weighted) kappa.
    pub kappa: super::kappa::Kappa,
}

/// Cohen's kappa of every pair of raters.
///
/// # Errors
/// More units than a table holds.
pub fn pairwise(panel: &Panel, weights: &Weights) -> Result<Vec<PairKappa>, TableError> {
    let pairs = (0..panel.raters()).flat_map(|first| (first + 1..panel.raters()).map(move |second| (first, second)));
    pairs
        .map(|(first, second)| {
            let kappa = weighted::kappa(&panel.table(first, second)?, weights);
            Ok(PairKappa { first, second, kappa })
        })
        .collect()
}

/// Light's kappa: the mean of Cohen's kappas of all pairs. Light 1971, Psychol. Bull. 76:365-377.
///
/// Each pair uses the units that both rated. The standard error linearises the mean over units, so that it knows that
/// the pairs share them. Undefined as soon as one pair is: a mean over the others would hide it. There is no common
/// chance term (`pe` is `None`); `pa` is the mean agreement of the pairs.
///
/// # Errors
/// More units than a table holds.
pub fn light(panel: &Panel, weights: &Weights) -> Result<Coefficient, TableError> {
    let units: Vec<&[u32]> = panel.units().filter(|unit| unit.iter().any(|code| *code != Panel::MISSING)).collect();
    let n = units.len();
    let pairs = pairwise(panel, weights)?;
    if pairs.is_empty() || n == 0 {
        let reason = if n == 0 { Undefined::NoUnits } else { Undefined::TooFewRaters };
        return Ok(Coefficient::undefined(n as u64, reason));
    }
    let mut influence = vec![0.0; n];
    let (mut sum, mut agreement) = (0.0, 0.0);
    for pair in &pairs {
        let (Some(kappa), Some(po), Some(pe)) = (pair.kappa.kappa, pair.kappa.po, pair.kappa.pe) else {
            return Ok(Coefficient::undefined(n as u64, pair.kappa.reason.unwrap_or(Undefined::OneCategory)));
        };
        sum += kappa;
        agreement += po;
        let table = panel.table(pair.first, pair.second)?;
        let total = table.n() as f64;
        let share = |totals: Vec<u64>| totals.iter().map(|count| *count as f64 / total).collect::<Vec<_>>();
        let (rows, columns) = (share(table.row_totals()), share(table.column_totals()));
        let of_row: Vec<f64> =
            (0..rows.len()).map(|i| columns.iter().zip(weights.row(i)).map(|(c, w)| c * w).sum()).collect();
        let of_column: Vec<f64> =
            (0..columns.len()).map(|j| rows.iter().enumerate().map(|(i, r)| r * weights.get(i, j)).sum()).collect();
        for (unit, influence) in units.iter().zip(&mut influence) {
            let code = |rater: usize| unit.get(rater).copied().unwrap_or(Panel::MISSING) as usize;
            if let (Some(row), Some(column)) = (of_row.get(code(pair.first)), of_column.get(code(pair.second))) {
                let weight = weights.get(code(pair.first), code(pair.second));
                *influence += (weight - po - (1.0 - kappa) * (row + column - 2.0 * pe)) / (1.0 - pe) * n as f64 / total;
            }
        }
    }
    let count = pairs.len() as f64;
    let mut result = Coefficient {
        coef: Some(sum / count),
        pa: Some(agreement / count),
        ..Coefficient::undefined(n as u64, Undefined::TooFewUnits)
    };
    if n > 1 {
        let size = n as f64;
        let squares: f64 = influence.iter().map(|value| (value / count).powi(2)).sum();
        let se = if squares <= size * 1e-26 { 0.0 } else { (squares / (size * (size - 1.0))).sqrt() };
        result.se = Some(se);
        result.reason = (se == 0.0).then_some(Undefined::Degenerate);
    }
    Ok(result)
}

/// All coefficients for many raters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ManyRaters {
    /// Mean agreement of pairs of ratings.
    pub percent: Coefficient,
    /// Fleiss' kappa.
    pub fleiss: Coefficient,
    /// Conger's kappa.
    pub conger: Coefficient,
    /// Light's kappa.
    pub light: Coefficient,
    /// Randolph's free-marginal kappa (never weighted).
    pub randolph: Coefficient,
    /// Gwet's AC1, or AC2 with weights.
    pub gwet: Coefficient,
    /// Krippendorff's alpha with the same weights.
    pub krippendorff: Coefficient,
    /// Brennan and Prediger's coefficient.
    pub brennan_prediger: Coefficient,
}

/// Every coefficient of a panel.
///
/// # Errors
/// More units than a table holds.
pub fn many_raters(panel: &Panel, weights: &Weights) -> Result<ManyRaters, TableError> {
    let counts = panel.counts();
    Ok(ManyRaters {
        percent: many::percent(&counts, weights),
        fleiss: many::fleiss(&counts, weights),
        conger: many::conger(panel, weights),
        light: light(panel, weights)?,
        randolph: many::brennan_prediger(&counts, &Weights::identity(weights.size())),
        gwet: many::gwet(&counts, weights),
        krippendorff: many::krippendorff(&counts, weights),
        brennan_prediger: many::brennan_prediger(&counts, weights),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[Vec<u32>]) -> Counts {
        let width = rows.first().map_or(0, Vec::len);
        Counts::new((1..=width).map(|i| i.to_string()).collect(), rows).expect("rectangular")
    }

    #[test]
    fn fleiss_says_why_it_has_no_value() {
        assert_eq!(fleiss(&counts(&[])), Err(Undefined::NoUnits));
        assert_eq!(fleiss(&counts(&[vec![1, 0], vec![0, 1]])), Err(Undefined::TooFewRaters));
        assert_eq!(fleiss(&counts(&[vec![2, 0], vec![1, 0]])), Err(Undefined::UnequalRatings));
        // statsmodels issue 4387: seven equal votes twice give nan there.
        assert_eq!(fleiss(&counts(&[vec![7, 0], vec![7, 0]])), Err(Undefined::OneCategory));
    }

    /// Fleiss 1971, table 1 (30 patients, 6 psychiatrists, 5 diagnoses): kappa .430; by category depression .245,
    /// personality disorder .245, schizophrenia .520, neurosis .471, other .566. R irr 0.84.1 prints z = 17.7.
    #[test]
    fn fleiss_1971_diagnoses() {
        let rows = [
            [0, 0, 0, 6, 0],
            [0, 3, 0, 0, 3],
            [0, 1, 4, 0, 1],
            [0, 0, 0, 0, 6],
            [0, 3, 0, 3, 0],
            [2, 0, 4, 0, 0],
            [0, 0, 4, 0, 2],
            [2, 0, 3, 1, 0],
            [2, 0, 0, 4, 0],
            [0, 0, 0, 0, 6],
            [1, 0, 0, 5, 0],
            [1, 1, 0, 4, 0],
            [0, 3, 3, 0, 0],
            [1, 0, 0, 5, 0],
            [0, 2, 0, 3, 1],
            [0, 0, 5, 0, 1],
            [3, 0, 0, 1, 2],
            [5, 1, 0, 0, 0],
            [0, 2, 0, 4, 0],
            [1, 0, 2, 0, 3],
            [0, 0, 0, 0, 6],
            [0, 1, 0, 5, 0],
            [0, 2, 0, 1, 3],
            [2, 0, 0, 4, 0],
            [1, 0, 0, 4, 1],
            [0, 5, 0, 1, 0],
            [4, 0, 0, 0, 2],
            [0, 2, 0, 4, 0],
            [1, 0, 5, 0, 0],
            [0, 0, 0, 0, 6],
        ];
        let found = fleiss(&counts(&rows.map(|row| row.to_vec()))).expect("defined");
        assert!((found.kappa - 0.430).abs() < 5e-4, "{found:?}");
        assert!((found.z - 17.7).abs() < 0.05, "{found:?}");
        for ((_, kappa), published) in found.categories.iter().zip([0.245, 0.245, 0.520, 0.471, 0.566]) {
            assert!((kappa.expect("used") - published).abs() < 5e-4, "{found:?}");
        }
    }
}
