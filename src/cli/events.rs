//! `dualrater ingest events`: what a probe did to the conversations of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;

use super::{Context, Output, clock, output};
use crate::error::Result;
use crate::ingest::{HISTORY_EDITED, INSTRUCTION_INJECTED, STATE_INJECTED, read_event_log};
use crate::model::RunName;
use crate::store::NewEventLog;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The event log (JSON lines)
    file: PathBuf,
    /// The run whose cases it is about
    #[arg(long)]
    run: RunName,
    /// Go on without lines that cannot be read, and list them
    #[arg(long)]
    skip_bad_lines: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

/// What was stored.
#[derive(Serialize)]
struct Told<'a> {
    run: &'a RunName,
    stored: bool,
    records: u64,
    /// Cases of the run that the log mentions.
    cases: usize,
    /// Of these, with a retried halt or a retracted call, with a state in it, with more removed than the halt.
    instruction_injected: usize,
    state_injected: usize,
    history_edited: usize,
    retries: u64,
    retractions: u64,
    /// Cases of the run that the log does not mention.
    not_in_log: usize,
    /// Ids of the log that are no case of the run.
    not_in_run: Vec<&'a str>,
    unknown_events: &'a BTreeMap<String, u64>,
}

pub(super) fn run(args: &Args, context: &Context, out: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    let run = store.run(args.run.as_str())?;
    let log = read_event_log(&args.file, args.skip_bad_lines)?;
    for (line, reason) in &log.skipped {
        output::message(&format!("skipped: {}:{line}: {reason}", args.file.display()));
    }
    let ids = store.case_ids_by_raw_id(&run)?;
    let mut cases: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut not_in_run = Vec::new();
    for (raw_id, happened) in &log.cases {
        match ids.get(raw_id) {
            Some(id) => {
                cases.insert(id.clone(), happened.clone());
            }
            None => not_in_run.push(raw_id.as_str()),
        }
    }
    let path = args.file.display().to_string();
    let new = NewEventLog { path: &path, sha256: &log.sha256, records: log.records, cases: &cases, now: &clock::now() };
    let stored = store.add_event_log(&run, &new)?;
    let with = |event: &str| cases.values().filter(|happened| happened.contains(event)).count();
    let told = Told {
        run: &args.run,
        stored,
        records: log.records,
        cases: cases.len(),
        instruction_injected: with(INSTRUCTION_INJECTED),
        state_injected: with(STATE_INJECTED),
        history_edited: with(HISTORY_EDITED),
        retries: log.retries,
        retractions: log.retractions,
        not_in_log: ids.len() - cases.len(),
        not_in_run,
        unknown_events: &log.unknown_events,
    };
    if args.json {
        return out.json(&told);
    }
    tell(&told, out);
    Ok(())
}

fn tell(told: &Told<'_>, out: &mut Output) {
    if !told.stored {
        out.line(format!("{} event log: unchanged, as stored before", told.run));
    }
    out.line(format!(
        "{}: {} records about {} cases · {} retries, {} retracted calls",
        told.run, told.records, told.cases, told.retries, told.retractions
    ));
    out.line(format!(
        "an instruction was injected in {} cases, a state in {}; more than the halt was removed in {}",
        told.instruction_injected, told.state_injected, told.history_edited
    ));
    if told.not_in_log > 0 {
        output::message(&format!(
            "note: the log does not mention {} cases of the run; there it excludes nothing",
            told.not_in_log
        ));
    }
    if let Some(first) = told.not_in_run.first() {
        output::message(&format!(
            "note: {} ids of the log are no case of the run, {first} first",
            told.not_in_run.len()
        ));
    }
    for (event, count) in told.unknown_events {
        output::message(&format!(
            "note: {count} records of the event {event:?}, which is not known here, were passed over"
        ));
    }
}
