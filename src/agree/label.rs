//! The agreement of a pair of raters on one label: pooled, and for each stratum beside it.
//!
//! A batch whose strata were chosen by outcome is not a random sample of anything, so its pooled kappa is not the kappa
//! of a population; the strata's values are therefore always part of the result.

use serde::Serialize;

use super::bootstrap::{self, Plan};
use super::kappa::cohen;
use super::pairs::{self, LeftOut, NaPolicy, Pairs};
use super::{Table, TableError, Undefined, Z95, percent};
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

/// A 95 % bootstrap interval with how it came about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BootstrapInterval {
    /// `percentile` or `bca`.
    pub method: &'static str,
    /// Lower limit.
    pub low: Option<f64>,
    /// Upper limit.
    pub high: Option<f64>,
    /// Replicates drawn.
    pub replicates: u32,
    /// Replicates in which the statistic was undefined; they are not in the interval.
    pub undefined: u32,
    /// Why there are no limits.
    pub reason: Option<Undefined>,
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
    let mut pooled = one(label, None, &pairs, options)?;
    pooled.strata = audit
        .strata
        .iter()
        .map(|stratum| one(label, Some(&stratum.id), &pairs.filter(|case| case.stratum == stratum.id), options))
        .collect::<Result<_, _>>()?;
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
) -> Result<LabelAgreement, TableError> {
    let table = pairs.table()?;
    let kappa = cohen(&table);
    let interval = percentile(&table, kappa.reason, options.bootstrap);
    Ok(LabelAgreement {
        label: label.clone(),
        stratum: stratum.cloned(),
        n: kappa.n,
        agree: kappa.agree,
        po: kappa.po,
        po_ci95: percent::wilson(kappa.agree, kappa.n, Z95).map(|(low, high)| [low, high]),
        pe: kappa.pe,
        kappa: kappa.kappa,
        se: kappa.se,
        ci95: kappa.interval(options.z).ok(),
        ci95_bootstrap: interval,
        left_out: pairs.left_out,
        reason: kappa.reason,
        reason_text: kappa.reason.map(Undefined::text),
        strata: Vec::new(),
    })
}

/// The percentile interval of kappa; where kappa itself is undefined or degenerate there is nothing to resample.
fn percentile(table: &Table, reason: Option<Undefined>, plan: Plan) -> BootstrapInterval {
    let none = BootstrapInterval { method: "percentile", low: None, high: None, replicates: 0, undefined: 0, reason };
    if reason.is_some() {
        return none;
    }
    let replicates = bootstrap::kappa(table, plan);
    let drawn = BootstrapInterval { replicates: plan.replicates, undefined: replicates.undefined(), ..none };
    match replicates.percentile(0.95) {
        Ok([low, high]) => BootstrapInterval { low: Some(low), high: Some(high), ..drawn },
        Err(reason) => BootstrapInterval { reason: Some(reason), ..drawn },
    }
}
