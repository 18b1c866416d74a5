//! What `dualrater kappa --json` prints: the rows of a summary, whose names are a contract with scripts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::fleiss::FleissKappa;
use super::measures::{BootstrapInterval, TwoRaters};
use super::ratings::{CategoryOrder, Reading};
use super::remarks::Finding;
use super::{Coefficient, FamilyInterval, Scheme, Undefined};

/// A coefficient with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CoefficientRow {
    /// The coefficient.
    pub coef: Option<f64>,
    /// Its standard error.
    pub se: Option<f64>,
    /// Observed agreement.
    pub pa: Option<f64>,
    /// Chance agreement.
    pub pe: Option<f64>,
    /// Items in it.
    pub n: u64,
    /// Student's t interval.
    pub ci95: Option<[f64; 2]>,
    /// Why a value is missing.
    pub reason: Option<&'static str>,
}

impl From<Coefficient> for CoefficientRow {
    fn from(found: Coefficient) -> Self {
        let Coefficient { coef, se, pa, pe, n, .. } = found;
        let interval = found.interval(0.95);
        Self { coef, se, pa, pe, n, ci95: interval.ok(), reason: interval.err().map(Undefined::code) }
    }
}

impl CoefficientRow {
    pub(super) fn missing(reason: &'static str) -> Self {
        Self { coef: None, se: None, pa: None, pe: None, n: 0, ci95: None, reason: Some(reason) }
    }
}

/// The coefficients for any number of raters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Panels {
    /// Mean agreement of pairs of ratings.
    pub percent: CoefficientRow,
    /// Fleiss' kappa.
    pub fleiss: CoefficientRow,
    /// Conger's.
    pub conger: CoefficientRow,
    /// Light's.
    pub light: CoefficientRow,
    /// Randolph's.
    pub randolph: CoefficientRow,
    /// Gwet's AC1, with weights AC2.
    pub gwet: CoefficientRow,
    /// Krippendorff's alpha with the same weights.
    pub krippendorff: CoefficientRow,
    /// Brennan and Prediger's.
    pub brennan_prediger: CoefficientRow,
}

/// Krippendorff's alpha under one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlphaRow {
    /// Alpha.
    pub alpha: Option<f64>,
    /// Its bootstrap interval; items are resampled.
    pub ci95_bootstrap: Option<BootstrapInterval>,
    /// Items with two ratings or more.
    pub units: u64,
    /// Their ratings.
    pub ratings: u64,
    /// Why alpha is missing.
    pub reason: Option<&'static str>,
}

/// Two raters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Two {
    /// Their measures.
    #[serde(flatten)]
    pub all: TwoRaters,
    /// `gwet_ac1_se` under the name of the program whose definition it is.
    pub gwet_ac1_se_irrcac: Option<f64>,
    /// The bootstrap interval of unweighted kappa with whole families resampled; absent where all items stand alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95_family: Option<FamilyInterval>,
    /// Why a measure is null, by its name.
    pub reasons: BTreeMap<&'static str, &'static str>,
}

/// One pair of many raters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairRow {
    /// First rater.
    pub first: String,
    /// Second rater.
    pub second: String,
    /// Items rated by both.
    pub n: u64,
    /// Observed (weighted) agreement.
    pub po: Option<f64>,
    /// (Weighted) kappa.
    pub kappa: Option<f64>,
    /// Its standard error.
    pub se: Option<f64>,
    /// κ ± 1.96 SE.
    pub ci95: Option<[f64; 2]>,
    /// The bootstrap interval of unweighted kappa with whole families resampled; absent where all items stand alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95_family: Option<FamilyInterval>,
    /// Why a value is missing.
    pub reason: Option<Undefined>,
}

/// More than two raters, or raters without names.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Crowd {
    /// Items with two ratings or more.
    pub n: u64,
    /// The weights; absent without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Scheme>,
    /// The categories in their order.
    pub categories: Vec<String>,
    /// Krippendorff's alpha for nominal categories.
    pub krippendorff_alpha_nominal: Option<f64>,
    /// Fleiss' test of zero; null where items have different numbers of ratings or nothing varies.
    pub fleiss_test: Option<FleissKappa>,
    /// Why it is null.
    pub fleiss_test_reason: Option<Undefined>,
    /// Kappa of every pair of raters.
    pub pairs: Vec<PairRow>,
}

/// Agreement on one label.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The label; null where the input names none.
    pub label: Option<String>,
    /// The raters in the order of the table.
    pub raters: Vec<String>,
    /// Items read: `n` and `dropped` make them up.
    pub items: u64,
    /// How the order of the categories was found.
    pub category_order: CategoryOrder,
    /// Two raters.
    #[serde(flatten)]
    pub two: Option<Box<Two>>,
    /// More raters.
    #[serde(flatten)]
    pub crowd: Option<Box<Crowd>>,
    /// Coefficients for any number of raters; absent for a contingency table.
    #[serde(flatten)]
    pub panel: Option<Box<Panels>>,
    /// Alpha under each metric.
    pub krippendorff_alpha: BTreeMap<&'static str, AlphaRow>,
    /// Items not in `n`, by reason.
    pub dropped: BTreeMap<&'static str, u64>,
    /// What reading met.
    pub reading: Reading,
    /// What a reader should know.
    pub findings: Vec<Finding>,
}
