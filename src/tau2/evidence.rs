//! A run as the counts read it: its simulations under one reading of their tasks.

use std::collections::BTreeMap;

use super::content::{self, ContentMatch, TaskIdCheck};
use super::simulation::SimulationFacts;
use super::tasks::Task;
use super::{Domain, WriteCall};

/// What is known of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    /// The run's name.
    pub run: String,
    /// The domain.
    pub domain: Domain,
    /// `file` or `directory`.
    pub layout: String,
    /// `embedded`, or the task file that stood in.
    pub tasks_from: String,
    /// Tasks in the run file itself.
    pub tasks_embedded: usize,
    /// The tasks that classes come from.
    pub tasks: Vec<Task>,
    /// The simulations in the order of the file.
    pub simulations: Vec<SimulationFacts>,
}

/// How simulations are assigned to tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunReading {
    /// The stated task; where none is stated, the one task that the content proves.
    Usual,
    /// The stated task alone, as the reference release reads it.
    Literal,
    /// The task that the content proves; where it proves none, the stated one.
    Content,
}

/// A simulation with its task.
#[derive(Debug, Clone, Copy)]
pub struct Row<'r> {
    /// The simulation.
    pub facts: &'r SimulationFacts,
    /// Its task; `None`: not known.
    pub task: Option<&'r Task>,
    /// The domain.
    pub domain: Domain,
}

impl<'r> Row<'r> {
    /// The database writes.
    pub fn writes(self) -> impl Iterator<Item = &'r WriteCall> {
        self.facts.writes.iter().filter(move |write| self.domain.writes(&write.tool))
    }

    /// Were all reference actions made? An early end counts, as nothing failed (rule set `paper`).
    #[must_use]
    pub fn tool_call_hit(self) -> bool {
        self.facts.failed_actions() == 0
    }

    /// The same without early ends (rule set `strict`).
    #[must_use]
    pub fn strict_tool_call_hit(self) -> bool {
        self.tool_call_hit() && !self.facts.early
    }

    /// Did it write nothing? A failed write counts as one.
    #[must_use]
    pub fn refuse_hit(self) -> bool {
        self.writes().next().is_none()
    }
}

impl RunFacts {
    /// The simulations with their tasks under a reading.
    #[must_use]
    pub fn rows(&self, reading: RunReading) -> Vec<Row<'_>> {
        let tasks = self.by_id();
        let row = |facts| Row { facts, task: self.task_of(facts, &tasks, reading), domain: self.domain };
        self.simulations.iter().map(row).collect()
    }

    fn by_id(&self) -> BTreeMap<&str, &Task> {
        // The first of two tasks with one id is the task.
        self.tasks.iter().rev().map(|task| (task.id.as_str(), task)).collect()
    }

    fn task_of<'r>(
        &'r self,
        facts: &SimulationFacts,
        tasks: &BTreeMap<&str, &'r Task>,
        reading: RunReading,
    ) -> Option<&'r Task> {
        let stated = facts.task.as_deref().and_then(|id| tasks.get(id).copied());
        let content = || match content::by_content(facts, &self.tasks) {
            ContentMatch::One(id) => tasks.get(id.as_str()).copied(),
            _ => None,
        };
        match (reading, &facts.task) {
            (RunReading::Literal, _) | (RunReading::Usual, Some(_)) => stated,
            (RunReading::Usual, None) => content(),
            (RunReading::Content, _) => content().or(stated),
        }
    }

    /// The task of each simulation by content.
    #[must_use]
    pub fn content(&self) -> Vec<ContentMatch> {
        self.simulations.iter().map(|facts| content::by_content(facts, &self.tasks)).collect()
    }

    /// How each stated task fits.
    #[must_use]
    pub fn task_id_checks(&self) -> Vec<TaskIdCheck> {
        let tasks = self.by_id();
        let stated = |facts: &SimulationFacts| facts.task.as_deref().and_then(|id| tasks.get(id).copied());
        self.simulations.iter().map(|facts| content::check(facts, stated(facts))).collect()
    }

    /// Has any task several simulations? Then ids carry the trial.
    #[must_use]
    pub fn several_trials(&self) -> bool {
        let mut seen = std::collections::BTreeSet::new();
        self.simulations.iter().filter_map(|facts| facts.task.as_deref()).any(|task| !seen.insert(task))
    }
}
