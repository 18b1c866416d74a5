//! Weighted kappa for two raters and ordered categories.
//!
//! Conventions as in [`super::kappa`]; where the weights leave no pair of used categories that disagrees, kappa is 0/0
//! and undefined.

use super::kappa::{Kappa, without_rounding};
use super::{Table, Undefined, Weights};

/// Cohen's weighted kappa of a table; `agree` still counts the units on which both raters gave the same category.
///
/// Cohen 1968, Psychol. Bull. 70:213-220. Standard errors: Fleiss, Cohen & Everitt 1969, Psychol. Bull. 72:323-327,
/// formulas 8 (`se`) and 9 (`se_h0`). Weights need not be symmetric: rows belong to the first rater.
#[must_use]
pub fn kappa(table: &Table, weights: &Weights) -> Kappa {
    let (n, agree) = (table.n(), table.agreeing());
    let mut result =
        Kappa { n, agree, po: None, pe: None, kappa: None, se: None, se_h0: None, reason: Some(Undefined::NoUnits) };
    if n == 0 {
        return result;
    }
    let total = n as f64;
    let (rows, columns) = (table.row_totals(), table.column_totals());
    let shares = |totals: &[u64]| totals.iter().map(|count| *count as f64 / total).collect::<Vec<_>>();
    let (row, column) = (shares(&rows), shares(&columns));

    // The mean weight that a category of one rater meets in the other.
    let of_row: Vec<f64> = (0..row.len()).map(|i| dot(weights.row(i), &column)).collect();
    let of_column: Vec<f64> =
        (0..column.len()).map(|j| row.iter().enumerate().map(|(i, r)| r * weights.get(i, j)).sum()).collect();
    let pe = dot(&row, &of_row);
    let mut po = 0.0;
    let (mut all_agree, mut can_disagree) = (true, false);
    for (i, r) in rows.iter().enumerate() {
        for (j, c) in columns.iter().enumerate() {
            let (weight, count) = (weights.get(i, j), table.get(i, j));
            po += weight * count as f64 / total;
            all_agree &= count == 0 || weight >= 1.0;
            can_disagree |= *r > 0 && *c > 0 && weight < 1.0;
        }
    }
    if all_agree {
        po = 1.0;
    }
    result.po = Some(po);
    result.pe = Some(if can_disagree { pe } else { 1.0 });
    if !can_disagree {
        let single = rows.iter().zip(&columns).any(|(r, c)| *r == n && *c == n);
        result.reason = Some(if single { Undefined::OneCategory } else { Undefined::NoDisagreementPossible });
        return result;
    }
    let constant = [&rows, &columns].iter().any(|totals| totals.contains(&n));
    result.kappa = Some(if all_agree {
        1.0
    } else if constant {
        0.0
    } else {
        (po - pe) / (1.0 - pe)
    });
    if constant {
        result.reason = Some(Undefined::ConstantRater);
        return result;
    }
    let (mut spread, mut spread_h0) = (0.0, 0.0);
    for (i, (r, from_row)) in row.iter().zip(&of_row).enumerate() {
        for (j, (c, from_column)) in column.iter().zip(&of_column).enumerate() {
            let weight = weights.get(i, j);
            let share = table.get(i, j) as f64 / total;
            spread += share * (weight * (1.0 - pe) - (from_row + from_column) * (1.0 - po)).powi(2);
            spread_h0 += r * c * (weight - from_row - from_column).powi(2);
        }
    }
    result.se_h0 = Some(without_rounding(spread_h0, pe * pe).sqrt() / (total.sqrt() * (1.0 - pe)));
    let centre = (po * pe - 2.0 * pe + po).powi(2);
    let rest = if all_agree { 0.0 } else { without_rounding(spread, centre) };
    let se = rest.sqrt() / (total.sqrt() * (1.0 - pe).powi(2));
    result.se = Some(se);
    result.reason = (se == 0.0).then_some(Undefined::Degenerate);
    result
}

/// Weighted kappa of bare counts, for bootstrap replicates; `None` where it is 0/0.
pub(crate) fn of_counts(counts: &[u64], weights: &Weights, margins: &mut [u64]) -> Option<f64> {
    let k = weights.size();
    margins.fill(0);
    let (rows, columns) = margins.split_at_mut_checked(k)?;
    let mut disagreement = 0.0;
    for (i, (line, row)) in counts.chunks_exact(k.max(1)).zip(rows.iter_mut()).enumerate() {
        for ((count, column), weight) in line.iter().zip(columns.iter_mut()).zip(weights.row(i)) {
            *row += count;
            *column += count;
            disagreement += *count as f64 * (1.0 - weight);
        }
    }
    let n = rows.iter().sum::<u64>() as f64;
    let mut chance = 0.0;
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| **row > 0) {
        for (column, weight) in columns.iter().zip(weights.row(i)) {
            chance += *row as f64 * *column as f64 * (1.0 - weight);
        }
    }
    (chance > 0.0).then(|| 1.0 - n * disagreement / chance)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[u64]]) -> Table {
        Table::numbered(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).expect("square")
    }

    #[test]
    fn undefined_as_without_weights() {
        let linear = Weights::linear(3);
        assert_eq!(kappa(&table(&[&[0; 3], &[0; 3], &[0; 3]]), &linear).reason, Some(Undefined::NoUnits));
        let one = kappa(&table(&[&[0; 3], &[0, 4, 0], &[0; 3]]), &linear);
        assert_eq!((one.kappa, one.pe, one.reason), (None, Some(1.0), Some(Undefined::OneCategory)));
        let constant = kappa(&table(&[&[3, 1, 2], &[0; 3], &[0; 3]]), &linear);
        assert_eq!((constant.kappa, constant.se, constant.reason), (Some(0.0), None, Some(Undefined::ConstantRater)));
        let perfect = kappa(&table(&[&[3, 0, 0], &[0, 5, 0], &[0, 0, 2]]), &linear);
        assert_eq!((perfect.kappa, perfect.se, perfect.reason), (Some(1.0), Some(0.0), Some(Undefined::Degenerate)));
        let lenient = Weights::from_agreement(&vec![vec![1.0; 2]; 2]).expect("weights");
        assert_eq!(kappa(&table(&[&[1, 1], &[1, 1]]), &lenient).reason, Some(Undefined::NoDisagreementPossible));
    }

    /// With quadratic weights and integer scores weighted kappa is the intraclass-like 1 − Σ(a−b)²·n / ΣΣ(a−b)²
    /// over all pairs of a value of the first with a value of the second (Fleiss & Cohen 1973).
    #[test]
    fn quadratic_weights_are_mean_squared_distance() {
        let found = table(&[&[5, 2, 0], &[1, 7, 3], &[0, 1, 4]]);
        let scores = |rater: usize| -> Vec<f64> {
            let cells = (0..3).flat_map(|i| (0..3).map(move |j| (i, j)));
            cells.flat_map(|(i, j)| vec![[i, j][rater] as f64; found.get(i, j) as usize]).collect()
        };
        let (a, b) = (scores(0), scores(1));
        let own: f64 = a.iter().zip(&b).map(|(x, y)| (x - y).powi(2)).sum();
        let all: f64 = a.iter().flat_map(|x| b.iter().map(move |y| (x - y).powi(2))).sum();
        let expected = 1.0 - own * a.len() as f64 / all;
        let weights = Weights::quadratic(3);
        assert!((kappa(&found, &weights).kappa.expect("defined") - expected).abs() < 1e-14);
        assert!((of_counts(found.counts(), &weights, &mut [0; 6]).expect("defined") - expected).abs() < 1e-14);
    }
}
