//! Distributions of labels with named values, each beside its kappa: a distribution of answers that the raters do not
//! share says little.

use serde::Serialize;

use super::{Agreement, Context, Count};
use crate::agree::BootstrapInterval;
use crate::estimate::paper;
use crate::model::{LabelId, RatingValue};
use crate::rubric::LabelKind;

/// The final values of a label. `n + na + cannot_judge + no_final = cases`.
#[derive(Debug, Clone, Serialize)]
pub struct Choices {
    /// The label.
    pub label: LabelId,
    /// Its title.
    pub title: String,
    /// Cases.
    pub cases: u64,
    /// Finals that are a value.
    pub n: u64,
    /// Finals *n.a.*
    pub na: u64,
    /// Finals *cannot judge*.
    pub cannot_judge: u64,
    /// Cases without a final value (a rating or a ruling is missing).
    pub no_final: u64,
    /// Values, most frequent first.
    pub values: Vec<ChoiceCount>,
    /// Kappa of the raters before adjudication.
    pub kappa: Option<f64>,
    /// Its large-sample interval.
    pub kappa_ci95: Option<[f64; 2]>,
    /// Its bootstrap interval.
    pub kappa_bootstrap: BootstrapInterval,
    /// Why there is no kappa or no interval.
    pub reason_text: Option<&'static str>,
}

/// How often a value is final.
#[derive(Debug, Clone, Serialize)]
pub struct ChoiceCount {
    /// The value.
    pub value: String,
    /// Its title in the rubric.
    pub title: String,
    /// How often, of how many.
    #[serde(flatten)]
    pub count: Count,
}

pub(super) fn of(context: &Context<'_>, agreement: &Agreement) -> Vec<Choices> {
    let rows = agreement.labels.iter().filter(|row| !context.is_binary(&row.dropped.label));
    rows.map(|row| {
        let label = &row.dropped.label;
        let finals: Vec<Option<&RatingValue>> =
            context.audit.cases.iter().map(|case| case.final_value(context.pair, label)).collect();
        let count = |wanted: Option<&RatingValue>| finals.iter().filter(|value| **value == wanted).count() as u64;
        let found = paper::distribution(context.audit, context.pair, label);
        let n: u64 = found.iter().map(|(_, count)| count).sum();
        let mut values: Vec<ChoiceCount> = found
            .into_iter()
            .map(|(value, k)| ChoiceCount { title: String::new(), value, count: Count::new(k, n) })
            .collect();
        if let Some(LabelKind::Choice(choices)) = context.rubric.label(label).map(|label| &label.kind) {
            for choice in choices {
                match values.iter_mut().find(|known| known.value == choice.id) {
                    Some(known) => known.title.clone_from(&choice.title),
                    None => values.push(ChoiceCount {
                        value: choice.id.clone(),
                        title: choice.title.clone(),
                        count: Count::new(0, n),
                    }),
                }
            }
        }
        Choices {
            label: label.clone(),
            title: row.title.clone(),
            cases: finals.len() as u64,
            n,
            na: count(Some(&RatingValue::NotApplicable)),
            cannot_judge: count(Some(&RatingValue::CannotJudge)),
            no_final: count(None),
            values,
            kappa: row.dropped.kappa,
            kappa_ci95: row.dropped.ci95,
            kappa_bootstrap: row.dropped.ci95_bootstrap,
            reason_text: row.dropped.reason_text,
        }
    })
    .collect()
}
