//! `dualrater adjudicate`: disagreements and a sample of agreements for a third rater.

use std::io::BufWriter;
use std::path::PathBuf;

use clap::Subcommand;

use super::desk::{Desk, ruling_entries, rulings_expected};
pub(super) use super::desk::{planned, rated_cases};
use super::{Context, Output, clock, export, import, output};
use crate::digest::sha256_hex;
use crate::error::{Error, Place, Result};
use crate::model::{BatchName, RaterKind, RaterName};
use crate::rate::Meta;
use crate::rate::adjudication::{
    ItemKind, RulingSheetWriter, RulingWriter, check_rulings, read_ruling_jsonl, read_ruling_sheet,
};

/// Give the disagreements to a third rater and take the rulings back
///
/// Give the disagreements to a third rater, with a seeded sample of agreements to spot-check, and take the rulings back.
///
/// The adjudicator sees both answers left and right in random order, without names. Final values follow: the ruling on a
/// disagreement, else the shared value, unless a spot check called it wrong. In every row the adjudicator writes the value
/// that they find right, for a spot check the agreed one if it is right.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Write the adjudicator's sheet: one row per label to rule on
    Export(ExportArgs),
    /// Read the rulings back and check them
    Import(ImportArgs),
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// The adjudicator
    #[arg(long, default_value = "adjudicator")]
    adjudicator: RaterName,
    /// The form
    #[arg(long = "as", default_value = "csv", value_parser = ["csv", "jsonl"])]
    form: String,
    /// Cases of full agreement to spot-check (the lowest tickets; a larger number extends a smaller one)
    #[arg(long, default_value_t = 10)]
    spot_checks: usize,
    /// The file to write; stdout without it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ImportArgs {
    /// The filled sheet (CSV or JSON lines)
    file: PathBuf,
    /// The batch, where the file does not say it
    #[arg(long)]
    batch: Option<BatchName>,
    /// Store the sound rulings even if others have problems
    #[arg(long)]
    partial: bool,
    /// Allow rulings that change stored ones
    #[arg(long)]
    revise: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    match &args.action {
        Action::Export(args) => write_sheet(args, context, output),
        Action::Import(args) => take_rulings(args, context, output),
    }
}

fn write_sheet(args: &ExportArgs, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    let desk = Desk::open(&store, &args.batch)?;
    let (rated, views) = rated_cases(&desk, &store)?;
    let plan = planned(&desk, &args.adjudicator, args.spot_checks, &rated)?;
    store.register_rater(&desk.batch, &args.adjudicator, RaterKind::Adjudicator, None, &clock::now())?;
    let meta = Meta::new(&args.batch, &desk.rubric, &args.adjudicator);
    let bytes = if args.form == "csv" {
        let mut writer = RulingSheetWriter::new(Vec::new(), meta, &desk.rubric, true)
            .map_err(|error| Error::internal(error.to_string()))?;
        for item in &plan.items {
            if let Some(view) = views.get(&item.case) {
                writer.item(item, view).map_err(|error| Error::internal(error.to_string()))?;
            }
        }
        writer.finish().map_err(|error| Error::internal(error.to_string()))?
    } else {
        let mut writer = RulingWriter::new(Vec::new(), meta, &desk.rubric);
        for item in &plan.items {
            if let Some(view) = views.get(&item.case) {
                writer.item(item, view).map_err(|error| Error::internal(error.to_string()))?;
            }
        }
        writer.finish().map_err(|error| Error::internal(error.to_string()))?
    };
    let disagreements = plan.items.iter().filter(|item| item.kind == ItemKind::Disagreement).count();
    let told = format!(
        "{disagreements} disagreements and {} spot-checked cases (of {} on which the raters agree in full)",
        plan.spot_checked, plan.agreed
    );
    if !plan.waiting.is_empty() {
        output::message(&format!(
            "note: {} cases are held back until both raters have answered every label of them",
            plan.waiting.len()
        ));
    }
    match &args.out {
        None => {
            output::message(&told);
            output.raw(&String::from_utf8_lossy(&bytes));
        }
        Some(path) => {
            let mut file = BufWriter::new(export::create_new(path)?);
            std::io::Write::write_all(&mut file, &bytes)
                .and_then(|()| std::io::Write::flush(&mut file))
                .map_err(|source| Error::io("write", path, &source))?;
            output.line(format!("{told} in {}", path.display()));
            output.line("in every row write the value that you find right into `value` (for a spot check too: the agreed one if it is)");
            output.line(format!("chain head {}", store.chain_head()?));
            output.line(format!("when it is filled in: dualrater adjudicate import {}", path.display()));
        }
    }
    Ok(())
}

fn take_rulings(args: &ImportArgs, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    let bytes = std::fs::read(&args.file).map_err(|source| Error::io("read", &args.file, &source))?;
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace() && !b"\xef\xbb\xbf".contains(byte));
    let file =
        if first == Some(&b'{') { read_ruling_jsonl(bytes.as_slice()) } else { read_ruling_sheet(bytes.as_slice()) }
            .map_err(|source| Error::io("read", &args.file, &source))?;
    let at = Place::file(&args.file);
    let stated = |text: Option<&String>, what: &str| {
        text.filter(|text| !text.is_empty()).cloned().ok_or_else(|| {
            Error::data(format!("the file does not say its {what}"))
                .at(at.clone())
                .hint("is this a sheet written by `dualrater adjudicate export`?")
        })
    };
    let batch = match &args.batch {
        Some(batch) => batch.clone(),
        None => BatchName::parse(&stated(file.rows.first().map(|row| &row.batch), "batch")?)
            .map_err(|error| Error::data(error.to_string()).at(at.clone()))?,
    };
    let adjudicator = RaterName::parse(&stated(file.rows.first().map(|row| &row.adjudicator), "adjudicator")?)
        .map_err(|error| Error::data(error.to_string()).at(at.clone()))?;
    let desk = Desk::open(&store, &batch)?;
    if !desk.audit.raters.iter().any(|(name, kind)| *name == adjudicator && *kind == RaterKind::Adjudicator) {
        return Err(Error::not_found(format!("{adjudicator} is not an adjudicator of batch {batch}"))
            .at(at)
            .hint("`dualrater adjudicate export` registers one"));
    }
    let expected = rulings_expected(&desk, &store, &adjudicator, args.revise)?;
    let outcome = check_rulings(&expected, file.rows);
    let problems = file.problems.iter().chain(&outcome.problems);
    import::tell(problems.map(|problem| import::problem_line(&args.file, problem)), "");
    import::tell(outcome.warnings.iter().map(|one| import::problem_line(&args.file, one)), "warning: ");
    let problems = file.problems.len() + outcome.problems.len();
    if problems > 0 && !args.partial {
        return Err(Error::data(format!(
            "{problems} problem{}; nothing was stored",
            if problems == 1 { "" } else { "s" }
        ))
        .at(at)
        .hint("repair the lines above, or use --partial to store the sound rulings"));
    }
    let source = format!("{} (sha256 {})", args.file.display(), sha256_hex(&bytes));
    let entries = ruling_entries(&outcome, &expected, &source);
    let head = store.append(&desk.batch, &entries, &clock::now())?;
    let wrong = outcome.accepted.iter().filter(|ruling| ruling.correct == Some(false)).count();
    output.line(format!(
        "{} rulings and spot checks stored, {} unchanged, {} still open; spot checks called {wrong} agreed values wrong",
        outcome.accepted.len(),
        outcome.unchanged.len(),
        outcome.missing.len()
    ));
    output.line(format!("chain head {head}"));
    output.line(format!("next: dualrater report --batch {batch} --out report"));
    Ok(())
}
