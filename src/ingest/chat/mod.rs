//! Reads logs of any agent: JSON lines, one conversation a line, with OpenAI-style messages (docs/chat.md).

mod import;
mod record;

pub use import::{ChatReport, ChatRequest, import};
