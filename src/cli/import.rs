//! `dualrater import`: a filled sheet or answered prompts, checked line by line.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::desk::{Desk, rating_entries};
use super::judge::{import_results, is_results};
use super::{Context, Output, clock, output};
use crate::digest::sha256_hex;
use crate::error::{Error, Place, Result};
use crate::model::{BatchName, CaseIdentity, RaterName};
use crate::rate::{
    AnswerFile, AnswerRow, BatchExpectation, CaseNote, ImportOutcome, check_import, note_of, read_csv, read_jsonl,
    read_markdown, read_notes,
};
use crate::store::{BatchInfo, MarkKind, Store};

/// Read a filled sheet, a packet's answers or answered prompts back
///
/// Read a filled sheet, a packet's answers file or answered prompts back, check every answer, and store what is new.
///
/// The file says which batch and rater it belongs to. The same answers again change nothing; a changed answer needs
/// --revise and is kept beside the old one. A wrong value, an unknown case, another batch's file, a case that was shown
/// differently, or an answer that contradicts another is an error with its line, and then nothing is stored unless
/// --partial says to take the sound ones.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A CSV sheet, JSON lines, a Markdown document, a folder of Markdown documents, or the results of a batch service
    file: PathBuf,
    /// The batch, where the file does not say it
    #[arg(long)]
    batch: Option<BatchName>,
    /// The rater, where the file does not say it
    #[arg(long)]
    rater: Option<RaterName>,
    /// Store the sound answers even if others have problems
    #[arg(long)]
    partial: bool,
    /// Allow answers that change stored ones (the old ones stay in the history)
    #[arg(long)]
    revise: bool,
    /// Check only
    #[arg(long)]
    dry_run: bool,
    /// Print what was taken and what was not as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    if let Ok(bytes) = std::fs::read(&args.file)
        && is_results(&bytes)
    {
        return import_results(&mut store, &args.file, &bytes, (args.dry_run, args.json), output);
    }
    let (files, digest) = read(&args.file)?;
    let rows_read: usize = files.iter().map(|(_, file)| file.rows.len()).sum();
    if rows_read == 0 {
        tell(files.iter().flat_map(|(path, file)| file.problems.iter().map(|p| problem_line(path, p))), "");
        return Err(Error::data("no answers could be read; nothing was stored")
            .at(Place::file(&args.file))
            .hint("a sheet is CSV or JSON lines in UTF-8 as `dualrater export` writes it"));
    }
    let (batch, rater) = whose(args, &files)?;
    let desk = Desk::open(&store, &batch)?;
    if !desk.audit.raters.iter().any(|(name, kind)| *name == rater && kind.can_be_of_record()) {
        let known: Vec<String> = desk.audit.raters.iter().map(|(name, _)| name.to_string()).collect();
        return Err(Error::not_found(format!("{rater} does not rate batch {batch}"))
            .at(Place::file(&args.file))
            .hint(format!("raters: {}; `dualrater export` registers one", known.join(", "))));
    }
    let expected = desk.expectation(&store, &rater, args.revise)?;
    let mut unread = Vec::new();
    let mut rows = Vec::new();
    for (path, file) in files {
        unread.extend(file.problems.into_iter().map(|problem| (path.clone(), problem)));
        rows.push((path, file.rows));
    }
    let single = rows.len() == 1;
    let name_of = |row_path: &Path| if single { args.file.clone() } else { row_path.to_path_buf() };
    // Documents of a folder are one file in many parts: a case in two of them is a duplicate.
    let origins: Vec<(PathBuf, usize)> = rows.iter().map(|(path, rows)| (name_of(path), rows.len())).collect();
    let all: Vec<_> = rows.into_iter().flat_map(|(_, rows)| rows).collect();
    let places: Vec<(String, PathBuf)> = {
        let paths = origins.iter().flat_map(|(path, count)| std::iter::repeat_n(path, *count));
        all.iter().zip(paths).map(|(row, path)| (row.case.clone(), path.clone())).collect()
    };
    let notes = notes(&args.file, &store, &expected, &all)?;
    let mut outcome = check_import(&expected, all);
    for problem in &mut outcome.problems {
        let case = problem.case.as_deref().and_then(|case| crate::model::CaseIdentity::parse(case).ok());
        if let Some(reason) = case.and_then(|case| desk.unusable.get(&case)) {
            problem.message = format!("the case was declared unusable: {reason}");
            problem.hint = Some("leave its row out".to_owned());
        }
    }
    let place_of = |case: Option<&String>| {
        case.and_then(|case| places.iter().find(|(name, _)| name == case)).map_or(&args.file, |(_, path)| path)
    };
    tell(unread.iter().map(|(path, problem)| problem_line(path, problem)), "");
    tell(outcome.problems.iter().map(|problem| problem_line(place_of(problem.case.as_ref()), problem)), "");
    tell(outcome.warnings.iter().map(|one| problem_line(place_of(one.case.as_ref()), one)), "warning: ");
    for mapped in &outcome.mapped {
        output::message(&format!("note: {} {}: {:?} taken for {}", mapped.case, mapped.label, mapped.from, mapped.to));
    }
    let problems = outcome.problems.len() + unread.len();
    if args.json {
        output.json(&outcome)?;
    }
    if problems > 0 && !args.partial {
        return Err(Error::data(format!(
            "{problems} problem{}; nothing was stored",
            if problems == 1 { "" } else { "s" }
        ))
        .at(Place::file(&args.file))
        .hint("repair the lines above, or use --partial to store the sound answers"));
    }
    if !args.dry_run {
        let source = format!("{} (sha256 {digest})", args.file.display());
        let entries = rating_entries(&outcome, &expected, &source);
        let head = store.append(&desk.batch, &entries, &clock::now())?;
        keep_notes(&mut store, &expected, &desk.batch, &notes)?;
        if !args.json {
            summary(&store, &batch, &rater, &outcome, output)?;
            output.line(format!("chain head {head}"));
        }
    } else if !args.json {
        output.line(format!("check only: {} answers would be stored", outcome.accepted.len()));
    }
    Ok(())
}

