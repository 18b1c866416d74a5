//! One line of a result file: the id and what the model emitted, turn by turn, step by step.
//!
//! Read with borrowed raw JSON first; a line that strict JSON refuses (NaN, lone surrogates, duplicate keys) goes
//! through the lenient reader of the language that wrote it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::log::{RunLog, read_log};
use crate::action::lenient_json_with_repairs;
use crate::ingest::{Oddities, parse_object};

/// What stands under `result`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A list of turns.
    Turns,
    /// A text: the inference failed.
    Error,
    /// No such key, or null.
    Absent,
    /// Something else.
    Other,
}

impl Shape {
    /// As stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Error => "error",
            Self::Absent => "absent",
            Self::Other => "other",
        }
    }
}

/// A result line, read.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRecord {
    /// The id as the file has it; a number or another value is written out as JSON.
    pub raw_id: Option<String>,
    /// What stands under `result`.
    pub shape: Shape,
    /// The text in place of a result, or the JSON of an unusable one.
    pub error: Option<String>,
    /// Turn → step → one JSON value.
    pub turns: Vec<Vec<String>>,
    /// The run's own log, where the line has one.
    pub log: Option<RunLog>,
}

/// Why a line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LineError {
    /// What is wrong.
    pub message: String,
    /// Byte offset in the line, from 0.
    pub offset: usize,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    inference_log: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input_token_count: Option<&'a RawValue>,
}

/// Reads one line.
///
/// # Errors
/// The line is not a JSON object in either dialect.
pub fn read_result_line(text: &str, number: u64, oddities: &mut Oddities) -> Result<ResultRecord, LineError> {
    if let Ok(line) = parse_object::<Line<'_>>(text)
        && let Some(record) = record(&line, number, oddities)
    {
        return Ok(record);
    }
    let clean = relaxed(text, number, oddities)?;
    let line: Line<'_> = parse_object(&clean)
        .map_err(|_| LineError { message: "the line is JSON but not an object".into(), offset: 0 })?;
    record(&line, number, oddities)
        .ok_or_else(|| LineError { message: "the line cannot be read as JSON".into(), offset: 0 })
}

/// Re-writes a line that strict JSON refuses.
///
/// # Errors
/// Not JSON in the lenient dialect either.
pub(super) fn relaxed(text: &str, number: u64, oddities: &mut Oddities) -> Result<String, LineError> {
    let (value, repairs) = lenient_json_with_repairs(text).map_err(|error| LineError {
        message: format!("the line is not JSON: {}", error.problem),
        offset: error.offset,
    })?;
    oddities.note("JSON beyond the standard (NaN, lone surrogates or repeated keys)", number, "");
    if repairs.lone_surrogates {
        oddities.note("lone surrogates replaced", number, "");
    }
    Ok(value.to_string())
}

fn record(line: &Line<'_>, number: u64, oddities: &mut Oddities) -> Option<ResultRecord> {
    let raw_id = match line.id.map(RawValue::get) {
        None | Some("null") => None,
        Some(json) if json.starts_with('"') => Some(serde_json::from_str::<String>(json).ok()?),
        Some(json) => {
            oddities.note("id that is not a text", number, json);
            Some(json.to_owned())
        }
    };
    if line.input_token_count.is_some_and(|count| !count.get().starts_with('[')) {
        oddities.note("token counts that are not lists", number, "");
    }
    let (shape, error, turns) = result(line.result, number, oddities)?;
    let log = match line.inference_log {
        None => None,
        Some(raw) => {
            let log = read_log(raw.get());
            if log.is_none() {
                oddities.note("log of another shape (left out)", number, raw_id.as_deref().unwrap_or(""));
            }
            log
        }
    };
    Some(ResultRecord { raw_id, shape, error, turns, log })
}

type ResultParts = (Shape, Option<String>, Vec<Vec<String>>);

