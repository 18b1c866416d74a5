//! The automatic metric in its four readings, and which label asks for the same.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::model::LabelId;

/// A reading of Gold Action Recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Any emission of any turn, published rules.
    AnyTurnPaper,
    /// Any emission of any turn, strict rules.
    AnyTurnStrict,
    /// Any emission of the gold turn, published rules.
    GoldTurnPaper,
    /// Any emission of the gold window, strict rules.
    GoldTurnStrict,
}

impl Metric {
    /// All four.
    pub const ALL: [Self; 4] = [Self::AnyTurnPaper, Self::AnyTurnStrict, Self::GoldTurnPaper, Self::GoldTurnStrict];

    /// Its place in [`Metric::ALL`].
    #[must_use]
    pub fn place(self) -> usize {
        match self {
            Self::AnyTurnPaper => 0,
            Self::AnyTurnStrict => 1,
            Self::GoldTurnPaper => 2,
            Self::GoldTurnStrict => 3,
        }
    }

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnyTurnPaper => "any_turn/paper",
            Self::AnyTurnStrict => "any_turn/strict",
            Self::GoldTurnPaper => "gold_turn/paper",
            Self::GoldTurnStrict => "gold_turn/strict",
        }
    }

    /// Does it look at the turn where the gold action is due only?
    #[must_use]
    pub fn at_gold_turn(self) -> bool {
        matches!(self, Self::GoldTurnPaper | Self::GoldTurnStrict)
    }

    /// Does it read with the strict rules?
    #[must_use]
    pub fn strict(self) -> bool {
        matches!(self, Self::AnyTurnStrict | Self::GoldTurnStrict)
    }

    /// For people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::AnyTurnPaper => "GAR, any turn, rules paper",
            Self::AnyTurnStrict => "GAR, any turn, rules strict",
            Self::GoldTurnPaper => "GAR, gold turn, rules paper",
            Self::GoldTurnStrict => "GAR, gold window, rules strict",
        }
    }

    /// The reading with the same turns under the other rules.
    #[must_use]
    pub fn new(at_gold_turn: bool, strict: bool) -> Self {
        match (at_gold_turn, strict) {
            (false, false) => Self::AnyTurnPaper,
            (false, true) => Self::AnyTurnStrict,
            (true, false) => Self::GoldTurnPaper,
            (true, true) => Self::GoldTurnStrict,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Does a label ask for what the metric counts?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// B1b: the gold action, sooner or later. Any-turn GAR.
    Eventually,
    /// B1a of a rubric that takes the gold turn from the ground truth. GAR at the gold turn.
    AtGoldTurn,
    /// B1a of a rubric that puts the gold turn at turn 0 whatever the ground truth says.
    AtTurnZero,
    /// Something else.
    Other,
}

/// What a label means; `from_truth`: the rubric takes the gold turn from the ground truth.
#[must_use]
pub fn meaning(label: &LabelId, from_truth: bool) -> Meaning {
    match (label.as_str(), from_truth) {
        ("B1b", _) => Meaning::Eventually,
        ("B1a", true) => Meaning::AtGoldTurn,
        ("B1a", false) => Meaning::AtTurnZero,
        _ => Meaning::Other,
    }
}

impl Meaning {
    /// The metric that a label is set beside.
    #[must_use]
    pub fn metric(self, strict: bool) -> Metric {
        Metric::new(self == Self::AtGoldTurn, strict)
    }

    pub(super) fn estimand(self, label: &LabelId, metric: Metric) -> String {
        let metric = metric.title();
        match self {
            Self::Eventually => format!(
                "the share of the frame's cases in which raters find the gold action at the gold turn or later ({label}); \
                 beside it and corrected by it: {metric}"
            ),
            Self::AtGoldTurn => format!(
                "the share of the frame's cases in which raters find the gold action at the gold turn ({label}); beside it \
                 and corrected by it: {metric}"
            ),
            Self::AtTurnZero | Self::Other => {
                format!(
                    "the share of the frame's cases with the final value {label} = 1; beside it, not corrected: {metric}"
                )
            }
        }
    }

    /// Why the metric cannot be corrected by the label.
    #[must_use]
    pub fn refusal(self) -> Option<String> {
        match self {
            Self::Eventually | Self::AtGoldTurn => None,
            Self::AtTurnZero => Some(
                "this rubric's B1a looks at turn 0 where a function or a value is missing, whatever the ground truth says, \
                 which no GAR measures: use B1b for any-turn GAR, or B1a of mechanism-v3 for GAR at the gold turn"
                    .to_owned(),
            ),
            Self::Other => Some("the label does not ask for the gold action, so GAR is no measure of it".to_owned()),
        }
    }
}
