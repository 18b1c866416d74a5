//! The audit of a run: classes under `paper` and `strict`, capability, write events, ASK subsets, and what the task ids
//! are worth. Field names are a contract with scripts: extend, never rename.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ask_labels::{AskLabel, published_ask_labels};
use super::content::{ContentMatch, TaskIdCheck};
use super::evidence::{Row, RunFacts, RunReading};
use super::masking::{Masking, masking};
use super::tasks::{id_order, sorted};
use super::Domain;
use crate::gar::Joint;

/// Above so many hits the misses are listed in place of the hits.
const LISTED: usize = 60;

/// One class of a run: who should, who did, who passed.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ClassCounts {
    /// Scored simulations of the class.
    pub denominator: u64,
    /// Those with the gold action.
    pub gar_hits: u64,
    /// Those that pass.
    pub acc_hits: u64,
    /// `gar_hits` as a fraction, to six digits; null where the denominator is 0.
    pub gar: Option<f64>,
    /// `acc_hits` as a fraction.
    pub acc: Option<f64>,
    /// `gar - acc`.
    pub delta: Option<f64>,
    /// Simulations by gold action and verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<Joint>,
    /// Early ends in the denominator (strict only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_terminated: Option<u64>,
    /// The hits, where they are few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_ids: Option<Vec<String>>,
    /// Else the misses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub miss_ids: Option<Vec<String>>,
}

/// The three classes under `paper`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PaperCounts {
    /// Tasks with reference actions: none was missed.
    pub tool_call: ClassCounts,
    /// ASK candidates: some message asks.
    pub ask: ClassCounts,
    /// Tasks without reference actions: nothing was written.
    pub refuse: ClassCounts,
}

/// Early ends among scored simulations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EarlyEnds {
    /// How many.
    pub scored: u64,
    /// Which.
    pub ids: Vec<String>,
    /// Of class TOOL_CALL.
    pub tool_call: u64,
    /// ASK candidates.
    pub ask: u64,
    /// Of class REFUSE.
    pub refuse: u64,
    /// How many of them are hits under `paper`.
    pub gar_hits_among_them: BTreeMap<&'static str, u64>,
}

/// What `strict` changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StrictCounts {
    /// An early end is no hit.
    pub tool_call: ClassCounts,
    /// The early ends.
    pub early_terminated: EarlyEnds,
    /// Simulations of class TOOL_CALL without checks that did not end early: the stated task cannot be theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_call_without_checks_not_early: Vec<String>,
}

/// Calls to tools that write.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct WriteEvents {
    /// All of them, in all simulations.
    pub total: u64,
    /// By tool.
    pub by_tool: BTreeMap<String, u64>,
    /// Those that failed.
    pub failed: u64,
    /// By tool.
    pub failed_by_tool: BTreeMap<String, u64>,
    /// The result says `error: true`.
    pub failed_error_true: u64,
    /// The result's text begins with `Error`.
    #[serde(rename = "failed_content_starts_Error")]
    pub failed_content_starts_error: u64,
    /// No result stands at their place.
    pub without_result: u64,
    /// By the reward of their simulation (at least 0.5): `true`, `false`, `null`.
    pub passed: BTreeMap<&'static str, u64>,
    /// Simulations with a write.
    pub sims_with_write: u64,
}

/// One ASK subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct AskSubset {
    /// Tasks of the subset with a scored simulation; the last one stands for its task.
    pub n: u64,
    /// Some message asks.
    pub gar_hits: u64,
    /// It passes.
    pub acc_hits: u64,
}

/// A second reading of the same run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OtherReading {
    /// What it is.
    pub what: String,
    /// Stated task to the task that the content proves.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stated_to_content: BTreeMap<String, String>,
    /// Simulations that the reading sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulations: Option<u64>,
    /// Scored ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scored: Option<u64>,
    /// The classes; null where the reading sees no simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<PaperCounts>,
    /// Under `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<StrictCounts>,
    /// The ASK subsets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_subsets: Option<BTreeMap<&'static str, AskSubset>>,
}

