//! `dualrater ingest`: runs, data sets and audits made elsewhere.

use std::path::PathBuf;

use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Context, Output, clock, events, output};
use crate::error::{Error, Result};
use crate::ingest::bfcl::{FileOutcome, ImportReport, ImportRequest, import};
use crate::ingest::{RaterNames, read_labels};
use crate::model::{BatchName, RaterKind, RaterName, RunName};
use crate::store::NewBatch;

/// Read runs, data sets and audits made elsewhere into the database.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    source: Source,
}

#[derive(Debug, Subcommand)]
enum Source {
    /// Result and score files of BFCL multi-turn, v3 or v4
    ///
    /// Result files are searched in the folder (recursively) by their names,
    /// `BFCL_v4_multi_turn_<category>_result*.json`; score files likewise. A case passes if its id is in the result file
    /// and not among the failures that the score file lists; the score header must agree with both. Without a score file
    /// the cases are unscored. The same files again change nothing; a new category, a late score file or a data set are
    /// additions; changed bytes are refused.
    Bfcl(BfclArgs),
    /// An audit made elsewhere: two raters' labels with adjudications and spot checks, JSON lines
    ///
    /// Both forms of the published audit are read: full records (`rater_a`, `rater_b`, `adjudication`, `spot_check`) and
    /// values only (`a`, `b`, `adj`, `spot`). Cases are named `published:<model>/<case_id>` and join a run only with --map.
    Labels(LabelArgs),
    /// The event log of a probe (SRI, CRI), JSON lines: what was done to each conversation of a run
    ///
    /// Labels with values that need an event (`needs` in the rubric) offer them only where the log of the second
    /// condition shows it. Cases that the log does not mention exclude nothing. Ingest it before the batch is given to
    /// raters: what the log excludes is part of what they see.
    Events(events::Args),
    Tau2(super::tau2::ingest::Args),
    Verdicts(super::tau2::confirm::VerdictArgs),
    Chat(super::chat::Args),
}

