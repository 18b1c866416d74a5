//! Everything that a table of sampled cases says without a database: mean and total of a stratified sample, a weighted rate,
//! weighted kappa, kappa of the strata, prediction-powered means and the Rogan–Gladen rate; what `dualrater rate-weighted` prints.

mod agreement;
mod correction;

use std::collections::BTreeMap;

use serde::Serialize;

use super::ppi::PpiMean;
use super::rogan_gladen::RoganGladen;
use super::stratified::{self, Stratified, StratumValues};
use super::weighted::{Part, WeightedRate, weighted_rate};
use super::weighted_kappa::WeightedKappa;
use super::{EstimateError, Interval, clustered, z_of_level};
use crate::agree::pooled::PooledKappa;

/// A stratum of the population.
#[derive(Debug, Clone, PartialEq)]
pub struct SurveyStratum {
    /// Its name.
    pub name: String,
    /// Cases in the population (clusters, where clusters were drawn); `None`: not known, taken as without end.
    pub population: Option<u64>,
}

/// A case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurveyCase {
    /// The stratum: its place in the list.
    pub stratum: usize,
    /// The cluster's number; `None` where cases were drawn one by one.
    pub cluster: Option<usize>,
    /// The label; `None`: the case has none.
    pub value: Option<f64>,
    /// The automatic value.
    pub metric: Option<f64>,
    /// Two raters' values: numbers of categories.
    pub pair: Option<(usize, usize)>,
}

/// The table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Survey {
    /// The strata in their order.
    pub strata: Vec<SurveyStratum>,
    /// The raters' categories in their order.
    pub categories: Vec<String>,
    /// The cases.
    pub cases: Vec<SurveyCase>,
}

/// A value, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer<T> {
    /// The value.
    Found(T),
    /// No value.
    Missing {
        /// Why.
        reason: String,
    },
}

impl<T> Answer<T> {
    fn missing(reason: impl Into<String>) -> Self {
        Self::Missing { reason: reason.into() }
    }

    fn from_result<E: std::fmt::Display>(result: Result<T, E>) -> Self {
        result.map_or_else(|error| Self::missing(error.to_string()), Self::Found)
    }

    /// The value, where there is one.
    pub fn found(&self) -> Option<&T> {
        match self {
            Self::Found(value) => Some(value),
            Self::Missing { .. } => None,
        }
    }
}

/// What is known of a stratum.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumRow {
    /// Its name.
    pub stratum: String,
    /// Cases (clusters) in the population.
    #[serde(rename = "N")]
    pub population: Option<u64>,
    /// Labelled cases.
    pub n: u64,
    /// Cases without a label.
    pub unlabelled: u64,
    /// Mean label.
    pub mean: Option<f64>,
    /// Standard deviation of the label, over n − 1.
    pub sd: Option<f64>,
}

/// A stratified mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanRow {
    /// Mean, total, standard errors.
    #[serde(flatten)]
    pub estimate: Stratified,
    /// Mean ± z·SE.
    pub ci95_normal: Option<[f64; 2]>,
}

/// A rate over clusters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClusterRow {
    /// The share.
    pub rate: f64,
    /// Its standard error.
    pub se: Option<f64>,
    /// Its interval.
    pub ci95: Option<[f64; 2]>,
    /// Clusters.
    pub clusters: u64,
    /// Cases.
    pub n: u64,
}

/// Weighted kappa with the table behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KappaRow {
    /// Kappa.
    #[serde(flatten)]
    pub estimate: WeightedKappa,
    /// Categories, in the order of rows and columns.
    pub categories: Vec<String>,
    /// Shares of the population in the cells; rows are the first rater.
    pub weighted_cells: Vec<Vec<f64>>,
    /// Kappa of the sample as it is, weights ignored.
    pub unweighted_kappa: Option<f64>,
}

