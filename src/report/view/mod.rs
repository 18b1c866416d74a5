//! What a report says, computed once from the rated audit.
//!
//! Every count closes: what is used and what is left out, with the reason, add up to the cases.

mod agreement;
mod cells;
mod choices;
mod finals;
mod gar;
mod header;
mod judges;
mod lead;
mod mechanical;
mod nonresponse;
mod paper;
mod rates;
mod sides;
mod warnings;

pub use agreement::{Agreement, LabelRow, MeanKappa};
pub use cells::Cell;
pub use choices::Choices;
pub use finals::{Count, FinalRate, Finals};
pub use gar::{Cross, GarLabel, GarSection};
pub use header::{Header, LabelLine, RaterLine, StratumLine};
pub use mechanical::{MechanicalRow, MechanicalSection};
pub use nonresponse::{Nonresponse, NonresponseLabel, RateBounds, StratumBounds};
pub use paper::Published;
pub use rates::{HeldOut, LabelRate};
pub use sides::{Adjudicated, Disagreement};
pub use warnings::Warning;

use serde::Serialize;

use super::Provenance;
use crate::agree::diagnose::{self, Finding};
use crate::agree::independence::{self, Evidence, Independence};
use crate::agree::{self, NaPolicy, TableError};
use crate::estimate::findings::Findings;
use crate::estimate::judge::Validation;
use crate::model::{Audit, AuditCase, LabelId, RaterName, RatingValue};
use crate::rubric::Rubric;

/// What a report is made from.
pub struct Input<'a> {
    /// The rated audit.
    pub audit: &'a Audit,
    /// The rubric under which it was rated.
    pub rubric: &'a Rubric,
    /// How agreement is computed. What *n.a.* is does not matter here: both readings are reported.
    pub options: agree::Options,
    /// What follows for the frame, for each label that asks for the gold action; empty where the frame is not known.
    pub estimates: Vec<Findings>,
    /// Where the audit comes from.
    pub provenance: Provenance,
    /// What is known about the raters beside their answers.
    pub evidence: Evidence,
}

/// Why there is no report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Agreement takes two raters.
    #[error("batch {batch} has no pair of record: two raters are needed")]
    NoPair {
        /// The batch.
        batch: String,
    },
    /// The ratings do not make a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The view cannot be written.
    #[error("the report cannot be written as JSON: {message}")]
    Json {
        /// What went wrong.
        message: String,
    },
}

/// Everything that a report says. Serialised it is `report.json`.
#[derive(Debug, Clone, Serialize)]
pub struct View {
    /// The version of this format.
    pub format: &'static str,
    /// What was audited and by whom.
    pub header: Header,
    /// What the audit says, in sentences.
    pub lead: Vec<String>,
    /// What a reader must know before believing the numbers.
    pub warnings: Vec<Warning>,
    /// How far the pair agrees.
    pub agreement: Agreement,
    /// What is the matter with the agreement and what to do about it, label by label.
    pub findings: Vec<Finding>,
    /// Each rater of the pair beside what is computed from the data; `None` where nothing was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mechanical: Option<MechanicalSection>,
    /// Who the raters are and what was looked at to tell whether they are independent.
    pub independence: Independence,
    /// Models beside people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<Validation>,
    /// How far ratings, rulings and spot checks have come.
    pub finals: Finals,
    /// Unusable cases and what they can do to the numbers; `None` where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonresponse: Option<Nonresponse>,
    /// Rates after adjudication, per label; `None` where there is no ruling although raters disagree.
    pub rates: Option<Vec<LabelRate>>,
    /// The held-out label over both of its denominators.
    pub held_out: Option<HeldOut>,
    /// Rates after adjudication per model and category.
    pub cell_rates: Option<Vec<Cell>>,
    /// Distributions of labels with named values.
    pub choices: Vec<Choices>,
    /// Disagreements, rulings and spot checks.
    pub adjudication: Adjudicated,
    /// Case by case against the automatic metric.
    pub gar: GarSection,
    /// What follows for the frame: weighted rates, the metric corrected, per label that asks for the gold action.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub estimates: Vec<Findings>,
    /// Every case on which the raters differ.
    pub disagreement_list: Vec<Disagreement>,
    /// The published study's numbers by its own rules, and the same data counted without dropping anything.
    #[serde(flatten)]
    pub published: Published,
    /// Digests, seed, versions, command lines.
    pub provenance: Provenance,
}

/// What all sections need.
pub(super) struct Context<'a> {
    pub audit: &'a Audit,
    pub rubric: &'a Rubric,
    pub options: agree::Options,
    pub provenance: &'a Provenance,
    pub pair: (&'a RaterName, &'a RaterName),
}

