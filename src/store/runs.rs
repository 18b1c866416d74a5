//! Stored runs and their files.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Store, StoreError};
use crate::model::Category;

/// Which of a run's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// What the model emitted.
    Result,
    /// What the grader said.
    Score,
}

impl FileKind {
    /// As stored and as in the benchmark's file names.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Score => "score",
        }
    }
}

/// A stored run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRow {
    /// Row id.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Model.
    pub model: String,
    /// Condition.
    pub condition: String,
    /// Digest of its data set.
    pub dataset: Option<String>,
}

/// A stored file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileRow {
    /// Row id.
    pub id: i64,
    /// Category.
    pub category: Category,
    /// The path at import.
    pub path: String,
    /// SHA-256 of the bytes.
    pub sha256: String,
    /// Cases (result) or failure lines (score).
    pub records: u64,
    /// The result file holds failed cases only.
    pub failures_only: bool,
    /// Score header: correct and total.
    pub header: Option<(u64, u64)>,
}

/// A category as stored.
pub(super) fn category_of(text: &str) -> Result<Category, StoreError> {
    Category::parse(text).ok_or_else(|| StoreError::Damaged { what: format!("the category {text:?}") })
}

/// A stored JSON list of texts (or of lists of texts).
pub(super) fn json_list<T: serde::de::DeserializeOwned>(json: &str, what: &str) -> Result<T, StoreError> {
    serde_json::from_str(json)
        .map_err(|error| StoreError::Damaged { what: format!("{what} that cannot be read: {error}") })
}

pub(super) fn run_row(connection: &Connection, name: &str) -> Result<Option<RunRow>, StoreError> {
    Ok(connection
        .query_row("SELECT id, name, model, condition, dataset FROM runs WHERE name = ?", [name], |row| {
            Ok(RunRow {
                id: row.get(0)?,
                name: row.get(1)?,
                model: row.get(2)?,
                condition: row.get(3)?,
                dataset: row.get(4)?,
            })
        })
        .optional()?)
}

pub(super) fn file_row(
    connection: &Connection,
    run: i64,
    category: Category,
    kind: FileKind,
) -> Result<Option<FileRow>, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT id, path, sha256, records, failures_only, correct, total FROM run_files
             WHERE run = ? AND category = ? AND kind = ?",
        )?
        .query_row(params![run, category.as_str(), kind.as_str()], |row| {
            let correct: Option<i64> = row.get(5)?;
            let total: Option<i64> = row.get(6)?;
            Ok(FileRow {
                id: row.get(0)?,
                category,
                path: row.get(1)?,
                sha256: row.get(2)?,
                records: row.get::<_, i64>(3)? as u64,
                failures_only: row.get(4)?,
                header: correct.zip(total).map(|(correct, total)| (correct as u64, total as u64)),
            })
        })
        .optional()?)
}

impl Store {
    /// A run by name.
    ///
    /// # Errors
    /// No such run.
    pub fn run(&self, name: &str) -> Result<RunRow, StoreError> {
        run_row(&self.connection, name)?.ok_or_else(|| StoreError::NoRun { name: name.to_owned() })
    }

    /// All runs in the order of their names.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let mut statement =
            self.connection.prepare("SELECT id, name, model, condition, dataset FROM runs ORDER BY name")?;
        let rows = statement.query_map([], |row| {
            Ok(RunRow {
                id: row.get(0)?,
                name: row.get(1)?,
                model: row.get(2)?,
                condition: row.get(3)?,
                dataset: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// A run's file of one category and kind.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn file(&self, run: &RunRow, category: Category, kind: FileKind) -> Result<Option<FileRow>, StoreError> {
        file_row(&self.connection, run.id, category, kind)
    }

    /// Does any case of the run have a text emission? Where none has, ask, refuse and confirm cannot be seen in it.
    ///
    /// # Errors
    /// The database's own trouble.
    pub fn run_has_text(&self, run: &RunRow) -> Result<bool, StoreError> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT 1 FROM cases JOIN emissions ON emissions.case_row = cases.id
                 WHERE cases.run = ?1 AND raw LIKE '\"%' AND (class IS NULL OR class <> 'tool_call') AND raw <> '\"\"'
                 UNION ALL
                 SELECT 1 FROM tau2_messages WHERE run = ?1 AND role = 'assistant' AND content <> '' LIMIT 1",
            )?
            .exists([run.id])?)
    }
}
