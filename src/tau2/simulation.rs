//! A simulation: its messages, its reward and what follows from both. Read from a run file of any schema generation; what
//! a generation lacks is absent, what has another shape is an error with its place.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::detector::{MessageLabels, message_labels};
use super::shape::{self, ShapeError};
use super::tasks::Action;
use oddities::odd;
pub(super) use oddities::unwrapped;

mod oddities;

/// A call of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id; ids repeat, so nothing is looked up by it.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// `assistant`, `user`, `tool` or whatever the file says.
    pub role: String,
    /// Its text.
    pub content: Option<String>,
    /// Its calls in order.
    pub calls: Vec<ToolCall>,
    /// A result that says of itself that it is an error.
    pub error: Option<bool>,
    /// What a message of the agent shows.
    pub labels: MessageLabels,
}

impl Message {
    /// Is it a result of a call that failed?
    #[must_use]
    pub fn failed(&self) -> bool {
        self.error == Some(true) || self.content.as_deref().is_some_and(|text| text.starts_with("Error"))
    }
}

/// One check of a reference action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The action.
    pub action: Option<Action>,
    /// Was it missed (no match, or no reward)?
    pub failed: bool,
}

/// A structured call of the agent to a tool that writes, in any domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WriteCall {
    /// Index of its message.
    pub message: usize,
    /// Index of the call in the message.
    pub call: usize,
    /// The tool.
    pub tool: String,
    /// The result says `error: true`.
    pub error_true: bool,
    /// The result's text begins with `Error`.
    pub error_text: bool,
    /// A result stands at its place.
    pub has_result: bool,
}

impl WriteCall {
    /// Did it fail?
    #[must_use]
    pub fn failed(&self) -> bool {
        self.error_true || self.error_text
    }
}

/// What is known of a simulation apart from the words of its messages.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SimulationFacts {
    /// Position in the run, from 0.
    pub ordinal: usize,
    /// Its own id.
    pub id: Option<String>,
    /// The task that it names.
    pub task: Option<String>,
    /// Its trial, from 0.
    pub trial: Option<u64>,
    /// Why it ended.
    pub termination: Option<String>,
    /// `reward_info` is an object.
    pub has_reward_info: bool,
    /// The reward.
    pub reward: Option<f64>,
    /// Why it has no score; empty: it is scored.
    pub unscored: Vec<String>,
    /// The action checks; `None`: there is no list of them.
    pub checks: Option<Vec<Check>>,
    /// What was to be communicated; `None`: not checked.
    pub infos: Option<Vec<String>>,
    /// It ended before its time, and nothing was checked.
    pub early: bool,
    /// Messages of the agent.
    pub agent_messages: usize,
    /// How many of them show each label: call, ask, refuse, confirm, none.
    pub label_counts: [usize; 5],
    /// Messages of the agent with a call in text form only.
    pub text_form_messages: usize,
    /// The labels of all of them together.
    pub emitted: MessageLabels,
    /// Calls to tools that write.
    pub writes: Vec<WriteCall>,
}

impl SimulationFacts {
    /// Is it scored?
    #[must_use]
    pub fn scored(&self) -> bool {
        self.unscored.is_empty()
    }

    /// Does it pass? The reward is exactly 1.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.reward == Some(1.0)
    }

    /// Does it pass by the looser rule of the consent table (reward of at least 0.5)? `None`: no reward.
    #[must_use]
    pub fn passes_loosely(&self) -> Option<bool> {
        self.reward.map(|reward| reward >= 0.5)
    }

    /// Reference actions that were missed.
    #[must_use]
    pub fn failed_actions(&self) -> usize {
        self.checks.iter().flatten().filter(|check| check.failed).count()
    }
}

