//! An emission as a reader wants it: calls as `name(argument=value)`, everything else as it stands.
//!
//! A form is only rewritten where it is recognised as a whole and nothing of it would be hidden; no class is inferred.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

use super::json::{Pairs, string};

/// A part of an emission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// Text as the run holds it.
    Text(String),
    /// A call in a recognised form.
    Call(Call),
}

/// A call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Call {
    /// The tool's name as emitted.
    pub name: String,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its value as JSON text.
    pub value: String,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", name(&self.name))?;
        for (index, argument) in self.arguments.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}={}", name(&argument.name), argument.value)?;
        }
        f.write_str(")")
    }
}

/// A name as it stands, or in quotes where it could be mistaken for more than a name.
fn name(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.<>|:/".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { format!("{text:?}") }
}

/// The parts of one emission, given as the JSON value that the run file holds.
#[must_use]
pub fn pieces(emission: &str) -> Vec<Piece> {
    if let Some(text) = string(emission) {
        return text_pieces(text);
    }
    match calls(emission, saved_calls) {
        Some(calls) => calls.into_iter().map(Piece::Call).collect(),
        None => vec![Piece::Text(emission.to_owned())],
    }
}

/// A text emission: JSON calls, calls in tags, or anything else.
fn text_pieces(text: String) -> Vec<Piece> {
    if let Some(calls) = calls(&text, named_call) {
        return calls.into_iter().map(Piece::Call).collect();
    }
    tagged(&text).unwrap_or_else(|| vec![Piece::Text(text)])
}

/// Reads one object or a list of objects as calls, by the given reading of an object.
fn calls(json: &str, read: fn(&Pairs) -> Option<Vec<Call>>) -> Option<Vec<Call>> {
    let objects: Vec<Pairs> = match Pairs::read(json) {
        Some(object) => vec![object],
        None => serde_json::from_str(json).ok()?,
    };
    if objects.is_empty() {
        return None;
    }
    let calls: Option<Vec<Vec<Call>>> = objects.iter().map(read).collect();
    calls.map(|calls| calls.concat()).filter(|calls| !calls.is_empty())
}

/// `{"name": …, "arguments": {…}}`, or `parameters` for `arguments`, and nothing else.
fn named_call(object: &Pairs) -> Option<Vec<Call>> {
    let arguments = object.get("arguments").or_else(|| object.get("parameters"))?;
    if object.0.len() != 2 {
        return None;
    }
    Some(vec![Call { name: object.text("name")?, arguments: arguments_of(arguments)? }])
}

/// As benchmarks save the calls of an API: a named call, or tools as keys with their arguments as values.
fn saved_calls(object: &Pairs) -> Option<Vec<Call>> {
    if let Some(call) = named_call(object) {
        return Some(call);
    }
    let call = |(name, arguments): &(String, Box<RawValue>)| {
        Some(Call { name: name.clone(), arguments: arguments_of(arguments)? })
    };
    object.0.iter().map(call).collect()
}

/// Arguments as an object, or as a text that holds one.
fn arguments_of(value: &RawValue) -> Option<Vec<Argument>> {
    let object = Pairs::read(value.get()).or_else(|| Pairs::read(&string(value.get())?))?;
    let argument = |(name, value): (String, Box<RawValue>)| Argument { name, value: readable(value.get()) };
    Some(object.0.into_iter().map(argument).collect())
}

/// A value as JSON text; a text's escapes are undone as far as JSON can do without them.
fn readable(json: &str) -> String {
    let rewritten = string(json).and_then(|text| serde_json::to_string(&text).ok());
    rewritten.unwrap_or_else(|| json.to_owned())
}

