//! Values that follow from something else: an adjudicator who sides with one rater, raters who apply a rule, labels that
//! are functions of others.

use std::collections::{BTreeMap, BTreeSet};

use super::super::sides::{self, Sides};
use super::super::{Z95, pairs};
use super::{Finding, Kind, percent_text, share_limits};
use crate::model::{Audit, AuditCase, LabelId, RaterKind, RaterName, RatingValue};

/// Cases needed before "follows from" is more than a coincidence.
const ENOUGH: u64 = 30;
/// Each group of equal inputs must be this large to count as evidence.
const REPEATED: u64 = 5;

/// Does the adjudicator take one side? `label` is `None` for all labels together.
pub(super) fn adjudicator(label: Option<&LabelId>, sides: &Sides, pair: (&RaterName, &RaterName)) -> Option<Finding> {
    let (first, second) = (sides.with_first, sides.with_second);
    let limits = share_limits(first.max(second), first + second, Z95)?;
    if limits[0] <= 0.5 {
        return None;
    }
    let (favoured, other) = if first > second { (pair.0, pair.1) } else { (pair.1, pair.0) };
    let effect = first.max(second) as f64 / (first + second) as f64;
    let who = if label.is_some() { "The adjudicator" } else { "On all labels together the adjudicator" };
    let text = format!(
        "{who} ruled for {favoured} in {} of {} cases in which one of the two raters was right ({}). \
         Either {other} misreads the rule, or the adjudicator could tell the raters apart; hide who said what and shuffle \
         the sides, and let a second adjudicator rule on a sample.",
        first.max(second),
        first + second,
        percent_text(effect),
    );
    Some(Finding {
        kind: Kind::OneSidedAdjudicator,
        label: label.map(ToString::to_string),
        text,
        measure: "share of rulings for the favoured rater (0.5 without a side)",
        effect,
        interval: Some(limits),
    })
}

/// Does the adjudicator take one side over all labels together?
#[must_use]
pub fn adjudicator_all(audit: &Audit, pair: (&RaterName, &RaterName)) -> Option<Finding> {
    let mut all = Sides::default();
    for label in &audit.labels {
        let sides = sides::of(audit, pair, label);
        all.with_first += sides.with_first;
        all.with_second += sides.with_second;
    }
    adjudicator(None, &all, pair)
}

/// Raters of the pair who always give a mechanical rater's value.
#[must_use]
pub fn mechanical(audit: &Audit, pair: (&RaterName, &RaterName), label: &LabelId) -> Vec<Finding> {
    let rules = audit.raters.iter().filter(|(_, kind)| *kind == RaterKind::Mechanical).map(|(name, _)| name);
    let mut findings = Vec::new();
    for rule in rules {
        for rater in [pair.0, pair.1] {
            let found = pairs::of(audit, (rater, rule), label, pairs::NaPolicy::Category);
            let n = found.used.len() as u64;
            let values: BTreeSet<&str> = found.used.iter().map(|pair| pair.first).collect();
            let equal = found.used.iter().all(|pair| pair.first == pair.second);
            // A constant label is no evidence of a rule.
            if n < ENOUGH || !equal || values.len() < 2 {
                continue;
            }
            let text = format!(
                "{rater} gave the value of the mechanical rater {rule} on all {n} cases. The label can be computed from \
                 the data, and {rater} did (or could have). If both raters do so, their agreement measures that they \
                 applied one rule, not that two judgements met: do not count it as independent evidence.",
            );
            findings.push(Finding {
                kind: Kind::RuleFollowingRater,
                label: Some(label.to_string()),
                text,
                measure: "agreement with the mechanical rater",
                effect: 1.0,
                interval: share_limits(n, n, Z95),
            });
        }
    }
    findings
}

/// Something a label's value may follow from.
#[derive(Clone, Copy)]
enum Source<'a> {
    Label(&'a LabelId),
    Verdict,
    Category,
}

impl<'a> Source<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::Label(label) => label.as_str(),
            Self::Verdict => "the grader's verdict",
            Self::Category => "the category",
        }
    }

    fn of(self, case: &'a AuditCase, rater: &RaterName) -> Option<&'a str> {
        match self {
            Self::Label(label) => case.value(rater, label).map(RatingValue::as_str),
            Self::Verdict => case.verdict.map(crate::model::Verdict::as_str),
            Self::Category => Some(case.category.as_str()),
        }
    }
}

/// Labels whose value is the same function of one or two other labels or facts for both raters, without exception.
///
/// A function is believed where every combination of inputs that occurs gives one value, the label varies, and at least
/// two values each rest on a combination that occurs often. Of several explanations the shortest is named.
#[must_use]
pub fn derived_labels(audit: &Audit, pair: (&RaterName, &RaterName)) -> Vec<Finding> {
    audit.labels.iter().filter_map(|label| derived(audit, pair, label)).collect()
}

fn derived(audit: &Audit, pair: (&RaterName, &RaterName), label: &LabelId) -> Option<Finding> {
    let mut sources: Vec<Source<'_>> = vec![Source::Verdict, Source::Category];
    sources.extend(audit.labels.iter().filter(|other| *other != label).map(Source::Label));
    let single = sources.iter().map(|source| vec![*source]);
    let rest = |i: usize| sources.get(i + 1..).unwrap_or(&[]);
    let double = sources.iter().enumerate().flat_map(|(i, one)| rest(i).iter().map(|other| vec![*one, *other]));
    let (names, n) = single
        .chain(double)
        .find_map(|from| follows(audit, pair, label, &from).map(|n| (from.into_iter().map(Source::name), n)))?;
    let names = names.collect::<Vec<_>>().join(" and ");
    let text = format!(
        "{label} follows from {names}: equal inputs gave equal values in all {n} cases, for both raters. It is no judgement \
         of its own, and its kappa repeats theirs. Leave {label} out of any mean kappa and compute it instead of asking \
         for it.",
    );
    Some(Finding {
        kind: Kind::DerivedLabel,
        label: Some(label.to_string()),
        text,
        measure: "share of cases that follow the function",
        effect: 1.0,
        interval: share_limits(n, n, Z95),
    })
}

/// The number of cases in which both raters' values follow from these sources; `None` if one does not.
fn follows(audit: &Audit, pair: (&RaterName, &RaterName), label: &LabelId, from: &[Source<'_>]) -> Option<u64> {
    let mut function: BTreeMap<Vec<&str>, (&str, u64)> = BTreeMap::new();
    let mut n = 0;
    for case in &audit.cases {
        for rater in [pair.0, pair.1] {
            let Some(value) = case.value(rater, label) else { continue };
            let Some(key) = from.iter().map(|source| source.of(case, rater)).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let (known, times) = function.entry(key).or_insert((value.as_str(), 0));
            if *known != value.as_str() {
                return None;
            }
            *times += 1;
        }
        n += u64::from(case.value(pair.0, label).is_some());
    }
    let firm: BTreeSet<&str> =
        function.values().filter(|(_, times)| *times >= 2 * REPEATED).map(|(value, _)| *value).collect();
    (n >= ENOUGH && firm.len() >= 2).then_some(n)
}
