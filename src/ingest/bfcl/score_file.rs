//! A score file: a header with counts, then one line per *failed* case. A case that is not listed passed.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::result_line::{LineError, relaxed};
use crate::ingest::{Oddities, parse_object};

/// The first line of a score file.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct ScoreHeader {
    /// Share of cases that passed, 0 to 1.
    pub accuracy: f64,
    /// Cases that passed.
    pub correct_count: u64,
    /// Cases scored.
    pub total_count: u64,
}

/// A failed case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The id as the file has it.
    pub raw_id: String,
    /// The grader's error type.
    pub error_type: Option<String>,
    /// The grader's message; a list of messages is joined by line breaks.
    pub message: Option<String>,
    /// The grader's details (state differences and the like), as JSON.
    pub detail: Option<String>,
}

#[derive(Deserialize)]
struct Line<'a> {
    id: Option<String>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ErrorPart<'a> {
    #[serde(borrow, default)]
    error_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error_message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    details: Option<&'a RawValue>,
}

/// Reads the header line.
///
/// # Errors
/// Not an object with `accuracy`, `correct_count` and `total_count`.
pub fn read_header(text: &str) -> Result<ScoreHeader, LineError> {
    parse_object(text).map_err(|error| LineError {
        message: format!("the first line of a score file has accuracy, correct_count and total_count: {error}"),
        offset: error.column().saturating_sub(1),
    })
}

/// Reads a failure line.
///
/// # Errors
/// Not JSON in either dialect, or without an id.
pub fn read_failure(text: &str, number: u64, oddities: &mut Oddities) -> Result<Failure, LineError> {
    if let Ok(line) = parse_object::<Line<'_>>(text) {
        return failure(line);
    }
    let clean = relaxed(text, number, oddities)?;
    let line = parse_object::<Line<'_>>(&clean).map_err(|error| LineError {
        message: format!("not a line of a score file: {error}"),
        offset: error.column().saturating_sub(1),
    })?;
    failure(line)
}

fn failure(line: Line<'_>) -> Result<Failure, LineError> {
    let raw_id = line
        .id
        .ok_or_else(|| LineError { message: "a failed case without an id cannot be joined".into(), offset: 0 })?;
    let part = line.error.and_then(|raw| parse_object::<ErrorPart<'_>>(raw.get()).ok());
    let (error_type, message, detail) = match part {
        Some(part) => (part.error_type.and_then(words), part.error_message.and_then(words), part.details),
        // Older files have a bare text (or a list of texts) in place of the object.
        None => (None, line.error.and_then(words), None),
    };
    Ok(Failure { raw_id, error_type, message, detail: detail.map(|raw| raw.get().to_owned()) })
}

/// A text, or a list of texts joined by line breaks; anything else as its JSON.
fn words(raw: &RawValue) -> Option<String> {
    let json = raw.get();
    if json == "null" {
        return None;
    }
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return Some(text);
    }
    if let Ok(list) = serde_json::from_str::<Vec<String>>(json) {
        return Some(list.join("\n"));
    }
    Some(json.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Failure {
        read_failure(text, 2, &mut Oddities::default()).expect("readable")
    }

    #[test]
    fn messages_may_be_texts_or_lists() {
        let text = read(r#"{"id":"a","error":{"error_type":"t","error_message":"m","details":{"x":1}}}"#);
        assert_eq!(text.message.as_deref(), Some("m"));
        assert_eq!(text.detail.as_deref(), Some(r#"{"x":1}"#));
        let list =
            read(r#"{"id":"a","valid":false,"error":{"error_type":"t","error_message":["m","n"]},"model_result":[]}"#);
        assert_eq!(list.message.as_deref(), Some("m\nn"));
        assert_eq!(read(r#"{"id":"a","error":["old"]}"#).message.as_deref(), Some("old"));
    }

    #[test]
    fn a_header_needs_its_counts() {
        assert!(read_header(r#"{"accuracy":0.5,"correct_count":1,"total_count":2}"#).is_ok());
        assert!(read_header(r#"{"id":"multi_turn_base_1","valid":false}"#).is_err());
        assert!(read_failure(r#"{"valid":false}"#, 2, &mut Oddities::default()).is_err());
    }
}