/// Reads a simulation; `path` says where it stands. `notes` gets what is odd.
///
/// # Errors
/// A part of another shape than in any known generation.
pub fn read_simulation(
    value: &Value,
    ordinal: usize,
    path: &str,
    notes: &mut Vec<&'static str>,
) -> Result<(SimulationFacts, Vec<Message>), ShapeError> {
    let object = shape::object(value, path)?;
    let messages = messages(object, path, notes)?;
    let mut facts = SimulationFacts {
        ordinal,
        id: shape::id(object, "id", path)?,
        task: shape::id(object, "task_id", path)?,
        trial: object.get("trial").and_then(Value::as_u64),
        termination: shape::text(object, "termination_reason", path)?,
        ..SimulationFacts::default()
    };
    reward(object, path, &mut facts)?;
    facts.unscored = unscored(object);
    let note = object.get("reward_info").and_then(|info| info.pointer("/info/note")).and_then(Value::as_str);
    let ended = note.is_some_and(|note| note.starts_with("Simulation terminated prematurely"));
    let unusual = |reason: &str| !["user_stop", "agent_stop"].contains(&reason);
    facts.early = facts.checks.is_none() && (ended || facts.termination.as_deref().is_some_and(unusual));
    for message in messages.iter().filter(|message| message.role == "assistant") {
        let labels = message.labels;
        facts.agent_messages += 1;
        let shown = [labels.tool_call, labels.ask, labels.refuse, labels.confirm];
        let none = !shown.contains(&true);
        for (count, shown) in facts.label_counts.iter_mut().zip(shown.into_iter().chain([none])) {
            *count += usize::from(shown);
        }
        facts.text_form_messages += usize::from(labels.text_form);
        facts.emitted = facts.emitted.or(labels);
    }
    facts.writes = writes(&messages);
    odd(object, &messages, notes);
    Ok((facts, messages))
}

fn messages(
    object: &Map<String, Value>,
    path: &str,
    notes: &mut Vec<&'static str>,
) -> Result<Vec<Message>, ShapeError> {
    let mut found = Vec::new();
    for (index, value) in shape::list(object, "messages", path)?.unwrap_or_default().iter().enumerate() {
        let path = format!("{path}.messages[{index}]");
        let message = shape::object(value, &path)?;
        if let Some(inner) = shape::list(message, "tool_messages", &path)? {
            // The benchmark's model allows several results in one message; they are read as if they stood alone.
            notes.push("results nested in one message");
            for (place, value) in inner.iter().enumerate() {
                let path = format!("{path}.tool_messages[{place}]");
                found.push(read_message(value, &path)?);
            }
            continue;
        }
        found.push(read_message(value, &path)?);
    }
    Ok(found)
}

/// Reads a message of a τ² run or of OpenAI's form; `path` says where it stands.
///
/// # Errors
/// A part of another shape.
pub fn read_message(value: &Value, path: &str) -> Result<Message, ShapeError> {
    let object = shape::object(value, path)?;
    let mut calls = Vec::new();
    for (index, call) in shape::list(object, "tool_calls", path)?.unwrap_or_default().iter().enumerate() {
        let path = format!("{path}.tool_calls[{index}]");
        let call = shape::object(call, &path)?;
        // OpenAI's own form has the name one level deeper and the arguments as text.
        let inner = call.get("function").and_then(Value::as_object).unwrap_or(call);
        let arguments = match inner.get("arguments") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
            other => other.cloned().unwrap_or_default(),
        };
        let name = shape::text(inner, "name", &path)?.unwrap_or_default();
        calls.push(ToolCall { id: shape::id(call, "id", &path)?, name, arguments });
    }
    let role = shape::text(object, "role", path)?.ok_or_else(|| ShapeError {
        path: format!("{path}.role"),
        found: "missing",
        expected: "a text",
    })?;
    let content = content(object, path)?;
    let labels = match role.as_str() {
        "assistant" => message_labels(content.as_deref(), !calls.is_empty()),
        _ => MessageLabels::default(),
    };
    Ok(Message { content, calls, error: object.get("error").and_then(Value::as_bool), labels, role })
}

/// The text of a message; a list of parts (as OpenAI's newer messages have) is joined.
fn content(object: &Map<String, Value>, path: &str) -> Result<Option<String>, ShapeError> {
    if let Some(Value::Array(parts)) = object.get("content") {
        let texts = parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str));
        return Ok(Some(texts.collect::<Vec<_>>().join("\n")));
    }
    shape::text(object, "content", path)
}

