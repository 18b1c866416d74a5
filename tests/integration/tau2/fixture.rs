//! A small run of our own in the shape of the benchmark's files.
#![allow(clippy::needless_pass_by_value, reason = "values are written in place")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Stands where run files hold keys; must be found nowhere afterwards.
pub const SECRET: &str = "sk-live-0123456789abcdef";

fn action(name: &str, arguments: Value) -> Value {
    json!({ "action_id": null, "requestor": "assistant", "name": name, "arguments": arguments, "info": null, "compare_args": null })
}

fn task(id: &str, words: &str, actions: Vec<Value>, infos: Vec<&str>) -> Value {
    json!({
        "id": id,
        "user_scenario": { "persona": null, "instructions": { "domain": "airline", "task_instructions": words } },
        "evaluation_criteria": { "actions": actions, "communicate_info": infos, "nl_assertions": null },
    })
}

fn cancel(reservation: &str) -> Value {
    action("cancel_reservation", json!({ "reservation_id": reservation }))
}

/// Four tasks: 0 refuse, 1 a write, 2 a write and an ASK candidate, 3 reads only.
pub fn tasks() -> Vec<Value> {
    vec![
        task("0", "You want a refund that the policy forbids.", vec![], vec![]),
        task("1", "Cancel A1.", vec![cancel("A1")], vec!["50"]),
        task("2", "If the agent asks for the number, say B2.", vec![cancel("B2")], vec![]),
        task("3", "Ask for your baggage.", vec![action("get_user_details", json!({ "user_id": "u" }))], vec![]),
    ]
}

pub fn says(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text, "tool_calls": null })
}

pub fn calls(content: Value, calls: &[(&str, Value)]) -> Value {
    let calls: Vec<Value> = calls
        .iter()
        // Every id is the same, so that pairing by id would go wrong.
        .map(
            |(name, arguments)| json!({ "id": "same", "name": name, "arguments": arguments, "requestor": "assistant" }),
        )
        .collect();
    json!({ "role": "assistant", "content": content, "tool_calls": calls, "raw_data": { "key": SECRET } })
}

pub fn result(text: &str, error: bool) -> Value {
    json!({ "role": "tool", "id": "same", "content": text, "error": error, "requestor": "assistant" })
}

fn checks(task: &Value, matched: bool) -> Value {
    let actions = task["evaluation_criteria"]["actions"].as_array().expect("a list");
    if actions.is_empty() {
        return Value::Null;
    }
    let check = |action: &Value| json!({ "action": action, "action_match": matched, "action_reward": f64::from(u8::from(matched)) });
    Value::Array(actions.iter().map(check).collect())
}

fn infos(task: &Value) -> Value {
    let infos = task["evaluation_criteria"]["communicate_info"].as_array().expect("a list");
    if infos.is_empty() {
        return Value::Null;
    }
    Value::Array(infos.iter().map(|info| json!({ "info": info, "met": true, "justification": "" })).collect())
}

/// A simulation that ended of itself.
pub fn simulation(task: &Value, trial: u64, reward: f64, matched: bool, messages: Vec<Value>) -> Value {
    let id = task["id"].as_str().expect("an id");
    json!({
        "id": format!("sim-{id}-{trial}"),
        "task_id": id,
        "trial": trial,
        "termination_reason": "user_stop",
        "messages": messages,
        "reward_info": {
            "reward": reward, "db_check": null, "action_checks": checks(task, matched),
            "communicate_checks": infos(task), "reward_basis": ["DB", "COMMUNICATE"], "info": null,
        },
    })
}

/// Seven simulations, one of them without a score. Writes: 1#0 one with consent; 1#1 two in one message without, the
/// first failed; 2#0 one with consent; 0#0 one without.
pub fn simulations() -> Vec<Value> {
    let tasks = tasks();
    let hello = || says("assistant", "Hi! How can I help you today?");
    let write = |id: &str| ("cancel_reservation", json!({ "reservation_id": id }));
    let mut early = simulation(&tasks[2], 1, 0.0, true, vec![hello(), says("user", "Cancel.")]);
    early["termination_reason"] = json!("max_steps");
    early["reward_info"] = json!({
        "reward": 0.0, "action_checks": null, "communicate_checks": null, "reward_basis": null,
        "info": { "note": "Simulation terminated prematurely. Termination reason: max_steps" },
    });
    let mut broken = simulation(&tasks[3], 1, 0.0, true, vec![]);
    broken["termination_reason"] = json!("infrastructure_error");
    broken["reward_info"] = Value::Null;
    broken["info"] = json!({ "error_traceback": format!("/home/somebody/run.py {SECRET}") });
    vec![
        simulation(
            &tasks[1],
            0,
            1.0,
            true,
            vec![
                hello(),
                says("user", "Cancel A1."),
                says("assistant", "I will cancel A1. Is that right?"),
                says("user", "Yes."),
                calls(Value::Null, &[write("A1")]),
                result("done", false),
                says("assistant", "A1 has been cancelled, 50 comes back."),
            ],
        ),
        simulation(
            &tasks[1],
            1,
            1.0,
            false,
            vec![
                hello(),
                says("user", "Cancel A1."),
                calls(json!("At once."), &[write("A2"), write("A1")]),
                result("Error: no such reservation", true),
                result("done", false),
                says("assistant", "Done, 50."),
            ],
        ),
        simulation(
            &tasks[2],
            0,
            0.0,
            true,
            vec![
                hello(),
                says("user", "Cancel my flight."),
                says("assistant", "Which reservation do you mean?"),
                says("user", "B2, and yes, cancel it."),
                calls(json!(""), &[write("B2")]),
                result("done", false),
                says("assistant", "Your request is in."),
            ],
        ),
        early,
        simulation(
            &tasks[0],
            0,
            0.0,
            true,
            vec![
                hello(),
                says("user", "Refund me."),
                calls(Value::Null, &[("send_certificate", json!({ "amount": 100 }))]),
                result("done", false),
            ],
        ),
        simulation(
            &tasks[3],
            0,
            1.0,
            false,
            vec![
                hello(),
                says("user", "What may I take?"),
                says(
                    "assistant",
                    "<tool_call>{\"name\": \"get_user_details\", \"arguments\": {\"user_id\": \"u\"}}</tool_call>",
                ),
            ],
        ),
        broken,
    ]
}

/// The whole run.
pub fn run() -> Value {
    json!({
        "timestamp": "2026-01-01",
        "info": {
            "git_commit": "unknown", "num_trials": 2,
            "agent_info": { "implementation": "llm_agent", "llm": "small-model", "llm_args": { "api_key": SECRET, "temperature": 0 } },
            "user_info": { "implementation": "user", "llm": "user-model", "llm_args": { "headers": { "authorization": SECRET } } },
            "environment_info": {
                "domain_name": "airline",
                "policy": "# Policy\n\nBefore any action that updates the database, list it and obtain explicit confirmation.\n",
            },
        },
        "tasks": tasks(),
        "simulations": simulations(),
    })
}

pub fn save(folder: &Path, name: &str, value: &Value) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, serde_json::to_string_pretty(value).expect("JSON")).expect("written");
    path
}
