//! Batches that hold another batch's cases again, under another rubric.

use rusqlite::{OptionalExtension as _, params};

use super::batches::insert_batch;
use super::{BatchInfo, NewBatch, Store, StoreError};
use crate::model::BatchName;

/// The rubric for a batch that re-rates another.
#[derive(Debug, Clone, Copy)]
pub struct Rerating<'a> {
    /// Name of the new batch.
    pub name: &'a BatchName,
    /// Rubric: digest, name, text.
    pub rubric: (&'a str, &'a str, &'a str),
    /// The command line.
    pub command: &'a str,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
}

impl Store {
    /// Stores the cases of a batch as a new batch under another rubric: the same seed, plan, frame, strata and inclusion
    /// probabilities, no rater and no rating.
    ///
    /// # Errors
    /// The rubric is the batch's own, the batch has no case text here, or the name is taken.
    pub fn rerate(&mut self, original: &BatchInfo, rerating: &Rerating<'_>) -> Result<(), StoreError> {
        if original.imported {
            return Err(StoreError::Conflict {
                message: format!("batch {} was made elsewhere; its cases have no text here to rate", original.name),
                hint: "ingest labels that were made under the other rubric as a batch of their own".into(),
            });
        }
        if original.rubric.0 == rerating.rubric.0 {
            return Err(StoreError::Conflict {
                message: format!("batch {} is rated under this very rubric ({})", original.name, original.rubric.1),
                hint: "further raters join the batch itself: dualrater export".into(),
            });
        }
        let plan_text = match &original.plan {
            Some((digest, _)) => self.plan_text(digest)?,
            None => None,
        };
        let plan = original.plan.as_ref().zip(plan_text.as_ref());
        let batch = NewBatch {
            name: rerating.name,
            imported: false,
            seed: original.seed.as_deref(),
            plan: plan.map(|((digest, name), text)| (digest.as_str(), name.as_str(), text.as_str())),
            frame: original.frame.as_ref().map(|(digest, size)| (digest.as_str(), *size)),
            rubric: rerating.rubric,
            bindings: &original.bindings,
            excluded: &original.excluded,
            command: rerating.command,
            now: rerating.now,
            strata: self.batch_strata(original)?,
            cases: self.batch_cases(original)?,
            first: None,
        };
        self.write(|transaction| {
            insert_batch(transaction, &batch)?;
            transaction.execute(
                "INSERT INTO batch_reratings (batch, original, made_at) SELECT id, ?, ? FROM batches WHERE name = ?",
                params![original.id, rerating.now, rerating.name.as_str()],
            )?;
            Ok(())
        })
    }

    /// The batch whose cases a batch holds again.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn original_of(&self, batch: &BatchInfo) -> Result<Option<BatchName>, StoreError> {
        let name: Option<String> = self
            .connection
            .query_row(
                "SELECT name FROM batch_reratings JOIN batches ON batches.id = original WHERE batch = ?",
                [batch.id],
                |row| row.get(0),
            )
            .optional()?;
        name.map(|name| BatchName::parse(&name))
            .transpose()
            .map_err(|error| StoreError::Damaged { what: format!("a batch that cannot be named: {error}") })
    }
}
