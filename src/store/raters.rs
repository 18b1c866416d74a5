//! Raters of a batch, the pair of record, and the runs that an imported audit's models are joined to.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::{BatchInfo, Store, StoreError};
use crate::model::{RaterKind, RaterName};

impl Store {
    /// Registers a rater for a batch; the same again changes nothing.
    ///
    /// # Errors
    /// The rater is known with another kind.
    pub fn register_rater(
        &mut self,
        batch: &BatchInfo,
        rater: &RaterName,
        kind: RaterKind,
        model: Option<&str>,
        now: &str,
    ) -> Result<(), StoreError> {
        let id = batch.id;
        self.write(|transaction| insert_rater(transaction, id, rater, kind, model, now))
    }

    /// The kind of a rater; `None` where it is unknown.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn rater_kind(&self, rater: &RaterName) -> Result<Option<RaterKind>, StoreError> {
        let kind: Option<String> = self
            .connection
            .query_row("SELECT kind FROM raters WHERE name = ?", [rater.as_str()], |row| row.get(0))
            .optional()?;
        kind.map(|text| kind_of(&text)).transpose()
    }

    /// The raters of a batch in the order of their registration.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn batch_raters(&self, batch: &BatchInfo) -> Result<Vec<(RaterName, RaterKind)>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT name, kind FROM batch_raters JOIN raters ON raters.name = rater WHERE batch = ? ORDER BY ordinal",
        )?;
        let rows = statement.query_map([batch.id], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let mut raters = Vec::new();
        for row in rows {
            let (name, kind) = row?;
            raters.push((rater_of(&name)?, kind_of(&kind)?));
        }
        Ok(raters)
    }

    /// Fixes the pair of record; the latest fixing counts.
    ///
    /// # Errors
    /// The database's own trouble, or a rater that the batch does not know.
    pub fn set_pair(&mut self, batch: &BatchInfo, a: &RaterName, b: &RaterName, now: &str) -> Result<(), StoreError> {
        let id = batch.id;
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO batch_pairs (batch, rater_a, rater_b, at) VALUES (?,?,?,?)",
                params![id, a.as_str(), b.as_str(), now],
            )?;
            Ok(())
        })
    }

    /// The pair of record: as fixed, else the first two registered raters that can be of record.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn pair_of_record(&self, batch: &BatchInfo) -> Result<Option<(RaterName, RaterName)>, StoreError> {
        let fixed: Option<(String, String)> = self
            .connection
            .query_row(
                "SELECT rater_a, rater_b FROM batch_pairs WHERE batch = ? ORDER BY id DESC LIMIT 1",
                [batch.id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        if let Some((a, b)) = fixed {
            return Ok(Some((rater_of(&a)?, rater_of(&b)?)));
        }
        let mut of_record = self.batch_raters(batch)?.into_iter().filter(|(_, kind)| kind.can_be_of_record());
        Ok(of_record.next().zip(of_record.next()).map(|(first, second)| (first.0, second.0)))
    }

    /// Joins a model of an imported audit to a run.
    ///
    /// # Errors
    /// No such run, or the model was joined to another.
    pub fn join_model(&mut self, batch: &BatchInfo, model: &str, run: &str) -> Result<(), StoreError> {
        self.run(run)?;
        let id = batch.id;
        self.write(|transaction| {
            let known: Option<String> = transaction
                .query_row("SELECT run FROM batch_joins WHERE batch = ? AND model = ?", params![id, model], |row| {
                    row.get(0)
                })
                .optional()?;
            match known {
                Some(known) if known == run => Ok(()),
                Some(known) => Err(StoreError::Conflict {
                    message: format!("model {model:?} is joined to run {known}"),
                    hint: "import the labels again under another batch name".into(),
                }),
                None => {
                    transaction.execute(
                        "INSERT INTO batch_joins (batch, model, run) VALUES (?,?,?)",
                        params![id, model, run],
                    )?;
                    Ok(())
                }
            }
        })
    }

    /// All models of an imported audit that are joined to a run, with the run.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn joins(&self, batch: &BatchInfo) -> Result<BTreeMap<String, String>, StoreError> {
        let mut statement = self.connection.prepare("SELECT model, run FROM batch_joins WHERE batch = ?")?;
        let rows = statement.query_map([batch.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Raters of a batch with the language model behind them, where it was said.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn rater_models(&self, batch: &BatchInfo) -> Result<BTreeMap<String, String>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT name, model FROM batch_raters JOIN raters ON raters.name = rater WHERE batch = ? AND model IS NOT NULL",
        )?;
        let rows = statement.query_map([batch.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The run that a model of an imported audit is joined to.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn joined_run(&self, batch: &BatchInfo, model: &str) -> Result<Option<String>, StoreError> {
        Ok(self
            .connection
            .query_row("SELECT run FROM batch_joins WHERE batch = ? AND model = ?", params![batch.id, model], |row| {
                row.get(0)
            })
            .optional()?)
    }
}

fn insert_rater(
    transaction: &Transaction<'_>,
    batch: i64,
    rater: &RaterName,
    kind: RaterKind,
    model: Option<&str>,
    now: &str,
) -> Result<(), StoreError> {
    let known: Option<String> = transaction
        .query_row("SELECT kind FROM raters WHERE name = ?", [rater.as_str()], |row| row.get(0))
        .optional()?;
    match known {
        Some(known) if known != kind.as_str() => {
            return Err(StoreError::Conflict {
                message: format!("rater {rater} is known as {known}, not {kind}"),
                hint: "give a rater of another kind another name".into(),
            });
        }
        Some(_) => {}
        None => {
            transaction.execute(
                "INSERT INTO raters (name, kind, model, added_at) VALUES (?,?,?,?)",
                params![rater.as_str(), kind.as_str(), model, now],
            )?;
        }
    }
    transaction.execute(
        "INSERT INTO batch_raters (batch, rater, ordinal)
         SELECT ?1, ?2, (SELECT count(*) FROM batch_raters WHERE batch = ?1) ON CONFLICT DO NOTHING",
        params![batch, rater.as_str()],
    )?;
    Ok(())
}

pub(super) fn rater_of(name: &str) -> Result<RaterName, StoreError> {
    RaterName::parse(name)
        .map_err(|error| StoreError::Damaged { what: format!("a rater that cannot be named: {error}") })
}

fn kind_of(text: &str) -> Result<RaterKind, StoreError> {
    RaterKind::parse(text).ok_or_else(|| StoreError::Damaged { what: format!("the rater kind {text:?}") })
}
