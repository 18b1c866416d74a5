//! The agreement of a pair of raters on one label: pooled, and for each stratum beside it.
//!
//! A batch whose strata were chosen by outcome is not a random sample of anything, so its pooled kappa is not the kappa
//! of a population; the strata's values are therefore always part of the result.

use std::collections::BTreeMap;

use serde::Serialize;

use super::bootstrap::Plan;
use super::family::{self, Families};
use super::kappa::{Kappa, cohen};
use super::measures::{BootstrapInterval, Measures, two_raters};
use super::pairs::{self, LeftOut, NaPolicy, Pairs};
use super::pooled::{self, PooledKappa};
use super::{Table, TableError, Undefined};
use crate::model::{Audit, LabelId, RaterName, StratumId};

/// How agreement is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// What *n.a.* is.
    pub na: NaPolicy,
    /// The multiple of the standard error in `ci95`.
    pub z: f64,
    /// The bootstrap.
    pub bootstrap: Plan,
}

impl Default for Options {
    /// *n.a.* dropped, κ ± 1.96 SE, 2000 replicates.
    fn default() -> Self {
        Self { na: NaPolicy::Drop, z: 1.96, bootstrap: Plan::default() }
    }
}

/// A bootstrap interval with whole families of cases resampled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FamilyInterval {
    /// The interval.
    #[serde(flatten)]
    pub interval: BootstrapInterval,
    /// Families among the cases used.
    pub families: u64,
    /// Cases used whose family has another case.
    pub cases_sharing: u64,
}

/// Agreement on one label (in one stratum, or pooled).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelAgreement {
    /// The label.
    pub label: LabelId,
    /// The stratum; absent in the pooled row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stratum: Option<StratumId>,
    /// Cases used.
    pub n: u64,
    /// Cases on which the raters agree.
    pub agree: u64,
    /// Observed agreement.
    pub po: Option<f64>,
    /// Wilson's interval of the observed agreement (as of a simple random sample).
    pub po_ci95: Option<[f64; 2]>,
    /// Agreement expected by chance.
    pub pe: Option<f64>,
    /// Cohen's kappa.
    pub kappa: Option<f64>,
    /// Its large-sample standard error.
    pub se: Option<f64>,
    /// κ ± z·SE.
    pub ci95: Option<[f64; 2]>,
    /// The bootstrap interval of kappa.
    pub ci95_bootstrap: BootstrapInterval,
    /// The bias-corrected and accelerated interval from the same replicates.
    pub ci95_bca: BootstrapInterval,
    /// The interval with families of cases resampled (cases about one conversation are not independent).
    pub ci95_family: FamilyInterval,
    /// The inverse-variance mean of the strata's kappas with the test that they are equal; absent in a stratum's own row
    /// and where no stratum has a standard error above zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strata_pooled: Option<PooledKappa>,
    /// Other coefficients, bounds, indices, agreement per category, tests of equal margins.
    #[serde(flatten)]
    pub measures: Measures,
    /// The categories in the table's order.
    pub categories: Vec<String>,
    /// The table: rows are the first rater.
    pub table: Vec<Vec<u64>>,
    /// Cases not used, by reason.
    pub left_out: LeftOut,
    /// Why kappa, its standard error or `ci95` is missing.
    pub reason: Option<Undefined>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_text: Option<&'static str>,
    /// The strata in the plan's order; empty in a stratum's own row.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<LabelAgreement>,
}

/// Agreement on one label.
///
/// # Errors
/// More cases than a table holds.
pub fn label_agreement(
    audit: &Audit,
    pair: (&RaterName, &RaterName),
    label: &LabelId,
    options: &Options,
) -> Result<LabelAgreement, TableError> {
    let pairs = pairs::of(audit, pair, label, options.na);
    let (mut pooled, _) = one(label, None, &pairs, options)?;
    let mut kappas = Vec::new();
    for stratum in &audit.strata {
        let (row, kappa) = one(label, Some(&stratum.id), &pairs.filter(|case| case.stratum == stratum.id), options)?;
        kappas.push((stratum.id.to_string(), kappa));
        pooled.strata.push(row);
    }
    pooled.strata_pooled = pooled::pooled(&kappas, options.z).ok();
    Ok(pooled)
}

/// Agreement on every label of the audit, in the rubric's order.
///
/// # Errors
/// More cases than a table holds.
pub fn label_agreements(
    audit: &Audit,
    pair: (&RaterName, &RaterName),
    options: &Options,
) -> Result<Vec<LabelAgreement>, TableError> {
    audit.labels.iter().map(|label| label_agreement(audit, pair, label, options)).collect()
}

fn one(
    label: &LabelId,
    stratum: Option<&StratumId>,
    pairs: &Pairs<'_>,
    options: &Options,
) -> Result<(LabelAgreement, Kappa), TableError> {
    let table = pairs.table()?;
    let kappa = cohen(&table);
    let all = two_raters(&table, None, options.z, options.bootstrap);
    let row = LabelAgreement {
        label: label.clone(),
        stratum: stratum.cloned(),
        n: all.n,
        agree: all.agree,
        po: all.po,
        po_ci95: all.po_ci95,
        pe: all.pe,
        kappa: all.kappa,
        se: all.se,
        ci95: all.ci95,
        ci95_bootstrap: all.ci95_bootstrap,
        ci95_bca: all.ci95_bca,
        ci95_family: by_family(pairs, &table, kappa.reason, options.bootstrap),
        strata_pooled: None,
        measures: all.measures,
        categories: all.categories,
        table: all.table,
        left_out: pairs.left_out,
        reason: all.reason,
        reason_text: all.reason_text,
        strata: Vec::new(),
    };
    Ok((row, kappa))
}

fn by_family(pairs: &Pairs<'_>, table: &Table, reason: Option<Undefined>, plan: Plan) -> FamilyInterval {
    let index: BTreeMap<&str, usize> = table.categories().iter().map(String::as_str).zip(0..).collect();
    let cell = |first: &str, second: &str| Some(index.get(first)? * table.size() + index.get(second)?);
    let units = pairs.used.iter().filter_map(|pair| Some((family::of_case(pair.case), cell(pair.first, pair.second)?)));
    let families = Families::new(table.size(), units);
    let replicates = reason.map_or_else(|| families.kappa(plan), Err);
    let interval = match &replicates {
        Ok(found) => BootstrapInterval::new("percentile", plan.replicates, found.undefined(), found.percentile(0.95)),
        Err(reason) => BootstrapInterval::new("percentile", 0, 0, Err(*reason)),
    };
    FamilyInterval { interval, families: families.count(), cases_sharing: families.sharing() }
}
