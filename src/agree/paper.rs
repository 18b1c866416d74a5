//! The published study's conventions, kept exactly so that its numbers can be checked.
//!
//! They differ from this program's own in two ways. Kappa is 1 where chance agreement is 1 (here: undefined). And the
//! agreement in a stratum counts every case without regard to *n.a.*: *n.a.* twice is agreement, *n.a.* against a value
//! is disagreement.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pairs::{self, NaPolicy};
use super::{Table, TableError, kappa::cohen};
use crate::model::{Audit, LabelId, RaterName, StratumId};

/// The labels over which the study takes its mean and its smallest kappa.
pub const PRIMARY_LABELS: [&str; 5] = ["B1a", "B1b", "B3", "B4", "B5"];

/// A row of the study's agreement table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PaperKappa {
    /// Pairs without an *n.a.* (or, where *n.a.* is a category, all pairs).
    pub n: u64,
    /// Equal pairs.
    pub agree: u64,
    /// Observed agreement.
    pub po: f64,
    /// Chance agreement.
    pub pe: f64,
    /// Kappa, 1 where chance agreement is 1.
    pub kappa: f64,
}

/// Kappa as the study computes it; `None` without pairs (where its script stops with an error).
#[must_use]
pub fn kappa(table: &Table) -> Option<PaperKappa> {
    let own = cohen(table);
    Some(PaperKappa { n: own.n, agree: own.agree, po: own.po?, pe: own.pe?, kappa: own.kappa.unwrap_or(1.0) })
}

/// Kappa of one label.
///
/// # Errors
/// More cases than a table holds.
pub fn label_kappa(
    audit: &Audit,
    pair: (&RaterName, &RaterName),
    label: &LabelId,
    na: NaPolicy,
) -> Result<Option<PaperKappa>, TableError> {
    Ok(kappa(&pairs::of(audit, pair, label, na).table()?))
}

/// The mean and the smallest of some labels' kappas; `None` for none.
#[must_use]
pub fn mean_and_min(kappas: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let (mut sum, mut least, mut count) = (0.0, f64::INFINITY, 0u32);
    for kappa in kappas {
        sum += kappa;
        least = least.min(kappa);
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count), least))
}

/// Agreement in one stratum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumAgreement {
    /// The stratum.
    pub stratum: StratumId,
    /// All its cases.
    pub n: u64,
    /// Share of equal values per label, *n.a.* and a missing rating counting as values of their own.
    pub agreement: BTreeMap<LabelId, f64>,
}

/// Raw agreement in every stratum that has cases, sorted by stratum.
#[must_use]
pub fn stratum_agreement(audit: &Audit, pair: (&RaterName, &RaterName), labels: &[LabelId]) -> Vec<StratumAgreement> {
    let mut strata: BTreeMap<&StratumId, Vec<&crate::model::AuditCase>> = BTreeMap::new();
    for case in &audit.cases {
        strata.entry(&case.stratum).or_default().push(case);
    }
    let share = |cases: &[&crate::model::AuditCase], label: &LabelId| {
        let equal = cases.iter().filter(|case| case.value(pair.0, label) == case.value(pair.1, label)).count();
        equal as f64 / cases.len() as f64
    };
    strata
        .into_iter()
        .map(|(stratum, cases)| StratumAgreement {
            stratum: stratum.clone(),
            n: cases.len() as u64,
            agreement: labels.iter().map(|label| (label.clone(), share(&cases, label))).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts about the study's script.
    #[test]
    fn constant_raters_get_one_and_no_pairs_get_nothing() {
        let of = |rows: &[Vec<u64>]| kappa(&Table::numbered(rows).expect("square")).map(|row| row.kappa);
        assert_eq!(of(&[vec![10]]), Some(1.0));
        assert_eq!(of(&[vec![0, 4], vec![0, 0]]), Some(0.0));
        assert_eq!(of(&[vec![9, 1], vec![0, 0]]), Some(0.0));
        assert_eq!(of(&[]), None);
        assert_eq!(mean_and_min([]), None);
        assert_eq!(mean_and_min([1.0, 0.5]), Some((0.75, 0.5)));
    }
}