/// Kappa of each stratum, weights aside, and their inverse-variance mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrataKappa {
    /// The strata with kappa and its standard error.
    pub strata: Vec<StratumKappa>,
    /// The mean and the test of equal kappas.
    pub pooled: Answer<PooledKappa>,
}

/// A stratum's kappa.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumKappa {
    /// The stratum.
    pub stratum: String,
    /// Cases with both values.
    pub n: u64,
    /// Kappa.
    pub kappa: Option<f64>,
    /// Its standard error.
    pub se: Option<f64>,
}

/// Prediction-powered means under both public conventions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PpiRow {
    /// λ = 1, λ = 0 (the labels alone) or tuned.
    pub lambda: &'static str,
    /// Variances over n, λ within 0 to 1.
    pub ppi_python: Answer<PpiMean>,
    /// Variances over n − 1, λ not held.
    pub glide: Answer<PpiMean>,
}

/// A stratum's Rogan–Gladen rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoganGladenRow {
    /// The stratum.
    pub stratum: String,
    /// Share of the cases without a label in which the automatic value is 1.
    pub apparent: Option<f64>,
    /// Among labelled 1, the automatic value is 1.
    pub sensitivity: Option<f64>,
    /// Its Wilson interval.
    pub sensitivity_ci95: Option<[f64; 2]>,
    /// Among labelled 0, the automatic value is 0.
    pub specificity: Option<f64>,
    /// Its Wilson interval.
    pub specificity_ci95: Option<[f64; 2]>,
    /// The corrected rate.
    pub corrected: Answer<RoganGladen>,
}

/// Everything that the table says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SurveySummary {
    /// The level of all intervals.
    pub level: f64,
    /// The strata.
    pub strata: Vec<StratumRow>,
    /// Mean and total under the design.
    pub mean: Answer<MeanRow>,
    /// The rate under the design, with the interval that audits use; only of labels 0 and 1.
    pub rate: Answer<WeightedRate>,
    /// The rate over clusters, where clusters were drawn.
    pub clustered: Option<Answer<ClusterRow>>,
    /// Agreement of two raters under the design, where two were named.
    pub weighted_kappa: Option<Answer<KappaRow>>,
    /// Kappa stratum by stratum, where there are several.
    pub stratum_kappa: Option<StrataKappa>,
    /// Prediction-powered means, where there is an automatic value.
    pub ppi: Vec<PpiRow>,
    /// Rogan–Gladen rates, one a stratum, where label and automatic value are 0 or 1.
    pub rogan_gladen: Vec<RoganGladenRow>,
}

/// Summarises a table.
///
/// # Errors
/// A level outside (0, 1).
pub fn summarise(survey: &Survey, level: f64) -> Result<SurveySummary, EstimateError> {
    let z = z_of_level(level)?;
    let clusters = survey.cases.iter().any(|case| case.cluster.is_some());
    let binary = |value: Option<f64>| value.is_none_or(|value| value == 0.0 || is_one(value));
    let zero_one = survey.cases.iter().all(|case| binary(case.value));
    let with_metric = survey.cases.iter().any(|case| case.metric.is_some());
    let rates = with_metric && zero_one && survey.cases.iter().all(|case| binary(case.metric));
    let (mean, rate) = if clusters {
        let reason = "clusters were drawn, not cases: see `clustered`";
        (Answer::missing(reason), Answer::missing(reason))
    } else {
        (mean(survey, z), if zero_one { rate(survey, level) } else { Answer::missing("labels other than 0 and 1") })
    };
    Ok(SurveySummary {
        level,
        strata: (0..survey.strata.len()).map(|at| survey.row(at)).collect(),
        mean,
        rate,
        clustered: clusters.then(|| by_cluster(survey, zero_one, level)),
        weighted_kappa: survey
            .cases
            .iter()
            .any(|case| case.pair.is_some())
            .then(|| agreement::agreement(survey, clusters)),
        stratum_kappa: (survey.strata.len() > 1 && survey.cases.iter().any(|case| case.pair.is_some()))
            .then(|| agreement::stratum_kappa(survey, z)),
        ppi: if with_metric { correction::prediction_powered(survey, level) } else { Vec::new() },
        rogan_gladen: if rates {
            (0..survey.strata.len()).map(|at| survey.corrected(at, level)).collect()
        } else {
            Vec::new()
        },
    })
}