#[derive(Debug, clap::Args)]
struct BfclArgs {
    /// Name of the run: one model in one condition
    #[arg(long)]
    run: RunName,
    /// Name of the model
    #[arg(long)]
    model: String,
    /// Condition of the run
    #[arg(long, default_value = "baseline")]
    condition: String,
    /// Folder or file with the results
    #[arg(long, value_name = "PATH", required_unless_present_any = ["scores", "dataset"])]
    results: Option<PathBuf>,
    /// Folder or file with the scores
    #[arg(long, value_name = "PATH")]
    scores: Option<PathBuf>,
    /// The benchmark's data set: questions, and the folder possible_answer
    #[arg(long, value_name = "DIR")]
    dataset: Option<PathBuf>,
    /// The result files hold failed cases only (no accuracy can be known)
    #[arg(long)]
    failures_only: bool,
    /// Go on without lines that cannot be read, and list them
    #[arg(long)]
    skip_bad_lines: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct LabelArgs {
    /// The label file (JSON lines)
    file: PathBuf,
    /// Name of the batch to make
    #[arg(long)]
    batch: BatchName,
    /// Which split of the file, where it has several (main, pilot)
    #[arg(long)]
    split: Option<String>,
    /// Join a model of the audit to an ingested run (may be repeated)
    #[arg(long, value_name = "MODEL=RUN")]
    map: Vec<String>,
    /// The rubric that the labels were made under: a name or a file
    #[arg(long, default_value = "mechanism-v2")]
    rubric: String,
    /// Name of the first rater
    #[arg(long, default_value = "rater_a")]
    rater_a: RaterName,
    /// Name of the second rater
    #[arg(long, default_value = "rater_b")]
    rater_b: RaterName,
    /// Name of the adjudicator
    #[arg(long, default_value = "adjudicator")]
    adjudicator: RaterName,
    /// What the two raters are
    #[arg(long, default_value = "model", value_parser = ["human", "model"])]
    kind: String,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    match &args.source {
        Source::Bfcl(args) => bfcl(args, context, output),
        Source::Labels(args) => labels(args, context, output),
        Source::Events(args) => events::run(args, context, output),
        Source::Tau2(args) => super::tau2::ingest::run(args, context, output),
        Source::Chat(args) => super::chat::run(args, context, output),
        Source::Verdicts(args) => super::tau2::confirm::ingest(args, context, output),
    }
}

fn bfcl(args: &BfclArgs, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store_or_new()?;
    let bar = if output::watched() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {bytes} read, {bytes_per_sec}") {
        bar.set_style(style);
    }
    let request = ImportRequest {
        run: &args.run,
        model: &args.model,
        condition: &args.condition,
        results: args.results.as_deref(),
        scores: args.scores.as_deref(),
        dataset: args.dataset.as_deref(),
        failures_only: args.failures_only,
        skip_bad_lines: args.skip_bad_lines,
        now: &clock::now(),
    };
    let report = import(&mut store, &request, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    let report = report?;
    tell(&args.run, &report);
    if args.json {
        return output.json(&report);
    }
    for file in &report.files {
        let what = if file.kind == "result" { "cases" } else { "failed cases" };
        let done = match file.outcome {
            FileOutcome::Added => format!("{} {what}", file.records),
            FileOutcome::Unchanged => "unchanged, as stored before".to_owned(),
        };
        output.line(format!("{} {:<12} {:<6} {done}", args.run, file.category, file.kind));
    }
    if args.dataset.is_some() && report.fits.iter().sum::<u64>() == 0 {
        output.line(format!("{} data set: unchanged, as joined before", args.run));
    } else if args.dataset.is_some() {
        let [verified, unverifiable, mismatch, absent] = report.fits;
        output.line(format!(
            "{} data set: {verified} cases verified by their logs, {unverifiable} unverifiable (no log), {mismatch} do not fit, \
             {absent} not in it",
            args.run
        ));
    }
    Ok(())
}

/// What was odd, on stderr.
fn tell(run: &RunName, report: &ImportReport) {
    for file in &report.files {
        for (kind, oddity) in file.oddities.iter() {
            let example = if oddity.example.is_empty() { String::new() } else { format!(", e.g. {}", oddity.example) };
            output::message(&format!(
                "note: {run} {} {}: {kind}: {} (first in line {}{example})",
                file.category, file.kind, oddity.count, oddity.first_line
            ));
        }
    }
    for line in &report.skipped {
        output::message(&format!("skipped: {}:{}:{}: {}", line.path.display(), line.line, line.column, line.message));
    }
    for (case, reason) in &report.unjoined {
        output::message(&format!("not joined to the data set: {case}: {reason}"));
    }
}

fn labels(args: &LabelArgs, context: &Context, output: &mut Output) -> Result<()> {
    let (rubric, text) = super::rubric::load(&args.rubric)?;
    let names = RaterNames { a: args.rater_a.clone(), b: args.rater_b.clone(), adjudicator: args.adjudicator.clone() };
    let joins = args.map.iter().map(|text| pair(text)).collect::<Result<Vec<_>>>()?;
    let audit = read_labels(&args.file, args.split.as_deref(), &rubric, &names)?;
    let models: std::collections::BTreeSet<&str> = audit.cases.iter().map(|case| case.model.as_str()).collect();
    let mut store = context.store_or_new()?;
    for (model, run) in &joins {
        if !models.contains(model.as_str()) {
            let known: Vec<&str> = models.iter().copied().collect();
            return Err(Error::not_found(format!("the audit has no model {model:?}"))
                .hint(format!("its models: {}", known.join(", "))));
        }
        store.run(run)?;
    }
    let kind = RaterKind::parse(&args.kind).unwrap_or(RaterKind::Model);
    for (rater, wanted) in [(&names.a, kind), (&names.b, kind), (&names.adjudicator, RaterKind::Adjudicator)] {
        if let Some(known) = store.rater_kind(rater)?
            && known != wanted
        {
            return Err(Error::conflict(format!("rater {rater} is known as {known}, not {wanted}"))
                .hint("name the raters of this audit with --rater-a, --rater-b and --adjudicator"));
        }
    }
    let now = clock::now();
    let bindings: std::collections::BTreeMap<_, _> = joins.iter().cloned().collect();
    store.add_batch(&NewBatch {
        name: &args.batch,
        imported: true,
        seed: None,
        plan: None,
        frame: None,
        rubric: (&rubric.digest(), &rubric.id, &text),
        bindings: &serde_json::to_string(&bindings).unwrap_or_default(),
        excluded: "[]",
        command: &Context::command_line(),
        now: &now,
        strata: audit.strata,
        cases: audit.cases,
        first: None,
    })?;
    let batch = store.batch(&args.batch)?;
    for (rater, kind) in [(&names.a, kind), (&names.b, kind), (&names.adjudicator, RaterKind::Adjudicator)] {
        store.register_rater(&batch, rater, kind, None, &now)?;
    }
    let head = store.append(&batch, &audit.entries, &now)?;
    for (model, run) in &joins {
        store.join_model(&batch, model, run)?;
    }
    let stored = store.audit(&batch, Vec::new())?;
    for (model, run) in &joins {
        let (differ, compared) = store.joined_verdicts(&stored, model, run)?;
        if differ > 0 {
            output::message(&format!(
                "warning: {differ} of {compared} cases of {model} have another verdict in run {run} than in the audit: this is \
                 not the run that was audited"
            ));
        }
    }
    let cases = store.batch_cases(&batch)?.len();
    output.line(format!(
        "batch {}: {cases} cases, {} ratings, rulings and spot checks",
        args.batch,
        audit.entries.len()
    ));
    if audit.finals_checked > 0 {
        output.line(format!("final values of {} cases follow from ratings and rulings", audit.finals_checked));
    }
    if audit.open_disagreements > 0 {
        output.line(format!(
            "{} disagreements have no ruling: agreement can be reported, rates after adjudication cannot",
            audit.open_disagreements
        ));
    }
    for (split, count) in &audit.other_splits {
        output.line(format!("left out: {count} records of split {split}"));
    }
    output.line(format!("chain head {head}"));
    Ok(())
}

/// Reads `NAME=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(Error::usage(format!("{text:?} is not NAME=RUN"))),
    }
}
