//! A batch laid out: its rubric, its cases as one rater may see them, and what answers and rulings are checked against.
//! Holds everything that was said about the batch, so nothing that a rater sees may be made from it but through
//! [`Desk::rater_cases`]; the raters' page does not use it.

use std::collections::BTreeMap;

use crate::error::{Error, Kind, Result};
use crate::model::{Audit, BatchName, CaseIdentity, LabelId, RaterName, Rating, Seed};
use crate::rate::adjudication::{
    AdjudicationExpectation, ExpectedItem, Item, ItemKind, Plan, RatedCase, RulingOutcome, plan,
};
use crate::rate::{self, BatchExpectation, CaseView, ExpectedCase, ImportOutcome, RaterCase, StoredRating};
use crate::rubric::{self, Rubric};
use crate::store::{Act, BatchInfo, NewRating, Store, StoredCase};

/// A batch with its rubric and everything said about it.
pub struct Desk {
    /// The batch.
    pub batch: BatchInfo,
    /// Its rubric.
    pub rubric: Rubric,
    /// Its cases.
    pub cases: Vec<StoredCase>,
    /// Everything said about it.
    pub audit: Audit,
    /// Cases that nobody can rate, with the reason.
    pub unusable: BTreeMap<CaseIdentity, String>,
}

/// A batch with its rubric.
///
/// # Errors
/// No such batch, or a stored rubric that cannot be read.
pub fn batch_with_rubric(store: &Store, name: &BatchName) -> Result<(BatchInfo, Rubric)> {
    let batch = store.batch(name)?;
    let rubric = rubric::parse(&batch.rubric.2).map_err(|error| {
        Error::new(Kind::CheckFailed, format!("the stored rubric {} cannot be read any more: {error}", batch.rubric.1))
    })?;
    Ok((batch, rubric))
}

/// The seed of a batch; shuffles raters' orders.
///
/// # Errors
/// A stored seed that is none.
pub fn seed(batch: &BatchInfo) -> Result<Seed> {
    let text = batch.seed.as_deref().unwrap_or("imported");
    Seed::parse(text).map_err(|error| Error::internal(error.to_string()))
}

/// The pair of record, or an error that says how to get one.
///
/// # Errors
/// The batch has no two raters.
pub fn pair_of_record(audit: &Audit) -> Result<(RaterName, RaterName)> {
    audit.pair.clone().ok_or_else(|| {
        Error::not_found(format!("batch {} has no two raters yet", audit.batch))
            .hint("`dualrater export --batch B --rater NAME` registers a rater; two are needed")
    })
}

impl Desk {
    /// Opens a batch.
    ///
    /// # Errors
    /// As [`batch_with_rubric`], or the database's own trouble.
    pub fn open(store: &Store, name: &BatchName) -> Result<Self> {
        let (batch, rubric) = batch_with_rubric(store, name)?;
        let labels = rubric.labels.iter().map(|label| label.id.clone()).collect();
        let audit = store.audit(&batch, labels)?;
        let cases = store.batch_cases(&batch)?;
        let unusable = store.unusable_reasons(&batch)?;
        Ok(Self { batch, rubric, cases, audit, unusable })
    }

    /// The number of cases that somebody can rate.
    #[must_use]
    pub fn usable(&self) -> usize {
        self.cases.len() - self.cases.iter().filter(|case| self.unusable.contains_key(&case.identity)).count()
    }

    /// The cases as this rater may see them, in this rater's order; unusable ones are not shown.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn rater_cases(&self, store: &Store, rater: &RaterName) -> Result<Vec<RaterCase>> {
        let mut order: Vec<CaseIdentity> = self.cases.iter().map(|case| case.identity.clone()).collect();
        rate::rater_order(&seed(&self.batch)?, rater, &mut order)
            .map_err(|error| Error::internal(error.to_string()))?;
        let stored: BTreeMap<&CaseIdentity, &StoredCase> =
            self.cases.iter().map(|case| (&case.identity, case)).collect();
        let mut cases = Vec::with_capacity(order.len());
        for identity in &order {
            if let Some(case) = stored.get(identity).filter(|case| !self.unusable.contains_key(&case.identity)) {
                let text = store.case_text(&self.batch, case)?;
                cases.push(rate::rater_case(&self.rubric, &text, &self.own(rater, identity)));
            }
        }
        Ok(cases)
    }

    /// A rater's own answers to a case.
    fn own(&self, rater: &RaterName, case: &CaseIdentity) -> BTreeMap<LabelId, Rating> {
        self.audit
            .cases
            .iter()
            .find(|audited| audited.case == *case)
            .and_then(|audited| audited.ratings.get(rater))
            .cloned()
            .unwrap_or_default()
    }

    /// What a rater's file is checked against.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn expectation(&self, store: &Store, rater: &RaterName, revise: bool) -> Result<BatchExpectation<'_>> {
        let mut cases = BTreeMap::new();
        for (case, audited) in self.cases.iter().zip(&self.audit.cases) {
            if self.unusable.contains_key(&case.identity) {
                continue;
            }
            let text = store.case_text(&self.batch, case)?;
            let existing = audited.ratings.get(rater).map(|ratings| {
                ratings
                    .iter()
                    .map(|(label, rating)| {
                        let stored = StoredRating { value: rating.value.clone(), rationale: rating.rationale.clone() };
                        (label.clone(), stored)
                    })
                    .collect()
            });
            let digest = CaseView::new(&self.rubric, &text).digest();
            let expected = ExpectedCase {
                digest,
                category: audited.category,
                stratum: case.stratum.clone(),
                verdict: audited.verdict,
                events: text.events().cloned(),
                existing: existing.unwrap_or_default(),
            };
            cases.insert(case.identity.clone(), expected);
        }
        Ok(BatchExpectation {
            batch: self.batch.name.clone(),
            rater: rater.clone(),
            rubric: &self.rubric,
            cases,
            revise,
        })
    }
}

