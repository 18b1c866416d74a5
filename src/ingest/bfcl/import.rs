//! Brings BFCL files into the store: one transaction, nothing half-stored, the same bytes again change nothing.

use super::dataset::Dataset;
use super::discover::discover;
use super::join::join_dataset;
use super::request::{ImportReport, ImportRequest};
use super::results::import_results;
use super::scores::import_scores;
use crate::error::Result;
use crate::store::{RunWriter, Store};

/// Imports what the request names. `progress` is told of bytes read.
///
/// # Errors
/// A file that cannot be read or found; two files for one category; changed bytes of a stored file; counts that do not
/// close. A failed import leaves nothing behind.
pub fn import(store: &mut Store, request: &ImportRequest<'_>, progress: &mut dyn FnMut(u64)) -> Result<ImportReport> {
    let results = request.results.map(|path| discover(path, "result")).transpose()?.unwrap_or_default();
    let scores = request.scores.map(|path| discover(path, "score")).transpose()?.unwrap_or_default();
    let dataset = request.dataset.map(Dataset::read).transpose()?;
    let mut report = ImportReport::default();
    // One transaction for the whole command: results whose scores contradict them do not stay behind as a half run.
    store.write(|transaction| {
        let writer = RunWriter::open(transaction, request.run, request.model, request.condition, request.now)?;
        for (category, path) in &results.files {
            report.files.push(import_results(&writer, request, *category, path, &mut report.skipped, progress)?);
        }
        for (category, path) in &scores.files {
            report.files.push(import_scores(&writer, request, *category, path, progress)?);
        }
        match &dataset {
            Some(dataset) => join_dataset(&writer, request, dataset, &mut report),
            None => Ok(()),
        }
    })?;
    Ok(report)
}
