//! Prediction-powered means: a few cases with both a label and the automatic value, many with the automatic value alone, all
//! drawn from one law. With the conventions of two public implementations, so that their numbers can be checked.
//!
//! An audit of a benchmark is another case: the automatic value is known for every case of a *finite* frame. Its estimator
//! is in [`super::difference`]; the two agree when the frame is far larger than the sample.

use serde::Serialize;

use super::EstimateError;
use super::normal::z_of_level;

/// How variances are taken, and λ with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Convention {
    /// ppi-python: variances over n, λ held within 0 to 1.
    PpiPython,
    /// glide: variances over n − 1, λ not held.
    Glide,
}

/// How strongly the automatic value is used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lambda {
    /// A given λ: 1 is the difference estimator, 0 the labels alone.
    Fixed(f64),
    /// The λ of least variance, from the sample (PPI++).
    Tuned,
}

/// A prediction-powered mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PpiMean {
    /// The estimate.
    pub est: f64,
    /// Its standard error.
    pub se: f64,
    /// Estimate ± z·SE.
    pub ci95: [f64; 2],
    /// The λ used; of several strata, none.
    pub lambda: Option<f64>,
}

/// Labelled and unlabelled cases of one stratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PpiStratum<'a> {
    /// The labels.
    pub labels: &'a [f64],
    /// The automatic values of the same cases.
    pub predictions: &'a [f64],
    /// The automatic values of the cases without a label.
    pub unlabelled: &'a [f64],
}

/// λ·mean(f, unlabelled) + mean(y − λ f), with variance λ² var(f)/N + var(y − λ f)/n. Angelopoulos et al. 2023, Science
/// 382:669-674; the tuned λ = cov(y, f)/((1 + n/N) var(f)): Angelopoulos, Duchi & Zrnic 2023, PPI++, arXiv 2311.01453, ex. 6.1.
///
/// # Errors
/// Lists of different length, fewer than two labels or unlabelled cases, a level outside (0, 1).
pub fn mean(
    stratum: PpiStratum<'_>,
    lambda: Lambda,
    convention: Convention,
    level: f64,
) -> Result<PpiMean, EstimateError> {
    let (est, variance, lambda) = parts(stratum, lambda, convention)?;
    Ok(around(est, variance, Some(lambda), z_of_level(level)?))
}

/// The same over strata, each weighted by its share of all cases, λ tuned in each on its own. Fisch et al. 2024,
/// Stratified Prediction-Powered Inference, arXiv 2406.04291.
///
/// # Errors
/// As [`mean`].
pub fn stratified(
    strata: &[PpiStratum<'_>],
    lambda: Lambda,
    convention: Convention,
    level: f64,
) -> Result<PpiMean, EstimateError> {
    let size = |stratum: &PpiStratum<'_>| (stratum.labels.len() + stratum.unlabelled.len()) as f64;
    let all: f64 = strata.iter().map(size).sum();
    let (mut est, mut variance) = (0.0, 0.0);
    for stratum in strata {
        let (own, own_variance, _) = parts(*stratum, lambda, convention)?;
        let share = size(stratum) / all;
        est += share * own;
        variance += share * share * own_variance;
    }
    if strata.is_empty() {
        return Err(EstimateError::NoTrials);
    }
    Ok(around(est, variance, None, z_of_level(level)?))
}

fn around(est: f64, variance: f64, lambda: Option<f64>, z: f64) -> PpiMean {
    let se = variance.max(0.0).sqrt();
    PpiMean { est, se, ci95: [est - z * se, est + z * se], lambda }
}

fn parts(stratum: PpiStratum<'_>, lambda: Lambda, convention: Convention) -> Result<(f64, f64, f64), EstimateError> {
    let PpiStratum { labels, predictions, unlabelled } = stratum;
    if labels.len() != predictions.len() || labels.len() < 2 || unlabelled.len() < 2 {
        return Err(EstimateError::NoTrials);
    }
    let less = if convention == Convention::Glide { 1.0 } else { 0.0 };
    let (n, all) = (labels.len() as f64, unlabelled.len() as f64);
    let lambda = match lambda {
        Lambda::Fixed(lambda) => lambda,
        Lambda::Tuned => {
            let pooled: Vec<f64> = predictions.iter().chain(unlabelled).copied().collect();
            // Both take the pooled variance over one case less.
            let denominator = (1.0 + n / all) * covariance(&pooled, &pooled, 1.0);
            let tuned = if denominator > 0.0 { covariance(labels, predictions, less) / denominator } else { 0.0 };
            if convention == Convention::PpiPython { tuned.clamp(0.0, 1.0) } else { tuned }
        }
    };
    let rest: Vec<f64> = labels.iter().zip(predictions).map(|(y, f)| y - lambda * f).collect();
    let est = lambda * average(unlabelled) + average(&rest);
    let variance =
        lambda * lambda * covariance(unlabelled, unlabelled, less) / all + covariance(&rest, &rest, less) / n;
    Ok((est, variance, lambda))
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn covariance(a: &[f64], b: &[f64], less: f64) -> f64 {
    let (x, y) = (average(a), average(b));
    a.iter().zip(b).map(|(u, v)| (u - x) * (v - y)).sum::<f64>() / (a.len() as f64 - less)
}
