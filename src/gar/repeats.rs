//! Repeated runs of one model: how much GAR and Acc vary when nothing but chance changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::cell::percent;
use super::facts::{CaseFacts, CellInput};
use crate::action::RuleSet;
use crate::model::{Category, Verdict};

/// Two or more runs of one model under one condition on one category, over the case ids that all of them have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepeatRow {
    /// The model.
    pub model: String,
    /// The condition.
    pub condition: String,
    /// The category.
    pub category: Category,
    /// The rules that classified the emissions.
    pub rules: RuleSet,
    /// The runs, in the order given.
    pub runs: Vec<String>,
    /// Case ids that all runs have.
    pub shared: u64,
    /// Of those, the ones that all runs have a verdict for.
    pub shared_scored: u64,
    /// GAR of each run on the shared cases, in percent.
    pub gar_pct: Vec<f64>,
    /// Mean of `gar_pct`; null without shared cases.
    pub gar_mean: Option<f64>,
    /// Sample standard deviation (n − 1) of `gar_pct`, in percentage points.
    pub gar_sd: Option<f64>,
    /// Acc of each run on the shared scored cases, in percent.
    pub acc_pct: Vec<f64>,
    /// Mean of `acc_pct`; null without shared scored cases.
    pub acc_mean: Option<f64>,
    /// Sample standard deviation (n − 1) of `acc_pct`, in percentage points.
    pub acc_sd: Option<f64>,
}

/// Groups cells by model, condition and category and compares those with two or more runs. Cells that hold failures only
/// are left out. Rows are in order of model, condition, category.
#[must_use]
pub fn repeats(cells: &[CellInput], rules: RuleSet) -> Vec<RepeatRow> {
    let mut groups: BTreeMap<(&str, &str, Category), Vec<&CellInput>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| !cell.failures_only) {
        groups.entry((&cell.model, &cell.condition, cell.category)).or_default().push(cell);
    }
    groups.into_values().filter(|group| group.len() > 1).filter_map(|group| row(&group, rules)).collect()
}

fn row(group: &[&CellInput], rules: RuleSet) -> Option<RepeatRow> {
    let first = *group.first()?;
    let gold = first.category.gold_action();
    let shared = shared_ids(group, |_| true);
    let scored = shared_ids(group, |case| case.verdict.is_some());
    let rates = |ids: &BTreeSet<&str>, hit: &dyn Fn(&CaseFacts) -> bool| -> Vec<f64> {
        let hits = |cell: &CellInput| {
            cell.cases.iter().filter(|case| ids.contains(case.id.as_str()) && hit(case)).count() as u64
        };
        group.iter().filter_map(|cell| percent(hits(cell), ids.len() as u64)).collect()
    };
    let gar_pct = rates(&shared, &|case| case.emits(gold));
    let acc_pct = rates(&scored, &|case| case.verdict == Some(Verdict::Pass));
    Some(RepeatRow {
        model: first.model.clone(),
        condition: first.condition.clone(),
        category: first.category,
        rules,
        runs: group.iter().map(|cell| cell.run.clone()).collect(),
        shared: shared.len() as u64,
        shared_scored: scored.len() as u64,
        gar_mean: mean(&gar_pct),
        gar_sd: deviation(&gar_pct),
        gar_pct,
        acc_mean: mean(&acc_pct),
        acc_sd: deviation(&acc_pct),
        acc_pct,
    })
}

/// Ids that every cell has with a case that `keep` accepts.
fn shared_ids<'c>(group: &[&'c CellInput], keep: impl Fn(&CaseFacts) -> bool) -> BTreeSet<&'c str> {
    let ids = |cell: &'c CellInput| -> BTreeSet<&'c str> {
        cell.cases.iter().filter(|case| keep(case)).map(|case| case.id.as_str()).collect()
    };
    let mut cells = group.iter();
    let first = cells.next().map(|cell| ids(cell)).unwrap_or_default();
    cells.fold(first, |shared, cell| shared.intersection(&ids(cell)).copied().collect())
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    Some((values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ActionClass;

    fn cell(run: &str, cases: &[(&str, bool, Option<bool>)]) -> CellInput {
        CellInput {
            run: run.to_owned(),
            model: "m".to_owned(),
            condition: "baseline".to_owned(),
            category: Category::MissFunc,
            cases: cases
                .iter()
                .map(|(id, hit, pass)| CaseFacts {
                    id: (*id).to_owned(),
                    verdict: pass.map(|pass| if pass { Verdict::Pass } else { Verdict::Fail }),
                    error_record: false,
                    classes: vec![Some(if *hit { ActionClass::Refuse } else { ActionClass::Other })],
                    emission_text_seen: true,
                })
                .collect(),
            failures_only: false,
            header: None,
            run_has_text: true,
        }
    }

    #[test]
    fn only_shared_cases_count() {
        let cells = [
            cell("one", &[("a", true, Some(true)), ("b", false, Some(false)), ("x", true, Some(true))]),
            cell("two", &[("b", true, Some(false)), ("a", true, None)]),
        ];
        let rows = repeats(&cells, RuleSet::Paper);
        // By hand: shared a, b; GAR 1/2 and 2/2; only b is scored in both, failed in both.
        assert_eq!(rows.len(), 1);
        let row = &rows[0];
        assert_eq!((row.shared, row.shared_scored), (2, 1));
        assert_eq!(row.gar_pct, [50.0, 100.0]);
        assert_eq!(row.gar_mean, Some(75.0));
        assert!(
            row.gar_sd.is_some_and(|sd| (sd - 35.355_339_059_327_38).abs() < 1e-9),
            "half the range times root two"
        );
        assert_eq!((row.acc_mean, row.acc_sd), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn one_run_is_no_repeat_and_disjoint_runs_have_no_rates() {
        let one = cell("one", &[("a", true, None)]);
        assert!(repeats(std::slice::from_ref(&one), RuleSet::Paper).is_empty());
        let mut failures = cell("two", &[("a", true, Some(false))]);
        failures.failures_only = true;
        assert!(repeats(&[one.clone(), failures], RuleSet::Paper).is_empty());
        let rows = repeats(&[one, cell("three", &[("b", true, None)])], RuleSet::Paper);
        assert_eq!(
            rows.iter().map(|row| (row.shared, row.gar_mean, row.gar_sd)).collect::<Vec<_>>(),
            [(0, None, None)]
        );
    }
}
