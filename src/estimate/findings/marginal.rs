//! Published rates beside an audit's: differences of two percentages, which say nothing about single cases.

use serde::Serialize;

use super::case::AuditedCase;
use super::{Estimate, Findings};
use crate::model::Category;

/// The metric of a cell as somebody printed it.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRate {
    /// The model.
    pub model: String,
    /// The category.
    pub category: Category,
    /// The metric, a share.
    pub gar: f64,
}

/// A marginal difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Marginal {
    /// `model/category`.
    pub cell: String,
    /// The model.
    pub model: String,
    /// The category.
    pub category: Category,
    /// The published metric, a share.
    pub gar: f64,
    /// Yes or no.
    pub n: u64,
    /// Yes.
    pub k: u64,
    /// The label's rate.
    pub rate: Option<f64>,
    /// Its interval.
    pub ci95: Option<[f64; 2]>,
    /// Label less metric.
    pub difference: Option<f64>,
    /// The interval of the rate less the metric, which is taken as exact.
    pub difference_ci95: Option<[f64; 2]>,
    /// What the rate is one of.
    pub basis: &'static str,
    /// Why there is no difference.
    pub reason: Option<String>,
}

const OF_FRAME: &str = "design-weighted rate of the cell";
const OF_SAMPLE: &str = "rate of the audited cases, not of the cell";

/// The marginal difference of every published cell. The label's rate is the design-weighted one where there is one, else
/// that of the audited cases.
#[must_use]
pub fn marginals(findings: &Findings, cases: &[AuditedCase], published: &[PublishedRate]) -> Vec<Marginal> {
    published
        .iter()
        .map(|published| {
            let fits = |row: &&Estimate| {
                row.category == Some(published.category)
                    && (row.model.as_deref() == Some(published.model.as_str())
                        || row.run.as_deref() == Some(published.model.as_str()))
            };
            let rows: Vec<&Estimate> = findings.cells.iter().filter(fits).collect();
            let name = format!("{}/{}", published.model, published.category);
            let mut found = Marginal {
                cell: name,
                model: published.model.clone(),
                category: published.category,
                gar: published.gar,
                n: 0,
                k: 0,
                rate: None,
                ci95: None,
                difference: None,
                difference_ci95: None,
                basis: OF_SAMPLE,
                reason: None,
            };
            let row = match rows.as_slice() {
                [] => {
                    found.reason = Some("no case of this cell was audited".to_owned());
                    return found;
                }
                [row] => *row,
                _ => {
                    found.reason =
                        Some("several runs are of this model: name the run in place of the model".to_owned());
                    return found;
                }
            };
            (found.n, found.k) = (row.sample.n, row.sample.k);
            (found.rate, found.ci95) = match row.measures.weighted_rate {
                Some(rate) => {
                    found.basis = OF_FRAME;
                    (Some(rate), row.measures.ci95)
                }
                None => (row.sample.rate, row.sample.wilson95),
            };
            found.difference = found.rate.map(|rate| rate - published.gar);
            found.difference_ci95 = found.ci95.map(|limits| limits.map(|limit| limit - published.gar));
            if found.rate.is_none() {
                let audited = cases.iter().any(|case| case.cell.name() == row.cell);
                found.reason = Some(
                    if audited {
                        "no audited case of this cell has a yes or no"
                    } else {
                        "no case of this cell was audited"
                    }
                    .to_owned(),
                );
            }
            found
        })
        .collect()
}
