//! The tools that an emission calls, by name, as far as its text gives them away.
//!
//! The classifier does not need this (a broken call is a call); counting calls of a held-out tool does. Names are taken
//! as they stand: a name with junk behind it is another name.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::forms::{TAG, TextForm, tags};
use super::json::lenient_json;
use super::literal::Literal;
use super::literal_parse::parse_literal;
use super::space::{is_space, trim};

/// Tool names in a text of a known form, in order, with repeats.
pub(super) fn in_text(text: &str, form: TextForm) -> Vec<String> {
    match form {
        TextForm::PythonList => in_python_list(text),
        TextForm::XmlTag => {
            // A block ends at the next tag at the latest, so that unclosed tags are not scanned over and over.
            let starts: Vec<usize> = tags(text).collect();
            let ends = starts.iter().skip(1).map(|next| next - TAG.len()).chain([text.len()]);
            starts
                .iter()
                .zip(ends)
                .flat_map(|(start, end)| in_block(text.get(*start..end).unwrap_or_default()))
                .collect()
        }
        TextForm::JsonList | TextForm::JsonObject => in_json(text),
    }
}

/// The keys of an emission that lists calls as dictionaries. `None`: not a dictionary or a list of dictionaries alone.
pub(super) fn api_names(value: &Value) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for item in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice) {
        names.extend(item.as_object()?.keys().cloned());
    }
    Some(names)
}

/// The names in what follows one tag: JSON inside, or `<function=name>`.
fn in_block(behind_tag: &str) -> Vec<String> {
    let block = behind_tag.find('>').and_then(|at| behind_tag.get(at + 1..)).unwrap_or_default();
    let end = block.find("</tool_call>").unwrap_or(block.len());
    let block = trim(block.get(..end).unwrap_or_default());
    if let Some(function) = block.strip_prefix("<function=") {
        return function.split_once('>').map(|(name, _)| name.to_owned()).into_iter().collect();
    }
    in_json(block)
}

/// The names in a JSON (or Python) value; where it cannot be read, every quoted `name` that arguments follow.
fn in_json(text: &str) -> Vec<String> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"["']name["']\s*:\s*["']([^"']*)["']\s*,\s*["'](?:arguments|parameters)["']\s*:"#)
            .expect("a fixed pattern")
    });
    let text = trim(text);
    if let Ok(value) = serde_json::from_str::<Value>(text).or_else(|_| lenient_json(text)) {
        return in_value(&value);
    }
    if let Some(literal) = parse_literal(text) {
        return in_literal(&literal);
    }
    NAME.captures_iter(text).filter_map(|found| found.get(1)).map(|name| name.as_str().to_owned()).collect()
}

fn in_value(value: &Value) -> Vec<String> {
    let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    items.iter().filter_map(|item| item.get("name")?.as_str()).map(str::to_owned).collect()
}

fn in_literal(literal: &Literal) -> Vec<String> {
    let items = if let Literal::List(items) = literal { items } else { std::slice::from_ref(literal) };
    let name = |item: &Literal| match item {
        Literal::Dict(dict) => match dict.get("name") {
            Some(Literal::Text(name)) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    };
    items.iter().filter_map(name).collect()
}

/// The (dotted) names before `(` directly inside the outer bracket, skipping what stands in strings.
fn in_python_list(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    // The word read last, and whether only white space has come since.
    let mut word = String::new();
    let mut word_open = false;
    for c in text.chars() {
        if let Some(open) = quote {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == open {
                quote = None;
            }
            continue;
        }
        if c.is_alphanumeric() || c == '_' || c == '.' {
            if !word_open {
                word.clear();
                word_open = true;
            }
            word.push(c);
            continue;
        }
        word_open = false;
        match c {
            '(' | '[' | '{' => {
                if c == '(' && depth == 1 && !word.is_empty() {
                    names.push(std::mem::take(&mut word));
                }
                depth += 1;
            }
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '"' | '\'' => quote = Some(c),
            _ => {}
        }
        if !is_space(c) {
            word.clear();
        }
        if depth == 0 && !names.is_empty() {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::forms::text_form;

    #[test]
    fn names_come_out_of_every_text_form() {
        for (text, names) in [
            ("[cd(folder='document')]", vec!["cd"]),
            ("[touch(x=1), rm (y=[2, f(3)]), a.b(c=\"d(e)\")]", vec!["touch", "rm", "a.b"]),
            (r"[echo(content='it\'s (x)'), ls()] and [mv()]", vec!["echo", "ls"]),
            ("  [ cp (source='a'", vec!["cp"]),
            ("[Remark (see below)] nothing (done)", vec!["Remark"]),
            ("<tool_call>\n{\"name\": \"ls\", \"arguments\": {}}\n</tool_call>", vec!["ls"]),
            (
                "<think>x</think>\n<tool_call>\n{\"name\": \"a\", \"arguments\": {\"name\": \"n\"}}\n</tool_call>\n\
                 <tool_call>{\"name\": \"b\", \"arguments\": {}}</tool_call>",
                vec!["a", "b"],
            ),
            ("<tool_call>{\"name\": \"a\", \"arguments\": {\"x\": <tool_call>{\"name\": \"b\"}", vec!["a", "b"]),
            ("<tool_call>\n<function=get_x>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>", vec!["get_x"]),
            ("I would emit <tool_call> next", vec![]),
            (r#"[{"name":"ls","arguments":{}},{"name":"cd","arguments":{"name":"x"}}]"#, vec!["ls", "cd"]),
            (r"[{'name': 'ls', 'arguments': {'a': True}}]", vec!["ls"]),
            (r#"[{"name":"ls","arguments":{"a":1 + 2}},{"name":"cd","parameters":{}}]"#, vec!["ls", "cd"]),
            (r#"{"name":"ls","arguments":{},"id":"7"}"#, vec!["ls"]),
            (r#"{"name":"ls","arguments":{}}; {"name":"cd","arguments":{}}"#, vec!["ls", "cd"]),
        ] {
            let form = text_form(text).expect(text);
            assert_eq!(in_text(text, form), names, "{text}");
        }
    }
}
