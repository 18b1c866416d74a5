//! Reads a task file of the benchmark: a list of tasks, or a results file with embedded ones.

use std::path::Path;

use serde_json::Value;

use super::stream::read_value;
use crate::error::{Error, Place, Result};
use crate::ingest::file_digest;
use crate::tau2::{Domain, Task, read_task};

/// A task file.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFile {
    /// Path as given.
    pub path: String,
    /// SHA-256 of the bytes.
    pub sha256: String,
    /// The tasks.
    pub tasks: Vec<Task>,
    /// The domain: what the scenarios say, else what the tools of the reference actions say.
    pub domain: Option<Domain>,
    /// `v0` (the first release: tasks do not name the parts of the reward) or `v1`.
    pub version: &'static str,
}

/// Reads a task file.
///
/// # Errors
/// No such file, no JSON, no list of tasks, a task of another shape, the same id twice.
pub fn read_task_file(path: &Path) -> Result<TaskFile> {
    let (sha256, _) = file_digest(path)?;
    let value = read_value(path)?;
    let list = match &value {
        Value::Array(list) => list,
        Value::Object(object) if object.get("tasks").is_some_and(Value::is_array) => {
            object.get("tasks").and_then(Value::as_array).ok_or_else(|| Error::internal("a list was seen"))?
        }
        _ => {
            return Err(Error::data("not a task file: neither a list nor an object with a list `tasks`")
                .at(Place::file(path))
                .hint("the benchmark's task files are data/tau2/domains/<domain>/tasks.json"));
        }
    };
    let mut tasks = Vec::with_capacity(list.len());
    let mut ids = std::collections::BTreeSet::new();
    for (index, task) in list.iter().enumerate() {
        let task = read_task(task, &format!("tasks[{index}]"))
            .map_err(|error| Error::data(error.to_string()).at(Place::file(path)))?;
        if !ids.insert(task.id.clone()) {
            return Err(Error::data(format!("tasks[{index}] has the id {:?}, which an earlier task has", task.id))
                .at(Place::file(path)));
        }
        tasks.push(task);
    }
    let named = tasks.iter().filter_map(|task| task.domain.as_deref()).find_map(Domain::parse);
    let mut tools = tasks.iter().flat_map(|task| &task.actions).map(|action| action.name.as_str());
    let domain = named.or_else(|| tools.find_map(|tool| Domain::ALL.into_iter().find(|domain| domain.writes(tool))));
    let version = if tasks.iter().any(|task| task.reward_basis.is_some()) { "v1" } else { "v0" };
    Ok(TaskFile { path: path.display().to_string(), sha256, tasks, domain, version })
}
