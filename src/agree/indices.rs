//! What stands beside kappa so that it can be read: its bounds under the margins, prevalence and bias, and agreement on
//! single categories.

use serde::Serialize;

use super::Table;

/// The largest and the smallest kappa that the margins allow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// Kappa if the raters agreed as often as their margins let them (Cohen 1960, p. 42).
    pub max: f64,
    /// Kappa if they agreed as rarely as their margins let them.
    pub min: f64,
}

/// The bounds of kappa; `None` where kappa is undefined.
#[must_use]
pub fn bounds(table: &Table) -> Option<Bounds> {
    let n = table.n();
    let (rows, columns) = (table.row_totals(), table.column_totals());
    let chance: u128 = rows.iter().zip(&columns).map(|(r, c)| u128::from(*r) * u128::from(*c)).sum();
    if n == 0 || chance == u128::from(n) * u128::from(n) {
        return None;
    }
    let pe = chance as f64 / (n as f64 * n as f64);
    let kappa = |agree: u64| (agree as f64 / n as f64 - pe) / (1.0 - pe);
    let most: u64 = rows.iter().zip(&columns).map(|(r, c)| *r.min(c)).sum();
    // Only a category that the two raters use more than n times together forces agreement, and at most one can.
    let least = rows.iter().zip(&columns).map(|(r, c)| (r + c).saturating_sub(n)).max().unwrap_or(0);
    Some(Bounds { max: if most == n { 1.0 } else { kappa(most) }, min: kappa(least) })
}

/// |a − d| / n of a two by two table: how unevenly the two categories are used. Byrt, Bishop & Carlin 1993, J. Clin.
/// Epidemiol. 46:423-429. `None` for other tables.
#[must_use]
pub fn prevalence_index(table: &Table) -> Option<f64> {
    two_by_two(table).map(|[a, _, _, d]| a.abs_diff(d) as f64 / table.n() as f64)
}

/// |b − c| / n of a two by two table: how far the raters' rates differ. Same source. `None` for other tables.
#[must_use]
pub fn bias_index(table: &Table) -> Option<f64> {
    two_by_two(table).map(|[_, b, c, _]| b.abs_diff(c) as f64 / table.n() as f64)
}

fn two_by_two(table: &Table) -> Option<[u64; 4]> {
    let cells: [u64; 4] = table.counts().try_into().ok()?;
    (table.n() > 0).then_some(cells)
}

/// Agreement on one category: of all uses of it, the share that the other rater shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CategoryAgreement {
    /// The category.
    pub category: String,
    /// How often the first rater used it.
    pub first: u64,
    /// How often the second rater used it.
    pub second: u64,
    /// How often both did.
    pub both: u64,
    /// 2·both / (first + second); `None` where nobody used it.
    pub agreement: Option<f64>,
}

/// Specific agreement of every category. Dice 1945; Cicchetti & Feinstein 1990, J. Clin. Epidemiol. 43:551-558.
#[must_use]
pub fn specific_agreement(table: &Table) -> Vec<CategoryAgreement> {
    let margins = table.row_totals().into_iter().zip(table.column_totals());
    let named = table.categories().iter().zip(margins).enumerate();
    named
        .map(|(i, (category, (first, second)))| {
            let both = table.get(i, i);
            let uses = first + second;
            let agreement = (uses > 0).then(|| 2.0 * both as f64 / uses as f64);
            CategoryAgreement { category: category.clone(), first, second, both, agreement }
        })
        .collect()
}

/// Which of two categories is the positive one: that of a known pair (`1` of `0` and `1`, `yes` of `no` and `yes`, …),
/// else the first in order. `None` unless there are two categories.
#[must_use]
pub fn positive_category(table: &Table) -> Option<usize> {
    const KNOWN: [[&str; 2]; 7] = [
        ["0", "1"],
        ["no", "yes"],
        ["n", "y"],
        ["false", "true"],
        ["fail", "pass"],
        ["negative", "positive"],
        ["absent", "present"],
    ];
    let [first, second] = table.categories() else { return None };
    let is = |text: &str, word: &str| text.eq_ignore_ascii_case(word);
    let second_is = KNOWN.iter().any(|[no, yes]| is(first, no) && is(second, yes));
    Some(usize::from(second_is))
}

/// Agreement on the positive and on the negative category of a two by two table; `None` for others.
#[must_use]
pub fn positive_and_negative(table: &Table) -> Option<(Option<f64>, Option<f64>)> {
    let positive = positive_category(table)?;
    let each = specific_agreement(table);
    let of = |at: usize| each.get(at).and_then(|row| row.agreement);
    Some((of(positive), of(1 - positive)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table with these margins, listed: the extreme diagonals are found by search.
    #[test]
    fn bounds_are_the_extremes_over_all_tables_with_the_margins() {
        for (rows, columns) in [([5u64, 2, 1], [4u64, 3, 1]), ([6, 1, 1], [5, 2, 1]), ([2, 3, 3], [3, 3, 2])] {
            let n: u64 = rows.iter().sum();
            let (mut least, mut most, mut example) = (u64::MAX, 0, None);
            for a in 0..=rows[0] {
                for b in 0..=rows[0] - a {
                    for c in 0..=rows[1] {
                        for d in 0..=rows[1] - c {
                            let first = [a, b, rows[0] - a - b];
                            let second = [c, d, rows[1] - c - d];
                            let third: Option<Vec<u64>> =
                                (0..3).map(|j| columns[j].checked_sub(first[j] + second[j])).collect();
                            if let Some(third) = third {
                                let agree = first[0] + second[1] + third[2];
                                least = least.min(agree);
                                most = most.max(agree);
                                example = Some([first.to_vec(), second.to_vec(), third]);
                            }
                        }
                    }
                }
            }
            let table = Table::numbered(&example.expect("one table at least")).expect("square");
            let pe = (0..3).map(|i| rows[i] as f64 * columns[i] as f64).sum::<f64>() / (n * n) as f64;
            let kappa = |agree: u64| (agree as f64 / n as f64 - pe) / (1.0 - pe);
            let found = bounds(&table).expect("defined");
            assert!((found.max - kappa(most)).abs() < 1e-12 && (found.min - kappa(least)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_positive_category_is_one_and_not_zero() {
        let of = |a: &str, b: &str| {
            let table = Table::from_counts(vec![a.into(), b.into()], &[vec![80, 10], vec![5, 5]]).expect("square");
            positive_and_negative(&table).and_then(|(positive, _)| positive).expect("used")
        };
        assert!((of("0", "1") - 0.4).abs() < 1e-15 && (of("No", "Yes") - 0.4).abs() < 1e-15);
        assert!((of("1", "2") - 160.0 / 175.0).abs() < 1e-15 && (of("a", "b") - 160.0 / 175.0).abs() < 1e-15);
        let three = Table::numbered(&[vec![1, 0, 0], vec![0, 1, 0], vec![0, 0, 0]]).expect("square");
        assert_eq!((positive_and_negative(&three), prevalence_index(&three), bias_index(&three)), (None, None, None));
        assert_eq!(
            specific_agreement(&three).iter().map(|row| row.agreement).collect::<Vec<_>>(),
            [Some(1.0), Some(1.0), None]
        );
    }
}
