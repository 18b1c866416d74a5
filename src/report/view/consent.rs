//! Consent before database writes, where the batch is of writes (τ²-bench) and the rubric asks for it.

use serde::Serialize;

use super::Context;
use crate::model::{AuditCase, Category, LabelId, RatingValue};
use crate::tau2::{ConfirmRow, confirm_table, consent_record};

/// The label that asks for consent.
const LABEL: &str = "consent";

/// The consent table of a batch of writes.
#[derive(Debug, Clone, Serialize)]
pub struct ConsentSection {
    /// The label.
    pub label: LabelId,
    /// One row a model and domain, after adjudication.
    pub after: Vec<ConfirmRow>,
    /// The same by the first rater's own answers.
    pub first: Vec<ConfirmRow>,
    /// The same by the second's.
    pub second: Vec<ConfirmRow>,
    /// How to read it.
    pub note: &'static str,
}

const NOTE: &str = "The unit is the write. GAR: share of judged writes that the user confirmed before; Acc: share of the same \
    writes that stand in a passing conversation; intervals are clustered by conversation. Writes without a verdict are \
    counted and in no share. The rows are of the sample: strata chosen by verdict fix Acc, and only a census or equal shares \
    make the rows those of the runs.";

pub(super) fn of(context: &Context<'_>) -> Option<ConsentSection> {
    let label = context.label(LABEL)?;
    let writes: Vec<&AuditCase> =
        context.audit.cases.iter().filter(|case| case.category == Category::Tau2Write).collect();
    if writes.is_empty() {
        return None;
    }
    let domain = |case: &AuditCase| {
        let run = context.provenance.runs.iter().find(|run| run.name == case.case.run());
        run.and_then(|run| run.domain.as_deref()).unwrap_or("unknown")
    };
    let table = |value: &dyn Fn(&AuditCase) -> Option<RatingValue>| {
        let records: Vec<_> =
            writes.iter().map(|case| consent_record(case, domain(case), value(case).as_ref())).collect();
        confirm_table(&records)
    };
    Some(ConsentSection {
        after: table(&|case| case.final_value(context.pair, label).cloned()),
        first: table(&|case| case.value(context.pair.0, label).cloned()),
        second: table(&|case| case.value(context.pair.1, label).cloned()),
        label: label.clone(),
        note: NOTE,
    })
}
