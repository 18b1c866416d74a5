//! A score file: a header with counts, then one line per *failed* case. A case that is not listed passed.

use serde::Deserialize;
use serde_json::Number;
use serde_json::value::RawValue;

use super::result_line::{LineError, relaxed};
use crate::ingest::{Oddities, parse_object};

/// The first line of a score file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoreHeader {
    /// Share of cases that passed, 0 to 1.
    pub accuracy: f64,
    /// Cases that passed.
    pub correct_count: u64,
    /// Cases scored.
    pub total_count: u64,
}

#[derive(Deserialize)]
struct RawHeader {
    accuracy: Number,
    correct_count: Number,
    total_count: Number,
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
    // Some graders round to three digits.
    const ROUNDING: f64 = 0.000_6;
    let wrong = |message: String| LineError { message, offset: 0 };
    let raw: RawHeader = parse_object(text).map_err(|error| LineError {
        message: format!("the first line of a score file has accuracy, correct_count and total_count: {error}"),
        offset: error.column().saturating_sub(1),
    })?;
    let count = |name: &str, number: &Number| {
        let whole = number.as_u64().or_else(|| {
            number
                .as_f64()
                .filter(|value| value.fract() == 0.0 && (0.0..1e15).contains(value))
                .map(|value| value as u64)
        });
        whole.ok_or_else(|| wrong(format!("{name} is {number}, not a count")))
    };
    let (correct_count, total_count) =
        (count("correct_count", &raw.correct_count)?, count("total_count", &raw.total_count)?);
    let accuracy = raw.accuracy.as_f64().ok_or_else(|| wrong("accuracy is not a number".to_owned()))?;
    if total_count > 0 && (accuracy - correct_count as f64 / total_count as f64).abs() > ROUNDING {
        return Err(wrong(format!("accuracy {accuracy} is not {correct_count} of {total_count}")));
    }
    Ok(ScoreHeader { accuracy, correct_count, total_count })
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
        assert!(read_header(r#"{"accuracy":0.5,"correct_count":1.0,"total_count":2.0}"#).is_ok());
        let contradiction =
            read_header(r#"{"accuracy":0.9,"correct_count":1,"total_count":2}"#).expect_err("contradicts");
        assert!(contradiction.message.contains("0.9") && contradiction.message.contains("1 of 2"), "{contradiction}");
        assert!(read_header(r#"{"accuracy":0.5,"correct_count":1.5,"total_count":3}"#).is_err());
        assert!(read_header(r#"{"id":"multi_turn_base_1","valid":false}"#).is_err());
        assert!(read_failure(r#"{"valid":false}"#, 2, &mut Oddities::default()).is_err());
    }
}
