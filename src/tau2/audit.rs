//! The audit of a run: classes under `paper` and `strict`, capability, write events, ASK subsets, and what the task ids
//! are worth. Field names are a contract with scripts: extend, never rename.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Domain;
use super::content::TaskIdCheck;
use super::evidence::{RunFacts, RunReading};
use super::masking::{Masking, masking};
use super::tasks::sorted;
use crate::gar::Joint;
use notes::notes;
use parts::{by_content, capability, literal, recovered, write_events};
use reading::{Names, Reading, fraction};

/// Above so many hits the misses are listed in place of the hits.
const LISTED: usize = 60;

mod notes;
mod parts;
mod reading;

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
    /// Stated task (with its trial, where tasks have several simulations) to the task that the content proves.
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
    #[serde(rename = "recovered")]
    pub matched: u64,
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

/// The ASK counts of a run over tasks that someone chose, such as those that two raters and an adjudicator call valid.
#[must_use]
pub fn ask_subset(facts: &RunFacts, tasks: &std::collections::BTreeSet<String>) -> AskSubset {
    let names = Names { trials: facts.several_trials() };
    Reading::new(facts, &names, RunReading::Usual).ask_subset(|task| tasks.contains(&task.id))
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
