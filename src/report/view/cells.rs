//! Rates after adjudication per model and category: the cells of the benchmark's own table.

use serde::Serialize;

use super::{Context, FinalRate};
use crate::model::{Category, LabelId};

/// The labels whose meaning the automatic metric shares, shown per cell.
pub(super) const CELL_LABELS: [&str; 2] = ["B1a", "B1b"];

/// One cell.
#[derive(Debug, Clone, Serialize)]
pub struct Cell {
    /// The model.
    pub model: String,
    /// The category.
    pub category: Category,
    /// Audited cases.
    pub cases: u64,
    /// The strata that they come from.
    pub strata: Vec<crate::model::StratumId>,
    /// Label and rate.
    pub rates: Vec<CellRate>,
}

/// The rate of a label in a cell.
#[derive(Debug, Clone, Serialize)]
pub struct CellRate {
    /// The label.
    pub label: LabelId,
    /// The rate.
    #[serde(flatten)]
    pub rate: FinalRate,
}

pub(super) fn of(context: &Context<'_>) -> Vec<Cell> {
    let labels: Vec<&LabelId> = CELL_LABELS.iter().filter_map(|name| context.label(name)).collect();
    if labels.is_empty() {
        return Vec::new();
    }
    context
        .cells()
        .into_iter()
        .map(|(model, category)| {
            let keep = |case: &crate::model::AuditCase| case.model == model && case.category == category;
            let here: Vec<_> = context.audit.cases.iter().filter(|case| keep(case)).collect();
            let strata = context.audit.strata.iter().map(|stratum| &stratum.id);
            Cell {
                model: model.to_owned(),
                category,
                cases: here.len() as u64,
                strata: strata.filter(|id| here.iter().any(|case| case.stratum == **id)).cloned().collect(),
                rates: labels
                    .iter()
                    .map(|label| CellRate { label: (*label).clone(), rate: FinalRate::count(context, label, keep) })
                    .collect(),
            }
        })
        .collect()
}
