//! Nonresponse: agreement and rates whatever the answers to unusable cases would have been.

use serde::Serialize;

use super::{Agreement, Context, FinalRate};
use crate::agree::TableError;
use crate::agree::nonresponse::{Bounds, bounds_of};
use crate::model::{AuditCase, LabelId, StratumId};
use crate::report::UnusableRecord;
use crate::rubric::{Applicability, applicability};

/// Unusable cases and what they can do to the numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Nonresponse {
    /// The cases.
    pub cases: Vec<UnusableRecord>,
    /// How many of them have a replacement.
    pub replaced: u64,
    /// The binary labels.
    pub labels: Vec<NonresponseLabel>,
}

/// Worst-case bounds of one label.
#[derive(Debug, Clone, Serialize)]
pub struct NonresponseLabel {
    /// The label.
    pub label: LabelId,
    /// Agreement over all strata.
    pub agreement: Bounds,
    /// The rate over all strata; `None` while there are no final values.
    pub rate: Option<RateBounds>,
    /// The rate in the strata that have unusable cases.
    pub strata: Vec<StratumBounds>,
}

/// A rate between its worst and its best case. Open disagreements count as unknown too.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateBounds {
    /// Finals equal to 1.
    pub k: u64,
    /// Finals that are a value.
    pub n: u64,
    /// Unusable cases to which the label may apply.
    pub unusable: u64,
    /// Disagreements without a ruling.
    pub open: u64,
    /// (k + 0) / all and (k + unknown) / all; `None` without any case.
    pub bounds: Option<[f64; 2]>,
}

/// The same in one stratum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumBounds {
    /// The stratum.
    pub stratum: StratumId,
    /// The rate.
    #[serde(flatten)]
    pub rate: RateBounds,
}

pub(super) fn of(context: &Context<'_>, agreement: &Agreement, rated: bool) -> Result<Option<Nonresponse>, TableError> {
    let record = &context.provenance.batch.sampling.unusable;
    if record.is_empty() {
        return Ok(None);
    }
    let mut labels = Vec::new();
    for label in context.binary_labels() {
        let Some(row) = agreement.labels.iter().find(|row| row.dropped.label == *label) else { continue };
        let unusable = count(context, label, |_| true);
        let strata = context.audit.strata.iter().filter_map(|stratum| {
            let keep = |case: &AuditCase| case.stratum == stratum.id;
            let rate = rate(context, label, keep);
            (rated && rate.unusable > 0).then(|| StratumBounds { stratum: stratum.id.clone(), rate })
        });
        labels.push(NonresponseLabel {
            label: label.clone(),
            agreement: bounds_of(&row.dropped, unusable)?,
            rate: rated.then(|| rate(context, label, |_| true)),
            strata: strata.collect(),
        });
    }
    let replaced = record.iter().filter(|found| found.replaced_by.is_some()).count() as u64;
    Ok(Some(Nonresponse { cases: record.clone(), replaced, labels }))
}

/// Unusable cases to which a label may apply.
fn count(context: &Context<'_>, label: &LabelId, keep: impl Fn(&AuditCase) -> bool) -> u64 {
    let unusable = |case: &AuditCase| context.is_unusable(case);
    let applies = |case: &AuditCase| {
        context.rubric.label(label).is_none_or(|label| {
            applicability(label, case.category, case.stratum.as_str()) != Applicability::NotApplicable
        })
    };
    context.audit.cases.iter().filter(|case| keep(case) && unusable(case) && applies(case)).count() as u64
}

fn rate(context: &Context<'_>, label: &LabelId, keep: impl Fn(&AuditCase) -> bool) -> RateBounds {
    let unusable = count(context, label, &keep);
    let FinalRate { k, n, open, .. } = FinalRate::count(context, label, &keep);
    let all = n + open + unusable;
    let bounds = (all > 0).then(|| [k as f64 / all as f64, (k + open + unusable) as f64 / all as f64]);
    RateBounds { k, n, unusable, open, bounds }
}
