//! Results of a batch file: known by the ids of their requests, in any order, whole or in part, with errors.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Work, cases};
use crate::cli::desk::Desk;
use crate::cli::import::tell;
use crate::cli::{Output, clock};
use crate::error::{Error, Place, Result};
use crate::judge::{BatchAnswer, read_batch_line};
use crate::model::BatchName;
use crate::rate::Meta;
use crate::store::{BatchRequest, NewReply, ReplyOutcome, Store};

/// Is this the text of a results file? Its first line says so.
pub fn is_results(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(1 << 20)).unwrap_or_default());
    let text = text.trim_start_matches('\u{feff}');
    let Some(line) = text.lines().find(|line| !line.trim().is_empty()) else { return false };
    let has = |key: &str| line.contains(key);
    has("\"custom_id\"") && (has("\"response\"") || has("\"error\""))
}

/// What became of a file.
#[derive(Debug, Default, serde::Serialize)]
struct Outcome {
    lines: u64,
    stored: u64,
    known: u64,
    verdicts: u64,
    without_verdict: u64,
    to_ask_again: u64,
    not_answered: u64,
    problems: Vec<String>,
    chain_head: String,
}

/// The lines of one batch and rater.
type Group = Vec<(usize, BatchAnswer, BatchRequest)>;

/// Stores the results in a file. Every line stands for itself: what is sound is stored, what is not is listed.
pub fn import_results(
    store: &mut Store,
    path: &Path,
    bytes: &[u8],
    (dry_run, json): (bool, bool),
    output: &mut Output,
) -> Result<()> {
    let text = String::from_utf8_lossy(bytes);
    let source = format!("{} (sha256 {})", path.display(), crate::digest::sha256_hex(bytes));
    let mut found = Outcome::default();
    let mut groups: BTreeMap<(String, String), Group> = BTreeMap::new();
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if line.trim().is_empty() {
            continue;
        }
        found.lines += 1;
        let known = read_batch_line(line).and_then(|answer| {
            let request = store.batch_request(&answer.custom_id).map_err(|error| error.to_string())?;
            let unknown = || format!("no request {:?} was written from this database", answer.custom_id);
            request.ok_or_else(unknown).map(|(batch, request)| (batch, answer, request))
        });
        match known {
            Ok((batch, answer, request)) => {
                groups.entry((batch, request.rater.to_string())).or_default().push((number, answer, request));
            }
            Err(message) => found.problems.push(format!("{}:{number}: {message}", path.display())),
        }
    }
    if groups.is_empty() {
        tell(found.problems.iter().cloned(), "");
        return Err(Error::data("no answers could be read; nothing was stored")
            .at(Place::file(path))
            .hint("a results file has one line a request, with the ids of `dualrater export --as openai-batch`"));
    }
    for ((batch, _), group) in groups {
        let batch = BatchName::parse(&batch).map_err(|error| Error::internal(error.to_string()))?;
        import_group(store, path, &batch, group, &source, dry_run, &mut found)?;
    }
    found.chain_head = store.chain_head()?;
    tell(found.problems.iter().cloned(), "");
    if json {
        output.json(&found)?;
    } else {
        print(&found, dry_run, output);
    }
    if found.problems.is_empty() {
        Ok(())
    } else {
        Err(Error::data(format!(
            "{} of {} lines could not be used; the others were",
            found.problems.len(),
            found.lines
        ))
        .at(Place::file(path))
        .hint("`dualrater export --as openai-batch` again writes what is open"))
    }
}

fn import_group(
    store: &mut Store,
    path: &Path,
    batch: &BatchName,
    group: Group,
    source: &str,
    dry_run: bool,
    found: &mut Outcome,
) -> Result<()> {
    let desk = Desk::open(store, batch)?;
    let Some(rater) = group.first().map(|(_, _, request)| request.rater.clone()) else { return Ok(()) };
    let meta = Meta::new(batch, &desk.rubric, &rater);
    let work = Work::plan(store, &desk, &rater, 1, None)?;
    let mut replies: Vec<NewReply> = Vec::new();
    for (number, answer, request) in group {
        let mut problem = |message: String| {
            found.not_answered += 1;
            found.problems.push(format!("{}:{number}: {} {message}", path.display(), request.case));
        };
        if let Some(reason) = desk.unusable.get(&request.case) {
            problem(format!("was declared unusable ({reason}); its answer is not stored"));
            continue;
        }
        let job = work.job(store, &desk, &request.case, request.pass, None)?;
        if job.case.digest != request.asked.case_digest {
            problem("what the model was shown has changed since; export again".to_owned());
            continue;
        }
        match answer.judged(&meta, &desk.rubric, &job, &request, source) {
            Ok(judged) => replies.extend(judged.replies),
            Err(message) => problem(format!("was not answered: {message}")),
        }
    }
    // Each is its own answer: count those that were new.
    for reply in replies {
        let outcome = reply.outcome;
        let new = dry_run || store.record_replies(&desk.batch, std::slice::from_ref(&reply), &clock::now())? == 1;
        if !new {
            found.known += 1;
            continue;
        }
        found.stored += 1;
        match outcome {
            ReplyOutcome::Verdict => found.verdicts += 1,
            ReplyOutcome::NoVerdict => found.without_verdict += 1,
            ReplyOutcome::Again => found.to_ask_again += 1,
        }
    }
    Ok(())
}

fn print(found: &Outcome, dry_run: bool, output: &mut Output) {
    output.line(format!(
        "{} replies{}: {} whole, {} with labels without verdict, {} not valid and to be asked for again; {} known before, {} \
         not answered",
        found.stored,
        if dry_run { " would be stored" } else { " stored" },
        found.verdicts,
        found.without_verdict,
        found.to_ask_again,
        found.known,
        found.not_answered
    ));
    if found.to_ask_again + found.not_answered > 0 {
        let open = cases(found.to_ask_again + found.not_answered);
        output.line(format!("{open} open: `dualrater export --as openai-batch` again, or `dualrater judge`"));
    }
    output.line(format!("chain head {}", found.chain_head));
}
