//! Disagreements, which side the adjudicator took, and spot checks of agreements.

use serde::Serialize;

use super::Context;
use crate::agree::sides::{self, Sides};
use crate::estimate::paired::mcnemar;
use crate::model::{CaseIdentity, LabelId, RaterName, RatingValue, StratumId};

/// What became of disagreements, and of agreements that were checked.
#[derive(Debug, Clone, Serialize)]
pub struct Adjudicated {
    /// Per label.
    pub labels: Vec<LabelSides>,
    /// Spot checks.
    pub spot_checks: SpotChecks,
}

/// One label's disagreements.
#[derive(Debug, Clone, Serialize)]
pub struct LabelSides {
    /// The label.
    pub label: LabelId,
    /// The counts.
    #[serde(flatten)]
    pub sides: Sides,
    /// Exact two-sided p of rulings this uneven if either side were as likely; `None` without rulings for a side.
    pub p_even: Option<f64>,
    /// Uneven beyond chance at 5 %.
    pub one_sided: bool,
}

/// Checks of agreements.
#[derive(Debug, Clone, Serialize)]
pub struct SpotChecks {
    /// Cases checked.
    pub cases: u64,
    /// Agreements checked.
    pub checked: u64,
    /// Of these, called wrong.
    pub wrong: u64,
    /// Per label.
    pub labels: Vec<LabelSpotChecks>,
}

/// Checks of one label.
#[derive(Debug, Clone, Serialize)]
pub struct LabelSpotChecks {
    /// The label.
    pub label: LabelId,
    /// Agreements checked.
    pub checked: u64,
    /// Of these, called wrong.
    pub wrong: u64,
}

/// A case and label on which the raters differ.
#[derive(Debug, Clone, Serialize)]
pub struct Disagreement {
    /// The case.
    pub case: CaseIdentity,
    /// Its stratum.
    pub stratum: StratumId,
    /// The label.
    pub label: LabelId,
    /// The first rater's value.
    pub first: RatingValue,
    /// The second rater's value.
    pub second: RatingValue,
    /// The ruling; `None`: open.
    pub ruling: Option<RatingValue>,
    /// The first rater's rationale.
    pub first_rationale: String,
    /// The second rater's rationale.
    pub second_rationale: String,
    /// The adjudicator's note.
    pub note: String,
}

pub(super) fn of(context: &Context<'_>) -> Adjudicated {
    let labels: Vec<LabelSides> = context
        .audit
        .labels
        .iter()
        .map(|label| {
            let sides = sides::of(context.audit, context.pair, label);
            let p_even = mcnemar(sides.with_first, sides.with_second).ok().map(|test| test.exact_p);
            let one_sided = p_even.is_some_and(|p| p < 0.05);
            LabelSides { label: label.clone(), sides, p_even, one_sided }
        })
        .collect();
    Adjudicated { labels, spot_checks: spot_checks(context) }
}

fn spot_checks(context: &Context<'_>) -> SpotChecks {
    let labels: Vec<LabelSpotChecks> = context
        .audit
        .labels
        .iter()
        .map(|label| {
            let found = context.audit.cases.iter().filter_map(|case| case.spot_checks.as_ref()?.get(label));
            let (checked, wrong) =
                found.fold((0, 0), |(checked, wrong), check| (checked + 1, wrong + u64::from(!check.correct)));
            LabelSpotChecks { label: label.clone(), checked, wrong }
        })
        .collect();
    SpotChecks {
        cases: sides::spot_checked_cases(context.audit),
        checked: labels.iter().map(|row| row.checked).sum(),
        wrong: labels.iter().map(|row| row.wrong).sum(),
        labels,
    }
}

pub(super) fn list(context: &Context<'_>) -> Vec<Disagreement> {
    let mut list = Vec::new();
    for label in &context.audit.labels {
        for case in &context.audit.cases {
            let given = |rater: &RaterName| case.ratings.get(rater).and_then(|given| given.get(label));
            let (Some(first), Some(second)) = (given(context.pair.0), given(context.pair.1)) else { continue };
            if first.value == second.value {
                continue;
            }
            let ruling = case.adjudications.get(label);
            list.push(Disagreement {
                case: case.case.clone(),
                stratum: case.stratum.clone(),
                label: label.clone(),
                first: first.value.clone(),
                second: second.value.clone(),
                ruling: ruling.map(|ruling| ruling.value.clone()),
                first_rationale: first.rationale.clone(),
                second_rationale: second.rationale.clone(),
                note: ruling.map_or_else(String::new, |ruling| ruling.note.clone()),
            });
        }
    }
    list
}
