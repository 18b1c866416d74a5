//! Writes one run inside one transaction: its files, cases, emissions, failures and its fit to a data set.

use rusqlite::{Transaction, params};

use super::new_run::{CaseFitRow, NewCase, NewEmission, NewFailure, NewFile};
use super::runs::{category_of, file_row, json_list, run_row};
use super::{FileKind, FileRow, StoreError};
use crate::model::{Category, RunName};

/// Writes one run inside one transaction.
pub struct RunWriter<'t> {
    pub(super) transaction: &'t Transaction<'t>,
    run: i64,
}

impl<'t> RunWriter<'t> {
    /// Finds or makes the run.
    ///
    /// # Errors
    /// The run exists with another model or condition.
    pub fn open(
        transaction: &'t Transaction<'t>,
        name: &RunName,
        model: &str,
        condition: &str,
        now: &str,
    ) -> Result<Self, StoreError> {
        Self::open_as(transaction, name, model, condition, "bfcl-multi-turn", now)
    }

    /// The same for a run of any benchmark.
    ///
    /// # Errors
    /// The run exists with another model, condition or benchmark.
    pub fn open_as(
        transaction: &'t Transaction<'t>,
        name: &RunName,
        model: &str,
        condition: &str,
        benchmark: &str,
        now: &str,
    ) -> Result<Self, StoreError> {
        let run = if let Some(run) = run_row(transaction, name.as_str())? {
            if run.model != model || run.condition != condition {
                return Err(StoreError::Conflict {
                    message: format!(
                        "run {name} is stored with model {:?} and condition {:?}, not {model:?} and {condition:?}",
                        run.model, run.condition
                    ),
                    hint: "give this model or condition a run name of its own".into(),
                });
            }
            let stored: String =
                transaction.query_row("SELECT benchmark FROM runs WHERE id = ?", [run.id], |row| row.get(0))?;
            if stored != benchmark {
                return Err(StoreError::Conflict {
                    message: format!("run {name} is stored as a run of {stored}, not of {benchmark}"),
                    hint: "give this run a name of its own".into(),
                });
            }
            run.id
        } else {
            transaction.execute(
                "INSERT INTO runs (name, model, condition, benchmark, created_at) VALUES (?, ?, ?, ?, ?)",
                params![name.as_str(), model, condition, benchmark, now],
            )?;
            transaction.last_insert_rowid()
        };
        Ok(Self { transaction, run })
    }