/// What a packet's answers file says beside the answers, about cases that belong here.
fn notes(
    path: &Path,
    store: &Store,
    expected: &BatchExpectation<'_>,
    rows: &[AnswerRow],
) -> Result<Vec<(CaseIdentity, CaseNote)>> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let notes = read_notes(&std::fs::read(path).map_err(|source| Error::io("read", path, &source))?);
    let fits = |row: &&AnswerRow| {
        row.batch == expected.batch.as_str()
            && row.rater == expected.rater.as_str()
            && row.rubric_digest == expected.rubric.digest()
    };
    let mut found = Vec::new();
    for row in rows.iter().filter(fits) {
        let Some(note) = note_of(&notes, row) else { continue };
        let case = CaseIdentity::parse(&row.case).ok();
        let known = case.filter(|case| expected.cases.get(case).is_some_and(|known| known.digest == row.case_digest));
        found.extend(known.map(|case| (case, note.clone())));
    }
    if let Some(head) = found.iter().find_map(|(_, note)| note.head.as_deref())
        && !store.chain_holds(head)?
    {
        output::message(&format!(
            "warning: the packet carries the chain head {head}, which is not part of this database's chain: the ratings were rewritten since, or the packet is of another copy"
        ));
    }
    Ok(found)
}

/// Stores marks and times; the same file again changes nothing.
fn keep_notes(
    store: &mut Store,
    expected: &BatchExpectation<'_>,
    batch: &BatchInfo,
    notes: &[(CaseIdentity, CaseNote)],
) -> Result<()> {
    let now = clock::now();
    store.write_own(batch, &expected.rater, |own| {
        for (case, note) in notes {
            if let Some(flag) = &note.flag {
                own.mark(case, MarkKind::Flag, Some(flag.trim()), &now)?;
            }
            if note.known {
                own.mark(case, MarkKind::Known, Some(""), &now)?;
            }
            if let Some(seconds) = note.seconds.filter(|seconds| *seconds > 0) {
                own.visit(case, "packet", seconds, &now)?;
            }
        }
        Ok(())
    })
}

