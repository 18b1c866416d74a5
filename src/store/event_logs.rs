//! What a probe's event log says about the cases of a run.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension as _, params};

use super::runs::json_list;
use super::{RunRow, Store, StoreError};

/// An event log to store.
pub struct NewEventLog<'a> {
    /// Path as given.
    pub path: &'a str,
    /// SHA-256 of the file.
    pub sha256: &'a str,
    /// Records read.
    pub records: u64,
    /// Per case of the run what was done to it.
    pub cases: &'a BTreeMap<String, BTreeSet<String>>,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
}

impl Store {
    /// Stores a run's event log. `false`: the same file is stored already.
    ///
    /// # Errors
    /// The run has another event log.
    pub fn add_event_log(&mut self, run: &RunRow, log: &NewEventLog<'_>) -> Result<bool, StoreError> {
        let stored: Option<String> = self
            .connection
            .query_row("SELECT sha256 FROM event_logs WHERE run = ?", [run.id], |row| row.get(0))
            .optional()?;
        match stored {
            Some(digest) if digest == log.sha256 => return Ok(false),
            Some(digest) => {
                return Err(StoreError::Conflict {
                    message: format!("run {} has another event log (sha256 {digest})", run.name),
                    hint: "a run has one event log; ingest the other run under a name of its own".into(),
                });
            }
            None => {}
        }
        self.write(|transaction| {
            transaction.execute(
                "INSERT INTO event_logs (run, path, sha256, records, imported_at) VALUES (?, ?, ?, ?, ?)",
                params![run.id, log.path, log.sha256, log.records as i64, log.now],
            )?;
            let mut insert =
                transaction.prepare("INSERT INTO case_events (run, case_id, happened) VALUES (?, ?, ?)")?;
            for (case, happened) in log.cases {
                insert.execute(params![run.id, case, serde_json::json!(happened).to_string()])?;
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(true)
    }

    /// What was done to a case; `None` where no log mentions it.
    pub(super) fn events_of(&self, run: &RunRow, case_id: &str) -> Result<Option<BTreeSet<String>>, StoreError> {
        let json: Option<String> = self
            .connection
            .prepare_cached("SELECT happened FROM case_events WHERE run = ? AND case_id = ?")?
            .query_row(params![run.id, case_id], |row| row.get(0))
            .optional()?;
        let read =
            |json: String| json_list(&json, "a case's events").map(|list: Vec<String>| list.into_iter().collect());
        json.map(read).transpose()
    }

    /// The identities of a run's cases by the id that its files give them.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn case_ids_by_raw_id(&self, run: &RunRow) -> Result<BTreeMap<String, String>, StoreError> {
        let mut statement = self
            .connection
            .prepare("SELECT raw_id, case_id FROM cases WHERE run = ? AND raw_id IS NOT NULL AND defect IS NULL")?;
        let rows = statement.query_map([run.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
