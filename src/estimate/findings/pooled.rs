//! What is told of the whole audit: its strata, the raters' agreement over the frame, disagreeing cases, notes.

use std::collections::BTreeMap;

use super::case::{Answer, AuditedCase, Frame, Reach};
use super::cross::{design_kappa, reached};
use super::row::LEVEL;
use super::{DisagreeingCase, Input, Metric, StratumRow};
use crate::estimate::weighted::{Part, weighted_rate};
use crate::estimate::weighted_kappa::WeightedKappa;

/// Agreement of the two raters, *n.a.* and missing values left out, weighted by the design.
pub(super) fn raters_kappa(input: &Input) -> WeightedKappa {
    let Some(populations) = reached(input, |_| true) else {
        return WeightedKappa::missing("the frame is not known");
    };
    let mut categories: BTreeMap<&str, usize> = BTreeMap::new();
    for value in input.cases.iter().flat_map(|case| case.values.iter().flatten()).filter_map(|value| value.value()) {
        let next = categories.len();
        categories.entry(value).or_insert(next);
    }
    let cases: Vec<&AuditedCase> = input.cases.iter().collect();
    design_kappa(&populations, &cases, |case| {
        let place = |at: usize| categories.get(case.values.get(at)?.as_ref()?.value()?).copied();
        place(0).zip(place(1))
    })
}

pub(super) fn strata(input: &Input) -> Vec<StratumRow> {
    let populations = reached(input, |_| true);
    input
        .strata
        .iter()
        .map(|stratum| {
            let cases: Vec<&AuditedCase> = input.cases.iter().filter(|case| case.stratum == stratum.id).collect();
            let count = |keep: fn(&Answer) -> bool| cases.iter().filter(|case| keep(&case.answer)).count() as u64;
            let answered = count(|answer| answer.answered());
            let na = count(|answer| *answer == Answer::NotApplicable);
            let unanswered = cases.len() as u64 - answered;
            let known = populations.as_ref().and_then(|populations| populations.get(&stratum.id).copied());
            let population = known.or(stratum.population);
            let part = Part {
                population: known.unwrap_or_default(),
                answered,
                applicable: answered - na,
                k: count(|answer| *answer == Answer::One),
                unanswered,
            };
            let found = known.and_then(|_| weighted_rate(&[part], LEVEL).ok());
            StratumRow {
                stratum: stratum.id.clone(),
                population,
                drawn: stratum.drawn,
                answered,
                na,
                unanswered,
                weight: known.filter(|_| answered > 0).map(|known| known as f64 / answered as f64),
                rate: found.map(|found| found.rate),
                ci95: found.map(|found| found.ci95),
            }
        })
        .collect()
}

pub(super) fn disagreeing(input: &Input, metric: Metric) -> Vec<DisagreeingCase> {
    input
        .cases
        .iter()
        .filter_map(|case| {
            let (label, hit) = case.both(metric)?;
            (label != hit).then(|| DisagreeingCase {
                metric,
                case: case.case.clone(),
                cell: case.cell.name(),
                stratum: case.stratum.clone(),
                label_value: u8::from(label),
                hit,
                cue: case.cues.get(metric.place()).cloned().unwrap_or_default(),
            })
        })
        .collect()
}

pub(super) fn notes(input: &Input) -> Vec<String> {
    let mut notes = Vec::new();
    let count = |answer: Answer| input.cases.iter().filter(|case| case.answer == answer).count() as u64;
    for (cases, what) in [
        (count(Answer::Open), "have no final value yet (a rating or a ruling is missing)"),
        (count(Answer::CannotJudge), "could not be judged"),
        (count(Answer::Unusable), "were unusable"),
    ] {
        if cases > 0 {
            notes.push(format!(
                "{cases} of {} cases {what}; the others of their stratum stand for them, and the bounds say how far that can \
                 be wrong.",
                input.cases.len()
            ));
        }
    }
    if let Frame::Known { groups } = &input.frame {
        let undrawable: u64 =
            groups.iter().filter(|group| group.reach == Reach::Undrawable).map(|group| group.cases).sum();
        if undrawable > 0 {
            notes.push(format!(
                "{undrawable} records of the frame have a missing id or repeat another's; they are counted nowhere here, but \
                 in `gar`."
            ));
        }
    }
    notes
}
