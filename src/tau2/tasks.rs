//! Tasks: what each asks of the agent, by its reference actions and by the words of its user scenario.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Domain;
use super::shape::{self, ShapeError};

/// Words of a user scenario by which a task is an ASK candidate, in the published order.
pub(super) const KEYWORDS: [&str; 14] = [
    "if the agent asks",
    "if the service agent asks",
    "when the agent asks",
    "when the service agent asks",
    "do not volunteer",
    "do not mention unless",
    "don't mention",
    "withhold",
    "only reveal",
    "wait until asked",
    "if asked",
    "will not say anything that is not asked",
    "won't say anything that is not asked",
    "do not reveal it",
];

/// A reference action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// Its id in the task, if it has one.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
    /// The arguments that are compared; null: all.
    pub compare: Value,
}

impl Action {
    /// Reads an action of a task or of an action check.
    pub(super) fn read(value: &Value, path: &str) -> Result<Self, ShapeError> {
        let object = shape::object(value, path)?;
        Ok(Self {
            id: shape::text(object, "action_id", path)?,
            name: shape::text(object, "name", path)?.unwrap_or_default(),
            arguments: object.get("arguments").cloned().unwrap_or_default(),
            compare: object.get("compare_args").cloned().unwrap_or_default(),
        })
    }

    /// Do two actions ask for the same call?
    #[must_use]
    pub fn same_call(&self, other: &Self) -> bool {
        self.name == other.name && self.arguments == other.arguments && self.compare == other.compare
    }
}

/// A task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// The user scenario as JSON text.
    pub scenario: String,
    /// The reference actions.
    pub actions: Vec<Action>,
    /// What must be communicated.
    pub communicate: Vec<String>,
    /// The parts of the reward, where the task names them (the first release does not).
    pub reward_basis: Option<Vec<String>>,
    /// The domain that the scenario names.
    pub domain: Option<String>,
}

impl Task {
    /// Is doing nothing what the task asks for (class REFUSE)? Else it is of class TOOL_CALL.
    #[must_use]
    pub fn refuse(&self) -> bool {
        self.actions.is_empty()
    }

    /// The keywords that its scenario holds.
    #[must_use]
    pub fn keywords(&self) -> Vec<&'static str> {
        let text = self.scenario.to_lowercase();
        KEYWORDS.into_iter().filter(|keyword| text.contains(keyword)).collect()
    }

    /// Is it an ASK candidate? A task of either class can be one.
    #[must_use]
    pub fn ask(&self) -> bool {
        let text = self.scenario.to_lowercase();
        KEYWORDS.iter().any(|keyword| text.contains(keyword))
    }

    /// Does the reference path write to the database? Where not, an agent that does nothing leaves the right state.
    #[must_use]
    pub fn has_write(&self, domain: Domain) -> bool {
        self.actions.iter().any(|action| domain.writes(&action.name))
    }

    /// Do two tasks ask for the same calls and communicate the same?
    #[must_use]
    pub fn same_reference(&self, other: &Self) -> bool {
        self.actions.len() == other.actions.len()
            && self.communicate == other.communicate
            && self.actions.iter().zip(&other.actions).all(|(a, b)| a.same_call(b))
    }
}

/// Reads a task, from a task file or from a run.
///
/// # Errors
/// A part of another shape.
pub fn read_task(value: &Value, path: &str) -> Result<Task, ShapeError> {
    let object = shape::object(value, path)?;
    let id = shape::id(object, "id", path)?.ok_or_else(|| ShapeError {
        path: format!("{path}.id"),
        found: "missing",
        expected: "a text",
    })?;
    let scenario = object.get("user_scenario").unwrap_or(&Value::Null);
    let mut task = Task {
        id,
        scenario: scenario.to_string(),
        actions: Vec::new(),
        communicate: Vec::new(),
        reward_basis: None,
        domain: scenario.pointer("/instructions/domain").and_then(Value::as_str).map(str::to_owned),
    };
    let criteria = match object.get("evaluation_criteria") {
        None | Some(Value::Null) => return Ok(task),
        Some(criteria) => criteria,
    };
    let path = format!("{path}.evaluation_criteria");
    let criteria = shape::object(criteria, &path)?;
    for (index, action) in shape::list(criteria, "actions", &path)?.unwrap_or_default().iter().enumerate() {
        task.actions.push(Action::read(action, &format!("{path}.actions[{index}]"))?);
    }
    for info in shape::list(criteria, "communicate_info", &path)?.unwrap_or_default() {
        task.communicate.push(info.as_str().map_or_else(|| info.to_string(), str::to_owned));
    }
    task.reward_basis = shape::list(criteria, "reward_basis", &path)?
        .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    Ok(task)
}

