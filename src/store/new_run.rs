//! What ingest hands to the store: a file, a case, an emission, a failure.

use super::FileKind;
use crate::model::Category;

/// A file to store.
pub struct NewFile<'a> {
    /// Category.
    pub category: Category,
    /// Kind.
    pub kind: FileKind,
    /// Path as given.
    pub path: &'a str,
    /// SHA-256.
    pub sha256: &'a str,
    /// Size.
    pub bytes: u64,
    /// Cases or failure lines.
    pub records: u64,
    /// Holds failed cases only.
    pub failures_only: bool,
    /// Accuracy, correct, total.
    pub header: Option<(f64, u64, u64)>,
    /// The cue table that classified the emissions.
    pub rules_digest: Option<&'a str>,
    /// JSON of the oddities.
    pub oddities: &'a str,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
}

/// A case to store.
pub struct NewCase<'a> {
    /// Category.
    pub category: Category,
    /// Position in the file, from 0.
    pub ordinal: u64,
    /// Line, from 1.
    pub line: u64,
    /// The wanted case id; made unique by the writer.
    pub case_id: &'a str,
    /// The id as the file has it.
    pub raw_id: Option<&'a str>,
    /// Why the id is not usable, other than being a duplicate.
    pub defect: Option<&'a str>,
    /// What stands under `result`.
    pub shape: &'a str,
    /// The text in place of a result.
    pub error: Option<&'a str>,
    /// Turns in the result.
    pub turns: u64,
    /// JSON list of the user's words per turn, from the run's log.
    pub user_turns: Option<&'a str>,
    /// Turn of return, from the run's log.
    pub log_return_turn: Option<u32>,
}

/// An emission to store.
pub struct NewEmission<'a> {
    /// User turn, from 0.
    pub turn: u64,
    /// Step in the turn, from 0.
    pub step: u64,
    /// One JSON value.
    pub raw: &'a str,
    /// Action class under the rule set `paper`.
    pub class: Option<&'a str>,
    /// Tool-call form.
    pub form: Option<&'a str>,
    /// Matched cue with its byte offset.
    pub cue: Option<(&'a str, u64)>,
}

/// A failed case to store.
pub struct NewFailure<'a> {
    /// The id as the file has it.
    pub raw_id: &'a str,
    /// Grader's error type.
    pub error_type: Option<&'a str>,
    /// Grader's message.
    pub error_message: Option<&'a str>,
    /// Grader's details (JSON).
    pub detail: Option<&'a str>,
}

/// What the fit check needs of a case.
pub struct CaseFitRow {
    /// Row id.
    pub case_row: i64,
    /// Category.
    pub category: Category,
    /// The id as the file has it.
    pub raw_id: Option<String>,
    /// Turns in the result.
    pub turns: u64,
    /// The user's words per turn, from the run's log.
    pub logged: Option<Vec<String>>,
}