/// The entries that store a rater's checked answers.
#[must_use]
pub fn rating_entries(outcome: &ImportOutcome, expected: &BatchExpectation<'_>, source: &str) -> Vec<NewRating> {
    outcome
        .accepted
        .iter()
        .map(|answer| NewRating {
            act: Act::Rating,
            case: answer.case.clone(),
            label: answer.label.clone(),
            rater: expected.rater.clone(),
            value: answer.value.clone(),
            correct: None,
            rationale: answer.rationale.clone(),
            case_digest: expected.cases.get(&answer.case).map(|case| case.digest.clone()),
            source: source.to_owned(),
        })
        .collect()
}

/// The entries that store an adjudicator's checked rulings and spot checks.
#[must_use]
pub fn ruling_entries(outcome: &RulingOutcome, expected: &AdjudicationExpectation<'_>, source: &str) -> Vec<NewRating> {
    outcome
        .accepted
        .iter()
        .map(|ruling| NewRating {
            act: if ruling.kind == ItemKind::Disagreement { Act::Ruling } else { Act::SpotCheck },
            case: ruling.case.clone(),
            label: ruling.label.clone(),
            rater: expected.adjudicator.clone(),
            value: ruling.value.clone(),
            correct: ruling.correct,
            rationale: ruling.note.clone(),
            case_digest: expected.cases.get(&ruling.case).map(|case| case.case_digest.clone()),
            source: source.to_owned(),
        })
        .collect()
}

/// The cases of the desk that can be rated, with the answers of the pair of record.
///
/// # Errors
/// No pair of record, or the database's own trouble.
pub fn rated_cases(desk: &Desk, store: &Store) -> Result<(Vec<RatedCase>, BTreeMap<CaseIdentity, CaseView>)> {
    let (a, b) = pair_of_record(&desk.audit)?;
    let mut views = BTreeMap::new();
    let mut rated = Vec::new();
    for (case, audited) in desk.cases.iter().zip(&desk.audit.cases) {
        if desk.unusable.contains_key(&case.identity) {
            continue;
        }
        let text = store.case_text(&desk.batch, case)?;
        let view = CaseView::new(&desk.rubric, &text);
        let answers = |rater: &RaterName| -> BTreeMap<LabelId, StoredRating> {
            let own = audited.ratings.get(rater).into_iter().flatten();
            own.map(|(label, rating)| {
                (label.clone(), StoredRating { value: rating.value.clone(), rationale: rating.rationale.clone() })
            })
            .collect()
        };
        rated.push(RatedCase {
            case: case.identity.clone(),
            case_digest: view.digest(),
            category: audited.category,
            stratum: case.stratum.clone(),
            verdict: audited.verdict,
            events: text.events().cloned(),
            first: answers(&a),
            second: answers(&b),
        });
        views.insert(case.identity.clone(), view);
    }
    Ok((rated, views))
}

/// Plans what goes to the adjudicator.
///
/// # Errors
/// A stored seed that is none.
pub fn planned(desk: &Desk, adjudicator: &RaterName, spot_checks: usize, rated: &[RatedCase]) -> Result<Plan> {
    plan(&seed(&desk.batch)?, adjudicator, spot_checks, &desk.rubric, rated)
        .map_err(|error| Error::internal(error.to_string()))
}

/// What an adjudicator's file is checked against: every disagreement, and every agreement that could be spot-checked.
///
/// # Errors
/// No pair of record, or the database's own trouble.
pub fn rulings_expected<'a>(
    desk: &'a Desk,
    store: &Store,
    adjudicator: &RaterName,
    revise: bool,
) -> Result<AdjudicationExpectation<'a>> {
    let (rated, _) = rated_cases(desk, store)?;
    let plan = planned(desk, adjudicator, usize::MAX, &rated)?;
    let audited: BTreeMap<&CaseIdentity, _> = desk.audit.cases.iter().map(|case| (&case.case, case)).collect();
    let with_stored = |items: Vec<Item>| -> Vec<ExpectedItem> {
        let stored = |item: Item| {
            let case = audited.get(&item.case);
            let existing = match item.kind {
                ItemKind::Disagreement => case
                    .and_then(|case| case.adjudications.get(&item.label))
                    .map(|ruling| StoredRating { value: ruling.value.clone(), rationale: ruling.note.clone() }),
                ItemKind::SpotCheck => case
                    .and_then(|case| case.spot_checks.as_ref()?.get(&item.label))
                    .map(|check| StoredRating { value: check.value.clone(), rationale: check.note.clone() }),
            };
            ExpectedItem { item, existing }
        };
        items.into_iter().map(stored).collect()
    };
    Ok(AdjudicationExpectation {
        batch: desk.batch.name.clone(),
        adjudicator: adjudicator.clone(),
        rubric: &desk.rubric,
        cases: rated.into_iter().map(|case| (case.case.clone(), case)).collect(),
        items: with_stored(plan.items),
        by_rule: with_stored(plan.by_rule),
        revise,
    })
}
