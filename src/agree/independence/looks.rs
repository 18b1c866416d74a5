//! Does something that should not matter predict the answer? The measure is the chance that a case answered 1 is longer (or
//! came later) than one answered 0, ties counted half: 0.5 where it does not matter.
//!
//! Length is compared inside stratum, model and category only, since these differ in length and in their answers by design.
//! Order needs no such care: every rater has cases in a shuffled order of their own.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::diagnose::{Finding, Kind};
use super::super::{Z95, tails};
use super::Evidence;
use crate::model::{Audit, AuditCase, CaseIdentity, LabelId, RaterName, RatingValue};

/// Cases with each answer needed for a look.
const ENOUGH: u64 = 10;

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LookKind {
    /// The length of what is shown.
    Length,
    /// The place in the rater's order.
    Order,
}

impl LookKind {
    /// In a table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Order => "order",
        }
    }
}

/// One look.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Look {
    /// The rater.
    pub rater: RaterName,
    /// The label.
    pub label: LabelId,
    /// What was looked at.
    pub kind: LookKind,
    /// Cases answered 1.
    pub ones: u64,
    /// Cases answered 0.
    pub zeros: u64,
    /// The chance that a case answered 1 is longer, or came later, than one answered 0.
    pub effect: f64,
    /// Its interval, at the level of all looks together.
    pub interval: [f64; 2],
    /// Does the interval exclude 0.5?
    pub away: bool,
}

/// A comparison of ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankEffect {
    /// The chance that a value of the first group is above one of the second, ties counted half.
    pub chance: f64,
    /// Its standard error.
    pub se: f64,
    /// Values of the first group that had something to be compared with.
    pub first: u64,
    /// Values of the second.
    pub second: u64,
}

/// The chance that a value of the first list is above one of the second, over pairs inside a group, groups weighted by their
/// pairs. Standard error: DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837-845, per group; where a group's values
/// show no variance (complete separation, a single value) that of the Mann-Whitney statistic under sameness,
/// (m + n + 1)/(12 m n), so that a small group is not taken for certainty. `None` without pairs.
#[must_use]
pub fn rank_effect(groups: &[(Vec<f64>, Vec<f64>)]) -> Option<RankEffect> {
    let (mut pairs, mut above, mut spread) = (0.0, 0.0, 0.0);
    let (mut first, mut second) = (0, 0);
    for (ones, zeros) in groups.iter().filter(|(ones, zeros)| !ones.is_empty() && !zeros.is_empty()) {
        let (m, n) = (ones.len() as f64, zeros.len() as f64);
        let share = |value: f64, others: &[f64]| {
            let won: f64 = others
                .iter()
                .map(|other| {
                    if value > *other {
                        1.0
                    } else if value < *other {
                        0.0
                    } else {
                        0.5
                    }
                })
                .sum();
            won / others.len() as f64
        };
        let of_ones: Vec<f64> = ones.iter().map(|value| share(*value, zeros)).collect();
        let of_zeros: Vec<f64> = zeros.iter().map(|value| 1.0 - share(*value, ones)).collect();
        let chance = of_ones.iter().sum::<f64>() / m;
        let delong = variance(&of_ones).zip(variance(&of_zeros)).map(|(ones, zeros)| ones / m + zeros / n);
        let own = delong.filter(|own| *own > 0.0).unwrap_or((m + n + 1.0) / (12.0 * m * n));
        let weight = m * n;
        pairs += weight;
        above += weight * chance;
        spread += weight * weight * own;
        first += ones.len() as u64;
        second += zeros.len() as u64;
    }
    (pairs > 0.0).then(|| RankEffect { chance: above / pairs, se: spread.sqrt() / pairs, first, second })
}

fn variance(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.len() > 1).then(|| values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// Every look that the evidence allows, in the order of raters and labels.
pub(super) fn all(audit: &Audit, raters: &[&RaterName], evidence: &Evidence) -> Vec<Look> {
    let mut found: Vec<(RaterName, LabelId, LookKind, RankEffect)> = Vec::new();
    for rater in raters {
        let places: BTreeMap<&CaseIdentity, usize> =
            evidence.order.get(*rater).into_iter().flatten().zip(0..).collect();
        for label in &audit.labels {
            let length = |case: &AuditCase| {
                let group = format!("{}\n{}\n{}", case.stratum, case.model, case.category);
                evidence.lengths.get(&case.case).map(|length| (group, *length as f64))
            };
            let order = |case: &AuditCase| places.get(&case.case).map(|place| (String::new(), *place as f64));
            let effects = [
                (LookKind::Length, effect(audit, rater, label, length)),
                (LookKind::Order, effect(audit, rater, label, order)),
            ];
            for (kind, effect) in effects {
                found.extend(effect.map(|effect| ((*rater).clone(), label.clone(), kind, effect)));
            }
        }
    }
    let z = tails::z_of_level(1.0 - 0.05 / found.len().max(1) as f64).unwrap_or(Z95);
    found
        .into_iter()
        .map(|(rater, label, kind, effect)| {
            let [low, high] = [effect.chance - z * effect.se, effect.chance + z * effect.se];
            Look {
                rater,
                label,
                kind,
                ones: effect.first,
                zeros: effect.second,
                effect: effect.chance,
                interval: [low.max(0.0), high.min(1.0)],
                away: low > 0.5 || high < 0.5,
            }
        })
        .collect()
}

fn effect(
    audit: &Audit,
    rater: &RaterName,
    label: &LabelId,
    of: impl Fn(&AuditCase) -> Option<(String, f64)>,
) -> Option<RankEffect> {
    let mut groups: BTreeMap<String, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for case in &audit.cases {
        let Some((group, value)) = of(case) else { continue };
        let lists = groups.entry(group).or_default();
        match case.value(rater, label).map(RatingValue::as_str) {
            Some("1") => lists.0.push(value),
            Some("0") => lists.1.push(value),
            _ => {}
        }
    }
    let groups: Vec<(Vec<f64>, Vec<f64>)> = groups.into_values().collect();
    rank_effect(&groups).filter(|effect| effect.first >= ENOUGH && effect.second >= ENOUGH)
}

impl Look {
    pub(super) fn finding(&self) -> Finding {
        let [low, high] = self.interval;
        let more = self.effect > 0.5;
        let (kind, what, advice) = match self.kind {
            LookKind::Length => (
                Kind::LengthPredicts,
                if more { "is the longer one" } else { "is the shorter one" },
                "Length may stand for something that the label asks about; read a few long and short cases that were answered \
                 alike before believing either.",
            ),
            LookKind::Order => (
                Kind::OrderPredicts,
                if more { "came later" } else { "came earlier" },
                "Every rater has an order of their own, so the cases are not the reason: habit, fatigue, or a server that \
                 changed. Rate some early cases again.",
            ),
        };
        let shown = if more { (self.effect, low, high) } else { (1.0 - self.effect, 1.0 - high, 1.0 - low) };
        Finding {
            kind,
            label: Some(self.label.to_string()),
            text: format!(
                "{}'s answers follow the {} of the case: of a case answered 1 and one answered 0{}, the first {what} in {:.0} % \
                 of pairs ({:.0} to {:.0}; 50 where it does not matter). {advice}",
                self.rater,
                self.kind.as_str(),
                if self.kind == LookKind::Length { " in the same stratum, model and category" } else { "" },
                100.0 * shown.0,
                100.0 * shown.1,
                100.0 * shown.2,
            ),
            measure: "chance that a case answered 1 is longer (came later) than one answered 0",
            effect: self.effect,
            interval: Some(self.interval),
        }
    }
}
