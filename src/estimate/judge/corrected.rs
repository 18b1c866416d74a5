//! The rate of a label over the batch when the judge answered all of it and people a part: the difference estimator, which
//! assumes nothing about the judge's errors, only that the people's cases are a random part of each stratum.

use serde::Serialize;

use super::super::difference::{DifferenceEstimate, PairedPart, difference, tuned};
use crate::model::{Audit, AuditCase, LabelId, RaterName, RatingValue, StratumId};

/// What people said about a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// 1.
    Yes,
    /// 0.
    No,
    /// They differ, and nobody has ruled.
    Disputed,
    /// Something that is neither 0 nor 1.
    Other,
    /// Nobody of them rated it.
    Unrated,
}

/// A rate with the judge's errors corrected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CorrectedRate {
    /// Cases of the batch that the judge answered with 0 or 1: the rate is theirs.
    pub judged: u64,
    /// Of these, answered 1.
    pub judged_yes: u64,
    /// Of `judged`, rated 0 or 1 by people too.
    pub with_people: u64,
    /// Of `with_people`, people said 1.
    pub people_yes: u64,
    /// Of `judged`, people differ and nobody has ruled: not used.
    pub disputed: u64,
    /// Of `judged`, people said that it does not apply or cannot be judged: not used.
    pub people_other: u64,
    /// Cases on which the judge gave neither 0 nor 1 (n.a., cannot judge, no verdict, not asked): outside the rate.
    pub outside: u64,
    /// Strata with judged cases of which people rated none; while there are any, there is no corrected rate.
    pub strata_without_people: Vec<StratumId>,
    /// The difference estimator.
    pub difference: Option<DifferenceEstimate>,
    /// The same with the judge used as much as it helps.
    pub tuned: Option<DifferenceEstimate>,
    /// Why something is missing.
    pub reason: Option<String>,
}

pub(super) fn of(audit: &Audit, judge: &RaterName, people: &[RaterName], label: &LabelId) -> CorrectedRate {
    let mut found = CorrectedRate {
        judged: 0,
        judged_yes: 0,
        with_people: 0,
        people_yes: 0,
        disputed: 0,
        people_other: 0,
        outside: 0,
        strata_without_people: Vec::new(),
        difference: None,
        tuned: None,
        reason: None,
    };
    let mut parts = Vec::new();
    for stratum in &audit.strata {
        let mut part = PairedPart::default();
        for case in audit.cases.iter().filter(|case| case.stratum == stratum.id) {
            let Some(hit) = yes(case.value(judge, label)) else {
                found.outside += 1;
                continue;
            };
            part.population += 1;
            part.hits += u64::from(hit);
            match (reference(audit, case, people, label), hit) {
                (Reference::Yes, true) => part.tp += 1,
                (Reference::Yes, false) => part.false_negatives += 1,
                (Reference::No, true) => part.fp += 1,
                (Reference::No, false) => part.tn += 1,
                (Reference::Disputed, _) => found.disputed += 1,
                (Reference::Other, _) => found.people_other += 1,
                (Reference::Unrated, _) => {}
            }
        }
        if part.population > 0 && part.n() == 0 {
            found.strata_without_people.push(stratum.id.clone());
        }
        found.judged += part.population;
        found.judged_yes += part.hits;
        found.with_people += part.n();
        found.people_yes += part.tp + part.false_negatives;
        parts.push(part);
    }
    if found.strata_without_people.is_empty() {
        match difference(&parts, 0.95) {
            Ok(estimate) => found.difference = Some(estimate),
            Err(error) => found.reason = Some(error.to_string()),
        }
        if found.difference.is_some() {
            match tuned(&parts, 0.95) {
                Ok(estimate) => found.tuned = Some(estimate),
                Err(error) => found.reason = Some(error.to_string()),
            }
        }
    } else {
        let strata: Vec<String> = found.strata_without_people.iter().map(ToString::to_string).collect();
        found.reason = Some(format!("people rated no case of stratum {}", strata.join(", ")));
    }
    found
}

fn yes(value: Option<&RatingValue>) -> Option<bool> {
    match value.map(RatingValue::as_str) {
        Some("1") => Some(true),
        Some("0") => Some(false),
        _ => None,
    }
}

/// The people's answer: the final value where both raters of record are people, else what all who answered agree on.
fn reference(audit: &Audit, case: &AuditCase, people: &[RaterName], label: &LabelId) -> Reference {
    let values: Vec<&RatingValue> = people.iter().filter_map(|person| case.value(person, label)).collect();
    let Some(first) = values.first() else { return Reference::Unrated };
    let ruled = audit
        .pair
        .as_ref()
        .filter(|(one, other)| people.contains(one) && people.contains(other))
        .and_then(|(one, other)| case.final_value((one, other), label));
    let agreed = values.iter().all(|value| value == first).then_some(*first);
    match ruled.or(agreed) {
        None => Reference::Disputed,
        Some(value) => match yes(Some(value)) {
            Some(true) => Reference::Yes,
            Some(false) => Reference::No,
            None => Reference::Other,
        },
    }
}
