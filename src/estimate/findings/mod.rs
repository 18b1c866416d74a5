//! What an audit says about a label in the whole benchmark, and about the automatic metric: per cell, per model, overall.
//!
//! Pure: the frame comes in as counted groups, the audited cases one by one; where the frame is not known, what needs it is
//! missing with the reason. Each cell is estimated from its own cases; a row over several models says so.

mod case;
mod cross;
mod marginal;
mod measures;
mod metric;
mod pooled;
mod row;
#[cfg(test)]
mod tests;

pub use case::{Answer, AuditedCase, Cell, Frame, FrameGroup, Reach, StratumDesign};
pub use cross::{CrossRow, CrossTable, Share, Split, Unused};
pub use marginal::{Marginal, PublishedRate, marginals};
pub use measures::{Confusion, Corrected, DifferenceMore, Estimate, Measures, RoganGladenMore, SampleRate};
pub use metric::{Meaning, Metric, meaning};

use serde::Serialize;

use super::weighted_kappa::WeightedKappa;
use crate::model::{CaseIdentity, LabelId};

/// What is estimated from.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The label.
    pub label: LabelId,
    /// The metric that it is set beside.
    pub metric: Metric,
    /// Does the metric mean what the label means?
    pub meaning: Meaning,
    /// The strata in the plan's order.
    pub strata: Vec<StratumDesign>,
    /// The frame.
    pub frame: Frame,
    /// The audited cases in the batch's order.
    pub cases: Vec<AuditedCase>,
}

/// What the audit says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// The label.
    pub label: LabelId,
    /// The metric beside it.
    pub metric: Metric,
    /// What is estimated, in a sentence.
    pub estimand: String,
    /// Why the metric is not corrected; `None`: it is.
    pub not_corrected: Option<String>,
    /// Why nothing is weighted by the design; `None`: it is.
    pub not_weighted: Option<String>,
    /// The strata with what was drawn and answered.
    pub strata: Vec<StratumRow>,
    /// Agreement of the two raters over the frame (as far as strata reach it).
    pub weighted_kappa: WeightedKappa,
    /// Label against metric over the audited cases, unweighted.
    pub confusion: Confusion,
    /// Per run (or model) and category.
    pub cells: Vec<Estimate>,
    /// Per run (or model) over its categories.
    pub models: Vec<Estimate>,
    /// Over the whole frame.
    pub overall: Estimate,
    /// Label against each metric.
    pub cross: Vec<CrossTable>,
    /// Cases on which label and metric differ, for each metric.
    pub disagreeing: Vec<DisagreeingCase>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// A stratum of the design.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumRow {
    /// The stratum.
    pub stratum: crate::model::StratumId,
    /// Its cases.
    #[serde(rename = "N")]
    pub population: Option<u64>,
    /// Drawn.
    pub drawn: u64,
    /// With an answer to this label, *n.a.* included.
    pub answered: u64,
    /// Drawn, n.a.
    pub na: u64,
    /// Drawn, without an answer.
    pub unanswered: u64,
    /// Cases that an answered case stands for.
    pub weight: Option<f64>,
    /// The rate in the stratum.
    pub rate: Option<f64>,
    /// Its interval.
    pub ci95: Option<[f64; 2]>,
}

/// A case on which label and metric differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DisagreeingCase {
    /// The metric.
    pub metric: Metric,
    /// The case.
    pub case: CaseIdentity,
    /// Its cell.
    pub cell: String,
    /// Its stratum.
    pub stratum: crate::model::StratumId,
    /// The final label.
    pub label_value: u8,
    /// Does the metric count it as a hit?
    pub hit: bool,
    /// The emission and the cue that made it a hit, or what the metric read instead.
    pub cue: String,
}

/// Computes what the audit says, at the level 0.95.
#[must_use]
pub fn findings(input: &Input) -> Findings {
    let not_weighted = match &input.frame {
        Frame::Unknown { reason } => Some(reason.clone()),
        Frame::Known { .. } => None,
    };
    let cells = input.cells();
    let mut models: Vec<(String, Option<String>)> = Vec::new();
    for cell in &cells {
        let key = (cell.model.clone(), cell.run.clone());
        if !models.contains(&key) {
            models.push(key);
        }
    }
    let weighted_kappa = match &not_weighted {
        Some(reason) => WeightedKappa::missing(reason.clone()),
        None => pooled::raters_kappa(input),
    };
    Findings {
        label: input.label.clone(),
        metric: input.metric,
        estimand: input.meaning.estimand(&input.label, input.metric),
        not_corrected: input.meaning.refusal(),
        not_weighted,
        strata: pooled::strata(input),
        weighted_kappa,
        confusion: Confusion::of(input.cases.iter(), input.metric),
        cells: cells.iter().map(|cell| row::cell(input, cell)).collect(),
        models: models.iter().map(|(model, run)| row::model(input, model, run.as_deref())).collect(),
        overall: row::overall(input, &models),
        cross: Metric::ALL.into_iter().map(|metric| cross::table(input, metric)).collect(),
        disagreeing: Metric::ALL.into_iter().flat_map(|metric| pooled::disagreeing(input, metric)).collect(),
        notes: pooled::notes(input),
    }
}

impl Input {
    /// Every cell of frame and audit, in the order of run, model and category.
    fn cells(&self) -> Vec<Cell> {
        let mut cells = std::collections::BTreeSet::new();
        if let Frame::Known { groups } = &self.frame {
            cells.extend(groups.iter().map(|group| group.cell.clone()));
        }
        cells.extend(self.cases.iter().map(|case| case.cell.clone()));
        cells.into_iter().collect()
    }
}
