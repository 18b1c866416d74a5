//! Rationales that repeat: from case to case (a rater who fills in a phrase has not looked at the case), or between the two
//! raters of one case (one has seen the other, or both are one).
//!
//! Two rationales are nearly the same where at least four fifths of their runs of three words are shared, numbers taken for
//! equal. Short ones (under eight words) say too little to be compared, and those of *n.a.* may well repeat.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::super::diagnose::{Finding, Kind};
use super::super::{Z95, percent, tails};
use crate::model::{Audit, LabelId, RaterName, RatingValue};

/// Words that a rationale needs to be compared.
const WORDS: usize = 8;
/// Rationales needed before repetition is a finding.
const ENOUGH: u64 = 10;
/// The share of rationales above which repetition is a finding.
const MANY: f64 = 0.5;
/// The share of cases above which two raters' sameness is a finding.
const SHARED: f64 = 0.05;

/// A rater's rationales on a label.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RepeatedRow {
    /// The rater.
    pub rater: RaterName,
    /// The label.
    pub label: LabelId,
    /// Rationales long enough to be compared.
    pub compared: u64,
    /// Of these, nearly the same as that of another case.
    pub repeated: u64,
    /// The share.
    pub share: f64,
    /// Wilson's interval, at the level of all rows together.
    pub interval: [f64; 2],
}

/// Rationales that two raters gave to the same case and label.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharedRow {
    /// Cases with a label on which both gave a rationale long enough to be compared.
    pub compared: u64,
    /// Of these, with at least one label on which they are nearly the same.
    pub shared: u64,
    /// The share.
    pub share: f64,
    /// Wilson's interval.
    pub interval: [f64; 2],
}

/// Sorted runs of three words; `None` where the text is too short.
fn shingles(text: &str) -> Option<Vec<u64>> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .map(|word| if word.chars().all(char::is_numeric) { "#".to_owned() } else { word.to_lowercase() })
        .collect();
    if words.len() < WORDS {
        return None;
    }
    let runs: BTreeSet<u64> = words.windows(3).map(|run| fnv(&run.join(" "))).collect();
    Some(runs.into_iter().collect())
}

/// FNV-1a: the same on every machine.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Are both long enough and nearly the same?
#[must_use]
pub fn nearly_same(one: &str, other: &str) -> bool {
    shingles(one).zip(shingles(other)).is_some_and(|(one, other)| near(&one, &other))
}

/// Jaccard's index of at least 4/5, of sorted lists.
fn near(one: &[u64], other: &[u64]) -> bool {
    let common = one.iter().filter(|run| other.binary_search(run).is_ok()).count();
    5 * common >= 4 * (one.len() + other.len() - common)
}

/// How many of these have one that is nearly the same among the others. Exact, and fast where few are: two lists with an
/// index of 4/5 share one of their rarest runs (prefix filter: Chaudhuri, Ganti & Kaushik 2006).
fn with_a_twin(lists: &[Vec<u64>]) -> u64 {
    let mut equal: BTreeMap<&[u64], u64> = BTreeMap::new();
    for list in lists {
        *equal.entry(list.as_slice()).or_default() += 1;
    }
    let mut frequency: BTreeMap<u64, u64> = BTreeMap::new();
    for list in equal.keys() {
        for run in *list {
            *frequency.entry(*run).or_default() += 1;
        }
    }
    let distinct: Vec<(&[u64], u64)> = equal.into_iter().collect();
    let mut twin: Vec<bool> = distinct.iter().map(|(_, count)| *count > 1).collect();
    let mut index: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (at, (list, _)) in distinct.iter().enumerate() {
        let mut rare = list.to_vec();
        rare.sort_by_key(|run| (frequency.get(run).copied().unwrap_or(0), *run));
        rare.truncate(list.len() - (4 * list.len()).div_ceil(5) + 1);
        let mut seen = BTreeSet::new();
        for run in rare {
            let others = index.entry(run).or_default();
            for other in others.iter().filter(|other| seen.insert(**other)) {
                let done = twin.get(at) == Some(&true) && twin.get(*other) == Some(&true);
                if !done && distinct.get(*other).is_some_and(|(other, _)| near(list, other)) {
                    for place in [at, *other] {
                        if let Some(twin) = twin.get_mut(place) {
                            *twin = true;
                        }
                    }
                }
            }
            others.push(at);
        }
    }
    distinct.iter().zip(twin).filter(|(_, twin)| *twin).map(|((_, count), _)| count).sum()
}

