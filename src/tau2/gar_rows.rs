//! The rows of a τ² run in the GAR table. Field names are a contract with scripts: extend, never rename.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Domain;
use super::audit::{AskSubset, ClassCounts, RunAudit};
use super::evidence::{Row, RunFacts, RunReading};
use super::masking::Masking;
use crate::action::RuleSet;
use crate::estimate::clustered::{self, Cluster, Clustered};
use crate::gar::{Diagnosis, Joint};
use crate::model::ActionClass;

/// One class of a τ² run under one rule set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tau2GarRow {
    /// The run.
    pub run: String,
    /// The model.
    pub model: String,
    /// The condition.
    pub condition: String,
    /// The domain.
    pub domain: Domain,
    /// The rule set.
    pub rules: RuleSet,
    /// The class: `tool_call`, `ask` or `refuse`.
    pub class: ActionClass,
    /// Scored simulations of the class.
    pub denominator: u64,
    /// Those with the gold action.
    pub gar_hits: u64,
    /// Those that pass.
    pub acc_hits: u64,
    /// In percent; null where the denominator is 0.
    pub gar_pct: Option<f64>,
    /// Its interval, clustered by task.
    pub gar_ci95: Option<[f64; 2]>,
    /// In percent.
    pub acc_pct: Option<f64>,
    /// Its interval, clustered by task.
    pub acc_ci95: Option<[f64; 2]>,
    /// GAR − Acc in percentage points.
    pub delta_pp: Option<f64>,
    /// Its interval, clustered by task and paired within the simulation.
    pub delta_ci95: Option<[f64; 2]>,
    /// What the interval of Δ says.
    pub diagnosis: Option<Diagnosis>,
    /// Simulations by gold action and verdict.
    pub joint: Joint,
    /// Simulations of the run without a score; they are in no class.
    pub unscored: u64,
    /// For `ask`: the subsets of candidates (last simulation of each task), under the same rule set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subsets: Option<BTreeMap<&'static str, AskSubset>>,
    /// Passes that need no action, of the whole run.
    pub masking: Masking,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// The three rows of a run under a rule set.
#[must_use]
pub fn gar_rows(facts: &RunFacts, audit: &RunAudit, names: (&str, &str), rules: RuleSet) -> Vec<Tau2GarRow> {
    let strict = rules == RuleSet::Strict;
    let rows = facts.rows(RunReading::Usual);
    let classes: [(ActionClass, &ClassCounts, Of, Of); 3] = [
        (
            ActionClass::ToolCall,
            &audit.paper.tool_call,
            |row| row.task.is_some_and(|task| !task.refuse()),
            if strict { |row| row.strict_tool_call_hit() } else { |row| row.tool_call_hit() },
        ),
        (
            ActionClass::Ask,
            if strict { &audit.strict_ask } else { &audit.paper.ask },
            |row| row.task.is_some_and(super::Task::ask),
            if strict { |row| row.facts.emitted.strict_ask } else { |row| row.facts.emitted.ask },
        ),
        (
            ActionClass::Refuse,
            &audit.paper.refuse,
            |row| row.task.is_some_and(super::Task::refuse),
            |row| row.refuse_hit(),
        ),
    ];
    classes
        .into_iter()
        .map(|(class, counts, of_class, hit)| {
            let of_class: Vec<Row<'_>> =
                rows.iter().copied().filter(|row| row.facts.scored() && of_class(*row)).collect();
            let mut joint = counts.joint.unwrap_or_default();
            if strict && class == ActionClass::ToolCall {
                joint = recount(&of_class, hit);
            }
            let gar = clustered::share(&clusters(&of_class, |row| one(hit(row))), LEVEL);
            let acc = clustered::share(&clusters(&of_class, |row| one(row.facts.passes())), LEVEL);
            let delta = clustered::mean(&clusters(&of_class, |row| one(hit(row)) - one(row.facts.passes())), LEVEL);
            let delta_ci95 = limits(delta.as_ref());
            Tau2GarRow {
                run: facts.run.clone(),
                model: names.0.to_owned(),
                condition: names.1.to_owned(),
                domain: facts.domain,
                rules,
                class,
                denominator: of_class.len() as u64,
                gar_hits: joint.gar1_pass + joint.gar1_fail,
                acc_hits: joint.gar1_pass + joint.gar0_pass,
                gar_pct: percent(gar.as_ref()),
                gar_ci95: limits(gar.as_ref()),
                acc_pct: percent(acc.as_ref()),
                acc_ci95: limits(acc.as_ref()),
                delta_pp: percent(delta.as_ref()),
                delta_ci95,
                diagnosis: delta_ci95.map(Diagnosis::of_interval),
                joint,
                unscored: audit.unscored.count,
                subsets: (class == ActionClass::Ask && !strict).then(|| audit.ask_subsets.clone()),
                masking: audit.masking.clone(),
                notes: audit.notes.clone(),
            }
        })
        .collect()
}

type Of = fn(Row<'_>) -> bool;

/// Level of the intervals.
const LEVEL: f64 = 0.95;

fn one(truth: bool) -> f64 {
    f64::from(u8::from(truth))
}

fn recount(rows: &[Row<'_>], hit: Of) -> Joint {
    let mut joint = Joint::default();
    for row in rows {
        match (hit(*row), row.facts.passes()) {
            (true, true) => joint.gar1_pass += 1,
            (true, false) => joint.gar1_fail += 1,
            (false, true) => joint.gar0_pass += 1,
            (false, false) => joint.gar0_fail += 1,
        }
    }
    joint
}

fn clusters(rows: &[Row<'_>], value: impl Fn(Row<'_>) -> f64) -> Vec<Cluster> {
    let mut by_task: BTreeMap<&str, Cluster> = BTreeMap::new();
    for row in rows {
        let cluster = by_task.entry(row.task.map_or("", |task| &task.id)).or_default();
        cluster.0 += value(*row);
        cluster.1 += 1;
    }
    by_task.into_values().collect()
}

fn percent(found: Option<&Clustered>) -> Option<f64> {
    found.map(|found| found.estimate * 100.0)
}

fn limits(found: Option<&Clustered>) -> Option<[f64; 2]> {
    found.and_then(|found| found.interval).map(|interval| interval.limits().map(|limit| limit * 100.0))
}
