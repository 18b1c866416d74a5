//! A batch as one rater finds it: rubric and cases in this rater's order. Made from statements that cannot reach anybody
//! else's answers: the cases as drawn, and [`OwnRows`].

use std::collections::BTreeMap;

use crate::desk;
use crate::error::{Error, Result};
use crate::model::{BatchName, CaseIdentity, Category, LabelId, RaterName, Rating};
use crate::rate::rater_order;
use crate::rubric::{Applicability, Rubric};
use crate::store::{BatchInfo, Marks, OwnRows, Store, StoredCase};

/// A batch as one rater finds it.
pub(super) struct Room {
    pub batch: BatchInfo,
    pub rubric: Rubric,
    pub rater: RaterName,
    /// The cases in this rater's order.
    pub cases: Vec<StoredCase>,
}

/// How far a rater is with a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing said.
    Open,
    /// Some labels are answered.
    Begun,
    /// Every label is answered.
    Done,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Begun => "begun",
            Self::Done => "done",
        }
    }
}

/// A case in the list of all.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    /// Its place in the rater's order, from 1.
    pub number: usize,
    pub case: CaseIdentity,
    pub state: State,
    pub marks: Marks,
    pub seconds: u64,
}

/// The list of all cases with what is left to do.
#[derive(Debug, Clone)]
pub(super) struct Tour {
    pub stops: Vec<Stop>,
}

impl Room {
    pub(super) fn open(store: &Store, batch: &BatchName, rater: &RaterName) -> Result<Self> {
        let (batch, rubric) = desk::batch_with_rubric(store, batch)?;
        // Cases that nobody can rate are not put before anybody.
        let unusable = store.unusable_reasons(&batch)?;
        let mut stored = store.batch_cases(&batch)?;
        stored.retain(|case| !unusable.contains_key(&case.identity));
        let mut order: Vec<CaseIdentity> = stored.iter().map(|case| case.identity.clone()).collect();
        rater_order(&desk::seed(&batch)?, rater, &mut order).map_err(|error| Error::internal(error.to_string()))?;
        let mut by_name: BTreeMap<CaseIdentity, StoredCase> =
            stored.into_iter().map(|case| (case.identity.clone(), case)).collect();
        let cases = order.iter().filter_map(|case| by_name.remove(case)).collect();
        Ok(Self { batch, rubric, rater: rater.clone(), cases })
    }

    /// The case at a place, from 1.
    pub(super) fn at(&self, number: usize) -> Option<&StoredCase> {
        self.cases.get(number.checked_sub(1)?)
    }

    pub(super) fn tour(&self, own: &OwnRows<'_>) -> Result<Tour> {
        let (ratings, marks, seconds) = (own.ratings()?, own.marks()?, own.seconds()?);
        let none = BTreeMap::new();
        let stops = (1..)
            .zip(&self.cases)
            .map(|(number, case)| Stop {
                number,
                case: case.identity.clone(),
                state: self.state(case, ratings.get(&case.identity).unwrap_or(&none)),
                marks: marks.get(&case.identity).cloned().unwrap_or_default(),
                seconds: seconds.get(&case.identity).copied().unwrap_or(0),
            })
            .collect();
        Ok(Tour { stops })
    }

    fn state(&self, case: &StoredCase, own: &BTreeMap<LabelId, Rating>) -> State {
        let Some(category) = Category::parse(&case.category) else { return State::Open };
        let labels = self.rubric.applicabilities(category, &case.stratum);
        let mut open = labels.iter().filter(|(label, applies)| label.asked && *applies != Applicability::NotApplicable);
        if open.all(|(label, _)| own.contains_key(&label.id)) {
            State::Done
        } else if own.values().any(|rating| rating.value != crate::model::RatingValue::NotApplicable) {
            State::Begun
        } else {
            State::Open
        }
    }
}

/// Which cases a rater goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Only {
    /// All of them.
    #[default]
    All,
    /// Those that are not done.
    Unrated,
    /// Those with a flag.
    Flagged,
}

impl Only {
    pub(super) const EVERY: [(Self, &'static str, &'static str); 3] =
        [(Self::All, "all", "All"), (Self::Unrated, "unrated", "Not done"), (Self::Flagged, "flagged", "Flagged")];

    fn takes(self, stop: &Stop) -> bool {
        match self {
            Self::All => true,
            Self::Unrated => stop.state != State::Done,
            Self::Flagged => stop.marks.flag.is_some(),
        }
    }

    /// The query that keeps the choice.
    pub(super) fn query(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Unrated => "?only=unrated",
            Self::Flagged => "?only=flagged",
        }
    }
}

impl Tour {
    pub(super) fn done(&self) -> usize {
        self.stops.iter().filter(|stop| stop.state == State::Done).count()
    }

    pub(super) fn taken(&self, only: Only) -> impl Iterator<Item = &Stop> {
        self.stops.iter().filter(move |stop| only.takes(stop))
    }

    pub(super) fn before(&self, number: usize, only: Only) -> Option<usize> {
        self.taken(only).map(|stop| stop.number).filter(|other| *other < number).last()
    }

    pub(super) fn after(&self, number: usize, only: Only) -> Option<usize> {
        self.taken(only).map(|stop| stop.number).find(|other| *other > number)
    }

    /// Where to go on: the first case that is not done, after `number` if there is one.
    pub(super) fn next_open(&self, number: usize) -> Option<usize> {
        self.after(number, Only::Unrated).or_else(|| self.taken(Only::Unrated).map(|stop| stop.number).next())
    }

    /// Median seconds of the cases that are done and were timed.
    pub(super) fn median_seconds(&self) -> Option<u64> {
        let timed = self.stops.iter().filter(|stop| stop.state == State::Done && stop.seconds > 0);
        super::status::median(timed.map(|stop| stop.seconds).collect())
    }

    /// Seconds left at the median pace.
    pub(super) fn seconds_left(&self) -> Option<u64> {
        let left = self.stops.len().saturating_sub(self.done()) as u64;
        self.median_seconds().filter(|_| left > 0).map(|median| median.saturating_mul(left))
    }
}
