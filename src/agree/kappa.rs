//! Cohen's kappa for two raters and nominal categories, with both large-sample standard errors.
//!
//! Conventions. No unit: everything is `None` ([`Undefined::NoUnits`]). One category in use: kappa is 0/0, `None`
//! ([`Undefined::OneCategory`]). One rater constant: kappa is 0 and its standard errors are `None`
//! ([`Undefined::ConstantRater`]). Perfect agreement on two or more categories: kappa 1 with standard error 0 and no
//! interval ([`Undefined::Degenerate`]).

use serde::Serialize;

use super::{Table, Undefined};

/// Cohen's kappa with what it was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Kappa {
    /// Units rated by both raters.
    pub n: u64,
    /// Units on which they agree.
    pub agree: u64,
    /// Observed agreement, a share.
    pub po: Option<f64>,
    /// Agreement expected by chance from the margins, a share.
    pub pe: Option<f64>,
    /// (po − pe) / (1 − pe).
    pub kappa: Option<f64>,
    /// Large-sample standard error, for intervals.
    pub se: Option<f64>,
    /// Large-sample standard error under independence, for the test of kappa = 0.
    pub se_h0: Option<f64>,
    /// Why a value is missing, or why `se` gives no interval.
    pub reason: Option<Undefined>,
}

impl Kappa {
    /// κ ± z·SE, not clamped: the formula is symmetric and says so by leaving −1 to 1.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn interval(&self, z: f64) -> Result<[f64; 2], Undefined> {
        match (self.reason, self.kappa, self.se) {
            (None, Some(kappa), Some(se)) => Ok([kappa - z * se, kappa + z * se]),
            (reason, ..) => Err(reason.unwrap_or(Undefined::NoUnits)),
        }
    }

    /// The test of κ = 0: κ divided by its standard error under independence.
    #[must_use]
    pub fn z_h0(&self) -> Option<f64> {
        Some(self.kappa? / self.se_h0.filter(|se| *se > 0.0)?)
    }
}

/// Cohen's kappa of a table.
///
/// Cohen 1960, Educ. Psychol. Meas. 20:37-46. Standard errors: Fleiss, Cohen & Everitt 1969, Psychol. Bull.
/// 72:323-327, formulas 13 (`se`) and 14 (`se_h0`).
#[must_use]
pub fn cohen(table: &Table) -> Kappa {
    let (n, agree) = (table.n(), table.agreeing());
    let mut result =
        Kappa { n, agree, po: None, pe: None, kappa: None, se: None, se_h0: None, reason: Some(Undefined::NoUnits) };
    if n == 0 {
        return result;
    }
    let (rows, columns) = (table.row_totals(), table.column_totals());
    // Whole numbers decide the special cases, so rounding cannot.
    let chance: u128 = rows.iter().zip(&columns).map(|(r, c)| u128::from(*r) * u128::from(*c)).sum();
    let square = u128::from(n) * u128::from(n);
    let total = n as f64;
    let (po, pe) = (agree as f64 / total, chance as f64 / square as f64);
    result.po = Some(po);
    result.pe = Some(pe);
    if chance == square {
        result.reason = Some(Undefined::OneCategory);
        return result;
    }
    let kappa = if agree == n { 1.0 } else { (po - pe) / (1.0 - pe) };
    result.kappa = Some(kappa);
    if [&rows, &columns].iter().any(|totals| totals.contains(&n)) {
        result.reason = Some(Undefined::ConstantRater);
        return result;
    }
    let row: Vec<f64> = rows.iter().map(|count| *count as f64 / total).collect();
    let column: Vec<f64> = columns.iter().map(|count| *count as f64 / total).collect();

    let moment: f64 = row.iter().zip(&column).map(|(r, c)| r * c * (r + c)).sum();
    result.se_h0 = Some(without_rounding(pe + pe * pe, moment).sqrt() / (total.sqrt() * (1.0 - pe)));

    let mut spread = 0.0;
    for (i, r) in row.iter().enumerate() {
        for (j, c) in column.iter().enumerate() {
            let share = table.get(i, j) as f64 / total;
            if i == j {
                spread += share * (1.0 - pe - (r + c) * (1.0 - po)).powi(2);
            } else if let (Some(second_of_first), Some(first_of_second)) = (column.get(i), row.get(j)) {
                spread += share * ((1.0 - po) * (second_of_first + first_of_second)).powi(2);
            }
        }
    }
    let centre = (po * pe - 2.0 * pe + po).powi(2);
    let se = without_rounding(spread, centre).sqrt() / (total.sqrt() * (1.0 - pe).powi(2));
    result.se = Some(se);
    result.reason = (se == 0.0).then_some(Undefined::Degenerate);
    result
}