/// A row per rater and label with rationales to compare.
pub(super) fn repeated(audit: &Audit, raters: &[&RaterName]) -> Vec<RepeatedRow> {
    let mut counts = Vec::new();
    for rater in raters {
        for label in &audit.labels {
            let lists: Vec<Vec<u64>> = audit
                .cases
                .iter()
                .filter_map(|case| case.ratings.get(*rater)?.get(label))
                .filter(|rating| rating.value != RatingValue::NotApplicable)
                .filter_map(|rating| shingles(&rating.rationale))
                .collect();
            if lists.len() as u64 >= ENOUGH {
                counts.push(((*rater).clone(), label.clone(), lists.len() as u64, with_a_twin(&lists)));
            }
        }
    }
    let z = tails::z_of_level(1.0 - 0.05 / counts.len().max(1) as f64).unwrap_or(Z95);
    counts
        .into_iter()
        .filter_map(|(rater, label, compared, repeated)| {
            let (low, high) = percent::wilson(repeated, compared, z)?;
            let share = repeated as f64 / compared as f64;
            Some(RepeatedRow { rater, label, compared, repeated, share, interval: [low, high] })
        })
        .collect()
}

/// The rationales that the two raters of a case share.
pub(super) fn shared(audit: &Audit, pair: (&RaterName, &RaterName)) -> Option<SharedRow> {
    let (mut compared, mut same) = (0, 0);
    for case in &audit.cases {
        let (Some(first), Some(second)) = (case.ratings.get(pair.0), case.ratings.get(pair.1)) else { continue };
        let both: Vec<bool> = first
            .iter()
            .filter_map(|(label, rating)| {
                let other = second.get(label)?;
                let applies = |value: &RatingValue| *value != RatingValue::NotApplicable;
                let lists = shingles(&rating.rationale).zip(shingles(&other.rationale));
                lists.filter(|_| applies(&rating.value) && applies(&other.value)).map(|(one, other)| near(&one, &other))
            })
            .collect();
        compared += u64::from(!both.is_empty());
        same += u64::from(both.contains(&true));
    }
    let (low, high) = percent::wilson(same, compared, Z95)?;
    Some(SharedRow { compared, shared: same, share: same as f64 / compared as f64, interval: [low, high] })
}

/// One finding per rater, at its most repeated label, and one for the pair.
pub(super) fn findings(rows: &[RepeatedRow], shared: Option<&SharedRow>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut raters: Vec<&RaterName> = rows.iter().map(|row| &row.rater).collect();
    raters.dedup();
    for rater in raters {
        let mut own: Vec<&RepeatedRow> =
            rows.iter().filter(|row| row.rater == *rater && row.interval[0] > MANY).collect();
        own.sort_by(|one, other| other.interval[0].total_cmp(&one.interval[0]));
        let Some(worst) = own.first() else { continue };
        let others: Vec<&str> = own.iter().skip(1).map(|row| row.label.as_str()).collect();
        let also =
            if others.is_empty() { String::new() } else { format!(" The same holds for {}.", others.join(", ")) };
        findings.push(Finding {
            kind: Kind::RepeatedRationales,
            label: Some(worst.label.to_string()),
            text: format!(
                "{} of {}'s {} rationales ({:.0} %, {:.0} to {:.0}) are nearly the same as that of another case. A phrase that \
                 fits any case shows no reading of this one; read some of these cases again.{also}",
                worst.repeated,
                worst.rater,
                worst.compared,
                100.0 * worst.share,
                100.0 * worst.interval[0],
                100.0 * worst.interval[1],
            ),
            measure: "share of rationales nearly the same as another case's",
            effect: worst.share,
            interval: Some(worst.interval),
        });
    }
    findings.extend(shared.filter(|row| row.interval[0] > SHARED && row.compared >= ENOUGH).map(|row| Finding {
        kind: Kind::SharedRationales,
        label: None,
        text: format!(
            "In {} of {} cases ({:.0} %, {:.0} to {:.0}) both raters gave nearly the same rationale to a label. Either one saw \
             the other's answers or both are one source; their agreement is then no independent evidence.",
            row.shared,
            row.compared,
            100.0 * row.share,
            100.0 * row.interval[0],
            100.0 * row.interval[1],
        ),
        measure: "share of cases with a rationale that both raters share",
        effect: row.share,
        interval: Some(row.interval),
    }));
    findings
}