/// `<tool_call>` blocks with JSON inside, and the text around them. `None` if there is none, or if any block cannot be
/// read.
fn tagged(text: &str) -> Option<Vec<Piece>> {
    const OPEN: &str = "<tool_call>";
    const CLOSE: &str = "</tool_call>";
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (inside, behind) = after.split_once(CLOSE)?;
        if !before.trim().is_empty() {
            pieces.push(Piece::Text(before.trim_matches('\n').to_owned()));
        }
        pieces.extend(calls(inside, named_call)?.into_iter().map(Piece::Call));
        rest = behind;
    }
    if pieces.is_empty() {
        return None;
    }
    if !rest.trim().is_empty() {
        pieces.push(Piece::Text(rest.trim_matches('\n').to_owned()));
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(emission: &str) -> Vec<String> {
        let line = |piece| match piece {
            Piece::Text(text) => format!("text: {text}"),
            Piece::Call(call) => call.to_string(),
        };
        pieces(emission).into_iter().map(line).collect()
    }

    /// The forms in which the runs of the public leaderboard hold calls.
    #[test]
    fn calls_of_real_runs() {
        // Dictionaries of an API, arguments as JSON text; several keys in one list.
        assert_eq!(
            shown(r#"[{"pwd": "{}"}, {"cp": "{\"source\": \"a\", \"n\": 1.0}"}]"#),
            ["pwd()", "cp(source=\"a\", n=1.0)"]
        );
        assert_eq!(shown(r#"[{"cat<|channel|>": "{\"f\": \"x\"}"}]"#), ["cat<|channel|>(f=\"x\")"]);
        // JSON lists as text.
        assert_eq!(shown(r#""[{\"name\": \"ls\", \"arguments\": {\"a\": true}}]""#), ["ls(a=true)"]);
        assert_eq!(shown(r#""{\"name\": \"f\", \"parameters\": {}}""#), ["f()"]);
        // Tags, with thoughts before them.
        assert_eq!(
            shown(
                r#""<think>\nhm\n</think>\n<tool_call>\n{\"name\": \"cd\", \"arguments\": {\"folder\": \"x\"}}\n</tool_call>""#
            ),
            ["text: <think>\nhm\n</think>", "cd(folder=\"x\")"]
        );
        // Python-like lists are readable as they are.
        assert_eq!(shown(r#""[cd(folder='document')]""#), ["text: [cd(folder='document')]"]);
        assert_eq!(shown(r#""Done.""#), ["text: Done."]);
    }

    #[test]
    fn what_is_not_recognised_as_a_whole_stays_raw() {
        for raw in [
            "[]",
            "[{}]",
            "{}",
            "null",
            "3",
            r#"["plain"]"#,
            r#"[{"ls": "not json"}]"#,
            r#"[{"ls": {}}, 3]"#,
            "{\"a",
            r#"[[{"ls": {}}]]"#,
        ] {
            assert_eq!(shown(raw), [format!("text: {raw}")], "{raw}");
        }
        // A text that only looks like a saved call may be an answer in JSON.
        assert_eq!(shown(r#""{\"result\":{\"rows\":2}}""#), [r#"text: {"result":{"rows":2}}"#]);
        let extra = r#"{"name":"f","arguments":{},"id":"7"}"#;
        assert_eq!(shown(&serde_json::to_string(extra).expect("text")), [format!("text: {extra}")]);
        assert_eq!(shown(r#""<tool_call>{broken</tool_call>""#), ["text: <tool_call>{broken</tool_call>"]);
        assert_eq!(shown(r#""<tool_call>{}""#), ["text: <tool_call>{}"]);
        // Half a surrogate pair cannot be decoded.
        assert_eq!(shown(r#""\ud800""#), [r#"text: "\ud800""#]);
    }

    #[test]
    fn nothing_of_a_call_is_hidden_or_changed() {
        assert_eq!(
            shown(r#"[{"f": {"n": 12345678901234567890123, "x": 1e400, "a": 1, "a": 2}}]"#),
            ["f(n=12345678901234567890123, x=1e400, a=1, a=2)"]
        );
        assert_eq!(shown(r#"[{"f": {"city": "Z\u00fcrich"}}]"#), ["f(city=\"Zürich\")"]);
        assert_eq!(shown(r#"[{"f(x) or g": {}}]"#), ["\"f(x) or g\"()"]);
        assert_eq!(shown(r#"[{"f": {"a=1, b": 2}}]"#), ["f(\"a=1, b\"=2)"]);
    }

    #[test]
    fn deep_nesting_does_not_crash() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = format!("{}1{}", open.repeat(200_000), close.repeat(200_000));
            assert!(!pieces(&deep).is_empty());
            assert!(!pieces(&format!("[{{\"f\": {deep}}}]")).is_empty());
            assert!(!pieces(&serde_json::to_string(&deep).expect("text")).is_empty());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_emission_is_shown_in_full(text in "\\PC*") {
            let emission = serde_json::to_string(&text).expect("text");
            if let [Piece::Text(shown)] = pieces(&emission).as_slice() {
                proptest::prop_assert_eq!(shown, &text);
            }
        }
    }
}
