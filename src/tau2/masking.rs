//! What an agent that does nothing would get: where the reference path writes nothing, the untouched database is right.

use serde::Serialize;

use super::evidence::{RunFacts, RunReading};
use super::tasks::{Task, sorted};

/// Passes that need no action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Masking {
    /// Tasks known.
    pub tasks: u64,
    /// Tasks of class TOOL_CALL.
    pub tool_call_tasks: u64,
    /// Those of them whose reference path writes nothing: an agent that does nothing leaves the right database.
    pub tool_call_without_write: Vec<String>,
    /// All tasks whose reference path writes nothing.
    pub without_write: Vec<String>,
    /// Passes among the scored simulations with a known task.
    pub passes: u64,
    /// Those of them on tasks without a reference write.
    pub passes_without_reference_write: u64,
    /// The same on tasks of class TOOL_CALL.
    pub tool_call_passes_without_reference_write: u64,
    /// Passes in which the agent itself wrote nothing.
    pub passes_without_any_write: u64,
}

/// Counts them, with tasks as stated (recovered where none is stated).
#[must_use]
pub fn masking(facts: &RunFacts) -> Masking {
    let ids = |wanted: &dyn Fn(&Task) -> bool| -> Vec<String> {
        let found = facts.tasks.iter().filter(|task| !task.has_write(facts.domain) && wanted(task));
        sorted(found.map(|task| task.id.clone()).collect())
    };
    let mut masking = Masking {
        tasks: facts.tasks.len() as u64,
        tool_call_tasks: facts.tasks.iter().filter(|task| !task.refuse()).count() as u64,
        tool_call_without_write: ids(&|task| !task.refuse()),
        without_write: ids(&|_| true),
        passes: 0,
        passes_without_reference_write: 0,
        tool_call_passes_without_reference_write: 0,
        passes_without_any_write: 0,
    };
    for row in facts.rows(RunReading::Usual) {
        let Some(task) = row.task.filter(|_| row.facts.scored() && row.facts.passes()) else { continue };
        let unwritten = !task.has_write(facts.domain);
        masking.passes += 1;
        masking.passes_without_reference_write += u64::from(unwritten);
        masking.tool_call_passes_without_reference_write += u64::from(unwritten && !task.refuse());
        masking.passes_without_any_write += u64::from(row.refuse_hit());
    }
    masking
}
