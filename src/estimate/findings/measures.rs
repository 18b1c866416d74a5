//! What a row of the findings holds.

use serde::Serialize;

use super::Metric;
use super::case::AuditedCase;
use crate::estimate::weighted::WeightedRate;
use crate::model::Category;

/// Label against metric. `tp + fp + fn + tn` are the cases with both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Confusion {
    /// Label 1, hit.
    pub tp: u64,
    /// Label 0, hit.
    pub fp: u64,
    /// Label 1, no hit.
    #[serde(rename = "fn")]
    pub false_negatives: u64,
    /// Label 0, no hit.
    pub tn: u64,
}

impl Confusion {
    pub(super) fn of<'a>(cases: impl Iterator<Item = &'a AuditedCase>, metric: Metric) -> Self {
        let mut found = Self::default();
        for case in cases {
            if let Some((label, hit)) = case.both(metric) {
                found.count(label, hit);
            }
        }
        found
    }

    pub(super) fn count(&mut self, label: bool, hit: bool) {
        *match (label, hit) {
            (true, true) => &mut self.tp,
            (false, true) => &mut self.fp,
            (true, false) => &mut self.false_negatives,
            (false, false) => &mut self.tn,
        } += 1;
    }
}

/// A rate over the audited cases as they are, without weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SampleRate {
    /// Yes.
    pub k: u64,
    /// Yes or no.
    pub n: u64,
    /// k / n.
    pub rate: Option<f64>,
    /// Wilson's 95 % interval, as of a simple random sample.
    pub wilson95: Option<[f64; 2]>,
}

/// A corrected rate, or why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Corrected<T> {
    /// The rate.
    pub rate: Option<f64>,
    /// Its interval.
    pub ci95: Option<[f64; 2]>,
    /// The rest of it.
    #[serde(flatten)]
    pub more: T,
    /// Why there is none.
    pub reason: Option<String>,
}

impl<T: Default> Corrected<T> {
    pub(super) fn missing(reason: &str) -> Self {
        Self { rate: None, ci95: None, more: T::default(), reason: Some(reason.to_owned()) }
    }
}

/// What is left of a difference estimate beside rate and interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct DifferenceMore {
    /// λ.
    pub lambda: Option<f64>,
    /// Cases that the labels alone would need.
    pub effective_n: Option<f64>,
    /// More than were labelled.
    pub gained: Option<f64>,
}

/// What is left of a Rogan-Gladen estimate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RoganGladenMore {
    /// Design-weighted.
    pub sensitivity: Option<f64>,
    /// Design-weighted.
    pub specificity: Option<f64>,
    /// Sensitivity + specificity − 1.
    pub youden_ci95: Option<[f64; 2]>,
    /// Before it was held within 0 to 1.
    pub unheld: Option<f64>,
}

/// Estimates over some part of the frame.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measures {
    /// Cases, drawn or not.
    #[serde(rename = "N")]
    pub population: Option<u64>,
    /// Audited cases with a yes or no.
    pub n: u64,
    /// Of these, yes.
    pub k: u64,
    /// Drawn cases without an answer.
    pub unanswered: u64,
    /// The design-weighted rate of the label: from the raters alone.
    pub weighted_rate: Option<f64>,
    /// Its interval.
    pub ci95: Option<[f64; 2]>,
    /// All about it.
    pub weighted: Option<WeightedRate>,
    /// The metric over all cases.
    pub gar_rate: Option<f64>,
    /// The metric's rate corrected by sensitivity and specificity.
    pub rogan_gladen: Corrected<RoganGladenMore>,
    /// The metric's rate corrected by the mean error in the sample (λ = 1).
    pub difference_estimator: Corrected<DifferenceMore>,
    /// The same with the λ of least variance.
    pub difference_tuned: Corrected<DifferenceMore>,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// `run/category`; a run or model; or `all`.
    pub cell: String,
    /// The run, where it is one.
    pub run: Option<String>,
    /// The model, where it is one.
    pub model: Option<String>,
    /// The category, where it is one.
    pub category: Option<Category>,
    /// The models that the row mixes, where they are several.
    pub pooled_over: Vec<String>,
    /// The estimates; null where a part of the row's cases was not reached.
    #[serde(flatten)]
    pub measures: Measures,
    /// Over the audited cases as they are.
    pub sample: SampleRate,
    /// Label against metric over the audited cases, unweighted.
    pub confusion: Confusion,
    /// Has every case a known chance to be drawn, and every part an answered case?
    pub covered: bool,
    /// Why not, or why an estimate is missing.
    pub reason: Option<String>,
    /// Cases of which nothing is known.
    pub uncovered: u64,
    /// Where only a part is covered: the estimates of that part.
    pub covered_part: Option<Box<Measures>>,
    /// Where only a part is covered: the rate of all if the rest (cases without an answer among it) has the finding never, and
    /// always.
    pub whole_bounds: Option<[f64; 2]>,
    /// The lower limit of the one and the upper of the other: what the sample leaves possible for the whole.
    pub whole_bounds_ci95: Option<[f64; 2]>,
}
