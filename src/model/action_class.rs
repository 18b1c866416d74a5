//! The five action classes of an emission.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of action an emission is. The order is the priority: an earlier class wins over a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionClass {
    /// The emission calls a tool.
    ToolCall,
    /// It declines: the tool or the right is missing.
    Refuse,
    /// It asks the user for something.
    Ask,
    /// It reports completion.
    Confirm,
    /// Anything else; never a gold action.
    Other,
}

impl ActionClass {
    /// All classes in order of priority.
    pub const ALL: [Self; 5] = [Self::ToolCall, Self::Refuse, Self::Ask, Self::Confirm, Self::Other];

    /// The class as it is written in tables and JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolCall => "tool_call",
            Self::Refuse => "refuse",
            Self::Ask => "ask",
            Self::Confirm => "confirm",
            Self::Other => "other",
        }
    }

    /// Reads a class from its written form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == text)
    }
}

impl fmt::Display for ActionClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
