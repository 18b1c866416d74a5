//! From finals to rates: what has a final value, what has none and why.

use serde::Serialize;

use super::Context;
use crate::agree::sides;
use crate::estimate::{Method, proportion};
use crate::model::{AuditCase, LabelId, RatingValue};

/// How far the audit has come.
#[derive(Debug, Clone, Serialize)]
pub struct Finals {
    /// Cases times labels.
    pub answers: u64,
    /// Of these, not rated by both.
    pub missing: u64,
    /// Equal ratings.
    pub agreed: u64,
    /// Unequal ratings.
    pub disagreements: u64,
    /// Unequal ratings with a ruling.
    pub ruled: u64,
    /// Unequal ratings without one.
    pub open: u64,
    /// Of the missing ones, those of cases that were declared unusable.
    pub unusable: u64,
    /// Of the missing ones, those that a model was asked for in vain.
    pub no_verdict: u64,
    /// Every answer has a final value, those of unusable cases aside.
    pub complete: bool,
    /// There are disagreements and not one ruling: the batch has no final values, and no rates are reported.
    pub none: bool,
    /// The same in a sentence.
    pub sentence: String,
}

pub(super) fn of(context: &Context<'_>) -> Finals {
    let (mut disagreements, mut open, mut missing, mut unusable, mut no_verdict) = (0, 0, 0, 0, 0);
    for label in &context.audit.labels {
        let found = sides::of(context.audit, context.pair, label);
        disagreements += found.disagreements;
        open += found.open;
        let rated = |case: &&AuditCase| {
            case.value(context.pair.0, label).is_none() || case.value(context.pair.1, label).is_none()
        };
        missing += context.audit.cases.iter().filter(rated).count() as u64;
        let lost = |case: &&AuditCase| rated(case) && context.is_unusable(case);
        unusable += context.audit.cases.iter().filter(lost).count() as u64;
        let in_vain = |case: &&AuditCase| rated(case) && context.is_without_verdict(case, label);
        no_verdict += context.audit.cases.iter().filter(in_vain).count() as u64;
    }
    let answers = context.audit.cases.len() as u64 * context.audit.labels.len() as u64;
    let none = disagreements > 0 && open == disagreements;
    let agreed = answers - missing - disagreements;
    let sentence = if none {
        format!(
            "The raters differ on {disagreements} of {} answers and nobody has ruled on any of them, so there are no final \
             values: agreement is reported, rates are not.",
            answers - missing
        )
    } else if open > 0 {
        format!(
            "{open} of {disagreements} disagreements have no ruling yet; labels with open disagreements have no rate."
        )
    } else if missing > unusable {
        format!("{missing} of {answers} answers are missing from at least one rater and are left out of the rates.")
    } else if disagreements == 0 {
        format!("The raters agree on all {} answers; every answer is final.", answers - missing)
    } else {
        format!(
            "All {disagreements} disagreements have a ruling; every one of the {} answers is final.",
            answers - missing
        )
    };
    let sentence = if unusable > 0 {
        format!("{sentence} {unusable} of {answers} answers are those of cases that nobody could rate.")
    } else {
        sentence
    };
    let sentence = if no_verdict > 0 {
        format!("{sentence} {no_verdict} of {answers} answers have no verdict: a model was asked for them in vain.")
    } else {
        sentence
    };
    Finals {
        answers,
        missing,
        agreed,
        disagreements,
        ruled: disagreements - open,
        open,
        unusable,
        no_verdict,
        complete: open == 0 && missing == unusable,
        none,
        sentence,
    }
}

/// `k` of `n` with Wilson's interval; without a rate where `n` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Count {
    /// Successes.
    pub k: u64,
    /// Trials.
    pub n: u64,
    /// k / n.
    pub rate: Option<f64>,
    /// Wilson's 95 % interval.
    pub wilson95: Option<[f64; 2]>,
}

impl Count {
    pub(super) fn new(k: u64, n: u64) -> Self {
        Self {
            k,
            n,
            rate: (n > 0).then(|| k as f64 / n as f64),
            wilson95: proportion(Method::Wilson, k, n, 0.95).ok().map(crate::estimate::Interval::limits),
        }
    }
}

/// The final values of a binary label over some cases. `n + na + cannot_judge + open + missing + no_verdict = cases`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FinalRate {
    /// The cases.
    pub cases: u64,
    /// Finals equal to 1.
    pub k: u64,
    /// Finals that are a value.
    pub n: u64,
    /// Finals *n.a.*
    pub na: u64,
    /// Finals *cannot judge*.
    pub cannot_judge: u64,
    /// Disagreements without a ruling.
    pub open: u64,
    /// Not rated by both.
    pub missing: u64,
    /// A model of the pair was asked and gave no usable answer; `missing` does not count these.
    pub no_verdict: u64,
    /// k / n; `None` while a disagreement is open, or where `n` is 0.
    pub rate: Option<f64>,
    /// Wilson's 95 % interval of it.
    pub wilson95: Option<[f64; 2]>,
    /// While disagreements are open: the least and the greatest rate that the rulings can bring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[f64; 2]>,
}

impl FinalRate {
    /// Counts the finals of a label over the cases that a test accepts.
    pub(super) fn count(context: &Context<'_>, label: &LabelId, keep: impl Fn(&AuditCase) -> bool) -> Self {
        let mut rate = Self::default();
        for case in context.audit.cases.iter().filter(|case| keep(case)) {
            rate.cases += 1;
            match context.final_value(case, label) {
                Some(RatingValue::Value(value)) => {
                    rate.n += 1;
                    rate.k += u64::from(value == "1");
                }
                Some(RatingValue::NotApplicable) => rate.na += 1,
                Some(RatingValue::CannotJudge) => rate.cannot_judge += 1,
                None => {
                    let rated =
                        case.value(context.pair.0, label).is_some() && case.value(context.pair.1, label).is_some();
                    if rated {
                        rate.open += 1;
                    } else if context.is_without_verdict(case, label) {
                        rate.no_verdict += 1;
                    } else {
                        rate.missing += 1;
                    }
                }
            }
        }
        if rate.open == 0 {
            let count = Count::new(rate.k, rate.n);
            (rate.rate, rate.wilson95) = (count.rate, count.wilson95);
        } else {
            // A ruling may also be n.a.; then the case leaves the denominator and the rate stays between these.
            let most = (rate.n + rate.open) as f64;
            rate.bounds = Some([rate.k as f64 / most, (rate.k + rate.open) as f64 / most]);
        }
        rate
    }
}
