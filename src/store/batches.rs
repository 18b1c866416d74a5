//! Batches: what was drawn (or taken over from an audit made elsewhere), its raters and its pair of record.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::rounds::insert_first;
use super::{FirstRound, Store, StoreError};
use crate::model::{BatchName, CaseIdentity};

/// A batch to store. Lists and maps are JSON.
pub struct NewBatch<'a> {
    /// Name.
    pub name: &'a BatchName,
    /// Taken over from an audit made elsewhere?
    pub imported: bool,
    /// Seed of the draw.
    pub seed: Option<&'a str>,
    /// Plan: digest, name, text.
    pub plan: Option<(&'a str, &'a str, &'a str)>,
    /// Digest and size of the frame.
    pub frame: Option<(&'a str, u64)>,
    /// Rubric: digest, name, text.
    pub rubric: (&'a str, &'a str, &'a str),
    /// Role → run, as JSON.
    pub bindings: &'a str,
    /// Names of excluded batches, as JSON.
    pub excluded: &'a str,
    /// The command line.
    pub command: &'a str,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
    /// Strata in the plan's order.
    pub strata: Vec<NewBatchStratum>,
    /// Cases in the batch's order.
    pub cases: Vec<NewBatchCase>,
    /// What is noted of the draw; `None` for a batch that was not drawn here, or is another's cases again.
    pub first: Option<FirstRound<'a>>,
}

/// A stratum of a batch.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct NewBatchStratum {
    /// Short name.
    pub id: String,
    /// Title.
    pub title: String,
    /// Cases owned; `None`: unknown.
    pub population: Option<u64>,
    /// Owned cases that earlier batches took.
    pub excluded: u64,
    /// Cases wanted.
    pub quota: Option<u64>,
    /// Cases drawn.
    pub drawn: u64,
    /// Wanted and not there.
    pub shortfall: u64,
    /// Owned cases that later strata match too.
    pub overlap: u64,
}

/// A case of a batch.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct NewBatchCase {
    /// Identity.
    pub identity: CaseIdentity,
    /// Stratum.
    pub stratum: String,
    /// Model.
    pub model: String,
    /// Category.
    pub category: String,
    /// Transition.
    pub transition: Option<String>,
    /// Verdict on the baseline.
    pub verdict: Option<String>,
    /// Second run of the pair.
    pub second_run: Option<String>,
    /// Sampling ticket.
    pub ticket: Option<String>,
    /// Inclusion probability given earlier batches.
    pub probability: Option<f64>,
    /// Unconditional inclusion probability.
    pub unconditional: Option<f64>,
    /// Why it is unknown.
    pub unconditional_reason: Option<String>,
}

/// A stored batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchInfo {
    /// Row id.
    pub id: i64,
    /// Name.
    pub name: BatchName,
    /// Taken over from elsewhere?
    pub imported: bool,
    /// Seed.
    pub seed: Option<String>,
    /// Plan: digest, name.
    pub plan: Option<(String, String)>,
    /// Frame: digest, size.
    pub frame: Option<(String, u64)>,
    /// Rubric: digest, name, text.
    pub rubric: (String, String, String),
    /// JSON: role or model → run.
    pub bindings: String,
    /// JSON: excluded batches.
    pub excluded: String,
    /// The command line that made it.
    pub command: String,
    /// When.
    pub created_at: String,
    /// Program version.
    pub program: String,
}

/// A case of a stored batch.
pub type StoredCase = NewBatchCase;

impl Store {
    /// Stores a batch with its plan, rubric, strata and cases.
    ///
    /// # Errors
    /// A batch of this name exists.
    pub fn add_batch(&mut self, batch: &NewBatch<'_>) -> Result<(), StoreError> {
        self.write(|transaction| insert_batch(transaction, batch))
    }

    /// A batch by name.
    ///
    /// # Errors
    /// No such batch.
    pub fn batch(&self, name: &BatchName) -> Result<BatchInfo, StoreError> {
        self.batch_rows("WHERE batches.name = ?", params![name.as_str()])?
            .pop()
            .ok_or_else(|| StoreError::NoBatch { name: name.to_string() })
    }

