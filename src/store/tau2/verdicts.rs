//! Finished judgments of database writes, as other programs left them.

use rusqlite::{OptionalExtension as _, params};

use crate::store::{Store, StoreError};

/// A set of judgments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictSet {
    /// Name.
    pub name: String,
    /// Records.
    pub records: u64,
}

/// One judgment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredVerdict {
    /// Model.
    pub model: String,
    /// Domain.
    pub domain: String,
    /// Simulation.
    pub simulation: String,
    /// Tool.
    pub tool: String,
    /// Was the write confirmed? `None`: no verdict.
    pub confirmed: Option<bool>,
    /// Does the simulation pass? `None`: no reward.
    pub passed: Option<bool>,
}

impl Store {
    /// Stores a set; `false` where the same bytes are stored under this name already.
    ///
    /// # Errors
    /// The name is taken by other bytes.
    pub fn add_verdicts(
        &mut self,
        name: &str,
        path: &str,
        sha256: &str,
        verdicts: &[StoredVerdict],
        now: &str,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let known: Option<String> = transaction
                .query_row("SELECT sha256 FROM verdict_sets WHERE name = ?", [name], |row| row.get(0))
                .optional()?;
            match known {
                Some(known) if known == sha256 => return Ok(false),
                Some(_) => {
                    return Err(StoreError::Conflict {
                        message: format!("a set of verdicts {name} is stored with other bytes"),
                        hint: "a set is never changed: give this file another --name".into(),
                    });
                }
                None => {}
            }
            transaction.execute(
                "INSERT INTO verdict_sets (name, path, sha256, records, imported_at) VALUES (?,?,?,?,?)",
                params![name, path, sha256, verdicts.len() as i64, now],
            )?;
            let set = transaction.last_insert_rowid();
            let mut statement = transaction.prepare(
                "INSERT INTO verdicts (verdict_set, ordinal, model, domain, simulation, tool, confirmed, passed)
                 VALUES (?,?,?,?,?,?,?,?)",
            )?;
            for (ordinal, verdict) in verdicts.iter().enumerate() {
                statement.execute(params![
                    set,
                    ordinal as i64,
                    verdict.model,
                    verdict.domain,
                    verdict.simulation,
                    verdict.tool,
                    verdict.confirmed,
                    verdict.passed,
                ])?;
            }
            Ok(true)
        })
    }

    /// The sets in the order of their names.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn verdict_sets(&self) -> Result<Vec<VerdictSet>, StoreError> {
        let mut statement = self.connection.prepare("SELECT name, records FROM verdict_sets ORDER BY name")?;
        let rows = statement
            .query_map([], |row| Ok(VerdictSet { name: row.get(0)?, records: row.get::<_, i64>(1)? as u64 }))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The judgments of a set in the order of its file.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn verdicts(&self, set: &str) -> Result<Vec<StoredVerdict>, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT model, domain, simulation, tool, confirmed, passed FROM verdicts
             JOIN verdict_sets ON verdict_sets.id = verdict_set WHERE name = ? ORDER BY ordinal",
        )?;
        let rows = statement.query_map([set], |row| {
            Ok(StoredVerdict {
                model: row.get(0)?,
                domain: row.get(1)?,
                simulation: row.get(2)?,
                tool: row.get(3)?,
                confirmed: row.get(4)?,
                passed: row.get(5)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
