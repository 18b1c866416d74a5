//! Rates after adjudication, per label, pooled and per stratum; the held-out label over both of its denominators.

use serde::Serialize;

use super::{Context, FinalRate};
use crate::model::{Category, LabelId, RatingValue, StratumId};

/// The rate of a binary label.
#[derive(Debug, Clone, Serialize)]
pub struct LabelRate {
    /// The label.
    pub label: LabelId,
    /// Its title.
    pub title: String,
    /// Over all cases of the batch.
    #[serde(flatten)]
    pub pooled: FinalRate,
    /// Per stratum in the plan's order.
    pub strata: Vec<StratumRate>,
}

/// A rate in one stratum.
#[derive(Debug, Clone, Serialize)]
pub struct StratumRate {
    /// The stratum.
    pub stratum: StratumId,
    /// The rate.
    #[serde(flatten)]
    pub rate: FinalRate,
}

pub(super) fn of(context: &Context<'_>) -> Vec<LabelRate> {
    context
        .binary_labels()
        .map(|label| LabelRate {
            label: label.clone(),
            title: context.title(label),
            pooled: FinalRate::count(context, label, |_| true),
            strata: context
                .audit
                .strata
                .iter()
                .map(|stratum| StratumRate {
                    stratum: stratum.id.clone(),
                    rate: FinalRate::count(context, label, |case| case.stratum == stratum.id),
                })
                .collect(),
        })
        .collect()
}

/// B3 over its two denominators. A text that names a rate without its denominator can mean either.
#[derive(Debug, Clone, Serialize)]
pub struct HeldOut {
    /// The label.
    pub label: LabelId,
    /// All cases of `miss_func`.
    pub d1: FinalRate,
    /// Those of them whose final B1a is 0.
    pub d2: FinalRate,
    /// Those whose final B1a is 1; with the next count what `d1` has and `d2` has not.
    pub gold_action: u64,
    /// Those without a B1a value.
    pub gold_action_unknown: u64,
    /// Per model over both denominators.
    pub models: Vec<HeldOutModel>,
}

/// The same for one model.
#[derive(Debug, Clone, Serialize)]
pub struct HeldOutModel {
    /// The model.
    pub model: String,
    /// All its cases of `miss_func`.
    pub d1: FinalRate,
    /// Those of them whose final B1a is 0.
    pub d2: FinalRate,
}

pub(super) fn held_out(context: &Context<'_>) -> Option<HeldOut> {
    let (label, gold) = (context.label("B3")?, context.label("B1a")?);
    let in_category = |case: &crate::model::AuditCase| case.category == Category::MissFunc;
    let value = |case: &crate::model::AuditCase| {
        case.final_value(context.pair, gold).and_then(RatingValue::value).map(str::to_owned)
    };
    let missed = |case: &crate::model::AuditCase| in_category(case) && value(case).as_deref() == Some("0");
    let held: Vec<_> = context.audit.cases.iter().filter(|case| in_category(case)).collect();
    if held.is_empty() {
        return None;
    }
    let models = context.cells().into_iter().filter(|(_, category)| *category == Category::MissFunc);
    // Which cases belong to the second denominator is known only once every B1a of them is.
    let second = |keep: &dyn Fn(&crate::model::AuditCase) -> bool| {
        let rate = FinalRate::count(context, label, |case| missed(case) && keep(case));
        let settled = held.iter().all(|case| !keep(case) || value(case).is_some());
        if settled { rate } else { FinalRate { rate: None, wilson95: None, bounds: None, ..rate } }
    };
    Some(HeldOut {
        label: label.clone(),
        d1: FinalRate::count(context, label, in_category),
        d2: second(&|_| true),
        gold_action: held.iter().filter(|case| value(case).as_deref() == Some("1")).count() as u64,
        gold_action_unknown: held.iter().filter(|case| value(case).is_none()).count() as u64,
        models: models
            .map(|(model, _)| HeldOutModel {
                model: model.to_owned(),
                d1: FinalRate::count(context, label, |case| in_category(case) && case.model == model),
                d2: second(&|case| case.model == model),
            })
            .collect(),
    })
}
