//! Calls that a decoder can read: names and arguments, in JSON, in tags, or as a Python list of calls.

use serde_json::Value;

use super::super::json::lenient_json;
use super::super::literal::Literal;
use super::super::literal_parse::parse_literal;
use super::super::space::trim;

/// The tools called by a text that is wholly JSON: a list of calls, one call, or several values one after the other with
/// `;`, `,` or white space between them. `None`: some value is no call.
pub(super) fn json_calls(text: &str) -> Option<Vec<String>> {
    let text = trim(text);
    if let Ok(value) = serde_json::from_str::<Value>(text).or_else(|_| lenient_json(text)) {
        return in_value(&value);
    }
    if let Some(literal) = parse_literal(text) {
        return in_literal(&literal);
    }
    let mut names = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        names.extend(in_value(&stream.next()?.ok()?)?);
        let behind = rest.get(stream.byte_offset()..)?;
        rest = behind.trim_start_matches(|c: char| c.is_whitespace() || c == ';' || c == ',');
    }
    Some(names)
}

/// A name that a tool can have: ASCII letters, digits and `_`, with `.`, `-`, `/` and `:` between them.
pub(super) fn is_tool_name(name: &str) -> bool {
    name.len() <= 128
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ':'))
}

fn in_value(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    if items.is_empty() {
        return None;
    }
    items.iter().map(call_in_value).collect()
}

/// `{"name": tool, "arguments": {…}}` (or `parameters`, or the arguments as JSON text) with or without other keys, the
/// same inside `function`, or a single key that is the tool.
fn call_in_value(item: &Value) -> Option<String> {
    let object = item.as_object()?;
    if object.len() == 1
        && let Some((name, arguments)) = object.iter().next()
        && is_tool_name(name)
        && holds_arguments(arguments)
    {
        return Some(name.clone());
    }
    let inner = object.get("function").and_then(Value::as_object).unwrap_or(object);
    let name = ["name", "tool_call", "action"].iter().find_map(|key| inner.get(*key)?.as_str())?;
    let arguments = inner.get("arguments").or_else(|| inner.get("parameters"))?;
    (is_tool_name(name) && holds_arguments(arguments)).then(|| name.to_owned())
}

/// An object, or the JSON text of one.
pub(super) fn holds_arguments(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::String(text) => serde_json::from_str::<Value>(text)
            .or_else(|_| lenient_json(text))
            .is_ok_and(|arguments| arguments.is_object()),
        _ => false,
    }
}

fn in_literal(literal: &Literal) -> Option<Vec<String>> {
    let items = if let Literal::List(items) = literal { items.as_slice() } else { std::slice::from_ref(literal) };
    if items.is_empty() {
        return None;
    }
    let call = |item: &Literal| {
        let Literal::Dict(dict) = item else { return None };
        if let [(Literal::Text(name), Literal::Dict(_))] = dict.entries() {
            return is_tool_name(name).then(|| name.clone());
        }
        let name = ["name", "tool_call", "action"].iter().find_map(|key| match dict.get(key) {
            Some(Literal::Text(name)) => Some(name),
            _ => None,
        })?;
        let arguments = dict.get("arguments").or_else(|| dict.get("parameters"))?;
        (is_tool_name(name) && matches!(arguments, Literal::Dict(_))).then(|| name.clone())
    };
    items.iter().map(call).collect()
}

/// The tools called in `<tool_call>` blocks with a readable body: JSON, or `<function=name>`. `text` is the text without
/// its reasoning.
pub(super) fn tag_calls(text: &str) -> Vec<String> {
    const OPEN: &str = "<tool_call>";
    let lower = text.to_ascii_lowercase();
    let mut names = Vec::new();
    let starts: Vec<usize> = lower.match_indices(OPEN).map(|(at, _)| at).collect();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(text.len());
        let (Some(block), Some(block_lower)) = (text.get(start + OPEN.len()..end), lower.get(start + OPEN.len()..end))
        else {
            continue;
        };
        let body = trim(block.get(..block_lower.find("</tool_call>").unwrap_or(block.len())).unwrap_or_default());
        if let Some(function) = body.strip_prefix("<function=") {
            names.extend(
                function.split_once('>').map(|(name, _)| name).filter(|name| is_tool_name(name)).map(str::to_owned),
            );
        } else {
            names.extend(json_calls(body).unwrap_or_default());
        }
    }
    names
}

/// Calls may stand as arguments inside each other to this depth.
const MAX_NESTING: usize = 8;

/// The tools of a Python list of calls `[f(x=1), a.g()]`, whose last bracket may be missing (decoders add it). With
/// `bare`, the outer brackets may be missing. `None`: some item is no well-formed call.
pub(super) fn python_calls(text: &str, bare: bool) -> Option<Vec<String>> {
    let text = trim(text);
    let inner = match text.strip_prefix('[') {
        Some(rest) => rest,
        None if bare => text,
        None => return None,
    };
    let inner = if text.starts_with('[') { inner.strip_suffix(']').unwrap_or(inner) } else { inner };
    let items = split(inner)?;
    let last = items.len().saturating_sub(1);
    let names: Option<Vec<String>> = items
        .iter()
        .enumerate()
        // A comma may stand behind the last call.
        .filter(|(at, item)| *at < last || last == 0 || !trim(item).is_empty())
        .map(|(_, item)| python_call(trim(item), 0))
        .collect();
    names.filter(|names| !names.is_empty())
}

