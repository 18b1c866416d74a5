//! One row of the frame: what a plan may know about a case before anybody has rated it.

use serde::{Deserialize, Serialize};

use crate::model::{CaseIdentity, Category, RunName, Transition, Verdict};

/// A case that can be drawn (or that must be counted because it cannot).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameCase {
    /// `run/case_id`; unique in the frame.
    pub identity: CaseIdentity,
    /// The run that the case is drawn from (the baseline of a pair).
    pub run: RunName,
    /// The model of the run.
    pub model: String,
    /// The condition of the run.
    pub condition: String,
    /// The benchmark category.
    pub category: Category,
    /// The grader's verdict in this run; `None`: unscored.
    pub verdict: Option<Verdict>,
    /// The verdict's change to the pair's second run; `None` where the plan pairs nothing or a verdict is missing.
    pub transition: Option<Transition>,
    /// Does any emission of any turn show the gold action (rule set `paper`)?
    pub gar_hit: bool,
    /// Does an inference error stand in place of a result?
    pub error_record: bool,
    /// `false` for later copies of a duplicate id and for cases without an id: they are counted, never drawn.
    pub drawable: bool,
}
