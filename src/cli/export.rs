//! `dualrater export`: a rating sheet, an offline page or rubric prompts for one rater; requests for a batch service; the frame.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::desk::Desk;
use super::judge::{self, ParameterArgs};
use super::{Context, Output, clock};
use crate::error::{Error, Place, Result};
use crate::model::{BatchName, RaterKind, RaterName};
use crate::rate::{JsonlWriter, Meta, PromptWriter, RaterCase, SheetWriter, prompt_markdown};
use crate::rubric::Rubric;
use crate::serve;
use crate::store::Store;

/// Write a rating sheet, an offline page or rubric prompts for one rater
///
/// Write a rating sheet, an offline page (packet) or rubric prompts for one rater, and register the rater for the batch.
///
/// Each rater gets the cases in an order of their own and sees only what the rubric shows: no other rater's answers, no
/// action classes, no GAR. Fill in the sheet (or have the prompts answered) and give it to `dualrater import`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Forms:
  csv      a spreadsheet: one row a case, a value and a rationale column per label
  jsonl    the same as one JSON object a line
  packet   one HTML file with cases, questions and the page's comfort; works without network and server, saves an
           answers file for `dualrater import`
  prompts  per case the rubric prompt with an answer form: JSON lines (a file that ends in .jsonl, or stdout),
           or one Markdown document a case (any other --out is a folder)
  openai-batch  requests for a batch service: JSON lines; the results file goes to `dualrater import`",
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    /// The batch
    #[arg(long, required = true)]
    batch: Option<BatchName>,
    /// The rater
    #[arg(long, required = true)]
    rater: Option<RaterName>,
    /// The form
    #[arg(long = "as", value_enum, default_value_t = Form::Csv)]
    form: Form,
    /// What the rater is
    #[arg(long, default_value = "human", value_parser = ["human", "model"])]
    kind: String,
    /// For a model rater: the model's name
    #[arg(long)]
    model: Option<String>,
    /// The file (for Markdown prompts: the folder) to write; stdout without it
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    #[command(flatten)]
    parameters: ParameterArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Other {
    Frame(super::export_frame::FrameArgs),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Csv,
    Jsonl,
    Packet,
    Prompts,
    OpenaiBatch,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    if let Some(Other::Frame(frame)) = &args.other {
        return super::export_frame::run(frame, context, output);
    }
    let (Some(batch), Some(rater)) = (&args.batch, &args.rater) else {
        return Err(Error::usage("--batch and --rater are needed"));
    };
    let mut store = context.store()?;
    let desk = Desk::open(&store, batch)?;
    let kind = RaterKind::parse(&args.kind).unwrap_or(RaterKind::Human);
    // A rater of the batch keeps its kind; --kind is for new ones.
    let known = desk.audit.raters.iter().find(|(name, _)| *name == *rater).map(|(_, kind)| *kind);
    if known == Some(RaterKind::Adjudicator) {
        return Err(Error::conflict(format!("{rater} is the adjudicator of this batch"))
            .hint("`dualrater adjudicate export` writes the adjudicator's sheet"));
    }
    if args.form == Form::OpenaiBatch {
        return batch_file(args, rater, &mut store, &desk, output);
    }
    let cases = desk.rater_cases(&store, rater)?;
    store.register_rater(&desk.batch, rater, known.unwrap_or(kind), args.model.as_deref(), &clock::now())?;
    let meta = Meta::new(batch, &desk.rubric, rater);
    let head = store.chain_head()?;
    let markdown = args.form == Form::Prompts && args.out.as_deref().is_some_and(|out| !is_jsonl(out));
    match &args.out {
        Some(folder) if markdown => write_documents(folder, &meta, &desk.rubric, &cases)?,
        Some(file) => {
            let new = create_new(file)?;
            let written = write_form(args.form, BufWriter::new(new), meta, &desk.rubric, &cases, &head);
            written.map_err(|source| Error::io("write", file, &source))?;
        }
        None => {
            let bytes = write_form(args.form, Vec::new(), meta, &desk.rubric, &cases, &head)
                .map_err(|source| Error::internal(source.to_string()))?;
            output.raw(&String::from_utf8_lossy(&bytes));
            return Ok(());
        }
    }
    if let Some(out) = &args.out {
        output.line(format!("{} cases for {rater} in {}", cases.len(), out.display()));
        output.line(format!("chain head {head}"));
        output.line(match args.form {
            Form::Packet => "open it in a browser; the answers file that it saves: dualrater import FILE".to_owned(),
            _ => format!("when it is filled in: dualrater import {}", out.display()),
        });
    }
    Ok(())
}

