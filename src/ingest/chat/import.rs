//! Brings a chat log into the store: streamed, one transaction, the same bytes again change nothing.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use super::record::{ChatRecord, read};
use crate::action::{self, CallForm, Classifier};
use crate::error::{Error, Place, Result};
use crate::ingest::{LineReader, Oddities, file_digest, json_text, parse_object};
use crate::model::{ActionClass, CaseIdentity, Category, RunName, Verdict};
use crate::store::{FileKind, NewCase, NewEmission, NewFile, RunWriter, Store};

/// What to import.
pub struct ChatRequest<'a> {
    /// The run's name.
    pub run: &'a RunName,
    /// The log.
    pub path: &'a Path,
    /// The model.
    pub model: &'a str,
    /// The condition.
    pub condition: &'a str,
    /// Go on without lines that cannot be read.
    pub skip_bad_lines: bool,
    /// Now (UTC, RFC 3339).
    pub now: &'a str,
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ChatReport {
    /// The run.
    pub run: String,
    /// The same bytes were stored before; nothing else is reported.
    pub unchanged: bool,
    /// Conversations.
    pub conversations: u64,
    /// Those with a verdict.
    pub scored: u64,
    /// By the kind that the gold action gives.
    pub categories: BTreeMap<Category, u64>,
    /// Messages.
    pub messages: u64,
    /// Emissions of the agent.
    pub emissions: u64,
    /// What was odd.
    pub oddities: Oddities,
    /// Lines that were left out, with the reason.
    pub skipped: Vec<(u64, String)>,
}

/// Imports a chat log.
///
/// # Errors
/// A line that is no conversation, with its number and what to do; a name that is taken. A failed import leaves nothing.
pub fn import(store: &mut Store, request: &ChatRequest<'_>) -> Result<ChatReport> {
    let (sha256, _) = file_digest(request.path)?;
    store.write(|transaction| {
        let writer =
            RunWriter::open_as(transaction, request.run, request.model, request.condition, "chat", request.now)?;
        for category in Category::CHAT {
            let Some(stored) = writer.file(category, FileKind::Result)? else { continue };
            if stored.sha256 == sha256 {
                return Ok(ChatReport { run: request.run.to_string(), unchanged: true, ..ChatReport::default() });
            }
            return Err(Error::conflict(format!(
                "run {} was imported from {} with other bytes",
                request.run, stored.path
            ))
            .at(Place::file(request.path))
            .hint("a run is one file and never changes: give this file another run name, or join the files first"));
        }
        stream(&writer, request)
    })
}

/// Reads the lines of the log.
fn stream(writer: &RunWriter<'_>, request: &ChatRequest<'_>) -> Result<ChatReport> {
    let mut reader = LineReader::open(request.path)?;
    let mut report = ChatReport { run: request.run.to_string(), ..ChatReport::default() };
    let mut files: BTreeMap<Category, i64> = BTreeMap::new();
    let rules_digest = Classifier::paper().table().digest();
    loop {
        let read = match reader.next_line(&mut report.oddities) {
            Ok(None) => break,
            Ok(Some(line)) => record(line.text).map(|record| (line.number, record)).map_err(|message| {
                Error::data(message)
                    .at(Place::line(request.path, line.number))
                    .hint("docs/chat.md says what a line holds; repair it, or use --skip-bad-lines to go on without it")
            }),
            Err(error) => Err(error),
        };
        let (number, record) = match read {
            Ok(read) => read,
            Err(error) => match error.place().and_then(|place| place.line) {
                Some(line) if request.skip_bad_lines => {
                    report.skipped.push((line, error.message().to_owned()));
                    continue;
                }
                _ => return Err(error),
            },
        };
        let file = match files.get(&record.category) {
            Some(file) => *file,
            None => {
                let file = writer.add_file(&NewFile {
                    category: record.category,
                    kind: FileKind::Result,
                    path: &request.path.display().to_string(),
                    sha256: "",
                    bytes: 0,
                    records: 0,
                    failures_only: false,
                    header: None,
                    rules_digest: Some(&rules_digest),
                    oddities: "{}",
                    now: request.now,
                })?;
                files.insert(record.category, file);
                file
            }
        };
        keep(writer, request, file, number, &record, &mut report)?;
    }
    let (sha256, bytes) = reader.finish()?;
    let oddities = json_text(&report.oddities);
    for (category, file) in &files {
        writer.complete_file(
            *file,
            &sha256,
            bytes,
            report.categories.get(category).copied().unwrap_or(0),
            &oddities,
        )?;
    }
    if report.conversations == 0 {
        return Err(Error::data("the file holds no conversation").at(Place::file(request.path)));
    }
    Ok(report)
}

fn record(line: &str) -> std::result::Result<ChatRecord, String> {
    let object: Map<String, Value> = parse_object(line).map_err(|error| {
        // Its own message may quote the line, which can hold anything.
        let kind = if error.is_eof() { "ends in the middle of a value" } else { "is no JSON object" };
        format!("the line {kind} (column {})", error.column().max(1))
    })?;
    read(&object)
}

/// Stores a conversation.
fn keep(
    writer: &RunWriter<'_>,
    request: &ChatRequest<'_>,
    file: i64,
    line: u64,
    record: &ChatRecord,
    report: &mut ChatReport,
) -> Result<()> {
    let placeholder = format!("line-{line}");
    let usable = record.id.as_deref().filter(|id| CaseIdentity::new(request.run, id).is_ok());
    let defect = match (&record.id, usable) {
        (_, Some(_)) => None,
        (None, None) => Some("missing_id"),
        (Some(_), None) => Some("unusable_id"),
    };
    let id = usable.unwrap_or(&placeholder);
    match defect {
        Some("missing_id") => report.oddities.note("missing id (never drawn)", line, ""),
        Some(_) => report.oddities.note("id that cannot name a case (never drawn)", line, ""),
        None => {}
    }
    for note in &record.notes {
        let example = if *note == "field that is not read" { record.stranger.as_deref() } else { None };
        report.oddities.note(note, line, example.unwrap_or(id));
    }
    let count = report.categories.entry(record.category).or_insert(0);
    let (case_row, duplicate) = writer.add_case(
        file,
        &NewCase {
            category: record.category,
            ordinal: *count,
            line,
            case_id: id,
            raw_id: record.id.as_deref(),
            defect,
            shape: "turns",
            error: None,
            turns: record.turns.len() as u64,
            user_turns: Some(&json_text(&record.user_turns)),
            log_return_turn: None,
        },
    )?;
    *count += 1;
    if duplicate {
        report.oddities.note("duplicate id (the later one is never drawn)", line, id);
    }
    for (turn, steps) in record.turns.iter().enumerate() {
        for (step, raw) in steps.iter().enumerate() {
            let classified = action::classify_json(raw).unwrap_or_default();
            writer.add_emission(
                case_row,
                &NewEmission {
                    turn: turn as u64,
                    step: step as u64,
                    raw,
                    class: classified.class.map(ActionClass::as_str),
                    form: classified.form.map(CallForm::as_str),
                    cue: classified.cue.as_ref().map(|cue| (cue.cue.as_str(), cue.offset as u64)),
                },
            )?;
            report.emissions += 1;
        }
    }
    let verdict: Option<Verdict> = record.verdict.filter(|_| defect.is_none() && !duplicate);
    writer.add_chat(case_row, record.own_category.as_deref(), verdict, &record.messages)?;
    report.conversations += 1;
    report.scored += u64::from(verdict.is_some());
    report.messages += record.messages.len() as u64;
    Ok(())
}