impl<'a> Context<'a> {
    fn final_value(&self, case: &'a AuditCase, label: &LabelId) -> Option<&'a RatingValue> {
        case.final_value(self.pair, label)
    }

    /// Was the case declared unusable before anybody rated it?
    fn is_unusable(&self, case: &AuditCase) -> bool {
        self.provenance.batch.sampling.unusable.iter().any(|unusable| unusable.case == case.case)
    }

    /// Was a model of the pair asked in vain?
    fn is_without_verdict(&self, case: &AuditCase, label: &LabelId) -> bool {
        [self.pair.0, self.pair.1]
            .into_iter()
            .any(|rater| case.value(rater, label).is_none() && self.audit.is_without_verdict(&case.case, rater, label))
    }

    /// The label of a name, where the audit has it.
    fn label(&self, name: &str) -> Option<&'a LabelId> {
        self.audit.labels.iter().find(|label| label.as_str() == name)
    }

    fn title(&self, label: &LabelId) -> String {
        self.rubric.label(label).map_or_else(String::new, |label| label.title.clone())
    }

    /// Is the label one of two values? A label that the rubric does not know is taken for one.
    fn is_binary(&self, label: &LabelId) -> bool {
        self.rubric.label(label).is_none_or(|label| label.kind == crate::rubric::LabelKind::Binary)
    }

    fn binary_labels(&self) -> impl Iterator<Item = &'a LabelId> {
        self.audit.labels.iter().filter(|label| self.is_binary(label))
    }

    /// Labels that follow by a rule from others.
    fn derived_labels(&self) -> Vec<&'a LabelId> {
        let follows = |label: &&LabelId| {
            self.rubric.rules.iter().any(
                |rule| matches!(&rule.kind, crate::rubric::RuleKind::Equals { label: found, .. } if found == *label),
            )
        };
        self.audit.labels.iter().filter(follows).collect()
    }

    /// Model and category of every cell, in the order of the batch's models and the benchmark's categories.
    fn cells(&self) -> Vec<(&'a str, crate::model::Category)> {
        let mut models: Vec<&str> = Vec::new();
        for case in &self.audit.cases {
            if !models.contains(&case.model.as_str()) {
                models.push(&case.model);
            }
        }
        let has = |model: &str, category| {
            self.audit.cases.iter().any(|case| case.model == model && case.category == category)
        };
        models
            .into_iter()
            .flat_map(|model| crate::model::Category::ALL.map(|category| (model, category)))
            .filter(|(model, category)| has(model, *category))
            .collect()
    }
}

/// Computes a report.
///
/// # Errors
/// No pair of record; more cases than a table holds.
pub fn view(input: &Input<'_>) -> Result<View, ReportError> {
    let audit = input.audit;
    let (first, second) = audit.pair.as_ref().ok_or_else(|| ReportError::NoPair { batch: audit.batch.to_string() })?;
    let context = Context {
        audit,
        rubric: input.rubric,
        options: input.options,
        provenance: &input.provenance,
        pair: (first, second),
    };
    let header = header::of(&context);
    let agreement = agreement::of(&context)?;
    let adjudication = sides::of(&context);
    let finals = finals::of(&context);
    let rated = !finals.none;
    let rates = rated.then(|| rates::of(&context));
    let held_out = if rated { rates::held_out(&context) } else { None };
    let cell_rates = rated.then(|| cells::of(&context));
    let choices = if rated { choices::of(&context, &agreement) } else { Vec::new() };
    let gar = gar::of(&context, rated)?;
    let nonresponse = nonresponse::of(&context, &agreement, rated)?;
    let published = paper::of(&context, rated)?;
    let independence = independence::independence(audit, (first, second), &input.evidence);
    let warnings = warnings::of(&context, &finals, &agreement, &independence);
    let mut view = View {
        format: "dualrater-report/1",
        header,
        lead: Vec::new(),
        warnings,
        agreement,
        findings: diagnose::audit(audit, (first, second), NaPolicy::Drop)?,
        mechanical: mechanical::of(&context)?,
        independence,
        judges: judges::of(&context)?,
        finals,
        nonresponse,
        rates,
        held_out,
        cell_rates,
        choices,
        adjudication,
        gar,
        estimates: if rated { input.estimates.clone() } else { Vec::new() },
        disagreement_list: sides::list(&context),
        published,
        provenance: input.provenance.clone(),
    };
    view.lead = lead::of(&context, &view);
    Ok(view)
}
