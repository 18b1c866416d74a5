//! Disagreements of the pair and which side the adjudicator took.

use serde::Serialize;

use crate::model::{Audit, LabelId, RaterName};

/// What became of a label's disagreements. All values count, *n.a.* and *cannot judge* too; cases that one of the two
/// did not rate are no disagreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Sides {
    /// Cases with unequal values.
    pub disagreements: u64,
    /// Of these, *n.a.* from exactly one rater.
    pub one_sided_na: u64,
    /// Ruled for the first rater.
    pub with_first: u64,
    /// Ruled for the second rater.
    pub with_second: u64,
    /// Ruled for a value that neither gave.
    pub with_neither: u64,
    /// Not ruled on yet.
    pub open: u64,
}

/// Counts a label's disagreements and rulings.
#[must_use]
pub fn of(audit: &Audit, pair: (&RaterName, &RaterName), label: &LabelId) -> Sides {
    use crate::model::RatingValue::NotApplicable;
    let mut sides = Sides::default();
    for case in &audit.cases {
        let (Some(first), Some(second)) = (case.value(pair.0, label), case.value(pair.1, label)) else { continue };
        if first == second {
            continue;
        }
        sides.disagreements += 1;
        sides.one_sided_na += u64::from((*first == NotApplicable) != (*second == NotApplicable));
        match case.adjudications.get(label).map(|ruling| &ruling.value) {
            None => sides.open += 1,
            Some(value) if value == first => sides.with_first += 1,
            Some(value) if value == second => sides.with_second += 1,
            Some(_) => sides.with_neither += 1,
        }
    }
    sides
}

/// Cases of which at least one label was spot-checked.
#[must_use]
pub fn spot_checked_cases(audit: &Audit) -> u64 {
    audit.cases.iter().filter(|case| case.spot_checks.is_some()).count() as u64
}
