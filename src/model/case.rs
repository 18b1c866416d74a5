//! Benchmark categories and the text of a case as a rater sees it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ActionClass, CaseIdentity, Section, Transition, Verdict};

/// What kind of unit a case is: the four categories of BFCL multi-turn in the benchmark's order, then the units of τ² and
/// of chat logs. Tables of BFCL go over [`Category::ALL`], what reads stored units over [`Category::EVERY`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Every turn can be answered with the tools at hand.
    Base,
    /// As base, with much more state text.
    LongContext,
    /// A tool is missing until a later turn returns it.
    MissFunc,
    /// A value is missing until a later turn supplies it.
    MissParam,
    /// τ²: a simulation of a task with reference actions.
    Tau2ToolCall,
    /// τ²: a simulation of a task without reference actions.
    Tau2Refuse,
    /// τ²: a simulation whose task is not known.
    Tau2Unknown,
    /// τ²: one database write of a simulation.
    Tau2Write,
    /// τ²: a task itself, whatever came of it.
    Tau2Task,
    /// A logged conversation that asks for a call.
    ChatToolCall,
    /// A logged conversation that asks for a refusal.
    ChatRefuse,
    /// A logged conversation that asks for a question.
    ChatAsk,
    /// A logged conversation that asks for a completion notice.
    ChatConfirm,
    /// A logged conversation that asks for nothing known.
    Chat,
}

impl Category {
    /// The categories of BFCL multi-turn in the benchmark's order.
    pub const ALL: [Self; 4] = [Self::Base, Self::LongContext, Self::MissFunc, Self::MissParam];

    /// The categories of chat logs.
    pub const CHAT: [Self; 5] = [Self::ChatToolCall, Self::ChatRefuse, Self::ChatAsk, Self::ChatConfirm, Self::Chat];

    /// The units of τ².
    pub const TAU2: [Self; 5] =
        [Self::Tau2ToolCall, Self::Tau2Refuse, Self::Tau2Unknown, Self::Tau2Write, Self::Tau2Task];

    /// Every category of every benchmark.
    pub const EVERY: [Self; 14] = [
        Self::Base,
        Self::LongContext,
        Self::MissFunc,
        Self::MissParam,
        Self::Tau2ToolCall,
        Self::Tau2Refuse,
        Self::Tau2Unknown,
        Self::Tau2Write,
        Self::Tau2Task,
        Self::ChatToolCall,
        Self::ChatRefuse,
        Self::ChatAsk,
        Self::ChatConfirm,
        Self::Chat,
    ];

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::LongContext => "long_context",
            Self::MissFunc => "miss_func",
            Self::MissParam => "miss_param",
            Self::Tau2ToolCall => "tau2_tool_call",
            Self::Tau2Refuse => "tau2_refuse",
            Self::Tau2Unknown => "tau2_unknown",
            Self::Tau2Write => "tau2_write",
            Self::Tau2Task => "tau2_task",
            Self::ChatToolCall => "chat_tool_call",
            Self::ChatRefuse => "chat_refuse",
            Self::ChatAsk => "chat_ask",
            Self::ChatConfirm => "chat_confirm",
            Self::Chat => "chat",
        }
    }

    /// Reads the written form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::EVERY.into_iter().find(|category| category.as_str() == text)
    }

    /// The category that a case id names: the first of `miss_param`, `miss_func`, `long_context`, `base` (in this
    /// order) for which the id contains `multi_turn_<category>_`.
    #[must_use]
    pub fn of_case_id(id: &str) -> Option<Self> {
        [Self::MissParam, Self::MissFunc, Self::LongContext, Self::Base]
            .into_iter()
            .find(|category| id.contains(&format!("multi_turn_{}_", category.as_str())))
    }

    /// The class that the category asks for; [`ActionClass::Other`], which is never a gold action, where it asks for none.
    #[must_use]
    pub fn gold_action(self) -> ActionClass {
        match self {
            Self::Base | Self::LongContext | Self::Tau2ToolCall | Self::ChatToolCall => ActionClass::ToolCall,
            Self::MissFunc | Self::Tau2Refuse | Self::ChatRefuse => ActionClass::Refuse,
            Self::MissParam | Self::Tau2Task | Self::ChatAsk => ActionClass::Ask,
            Self::Tau2Write | Self::ChatConfirm => ActionClass::Confirm,
            Self::Tau2Unknown | Self::Chat => ActionClass::Other,
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What the benchmark's data set says about a case; absent as a whole where no data set fits the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct GroundTruth {
    /// Per turn the calls that the benchmark expects, in its own notation.
    pub calls: Vec<Vec<String>>,
    /// Tools held back until `return_turn` (`miss_func` only).
    pub held_out_tools: Vec<String>,
    /// The turn at which the held-out tools come back, from 0 (the smallest key of `missed_function`).
    pub return_turn: Option<u32>,
}

/// One user turn of a case in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct TurnText {
    /// The model's emissions, one JSON value each, as the run file holds them.
    pub emissions: Vec<String>,
    /// The action class of each emission under the rule set `paper` (`None`: nothing to classify). Never shown to a
    /// rater; here for renderers that need it.
    #[serde(skip)]
    pub classes: Vec<Option<ActionClass>>,
}

