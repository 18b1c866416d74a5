//! How far the pair agrees, per label, pooled and per stratum, with *n.a.* left out and as a category.

use serde::Serialize;

use super::{Context, ReportError};
use crate::agree::{self, LabelAgreement, NaPolicy, Options, paper};
use crate::model::LabelId;

/// Agreement of the pair of record.
#[derive(Debug, Clone, Serialize)]
pub struct Agreement {
    /// A row per label in the rubric's order.
    pub labels: Vec<LabelRow>,
    /// The mean over the primary labels, as studies print it.
    pub mean: Option<MeanKappa>,
    /// The same without labels that follow by rule from others; `None` where there is none of these.
    pub mean_without_derived: Option<MeanKappa>,
    /// Why a pooled value is no population value; `None` for a batch of one stratum.
    pub pooled_note: Option<&'static str>,
    /// Replicates and seed of the bootstrap.
    pub bootstrap: Bootstrap,
}

/// How the bootstrap was done.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Bootstrap {
    /// Replicates.
    pub replicates: u32,
    /// Seed.
    pub seed: u64,
}

/// Agreement on a label.
#[derive(Debug, Clone, Serialize)]
pub struct LabelRow {
    /// Title.
    pub title: String,
    /// Cases in which a rater said *n.a.* left out and counted.
    #[serde(flatten)]
    pub dropped: LabelAgreement,
    /// *n.a.* as a category of its own.
    pub na_as_category: LabelAgreement,
    /// The least and the greatest kappa of its strata, where the pooled kappa is above all of them: then the raters agree
    /// on how strata differ, not on the cases inside.
    pub pooled_above_strata: Option<[f64; 2]>,
}

/// A mean of kappas. A mean over labels is no kappa and has no interval here.
#[derive(Debug, Clone, Serialize)]
pub struct MeanKappa {
    /// The labels in it.
    pub labels: Vec<LabelId>,
    /// Their mean kappa.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// Labels of the set whose kappa is undefined; they are not in the mean.
    pub undefined: Vec<LabelId>,
}

const POOLED_NOTE: &str = "The strata were not drawn in proportion to anything, so a kappa over all of them is a mixture \
    and not the kappa of any population of cases. Read the strata.";

pub(super) fn of(context: &Context<'_>) -> Result<Agreement, ReportError> {
    let with = |na| agree::label_agreements(context.audit, context.pair, &Options { na, ..context.options });
    let labels: Vec<LabelRow> = with(NaPolicy::Drop)?
        .into_iter()
        .zip(with(NaPolicy::Category)?)
        .map(|(dropped, na_as_category)| LabelRow {
            title: context.title(&dropped.label),
            pooled_above_strata: above_strata(&dropped),
            dropped,
            na_as_category,
        })
        .collect();
    let derived = context.derived_labels();
    let primary: Vec<&LabelRow> =
        labels.iter().filter(|row| context.rubric.primary.contains(&row.dropped.label)).collect();
    let independent: Vec<&LabelRow> =
        primary.iter().filter(|row| !derived.contains(&&row.dropped.label)).copied().collect();
    let differs = independent.len() < primary.len();
    let bootstrap =
        Bootstrap { replicates: context.options.bootstrap.replicates, seed: context.options.bootstrap.seed };
    Ok(Agreement {
        mean: mean(&primary),
        mean_without_derived: if differs { mean(&independent) } else { None },
        labels,
        pooled_note: (context.audit.strata.len() > 1).then_some(POOLED_NOTE),
        bootstrap,
    })
}

/// The range of at least two strata's kappas, where the pooled one is above it.
fn above_strata(row: &LabelAgreement) -> Option<[f64; 2]> {
    let pooled = row.kappa?;
    let kappas: Vec<f64> = row.strata.iter().filter_map(|stratum| stratum.kappa).collect();
    let (low, high) =
        kappas.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), k| (low.min(*k), high.max(*k)));
    (kappas.len() > 1 && high < pooled).then_some([low, high])
}

fn mean(rows: &[&LabelRow]) -> Option<MeanKappa> {
    let (defined, undefined): (Vec<&LabelRow>, Vec<&LabelRow>) =
        rows.iter().copied().partition(|row| row.dropped.kappa.is_some());
    let (mean, min) = paper::mean_and_min(defined.iter().filter_map(|row| row.dropped.kappa))?;
    let names = |rows: &[&LabelRow]| rows.iter().map(|row| row.dropped.label.clone()).collect();
    Some(MeanKappa { labels: names(&defined), mean, min, undefined: names(&undefined) })
}
