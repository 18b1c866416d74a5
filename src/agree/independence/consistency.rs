//! How far a model repeats itself. Not agreement between raters: its mistakes repeat with it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::panel::Panel;
use super::super::{Z95, kappa, percent};
use super::PassValue;
use crate::model::{Audit, CaseIdentity, LabelId, RaterName, RatingValue};

/// One model on one label over its passes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConsistencyRow {
    /// The rater.
    pub rater: RaterName,
    /// The label.
    pub label: LabelId,
    /// Passes asked.
    pub passes: u32,
    /// Cases with an answer in every pass.
    pub cases: u64,
    /// Cases with a pass that was asked in vain, or not asked yet.
    pub incomplete: u64,
    /// Of `cases`, those with the same answer in every pass.
    pub same: u64,
    /// Their share.
    pub share: Option<f64>,
    /// Wilson's interval of the share.
    pub share_ci95: Option<[f64; 2]>,
    /// Cohen's kappa of passes 1 and 2; `None` where it is undefined.
    pub kappa: Option<f64>,
    /// κ ± 1.96 SE.
    pub kappa_ci95: Option<[f64; 2]>,
}

/// A row per rater with more than one pass and per label with any answer, in the audit's order.
pub(super) fn of(audit: &Audit, passes: &[PassValue]) -> Vec<ConsistencyRow> {
    let mut rows = Vec::new();
    for (rater, _) in &audit.raters {
        let own: Vec<&PassValue> = passes.iter().filter(|found| found.rater == *rater).collect();
        let most = own.iter().map(|found| found.pass).max().unwrap_or(0);
        if most < 2 {
            continue;
        }
        for label in &audit.labels {
            let mut cases: BTreeMap<&CaseIdentity, Vec<Option<&str>>> = BTreeMap::new();
            for found in own.iter().filter(|found| found.label == *label) {
                let answers = cases.entry(&found.case).or_insert_with(|| vec![None; most as usize]);
                if let Some(slot) = answers.get_mut(found.pass.saturating_sub(1) as usize) {
                    *slot = found.value.as_ref().map(RatingValue::as_str);
                }
            }
            rows.extend(row(rater, label, most, &cases));
        }
    }
    rows
}

fn row(
    rater: &RaterName,
    label: &LabelId,
    passes: u32,
    cases: &BTreeMap<&CaseIdentity, Vec<Option<&str>>>,
) -> Option<ConsistencyRow> {
    let whole: Vec<Vec<Option<&str>>> =
        cases.values().filter(|answers| answers.iter().all(Option::is_some)).cloned().collect();
    if cases.is_empty() {
        return None;
    }
    let n = whole.len() as u64;
    let same = whole.iter().filter(|answers| answers.windows(2).all(|two| two.first() == two.last())).count() as u64;
    let table = Panel::from_labels(&whole, None).ok().and_then(|panel| panel.table(0, 1).ok());
    let found = table.map(|table| kappa::cohen(&table));
    let value = found.as_ref().and_then(|found| found.kappa);
    let half = found.as_ref().and_then(|found| found.se).map(|se| Z95 * se);
    Some(ConsistencyRow {
        rater: rater.clone(),
        label: label.clone(),
        passes,
        cases: n,
        incomplete: cases.len() as u64 - n,
        same,
        share: (n > 0).then(|| same as f64 / n as f64),
        share_ci95: percent::wilson(same, n, Z95).map(|(low, high)| [low, high]),
        kappa: value,
        kappa_ci95: value.zip(half).map(|(value, half)| [(value - half).max(-1.0), (value + half).min(1.0)]),
    })
}
