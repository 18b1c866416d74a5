//! What is true of the demo's cases by construction: labels, verdict, whether a gold cue stands anywhere.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::model::{CaseIdentity, Category, LabelId, RatingValue, RunName, Verdict};

/// The labels of the rubric `mechanism-v2`, in its order.
pub const LABELS: [&str; 7] = ["B1a", "B1b", "B3", "B4", "B5", "B6", "B7"];

/// One case of one run and the truth about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoCase {
    /// `run/case_id`.
    pub case: CaseIdentity,
    /// The category.
    pub category: Category,
    /// The two letters of `demo/script.toml` that made the conversation.
    pub script: String,
    /// The verdict of the score files.
    pub verdict: Verdict,
    /// Does any emission of any turn hold the gold action by the published cue lists? Annotated by hand.
    pub gar_hit: bool,
    /// The true value of each label. B7 applies where a pass under no probe became a fail under it.
    pub labels: BTreeMap<LabelId, RatingValue>,
}

/// The truth about every case of every run of the demo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    cases: Vec<DemoCase>,
    places: BTreeMap<CaseIdentity, usize>,
}

#[derive(Deserialize)]
struct Row {
    run: RunName,
    id: String,
    script: String,
    verdict: Verdict,
    gar_hit: bool,
    values: [RatingValue; 7],
}

impl Truth {
    /// Reads the compiled-in truth.
    ///
    /// # Errors
    /// Only by a defect of the demo's data.
    pub fn load() -> Result<Self> {
        let defect = |what: &dyn std::fmt::Display| Error::internal(format!("the demo's truth is damaged: {what}"));
        let rows: Vec<Row> =
            serde_json::from_str(include_str!("../../demo/truth.json")).map_err(|error| defect(&error))?;
        let labels = LABELS.map(LabelId::parse).into_iter().collect::<std::result::Result<Vec<_>, _>>();
        let labels = labels.map_err(|error| defect(&error))?;
        let mut truth = Self { cases: Vec::with_capacity(rows.len()), places: BTreeMap::new() };
        for row in rows {
            let case = CaseIdentity::new(&row.run, &row.id).map_err(|error| defect(&error))?;
            let category = Category::of_case_id(&row.id).ok_or_else(|| defect(&row.id))?;
            truth.places.insert(case.clone(), truth.cases.len());
            truth.cases.push(DemoCase {
                case,
                category,
                script: row.script,
                verdict: row.verdict,
                gar_hit: row.gar_hit,
                labels: labels.iter().cloned().zip(row.values).collect(),
            });
        }
        Ok(truth)
    }

    /// The truth about a case; `None` for a case that is not the demo's.
    #[must_use]
    pub fn case(&self, case: &CaseIdentity) -> Option<&DemoCase> {
        self.cases.get(*self.places.get(case)?)
    }

    /// All cases, run by run in the order of [`super::RUNS`], categories and entries in the benchmark's order.
    #[must_use]
    pub fn cases(&self) -> &[DemoCase] {
        &self.cases
    }
}

/// True B1b against GAR in one run and category; counts of cases, which add up to `n`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrosstabRow {
    /// The run.
    pub run: RunName,
    /// The category.
    pub category: Category,
    /// Cases.
    pub n: u32,
    /// Cases that pass.
    pub correct: u32,
    /// B1b is 0 and GAR a miss.
    pub b1b0_gar0: u32,
    /// B1b is 0 and GAR a hit.
    pub b1b0_gar1: u32,
    /// B1b is 1 and GAR a miss.
    pub b1b1_gar0: u32,
    /// B1b is 1 and GAR a hit.
    pub b1b1_gar1: u32,
    /// Emissions of each action class, by hand annotation of the script's wordings.
    pub emission_classes: BTreeMap<String, u32>,
}

impl CrosstabRow {
    /// Cases with the gold action by the automatic metric.
    #[must_use]
    pub fn gar_hits(&self) -> u32 {
        self.b1b0_gar1 + self.b1b1_gar1
    }
}

/// What the comparison of B1b with GAR must give where every rating is true, per run and category.
///
/// # Errors
/// Only by a defect of the demo's data.
pub fn expected_crosstab() -> Result<Vec<CrosstabRow>> {
    serde_json::from_str(include_str!("../../demo/crosstab.json"))
        .map_err(|error| Error::internal(format!("the demo's cross-table is damaged: {error}")))
}
