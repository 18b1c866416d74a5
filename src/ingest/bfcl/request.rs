//! What an import is asked for, and what it says it did.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Place, Result};
use crate::ingest::Oddities;
use crate::ingest::lines::file_digest;
use crate::model::{Category, RunName};
use crate::store::{FileKind, FileRow};

/// What to import.
pub struct ImportRequest<'a> {
    /// The run's name.
    pub run: &'a RunName,
    /// The model.
    pub model: &'a str,
    /// The condition.
    pub condition: &'a str,
    /// Folder or file of results.
    pub results: Option<&'a Path>,
    /// Folder or file of scores.
    pub scores: Option<&'a Path>,
    /// Folder of the data set.
    pub dataset: Option<&'a Path>,
    /// The result files hold failed cases only.
    pub failures_only: bool,
    /// Go on without lines that cannot be read.
    pub skip_bad_lines: bool,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOutcome {
    /// Stored.
    Added,
    /// The same bytes were stored before.
    Unchanged,
}

/// One imported file.
#[derive(Debug, Clone, Serialize)]
pub struct FileReport {
    /// The file.
    pub path: PathBuf,
    /// Category.
    pub category: Category,
    /// `result` or `score`.
    pub kind: &'static str,
    /// What happened.
    pub outcome: FileOutcome,
    /// Cases (result) or failed cases (score).
    pub records: u64,
    /// What was odd.
    pub oddities: Oddities,
}

/// A line that was left out under `--skip-bad-lines`.
#[derive(Debug, Clone, Serialize)]
pub struct SkippedLine {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// Why.
    pub message: String,
}

/// What an import did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ImportReport {
    /// Files in the order of their import.
    pub files: Vec<FileReport>,
    /// Lines left out.
    pub skipped: Vec<SkippedLine>,
    /// Fit to the data set: verified, unverifiable, mismatch, absent.
    pub fits: [u64; 4],
    /// Cases that are not joined to the data set, with the reason.
    pub unjoined: Vec<(String, String)>,
}

/// A file that is stored already: unchanged, or an error.
pub(super) fn stored_before(
    stored: &FileRow,
    request: &ImportRequest<'_>,
    kind: FileKind,
    path: &Path,
) -> Result<FileReport> {
    let (sha256, _) = file_digest(path)?;
    if sha256 != stored.sha256 {
        return Err(Error::conflict(format!(
            "the {} file for {} of run {} was imported from {} with other bytes",
            kind.as_str(),
            stored.category,
            request.run,
            stored.path
        ))
        .at(Place::file(path))
        .hint(format!("import the changed file under another run name, such as --run {}-2", request.run)));
    }
    if kind == FileKind::Result && stored.failures_only != request.failures_only {
        return Err(Error::conflict(format!(
            "the file was imported {} --failures-only",
            if stored.failures_only { "with" } else { "without" }
        ))
        .at(Place::file(path))
        .hint("use the same option, or another run name"));
    }
    Ok(FileReport {
        path: path.to_path_buf(),
        category: stored.category,
        kind: kind.as_str(),
        outcome: FileOutcome::Unchanged,
        records: stored.records,
        oddities: Oddities::default(),
    })
}
