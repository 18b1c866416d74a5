//! Nonresponse: cases that nobody can rate, declared before anybody did. They stay in the batch and in every denominator.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{BatchInfo, NewRating, Store, StoreError};
use crate::model::{CaseIdentity, RaterName};

/// A case that was declared unusable.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct UnusableCase {
    /// The case.
    pub case: CaseIdentity,
    /// Its stratum.
    pub stratum: String,
    /// Why nobody can rate it.
    pub reason: String,
    /// When it was declared (UTC).
    pub declared_at: String,
    /// The case that was drawn in its place.
    pub replaced_by: Option<CaseIdentity>,
}

impl Store {
    /// The unusable cases of a batch in its order.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn unusable(&self, batch: &BatchInfo) -> Result<Vec<UnusableCase>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT u.identity, c.stratum, u.reason, u.declared_at, r.identity
             FROM unusable_cases u JOIN batch_cases c ON c.batch = u.batch AND c.identity = u.identity
             LEFT JOIN round_cases r ON r.batch = u.batch AND r.replaces = u.identity
             WHERE u.batch = ? ORDER BY c.position",
        )?;
        let parse = |text: String| {
            CaseIdentity::parse(&text)
                .map_err(|error| StoreError::Damaged { what: format!("a case that cannot be named: {error}") })
        };
        let mut rows = statement.query([batch.id])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(UnusableCase {
                case: parse(row.get(0)?)?,
                stratum: row.get(1)?,
                reason: row.get(2)?,
                declared_at: row.get(3)?,
                replaced_by: row.get::<_, Option<String>>(4)?.map(parse).transpose()?,
            });
        }
        Ok(found)
    }

    /// Declares a case unusable.
    ///
    /// # Errors
    /// No such case in the batch; a person or a model has rated it; it was declared already.
    pub fn declare_unusable(
        &mut self,
        batch: &BatchInfo,
        case: &CaseIdentity,
        reason: &str,
        (command, now): (&str, &str),
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            let there = transaction
                .prepare("SELECT 1 FROM batch_cases WHERE batch = ? AND identity = ?")?
                .exists(params![batch.id, case.as_str()])?;
            if !there {
                return Err(StoreError::NoCase { case: case.to_string(), batch: batch.name.to_string() });
            }
            let raters: Vec<String> = transaction
                .prepare(
                    "SELECT DISTINCT rater FROM ratings JOIN raters ON raters.name = rater
                     WHERE batch = ? AND identity = ? AND kind <> 'mechanical' ORDER BY rater",
                )?
                .query_map(params![batch.id, case.as_str()], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            if !raters.is_empty() {
                return Err(StoreError::Conflict {
                    message: format!("{case} was rated by {}; nonresponse is decided before", raters.join(", ")),
                    hint: "a rater who could not see what a label asks for answers cannot_judge, with --revise".into(),
                });
            }
            if let Some(known) = reason_of(transaction, batch.id, case)? {
                return Err(StoreError::Conflict {
                    message: format!("{case} was declared unusable already: {known}"),
                    hint: "a declaration is never changed".into(),
                });
            }
            transaction.execute(
                "INSERT INTO unusable_cases (batch, identity, reason, command, declared_at) VALUES (?,?,?,?,?)",
                params![batch.id, case.as_str(), reason, command, now],
            )?;
            Ok(())
        })
    }

    /// Why each unusable case of a batch is unusable.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn unusable_reasons(&self, batch: &BatchInfo) -> Result<BTreeMap<CaseIdentity, String>, StoreError> {
        Ok(self.unusable(batch)?.into_iter().map(|found| (found.case, found.reason)).collect())
    }
}

fn reason_of(transaction: &Connection, batch: i64, case: &CaseIdentity) -> Result<Option<String>, StoreError> {
    Ok(transaction
        .query_row(
            "SELECT reason FROM unusable_cases WHERE batch = ? AND identity = ?",
            params![batch, case.as_str()],
            |row| row.get(0),
        )
        .optional()?)
}

/// Refuses answers of people and models to unusable cases.
pub(super) fn check(transaction: &Connection, batch: i64, entries: &[NewRating]) -> Result<(), StoreError> {
    let any = transaction.prepare("SELECT 1 FROM unusable_cases WHERE batch = ?")?.exists([batch])?;
    if !any {
        return Ok(());
    }
    let computed = |rater: &RaterName| -> Result<bool, StoreError> {
        Ok(transaction
            .prepare_cached("SELECT 1 FROM raters WHERE name = ? AND kind = 'mechanical'")?
            .exists([rater.as_str()])?)
    };
    for entry in entries {
        if let Some(reason) = reason_of(transaction, batch, &entry.case)?
            && !computed(&entry.rater)?
        {
            return Err(StoreError::Conflict {
                message: format!("{} was declared unusable and cannot be rated: {reason}", entry.case),
                hint: "leave the case out".into(),
            });
        }
    }
    Ok(())
}
