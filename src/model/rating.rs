//! Ratings: one rater's value for one label of one case.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{LabelId, RaterName};

/// What a rater answered. *n.a.* (the label does not apply) is not *cannot judge* (the text was not saved), and
/// neither is a missing rating (which is the absence of a [`Rating`]).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RatingValue {
    /// One of the label's values, in the rubric's own spelling (`0`, `1`, a class name).
    Value(String),
    /// The label does not apply to this case.
    NotApplicable,
    /// The label applies, but what it asks about was not saved.
    CannotJudge,
}

impl RatingValue {
    /// How *n.a.* is written.
    pub const NOT_APPLICABLE: &'static str = "n.a.";
    /// How *cannot judge* is written.
    pub const CANNOT_JUDGE: &'static str = "cannot_judge";
    /// How the store writes that an answer was taken back and none stands in its place. No answer reads as it.
    pub const TAKEN_BACK: &'static str = "";

    /// Does this stand for an answer that was taken back?
    #[must_use]
    pub fn is_taken_back(&self) -> bool {
        matches!(self, Self::Value(text) if text == Self::TAKEN_BACK)
    }

    /// The written form, as stored and exported.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Value(text) => text,
            Self::NotApplicable => Self::NOT_APPLICABLE,
            Self::CannotJudge => Self::CANNOT_JUDGE,
        }
    }

    /// The label's value, if the rater gave one.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::Value(text) => Some(text),
            Self::NotApplicable | Self::CannotJudge => None,
        }
    }

    /// Is the answer the value `1` (yes)?
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.value() == Some("1")
    }
}

impl From<String> for RatingValue {
    /// Reads the canonical written form; user input goes through the rubric's own check instead.
    fn from(text: String) -> Self {
        match text.as_str() {
            Self::NOT_APPLICABLE => Self::NotApplicable,
            Self::CANNOT_JUDGE => Self::CannotJudge,
            _ => Self::Value(text),
        }
    }
}

impl From<RatingValue> for String {
    fn from(value: RatingValue) -> Self {
        value.as_str().to_owned()
    }
}

impl fmt::Display for RatingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Who or what a rater is. Only people and models can be in the pair of record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RaterKind {
    /// A person.
    Human,
    /// A language model.
    Model,
    /// Computed from the data by rule.
    Mechanical,
    /// Rules on disagreements and spot-checks agreements.
    Adjudicator,
    /// Simulated, with known error rates (demo and proofs).
    Simulated,
}

impl RaterKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Human, Self::Model, Self::Mechanical, Self::Adjudicator, Self::Simulated];

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Model => "model",
            Self::Mechanical => "mechanical",
            Self::Adjudicator => "adjudicator",
            Self::Simulated => "simulated",
        }
    }

    /// Reads the written form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// May a rater of this kind be one of the two whose agreement is reported?
    #[must_use]
    pub fn can_be_of_record(self) -> bool {
        matches!(self, Self::Human | Self::Model | Self::Simulated)
    }
}

impl fmt::Display for RaterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One rater's answer to one label of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rating {
    /// Who.
    pub rater: RaterName,
    /// Which question.
    pub label: LabelId,
    /// The answer.
    pub value: RatingValue,
    /// Why, in the rater's words; may be empty.
    pub rationale: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_three_kinds_apart() {
        assert_eq!(RatingValue::from("n.a.".to_owned()), RatingValue::NotApplicable);
        assert_eq!(RatingValue::from("cannot_judge".to_owned()), RatingValue::CannotJudge);
        assert_eq!(RatingValue::from("1".to_owned()), RatingValue::Value("1".to_owned()));
        assert!(RatingValue::from("1".to_owned()).is_one());
        assert!(!RatingValue::NotApplicable.is_one());
    }
}
