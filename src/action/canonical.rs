//! Values as the compact ASCII JSON of the reference release's language: no spaces, non-ASCII as `\uXXXX`, floats as it
//! prints them.

use std::fmt::Write as _;

use serde_json::Value;

use super::literal::Literal;

/// Deeper values are not written; more than any reader of this module makes.
const MAX_DEPTH: usize = 1100;

/// Appends a value. `None`: nested too deep.
pub(super) fn write_value(out: &mut String, value: &Value, depth: usize) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) if number.is_f64() => out.push_str(&float(number.as_f64()?)),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => write_text(out, text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(out, at);
                write_value(out, item, depth + 1)?;
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                separate(out, at);
                write_text(out, key);
                out.push(':');
                write_value(out, value, depth + 1)?;
            }
            out.push('}');
        }
    }
    Some(())
}

/// Appends a Python value. `None`: it holds something that JSON cannot (bytes, a set, a complex number, a tuple as key).
pub(super) fn write_literal(out: &mut String, value: &Literal) -> Option<()> {
    match value {
        Literal::None | Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) => out.push_str(&scalar(value)?),
        Literal::Text(text) => write_text(out, text),
        Literal::List(items) | Literal::Tuple(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(out, at);
                write_literal(out, item)?;
            }
            out.push(']');
        }
        Literal::Dict(dict) => {
            out.push('{');
            for (at, (key, value)) in dict.entries().iter().enumerate() {
                separate(out, at);
                match key {
                    Literal::Text(key) => write_text(out, key),
                    _ => write_text(out, &scalar(key)?),
                }
                out.push(':');
                write_literal(out, value)?;
            }
            out.push('}');
        }
        Literal::Complex(..) | Literal::Bytes(_) | Literal::Ellipsis | Literal::Set => return None,
    }
    Some(())
}

fn separate(out: &mut String, at: usize) {
    if at > 0 {
        out.push(',');
    }
}

/// The values that can also be keys, as JSON writes them. `None`: others, and integers too long to write.
fn scalar(value: &Literal) -> Option<String> {
    Some(match value {
        Literal::None => "null".to_owned(),
        Literal::Bool(value) => value.to_string(),
        Literal::Int(digits) if digits.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) => {
            digits.clone()
        }
        Literal::Float(value) => float(*value),
        _ => return None,
    })
}

/// Appends a text in quotes, ASCII only.
pub(super) fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// The shortest digits that read back as the same float: plain from 1e-4 up to 1e16, else with an exponent of two digits
/// or more.
fn float(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        return format!("{value:?}");
    }
    format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_printed_as_by_python_3_11() {
        for (value, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (100_000.0, "100000.0"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.5e16, "1.5e+16"),
            (123_456_789_012_345.67, "123456789012345.67"),
            (1e22, "1e+22"),
            (1e-4, "0.0001"),
            (1.5e-4, "0.00015"),
            (1e-5, "1e-05"),
            (1.25e-7, "1.25e-07"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn texts_are_escaped_as_by_python_3_11() {
        // json.dumps('"\\/\x08\x0c\n\r\t\x1b\x7f~ é€\u2028😀')
        let mut out = String::new();
        write_text(&mut out, "\"\\/\u{8}\u{c}\n\r\t\u{1b}\u{7f}~ é€\u{2028}😀");
        assert_eq!(out, r#""\"\\/\b\f\n\r\t\u001b\u007f~ \u00e9\u20ac\u2028\ud83d\ude00""#);
    }
}
