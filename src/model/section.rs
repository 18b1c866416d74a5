//! What a rater is shown of a unit of audit beside (or in place of) turns and emissions: a dialogue, a write event, a
//! policy, a task. Units of benchmarks other than BFCL are shown in sections only.

use serde::{Deserialize, Serialize};

/// What a section holds. A rubric's `show` list names the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SectionKind {
    /// The task that the benchmark gave.
    Task,
    /// Sentences of the policy that the agent was given.
    Policy,
    /// Messages, calls and results in their order.
    Dialogue,
    /// One database write: the call and what came of it.
    WriteEvent,
}

impl SectionKind {
    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Task => "task",
            Self::Policy => "policy",
            Self::Dialogue => "dialogue",
            Self::WriteEvent => "write_event",
        }
    }
}

/// A section of a case, whole; what of it is shown, the rubric decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// What it holds.
    pub kind: SectionKind,
    /// Heading for people.
    pub title: String,
    /// Its entries in order.
    pub entries: Vec<SectionEntry>,
}

/// One entry of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct SectionEntry {
    /// Who speaks or what is said (`user`, `assistant`, `call`, `result`, …).
    pub speaker: String,
    /// The text.
    pub text: String,
    /// The text to show in place of `text` where a rubric hides the arguments of calls; `None`: it has none.
    pub without_arguments: Option<String>,
    /// In a dialogue the index of the message that it belongs to.
    pub message: u32,
    /// It is a call that writes to the database.
    pub write: bool,
    /// It is what the question is about.
    pub marked: bool,
    /// It stands beside the event or the dialogue: other parts of the event's own message, what came of it, an agent's
    /// reasoning.
    pub aside: bool,
}