/// The classes of a set of tasks, with the field names of the published classification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskSet {
    /// Tasks.
    pub tasks: usize,
    /// Tasks without reference actions.
    #[serde(rename = "REFUSE_n")]
    pub refuse_n: usize,
    /// Their ids.
    #[serde(rename = "REFUSE")]
    pub refuse: Vec<String>,
    /// Tasks with reference actions.
    #[serde(rename = "TOOL_CALL_n")]
    pub tool_call_n: usize,
    /// Their ids.
    #[serde(rename = "TOOL_CALL")]
    pub tool_call: Vec<String>,
    /// ASK candidates by the keyword rule.
    #[serde(rename = "ASK_n")]
    pub ask_n: usize,
    /// Their ids.
    #[serde(rename = "ASK")]
    pub ask: Vec<String>,
    /// Candidates that are of class REFUSE too.
    #[serde(rename = "ASK_and_REFUSE")]
    pub ask_and_refuse: Vec<String>,
    /// Tasks per keyword.
    pub keyword_hits: BTreeMap<&'static str, usize>,
    /// Tasks whose reference path writes nothing: an agent that does nothing leaves the right state.
    pub no_write_gold: Vec<String>,
}

impl TaskSet {
    /// The classes of some tasks.
    #[must_use]
    pub fn of(tasks: &[Task], domain: Domain) -> Self {
        let ids = |wanted: &dyn Fn(&Task) -> bool| -> Vec<String> {
            sorted(tasks.iter().filter(|task| wanted(task)).map(|task| task.id.clone()).collect())
        };
        let mut keyword_hits = BTreeMap::new();
        for keyword in tasks.iter().flat_map(Task::keywords) {
            *keyword_hits.entry(keyword).or_insert(0) += 1;
        }
        let (refuse, tool_call) = (ids(&Task::refuse), ids(&|task| !task.refuse()));
        let ask = ids(&Task::ask);
        Self {
            tasks: tasks.len(),
            refuse_n: refuse.len(),
            refuse,
            tool_call_n: tool_call.len(),
            tool_call,
            ask_n: ask.len(),
            ask,
            ask_and_refuse: ids(&|task| task.ask() && task.refuse()),
            keyword_hits,
            no_write_gold: ids(&|task| !task.has_write(domain)),
        }
    }
}

/// Ids in the order of their numbers, others behind them.
pub(super) fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort_by(|a, b| id_order(a).cmp(&id_order(b)));
    ids
}

/// Sorts `7`, `7#1`, `10`, `x`.
pub(super) fn id_order(id: &str) -> (u64, u64, &str) {
    let (task, trial) = id.split_once('#').unwrap_or((id, ""));
    (task.parse().unwrap_or(u64::MAX), trial.parse().unwrap_or(0), id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_task_can_be_a_candidate_of_either_class() {
        let task = |words: &str, actions: Value| {
            let value = json!({
                "id": 7,
                "user_scenario": { "instructions": { "task_instructions": words } },
                "evaluation_criteria": { "actions": actions },
            });
            read_task(&value, "task").expect("a task")
        };
        let quiet = task("If the agent ASKS, say yes.", json!([]));
        assert!(quiet.refuse() && quiet.ask());
        assert_eq!(quiet.id, "7");
        let plain = task("Say yes.", json!([{ "name": "cancel_reservation", "arguments": {} }]));
        assert!(
            !plain.refuse() && !plain.ask() && plain.has_write(Domain::Airline) && !plain.has_write(Domain::Retail)
        );
        // A line break stands in the JSON text as two characters, so the phrase is not found across it.
        assert!(!task("only do it if\nasked", json!(null)).ask());
    }

    #[test]
    fn a_complaint_names_the_place_and_not_the_value() {
        let value = json!({ "id": "1", "evaluation_criteria": { "actions": "sk-secret" } });
        let error = read_task(&value, "tasks[4]").expect_err("wrong");
        assert_eq!(error.to_string(), "tasks[4].evaluation_criteria.actions is a text, not a list");
    }

    #[test]
    fn ids_are_in_the_order_of_their_numbers() {
        let ids = ["10#1", "2", "10#0", "x", "1"].map(str::to_owned).to_vec();
        assert_eq!(sorted(ids), ["1", "2", "10#0", "10#1", "x"]);
    }
}
