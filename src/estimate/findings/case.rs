//! The frame in counts and the audited cases one by one: what estimation reads.

use serde::Serialize;

use super::Metric;
use crate::model::{CaseIdentity, Category, RatingValue, StratumId, Verdict};

/// A run (where it is known) and a category of a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Cell {
    /// The run; `None` for an audit made elsewhere.
    pub run: Option<String>,
    /// The model.
    pub model: String,
    /// The category.
    pub category: Category,
}

impl Cell {
    /// `run/category`, or `model/category` where there is no run.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.owner(), self.category)
    }

    /// The run, or the model where there is none.
    #[must_use]
    pub fn owner(&self) -> &str {
        self.run.as_deref().unwrap_or(&self.model)
    }
}

/// Can a case of the frame have been drawn?
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// A stratum owns it.
    Stratum(StratumId),
    /// No stratum does.
    NoStratum,
    /// An earlier batch of another design took it out before the draw.
    Taken,
    /// It has no usable id (a duplicate, a missing one), so it is never drawn.
    Undrawable,
}

/// Cases of the frame that are alike in all that estimation asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameGroup {
    /// Their cell.
    pub cell: Cell,
    /// Their stratum, or why they have none.
    pub reach: Reach,
    /// The grader's verdict.
    pub verdict: Option<Verdict>,
    /// How many they are.
    pub cases: u64,
    /// Of these, hits of the metric.
    pub hits: u64,
    /// Of these, cases for which the metric is not known.
    pub unknown: u64,
}

/// The frame that the sample was drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Known case by case.
    Known {
        /// All of it.
        groups: Vec<FrameGroup>,
    },
    /// Not known, so nothing can be said about a population.
    Unknown {
        /// Why.
        reason: String,
    },
}

/// A stratum of the design.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StratumDesign {
    /// Short name.
    pub id: StratumId,
    /// Cases that could be drawn; `None`: not known.
    pub population: Option<u64>,
    /// Cases drawn.
    pub drawn: u64,
}

/// The final value of the label on a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Yes.
    One,
    /// No, or a named value.
    Zero,
    /// The label does not apply.
    NotApplicable,
    /// A rater could not tell.
    CannotJudge,
    /// A disagreement without a ruling, or a rating that is missing.
    Open,
    /// The case was unusable, decided before it was rated.
    Unusable,
}

impl Answer {
    /// From the final value; `None`: there is none yet.
    #[must_use]
    pub fn of(value: Option<&RatingValue>) -> Self {
        match value {
            None => Self::Open,
            Some(RatingValue::NotApplicable) => Self::NotApplicable,
            Some(RatingValue::CannotJudge) => Self::CannotJudge,
            Some(value) if value.is_one() => Self::One,
            Some(RatingValue::Value(_)) => Self::Zero,
        }
    }

    /// Yes or no; `None` for anything else.
    #[must_use]
    pub fn yes(self) -> Option<bool> {
        match self {
            Self::One => Some(true),
            Self::Zero => Some(false),
            Self::NotApplicable | Self::CannotJudge | Self::Open | Self::Unusable => None,
        }
    }

    /// Was the question answered, be it with *n.a.*?
    #[must_use]
    pub fn answered(self) -> bool {
        matches!(self, Self::One | Self::Zero | Self::NotApplicable)
    }
}

/// An audited case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditedCase {
    /// The case.
    pub case: CaseIdentity,
    /// Its cell.
    pub cell: Cell,
    /// The stratum that it was drawn for.
    pub stratum: StratumId,
    /// The final value of the label.
    pub answer: Answer,
    /// The values of the two raters; `None`: missing.
    pub values: [Option<RatingValue>; 2],
    /// Is it a hit, in the order of [`Metric::ALL`]? `None`: not known.
    pub hits: [Option<bool>; 4],
    /// Why, in the same order.
    pub cues: [String; 4],
}

impl AuditedCase {
    /// Is the case a hit of a metric? `None`: not known.
    #[must_use]
    pub fn hit(&self, metric: Metric) -> Option<bool> {
        self.hits.get(metric.place()).copied().flatten()
    }

    /// Label and metric, where both are known.
    #[must_use]
    pub fn both(&self, metric: Metric) -> Option<(bool, bool)> {
        self.answer.yes().zip(self.hit(metric))
    }
}
