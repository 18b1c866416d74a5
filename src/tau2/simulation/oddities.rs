//! What is odd about a simulation.

use serde_json::{Map, Value};

use super::Message;

/// Is a text a JSON object with the words under `message`?
fn wrapped(text: &str) -> bool {
    unwrapped(text).is_some()
}

/// The words in a wrapper of JSON.
pub(in crate::tau2) fn unwrapped(text: &str) -> Option<String> {
    let text = text.trim_start();
    if !text.starts_with('{') {
        return None;
    }
    match serde_json::from_str::<Value>(text).ok()?.get_mut("message").map(Value::take) {
        Some(Value::String(words)) => Some(words),
        _ => None,
    }
}

/// What is odd about a simulation, for the count of oddities.
pub(super) fn odd(object: &Map<String, Value>, messages: &[Message], notes: &mut Vec<&'static str>) {
    let mut ids = std::collections::BTreeSet::new();
    let mut repeated = 0;
    for (index, message) in messages.iter().enumerate() {
        let text = message.content.as_deref().unwrap_or_default();
        if message.role == "assistant" {
            if message.calls.len() > 1 {
                notes.push("several calls in one message");
            }
            if !message.calls.is_empty() && !text.is_empty() {
                notes.push("text beside calls");
            }
            if message.calls.is_empty() && text.is_empty() {
                notes.push("empty message of the agent");
            }
            if wrapped(text) {
                notes.push("text wrapped in JSON");
            }
            if message.labels.text_form {
                notes.push("call in text form");
            }
            repeated +=
                message.calls.iter().filter_map(|call| call.id.as_ref()).filter(|id| !ids.insert(id.as_str())).count();
            let before = index.checked_sub(1).and_then(|before| messages.get(before));
            if !text.is_empty() && message.calls.is_empty() && before.is_some_and(|m| m.role == "tool" && m.failed()) {
                notes.push("text after a failed call");
            }
        }
        if !["assistant", "user", "tool", "system"].contains(&message.role.as_str()) {
            notes.push("message of an unknown role");
        }
    }
    notes.extend(std::iter::repeat_n("repeated id of a call", repeated));
    if object.get("task_id").is_none_or(Value::is_null) {
        notes.push("simulation without task_id");
    }
    if object.contains_key("ticks") && messages.is_empty() {
        notes.push("simulation with ticks and no messages");
    }
    let known = [
        "user_stop",
        "agent_stop",
        "max_steps",
        "too_many_errors",
        "timeout",
        "agent_error",
        "user_error",
        "infrastructure_error",
        "context_window_exceeded",
        "unexpected_error",
    ];
    match object.get("termination_reason").and_then(Value::as_str) {
        Some(reason) if !known.contains(&reason) => notes.push("unknown termination reason"),
        Some("user_stop" | "agent_stop") | None => {}
        Some(_) => notes.push("early end"),
    }
}