/// One run's side of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct ConditionText {
    /// The run's name.
    pub run: String,
    /// The model.
    pub model: String,
    /// The condition (`baseline`, `sri-v1`, …).
    pub condition: String,
    /// What the model emitted, per turn; empty where the inference failed.
    pub turns: Vec<TurnText>,
    /// The inference error that stands in place of a result.
    pub error: Option<String>,
    /// The grader's verdict; `None`: unscored.
    pub verdict: Option<Verdict>,
    /// The grader's error type for a fail.
    pub error_type: Option<String>,
    /// The grader's explanation for a fail: message and state difference, as the score file holds them.
    pub error_detail: Option<String>,
    /// `true` where the benchmark kept calls only, so a text answer of this run cannot be seen.
    pub text_not_saved: bool,
    /// What a probe did to the conversation, in the words of a rubric's `needs`; `None` where no event log tells.
    pub events: Option<BTreeSet<String>>,
}

/// A case as the rubric's `show` list draws on it: the one source of sheets, prompts, pages and packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseText {
    /// `run/case_id`.
    pub case: CaseIdentity,
    /// The category.
    pub category: Category,
    /// The stratum that the case was drawn for.
    pub stratum: String,
    /// The verdict's change between the two runs, where the plan pairs runs.
    pub transition: Option<Transition>,
    /// The user's words per turn; `None` where neither data set nor log has them.
    pub user_turns: Option<Vec<String>>,
    /// The benchmark's ground truth; `None` with the reason in `ground_truth_reason`.
    pub ground_truth: Option<GroundTruth>,
    /// Why there is no ground truth.
    pub ground_truth_reason: Option<String>,
    /// The run that was drawn.
    pub baseline: ConditionText,
    /// The second condition of the pair, where there is one.
    pub second: Option<ConditionText>,
    /// What is not told in turns: dialogue, write event, policy, task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
}

impl CaseText {
    /// What a probe did to the second condition; `None` where nothing is known of it.
    #[must_use]
    pub fn events(&self) -> Option<&BTreeSet<String>> {
        self.second.as_ref()?.events.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn category_of_a_case_id_tries_miss_param_first() {
        assert_eq!(Category::of_case_id("multi_turn_miss_func_7"), Some(Category::MissFunc));
        assert_eq!(Category::of_case_id("multi_turn_base_7_multi_turn_miss_param_1"), Some(Category::MissParam));
        assert_eq!(Category::of_case_id("multi_turn_base"), None);
        assert_eq!(Category::of_case_id(""), None);
    }
}
