//! A batch laid out for rating: its cases as one rater may see them, and what an answer is checked against.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::model::{Audit, CaseIdentity, LabelId, RaterName, Rating, Seed};
use crate::rate::adjudication::{AdjudicationExpectation, ItemKind, RulingOutcome};
use crate::rate::{self, BatchExpectation, ExpectedCase, ImportOutcome, RaterCase, StoredRating};
use crate::rubric::Rubric;
use crate::store::{Act, BatchInfo, NewRating, Store, StoredCase};

/// A batch with its rubric and everything said about it.
pub(super) struct Desk {
    pub batch: BatchInfo,
    pub rubric: Rubric,
    pub cases: Vec<StoredCase>,
    pub audit: Audit,
    /// Cases that nobody can rate, with the reason.
    pub unusable: BTreeMap<CaseIdentity, String>,
}

impl Desk {
    pub(super) fn open(store: &Store, name: &crate::model::BatchName) -> Result<Self> {
        let (batch, rubric) = super::Context::batch(store, name)?;
        let labels = rubric.labels.iter().map(|label| label.id.clone()).collect();
        let audit = store.audit(&batch, labels)?;
        let cases = store.batch_cases(&batch)?;
        let unusable = store.unusable_reasons(&batch)?;
        Ok(Self { batch, rubric, cases, audit, unusable })
    }

    /// The seed of the batch; shuffles raters' orders.
    pub(super) fn seed(&self) -> Result<Seed> {
        let text = self.batch.seed.as_deref().unwrap_or("imported");
        Seed::parse(text).map_err(|error| Error::internal(error.to_string()))
    }

    /// The cases that somebody can rate.
    pub(super) fn usable(&self) -> usize {
        self.cases.len() - self.cases.iter().filter(|case| self.unusable.contains_key(&case.identity)).count()
    }

    /// The cases as this rater may see them, in this rater's order; unusable ones are not shown.
    pub(super) fn rater_cases(&self, store: &Store, rater: &RaterName) -> Result<Vec<RaterCase>> {
        let mut order: Vec<CaseIdentity> = self.cases.iter().map(|case| case.identity.clone()).collect();
        rate::rater_order(&self.seed()?, rater, &mut order).map_err(|error| Error::internal(error.to_string()))?;
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
    pub(super) fn expectation(&self, store: &Store, rater: &RaterName, revise: bool) -> Result<BatchExpectation<'_>> {
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
            let digest = rate::CaseView::new(&self.rubric, &text).digest();
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
pub(super) fn rating_entries(outcome: &ImportOutcome, expected: &BatchExpectation<'_>, source: &str) -> Vec<NewRating> {
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
pub(super) fn ruling_entries(
    outcome: &RulingOutcome,
    expected: &AdjudicationExpectation<'_>,
    source: &str,
) -> Vec<NewRating> {
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
