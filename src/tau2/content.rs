//! Which task a simulation is of, by what its own checks say: the reference actions that were checked and the infos that
//! were to be communicated.

use serde::Serialize;

use super::simulation::SimulationFacts;
use super::tasks::{Action, Task};

/// The task of a simulation by its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentMatch {
    /// One task has the same reference.
    One(String),
    /// Several have.
    Several(Vec<String>),
    /// None has.
    None,
    /// The simulation has no checks to compare (it ended early, or has no reward).
    Nothing,
}

/// How the stated task fits the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskIdCheck {
    /// The stated task has the reference that was checked.
    Agree,
    /// It has another.
    Contradicted,
    /// There is nothing to compare.
    NothingToCompare,
}

/// Is there something to compare? A task without reference actions is checked with a null list at the natural end.
fn comparable(facts: &SimulationFacts) -> bool {
    facts.has_reward_info && !facts.early && (facts.checks.is_some() || facts.reward.is_some())
}

impl SimulationFacts {
    fn checked(&self) -> Vec<&Action> {
        self.checks.iter().flatten().filter_map(|check| check.action.as_ref()).collect()
    }

    /// Was this task's reference checked in the simulation?
    fn fits(&self, task: &Task) -> bool {
        let checked = self.checked();
        checked.len() == task.actions.len()
            && checked.iter().zip(&task.actions).all(|(a, b)| a.same_call(b))
            // At a natural end a null list means that the task has nothing to communicate.
            && self.infos.as_deref().unwrap_or_default() == task.communicate
    }
}

/// The task by content. Where several tasks have the same reference, the ids of the actions decide if they can.
pub(super) fn by_content(facts: &SimulationFacts, tasks: &[Task]) -> ContentMatch {
    if !comparable(facts) {
        return ContentMatch::Nothing;
    }
    let mut fitting: Vec<&Task> = tasks.iter().filter(|task| facts.fits(task)).collect();
    if fitting.len() > 1 {
        let checked = facts.checked();
        let same_ids = |task: &&&Task| {
            !checked.is_empty() && checked.iter().zip(&task.actions).all(|(a, b)| a.id.is_some() && a.id == b.id)
        };
        let narrowed: Vec<&Task> = fitting.iter().filter(same_ids).copied().collect();
        if !narrowed.is_empty() {
            fitting = narrowed;
        }
    }
    match fitting.as_slice() {
        [] => ContentMatch::None,
        [task] => ContentMatch::One(task.id.clone()),
        several => ContentMatch::Several(several.iter().map(|task| task.id.clone()).collect()),
    }
}

/// How a stated task fits.
pub(super) fn check(facts: &SimulationFacts, stated: Option<&Task>) -> TaskIdCheck {
    match stated {
        Some(task) if comparable(facts) => {
            if facts.fits(task) {
                TaskIdCheck::Agree
            } else {
                TaskIdCheck::Contradicted
            }
        }
        _ => TaskIdCheck::NothingToCompare,
    }
}
