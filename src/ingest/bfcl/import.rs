//! Brings BFCL files into the store: one transaction a file, nothing half-stored, the same bytes again change nothing.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::dataset::Dataset;
use super::discover::discover;
use super::fit::{FitStatus, fit};
use super::result_line::{LineError, ResultRecord, Shape, read_result_line};
use super::score_file::{read_failure, read_header};
use crate::action::{self, CallForm};
use crate::error::{Error, Place, Result};
use crate::ingest::Oddities;
use crate::ingest::lines::{LineReader, SourceLine, file_digest};
use crate::model::{CaseIdentity, Category, RunName};
use crate::store::{FileKind, FileRow, NewCase, NewEmission, NewFailure, NewFile, RunWriter, Store};

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

/// Imports what the request names. `progress` is told of bytes read.
///
/// # Errors
/// A file that cannot be read or found; two files for one category; changed bytes of a stored file; counts that do not
/// close. Files before the failing one stay stored, the failing one leaves nothing.
pub fn import(store: &mut Store, request: &ImportRequest<'_>, progress: &mut dyn FnMut(u64)) -> Result<ImportReport> {
    let results = request.results.map(|path| discover(path, "result")).transpose()?.unwrap_or_default();
    let scores = request.scores.map(|path| discover(path, "score")).transpose()?.unwrap_or_default();
    let dataset = request.dataset.map(Dataset::read).transpose()?;
    let mut report = ImportReport::default();
    for (category, path) in &results.files {
        let file = store.write(|transaction| {
            let writer = RunWriter::open(transaction, request.run, request.model, request.condition, request.now)?;
            import_results(&writer, request, *category, path, &mut report.skipped, progress)
        })?;
        report.files.push(file);
    }
    for (category, path) in &scores.files {
        let file = store.write(|transaction| {
            let writer = RunWriter::open(transaction, request.run, request.model, request.condition, request.now)?;
            import_scores(&writer, request, *category, path, progress)
        })?;
        report.files.push(file);
    }
    if let Some(dataset) = dataset {
        store.write(|transaction| {
            let writer = RunWriter::open(transaction, request.run, request.model, request.condition, request.now)?;
            join_dataset(&writer, request, &dataset, &mut report)
        })?;
    }
    Ok(report)
}

/// A file that is stored already: unchanged, or an error.
fn stored_before(stored: &FileRow, request: &ImportRequest<'_>, kind: FileKind, path: &Path) -> Result<FileReport> {
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

fn import_results(
    writer: &RunWriter<'_>,
    request: &ImportRequest<'_>,
    category: Category,
    path: &Path,
    skipped: &mut Vec<SkippedLine>,
    progress: &mut dyn FnMut(u64),
) -> Result<FileReport> {
    if let Some(stored) = writer.file(category, FileKind::Result)? {
        return stored_before(&stored, request, FileKind::Result, path);
    }
    let mut reader = LineReader::open(path)?;
    let mut oddities = Oddities::default();
    let rules_digest = action::Classifier::paper().table().digest();
    let file = writer.add_file(&NewFile {
        category,
        kind: FileKind::Result,
        path: &path.to_string_lossy(),
        sha256: "",
        bytes: 0,
        records: 0,
        failures_only: request.failures_only,
        header: None,
        rules_digest: Some(&rules_digest),
        oddities: "{}",
        now: request.now,
    })?;
    let mut records = 0;
    let mut last_number = None;
    let mut seen = 0;
    while let Some((number, read)) =
        next_record(&mut reader, path, &mut oddities, request, skipped, |line, oddities| {
            read_result_line(line.text, line.number, oddities)
        })?
    {
        if let Some(record) = read {
            let sequence = sequence_number(record.raw_id.as_deref());
            if sequence.is_some() && sequence < last_number {
                oddities.note("ids out of order", number, record.raw_id.as_deref().unwrap_or(""));
            }
            last_number = sequence.or(last_number);
            store_case(writer, file, request, (category, records, number), &record, &mut oddities)?;
            records += 1;
        }
        progress(reader.bytes() - seen);
        seen = reader.bytes();
    }
    let (sha256, bytes) = reader.finish()?;
    let json = serde_json::to_string(&oddities).map_err(|error| Error::internal(error.to_string()))?;
    writer.complete_file(file, &sha256, bytes, records, &json)?;
    if records == 0 {
        return Err(Error::data("the result file holds no case").at(Place::file(path)));
    }
    Ok(FileReport {
        path: path.to_path_buf(),
        category,
        kind: FileKind::Result.as_str(),
        outcome: FileOutcome::Added,
        records,
        oddities,
    })
}

/// The next line, read by `read`; `None` at the end; a bad line is an error or, where asked, skipped and listed.
fn next_record<T>(
    reader: &mut LineReader,
    path: &Path,
    oddities: &mut Oddities,
    request: &ImportRequest<'_>,
    skipped: &mut Vec<SkippedLine>,
    read: impl FnOnce(&SourceLine<'_>, &mut Oddities) -> std::result::Result<T, LineError>,
) -> Result<Option<(u64, Option<T>)>> {
    let failed = match reader.next_line(oddities) {
        Ok(None) => return Ok(None),
        Ok(Some(line)) => match read(&line, oddities) {
            Ok(value) => return Ok(Some((line.number, Some(value)))),
            Err(error) => Error::data(error.message)
                .at(Place { file: path.to_path_buf(), line: Some(line.number), column: Some(error.offset as u64 + 1) })
                .hint("repair the line, or use --skip-bad-lines to go on without it"),
        },
        Err(error) => error,
    };
    let place = failed.place().cloned().unwrap_or_default();
    let (Some(line), true) = (place.line, request.skip_bad_lines) else { return Err(failed) };
    skipped.push(SkippedLine {
        path: path.to_path_buf(),
        line,
        column: place.column.unwrap_or(1),
        message: failed.message().to_owned(),
    });
    Ok(Some((line, None)))
}

/// The number at the end of an id, for the check of order.
fn sequence_number(id: Option<&str>) -> Option<u64> {
    id?.rsplit('_').next()?.parse().ok()
}

fn store_case(
    writer: &RunWriter<'_>,
    file: i64,
    request: &ImportRequest<'_>,
    (category, ordinal, line): (Category, u64, u64),
    record: &ResultRecord,
    oddities: &mut Oddities,
) -> Result<()> {
    let usable = record.raw_id.as_deref().filter(|id| CaseIdentity::new(request.run, id).is_ok());
    let defect = match (&record.raw_id, usable) {
        (_, Some(_)) => None,
        (None, None) => Some("missing_id"),
        (Some(_), None) => Some("unusable_id"),
    };
    match defect {
        Some("missing_id") => oddities.note("missing id", line, ""),
        Some(_) => oddities.note("id that cannot name a case", line, record.raw_id.as_deref().unwrap_or("")),
        None => {}
    }
    let placeholder = format!("line-{line}");
    let id = usable.unwrap_or(&placeholder);
    if usable.and_then(Category::of_case_id).is_some_and(|named| named != category) {
        oddities.note("id of another category", line, id);
    }
    let to_json = |value: &dyn erased::Json| value.json();
    let user_turns = record.log.as_ref().map(|log| to_json(&log.user_turns));
    let tool_results = record.log.as_ref().map(|log| to_json(&log.tool_results));
    let (case_row, duplicate) = writer.add_case(
        file,
        &NewCase {
            category,
            ordinal,
            line,
            case_id: id,
            raw_id: record.raw_id.as_deref(),
            defect,
            shape: record.shape.as_str(),
            error: record.error.as_deref(),
            turns: record.turns.len() as u64,
            user_turns: user_turns.as_deref(),
            log_return_turn: record.log.as_ref().and_then(|log| log.return_turn),
            tool_results: tool_results.as_deref(),
        },
    )?;
    if duplicate {
        oddities.note("duplicate id", line, id);
    }
    if record.shape != Shape::Turns {
        return Ok(());
    }
    for (turn, steps) in record.turns.iter().enumerate() {
        for (step, raw) in steps.iter().enumerate() {
            let classified = action::classify_json(raw)
                .map_err(|error| Error::internal(format!("an emission that was JSON is none: {error}")))?;
            if raw == "[]" {
                oddities.note("empty step (a text answer that was not saved, or no call)", line, id);
            }
            if classified.form == Some(CallForm::ApiNames) {
                note_api_oddities(raw, &classified.calls, line, oddities);
            }
            let cue = classified.cue.as_ref().map(|cue| (cue.cue.as_str(), cue.offset as u64));
            writer.add_emission(
                case_row,
                &NewEmission {
                    turn: turn as u64,
                    step: step as u64,
                    raw,
                    class: classified.class.map(crate::model::ActionClass::as_str),
                    form: classified.form.map(CallForm::as_str),
                    cue,
                },
            )?;
        }
    }
    Ok(())
}

/// Serialisation to JSON that cannot fail: lists of texts.
mod erased {
    pub trait Json {
        fn json(&self) -> String;
    }
    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).unwrap_or_default()
        }
    }
}

