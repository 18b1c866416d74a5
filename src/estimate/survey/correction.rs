//! An automatic value known for more cases than the label: prediction-powered means and the Rogan–Gladen rate of a table.

use super::{Answer, PpiRow, RoganGladenRow, Survey};
use crate::estimate::ppi::{self, Convention, Lambda, PpiStratum};
use crate::estimate::rogan_gladen::{Accuracy, Apparent, correct};
use crate::estimate::{Interval, Method, proportion};

pub(super) fn prediction_powered(survey: &Survey, level: f64) -> Vec<PpiRow> {
    let parts: Vec<(Vec<f64>, Vec<f64>, Vec<f64>)> = (0..survey.strata.len())
        .map(|at| {
            let (labels, predictions) = survey.of(at).filter_map(|case| case.value.zip(case.metric)).unzip();
            let rest = survey.of(at).filter(|case| case.value.is_none()).filter_map(|case| case.metric).collect();
            (labels, predictions, rest)
        })
        .collect();
    let strata: Vec<PpiStratum<'_>> =
        parts.iter().map(|(labels, predictions, unlabelled)| PpiStratum { labels, predictions, unlabelled }).collect();
    let under = |lambda, convention| match strata.as_slice() {
        [one] => ppi::mean(*one, lambda, convention, level),
        several => ppi::stratified(several, lambda, convention, level),
    };
    let answer = |lambda, convention| {
        under(lambda, convention).map_or_else(
            |_| {
                Answer::missing(
                    "every stratum needs two cases with label and automatic value, and two with the latter alone",
                )
            },
            Answer::Found,
        )
    };
    [("1", Lambda::Fixed(1.0)), ("0", Lambda::Fixed(0.0)), ("tuned", Lambda::Tuned)]
        .map(|(name, lambda)| PpiRow {
            lambda: name,
            ppi_python: answer(lambda, Convention::PpiPython),
            glide: answer(lambda, Convention::Glide),
        })
        .into()
}

impl Survey {
    /// The Rogan–Gladen rate of a stratum.
    pub(super) fn corrected(&self, at: usize, level: f64) -> RoganGladenRow {
        let count = |value: f64, metric: f64| {
            self.of(at).filter(|case| case.value == Some(value) && case.metric == Some(metric)).count() as u64
        };
        let (tp, fn_, fp, tn) = (count(1.0, 1.0), count(1.0, 0.0), count(0.0, 1.0), count(0.0, 0.0));
        let rest: Vec<f64> = self.of(at).filter(|case| case.value.is_none()).filter_map(|case| case.metric).collect();
        let share = |k: u64, n: u64| (n > 0).then(|| k as f64 / n as f64);
        let limits = |k: u64, n: u64| proportion(Method::Wilson, k, n, level).ok().map(Interval::limits);
        let accuracy = |k: u64, n: u64| Accuracy { rate: share(k, n).unwrap_or(0.0), cases: n as f64 };
        let size = rest.len() as f64;
        let apparent = (size > 0.0).then(|| rest.iter().sum::<f64>() / size);
        RoganGladenRow {
            stratum: self.strata.get(at).map(|stratum| stratum.name.clone()).unwrap_or_default(),
            apparent,
            sensitivity: share(tp, tp + fn_),
            sensitivity_ci95: limits(tp, tp + fn_),
            specificity: share(tn, tn + fp),
            specificity_ci95: limits(tn, tn + fp),
            corrected: apparent.map_or_else(
                || Answer::missing("no case without a label has an automatic value"),
                |rate| {
                    let apparent = Apparent { rate, cases: Some(size) };
                    Answer::from_result(correct(apparent, accuracy(tp, tp + fn_), accuracy(tn, tn + fp), level))
                },
            ),
        }
    }
}
