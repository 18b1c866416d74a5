//! What a rater does, stored: a draft, an answer, a mark, an undo. Whether an answer is valid is decided by
//! [`check_import`], as for every other way in.

use std::collections::{BTreeMap, BTreeSet};

use super::access::Secret;
use super::room::Room;
use crate::desk::rating_entries;
use crate::error::{Error, Result};
use crate::model::{Category, LabelId, Rating, RatingValue};
use crate::rate::{
    AnswerForm, AnswerRow, BatchExpectation, ExpectedCase, LineProblem, RawAnswer, StoredRating, check_import,
};
use crate::rubric::{CaseFacts, derived_value};
use crate::store::{Act, Draft, NewRating, OwnEvent, OwnWriter, StoredCase};

/// Longest rationale or note, in bytes.
pub(super) const LONGEST: usize = 20_000;

/// An answer as it came from the page.
pub(super) struct Given {
    pub label: LabelId,
    pub value: String,
    pub rationale: String,
    /// Digest of the case that the page shows.
    pub digest: String,
}

/// What became of it.
#[derive(Debug, Default)]
pub(super) struct Saved {
    /// Why answers were refused; they are kept as drafts.
    pub problems: Vec<LineProblem>,
    /// What the rater should know.
    pub warnings: Vec<LineProblem>,
}

/// A case to which an answer is given: the facts that do not change, read before the transaction.
pub(super) struct Target<'r> {
    pub room: &'r Room,
    pub case: &'r StoredCase,
    pub category: Category,
    /// Digest of what the rater is shown now.
    pub digest: String,
    /// The events that the log of the second condition shows; `None`: there is no log.
    pub events: Option<BTreeSet<String>>,
}

impl Target<'_> {
    fn facts(&self) -> CaseFacts<'_> {
        let verdict = self.case.verdict.as_deref().and_then(crate::model::Verdict::parse);
        CaseFacts { category: self.category, stratum: &self.case.stratum, verdict }
    }

    /// Keeps what was typed.
    pub(super) fn draft(&self, own: &OwnWriter<'_>, given: &Given, now: &str) -> Result<()> {
        let draft = Draft { value: given.value.clone(), rationale: given.rationale.clone() };
        let stored = own.ratings_of(&self.case.identity)?;
        let same = stored
            .get(&given.label)
            .is_some_and(|own| own.value.as_str() == draft.value && own.rationale == draft.rationale);
        if same {
            own.clear_draft(&self.case.identity, &given.label)?;
        } else {
            own.set_draft(&self.case.identity, &given.label, &draft, now)?;
        }
        Ok(())
    }

    /// Stores an answer together with those drafts of the case that have a value: an answer that contradicts a stored
    /// one waits as a draft until the other is changed too.
    pub(super) fn answer(&self, own: &OwnWriter<'_>, given: &Given, now: &str) -> Result<Saved> {
        let identity = &self.case.identity;
        self.draft(own, given, now)?;
        let stored = own.ratings_of(identity)?;
        let mut drafts = own.drafts()?.remove(identity).unwrap_or_default();
        // The answer itself counts even where it equals the stored one.
        let this = Draft { value: given.value.clone(), rationale: given.rationale.clone() };
        drafts.insert(given.label.clone(), this);
        let expected = self.expectation(&stored);
        let outcome = check_import(&expected, vec![self.row(&given.digest, &drafts)]);
        let source = format!("page {}", group()?);
        let entries = rating_entries(&outcome, &expected, &source);
        if !entries.is_empty() {
            own.append(&entries, now)?;
        }
        let settled =
            outcome.accepted.iter().map(|one| &one.label).chain(outcome.unchanged.iter().map(|(_, label)| label));
        for label in settled {
            own.clear_draft(identity, label)?;
        }
        // What follows by rule may no longer follow.
        self.derive(own, &source, now)?;
        Ok(Saved { problems: outcome.problems, warnings: outcome.warnings })
    }

    /// Why drafts with a value are no answers; nothing is stored.
    pub(super) fn judge(
        &self,
        stored: &BTreeMap<LabelId, Rating>,
        drafts: &BTreeMap<LabelId, Draft>,
    ) -> Vec<LineProblem> {
        if drafts.values().all(|draft| draft.value.is_empty()) {
            return Vec::new();
        }
        check_import(&self.expectation(stored), vec![self.row(&self.digest, drafts)]).problems
    }

    fn expectation(&self, stored: &BTreeMap<LabelId, Rating>) -> BatchExpectation<'_> {
        let existing = stored.iter().map(|(label, rating)| {
            (label.clone(), StoredRating { value: rating.value.clone(), rationale: rating.rationale.clone() })
        });
        let case = ExpectedCase {
            digest: self.digest.clone(),
            category: self.category,
            stratum: self.case.stratum.clone(),
            verdict: self.facts().verdict,
            events: self.events.clone(),
            existing: existing.collect(),
        };
        BatchExpectation {
            batch: self.room.batch.name.clone(),
            rater: self.room.rater.clone(),
            rubric: &self.room.rubric,
            cases: BTreeMap::from([(self.case.identity.clone(), case)]),
            revise: true,
        }
    }

    fn row(&self, digest: &str, drafts: &BTreeMap<LabelId, Draft>) -> AnswerRow {
        let answer = |(label, draft): (&LabelId, &Draft)| RawAnswer {
            label: label.to_string(),
            value: draft.value.clone(),
            rationale: draft.rationale.clone(),
        };
        AnswerRow {
            line: 1,
            form: AnswerForm::Json,
            batch: self.room.batch.name.to_string(),
            rubric_digest: self.room.batch.rubric.0.clone(),
            rater: self.room.rater.to_string(),
            case: self.case.identity.to_string(),
            case_digest: digest.to_owned(),
            answers: drafts.iter().filter(|(_, draft)| !draft.value.is_empty()).map(answer).collect(),
        }
    }

    /// Takes derived answers back that nothing supports any more, and renews those that changed.
    fn derive(&self, own: &OwnWriter<'_>, source: &str, now: &str) -> Result<()> {
        let stored = own.ratings_of(&self.case.identity)?;
        let values: BTreeMap<LabelId, RatingValue> =
            stored.iter().map(|(label, rating)| (label.clone(), rating.value.clone())).collect();
        let mut asked = values.clone();
        asked.retain(|label, _| self.room.rubric.label(label).is_some_and(|label| label.asked));
        let mut entries = Vec::new();
        for label in self.room.rubric.labels.iter().filter(|label| !label.asked) {
            let now_derived =
                derived_value(&self.room.rubric, &label.id, &self.facts(), &asked).filter(|_| !asked.is_empty());
            if values.get(&label.id) != now_derived.as_ref()
                && (values.contains_key(&label.id) || now_derived.is_some())
            {
                let rationale = if now_derived.is_some() { "follows by rule from the other answers" } else { "" };
                entries.push(self.entry(&label.id, now_derived, rationale, source));
            }
        }
        if !entries.is_empty() {
            own.append(&entries, now)?;
        }
        Ok(())
    }

    fn entry(&self, label: &LabelId, value: Option<RatingValue>, rationale: &str, source: &str) -> NewRating {
        NewRating {
            act: Act::Rating,
            case: self.case.identity.clone(),
            label: label.clone(),
            rater: self.room.rater.clone(),
            value: value.unwrap_or_else(|| RatingValue::Value(RatingValue::TAKEN_BACK.to_owned())),
            correct: None,
            rationale: rationale.to_owned(),
            case_digest: Some(self.digest.clone()),
            source: source.to_owned(),
        }
    }

    /// Brings back what stood before a group of events of this case.
    pub(super) fn undo(&self, own: &OwnWriter<'_>, step: &Step, now: &str) -> Result<()> {
        let source = format!("page undo {}", step.group);
        let mut entries = Vec::new();
        for (label, before) in &step.before {
            let (value, rationale) = match before {
                Some((value, rationale)) => (Some(value.clone()), rationale.as_str()),
                None => (None, ""),
            };
            entries.push(self.entry(label, value, rationale, &source));
            own.clear_draft(&self.case.identity, label)?;
        }
        own.append(&entries, now)?;
        Ok(())
    }
}