/// Junk in calls of the API style: control tokens or thousands of characters in names, arguments that are not JSON.
fn note_api_oddities(raw: &str, names: &[String], line: u64, oddities: &mut Oddities) {
    const LONGEST_NAME: usize = 128;
    for name in names {
        if name.contains("<|") {
            oddities.note("tool name with control tokens", line, name);
        } else if name.len() > LONGEST_NAME {
            oddities.note("tool name of over 128 bytes", line, name);
        }
    }
    let Ok(calls) = serde_json::from_str::<Vec<serde_json::Map<String, serde_json::Value>>>(raw) else { return };
    for (name, arguments) in calls.iter().flatten() {
        if let serde_json::Value::String(text) = arguments
            && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err()
        {
            oddities.note("call arguments that are not JSON", line, name);
        }
    }
}

fn import_scores(
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
    let json = serde_json::to_string(&oddities).map_err(|error| Error::internal(error.to_string()))?;
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

fn join_dataset(
    writer: &RunWriter<'_>,
    request: &ImportRequest<'_>,
    dataset: &Dataset,
    report: &mut ImportReport,
) -> Result<()> {
    use erased::Json as _;
    let path = dataset.path.to_string_lossy();
    if writer.join_dataset(&dataset.digest, &path, dataset.entries.len() as u64, request.now)? {
        for ((category, id), entry) in &dataset.entries {
            let truth = entry.ground_truth.as_ref().map(|truth| truth.calls.json());
            writer.add_dataset_entry(
                &dataset.digest,
                (*category, id),
                &entry.user_turns.json(),
                truth.as_deref(),
                &entry.held_out_tools.json(),
                entry.return_turn,
            )?;
        }
    }
    for case in writer.unfitted_cases()? {
        let id = case.raw_id.as_deref().unwrap_or("(no id)");
        let entry = dataset.entries.get(&(case.category, id.to_owned()));
        let turns = usize::try_from(case.turns).unwrap_or(usize::MAX);
        let found = fit(entry, id, turns, case.logged.as_deref());
        writer.add_fit(case.case_row, &dataset.digest, found.status.as_str(), found.reason.as_deref())?;
        report.fits[found.status as usize] += 1;
        if matches!(found.status, FitStatus::Mismatch | FitStatus::Absent) {
            report.unjoined.push((id.to_owned(), found.reason.unwrap_or_default()));
        }
    }
    Ok(())
}