/// What is left to ask a model for, as requests for a batch service.
fn batch_file(args: &Args, rater: &RaterName, store: &mut Store, desk: &Desk, output: &mut Output) -> Result<()> {
    let model = args.model.as_deref().ok_or_else(|| {
        Error::usage("a batch file names its model").hint("--model NAME, as the batch service names it")
    })?;
    let parameters = args.parameters.parameters()?;
    judge::check_same_parameters(store, desk, rater, model, &parameters)?;
    let mut work = judge::Work::plan(store, desk, rater, args.parameters.passes, None)?;
    let mut new = args.out.as_deref().map(create_new).transpose()?;
    let mut bytes = Vec::new();
    let settings = (model, &parameters, args.parameters.first_form());
    let noted = judge::write_batch_file(&mut bytes, store, desk, rater, settings, &mut work)?;
    store.register_rater(&desk.batch, rater, RaterKind::Model, Some(model), &clock::now())?;
    // First the note, then the file: an answer to a request that was sent is always known.
    judge::note_requests(store, desk, &noted)?;
    match (&mut new, &args.out) {
        (Some(file), Some(out)) => {
            file.write_all(&bytes).map_err(|source| Error::io("write", out, &source))?;
            output.line(format!("{} requests for {} in {}", noted.len(), rater, out.display()));
            output.line("have them answered, then: dualrater import RESULTS.jsonl (in any order, whole or in part)");
        }
        _ => output.raw(&String::from_utf8_lossy(&bytes)),
    }
    Ok(())
}

fn is_jsonl(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("jsonl"))
}

/// A new file; an existing one may hold somebody's work and is never overwritten.
pub(super) fn create_new(path: &Path) -> Result<File> {
    File::create_new(path).map_err(|source| {
        if source.kind() == io::ErrorKind::AlreadyExists {
            Error::conflict("the file exists already")
                .at(Place::file(path))
                .hint("it may hold answers: choose another name")
        } else {
            Error::io("write", path, &source)
        }
    })
}

fn write_form<W: Write>(
    form: Form,
    mut out: W,
    meta: Meta,
    rubric: &Rubric,
    cases: &[RaterCase],
    head: &str,
) -> io::Result<W> {
    match form {
        Form::Packet => {
            out.write_all(serve::packet(&meta, rubric, cases, head).as_bytes())?;
            out.flush()?;
            Ok(out)
        }
        Form::Csv => {
            let mut writer = SheetWriter::new(out, meta, rubric, true)?;
            cases.iter().try_for_each(|case| writer.case(case))?;
            writer.finish()
        }
        Form::Jsonl => {
            let mut writer = JsonlWriter::new(out, meta);
            cases.iter().try_for_each(|case| writer.case(case))?;
            writer.finish()
        }
        // A batch file is written by `batch_file`.
        Form::Prompts | Form::OpenaiBatch => {
            let mut writer = PromptWriter::new(out, meta, rubric);
            cases.iter().try_for_each(|case| writer.case(case))?;
            writer.finish()
        }
    }
}

fn write_documents(folder: &Path, meta: &Meta, rubric: &Rubric, cases: &[RaterCase]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::io("make", folder, &source))?;
    for (number, case) in cases.iter().enumerate() {
        // The case's name comes from a run file: only harmless characters reach the file system.
        let name: String = case
            .view
            .case
            .as_str()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' })
            .take(80)
            .collect();
        let path = folder.join(format!("{:04}-{name}.md", number + 1));
        let mut file = create_new(&path)?;
        file.write_all(prompt_markdown(meta, rubric, case).as_bytes())
            .map_err(|source| Error::io("write", &path, &source))?;
    }
    Ok(())
}