    /// Stores a file's record and returns its row id.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_file(&self, file: &NewFile<'_>) -> Result<i64, StoreError> {
        self.transaction.execute(
            "INSERT INTO run_files (run, category, kind, path, sha256, bytes, records, failures_only, accuracy, correct,
             total, rules_digest, oddities, imported_at, program) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            params![
                self.run,
                file.category.as_str(),
                file.kind.as_str(),
                file.path,
                file.sha256,
                file.bytes as i64,
                file.records as i64,
                file.failures_only,
                file.header.map(|header| header.0),
                file.header.map(|header| header.1 as i64),
                file.header.map(|header| header.2 as i64),
                file.rules_digest,
                file.oddities,
                file.now,
                env!("CARGO_PKG_VERSION"),
            ],
        )?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Completes a file's record after streaming: digest, size, record count and oddities.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn complete_file(
        &self,
        id: i64,
        sha256: &str,
        bytes: u64,
        records: u64,
        oddities: &str,
    ) -> Result<(), StoreError> {
        self.transaction.execute(
            "UPDATE run_files SET sha256 = ?, bytes = ?, records = ?, oddities = ? WHERE id = ?",
            params![sha256, bytes as i64, records as i64, oddities, id],
        )?;
        Ok(())
    }

    /// Stores a case; a case id that the run has already becomes `…#dup2`, `…#dup3` and is marked. Returns the row id and
    /// whether it was a duplicate.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_case(&self, file: i64, case: &NewCase<'_>) -> Result<(i64, bool), StoreError> {
        let mut case_id = case.case_id.to_owned();
        let mut copy = 1_u32;
        while self.has_case(&case_id)? {
            copy += 1;
            case_id = format!("{}#dup{copy}", case.case_id);
        }
        let defect = if copy > 1 { Some("duplicate_id") } else { case.defect };
        self.transaction
            .prepare_cached(
                "INSERT INTO cases (file, run, category, ordinal, line, case_id, raw_id, defect, shape, error, turns, user_turns,
                 log_return_turn) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            )?
            .execute(params![
                file,
                self.run,
                case.category.as_str(),
                case.ordinal as i64,
                case.line as i64,
                case_id,
                case.raw_id,
                defect,
                case.shape,
                case.error,
                case.turns as i64,
                case.user_turns,
                case.log_return_turn,
            ])?;
        Ok((self.transaction.last_insert_rowid(), copy > 1))
    }

    fn has_case(&self, case_id: &str) -> Result<bool, StoreError> {
        Ok(self
            .transaction
            .prepare_cached("SELECT 1 FROM cases WHERE run = ? AND case_id = ?")?
            .exists(params![self.run, case_id])?)
    }

    /// Stores an emission of a case.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_emission(&self, case_row: i64, emission: &NewEmission<'_>) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached(
                "INSERT INTO emissions (case_row, turn, step, raw, class, form, cue, cue_offset) VALUES (?,?,?,?,?,?,?,?)",
            )?
            .execute(params![
                case_row,
                emission.turn as i64,
                emission.step as i64,
                emission.raw,
                emission.class,
                emission.form,
                emission.cue.map(|cue| cue.0),
                emission.cue.map(|cue| cue.1 as i64),
            ])?;
        Ok(())
    }

    /// Stores a failed case; `false` where the same id was stored before.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_failure(&self, category: Category, failure: &NewFailure<'_>) -> Result<bool, StoreError> {
        let added = self
            .transaction
            .prepare_cached(
                "INSERT INTO failures (run, category, raw_id, error_type, error_message, detail) VALUES (?,?,?,?,?,?)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                self.run,
                category.as_str(),
                failure.raw_id,
                failure.error_type,
                failure.error_message,
                failure.detail,
            ])?;
        Ok(added == 1)
    }

    /// A stored file of this run.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn file(&self, category: Category, kind: FileKind) -> Result<Option<FileRow>, StoreError> {
        file_row(self.transaction, self.run, category, kind)
    }

    /// Does the run have a case with this id in this category?
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn knows_raw_id(&self, category: Category, raw_id: &str) -> Result<bool, StoreError> {
        Ok(self
            .transaction
            .prepare_cached("SELECT 1 FROM cases WHERE run = ? AND case_id = ? AND category = ?")?
            .exists(params![self.run, raw_id, category.as_str()])?)
    }

    /// How many cases of a category carry a usable id of their own.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn sound_cases(&self, category: Category) -> Result<u64, StoreError> {
        let count: i64 = self.transaction.query_row(
            "SELECT count(*) FROM cases WHERE run = ? AND category = ? AND defect IS NULL",
            params![self.run, category.as_str()],
            |row| row.get(0),
        )?;
        Ok(count as u64)
    }

    /// Stores a data set's header; `true` where it is new and its entries must follow.
    ///
    /// # Errors
    /// The run has another data set already.
    pub fn join_dataset(&self, digest: &str, path: &str, entries: u64, now: &str) -> Result<bool, StoreError> {
        let current: Option<String> =
            self.transaction.query_row("SELECT dataset FROM runs WHERE id = ?", [self.run], |row| row.get(0))?;
        if let Some(current) = current
            && current != digest
        {
            return Err(StoreError::Conflict {
                message: format!("the run was joined to another data set ({} …)", &current[..current.len().min(12)]),
                hint: "import the run under another name to join it to this data set".into(),
            });
        }
        let new = self.transaction.execute(
            "INSERT INTO datasets (digest, path, entries, imported_at) VALUES (?,?,?,?) ON CONFLICT DO NOTHING",
            params![digest, path, entries as i64, now],
        )? == 1;
        self.transaction.execute("UPDATE runs SET dataset = ? WHERE id = ?", params![digest, self.run])?;
        Ok(new)
    }

    /// Stores one entry of a data set. Lists are JSON.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_dataset_entry(
        &self,
        digest: &str,
        key: (Category, &str),
        user_turns: &str,
        ground_truth: Option<&str>,
        held_out: &str,
        return_turn: Option<u32>,
    ) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached(
                "INSERT INTO dataset_entries (dataset, category, entry_id, user_turns, ground_truth, held_out, return_turn)
                 VALUES (?,?,?,?,?,?,?)",
            )?
            .execute(params![digest, key.0.as_str(), key.1, user_turns, ground_truth, held_out, return_turn])?;
        Ok(())
    }

    /// The run's cases whose fit to its data set is not known yet.
    ///
    /// # Errors
    /// The database's own trouble or a damaged row.
    pub fn unfitted_cases(&self) -> Result<Vec<CaseFitRow>, StoreError> {
        let mut statement = self.transaction.prepare(
            "SELECT cases.id, category, raw_id, turns, user_turns FROM cases
             LEFT JOIN case_fits ON case_fits.case_row = cases.id
             WHERE run = ? AND case_fits.case_row IS NULL ORDER BY cases.id",
        )?;
        let rows = statement.query_map([self.run], |row| {
            let category: String = row.get(1)?;
            let logged: Option<String> = row.get(4)?;
            Ok((row.get(0)?, category, row.get(2)?, row.get::<_, i64>(3)?, logged))
        })?;
        let mut cases = Vec::new();
        for row in rows {
            let (case_row, category, raw_id, turns, logged): (i64, String, Option<String>, i64, Option<String>) = row?;
            let logged = logged.map(|json| json_list(&json, "a case's logged words")).transpose()?;
            cases.push(CaseFitRow { case_row, category: category_of(&category)?, raw_id, turns: turns as u64, logged });
        }
        Ok(cases)
    }

    /// Stores the fit of a case.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn add_fit(&self, case_row: i64, digest: &str, status: &str, reason: Option<&str>) -> Result<(), StoreError> {
        self.transaction
            .prepare_cached("INSERT INTO case_fits (case_row, dataset, status, reason) VALUES (?,?,?,?)")?
            .execute(params![case_row, digest, status, reason])?;
        Ok(())
    }
}