/// `None` where a text inside cannot be read strictly, so that the caller takes the lenient way.
fn result(raw: Option<&RawValue>, number: u64, oddities: &mut Oddities) -> Option<ResultParts> {
    let Some(json) = raw.map(RawValue::get) else {
        oddities.note("result missing", number, "");
        return Some((Shape::Absent, None, Vec::new()));
    };
    if json == "null" {
        oddities.note("result missing", number, "");
        return Some((Shape::Absent, None, Vec::new()));
    }
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json).ok()?;
        oddities.note("result is a text (inference error)", number, &text);
        return Some((Shape::Error, Some(text), Vec::new()));
    }
    if !json.starts_with('[') {
        oddities.note("result is neither list nor text", number, json);
        return Some((Shape::Other, Some(json.to_owned()), Vec::new()));
    }
    let raw_turns: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    if looks_like_split_text(&raw_turns) {
        oddities.note("error text split into one character per turn", number, json);
    }
    let mut turns = Vec::with_capacity(raw_turns.len());
    for turn in raw_turns {
        let json = turn.get();
        if json.starts_with('[') {
            let steps: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            if steps.is_empty() {
                oddities.note("empty turn", number, "");
            }
            turns.push(steps.into_iter().map(|step| step.get().to_owned()).collect());
        } else {
            oddities.note("turn that is not a list", number, json);
            turns.push(vec![json.to_owned()]);
        }
    }
    Some((Shape::Turns, None, turns))
}

/// An error text that some writer split: many turns, each a text of one character.
fn looks_like_split_text(turns: &[&RawValue]) -> bool {
    const FEWEST: usize = 8;
    turns.len() >= FEWEST
        && turns.iter().all(|turn| {
            let json = turn.get();
            json.starts_with('"') && serde_json::from_str::<String>(json).is_ok_and(|text| text.chars().count() == 1)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (ResultRecord, Oddities) {
        let mut oddities = Oddities::default();
        let record = read_result_line(text, 1, &mut oddities).expect("readable");
        (record, oddities)
    }

    #[test]
    fn emissions_keep_the_bytes_of_the_file() {
        let (record, oddities) = read(r#"{"id":"x","result":[["[{\"a\": 1}]",[{"mv":"{\"s\": 1}"}]],[],"text"]}"#);
        assert_eq!(
            record.turns,
            vec![
                vec![r#""[{\"a\": 1}]""#.to_owned(), r#"[{"mv":"{\"s\": 1}"}]"#.to_owned()],
                vec![],
                vec![r#""text""#.to_owned()],
            ]
        );
        assert_eq!((oddities.count("empty turn"), oddities.count("turn that is not a list")), (1, 1));
    }

    #[test]
    fn errors_absences_and_other_shapes_are_kept_apart() {
        assert_eq!(read(r#"{"id":"x","result":"Error during inference: 500"}"#).0.shape, Shape::Error);
        assert_eq!(read(r#"{"id":"x"}"#).0.shape, Shape::Absent);
        assert_eq!(read(r#"{"id":"x","result":null}"#).0.shape, Shape::Absent);
        assert_eq!(read(r#"{"id":"x","result":{"a":1}}"#).0.shape, Shape::Other);
        assert_eq!(read(r#"{"result":[]}"#).0.raw_id, None);
        assert_eq!(read(r#"{"id":7,"result":[]}"#).0.raw_id.as_deref(), Some("7"));
    }

    #[test]
    fn nan_lone_surrogates_and_repeated_keys_take_the_lenient_way() {
        let (record, oddities) = read(r#"{"id":"x","latency":NaN,"result":[["\ud800 hm"]]}"#);
        assert_eq!(record.turns, vec![vec!["\"\u{fffd} hm\"".to_owned()]]);
        assert_eq!(oddities.count("lone surrogates replaced"), 1);
        let (record, _) = read(r#"{"id":"x","result":[["a"]],"result":[["b"]]}"#);
        assert_eq!(record.turns, vec![vec!["\"b\"".to_owned()]], "the last of repeated keys wins");
    }

    #[test]
    fn a_split_error_text_is_noticed_and_kept() {
        let (record, oddities) = read(r#"{"id":"x","result":["E","r","r","o","r",":"," ","5","0","0"]}"#);
        assert_eq!(record.turns.len(), 10);
        assert_eq!(oddities.count("error text split into one character per turn"), 1);
    }

    #[test]
    fn a_list_is_no_record() {
        let mut oddities = Oddities::default();
        assert!(read_result_line(r#"["x",[["a"]]]"#, 1, &mut oddities).is_err());
    }

    #[test]
    fn a_truncated_line_is_an_error_with_its_offset() {
        let mut oddities = Oddities::default();
        let error = read_result_line(r#"{"id":"x","result":[["a"#, 1, &mut oddities).expect_err("truncated");
        assert!(error.offset >= 20, "offset {}", error.offset);
    }
}
