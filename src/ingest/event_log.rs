//! The event log of a probe (`sri_event_log.jsonl`): what was done to the conversation of each case.
//!
//! Records of `sri_start_turn`, `sri_halt_candidate`, `sri_state_update` and `cri_evaluate`. Three facts are taken from
//! them, in the words of a rubric's `needs`:
//!
//! * `instruction_injected`: a halt was retried, or a call was retracted and asked for again;
//! * `state_injected`: with that instruction went a state that was not empty (the ablation without state sends none);
//! * `history_edited`: more than the halt itself was removed, which only a retracted call does.
//!
//! The gated variants suppress some retries and still log `retry: true`; what cannot be told apart counts as done, so that
//! no possible cause is withheld from a rater.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{LineReader, Oddities, parse_object};
use crate::error::{Error, Place, Result};

/// An instruction was put into the context.
pub const INSTRUCTION_INJECTED: &str = "instruction_injected";
/// A state that was not empty was put into the context.
pub const STATE_INJECTED: &str = "state_injected";
/// More than the halting reply was removed from the context.
pub const HISTORY_EDITED: &str = "history_edited";

/// What an event log says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct EventLog {
    /// SHA-256 of the file.
    pub sha256: String,
    /// Records read.
    pub records: u64,
    /// Per case id, as the benchmark writes it, what was done.
    pub cases: BTreeMap<String, BTreeSet<String>>,
    /// Halts that were retried.
    pub retries: u64,
    /// Calls that were retracted.
    pub retractions: u64,
    /// Records of an event that is not known here, by name; they are passed over.
    pub unknown_events: BTreeMap<String, u64>,
    /// Lines that were passed over on request: number and reason.
    pub skipped: Vec<(u64, String)>,
}

#[derive(Deserialize)]
struct Record {
    event: String,
    #[serde(default)]
    case_id: Option<String>,
    #[serde(default)]
    test_entry_id: Option<String>,
    #[serde(default)]
    variant: Option<String>,
    #[serde(default)]
    active: Option<bool>,
    #[serde(default)]
    retry: bool,
    #[serde(default)]
    triggered: bool,
    #[serde(default)]
    state_domains: Vec<String>,
    #[serde(default)]
    observed_state_domains: Vec<String>,
    #[serde(default)]
    domain: Option<String>,
}

/// Reads an event log.
///
/// # Errors
/// A line that is no record, with file, line and column; with `skip_bad_lines` such lines are listed instead.
pub fn read_event_log(path: &Path, skip_bad_lines: bool) -> Result<EventLog> {
    let mut reader = LineReader::open(path)?;
    let mut oddities = Oddities::default();
    let mut log = EventLog::default();
    let mut with_state: BTreeSet<String> = BTreeSet::new();
    while let Some(line) = reader.next_line(&mut oddities)? {
        let number = line.number;
        let read = parse_object::<Record>(line.text).map_err(|error| (error.column(), error.to_string()));
        let read = read.and_then(|record| {
            let id = record.case_id.clone().or_else(|| record.test_entry_id.clone());
            id.map(|id| (id, record)).ok_or_else(|| (1, "the record names no case (case_id)".to_owned()))
        });
        match read {
            Ok((id, record)) => take(id, &record, &mut with_state, &mut log),
            Err((_, message)) if skip_bad_lines => log.skipped.push((number, message)),
            Err((column, message)) => {
                let place = Place { column: Some(column as u64), ..Place::line(path, number) };
                return Err(Error::data(format!("not a record of an event log: {message}"))
                    .at(place)
                    .hint("a log that was cut off ends in half a line; --skip-bad-lines passes such lines over"));
            }
        }
    }
    (log.sha256, _) = reader.finish()?;
    Ok(log)
}

