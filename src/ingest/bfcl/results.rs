//! A result file into the store: cases, emissions with their classes, and what was odd about them.

use std::path::Path;

use super::request::{FileOutcome, FileReport, ImportRequest, SkippedLine, stored_before};
use super::result_line::{LineError, ResultRecord, Shape, read_result_line};
use crate::action::{self, CallForm};
use crate::error::{Error, Place, Result};
use crate::ingest::lines::{LineReader, SourceLine};
use crate::ingest::{Oddities, json_text};
use crate::model::{CaseIdentity, Category};
use crate::store::{FileKind, NewCase, NewEmission, NewFile, RunWriter};

pub(super) fn import_results(
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
    let json = json_text(&oddities);
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
    let user_turns = record.log.as_ref().map(|log| json_text(&log.user_turns));
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
            // JSON that nests too deeply for the classifier is kept without a class, as the published normaliser leaves it.
            let classified = action::classify_json(raw).unwrap_or_else(|_| {
                oddities.note("emission nested too deeply to be classified", line, id);
                action::Classified::default()
            });
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
