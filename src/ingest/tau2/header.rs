//! The parts of a run's header that are kept: names and numbers, never the arguments of models, which can hold keys.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::stream::Outline;
use crate::error::{Error, Result};
use crate::tau2::{Action, Domain, Task};

/// What is kept of a header.
pub(super) struct Header {
    pub domain: Domain,
    pub model: String,
    pub policy: Option<String>,
    /// JSON object.
    pub kept: Value,
}

fn text_at(outline: &Outline, pointer: &str) -> Option<String> {
    let (first, rest) =
        pointer.trim_start_matches('/').split_once('/').unwrap_or((pointer.trim_start_matches('/'), ""));
    let part = outline.parts.get(first)?;
    let found = if rest.is_empty() { Some(part) } else { part.pointer(&format!("/{rest}")) };
    found.and_then(Value::as_str).map(str::to_owned)
}

/// A name or a number of the header; what is anything else is not kept.
fn plain_at(outline: &Outline, pointer: &str) -> Value {
    let found = outline.parts.get("info").and_then(|info| info.pointer(pointer));
    match found {
        Some(Value::Number(number)) => Value::Number(number.clone()),
        Some(Value::String(text)) => Value::String(text.chars().take(200).collect()),
        _ => Value::Null,
    }
}

/// Reads the header. Where it names no domain, the tools of the tasks and the scenarios tell it.
pub(super) fn header(
    outline: &Outline,
    tasks: &[Task],
    tools: &BTreeMap<String, u64>,
    models: &BTreeMap<String, u64>,
) -> Result<Header> {
    let stated = text_at(outline, "/info/environment_info/domain_name").or_else(|| text_at(outline, "/domain"));
    let domain = match &stated {
        Some(name) => Domain::parse(name).ok_or_else(|| {
            Error::data(format!("the run is of domain {:?}", name.chars().take(40).collect::<String>()))
                .hint("classes and writing tools are known for airline and retail")
        })?,
        None => guessed(tasks, tools).ok_or_else(|| {
            Error::data("the file does not say which domain it is of, and neither its tasks nor its calls do")
                .hint("is it a results file of τ²-bench? A file without a header can be read with --tasks")
        })?,
    };
    let model = text_at(outline, "/info/agent_info/llm").or_else(|| text_at(outline, "/model"));
    let policy = text_at(outline, "/info/environment_info/policy");
    let side = |side: &str| {
        json!({
            "implementation": plain_at(outline, &format!("/{side}/implementation")),
            "llm": plain_at(outline, &format!("/{side}/llm")),
        })
    };
    let mut kept = Map::new();
    for key in ["git_commit", "num_trials", "max_steps", "max_errors", "seed"] {
        kept.insert(key.to_owned(), plain_at(outline, &format!("/{key}")));
    }
    kept.insert("agent".to_owned(), side("agent_info"));
    kept.insert("user".to_owned(), side("user_info"));
    // Which models the answers themselves name, where they do: not always the stated one.
    kept.insert("models_in_responses".to_owned(), json!(models));
    Ok(Header { domain, model: model.unwrap_or_else(|| "unknown".to_owned()), policy, kept: kept.into() })
}

fn guessed(tasks: &[Task], tools: &BTreeMap<String, u64>) -> Option<Domain> {
    let named = tasks.iter().filter_map(|task| task.domain.as_deref()).find_map(Domain::parse);
    let written = || {
        let actions = tasks.iter().flat_map(|task| &task.actions).map(|action: &Action| action.name.as_str());
        let mut names = actions.chain(tools.keys().map(String::as_str));
        names.find_map(|name| Domain::ALL.into_iter().find(|domain| domain.writes(name)))
    };
    named.or_else(written)
}
