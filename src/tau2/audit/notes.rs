//! What a reader of the audit must know.

use crate::tau2::content::TaskIdCheck;
use crate::tau2::evidence::RunFacts;
use crate::tau2::tasks::id_order;

pub(super) fn notes(facts: &RunFacts) -> Vec<String> {
    let mut notes = Vec::new();
    if facts.simulations.is_empty() {
        notes.push("the run has no simulations: every rate is undefined".to_owned());
    }
    if facts.tasks_embedded == 0 && !facts.tasks.is_empty() {
        notes.push(format!("the run holds no tasks: classes are those of {}", facts.tasks_from));
    }
    if facts.tasks.is_empty() {
        notes.push("no tasks are known: no simulation has a class".to_owned());
    }
    let known: std::collections::BTreeSet<&str> = facts.tasks.iter().map(|task| task.id.as_str()).collect();
    let mut strangers: Vec<&str> =
        facts.simulations.iter().filter_map(|row| row.task.as_deref()).filter(|id| !known.contains(id)).collect();
    strangers.sort_by(|a, b| id_order(a).cmp(&id_order(b)));
    strangers.dedup();
    if !strangers.is_empty() && !facts.tasks.is_empty() {
        notes.push(format!("{} stated tasks are not among the tasks known: {}", strangers.len(), strangers.join(", ")));
    }
    let contradicted = facts.task_id_checks().iter().filter(|check| **check == TaskIdCheck::Contradicted).count();
    if contradicted > 0 {
        notes.push(format!(
            "{contradicted} simulations name a task that their own checks contradict; they are counted as stated, and by \
             content beside it"
        ));
    }
    if facts.several_trials() {
        notes.push(
            "several simulations of one task: every scored one is a row, ids are task#trial, and in the ASK subsets the \
             last of the file stands for its task"
                .to_owned(),
        );
    }
    if facts.simulations.iter().any(|row| row.early && row.scored()) {
        notes.push(
            "early ends stay in the denominators; under `paper` they are tool_call hits, because nothing was checked"
                .to_owned(),
        );
    }
    let text_forms = facts.simulations.iter().filter(|row| row.text_form_messages > 0).count();
    if text_forms > 0 {
        notes.push(format!("{text_forms} simulations hold calls in text form, which the benchmark never executes"));
    }
    notes
}