fn reward(object: &Map<String, Value>, path: &str, facts: &mut SimulationFacts) -> Result<(), ShapeError> {
    let Some(Value::Object(info)) = object.get("reward_info") else { return Ok(()) };
    let path = format!("{path}.reward_info");
    facts.has_reward_info = true;
    facts.reward = match info.get("reward") {
        Some(Value::Bool(passed)) => Some(f64::from(u8::from(*passed))),
        other => other.and_then(Value::as_f64),
    };
    // What is no list of checks is none at all, as in the reference release.
    if let Some(Value::Array(checks)) = info.get("action_checks") {
        let mut read = Vec::new();
        for (index, check) in checks.iter().enumerate() {
            let Value::Object(check) = check else { continue };
            let place = format!("{path}.action_checks[{index}].action");
            let action = match check.get("action") {
                None | Some(Value::Null) => None,
                Some(action) => Some(Action::read(action, &place)?),
            };
            let no_reward = check.get("action_reward").and_then(Value::as_f64) == Some(0.0);
            read.push(Check { action, failed: check.get("action_match") == Some(&Value::Bool(false)) || no_reward });
        }
        facts.checks = Some(read);
    }
    if let Some(Value::Array(checks)) = info.get("communicate_checks") {
        let info =
            |check: &Value| check.get("info").map(|info| info.as_str().map_or_else(|| info.to_string(), str::to_owned));
        facts.infos = Some(checks.iter().filter_map(info).collect());
    }
    Ok(())
}

/// Every reason for which a simulation has no score.
fn unscored(object: &Map<String, Value>) -> Vec<String> {
    let mut reasons = Vec::new();
    let info = object.get("reward_info").and_then(Value::as_object);
    if info.is_none() {
        reasons.push("reward_info is not an object".to_owned());
    }
    for key in ["error", "exception", "traceback", "infrastructure_error", "runtime_error"] {
        if object.get(key).is_some_and(truthy) {
            reasons.push(format!("the simulation has {key}"));
        }
    }
    for key in ["error", "exception", "traceback", "infrastructure_error"] {
        if info.and_then(|info| info.get(key)).is_some_and(truthy) {
            reasons.push(format!("reward_info has {key}"));
        }
    }
    let basis = info.and_then(|info| info.get("reward_basis")).map(|basis| basis.to_string().to_lowercase());
    let texts: Vec<String> = ["status", "termination_reason", "failure_reason"]
        .iter()
        .filter_map(|key| object.get(*key))
        .filter(|value| truthy(value))
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned).to_lowercase())
        .collect();
    for mark in ["infrastructure", "runtime_error"] {
        if basis.as_ref().is_some_and(|basis| basis.contains(mark)) {
            reasons.push(format!("reward_basis has {mark}"));
        }
        if texts.iter().any(|text| text.contains(mark)) {
            reasons.push(format!("status/termination/failure text has {mark}"));
        }
    }
    reasons
}

/// Truth as the reference release's language sees it.
fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(truth) => *truth,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

/// The calls of the agent to tools that write in any domain, paired with results by their place: the results stand
/// directly behind the message, in the order of its calls. Ids repeat and are not looked at.
fn writes(messages: &[Message]) -> Vec<WriteCall> {
    let mut found = Vec::new();
    for (index, message) in messages.iter().enumerate().filter(|(_, message)| message.role == "assistant") {
        let behind = messages.get(index + 1..).unwrap_or_default();
        let results: Vec<&Message> = behind.iter().take_while(|message| message.role == "tool").collect();
        for (place, call) in message.calls.iter().enumerate() {
            if !super::Domain::ALL.iter().any(|domain| domain.writes(&call.name)) {
                continue;
            }
            let result = results.get(place);
            found.push(WriteCall {
                message: index,
                call: place,
                tool: call.name.clone(),
                error_true: result.is_some_and(|result| result.error == Some(true)),
                error_text: result
                    .is_some_and(|result| result.content.as_deref().is_some_and(|text| text.starts_with("Error"))),
                has_result: result.is_some(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests;
