//! What a user must know of a run before using its numbers.

use std::collections::BTreeMap;
use std::path::Path;

use super::task_file::TaskFile;
use crate::error::{Error, Place, Result};
use crate::tau2::{Domain, RunFacts, RunReading, Task, TaskIdCheck};

/// A task file is a fallback and never an override; where it differs from the run's own tasks, that is said.
pub(super) fn compare_tasks(
    file: Option<&TaskFile>,
    embedded: usize,
    domain: Domain,
    tasks: &[Task],
    warnings: &mut Vec<String>,
) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    if let Some(other) = file.domain.filter(|other| *other != domain) {
        return Err(Error::data(format!("the run is of domain {domain}, the task file of {other}"))
            .at(Place::file(Path::new(&file.path))));
    }
    if embedded == 0 {
        return Ok(());
    }
    let known: BTreeMap<&str, &Task> = file.tasks.iter().map(|task| (task.id.as_str(), task)).collect();
    let differs = |task: &&Task| known.get(task.id.as_str()).is_none_or(|other| !task.same_reference(other));
    let differing: Vec<&str> = tasks.iter().filter(differs).map(|task| task.id.as_str()).collect();
    let fits = if differing.is_empty() {
        format!("all {embedded} have the same reference in {}", file.path)
    } else {
        format!(
            "version mismatch: {} of {embedded} have another reference in {} ({})",
            differing.len(),
            file.path,
            differing.join(", ")
        )
    };
    warnings.push(format!("the run holds its own tasks, which are used; {fits}"));
    Ok(())
}

/// What a user must know before using the numbers.
pub(super) fn warn(facts: &RunFacts, models: &BTreeMap<String, u64>, model: &str, warnings: &mut Vec<String>) {
    if facts.tasks.is_empty() {
        warnings.push(
            "no tasks are known, so no simulation has a class; give the benchmark's file with --tasks".to_owned(),
        );
    }
    let checks = facts.task_id_checks();
    let contradicted = checks.iter().filter(|check| **check == TaskIdCheck::Contradicted).count();
    if contradicted > 0 {
        let cause = if facts.tasks_embedded == 0 {
            "the task file may be of another version than the run"
        } else {
            "the stated ids may be placeholders"
        };
        warnings.push(format!(
            "{contradicted} of {} simulations name a task whose reference is not what they were checked against ({cause}); they \
             are counted as stated, and by content beside it",
            checks.len()
        ));
    }
    let missing = facts.simulations.iter().filter(|facts| facts.task.is_none()).count();
    if missing > 0 {
        let found = facts.rows(RunReading::Usual);
        let recovered = found.iter().filter(|row| row.facts.task.is_none() && row.task.is_some()).count();
        warnings.push(format!(
            "{missing} simulations name no task; {recovered} were matched to the one task with equal action checks and infos"
        ));
    }
    let others: Vec<String> = models
        .iter()
        // `openai/gpt-4.1-mini` answers as `gpt-4.1-mini-2025-04-14`.
        .filter(|(name, _)| !name.starts_with(model.rsplit('/').next().unwrap_or(model)))
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    if !others.is_empty() {
        warnings.push(format!("the run states model {model}, its answers name others too: {}", others.join(", ")));
    }
}
