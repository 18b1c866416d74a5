use serde_json::{Value, json};

use super::*;

fn read(value: &Value) -> (SimulationFacts, Vec<Message>, Vec<&'static str>) {
    let mut notes = Vec::new();
    let (facts, messages) = read_simulation(value, 0, "simulations[0]", &mut notes).expect("readable");
    (facts, messages, notes)
}

/// Ids repeat and results are told apart by their place alone: the second of two calls of one message failed.
#[test]
fn results_are_paired_by_position_and_not_by_id() {
    let call = |tool: &str| json!({ "id": "c1", "name": tool, "arguments": {}, "requestor": "assistant" });
    let (facts, _, notes) = read(&json!({
        "id": "s", "task_id": "0", "termination_reason": "user_stop",
        "messages": [
            { "role": "assistant", "tool_calls": [call("get_user_details"), call("cancel_reservation"), call("book_reservation")] },
            { "role": "tool", "id": "c1", "content": "Error: this is the reader's" },
            { "role": "tool", "id": "c1", "content": "{}", "error": false },
            { "role": "tool", "id": "c1", "content": "Error: full" },
            { "role": "assistant", "content": "That failed." },
            { "role": "assistant", "tool_calls": [call("send_certificate")] },
        ],
    }));
    let failed: Vec<_> =
        facts.writes.iter().map(|write| (write.tool.as_str(), write.failed(), write.has_result)).collect();
    assert_eq!(
        failed,
        [("cancel_reservation", false, true), ("book_reservation", true, true), ("send_certificate", false, false)]
    );
    assert!(notes.contains(&"repeated id of a call") && notes.contains(&"text after a failed call"));
}

#[test]
fn an_early_end_has_no_checks_and_stays_scored() {
    let (facts, _, notes) = read(&json!({
        "id": "s", "task_id": "3", "termination_reason": "max_steps", "messages": [],
        "reward_info": { "reward": 0.0, "action_checks": null, "info": { "note": "Simulation terminated prematurely. x" } },
    }));
    assert!(facts.early && facts.scored() && !facts.passes());
    assert_eq!(facts.failed_actions(), 0, "nothing was checked, so nothing failed");
    assert_eq!(notes, ["early end"]);
}

#[test]
fn what_went_wrong_outside_the_agent_is_not_scored() {
    let base = json!({ "id": "s", "task_id": "3", "messages": [], "reward_info": { "reward": 1.0 } });
    let with = |key: &str, value: Value| {
        let mut changed = base.clone();
        changed[key] = value;
        read(&changed).0.unscored
    };
    assert!(read(&base).0.scored());
    assert!(with("error", json!("")).is_empty() && with("error", json!([])).is_empty());
    assert_eq!(with("error", json!("x")), ["the simulation has error"]);
    assert_eq!(with("status", json!("Infrastructure down")), ["status/termination/failure text has infrastructure"]);
    assert_eq!(with("reward_info", Value::Null), ["reward_info is not an object"]);
    assert_eq!(with("reward_info", json!({ "traceback": "x" })), ["reward_info has traceback"]);
    assert_eq!(with("reward_info", json!({ "reward_basis": ["runtime_error"] })), ["reward_basis has runtime_error"]);
    assert!(with("termination_reason", json!("max_steps")).is_empty());
}

/// Pass is a reward of exactly 1; the consent table takes half.
#[test]
fn a_pass_is_a_reward_of_one() {
    let reward = |value: Value| {
        let facts = read(&json!({ "messages": [], "reward_info": { "reward": value } })).0;
        (facts.passes(), facts.passes_loosely())
    };
    assert_eq!(reward(json!(1)), (true, Some(true)));
    assert_eq!(reward(json!(0.999_999_9)), (false, Some(true)));
    assert_eq!(reward(json!(0.5)), (false, Some(true)));
    assert_eq!(reward(json!(0.49)), (false, Some(false)));
    assert_eq!(reward(Value::Null), (false, None));
}

#[test]
fn wrong_shapes_are_named_by_their_place() {
    let error =
        |value: &Value| read_simulation(value, 0, "simulations[0]", &mut Vec::new()).expect_err("wrong").to_string();
    assert_eq!(error(&json!(7)), "simulations[0] is a number, not an object");
    assert_eq!(error(&json!({ "messages": {} })), "simulations[0].messages is an object, not a list");
    assert_eq!(error(&json!({ "messages": [[]] })), "simulations[0].messages[0] is a list, not an object");
    let deep = json!({ "messages": [{ "role": "assistant", "tool_calls": [{ "name": ["secret"] }] }] });
    assert_eq!(error(&deep), "simulations[0].messages[0].tool_calls[0].name is a list, not a text");
    assert_eq!(error(&json!({ "messages": [{}] })), "simulations[0].messages[0].role is missing, not a text");
}
