//! Adjudication: a third rater rules on every label on which the two raters differ, and checks a seeded sample of cases
//! on which they agree. Both answers are shown left and right in random order, without names.

mod check;
mod files;
mod plan;

use serde::Serialize;

use super::check::StoredRating;
use crate::digest::Canonical;
use crate::model::{CaseIdentity, LabelId};

pub use check::{AcceptedRuling, AdjudicationExpectation, ExpectedItem, RulingOutcome, check_rulings};
pub use files::{RulingFile, RulingRow, RulingSheetWriter, RulingWriter, read_ruling_jsonl, read_ruling_sheet};
pub use plan::{Plan, RatedCase, plan};

/// Why an item is before the adjudicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// The raters differ.
    Disagreement,
    /// They agree, and the case was drawn to be checked.
    SpotCheck,
}

impl ItemKind {
    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Disagreement => "disagreement",
            Self::SpotCheck => "spot_check",
        }
    }
}

/// One label of one case to rule on. Which side is whose stays with the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The case.
    pub case: CaseIdentity,
    /// The digest of what the raters saw.
    pub case_digest: String,
    /// The label.
    pub label: LabelId,
    /// Why it is here.
    pub kind: ItemKind,
    /// The answer shown on the left.
    pub left: StoredRating,
    /// The answer shown on the right.
    pub right: StoredRating,
    /// Is the left answer that of the first rater? Never exported.
    pub left_is_first: bool,
}

impl Item {
    /// SHA-256 over the canonical bytes of everything that the adjudicator is shown: a ruling counts only for the
    /// answers that were before them. The order of the fields is part of the format.
    #[must_use]
    pub fn digest(&self) -> String {
        Canonical::new("adjudication-item/1")
            .text(self.case.as_str())
            .text(&self.case_digest)
            .text(self.label.as_str())
            .text(self.kind.as_str())
            .text(self.left.value.as_str())
            .text(&self.left.rationale)
            .text(self.right.value.as_str())
            .text(&self.right.rationale)
            .finish()
    }
}

#[cfg(test)]
mod tests;