/// The next step to undo: a group of events that were stored together on the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub case: crate::model::CaseIdentity,
    group: String,
    /// Per label what stood before.
    before: Vec<(LabelId, Option<(RatingValue, String)>)>,
    /// The label that was answered: the first of the group that a rater is asked.
    pub label: Option<LabelId>,
}

/// Finds the latest step that is not undone yet. Answers from imported files are not undone here.
pub(super) fn last_step(room: &Room, events: &[OwnEvent]) -> Option<Step> {
    let undone: BTreeSet<&str> = events.iter().filter_map(|event| event.source.strip_prefix("page undo ")).collect();
    let group_of = |event: &'_ OwnEvent| -> Option<String> {
        let group = event.source.strip_prefix("page ")?;
        (!group.starts_with("undo ") && !undone.contains(group)).then(|| group.to_owned())
    };
    let last = events.iter().rposition(|event| group_of(event).is_some())?;
    let group = group_of(events.get(last)?)?;
    let case = events.get(last)?.case.clone();
    let start = events.iter().position(|event| group_of(event).as_deref() == Some(group.as_str()))?;
    let mut before: Vec<(LabelId, Option<(RatingValue, String)>)> = Vec::new();
    for event in events.iter().filter(|event| group_of(event).as_deref() == Some(group.as_str())) {
        if before.iter().any(|(label, _)| *label == event.label) {
            continue;
        }
        let earlier = events.iter().take(start).rev().find(|one| one.case == case && one.label == event.label);
        let stood = earlier.and_then(|one| Some((one.value.clone()?, one.rationale.clone())));
        before.push((event.label.clone(), stood));
    }
    let asked = |label: &LabelId| room.rubric.label(label).is_some_and(|label| label.asked);
    let answered = |label: &LabelId| {
        let event = events.iter().rev().find(|event| event.case == case && event.label == *label);
        event.is_some_and(|event| event.value != Some(RatingValue::NotApplicable))
    };
    let label = before.iter().map(|(label, _)| label).find(|label| asked(label) && answered(label)).cloned();
    Some(Step { case, group, before, label })
}

/// A name for the events of one request.
fn group() -> Result<String> {
    let secret = Secret::new()?;
    secret.reveal().get(..16).map(str::to_owned).ok_or_else(|| Error::internal("no name for the step"))
}