/// The difference of two terms that may be equal: what rounding leaves of it is zero.
pub(crate) fn without_rounding(more: f64, less: f64) -> f64 {
    if more - less <= 1e-13 * (more + less) { 0.0 } else { more - less }
}

/// Kappa of bare counts (rows after rows, `k` categories), for bootstrap replicates; `None` where chance agreement
/// is 1. `margins` is scratch space of `2 k` numbers.
pub(crate) fn of_counts(counts: &[u64], k: usize, margins: &mut [u64]) -> Option<f64> {
    margins.fill(0);
    let (rows, columns) = margins.split_at_mut_checked(k)?;
    let mut agree = 0;
    for (i, (line, row)) in counts.chunks_exact(k.max(1)).zip(rows.iter_mut()).enumerate() {
        for (count, column) in line.iter().zip(columns.iter_mut()) {
            *row += count;
            *column += count;
        }
        agree += line.get(i).copied().unwrap_or(0);
    }
    let n = rows.iter().sum::<u64>() as f64;
    let chance: f64 = rows.iter().zip(columns.iter()).map(|(r, c)| *r as f64 * *c as f64).sum();
    let free = n * n - chance;
    (free > 0.0).then(|| (n * agree as f64 - chance) / free)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&[u64]]) -> Kappa {
        cohen(&Table::numbered(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).expect("square"))
    }

    /// Hand counts: rows (1,1), (1,0), (0,1), (0,0) and so on.
    #[test]
    fn small_tables_counted_by_hand() {
        assert_eq!(of(&[&[5, 0], &[0, 5]]).kappa, Some(1.0));
        assert_eq!(of(&[&[1, 1], &[1, 1]]).kappa, Some(0.0));
        let paradox = of(&[&[9, 1], &[0, 0]]);
        assert_eq!((paradox.po, paradox.pe, paradox.kappa), (Some(0.9), Some(0.9), Some(0.0)));
        assert_eq!(paradox.reason, Some(Undefined::ConstantRater));
        assert_eq!((paradox.se, paradox.interval(1.96)), (None, Err(Undefined::ConstantRater)));
        let apart = of(&[&[0, 4], &[0, 0]]);
        assert_eq!((apart.po, apart.pe, apart.kappa), (Some(0.0), Some(0.0), Some(0.0)));
    }

    #[test]
    fn undefined_is_said_not_computed() {
        let one = of(&[&[10]]);
        assert_eq!((one.po, one.pe, one.kappa, one.reason), (Some(1.0), Some(1.0), None, Some(Undefined::OneCategory)));
        let unused = of(&[&[10, 0], &[0, 0]]);
        assert_eq!((unused.kappa, unused.reason), (None, Some(Undefined::OneCategory)));
        let none = of(&[&[0, 0], &[0, 0]]);
        assert_eq!((none.po, none.kappa, none.reason), (None, None, Some(Undefined::NoUnits)));
        assert_eq!(none.interval(1.96), Err(Undefined::NoUnits));
    }

    /// vcd 1.4.11 gives kappa 1 and standard error 0; an interval of no width is withheld.
    #[test]
    fn perfect_agreement_has_no_interval() {
        for rows in [[[5, 0], [0, 5]], [[1, 0], [0, 97]]] {
            let perfect = of(&[&rows[0], &rows[1]]);
            assert_eq!((perfect.kappa, perfect.se), (Some(1.0), Some(0.0)));
            assert_eq!(perfect.interval(1.96), Err(Undefined::Degenerate));
        }
        let opposed = of(&[&[0, 3], &[3, 0]]);
        assert_eq!((opposed.kappa, opposed.reason), (Some(-1.0), Some(Undefined::Degenerate)));
    }

    #[test]
    fn bare_counts_agree_with_the_table() {
        let rows: [&[u64]; 3] = [&[88, 14, 18], &[10, 40, 10], &[2, 6, 12]];
        let bare = of_counts(&rows.concat(), 3, &mut [0; 6]).expect("defined");
        assert!((bare - of(&rows).kappa.expect("defined")).abs() < 1e-15);
        assert_eq!(of_counts(&[7, 0, 0, 0], 2, &mut [0; 4]), None);
        assert_eq!(of_counts(&[0; 4], 2, &mut [0; 4]), None);
    }
}
