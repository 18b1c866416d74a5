//! Whole-emission tool calls that are not in a text form: structured values, and texts that hold a JSON or Python value.
//! They are rewritten as one canonical JSON list of calls; everything else is left alone.

use serde_json::Value;

use super::canonical::{write_literal, write_text, write_value};
use super::forms::text_form;
use super::json::lenient_json_with_repairs;
use super::literal::Literal;
use super::literal_parse::parse_literal;
use super::space::trim;

/// The canonical text `[{"name":…,"arguments":…},…]` of an emission that is a tool call in another shape. `None`: the
/// emission stays as it is, because it is in a text form already or is no call.
///
/// Differs from the reference release in values that 64-bit numbers and Unicode text cannot hold (they became floats, null
/// or U+FFFD when the value was read), never in whether there is a call.
#[must_use]
pub fn normalise(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text_form(text).is_some() => None,
        Value::String(text) => literal_calls(text, true).map(|calls| calls.text),
        _ => canonical(&calls(value)?),
    }
}

/// The calls in a text that holds a JSON or Python value.
pub(super) struct LiteralCalls {
    /// The tools in order.
    pub(super) names: Vec<String>,
    /// The canonical text.
    pub(super) text: String,
}

/// Tool names of a structured emission that is a call or a list of calls.
pub(super) fn structured_calls(value: &Value) -> Option<Vec<String>> {
    calls(value).map(|calls| calls.iter().map(|call| call.name.to_owned()).collect())
}

/// Reads a text (the whole of it, or the inside of a fence around the whole of it) as a Python value, else as JSON.
///
/// `python`: may it be read as Python? A text with a lone surrogate cannot.
pub(super) fn literal_calls(text: &str, python: bool) -> Option<LiteralCalls> {
    let trimmed = trim(text);
    let fenced = trimmed.starts_with(FENCE).then(|| fence_body(trimmed)).flatten();
    let body = fenced.as_deref().unwrap_or(trimmed);
    if !(body.starts_with('{') || body.starts_with("[{")) {
        return None;
    }
    if let Some(literal) = python.then(|| parse_literal(body)).flatten() {
        return list(&calls(&literal)?);
    }
    let (value, repairs) = lenient_json_with_repairs(body).ok()?;
    if repairs.refused_integers {
        return None;
    }
    list(&calls(&value)?)
}

fn list<D: Datum>(calls: &[Call<'_, D>]) -> Option<LiteralCalls> {
    let text = canonical(calls)?;
    Some(LiteralCalls { names: calls.iter().map(|call| call.name.to_owned()).collect(), text })
}

const FENCE: &str = "```";

/// What stands inside a fence: without the first line whatever it holds, and without a last line that begins with a
/// fence. `None`: nothing is left.
fn fence_body(text: &str) -> Option<String> {
    let mut lines: Vec<&str> = text.split('\n').skip(1).collect();
    if lines.last().is_some_and(|last| trim(last).starts_with(FENCE)) {
        lines.pop();
    }
    if lines.is_empty() { None } else { Some(trim(&lines.join("\n")).to_owned()) }
}

/// One call of a tool.
struct Call<'d, D> {
    name: &'d str,
    arguments: &'d D,
}

/// What the rules below ask of a value, be it from JSON or from Python.
trait Datum: Sized {
    /// The items of a list (not of a tuple).
    fn items(&self) -> Option<&[Self]>;
    fn text(&self) -> Option<&str>;
    /// The number of keys of a dictionary.
    fn size(&self) -> Option<usize>;
    fn get(&self, key: &str) -> Option<&Self>;
    /// The first entry of a dictionary, if its key is a text.
    fn first(&self) -> Option<(&str, &Self)>;
    /// Appends the value as JSON; `None` where JSON cannot hold it.
    fn write(&self, out: &mut String) -> Option<()>;
}

fn canonical<D: Datum>(calls: &[Call<'_, D>]) -> Option<String> {
    let mut out = "[".to_owned();
    for (at, call) in calls.iter().enumerate() {
        out.push_str(if at > 0 { ",{\"name\":" } else { "{\"name\":" });
        write_text(&mut out, call.name);
        out.push_str(",\"arguments\":");
        call.arguments.write(&mut out)?;
        out.push('}');
    }
    out.push(']');
    Some(out)
}

/// The calls of a value: a list of call dictionaries, one call dictionary, or a dictionary of `tools` and `arguments`.
fn calls<D: Datum>(value: &D) -> Option<Vec<Call<'_, D>>> {
    if let Some(items) = value.items() {
        return if items.is_empty() { None } else { items.iter().map(call).collect() };
    }
    call(value).map(|call| vec![call]).or_else(|| tools(value))
}

/// A dictionary with one of four pairs of keys and no other, or with a single key that is the tool's name.
fn call<D: Datum>(value: &D) -> Option<Call<'_, D>> {
    const KEYS: [(&str, &str); 4] =
        [("name", "arguments"), ("name", "parameters"), ("tool_call", "arguments"), ("action", "arguments")];
    let (name, arguments) = match value.size()? {
        1 => value.first()?,
        2 => {
            let (name, arguments) =
                KEYS.iter().find_map(|(name, arguments)| Some((value.get(name)?, value.get(arguments)?)))?;
            (name.text()?, arguments)
        }
        _ => return None,
    };
    arguments.size().map(|_| Call { name, arguments })
}

/// `{"tools": [names], "arguments": {name: {…}}}`.
fn tools<D: Datum>(value: &D) -> Option<Vec<Call<'_, D>>> {
    if value.size()? != 2 {
        return None;
    }
    let (tools, arguments) = (value.get("tools")?.items()?, value.get("arguments")?);
    if tools.is_empty() {
        return None;
    }
    tools
        .iter()
        .map(|tool| {
            let name = tool.text()?;
            let arguments = arguments.get(name)?;
            arguments.size().map(|_| Call { name, arguments })
        })
        .collect()
}

impl Datum for Value {
    fn items(&self) -> Option<&[Self]> {
        self.as_array().map(Vec::as_slice)
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn size(&self) -> Option<usize> {
        self.as_object().map(serde_json::Map::len)
    }

    fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    fn first(&self) -> Option<(&str, &Self)> {
        self.as_object()?.iter().next().map(|(key, value)| (key.as_str(), value))
    }

    fn write(&self, out: &mut String) -> Option<()> {
        write_value(out, self, 0)
    }
}

impl Datum for Literal {
    fn items(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn size(&self) -> Option<usize> {
        if let Self::Dict(dict) = self { Some(dict.entries().len()) } else { None }
    }

    fn get(&self, key: &str) -> Option<&Self> {
        if let Self::Dict(dict) = self { dict.get(key) } else { None }
    }

    fn first(&self) -> Option<(&str, &Self)> {
        let Self::Dict(dict) = self else { return None };
        dict.entries().first().and_then(|(key, value)| Some((key.text()?, value)))
    }

    fn write(&self, out: &mut String) -> Option<()> {
        write_literal(out, self)
    }
}