/// What the content gave to simulations that name no task.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recovered {
    /// What it is.
    pub what: String,
    /// Simulations that name no task.
    pub without_task_id: u64,
    /// Those whose content fits one task.
    pub recovered: u64,
    /// Those whose content fits several.
    pub ambiguous: u64,
    /// Those whose content fits none.
    pub unmatched: u64,
    /// Those without anything to compare.
    pub nothing_to_compare: u64,
    /// Simulation to task.
    pub tasks: BTreeMap<String, String>,
}

/// The audit of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunAudit {
    /// The run.
    pub run: String,
    /// Its domain.
    pub domain: Domain,
    /// `file` or `directory`.
    pub layout: String,
    /// Where the tasks come from.
    pub tasks_from: String,
    /// Tasks in the run file.
    pub tasks_embedded: usize,
    /// Tasks that have simulations.
    pub tasks_with_simulations: u64,
    /// How many tasks have how many simulations.
    pub tasks_by_number_of_simulations: BTreeMap<String, u64>,
    /// All simulations.
    pub simulations: u64,
    /// Those with a score.
    pub scored: u64,
    /// Those without, with every reason.
    pub unscored: Unscored,
    /// By reason of ending.
    pub termination: BTreeMap<String, u64>,
    /// Passes among the scored.
    pub pass_hits: u64,
    /// As a fraction.
    pub pass_at_1: Option<f64>,
    /// The passes, where they are few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_ids: Option<Vec<String>>,
    /// Else the fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_ids: Option<Vec<String>>,
    /// The classes as published.
    pub paper: PaperCounts,
    /// Scored simulations that show each label at least once.
    pub capability: BTreeMap<&'static str, u64>,
    /// Messages of the agent by label, in all simulations.
    pub message_labels: BTreeMap<&'static str, u64>,
    /// Database writes.
    pub write_events: WriteEvents,
    /// The classes as we would publish them.
    pub strict: StrictCounts,
    /// ASK under the ask rule of `strict` (that of BFCL).
    pub strict_ask: ClassCounts,
    /// Calls in text form, which the benchmark never executes.
    pub text_form_calls: TextFormCalls,
    /// The three ASK subsets.
    pub ask_subsets: BTreeMap<&'static str, AskSubset>,
    /// How the stated tasks fit the content.
    pub task_id_check: BTreeMap<TaskIdCheck, u64>,
    /// The classes by content, where a stated task is contradicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_content: Option<OtherReading>,
    /// The literal reading of the reference release, where it differs from ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literal: Option<OtherReading>,
    /// What was recovered of missing task ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id_from_content: Option<Recovered>,
    /// What an agent that does nothing would get.
    pub masking: Masking,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Calls in text form only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TextFormCalls {
    /// Messages.
    pub messages: u64,
    /// Simulations.
    pub simulations: u64,
}

/// Simulations without a score.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Unscored {
    /// How many.
    pub count: u64,
    /// Every reason that applies; they may add to more than `count`.
    pub reasons: BTreeMap<String, u64>,
    /// Which.
    pub ids: Vec<String>,
}

/// A fraction to six digits.
fn fraction(k: u64, n: u64) -> Option<f64> {
    (n > 0).then(|| six(k as f64 / n as f64))
}

fn six(value: f64) -> f64 {
    format!("{value:.6}").parse().unwrap_or(value)
}

/// Names simulations: task, trial where there are several, own id where the task is not stated.
struct Names {
    trials: bool,
}

