//! The published study's post-adjudication rates, with its denominators and its unclamped Wilson interval.

use std::collections::BTreeMap;

use serde::Serialize;

use super::intervals::wilson_unclamped;
use crate::agree::Z95;
use crate::model::{Audit, AuditCase, Category, LabelId, RaterName, RatingValue};

/// A rate with its Wilson interval (z = 1.959963984540054, not clamped).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// Finals equal to 1.
    pub k: u64,
    /// The denominator.
    pub n: u64,
    /// k / n; `None` where the denominator is 0 (the study's script stops there with an error).
    pub rate: Option<f64>,
    /// The interval.
    pub wilson95: Option<[f64; 2]>,
}

impl Rate {
    /// `k` of `n`.
    #[must_use]
    pub fn new(k: u64, n: u64) -> Self {
        Self {
            k,
            n,
            rate: (n > 0).then(|| k as f64 / n as f64),
            wilson95: wilson_unclamped(k, n, Z95).ok().map(super::Interval::limits),
        }
    }
}

/// The finals of a label over the cases that a test accepts.
fn over<'a>(
    audit: &'a Audit,
    pair: (&'a RaterName, &'a RaterName),
    label: &str,
    keep: impl Fn(&AuditCase, Option<&RatingValue>) -> bool,
) -> Rate {
    let (mut k, mut n) = (0, 0);
    // A label that cannot be a name has no finals.
    let label = LabelId::parse(label).ok();
    for case in &audit.cases {
        let value = label.as_ref().and_then(|label| case.final_value(pair, label));
        if keep(case, value) {
            n += 1;
            k += u64::from(value.is_some_and(RatingValue::is_one));
        }
    }
    Rate::new(k, n)
}

/// The seven rows of the study's rate table, in its order.
///
/// B1a and B1b: all cases. B3 twice: all cases of `miss_func` (`B3_D1`), and those of them whose final B1a is 0
/// (`B3_D2`). B4, B5 and B6: cases whose final value is not *n.a.*; a case without a final counts as one that has it,
/// as it would in a complete audit.
#[must_use]
pub fn final_rates(audit: &Audit, pair: (&RaterName, &RaterName)) -> Vec<(&'static str, Rate)> {
    let first = LabelId::parse("B1a").ok();
    let no_gold_action = |case: &AuditCase| {
        first.as_ref().and_then(|label| case.final_value(pair, label)).and_then(RatingValue::value) == Some("0")
    };
    let held_out = |case: &AuditCase| case.category == Category::MissFunc;
    let applies = |value: Option<&RatingValue>| value != Some(&RatingValue::NotApplicable);
    vec![
        ("B1a", over(audit, pair, "B1a", |_, _| true)),
        ("B1b", over(audit, pair, "B1b", |_, _| true)),
        ("B3_D1", over(audit, pair, "B3", |case, _| held_out(case))),
        ("B3_D2", over(audit, pair, "B3", |case, _| held_out(case) && no_gold_action(case))),
        ("B4", over(audit, pair, "B4", |_, value| applies(value))),
        ("B5", over(audit, pair, "B5", |_, value| applies(value))),
        ("B6", over(audit, pair, "B6", |_, value| applies(value))),
    ]
}

/// B1a and B1b per model and category, as `model/category`, for the cells that have cases.
#[must_use]
pub fn cells(audit: &Audit, pair: (&RaterName, &RaterName)) -> BTreeMap<String, BTreeMap<&'static str, Rate>> {
    let name = |case: &AuditCase| format!("{}/{}", case.model, case.category);
    let names: std::collections::BTreeSet<String> = audit.cases.iter().map(name).collect();
    names
        .into_iter()
        .map(|cell| {
            let rate = |label: &'static str| (label, over(audit, pair, label, |case, _| name(case) == cell));
            let rates = BTreeMap::from([rate("B1a"), rate("B1b")]);
            (cell, rates)
        })
        .collect()
}

/// How often each final value of a label occurs, *n.a.* left out: most frequent first, ties in the batch's order.
#[must_use]
pub fn distribution(audit: &Audit, pair: (&RaterName, &RaterName), label: &LabelId) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = Vec::new();
    for value in audit.cases.iter().filter_map(|case| case.final_value(pair, label)).filter_map(RatingValue::value) {
        match counts.iter_mut().find(|(known, _)| known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value.to_owned(), 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}
