//! Reads parts of a run file whose shape must be as expected, and says where it is not. Values are never quoted in a
//! complaint: a run file can hold secrets.

use serde_json::{Map, Value};

/// A part of a file that is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path} is {found}, not {expected}")]
pub struct ShapeError {
    /// Where, such as `simulations[3].messages[0].role`.
    pub path: String,
    /// What stands there (its kind only).
    pub found: &'static str,
    /// What must.
    pub expected: &'static str,
}

/// The kind of a value.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn wrong(path: &str, value: &Value, expected: &'static str) -> ShapeError {
    ShapeError { path: path.to_owned(), found: kind(value), expected }
}

/// The value as an object.
pub(super) fn object<'v>(value: &'v Value, path: &str) -> Result<&'v Map<String, Value>, ShapeError> {
    value.as_object().ok_or_else(|| wrong(path, value, "an object"))
}

/// A text under a key; absent or null: `None`.
pub(super) fn text(object: &Map<String, Value>, key: &str, path: &str) -> Result<Option<String>, ShapeError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(wrong(&format!("{path}.{key}"), other, "a text")),
    }
}

/// An id under a key: a text, or a whole number written as one; absent or null: `None`.
pub(super) fn id(object: &Map<String, Value>, key: &str, path: &str) -> Result<Option<String>, ShapeError> {
    match object.get(key) {
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => Ok(Some(number.to_string())),
        _ => text(object, key, path),
    }
}

/// A list under a key; absent or null: `None`.
pub(super) fn list<'v>(
    object: &'v Map<String, Value>,
    key: &str,
    path: &str,
) -> Result<Option<&'v [Value]>, ShapeError> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(list)) => Ok(Some(list)),
        Some(other) => Err(wrong(&format!("{path}.{key}"), other, "a list")),
    }
}
