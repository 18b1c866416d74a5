//! Readers of what other programs left behind: run files and audits made elsewhere. Dirty input is kept, counted and
//! reported; what cannot be read is an error with file, line and column, and nothing of that file is stored.

pub mod bfcl;
pub mod chat;
mod delimited;
mod event_log;
pub mod labels;
#[cfg(test)]
mod labels_tests;
mod lines;
mod oddities;
mod ratings_file;
mod survey_file;
pub mod tau2;
mod verdicts;

pub use event_log::{EventLog, HISTORY_EDITED, INSTRUCTION_INJECTED, STATE_INJECTED, read_event_log};
pub use labels::{ImportedAudit, RaterNames, read_labels};
pub use lines::{LineReader, SourceLine, file_digest, parse_object};
pub use oddities::{Oddities, Oddity};
pub use ratings_file::{Layout, RatingsFormat, read_ratings};
pub use survey_file::{SurveyColumns, read_survey};
pub use verdicts::read_verdicts;

/// A value as JSON text. The values are lists and maps of texts and numbers, which cannot fail to be written.
pub(crate) fn json_text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
