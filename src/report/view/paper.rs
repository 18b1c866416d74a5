//! The published study's numbers by its own rules, and the same data counted without dropping anything: the part of
//! `report.json` whose field names other programs rely on.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Context, ReportError};
use crate::agree::paper::{self, PaperKappa};
use crate::agree::{NaPolicy, sides};
use crate::estimate::paper::{Rate, cells, distribution, final_rates};
use crate::model::{AuditCase, LabelId};

/// Numbers by the published rules. A rate whose cases do not all have a final value is null.
#[derive(Debug, Clone, Serialize)]
pub struct Published {
    /// By the published script.
    pub paper_rules: PaperRules,
    /// `model/category` → label → rate over all cases of the cell.
    pub cells: BTreeMap<String, BTreeMap<&'static str, Option<Rate>>>,
    /// Label → cases with unequal values, *n.a.* included.
    pub disagreements: BTreeMap<LabelId, u64>,
    /// Label → cases with *n.a.* from exactly one rater.
    pub one_sided_na: BTreeMap<LabelId, u64>,
    /// Label → rulings for the first rater's value.
    pub adjudicator_sided_with_a: BTreeMap<LabelId, u64>,
    /// Label → kappa with *n.a.* as a category.
    pub na_as_category_kappa: BTreeMap<LabelId, Option<PaperKappa>>,
    /// Cases of which a label was spot-checked.
    pub spot_checked_cases: u64,
}

/// What the published script prints.
#[derive(Debug, Clone, Serialize)]
pub struct PaperRules {
    /// Label → kappa over the cases in which neither rater said *n.a.*; 1 for a constant pair.
    pub kappa: BTreeMap<LabelId, Option<PaperKappa>>,
    /// Mean kappa over the primary labels.
    pub primary_macro_mean: Option<f64>,
    /// Their smallest kappa.
    pub primary_min: Option<f64>,
    /// Rates after adjudication.
    pub final_rates: BTreeMap<&'static str, Option<Rate>>,
    /// Stratum → `n` and raw agreement per primary label, *n.a.* as a value.
    pub stratum_agreement: BTreeMap<String, Value>,
    /// Final B7 values, most frequent first; null without finals.
    #[serde(rename = "B7", skip_serializing_if = "Option::is_none")]
    pub modes: Option<Map<String, Value>>,
}

/// The label behind a row of the rate table.
fn label_of_row(row: &str) -> &str {
    row.split('_').next().unwrap_or(row)
}

pub(super) fn of(context: &Context<'_>, rated: bool) -> Result<Published, ReportError> {
    let (audit, pair) = (context.audit, context.pair);
    let mut kappa = BTreeMap::new();
    let mut with_na = BTreeMap::new();
    let mut counted = BTreeMap::new();
    for label in &audit.labels {
        kappa.insert(label.clone(), paper::label_kappa(audit, pair, label, NaPolicy::Drop)?);
        with_na.insert(label.clone(), paper::label_kappa(audit, pair, label, NaPolicy::Category)?);
        counted.insert(label.clone(), sides::of(audit, pair, label));
    }
    let primary: Vec<LabelId> = audit.labels.iter().filter(|id| context.rubric.primary.contains(id)).cloned().collect();
    let of_primary = primary.iter().filter_map(|label| kappa.get(label).copied().flatten()).map(|row| row.kappa);
    let summary = paper::mean_and_min(of_primary);
    let has_final = |case: &AuditCase, label: &LabelId| context.final_value(case, label).is_some();
    let settled = |name: &str| {
        let label = context.label(name)?;
        (rated && audit.cases.iter().all(|case| has_final(case, label))).then_some(())
    };
    let rates = final_rates(audit, pair)
        .into_iter()
        .filter(|(row, _)| context.label(label_of_row(row)).is_some())
        .map(|(row, rate)| {
            // The second denominator of B3 stands on B1a.
            let known = settled(label_of_row(row)).is_some() && (row != "B3_D2" || settled("B1a").is_some());
            (row, known.then_some(rate))
        })
        .collect();
    let count =
        |pick: fn(&sides::Sides) -> u64| counted.iter().map(|(label, row)| (label.clone(), pick(row))).collect();
    Ok(Published {
        paper_rules: PaperRules {
            primary_macro_mean: summary.map(|(mean, _)| mean),
            primary_min: summary.map(|(_, min)| min),
            final_rates: rates,
            stratum_agreement: strata(context, &primary),
            modes: if rated { modes(context) } else { None },
            kappa,
        },
        cells: cell_rates(context, rated),
        disagreements: count(|row| row.disagreements),
        one_sided_na: count(|row| row.one_sided_na),
        adjudicator_sided_with_a: count(|row| row.with_first),
        na_as_category_kappa: with_na,
        spot_checked_cases: sides::spot_checked_cases(audit),
    })
}

fn strata(context: &Context<'_>, primary: &[LabelId]) -> BTreeMap<String, Value> {
    paper::stratum_agreement(context.audit, context.pair, primary)
        .into_iter()
        .map(|row| {
            let mut fields = Map::new();
            fields.insert("n".to_owned(), Value::from(row.n));
            fields.extend(row.agreement.into_iter().map(|(label, share)| (label.to_string(), Value::from(share))));
            (row.stratum.to_string(), Value::Object(fields))
        })
        .collect()
}

fn modes(context: &Context<'_>) -> Option<Map<String, Value>> {
    let label = context.label("B7")?;
    let found = distribution(context.audit, context.pair, label);
    Some(found.into_iter().map(|(value, count)| (value, Value::from(count))).collect())
}

fn cell_rates(context: &Context<'_>, rated: bool) -> BTreeMap<String, BTreeMap<&'static str, Option<Rate>>> {
    let mut found = BTreeMap::new();
    for (cell, rates) in cells(context.audit, context.pair) {
        let in_cell = |case: &&AuditCase| format!("{}/{}", case.model, case.category) == cell;
        let rates: BTreeMap<&'static str, Option<Rate>> = rates
            .into_iter()
            .filter_map(|(name, rate)| {
                let label = context.label(name)?;
                let mut cases = context.audit.cases.iter().filter(in_cell);
                let settled = rated && cases.all(|case| context.final_value(case, label).is_some());
                Some((name, settled.then_some(rate)))
            })
            .collect();
        if !rates.is_empty() {
            found.insert(cell, rates);
        }
    }
    found
}
