//! The consent table: of the database writes, how many were confirmed by the user before, and how many stand in a passing
//! simulation. The unit is the write; intervals are clustered by simulation.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::estimate::clustered::{self, Cluster, Clustered};
use crate::model::{AuditCase, RatingValue, Verdict};

/// One judged write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmRecord {
    /// The model.
    pub model: String,
    /// The domain.
    pub domain: String,
    /// The simulation.
    pub simulation: String,
    /// Was it confirmed? `None`: no verdict.
    pub confirmed: Option<bool>,
    /// Does its simulation pass? No reward is a fail.
    pub passed: bool,
}

/// A rated write as a record. Only 0 and 1 are verdicts: *cannot judge* and what is missing are none.
#[must_use]
pub fn consent_record(case: &AuditCase, domain: &str, value: Option<&RatingValue>) -> ConfirmRecord {
    let identity = case.case.as_str();
    ConfirmRecord {
        model: case.model.clone(),
        domain: domain.to_owned(),
        simulation: identity.rsplit_once("/w").map_or(identity, |(simulation, _)| simulation).to_owned(),
        confirmed: match value.map(RatingValue::as_str) {
            Some("1") => Some(true),
            Some("0") => Some(false),
            _ => None,
        },
        passed: case.verdict == Some(Verdict::Pass),
    }
}

/// One row of the table. Shares are over `judged`; `n` counts all records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfirmRow {
    /// The model.
    pub model: String,
    /// The domain.
    pub domain: String,
    /// Writes.
    pub n: u64,
    /// Writes with a verdict.
    pub judged: u64,
    /// Writes without one.
    pub no_verdict: u64,
    /// Simulations with a judged write.
    pub simulations: u64,
    /// Confirmed writes.
    pub gar_hits: u64,
    /// Judged writes in passing simulations.
    pub acc_hits: u64,
    /// Share confirmed, in percent; null without a verdict.
    pub gar_pct: Option<f64>,
    /// Its interval, clustered by simulation.
    pub gar_ci95: Option<[f64; 2]>,
    /// Share in passing simulations, in percent.
    pub acc_pct: Option<f64>,
    /// Its interval, clustered by simulation.
    pub acc_ci95: Option<[f64; 2]>,
    /// `gar_pct - acc_pct`.
    pub delta_pp: Option<f64>,
    /// Its interval, clustered by simulation and paired within the write.
    pub delta_ci95: Option<[f64; 2]>,
    /// What limits the row.
    pub warnings: Vec<String>,
}

/// One row a model and domain, in the order in which they are met first.
#[must_use]
pub fn confirm_table(records: &[ConfirmRecord]) -> Vec<ConfirmRow> {
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut cells: BTreeMap<(&str, &str), Vec<&ConfirmRecord>> = BTreeMap::new();
    for record in records {
        let key = (record.model.as_str(), record.domain.as_str());
        let cell = cells.entry(key).or_default();
        if cell.is_empty() {
            order.push(key);
        }
        cell.push(record);
    }
    order.iter().filter_map(|key| cells.get(key).map(|cell| row(*key, cell))).collect()
}

fn row((model, domain): (&str, &str), records: &[&ConfirmRecord]) -> ConfirmRow {
    let judged: Vec<(&str, bool, bool)> = records
        .iter()
        .filter_map(|record| Some((record.simulation.as_str(), record.confirmed?, record.passed)))
        .collect();
    let n = records.len() as u64;
    let count = |wanted: fn(&(&str, bool, bool)) -> bool| judged.iter().filter(|record| wanted(record)).count() as u64;
    let (gar_hits, acc_hits) = (count(|record| record.1), count(|record| record.2));
    let clusters = |value: fn(bool, bool) -> f64| -> Vec<Cluster> {
        let mut by_simulation: BTreeMap<&str, Cluster> = BTreeMap::new();
        for (simulation, confirmed, passed) in &judged {
            let cluster = by_simulation.entry(simulation).or_default();
            cluster.0 += value(*confirmed, *passed);
            cluster.1 += 1;
        }
        by_simulation.into_values().collect()
    };
    let gar = clustered::share(&clusters(|confirmed, _| f64::from(u8::from(confirmed))), LEVEL);
    let acc = clustered::share(&clusters(|_, passed| f64::from(u8::from(passed))), LEVEL);
    let delta = clustered::mean(
        &clusters(|confirmed, passed| f64::from(u8::from(confirmed)) - f64::from(u8::from(passed))),
        LEVEL,
    );
    let percent = |found: &Option<Clustered>| found.as_ref().map(|found| found.estimate * 100.0);
    let limits = |found: &Option<Clustered>| {
        found.as_ref().and_then(|found| found.interval).map(|interval| interval.limits().map(|limit| limit * 100.0))
    };
    let mut warnings = Vec::new();
    if n > judged.len() as u64 {
        warnings.push(format!("{} writes have no verdict and are in no share", n - judged.len() as u64));
    }
    if judged.is_empty() {
        warnings.push("no write has a verdict".to_owned());
    } else if gar.as_ref().is_some_and(|found| found.clusters == 1) {
        warnings.push("all writes are of one simulation: no interval can be given".to_owned());
    }
    ConfirmRow {
        model: model.to_owned(),
        domain: domain.to_owned(),
        n,
        judged: judged.len() as u64,
        no_verdict: n - judged.len() as u64,
        simulations: gar.as_ref().map_or(0, |found| found.clusters),
        gar_hits,
        acc_hits,
        gar_pct: percent(&gar),
        gar_ci95: limits(&gar),
        acc_pct: percent(&acc),
        acc_ci95: limits(&acc),
        delta_pp: percent(&delta),
        delta_ci95: limits(&delta),
        warnings,
    }
}

/// Level of the intervals.
const LEVEL: f64 = 0.95;

#[cfg(test)]
mod tests {
    use super::*;

    fn record(model: &str, simulation: &str, confirmed: Option<bool>, passed: bool) -> ConfirmRecord {
        ConfirmRecord {
            model: model.to_owned(),
            domain: "airline".to_owned(),
            simulation: simulation.to_owned(),
            confirmed,
            passed,
        }
    }

    #[test]
    fn a_write_without_a_verdict_counts_in_n_alone() {
        let records = [
            record("b", "1", Some(true), false),
            record("a", "1", Some(false), true),
            record("b", "1", None, true),
            record("b", "2", Some(true), true),
        ];
        let rows = confirm_table(&records);
        let counts: Vec<_> = rows.iter().map(|row| (row.model.as_str(), row.n, row.judged, row.no_verdict)).collect();
        assert_eq!(counts, [("b", 3, 2, 1), ("a", 1, 1, 0)]);
        assert_eq!((rows[0].gar_pct, rows[0].acc_pct, rows[0].delta_pp), (Some(100.0), Some(50.0), Some(50.0)));
        assert!(rows[0].delta_ci95.is_some() && rows[1].gar_ci95.is_none());
        let none = confirm_table(&[record("c", "1", None, true)]);
        assert_eq!((none[0].n, none[0].judged, none[0].gar_pct), (1, 0, None));
    }
}
