//! How far everybody is with a batch: for the owner's page and `dualrater status`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::agree::bootstrap::Plan;
use crate::agree::{self, Options};
use crate::desk::Desk;
use crate::error::{Error, Result};
use crate::model::{BatchName, LabelId, RaterKind, RaterName};
use crate::rate::adjudication::ItemKind;
use crate::rubric::Applicability;
use crate::store::{Marks, Role, Store};

/// The state of a batch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// The batch.
    pub batch: BatchName,
    /// Its cases.
    pub cases: usize,
    /// Everybody who rates, in the order of registration.
    pub raters: Vec<RaterStatus>,
    /// The adjudication, once there is a pair of record.
    pub adjudication: Option<AdjudicationStatus>,
    /// κ so far per label; only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Vec<LabelStatus>>,
    /// Head of the chain of ratings.
    pub chain_head: String,
}

/// How far one rater is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RaterStatus {
    /// Who.
    pub rater: RaterName,
    /// What.
    pub kind: RaterKind,
    /// Of the pair of record?
    pub of_record: bool,
    /// Has a link that opens the page?
    pub link: bool,
    /// Cases with every label answered.
    pub done: usize,
    /// Cases with some.
    pub begun: usize,
    /// Cases not done.
    pub left: usize,
    /// Median seconds of the cases that are done and were timed on the page or in a packet.
    pub median_seconds: Option<u64>,
    /// Marked cases.
    pub marks: Vec<(String, Marks)>,
}

/// How far the adjudication is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdjudicationStatus {
    /// Labels on which the raters differ, in cases that both have done.
    pub disagreements: usize,
    /// Of these, ruled on.
    pub ruled: usize,
    /// Cases on which they agree in full.
    pub agreed_cases: usize,
    /// Of these, spot-checked.
    pub spot_checked: usize,
    /// Cases that wait for a rater.
    pub waiting: usize,
}

/// Agreement on one label so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelStatus {
    /// The label.
    pub label: LabelId,
    /// Cases used.
    pub n: usize,
    /// Share of equal answers.
    pub po: Option<f64>,
    /// Cohen's κ.
    pub kappa: Option<f64>,
    /// Its large-sample interval.
    pub ci95: Option<[f64; 2]>,
    /// Why there is none.
    pub reason: Option<String>,
}

/// Reads the state of a batch. `with_agreement`: κ too, which raters must not see before they are done.
///
/// # Errors
/// No such batch, or the database's own trouble.
pub fn status(store: &Store, batch: &BatchName, with_agreement: bool) -> Result<Status> {
    let desk = Desk::open(store, batch)?;
    let links = store.access_links()?;
    let mut raters = Vec::new();
    for (rater, kind) in desk.audit.raters.iter().filter(|(_, kind)| *kind != RaterKind::Adjudicator) {
        let has_link = links.iter().any(|link| {
            link.valid && link.batch == *batch && link.role == Role::Rater && link.rater.as_ref() == Some(rater)
        });
        raters.push(rater_status(store, &desk, rater, *kind, has_link)?);
    }
    let agreement = if with_agreement { agreement(&desk)? } else { None };
    let adjudication = adjudication(store, &desk)?;
    Ok(Status {
        batch: batch.clone(),
        cases: desk.usable(),
        raters,
        adjudication,
        agreement,
        chain_head: store.chain_head()?,
    })
}

fn rater_status(store: &Store, desk: &Desk, rater: &RaterName, kind: RaterKind, link: bool) -> Result<RaterStatus> {
    let own = store.own(&desk.batch, rater);
    let (ratings, marks, seconds) = (own.ratings()?, own.marks()?, own.seconds()?);
    let none = BTreeMap::new();
    let (mut done, mut begun, mut times) = (0, 0, Vec::new());
    for case in &desk.audit.cases {
        let own = ratings.get(&case.case).unwrap_or(&none);
        let labels = desk.rubric.applicabilities(case.category, case.stratum.as_str());
        let mut open = labels.iter().filter(|(label, applies)| label.asked && *applies != Applicability::NotApplicable);
        if open.all(|(label, _)| own.contains_key(&label.id)) {
            done += 1;
            times.extend(seconds.get(&case.case));
        } else if !own.is_empty() {
            begun += 1;
        }
    }
    let pair = desk.audit.pair.as_ref();
    Ok(RaterStatus {
        rater: rater.clone(),
        kind,
        of_record: pair.is_some_and(|(a, b)| a == rater || b == rater),
        link,
        done,
        begun,
        left: desk.usable().saturating_sub(done),
        median_seconds: median(times),
        marks: marks.into_iter().map(|(case, marks)| (case.to_string(), marks)).collect(),
    })
}

fn agreement(desk: &Desk) -> Result<Option<Vec<LabelStatus>>> {
    let Some((a, b)) = &desk.audit.pair else { return Ok(None) };
    // A live page needs no bootstrap: the large-sample interval stands beside the number.
    let options = Options { bootstrap: Plan { seed: 1, replicates: 1 }, ..Options::default() };
    let rows =
        agree::label_agreements(&desk.audit, (a, b), &options).map_err(|error| Error::data(error.to_string()))?;
    let row = |row: agree::LabelAgreement| LabelStatus {
        label: row.label,
        n: row.n as usize,
        po: row.po,
        kappa: row.kappa,
        ci95: row.ci95,
        reason: row.reason_text.map(str::to_owned),
    };
    Ok(Some(rows.into_iter().map(row).collect()))
}

fn adjudication(store: &Store, desk: &Desk) -> Result<Option<AdjudicationStatus>> {
    if desk.audit.pair.is_none() || desk.batch.imported {
        return Ok(None);
    }
    let adjudicator = desk.audit.raters.iter().find(|(_, kind)| *kind == RaterKind::Adjudicator).map(|(name, _)| name);
    let anybody = RaterName::parse("adjudicator").map_err(|error| Error::internal(error.to_string()))?;
    let (rated, _) = crate::desk::rated_cases(desk, store)?;
    let plan = crate::desk::planned(desk, adjudicator.unwrap_or(&anybody), 0, &rated)?;
    let audited: BTreeMap<_, _> = desk.audit.cases.iter().map(|case| (&case.case, case)).collect();
    let disputed = plan.items.iter().filter(|item| item.kind == ItemKind::Disagreement);
    let ruled = disputed
        .clone()
        .filter(|item| audited.get(&item.case).is_some_and(|case| case.adjudications.contains_key(&item.label)));
    Ok(Some(AdjudicationStatus {
        disagreements: disputed.clone().count(),
        ruled: ruled.count(),
        agreed_cases: plan.agreed,
        spot_checked: desk.audit.cases.iter().filter(|case| case.spot_checks.is_some()).count(),
        waiting: plan.waiting.len(),
    }))
}

/// The median (the lower of the two in the middle of an even number).
pub(super) fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

/// Seconds for people: `40 s`, `7 min`, `2 h 5 min`.
#[must_use]
pub fn duration(seconds: u64) -> String {
    match (seconds / 3600, seconds.div_ceil(60)) {
        (0, _) if seconds < 60 => format!("{seconds} s"),
        (0, minutes) if minutes < 60 => format!("{minutes} min"),
        (_, minutes) => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_durations() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![9, 1, 5]), Some(5));
        assert_eq!(median(vec![4, 1, 9, 6]), Some(4));
        for (seconds, words) in
            [(40, "40 s"), (60, "1 min"), (61, "2 min"), (3599, "1 h 0 min"), (3600, "1 h 0 min"), (7500, "2 h 5 min")]
        {
            assert_eq!(duration(seconds), words);
        }
    }
}
