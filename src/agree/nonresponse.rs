//! Nonresponse: agreement whatever the raters would have said of cases that nobody could rate.
//!
//! The bounds are the least and the greatest value over every way of filling the missing pairs in (Manski 2003: worst-case
//! bounds, without an assumption about the cases). A case may also turn out to be *n.a.*; then it gives no pair, so fewer
//! pairs than unusable cases are filled in too.

use serde::Serialize;

use super::kappa::cohen;
use super::{LabelAgreement, Table, TableError};

/// Ways of filling in that are looked at; with more, κ gets no bounds.
const MOST_WAYS: u64 = 50_000;

/// Agreement between its worst and its best case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bounds {
    /// Unusable cases to which the label may apply.
    pub unusable: u64,
    /// Observed agreement; `None` without any case.
    pub po: Option<[f64; 2]>,
    /// Cohen's κ over the fillings that define it; `None` where none does, or where there are too many to look at.
    pub kappa: Option<[f64; 2]>,
}

/// The bounds of a table's agreement when `unusable` further pairs could be anything.
///
/// # Errors
/// More units than a table holds.
pub fn bounds(table: &Table, unusable: u64) -> Result<Bounds, TableError> {
    let (n, agree) = (table.n(), table.agreeing());
    let all = n.saturating_add(unusable);
    let po = (all > 0).then(|| [agree as f64 / all as f64, (agree + unusable) as f64 / all as f64]);
    let mut bounds = Bounds { unusable, po, kappa: None };
    let cells = (table.size() as u64).saturating_mul(table.size() as u64);
    if cells == 0 || ways(unusable, cells) > MOST_WAYS {
        return Ok(bounds);
    }
    let mut filled: Vec<u64> = table.counts().to_vec();
    let mut found: Option<[f64; 2]> = None;
    fill(table, &mut filled, 0, unusable, &mut |table| {
        if let Some(kappa) = cohen(table).kappa {
            let [low, high] = found.unwrap_or([kappa, kappa]);
            found = Some([low.min(kappa), high.max(kappa)]);
        }
    })?;
    bounds.kappa = found;
    Ok(bounds)
}

/// The bounds of a binary label's agreement; both of its values are possible answers, whether or not they occur.
///
/// # Errors
/// More units than a table holds.
pub fn bounds_of(row: &LabelAgreement, unusable: u64) -> Result<Bounds, TableError> {
    let mut categories = row.categories.clone();
    for value in ["0", "1"] {
        if !categories.iter().any(|category| category == value) {
            categories.push(value.to_owned());
        }
    }
    let count = |first: usize, second: usize| row.table.get(first).and_then(|r| r.get(second)).copied().unwrap_or(0);
    let size = categories.len();
    let rows: Vec<Vec<u64>> = (0..size).map(|first| (0..size).map(|second| count(first, second)).collect()).collect();
    bounds(&Table::from_counts(categories, &rows)?, unusable)
}

/// Ways of putting at most `items` into `cells`: C(items + cells, cells).
fn ways(items: u64, cells: u64) -> u64 {
    let mut ways = 1u64;
    for step in 1..=cells.min(64) {
        ways = ways.saturating_mul(items.saturating_add(step)) / step;
        if ways > MOST_WAYS {
            break;
        }
    }
    ways
}

/// Calls `see` with every table that has up to `left` more pairs in the cells from `place` on.
fn fill(
    table: &Table,
    counts: &mut Vec<u64>,
    place: usize,
    left: u64,
    see: &mut impl FnMut(&Table),
) -> Result<(), TableError> {
    let Some(count) = counts.get(place).copied() else {
        let rows: Vec<Vec<u64>> = counts.chunks(table.size()).map(<[u64]>::to_vec).collect();
        see(&Table::from_counts(table.categories().to_vec(), &rows)?);
        return Ok(());
    };
    for more in 0..=left {
        if let Some(cell) = counts.get_mut(place) {
            *cell = count + more;
        }
        fill(table, counts, place + 1, left - more, see)?;
    }
    if let Some(cell) = counts.get_mut(place) {
        *cell = count;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[Vec<u64>], unusable: u64) -> Bounds {
        bounds(&Table::numbered(rows).expect("square"), unusable).expect("small")
    }

    #[test]
    fn bounds_worked_by_hand() {
        // 4 and 4 agree, 1 and 1 differ: po 0.8, κ 0.6. One more pair: it differs (8/11; κ = (8/11 − pe)/(1 − pe) with
        // margins 6·5 + 5·6 of 121, pe = 60/121: (88 − 60)/61 = 28/61) or agrees (9/11, margins 6·6 + 5·5 = 61 of 121:
        // (99 − 61)/60 = 38/60). Leaving it out gives 0.6, which lies between.
        let one = found(&[vec![4, 1], vec![1, 4]], 1);
        assert_eq!(one.po, Some([8.0 / 11.0, 9.0 / 11.0]));
        let [low, high] = one.kappa.expect("defined");
        assert!((low - 28.0 / 61.0).abs() < 1e-12 && (high - 38.0 / 60.0).abs() < 1e-12, "{low} {high}");
    }

    #[test]
    fn without_unusable_cases_both_ends_are_the_value() {
        let none = found(&[vec![4, 1], vec![1, 4]], 0);
        assert_eq!(none.po, Some([0.8, 0.8]));
        assert_eq!(none.kappa.map(|[low, high]| (low - high).abs() < 1e-9), Some(true));
        assert_eq!(found(&[vec![0, 0], vec![0, 0]], 0).po, None);
    }

    #[test]
    fn too_many_fillings_leave_kappa_without_bounds() {
        // C(200 + 4, 4) is about 70 million.
        let many = found(&[vec![4, 1], vec![1, 4]], 200);
        assert_eq!((many.kappa, many.po), (None, Some([8.0 / 210.0, 208.0 / 210.0])));
        assert_eq!(ways(3, 4), 35);
    }
}
