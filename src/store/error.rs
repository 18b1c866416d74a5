//! What can go wrong in the store, and how it reads to a user.

use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Place};

/// Trouble in the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be opened.
    #[error("cannot open the database: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// No such file.
    #[error("there is no database here")]
    NoDatabase {
        /// The file.
        path: PathBuf,
    },
    /// Made by a newer program.
    #[error("the database has schema {found}, this program knows {known}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: usize,
        /// The newest schema known here.
        known: usize,
    },
    /// A database of another program.
    #[error("this SQLite file belongs to another program")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// No run of this name.
    #[error("there is no run {name:?}")]
    NoRun {
        /// The name.
        name: String,
    },
    /// No batch of this name.
    #[error("there is no batch {name:?}")]
    NoBatch {
        /// The name.
        name: String,
    },
    /// The batch has no such case.
    #[error("batch {batch} has no case {case}")]
    NoCase {
        /// The case.
        case: String,
        /// The batch.
        batch: String,
    },
    /// What is stored contradicts what is to be stored.
    #[error("{message}")]
    Conflict {
        /// What contradicts what.
        message: String,
        /// What the user can do.
        hint: String,
    },
    /// A stored value that this program cannot have written.
    #[error("the database holds {what}")]
    Damaged {
        /// The value and where it is.
        what: String,
    },
    /// A plan's `where` that SQLite refuses.
    #[error("the condition of stratum {stratum} cannot be used: {message}")]
    Condition {
        /// The stratum.
        stratum: String,
        /// Why.
        message: String,
    },
    /// SQLite's own error.
    #[error("database: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

impl StoreError {
    pub(super) fn open(path: &Path, source: rusqlite::Error) -> Self {
        Self::Open { path: path.to_path_buf(), source }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked))
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Open { path, source } => {
                let kind = if is_busy(&source) { Kind::Busy } else { Kind::Io };
                Self::new(kind, message).at(Place::file(&path)).hint("name another file with --db or DUALRATER_DB")
            }
            StoreError::NoDatabase { path } => Self::not_found(message)
                .at(Place::file(&path))
                .hint("start with `dualrater ingest bfcl --run NAME --model M --results DIR`, or name a file with --db"),
            StoreError::Newer { path, .. } => Self::conflict(message).at(Place::file(&path)).hint("use the newer program"),
            StoreError::Foreign { path } => {
                Self::conflict(message).at(Place::file(&path)).hint("name another file with --db or DUALRATER_DB")
            }
            StoreError::NoRun { .. } => Self::not_found(message).hint("`dualrater runs` lists them"),
            StoreError::NoBatch { .. } => Self::not_found(message).hint("`dualrater batches` lists them"),
            StoreError::NoCase { batch, .. } => {
                Self::not_found(message).hint(format!("`dualrater batches {batch} --json` lists its cases"))
            }
            StoreError::Conflict { hint, .. } => Self::conflict(message).hint(hint),
            StoreError::Damaged { .. } => Self::new(Kind::CheckFailed, message)
                .hint("the file was written by something else; restore a copy made by `dualrater backup`"),
            StoreError::Condition { .. } => Self::data(message).hint(
                "a `where` is one SQL expression over the columns of the view `frame` (docs/plans.md), with deterministic functions only",
            ),
            StoreError::Sqlite(ref source) if is_busy(source) => {
                Self::new(Kind::Busy, "another program is writing to the database").hint("wait a moment and try again")
            }
            StoreError::Sqlite(_) => Self::new(Kind::Io, message),
        }
    }
}
