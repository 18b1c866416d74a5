//! Models beside people.

use super::{Context, ReportError};
use crate::estimate::judge::{Validation, validate};
use crate::model::{LabelId, RaterKind, RaterName};

/// How much less often than a second person a model may agree and still count as agreeing as well.
pub(super) const MARGIN: f64 = 0.1;

/// Every model rater that shares a case with a person.
pub(super) fn of(context: &Context<'_>) -> Result<Vec<Validation>, ReportError> {
    let audit = context.audit;
    let of_kind = |wanted: RaterKind| -> Vec<RaterName> {
        audit.raters.iter().filter(|(_, kind)| *kind == wanted).map(|(name, _)| name.clone()).collect()
    };
    let people = of_kind(RaterKind::Human);
    let binary: Vec<LabelId> = context.binary_labels().cloned().collect();
    let mut found = Vec::new();
    for judge in of_kind(RaterKind::Model) {
        let validation = validate(audit, &judge, &people, &binary, (&context.options, MARGIN))?;
        if !validation.labels.is_empty() {
            found.push(validation);
        }
    }
    Ok(found)
}