/// Reads the file, or every Markdown document of a folder, with the digest of all bytes.
fn read(path: &Path) -> Result<(Vec<(PathBuf, AnswerFile)>, String)> {
    let data = std::fs::metadata(path).map_err(|source| Error::io("read", path, &source))?;
    let mut paths = Vec::new();
    if data.is_dir() {
        for entry in std::fs::read_dir(path).map_err(|source| Error::io("list", path, &source))? {
            let entry = entry.map_err(|source| Error::io("list", path, &source))?.path();
            if entry.extension().is_some_and(|end| end.eq_ignore_ascii_case("md")) {
                paths.push(entry);
            }
        }
        paths.sort();
        if paths.is_empty() {
            return Err(Error::data("no Markdown document in the folder").at(Place::file(path)));
        }
    } else {
        paths.push(path.to_path_buf());
    }
    let mut files = Vec::new();
    let mut digests = String::new();
    for path in paths {
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(|source| Error::io("read", &path, &source))?;
        digests.push_str(&sha256_hex(&bytes));
        let end = path.extension().map(|end| end.to_ascii_lowercase().to_string_lossy().into_owned());
        let first = bytes.iter().copied().find(|byte| !byte.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(byte));
        let file = match (end.as_deref(), first) {
            (Some("md" | "markdown"), _) => read_markdown(bytes.as_slice()),
            (Some("jsonl" | "ndjson" | "json"), _) | (None, Some(b'{')) => read_jsonl(bytes.as_slice()),
            _ => read_csv(bytes.as_slice()),
        };
        files.push((path.clone(), file.map_err(|source| Error::io("read", &path, &source))?));
    }
    let digest = if files.len() == 1 { digests } else { sha256_hex(digests.as_bytes()) };
    Ok((files, digest))
}

/// The batch and rater: as the options say, else as every row says.
fn whose(args: &Args, files: &[(PathBuf, AnswerFile)]) -> Result<(BatchName, RaterName)> {
    let rows = || files.iter().flat_map(|(_, file)| &file.rows);
    let stated = |what: &str, option: &str, value: Option<String>| {
        value.ok_or_else(|| {
            Error::data(format!("the file does not say its {what}"))
                .at(Place::file(&args.file))
                .hint(format!("is this a sheet written by `dualrater export`? {option} NAME says it"))
        })
    };
    let first = |text: fn(&crate::rate::AnswerRow) -> &String| rows().map(text).find(|text| !text.is_empty()).cloned();
    let batch = match &args.batch {
        Some(batch) => batch.clone(),
        None => BatchName::parse(&stated("batch", "--batch", first(|row| &row.batch))?)
            .map_err(|error| Error::data(error.to_string()).at(Place::file(&args.file)))?,
    };
    let rater = match &args.rater {
        Some(rater) => rater.clone(),
        None => RaterName::parse(&stated("rater", "--rater", first(|row| &row.rater))?)
            .map_err(|error| Error::data(error.to_string()).at(Place::file(&args.file)))?,
    };
    Ok((batch, rater))
}

/// Prints lines, but of a long list only the beginning: an error must not drown in what it repeats.
pub(super) fn tell(lines: impl Iterator<Item = String>, prefix: &str) {
    const SHOWN: usize = 12;
    let mut count = 0;
    for line in lines {
        count += 1;
        if count <= SHOWN {
            output::message(&format!("{prefix}{line}"));
        }
    }
    if count > SHOWN {
        output::message(&format!("{prefix}… and {} more (--json lists all)", count - SHOWN));
    }
}

pub(super) fn problem_line(path: &Path, problem: &crate::rate::LineProblem) -> String {
    let mut text = format!("{}:{}: ", path.display(), problem.line);
    // A message that begins with its label says it once.
    let label = problem.label.as_ref().filter(|label| !problem.message.starts_with(label.as_str()));
    for part in [problem.case.as_ref(), label].into_iter().flatten() {
        text.push_str(part);
        text.push(' ');
    }
    text.push_str(&problem.message);
    if let Some(hint) = &problem.hint {
        text.push_str(&format!(" ({hint})"));
    }
    text
}

fn summary(
    store: &Store,
    batch: &BatchName,
    rater: &RaterName,
    outcome: &ImportOutcome,
    output: &mut Output,
) -> Result<()> {
    let revised = outcome.accepted.iter().filter(|answer| answer.revises.is_some()).count();
    output.line(format!(
        "{rater}: {} answers stored ({revised} revised), {} unchanged, {} still open, {} cases untouched",
        outcome.accepted.len(),
        outcome.unchanged.len(),
        outcome.missing.len(),
        outcome.untouched.len(),
    ));
    let desk = Desk::open(store, batch)?;
    let complete = |rater: &RaterName| {
        desk.audit
            .cases
            .iter()
            .filter(|case| case.ratings.get(rater).is_some_and(|own| own.len() == desk.rubric.labels.len()))
            .count()
    };
    let total = desk.usable();
    output.line(format!("{rater} has answered {} of {total} cases of batch {batch}", complete(rater)));
    if let Some((a, b)) = &desk.audit.pair
        && complete(a) == total
        && complete(b) == total
    {
        output.line(format!(
            "both raters are done; next: dualrater agree --batch {batch}, then dualrater adjudicate export"
        ));
    }
    Ok(())
}