fn is_one(value: f64) -> bool {
    (value - 1.0).abs() < f64::EPSILON
}

const NO_POPULATION: &str = "the size of the population is not known";

impl Survey {
    fn of(&self, at: usize) -> impl Iterator<Item = &SurveyCase> {
        self.cases.iter().filter(move |case| case.stratum == at)
    }

    fn labels(&self, at: usize) -> Vec<f64> {
        self.of(at).filter_map(|case| case.value).collect()
    }

    fn populations(&self) -> Option<Vec<u64>> {
        self.strata.iter().map(|stratum| stratum.population).collect()
    }

    fn row(&self, at: usize) -> StratumRow {
        let labels = self.labels(at);
        let n = labels.len() as f64;
        let mean = (n > 0.0).then(|| labels.iter().sum::<f64>() / n);
        let squares = mean.map(|mean| labels.iter().map(|label| (label - mean).powi(2)).sum::<f64>());
        let stratum = self.strata.get(at);
        StratumRow {
            stratum: stratum.map(|stratum| stratum.name.clone()).unwrap_or_default(),
            population: stratum.and_then(|stratum| stratum.population),
            n: labels.len() as u64,
            unlabelled: self.of(at).filter(|case| case.value.is_none()).count() as u64,
            mean,
            sd: squares.filter(|_| n > 1.0).map(|squares| (squares / (n - 1.0)).sqrt()),
        }
    }
}

fn mean(survey: &Survey, z: f64) -> Answer<MeanRow> {
    let Some(populations) = survey.populations() else { return Answer::missing(NO_POPULATION) };
    let labels: Vec<Vec<f64>> = (0..populations.len()).map(|at| survey.labels(at)).collect();
    let strata: Vec<StratumValues<'_>> = populations
        .iter()
        .zip(&labels)
        .map(|(population, values)| StratumValues { population: *population, values })
        .collect();
    Answer::from_result(stratified::mean(&strata).map(|estimate| MeanRow {
        estimate,
        ci95_normal: estimate.se.map(|se| [estimate.mean - z * se, estimate.mean + z * se]),
    }))
}

fn rate(survey: &Survey, level: f64) -> Answer<WeightedRate> {
    let Some(populations) = survey.populations() else { return Answer::missing(NO_POPULATION) };
    let parts: Vec<Part> = populations
        .iter()
        .enumerate()
        .map(|(at, population)| {
            let labels = survey.labels(at);
            Part::new(*population, labels.len() as u64, labels.iter().filter(|label| is_one(**label)).count() as u64)
        })
        .collect();
    Answer::from_result(weighted_rate(&parts, level))
}

fn by_cluster(survey: &Survey, zero_one: bool, level: f64) -> Answer<ClusterRow> {
    if survey.strata.len() > 1 || !zero_one {
        return Answer::missing("a rate over clusters is made in one stratum and of labels 0 and 1");
    }
    let mut clusters: BTreeMap<usize, (f64, u64)> = BTreeMap::new();
    for case in &survey.cases {
        if let (Some(cluster), Some(value)) = (case.cluster, case.value) {
            let own = clusters.entry(cluster).or_default();
            *own = (own.0 + value, own.1 + 1);
        }
    }
    let clusters: Vec<clustered::Cluster> = clusters.into_values().collect();
    clustered::share(&clusters, level).map_or_else(
        || Answer::missing("no case of a cluster has a label"),
        |found| {
            Answer::Found(ClusterRow {
                rate: found.estimate,
                se: found.se,
                ci95: found.interval.map(Interval::limits),
                clusters: found.clusters,
                n: found.units,
            })
        },
    )
}
