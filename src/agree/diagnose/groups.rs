//! Where the disagreements are: strata, categories, models and families of cases; and where applicability is disputed.

use std::collections::BTreeMap;

use super::super::pairs::Pairs;
use super::super::{Z95, family, percent, sides};
use super::{Finding, Kind, percent_text, share_limits, z_among};
use crate::model::{Audit, AuditCase, LabelId, RaterName};

/// One-sided *n.a.* in at least this share of the cases is worth a finding.
const DISPUTED: f64 = 0.02;

/// How cases are grouped: the name of the grouping, a case's group, the fewest disagreements that make a concentration,
/// and what to do about a group that stands out.
type Grouping = (&'static str, fn(&AuditCase) -> String, u64, &'static str);

/// A family has few cases, so two disagreements in it are many.
const GROUPINGS: [Grouping; 4] = [
    (
        "stratum",
        |case| case.stratum.to_string(),
        3,
        "Read its disagreements first, and do not report the pooled kappa alone.",
    ),
    ("category", |case| case.category.to_string(), 3, "The rubric's rule may not fit what this category asks for."),
    ("model", |case| case.model.clone(), 3, "Look for a habit of this model's text that the rubric does not cover."),
    ("case family", family::of_case, 2, "The conversation itself may be ambiguous; settle it once for all its cases."),
];

/// Groups in which the raters disagree more often than in all other cases together: at most one finding a grouping, the
/// surest.
#[must_use]
pub fn by_group(pairs: &Pairs<'_>, label: &LabelId) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for finding in GROUPINGS.into_iter().filter_map(|grouping| concentrated(pairs, label, grouping)) {
        // A stratum may be all cases of a model: the same cases are named once.
        if findings.iter().all(|other| other.effect.to_bits() != finding.effect.to_bits()) {
            findings.push(finding);
        }
    }
    findings
}

fn concentrated(pairs: &Pairs<'_>, label: &LabelId, (what, group, several, advice): Grouping) -> Option<Finding> {
    let mut groups: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for pair in &pairs.used {
        let (cases, apart) = groups.entry(group(pair.case)).or_default();
        *cases += 1;
        *apart += u64::from(pair.first != pair.second);
    }
    let n = pairs.used.len() as u64;
    let all: u64 = groups.values().map(|(_, apart)| apart).sum();
    let z = z_among(groups.len());
    let judged = groups.into_iter().filter_map(|(name, (cases, apart))| {
        let limits = percent::difference(apart, cases, all - apart, n - cases, z)?;
        (apart >= several && limits.0 > 0.0).then_some((name, cases, apart, limits))
    });
    let (name, cases, apart, limits) = judged.reduce(|best, next| if next.3.0 > best.3.0 { next } else { best })?;
    let here = apart as f64 / cases as f64;
    let elsewhere = (all - apart) as f64 / (n - cases) as f64;
    let text = format!(
        "The {what} {name:?} has {cases} of {n} cases ({}) and {apart} of {all} disagreements ({}): the raters differ on {} \
         of its cases and on {} of the others. {advice}",
        percent_text(cases as f64 / n as f64),
        percent_text(apart as f64 / all as f64),
        percent_text(here),
        percent_text(elsewhere),
    );
    Some(Finding {
        kind: Kind::Concentrated,
        label: Some(label.to_string()),
        text,
        measure: "difference of the disagreement rates, group less others",
        effect: here - elsewhere,
        interval: Some([limits.0, limits.1]),
    })
}

/// One rater says that the label does not apply, the other gives a value.
pub(super) fn one_sided_na(audit: &Audit, pair: (&RaterName, &RaterName), label: &LabelId) -> Option<Finding> {
    let both =
        audit.cases.iter().filter(|case| case.value(pair.0, label).is_some() && case.value(pair.1, label).is_some());
    let n = both.count() as u64;
    let one_sided = sides::of(audit, pair, label).one_sided_na;
    let limits = share_limits(one_sided, n, Z95)?;
    let effect = one_sided as f64 / n as f64;
    if effect < DISPUTED {
        return None;
    }
    let text = format!(
        "On {one_sided} of {n} cases ({}) exactly one rater said that {label} does not apply. A kappa over the other cases \
         hides this disagreement; report the one with n.a. as a category beside it, and state in the rubric when the label \
         applies.",
        percent_text(effect),
    );
    Some(Finding {
        kind: Kind::OneSidedNa,
        label: Some(label.to_string()),
        text,
        measure: "share of cases with one n.a.",
        effect,
        interval: Some(limits),
    })
}