/// `name(arguments)`: the name.
fn python_call(text: &str, depth: usize) -> Option<String> {
    let (name, rest) = text.split_once('(')?;
    let name = trim(name);
    let valid_part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if depth > MAX_NESTING || name.len() > 128 || !name.split('.').all(valid_part) {
        return None;
    }
    let arguments = rest.strip_suffix(')')?;
    if !trim(arguments).is_empty() {
        let items = split(arguments)?;
        let last = items.len().saturating_sub(1);
        for (at, item) in items.iter().enumerate() {
            let item = trim(item);
            if item.is_empty() && at == last && at > 0 {
                continue;
            }
            let value = match item.split_once('=') {
                Some((key, value)) if valid_part(trim(key)) && !value.starts_with('=') => trim(value),
                _ => item,
            };
            if parse_literal(value).is_none() && python_call(value, depth + 1).is_none() {
                return None;
            }
        }
    }
    Some(name.to_owned())
}

/// The parts between commas outside brackets and strings. `None`: brackets or strings do not close.
fn split(text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    let mut quote: Option<u8> = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if let Some(open) = quote {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                _ if byte == open => quote = None,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' | b'\'' => quote = Some(byte),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                parts.push(text.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..)?);
    (depth == 0 && quote.is_none()).then_some(parts)
}

/// The inside of a fence around the whole text.
pub(super) fn fenced(text: &str) -> Option<&str> {
    let body = trim(text).strip_prefix("```")?.strip_suffix("```")?;
    let (_, body) = body.split_once('\n')?;
    Some(trim(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_a_call_only_with_a_name_and_arguments() {
        for (text, names) in [
            (r#"[{"name":"ls","arguments":{}},{"name":"cd","arguments":{"x":1}}]"#, Some(vec!["ls", "cd"])),
            (r#"{"name":"a.b-c","parameters":{},"id":7}"#, Some(vec!["a.b-c"])),
            (r#"{"name":"ls","arguments":{}}; {"name":"cd","arguments":"{}"}"#, Some(vec!["ls", "cd"])),
            (r#"{"function":{"name":"ls","arguments":"{}"},"type":"function"}"#, Some(vec!["ls"])),
            ("[{'name': 'ls', 'arguments': {'a': True}}]", Some(vec!["ls"])),
            (r#"[{"GorillaFileSystem.mv":{"a":1}}]"#, Some(vec!["GorillaFileSystem.mv"])),
            (r#"[{"name":"ls","arguments":{}}"#, None),
            (r#"[{"name":"ls"}]"#, None),
            (r#"{"name":"ls","arguments":3}"#, None),
            (r#"{"name":"two words","arguments":{}}"#, None),
            (r#"[{"name":"ls","arguments":{"x":"a" + f(1)}}]"#, None),
            (r#"{"name":"ls","arguments":{}}; done"#, None),
            ("[]", None),
        ] {
            let names = names.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(json_calls(text), names, "{text}");
        }
    }

    #[test]
    fn python_is_a_call_only_when_well_formed() {
        for (text, names) in [
            ("[touch(file_name='a, b)')]", Some(vec!["touch"])),
            ("[a.b(x=[1, {'c': 2}], y=\"=\"), ls ()]", Some(vec!["a.b", "ls"])),
            ("[f(g(x=1), 'y')]", Some(vec!["f"])),
            ("[f(x=1),]", Some(vec!["f"])),
            ("[f(x=1)", Some(vec!["f"])),
            ("[cp (source='a'", None),
            ("[Remark (see below)] nothing done", None),
            ("[Remark (see below)]", None),
            ("[f(x=1)] and then", None),
            ("[f(x=y + 1)]", None),
            ("[f]", None),
            ("[]", None),
            ("f(x=1)", None),
        ] {
            let names = names.map(|names| names.into_iter().map(str::to_owned).collect());
            assert_eq!(python_calls(text, false), names, "{text}");
        }
        assert_eq!(python_calls("f(x=1), g()", true), Some(vec!["f".to_owned(), "g".to_owned()]));
        assert_eq!(python_calls("Done (see below)", true), None);
        assert_eq!(python_calls(&format!("[{}]", "f(".repeat(5000)), false), None);
        assert_eq!(python_calls(&format!("[{}{}]", "f(".repeat(5000), ")".repeat(5000)), false), None);
    }

    #[test]
    fn tags_need_a_body() {
        assert_eq!(tag_calls("<tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call> <tool_call>x"), ["a"]);
        assert_eq!(tag_calls("<TOOL_CALL>\n<function=b.c>\n</function></TOOL_CALL>"), ["b.c"]);
        assert!(tag_calls("I would emit <tool_call> next").is_empty());
        assert_eq!(fenced("```json\n[f()]\n```"), Some("[f()]"));
        assert_eq!(fenced("```json\n[f()]\n``` more"), None);
    }
}