impl Names {
    fn of(&self, row: &Row<'_>, reading: RunReading) -> String {
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
struct Reading<'r> {
    rows: Vec<(Row<'r>, String)>,
}

type Holds = fn(Row<'_>) -> bool;

fn is_tool_call(row: Row<'_>) -> bool {
    row.task.is_some_and(|task| !task.refuse())
}

fn is_refuse(row: Row<'_>) -> bool {
    row.task.is_some_and(super::Task::refuse)
}

fn is_ask(row: Row<'_>) -> bool {
    row.task.is_some_and(super::Task::ask)
}

fn asks(row: Row<'_>) -> bool {
    row.facts.emitted.ask
}

impl<'r> Reading<'r> {
    fn new(facts: &'r RunFacts, names: &Names, reading: RunReading) -> Self {
        let rows = facts.rows(reading);
        Self { rows: rows.into_iter().map(|row| (row, names.of(&row, reading))).collect() }
    }

    fn scored(&self) -> impl Iterator<Item = &(Row<'r>, String)> {
        self.rows.iter().filter(|(row, _)| row.facts.scored())
    }

    fn ids(&self, wanted: impl Fn(Row<'r>) -> bool) -> Vec<String> {
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

    fn paper(&self) -> PaperCounts {
        PaperCounts {
            tool_call: self.class(is_tool_call, |row| row.tool_call_hit()),
            ask: self.class(is_ask, asks),
            refuse: self.class(is_refuse, |row| row.refuse_hit()),
        }
    }

    fn strict(&self) -> StrictCounts {
        let early = |row: Row<'_>| row.facts.early;
        let count = |wanted: &dyn Fn(Row<'r>) -> bool| self.ids(|row| early(row) && wanted(row)).len() as u64;
        let ids = self.ids(early);
        let mut tool_call = self.class(is_tool_call, |row| row.strict_tool_call_hit());
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

    fn strict_ask(&self) -> ClassCounts {
        self.class(is_ask, |row| row.facts.emitted.strict_ask)
    }

    fn ask_subsets(&self, domain: Domain) -> BTreeMap<&'static str, AskSubset> {
        let published: BTreeMap<&str, _> = published_ask_labels(domain).map(|label| (label.task, label)).collect();
        // The last scored simulation of a task stands for it, as in the reference release.
        let mut last: BTreeMap<&str, Row<'_>> = BTreeMap::new();
        for (row, _) in self.scored() {
            if let Some(task) = row.task {
                last.insert(&task.id, *row);
            }
        }
        let subset = |wanted: &dyn Fn(Row<'_>, &str) -> bool| {
            let mut counts = AskSubset::default();
            for (id, row) in last.iter().filter(|(id, row)| wanted(**row, id)) {
                let _ = id;
                counts.n += 1;
                counts.gar_hits += u64::from(row.facts.emitted.ask);
                counts.acc_hits += u64::from(row.facts.passes());
            }
            counts
        };
        BTreeMap::from([
            ("all", subset(&|row, _| is_ask(row))),
            ("paper", subset(&|_, id| published.get(id).is_some_and(|label| label.in_paper))),
            ("valid", subset(&|_, id| published.get(id).is_some_and(|label| label.label == AskLabel::Valid))),
        ])
    }
}

/// The audit of a run.
#[must_use]
pub fn audit(facts: &RunFacts) -> RunAudit {
    let names = Names { trials: facts.several_trials() };
    let usual = Reading::new(facts, &names, RunReading::Usual);
    let scored = usual.scored().count() as u64;
    let passes = usual.ids(|row| row.facts.passes());
    let few = passes.len() <= LISTED;
    let mut unscored = Unscored::default();
    let mut unscored_ids = Vec::new();
    let mut termination = BTreeMap::new();
    for (row, id) in &usual.rows {
        let reason = row.facts.termination.clone().unwrap_or_else(|| "absent".to_owned());
        *termination.entry(reason).or_insert(0) += 1;
        if !row.facts.scored() {
            unscored.count += 1;
            unscored_ids.push(id.clone());
            for reason in &row.facts.unscored {
                *unscored.reasons.entry(reason.clone()).or_insert(0) += 1;
            }
        }
    }
    unscored.ids = sorted(unscored_ids);
    let mut per_task: BTreeMap<&str, u64> = BTreeMap::new();
    for (row, _) in &usual.rows {
        let named = row.task.map(|task| task.id.as_str()).or(row.facts.task.as_deref());
        if let Some(task) = named {
            *per_task.entry(task).or_insert(0) += 1;
        }
    }
    let mut by_number = BTreeMap::new();
    for count in per_task.values() {
        *by_number.entry(count.to_string()).or_insert(0) += 1;
    }
    let mut task_id_check = BTreeMap::new();
    for (check, row) in facts.task_id_checks().into_iter().zip(&facts.simulations) {
        if row.task.is_some() {
            *task_id_check.entry(check).or_insert(0) += 1;
        }
    }
    let labels = ["tool_call", "ask", "refuse", "confirm", "none"];
    let mut message_labels: BTreeMap<&'static str, u64> = labels.iter().map(|label| (*label, 0)).collect();
    message_labels.insert("assistant_messages", 0);
    let mut text_form_calls = TextFormCalls::default();
    for simulation in &facts.simulations {
        for (label, count) in labels.iter().zip(simulation.label_counts) {
            *message_labels.entry(label).or_insert(0) += count as u64;
        }
        *message_labels.entry("assistant_messages").or_insert(0) += simulation.agent_messages as u64;
        text_form_calls.messages += simulation.text_form_messages as u64;
        text_form_calls.simulations += u64::from(simulation.text_form_messages > 0);
    }
    RunAudit {
        run: facts.run.clone(),
        domain: facts.domain,
        layout: facts.layout.clone(),
        tasks_from: facts.tasks_from.clone(),
        tasks_embedded: facts.tasks_embedded,
        tasks_with_simulations: per_task.len() as u64,
        tasks_by_number_of_simulations: by_number,
        simulations: facts.simulations.len() as u64,
        scored,
        unscored,
        termination,
        pass_hits: passes.len() as u64,
        pass_at_1: fraction(passes.len() as u64, scored),
        fail_ids: (!few).then(|| usual.ids(|row| !row.facts.passes())),
        pass_ids: few.then_some(passes),
        paper: usual.paper(),
        capability: capability(&usual),
        message_labels,
        write_events: write_events(&usual),
        strict: usual.strict(),
        strict_ask: usual.strict_ask(),
        text_form_calls,
        ask_subsets: usual.ask_subsets(facts.domain),
        by_content: by_content(facts, &names, &task_id_check),
        literal: literal(facts, &names),
        task_id_from_content: recovered(facts),
        task_id_check,
        masking: masking(facts),
        notes: notes(facts),
    }
}

fn capability(reading: &Reading<'_>) -> BTreeMap<&'static str, u64> {
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

fn write_events(reading: &Reading<'_>) -> WriteEvents {
    let mut events = WriteEvents { passed: BTreeMap::from([("true", 0), ("false", 0), ("null", 0)]), ..WriteEvents::default() };
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

fn by_content(
    facts: &RunFacts,
    names: &Names,
    checks: &BTreeMap<TaskIdCheck, u64>,
) -> Option<OtherReading> {
    if !checks.contains_key(&TaskIdCheck::Contradicted) {
        return None;
    }
    let reading = Reading::new(facts, names, RunReading::Content);
    let mut stated_to_content = BTreeMap::new();
    for (simulation, content) in facts.simulations.iter().zip(facts.content()) {
        if let (Some(stated), ContentMatch::One(task)) = (&simulation.task, content) {
            stated_to_content.insert(stated.clone(), task);
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

fn literal(facts: &RunFacts, names: &Names) -> Option<OtherReading> {
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

fn recovered(facts: &RunFacts) -> Option<Recovered> {
    let mut found = Recovered {
        what: "the one task with equal action checks and communicate infos".to_owned(),
        without_task_id: 0,
        recovered: 0,
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
                found.recovered += 1;
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

fn notes(facts: &RunFacts) -> Vec<String> {
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
    let contradicted =
        facts.task_id_checks().iter().filter(|check| **check == TaskIdCheck::Contradicted).count();
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
