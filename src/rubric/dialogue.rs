//! How much of a dialogue a rubric shows.

use serde::Serialize;

/// How much of the dialogue before an event is shown, and whether calls are shown with their arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DialogueRule {
    /// Which messages.
    pub window: Window,
    /// Are the arguments of calls shown?
    pub arguments: bool,
    /// Is shown what stands beside the event: text and calls of its own message, what came of it, and an agent's reasoning
    /// blocks?
    pub aside: bool,
}

impl Default for DialogueRule {
    fn default() -> Self {
        Self { window: Window::All, arguments: true, aside: true }
    }
}

/// Which messages before an event are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// All of them.
    All,
    /// Those after the last write; writes without a word of the user between them count as one.
    SinceLastWrite,
    /// At most so many.
    Messages(u32),
}

impl Window {
    /// The written form.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::All => "all".to_owned(),
            Self::SinceLastWrite => "since_last_write".to_owned(),
            Self::Messages(count) => format!("messages:{count}"),
        }
    }
}
