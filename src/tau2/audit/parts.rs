//! Parts of the audit beside the classes: capability, writes, other readings, recovered tasks.

use std::collections::BTreeMap;

use super::reading::{Names, Reading};
use super::{OtherReading, Recovered, WriteEvents};
use crate::tau2::content::{ContentMatch, TaskIdCheck};
use crate::tau2::evidence::{RunFacts, RunReading};

pub(super) fn capability(reading: &Reading<'_>) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::from([("tool_call", 0), ("ask", 0), ("refuse", 0), ("confirm", 0), ("total", 0)]);
    for (row, _) in reading.scored() {
        let emitted = row.facts.emitted;
        let shown = [
            ("tool_call", emitted.tool_call),
            ("ask", emitted.ask),
            ("refuse", emitted.refuse),
            ("confirm", emitted.confirm),
            ("total", true),
        ];
        for (label, shown) in shown {
            *counts.entry(label).or_insert(0) += u64::from(shown);
        }
    }
    counts
}

pub(super) fn write_events(reading: &Reading<'_>) -> WriteEvents {
    let mut events =
        WriteEvents { passed: BTreeMap::from([("true", 0), ("false", 0), ("null", 0)]), ..WriteEvents::default() };
    for (row, _) in &reading.rows {
        let mut any = false;
        for write in row.writes() {
            any = true;
            events.total += 1;
            *events.by_tool.entry(write.tool.clone()).or_insert(0) += 1;
            if write.failed() {
                events.failed += 1;
                *events.failed_by_tool.entry(write.tool.clone()).or_insert(0) += 1;
            }
            events.failed_error_true += u64::from(write.error_true);
            events.failed_content_starts_error += u64::from(write.error_text);
            events.without_result += u64::from(!write.has_result);
            let passed = match row.facts.passes_loosely() {
                Some(true) => "true",
                Some(false) => "false",
                None => "null",
            };
            *events.passed.entry(passed).or_insert(0) += 1;
        }
        events.sims_with_write += u64::from(any);
    }
    events
}

pub(super) fn by_content(facts: &RunFacts, names: &Names, checks: &BTreeMap<TaskIdCheck, u64>) -> Option<OtherReading> {
    if !checks.contains_key(&TaskIdCheck::Contradicted) {
        return None;
    }
    let reading = Reading::new(facts, names, RunReading::Content);
    let mut stated_to_content = BTreeMap::new();
    for (row, content) in facts.rows(RunReading::Usual).iter().zip(facts.content()) {
        if let (Some(_), ContentMatch::One(task)) = (&row.facts.task, content) {
            stated_to_content.insert(names.of(row, RunReading::Usual), task);
        }
    }
    Some(OtherReading {
        what: "the same rules with the task id that the content proves; ids in the lists are those content task ids"
            .to_owned(),
        stated_to_content,
        simulations: None,
        scored: None,
        paper: Some(reading.paper()),
        strict: Some(reading.strict()),
        ask_subsets: Some(reading.ask_subsets(facts.domain)),
    })
}

pub(super) fn literal(facts: &RunFacts, names: &Names) -> Option<OtherReading> {
    let other = |what: &str| OtherReading {
        what: what.to_owned(),
        stated_to_content: BTreeMap::new(),
        simulations: Some(0),
        scored: Some(0),
        paper: None,
        strict: None,
        ask_subsets: None,
    };
    if facts.layout == "directory" {
        return Some(other("the reference reads results.json only, which has no simulations"));
    }
    if facts.simulations.iter().all(|simulation| simulation.task.is_some()) {
        return None;
    }
    let reading = Reading::new(facts, names, RunReading::Literal);
    Some(OtherReading {
        simulations: Some(facts.simulations.len() as u64),
        scored: Some(reading.scored().count() as u64),
        paper: Some(reading.paper()),
        strict: Some(reading.strict()),
        ask_subsets: Some(reading.ask_subsets(facts.domain)),
        ..other("a simulation without task_id belongs to no class")
    })
}

pub(super) fn recovered(facts: &RunFacts) -> Option<Recovered> {
    let mut found = Recovered {
        what: "the one task with equal action checks and communicate infos".to_owned(),
        without_task_id: 0,
        matched: 0,
        ambiguous: 0,
        unmatched: 0,
        nothing_to_compare: 0,
        tasks: BTreeMap::new(),
    };
    for (simulation, content) in facts.simulations.iter().zip(facts.content()) {
        if simulation.task.is_some() {
            continue;
        }
        found.without_task_id += 1;
        match content {
            ContentMatch::One(task) => {
                found.matched += 1;
                let id = simulation.id.clone().unwrap_or_else(|| format!("simulation {}", simulation.ordinal));
                found.tasks.insert(id, task);
            }
            ContentMatch::Several(_) => found.ambiguous += 1,
            ContentMatch::None => found.unmatched += 1,
            ContentMatch::Nothing => found.nothing_to_compare += 1,
        }
    }
    (found.without_task_id > 0).then_some(found)
}