    /// All batches in the order of their making.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn batches(&self) -> Result<Vec<BatchInfo>, StoreError> {
        self.batch_rows("", params![])
    }

    fn batch_rows(&self, filter: &str, values: &[&dyn rusqlite::ToSql]) -> Result<Vec<BatchInfo>, StoreError> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT batches.id, batches.name, kind, seed, plan, plans.name, frame_digest, frame_size, rubric, rubrics.name,
                    rubrics.text, bindings, excluded, command, created_at, program
             FROM batches JOIN rubrics ON rubrics.digest = rubric LEFT JOIN plans ON plans.digest = plan
             {filter} ORDER BY batches.id"
        ))?;
        let mut rows = statement.query(values)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(1)?;
            let kind: String = row.get(2)?;
            let plan: Option<String> = row.get(4)?;
            let plan_name: Option<String> = row.get(5)?;
            let frame: Option<String> = row.get(6)?;
            let size: Option<i64> = row.get(7)?;
            found.push(BatchInfo {
                id: row.get(0)?,
                name: BatchName::parse(&name)
                    .map_err(|error| StoreError::Damaged { what: format!("a batch that cannot be named: {error}") })?,
                imported: kind == "imported",
                seed: row.get(3)?,
                plan: plan.zip(plan_name),
                frame: frame.zip(size.map(|size| size as u64)),
                rubric: (row.get(8)?, row.get(9)?, row.get(10)?),
                bindings: row.get(11)?,
                excluded: row.get(12)?,
                command: row.get(13)?,
                created_at: row.get(14)?,
                program: row.get(15)?,
            });
        }
        Ok(found)
    }

    /// The text of a stored plan.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn plan_text(&self, digest: &str) -> Result<Option<String>, StoreError> {
        Ok(self
            .connection
            .query_row("SELECT text FROM plans WHERE digest = ?", [digest], |row| row.get(0))
            .optional()?)
    }

    /// The strata of a batch in the plan's order, as its last round left them.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn batch_strata(&self, batch: &BatchInfo) -> Result<Vec<NewBatchStratum>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT s.stratum, title, population, excluded, coalesce(r.quota, s.quota), coalesce(r.drawn, s.drawn),
                    coalesce(r.shortfall, s.shortfall), overlap
             FROM batch_strata s LEFT JOIN round_strata r ON r.batch = s.batch AND r.stratum = s.stratum
                  AND r.round = (SELECT max(round) FROM batch_rounds WHERE batch = s.batch)
             WHERE s.batch = ? ORDER BY ordinal",
        )?;
        let rows = statement.query_map([batch.id], |row| {
            Ok(NewBatchStratum {
                id: row.get(0)?,
                title: row.get(1)?,
                population: row.get::<_, Option<i64>>(2)?.map(|count| count as u64),
                excluded: row.get::<_, i64>(3)? as u64,
                quota: row.get::<_, Option<i64>>(4)?.map(|count| count as u64),
                drawn: row.get::<_, i64>(5)? as u64,
                shortfall: row.get::<_, i64>(6)? as u64,
                overlap: row.get::<_, i64>(7)? as u64,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The cases of a batch in its order, with the probabilities that its last round gave them.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn batch_cases(&self, batch: &BatchInfo) -> Result<Vec<StoredCase>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT identity, c.stratum, model, category, transition, verdict, second_run, ticket,
                    iif(r.round IS NULL, c.probability, r.probability),
                    iif(r.round IS NULL, c.unconditional, r.unconditional),
                    iif(r.round IS NULL, c.unconditional_reason, r.unconditional_reason)
             FROM batch_cases c LEFT JOIN round_strata r ON r.batch = c.batch AND r.stratum = c.stratum
                  AND r.round = (SELECT max(round) FROM batch_rounds WHERE batch = c.batch)
             WHERE c.batch = ? ORDER BY position",
        )?;
        let mut rows = statement.query([batch.id])?;
        let mut cases = Vec::new();
        while let Some(row) = rows.next()? {
            let identity: String = row.get(0)?;
            cases.push(NewBatchCase {
                identity: CaseIdentity::parse(&identity)
                    .map_err(|error| StoreError::Damaged { what: format!("a case that cannot be named: {error}") })?,
                stratum: row.get(1)?,
                model: row.get(2)?,
                category: row.get(3)?,
                transition: row.get(4)?,
                verdict: row.get(5)?,
                second_run: row.get(6)?,
                ticket: row.get(7)?,
                probability: row.get(8)?,
                unconditional: row.get(9)?,
                unconditional_reason: row.get(10)?,
            });
        }
        Ok(cases)
    }

    /// The identities of a batch's cases.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn batch_identities(&self, batch: &BatchInfo) -> Result<BTreeSet<CaseIdentity>, StoreError> {
        Ok(self.batch_cases(batch)?.into_iter().map(|case| case.identity).collect())
    }
}

