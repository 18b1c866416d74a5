//! Each rater of the pair beside the mechanical raters: answers that follow from the data by rule.

use serde::Serialize;

use super::{Context, ReportError};
use crate::agree::{self, LabelAgreement, NaPolicy, Options};
use crate::model::{RaterKind, RaterName};

/// The comparison with what is computed.
#[derive(Debug, Clone, Serialize)]
pub struct MechanicalSection {
    /// What it means.
    pub note: &'static str,
    /// A row per rater of the pair, mechanical rater and computed label.
    pub rows: Vec<MechanicalRow>,
}

/// A rater and a mechanical rater on a label.
#[derive(Debug, Clone, Serialize)]
pub struct MechanicalRow {
    /// The rater of the pair.
    pub rater: RaterName,
    /// The mechanical rater.
    pub mechanical: RaterName,
    /// Cases in which the mechanical rater answered the label at all.
    pub computed: u64,
    /// Their agreement over the cases in which both gave a value.
    #[serde(flatten)]
    pub agreement: LabelAgreement,
}

const NOTE: &str = "A mechanical rater computes its answers from the emissions, the ground truth and the verdict by rule. \
    It is never of record. A rater who follows the same rules equals it by construction: such agreement shows that the \
    rubric was applied as written, and is no independent evidence that the label is right.";

pub(super) fn of(context: &Context<'_>) -> Result<Option<MechanicalSection>, ReportError> {
    let audit = context.audit;
    let options = Options { na: NaPolicy::Drop, ..context.options };
    let mut rows = Vec::new();
    for (mechanical, _) in audit.raters.iter().filter(|(_, kind)| *kind == RaterKind::Mechanical) {
        for rater in [context.pair.0, context.pair.1] {
            for label in &audit.labels {
                let answered = |case: &&crate::model::AuditCase| case.value(mechanical, label).is_some();
                let computed = audit.cases.iter().filter(answered).count() as u64;
                if computed == 0 {
                    continue;
                }
                let agreement = agree::label_agreement(audit, (rater, mechanical), label, &options)?;
                rows.push(MechanicalRow { rater: rater.clone(), mechanical: mechanical.clone(), computed, agreement });
            }
        }
    }
    Ok((!rows.is_empty()).then_some(MechanicalSection { note: NOTE, rows }))
}