fn take(id: String, record: &Record, with_state: &mut BTreeSet<String>, log: &mut EventLog) {
    log.records += 1;
    let variant = record.variant.as_deref().unwrap_or_default();
    let mut done: Vec<&str> = Vec::new();
    let stated =
        !record.observed_state_domains.is_empty() || !record.state_domains.is_empty() || record.domain.is_some();
    if stated {
        with_state.insert(id.clone());
    }
    match record.event.as_str() {
        "sri_start_turn" | "sri_state_update" => {}
        "sri_halt_candidate" => {
            if record.retry && record.active != Some(false) {
                log.retries += 1;
                done.push(INSTRUCTION_INJECTED);
                if variant != "ablation_no_state" && !record.state_domains.is_empty() {
                    done.push(STATE_INJECTED);
                }
            }
        }
        "cri_evaluate" => {
            if record.triggered {
                log.retractions += 1;
                done.push(HISTORY_EDITED);
                // The bypass variant ends the step with a fixed reply and asks nothing.
                if variant != "bypass" {
                    done.push(INSTRUCTION_INJECTED);
                    if with_state.contains(&id) {
                        done.push(STATE_INJECTED);
                    }
                }
            }
        }
        other => *log.unknown_events.entry(other.to_owned()).or_default() += 1,
    }
    log.cases.entry(id).or_default().extend(done.into_iter().map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn log_of(lines: &[&str]) -> Result<EventLog> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        for line in lines {
            writeln!(file, "{line}").expect("written");
        }
        read_event_log(file.path(), false)
    }

    fn happened(log: &EventLog, case: &str) -> Vec<String> {
        log.cases[case].iter().cloned().collect()
    }

    /// One case each for: a halt retried with state, one with an empty state, one under the ablation without state, none
    /// retried, a log-only run, a retracted call with and without a new query.
    #[test]
    fn what_each_record_tells() {
        let halt = |case: &str, rest: &str| format!(r#"{{"case_id":"{case}","event":"sri_halt_candidate",{rest}}}"#);
        let lines = [
            halt("a", r#""active":true,"retry":true,"state_domains":["vehicle"],"variant":"v1""#),
            halt("b", r#""active":true,"retry":true,"state_domains":[],"variant":"v1""#),
            halt("c", r#""active":true,"retry":true,"state_domains":["vehicle"],"variant":"ablation_no_state""#),
            halt("d", r#""active":true,"retry":false,"state_domains":["vehicle"],"variant":"v1""#),
            halt("e", r#""active":false,"retry":true,"state_domains":["vehicle"],"variant":"v1""#),
            r#"{"case_id":"f","event":"sri_state_update","domain":"filesystem"}"#.to_owned(),
            r#"{"case_id":"f","event":"cri_evaluate","triggered":true,"variant":"v1"}"#.to_owned(),
            r#"{"test_entry_id":"g","event":"cri_evaluate","triggered":true,"variant":"bypass"}"#.to_owned(),
            r#"{"case_id":"h","event":"cri_evaluate","triggered":false,"variant":"v1"}"#.to_owned(),
            r#"{"case_id":"h","event":"something_new"}"#.to_owned(),
        ];
        let log = log_of(&lines.iter().map(String::as_str).collect::<Vec<_>>()).expect("read");
        assert_eq!(happened(&log, "a"), [INSTRUCTION_INJECTED, STATE_INJECTED]);
        assert_eq!(happened(&log, "b"), [INSTRUCTION_INJECTED]);
        assert_eq!(happened(&log, "c"), [INSTRUCTION_INJECTED]);
        assert_eq!(happened(&log, "f"), [HISTORY_EDITED, INSTRUCTION_INJECTED, STATE_INJECTED]);
        assert_eq!(happened(&log, "g"), [HISTORY_EDITED]);
        for untouched in ["d", "e", "h"] {
            assert!(log.cases[untouched].is_empty(), "{untouched}");
        }
        assert_eq!((log.records, log.retries, log.retractions), (10, 3, 2));
        assert_eq!(log.unknown_events, BTreeMap::from([("something_new".to_owned(), 1)]));
    }

    #[test]
    fn a_line_that_is_no_record_is_named() {
        let error =
            log_of(&[r#"{"case_id":"a","event":"sri_start_turn"}"#, r#"{"case_id":"a","ev"#]).expect_err("refused");
        assert!(error.to_string().contains(":2:"), "{error}");
        let error = log_of(&[r#"{"event":"sri_start_turn"}"#]).expect_err("refused");
        assert!(error.to_string().contains("names no case"), "{error}");
    }
}
