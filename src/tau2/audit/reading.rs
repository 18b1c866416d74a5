//! One reading of a run: its simulations with their tasks, and the classes that follow.

use std::collections::BTreeMap;

use super::{AskSubset, ClassCounts, EarlyEnds, LISTED, PaperCounts, StrictCounts};
use crate::gar::Joint;
use crate::tau2::ask_labels::{AskLabel, published_ask_labels};
use crate::tau2::evidence::{Row, RunFacts, RunReading};
use crate::tau2::tasks::sorted;
use crate::tau2::{Domain, Task};

/// A fraction to six digits.
pub(super) fn fraction(k: u64, n: u64) -> Option<f64> {
    (n > 0).then(|| six(k as f64 / n as f64))
}

fn six(value: f64) -> f64 {
    format!("{value:.6}").parse().unwrap_or(value)
}

/// Names simulations: task, trial where there are several, own id where the task is not stated.
pub(super) struct Names {
    pub trials: bool,
}

impl Names {
    pub fn of(&self, row: &Row<'_>, reading: RunReading) -> String {
        let by_content = row.task.map(|task| task.id.clone()).filter(|_| reading == RunReading::Content);
        let Some(task) = by_content.or_else(|| row.facts.task.clone()) else {
            return row.facts.id.clone().unwrap_or_else(|| format!("simulation {}", row.facts.ordinal));
        };
        match row.facts.trial {
            Some(trial) if self.trials => format!("{task}#{trial}"),
            _ => task,
        }
    }
}

/// One reading of a run.
pub(super) struct Reading<'r> {
    pub rows: Vec<(Row<'r>, String)>,
}

type Holds = fn(Row<'_>) -> bool;

fn is_tool_call(row: Row<'_>) -> bool {
    row.task.is_some_and(|task| !task.refuse())
}

fn is_refuse(row: Row<'_>) -> bool {
    row.task.is_some_and(Task::refuse)
}

fn is_ask(row: Row<'_>) -> bool {
    row.task.is_some_and(Task::ask)
}

fn asks(row: Row<'_>) -> bool {
    row.facts.emitted.ask
}

fn made(row: Row<'_>) -> bool {
    row.tool_call_hit()
}

fn made_and_not_early(row: Row<'_>) -> bool {
    row.strict_tool_call_hit()
}

fn unwritten(row: Row<'_>) -> bool {
    row.refuse_hit()
}

impl<'r> Reading<'r> {
    pub fn new(facts: &'r RunFacts, names: &Names, reading: RunReading) -> Self {
        let rows = facts.rows(reading);
        Self { rows: rows.into_iter().map(|row| (row, names.of(&row, reading))).collect() }
    }

    pub fn scored(&self) -> impl Iterator<Item = &(Row<'r>, String)> {
        self.rows.iter().filter(|(row, _)| row.facts.scored())
    }

    pub fn ids(&self, wanted: impl Fn(Row<'r>) -> bool) -> Vec<String> {
        sorted(self.scored().filter(|(row, _)| wanted(*row)).map(|(_, id)| id.clone()).collect())
    }

    fn class(&self, of_class: Holds, hit: Holds) -> ClassCounts {
        let mut joint = Joint::default();
        for (row, _) in self.scored().filter(|(row, _)| of_class(*row)) {
            let cell = match (hit(*row), row.facts.passes()) {
                (true, true) => &mut joint.gar1_pass,
                (true, false) => &mut joint.gar1_fail,
                (false, true) => &mut joint.gar0_pass,
                (false, false) => &mut joint.gar0_fail,
            };
            *cell += 1;
        }
        let (gar_hits, acc_hits) = (joint.gar1_pass + joint.gar1_fail, joint.gar1_pass + joint.gar0_pass);
        let denominator = gar_hits + joint.gar0_pass + joint.gar0_fail;
        let hits = self.ids(|row| of_class(row) && hit(row));
        let few = hits.len() <= LISTED;
        ClassCounts {
            denominator,
            gar_hits,
            acc_hits,
            gar: fraction(gar_hits, denominator),
            acc: fraction(acc_hits, denominator),
            // From the counts, not from the rounded fractions.
            delta: (denominator > 0).then(|| six((gar_hits as f64 - acc_hits as f64) / denominator as f64)),
            joint: Some(joint),
            early_terminated: None,
            miss_ids: (!few).then(|| self.ids(|row| of_class(row) && !hit(row))),
            hit_ids: few.then_some(hits),
        }
    }

    pub fn paper(&self) -> PaperCounts {
        PaperCounts {
            tool_call: self.class(is_tool_call, made),
            ask: self.class(is_ask, asks),
            refuse: self.class(is_refuse, unwritten),
        }
    }

    pub fn strict(&self) -> StrictCounts {
        let early = |row: Row<'_>| row.facts.early;
        let count = |wanted: &dyn Fn(Row<'r>) -> bool| self.ids(|row| early(row) && wanted(row)).len() as u64;
        let ids = self.ids(early);
        let mut tool_call = self.class(is_tool_call, made_and_not_early);
        tool_call.joint = None;
        tool_call.early_terminated = Some(count(&is_tool_call));
        StrictCounts {
            early_terminated: EarlyEnds {
                scored: ids.len() as u64,
                ids,
                tool_call: count(&is_tool_call),
                ask: count(&is_ask),
                refuse: count(&is_refuse),
                gar_hits_among_them: BTreeMap::from([
                    ("tool_call", count(&|row| is_tool_call(row) && row.tool_call_hit())),
                    ("ask", count(&|row| is_ask(row) && asks(row))),
                    ("refuse", count(&|row| is_refuse(row) && row.refuse_hit())),
                ]),
            },
            tool_call,
            tool_call_without_checks_not_early: self
                .ids(|row| is_tool_call(row) && row.facts.checks.is_none() && !row.facts.early),
        }
    }

    pub fn strict_ask(&self) -> ClassCounts {
        self.class(is_ask, |row| row.facts.emitted.strict_ask)
    }

    pub fn ask_subsets(&self, domain: Domain) -> BTreeMap<&'static str, AskSubset> {
        let published: BTreeMap<&str, _> = published_ask_labels(domain).map(|label| (label.task, label)).collect();
        BTreeMap::from([
            ("all", self.ask_subset(Task::ask)),
            ("paper", self.ask_subset(|task| published.get(task.id.as_str()).is_some_and(|label| label.in_paper))),
            (
                "valid",
                self.ask_subset(|task| {
                    published.get(task.id.as_str()).is_some_and(|label| label.label == AskLabel::Valid)
                }),
            ),
        ])
    }

    /// The counts over some tasks. The last scored simulation of a task stands for it, as in the reference release.
    pub fn ask_subset(&self, wanted: impl Fn(&Task) -> bool) -> AskSubset {
        let mut last: BTreeMap<&str, Row<'_>> = BTreeMap::new();
        for (row, task) in self.scored().filter_map(|(row, _)| Some((row, row.task?))) {
            if wanted(task) {
                last.insert(&task.id, *row);
            }
        }
        let mut counts = AskSubset::default();
        for row in last.values() {
            counts.n += 1;
            counts.gar_hits += u64::from(row.facts.emitted.ask);
            counts.acc_hits += u64::from(row.facts.passes());
        }
        counts
    }
}
