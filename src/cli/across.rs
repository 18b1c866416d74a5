//! `dualrater agree --across`: final values of the same cases under two rubrics.

use std::collections::BTreeMap;

use super::{Context, Output, output};
use crate::agree::{self, AcrossRow, Options};
use crate::error::{Error, Result};
use crate::model::{Audit, BatchName};
use crate::rubric::{self, Rubric};
use crate::store::{BatchInfo, Store};

/// The comparison as JSON.
#[derive(serde::Serialize)]
struct Comparison<'a> {
    batches: [&'a BatchName; 2],
    rubrics: [&'a str; 2],
    rubric_digests: [&'a str; 2],
    rows: &'a [AcrossRow],
    /// Fields of a shared label that differ between the rubrics.
    questions_changed: BTreeMap<&'a str, &'a [String]>,
    only_in_first: &'a [String],
    only_in_second: &'a [String],
}

/// Compares the finals of `before` with those of `after`, of which one re-rates the other or both re-rate a third.
pub(super) fn run(
    store: &Store,
    before: &BatchName,
    after: &BatchName,
    options: &Options,
    json: bool,
    output: &mut Output,
) -> Result<()> {
    let (first, second) = (Context::batch(store, before)?, Context::batch(store, after)?);
    if before == after || root(store, &first.0)? != root(store, &second.0)? {
        return Err(Error::conflict(format!("{after} does not rate the cases of {before} again"))
            .hint("`dualrater batch rerate --batch B --rubric NEW --as NAME` makes such a batch"));
    }
    let audit = |found: &(BatchInfo, Rubric)| -> Result<Audit> {
        Ok(store.audit(&found.0, found.1.labels.iter().map(|label| label.id.clone()).collect())?)
    };
    let rows = agree::across(&audit(&first)?, &audit(&second)?, &agree::across_options(*options))
        .map_err(|error| Error::data(error.to_string()))?;
    let diff = rubric::diff(&first.1, &second.1);
    if json {
        return output.json(&Comparison {
            batches: [before, after],
            rubrics: [&first.1.id, &second.1.id],
            rubric_digests: [&first.0.rubric.0, &second.0.rubric.0],
            rows: &rows,
            questions_changed: diff.labels_changed.iter().map(|c| (c.id.as_str(), c.fields.as_slice())).collect(),
            only_in_first: &diff.labels_removed,
            only_in_second: &diff.labels_added,
        });
    }
    output.line(format!("final values of batch {before} ({}) and of batch {after} ({})", first.1.id, second.1.id));
    let table: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let label = row.agreement.label.as_str();
            let changed = diff.labels_changed.iter().find(|change| change.id == label);
            vec![
                label.to_owned(),
                row.both_final.to_string(),
                row.changed.to_string(),
                row.up.to_string(),
                row.down.to_string(),
                output::number(row.agreement.po, 3),
                output::number(row.agreement.kappa, 3),
                output::interval(row.agreement.ci95, 3),
                changed.map_or("the same".to_owned(), |change| format!("other {}", change.fields.join(", "))),
            ]
        })
        .collect();
    output.table(
        &["label", "both final", "changed", "0→1", "1→0", "po", "kappa", "95 % CI", "question"],
        &table,
        &[1, 2, 3, 4, 5, 6],
    );
    for (batch, labels) in [(before, &diff.labels_removed), (after, &diff.labels_added)] {
        if !labels.is_empty() {
            output.line(format!("only in {batch}: {}", labels.join(", ")));
        }
    }
    if diff.fields.iter().any(|field| field == "gold_turn") {
        output.line("the gold turn is found by another rule, so every label that looks at it asks about another turn");
    }
    output.line(
        "n.a. is a category here. A change can come from the rubric or from the raters: this table cannot tell which.",
    );
    Ok(())
}

/// The batch whose cases were drawn.
fn root(store: &Store, batch: &BatchInfo) -> Result<BatchName> {
    let mut found = batch.clone();
    while let Some(original) = store.original_of(&found)? {
        found = store.batch(&original)?;
    }
    Ok(found.name)
}
