//! What the metric needs to know about cases and cells.

use crate::model::{ActionClass, Category, Verdict};

/// One record of a run file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseFacts {
    /// The case id, unique in its cell.
    pub id: String,
    /// The grader's verdict; `None`: unscored.
    pub verdict: Option<Verdict>,
    /// The record holds an inference error (or anything that is not a list of turns) in place of a result.
    pub error_record: bool,
    /// The class of every emission of every turn, in the order of the file; `None`: nothing to classify.
    pub classes: Vec<Option<ActionClass>>,
    /// Some emission is a text (a JSON string), whatever it says.
    pub emission_text_seen: bool,
}

impl CaseFacts {
    /// Is some emission of this class? Never for an error record.
    pub(super) fn emits(&self, class: ActionClass) -> bool {
        !self.error_record && self.classes.contains(&Some(class))
    }
}

/// Does some case have a text emission? Over all cases of a run, this says whether `ask`, `refuse` and `confirm` can be
/// seen in it at all.
#[must_use]
pub fn has_text<'c>(cases: impl IntoIterator<Item = &'c CaseFacts>) -> bool {
    cases.into_iter().any(|case| case.emission_text_seen)
}

/// One category of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellInput {
    /// The run's name.
    pub run: String,
    /// The model.
    pub model: String,
    /// The condition.
    pub condition: String,
    /// The category.
    pub category: Category,
    /// All records, in the order of the file.
    pub cases: Vec<CaseFacts>,
    /// The file holds the failed cases only.
    pub failures_only: bool,
    /// `correct_count` and `total_count` of the score file's header.
    pub header: Option<(u64, u64)>,
    /// Does the run have a text emission in any of its categories? See [`has_text`].
    pub run_has_text: bool,
}