pub(super) fn insert_batch(transaction: &Transaction<'_>, batch: &NewBatch<'_>) -> Result<(), StoreError> {
    let taken = transaction.prepare("SELECT 1 FROM batches WHERE name = ?")?.exists([batch.name.as_str()])?;
    if taken {
        return Err(StoreError::Conflict {
            message: format!("there is a batch {} already", batch.name),
            hint: "a batch is never drawn anew: choose another name".into(),
        });
    }
    let (rubric, rubric_name, rubric_text) = batch.rubric;
    transaction.execute(
        "INSERT INTO rubrics (digest, name, text, added_at) VALUES (?,?,?,?) ON CONFLICT DO NOTHING",
        params![rubric, rubric_name, rubric_text, batch.now],
    )?;
    if let Some((digest, name, text)) = batch.plan {
        transaction.execute(
            "INSERT INTO plans (digest, name, text, added_at) VALUES (?,?,?,?) ON CONFLICT DO NOTHING",
            params![digest, name, text, batch.now],
        )?;
    }
    transaction.execute(
        "INSERT INTO batches (name, kind, seed, plan, frame_digest, frame_size, rubric, bindings, excluded, command,
         created_at, program) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
        params![
            batch.name.as_str(),
            if batch.imported { "imported" } else { "drawn" },
            batch.seed,
            batch.plan.map(|plan| plan.0),
            batch.frame.map(|frame| frame.0),
            batch.frame.map(|frame| frame.1 as i64),
            rubric,
            batch.bindings,
            batch.excluded,
            batch.command,
            batch.now,
            env!("CARGO_PKG_VERSION"),
        ],
    )?;
    let id = transaction.last_insert_rowid();
    for (ordinal, stratum) in batch.strata.iter().enumerate() {
        transaction.execute(
            "INSERT INTO batch_strata (batch, ordinal, stratum, title, population, excluded, quota, drawn, shortfall, overlap)
             VALUES (?,?,?,?,?,?,?,?,?,?)",
            params![
                id,
                ordinal as i64,
                stratum.id,
                stratum.title,
                stratum.population.map(|count| count as i64),
                stratum.excluded as i64,
                stratum.quota.map(|count| count as i64),
                stratum.drawn as i64,
                stratum.shortfall as i64,
                stratum.overlap as i64,
            ],
        )?;
    }
    insert_cases(transaction, id, 0, batch.cases.iter())?;
    if let Some(first) = &batch.first {
        insert_first(transaction, id, first, (batch.seed, batch.cases.len()), (batch.command, batch.now))?;
    }
    Ok(())
}

/// Adds cases to a batch from a position on.
pub(super) fn insert_cases<'a>(
    transaction: &Transaction<'_>,
    batch: i64,
    from: i64,
    cases: impl Iterator<Item = &'a NewBatchCase>,
) -> Result<(), StoreError> {
    for (position, case) in (from..).zip(cases) {
        transaction.execute(
            "INSERT INTO batch_cases (batch, position, identity, stratum, model, category, transition, verdict, second_run,
             ticket, probability, unconditional, unconditional_reason) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            params![
                batch,
                position,
                case.identity.as_str(),
                case.stratum,
                case.model,
                case.category,
                case.transition,
                case.verdict,
                case.second_run,
                case.ticket,
                case.probability,
                case.unconditional,
                case.unconditional_reason,
            ],
        )?;
    }
    Ok(())
}
