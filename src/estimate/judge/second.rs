//! Does the judge agree with a person as well as a second person does? Over the cases that all three answered, how often the
//! judge and how often the second person gives the first one's answer, and the interval of the paired difference.

use serde::Serialize;

use super::super::paired::{Pairs, tango};
use crate::agree::{Z95, tails};
use crate::model::{Audit, LabelId, RaterName, RatingValue};

/// What the interval shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// At most the margin worse, surely.
    AsWell,
    /// Worse, surely.
    Worse,
    /// The sample does not tell.
    Open,
}

impl Standing {
    /// In a table.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AsWell => "as well",
            Self::Worse => "worse",
            Self::Open => "open",
        }
    }
}

/// A judge and a second person beside a first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondPerson {
    /// The person whose answers are met.
    pub person: RaterName,
    /// The second person.
    pub second: RaterName,
    /// Cases that all three answered.
    pub n: u64,
    /// Of these, the judge gives the person's answer.
    pub judge_agrees: u64,
    /// Of these, the second person does.
    pub second_agrees: u64,
    /// Share of the judge less share of the second person.
    pub difference: f64,
    /// Tango's interval, at the level of all comparisons together.
    pub interval: [f64; 2],
    /// What it shows.
    pub standing: Standing,
}

/// The case by case comparison: first is the judge's agreement with the person, second the other person's.
pub(super) fn pairs(
    audit: &Audit,
    judge: &RaterName,
    (person, second): (&RaterName, &RaterName),
    label: &LabelId,
) -> Pairs {
    let mut pairs = Pairs { both: 0, first_only: 0, second_only: 0, neither: 0 };
    for case in &audit.cases {
        let answer = |rater| case.value(rater, label).filter(|value| **value != RatingValue::CannotJudge);
        let (Some(wanted), Some(first), Some(other)) = (answer(person), answer(judge), answer(second)) else {
            continue;
        };
        // A label that does not apply to the case by everybody's account shows nothing.
        if [wanted, first, other].iter().all(|value| **value == RatingValue::NotApplicable) {
            continue;
        }
        match (first == wanted, other == wanted) {
            (true, true) => pairs.both += 1,
            (true, false) => pairs.first_only += 1,
            (false, true) => pairs.second_only += 1,
            (false, false) => pairs.neither += 1,
        }
    }
    pairs
}

pub(super) fn of(
    audit: &Audit,
    judge: &RaterName,
    (person, second): (&RaterName, &RaterName),
    label: &LabelId,
    (margin, candidates): (f64, u64),
) -> Option<SecondPerson> {
    let found = pairs(audit, judge, (person, second), label);
    let z = tails::z_of_level(1.0 - 0.05 / candidates.max(1) as f64).unwrap_or(Z95);
    let interval = tango(found, z).ok()?;
    let standing = if interval.high < 0.0 {
        Standing::Worse
    } else if interval.low > -margin {
        Standing::AsWell
    } else {
        Standing::Open
    };
    Some(SecondPerson {
        person: person.clone(),
        second: second.clone(),
        n: found.n(),
        judge_agrees: found.both + found.first_only,
        second_agrees: found.both + found.second_only,
        difference: found.difference()?,
        interval: interval.limits(),
        standing,
    })
}
