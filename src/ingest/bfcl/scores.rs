//! A score file into the store: failures, and the counts that must close before any verdict is believed.

use std::path::Path;

use super::request::{FileOutcome, FileReport, ImportRequest, stored_before};
use super::result_line::LineError;
use super::score_file::{read_failure, read_header};
use crate::error::{Error, Place, Result};
use crate::ingest::lines::LineReader;
use crate::ingest::{Oddities, json_text};
use crate::model::Category;
use crate::store::{FileKind, FileRow, NewFailure, NewFile, RunWriter};

pub(super) fn import_scores(
    writer: &RunWriter<'_>,
    request: &ImportRequest<'_>,
    category: Category,
    path: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<FileReport> {
    if let Some(stored) = writer.file(category, FileKind::Score)? {
        return stored_before(&stored, request, FileKind::Score, path);
    }
    let Some(results) = writer.file(category, FileKind::Result)? else {
        return Err(Error::not_found(format!("run {} has no results for {category}", request.run))
            .at(Place::file(path))
            .hint("import the results first (--results), then the scores"));
    };
    let mut reader = LineReader::open(path)?;
    let mut oddities = Oddities::default();
    let at = |line: u64, error: LineError| {
        Error::data(error.message)
            .at(Place { file: path.to_path_buf(), line: Some(line), column: Some(error.offset as u64 + 1) })
            .hint("a score file cannot lose a line: a missing failure would count as a pass")
    };
    let Some(line) = reader.next_line(&mut oddities)? else {
        return Err(Error::data("the score file is empty").at(Place::file(path)));
    };
    let header = read_header(line.text).map_err(|error| at(line.number, error))?;
    let mut records: u64 = 0;
    let mut seen = 0;
    while let Some(line) = reader.next_line(&mut oddities)? {
        let number = line.number;
        let failure = read_failure(line.text, number, &mut oddities).map_err(|error| at(number, error))?;
        if !writer.knows_raw_id(category, &failure.raw_id)? {
            return Err(Error::data(format!(
                "failed case {:?} is not in the result file {}",
                failure.raw_id, results.path
            ))
            .at(Place::line(path, number))
            .hint("these two files are not of one run, or the result file is not whole"));
        }
        let added = writer.add_failure(
            category,
            &NewFailure {
                raw_id: &failure.raw_id,
                error_type: failure.error_type.as_deref(),
                error_message: failure.message.as_deref(),
                detail: failure.detail.as_deref(),
            },
        )?;
        if added {
            records += 1;
        } else {
            oddities.note("failed case listed twice", number, &failure.raw_id);
        }
        progress(reader.bytes() - seen);
        seen = reader.bytes();
    }
    check_counts(writer, category, path, &results, (header.correct_count, header.total_count), records)?;
    let (sha256, bytes) = reader.finish()?;
    let json = json_text(&oddities);
    writer.add_file(&NewFile {
        category,
        kind: FileKind::Score,
        path: &path.to_string_lossy(),
        sha256: &sha256,
        bytes,
        records,
        failures_only: false,
        header: Some((header.accuracy, header.correct_count, header.total_count)),
        rules_digest: None,
        oddities: &json,
        now: request.now,
    })?;
    Ok(FileReport {
        path: path.to_path_buf(),
        category,
        kind: FileKind::Score.as_str(),
        outcome: FileOutcome::Added,
        records,
        oddities,
    })
}

/// The header's counts must agree with the failure lines and with the result file, else every verdict is in doubt.
fn check_counts(
    writer: &RunWriter<'_>,
    category: Category,
    path: &Path,
    results: &FileRow,
    (correct, total): (u64, u64),
    failures: u64,
) -> Result<()> {
    let wrong = |message: String| {
        Err(Error::data(message).at(Place::line(path, 1)).hint(format!(
            "the score file does not belong to {}, or one of the two is not whole; nothing of it was stored",
            results.path
        )))
    };
    let Some(expected) = total.checked_sub(correct) else {
        return wrong(format!("the header says {correct} correct of {total}"));
    };
    if expected != failures {
        return wrong(format!("the header says {expected} failed ({total} - {correct}), the file lists {failures}"));
    }
    let sound = writer.sound_cases(category)?;
    if results.failures_only {
        if sound != failures {
            return wrong(format!("the header says {failures} failed, the file of failed cases holds {sound}"));
        }
        return Ok(());
    }
    // With duplicate ids a grader may have counted records or ids.
    if total != sound && total != results.records {
        return wrong(format!("the header says {total} cases, the result file holds {sound}"));
    }
    Ok(())
}
