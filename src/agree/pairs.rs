//! From an audit to pairs of values: which cases a pair of raters both rated, and why the others are left out.

use serde::Serialize;

use super::{Table, TableError};
use crate::model::{Audit, AuditCase, LabelId, RaterName, RatingValue};

/// What *n.a.* is to a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NaPolicy {
    /// Cases with an *n.a.* are left out (and counted).
    #[default]
    Drop,
    /// *n.a.* is a category like any other.
    Category,
}

/// Why a case gives no pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A rater has not rated it.
    Missing,
    /// A model was asked for it and gave no usable answer.
    NoVerdict,
    /// A rater could not judge it.
    CannotJudge,
    /// Both raters said that the label does not apply.
    BothNa,
    /// One rater said that the label does not apply, the other gave a value: a disagreement that dropping hides.
    OneSidedNa,
}

/// Counts of cases left out, by reason. A case counts once: missing before cannot judge before n.a.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LeftOut {
    /// One *n.a.* against a value.
    pub one_sided_na: u64,
    /// *n.a.* from both.
    pub both_na: u64,
    /// Not rated by one of the two (or both).
    pub missing: u64,
    /// *Cannot judge* from one of the two (or both).
    pub cannot_judge: u64,
    /// A model rater among the two was asked and gave no usable answer; `missing` does not count these.
    pub no_verdict: u64,
}

impl LeftOut {
    /// All cases left out.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.one_sided_na + self.both_na + self.missing + self.cannot_judge + self.no_verdict
    }

    pub(crate) fn add(&mut self, reason: Reason) {
        match reason {
            Reason::Missing => self.missing += 1,
            Reason::NoVerdict => self.no_verdict += 1,
            Reason::CannotJudge => self.cannot_judge += 1,
            Reason::BothNa => self.both_na += 1,
            Reason::OneSidedNa => self.one_sided_na += 1,
        }
    }
}

/// A case that both raters rated: its place in the batch and the two written values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The case.
    pub case: &'a AuditCase,
    /// The first rater's value.
    pub first: &'a str,
    /// The second rater's value.
    pub second: &'a str,
}

/// The usable pairs of a label and what was left out; `used + left out = cases`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs<'a> {
    /// The usable pairs in the batch's order.
    pub used: Vec<Pair<'a>>,
    /// The other cases with their reasons, in the batch's order.
    pub others: Vec<(&'a AuditCase, Reason)>,
    /// The reasons counted.
    pub left_out: LeftOut,
}

impl<'a> Pairs<'a> {
    /// The contingency table over the values that occur (as text, sorted; `n.a.` sorts by its spelling).
    ///
    /// # Errors
    /// More cases than a table holds.
    pub fn table(&self) -> Result<Table, TableError> {
        Table::observed(self.used.iter().map(|pair| (pair.first, pair.second)))
    }

    /// The pairs of the cases that a test accepts (a stratum, a family, a model).
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&AuditCase) -> bool) -> Pairs<'a> {
        let mut left_out = LeftOut::default();
        let others: Vec<_> = self.others.iter().filter(|(case, _)| keep(case)).copied().collect();
        for (_, reason) in &others {
            left_out.add(*reason);
        }
        Pairs { used: self.used.iter().filter(|pair| keep(pair.case)).copied().collect(), others, left_out }
    }
}

/// Can a measure use this pair of ratings?
///
/// # Errors
/// The reason why not.
pub fn usable<'a>(
    first: Option<&'a RatingValue>,
    second: Option<&'a RatingValue>,
    na: NaPolicy,
) -> Result<(&'a str, &'a str), Reason> {
    use RatingValue::{CannotJudge, NotApplicable};
    let (Some(first), Some(second)) = (first, second) else { return Err(Reason::Missing) };
    match (first, second) {
        (CannotJudge, _) | (_, CannotJudge) => Err(Reason::CannotJudge),
        (NotApplicable, NotApplicable) if na == NaPolicy::Drop => Err(Reason::BothNa),
        (NotApplicable, _) | (_, NotApplicable) if na == NaPolicy::Drop => Err(Reason::OneSidedNa),
        _ => Ok((first.as_str(), second.as_str())),
    }
}

/// The pairs of a label from two raters of an audit.
#[must_use]
pub fn of<'a>(audit: &'a Audit, pair: (&RaterName, &RaterName), label: &LabelId, na: NaPolicy) -> Pairs<'a> {
    let mut pairs = Pairs { used: Vec::new(), others: Vec::new(), left_out: LeftOut::default() };
    for case in &audit.cases {
        match usable(case.value(pair.0, label), case.value(pair.1, label), na) {
            Ok((first, second)) => pairs.used.push(Pair { case, first, second }),
            Err(reason) => {
                let in_vain = [pair.0, pair.1].into_iter().any(|rater| {
                    case.value(rater, label).is_none() && audit.is_without_verdict(&case.case, rater, label)
                });
                let reason = if reason == Reason::Missing && in_vain { Reason::NoVerdict } else { reason };
                pairs.left_out.add(reason);
                pairs.others.push((case, reason));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_is_used_or_has_one_reason() {
        let value = |text: &str| RatingValue::from(text.to_owned());
        let (one, na, blind) = (value("1"), value("n.a."), value("cannot_judge"));
        let by = |a, b, policy| usable(a, b, policy).map(|(a, b)| format!("{a}|{b}"));
        for policy in [NaPolicy::Drop, NaPolicy::Category] {
            assert_eq!(by(Some(&one), None, policy), Err(Reason::Missing));
            assert_eq!(by(None, None, policy), Err(Reason::Missing));
            assert_eq!(by(None, Some(&blind), policy), Err(Reason::Missing));
            assert_eq!(by(Some(&blind), Some(&na), policy), Err(Reason::CannotJudge));
            assert_eq!(by(Some(&one), Some(&one), policy), Ok("1|1".to_owned()));
        }
        assert_eq!(by(Some(&na), Some(&na), NaPolicy::Drop), Err(Reason::BothNa));
        assert_eq!(by(Some(&one), Some(&na), NaPolicy::Drop), Err(Reason::OneSidedNa));
        assert_eq!(by(Some(&na), Some(&na), NaPolicy::Category), Ok("n.a.|n.a.".to_owned()));
        assert_eq!(by(Some(&na), Some(&one), NaPolicy::Category), Ok("n.a.|1".to_owned()));
    }
}
