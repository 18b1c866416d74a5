//! `dualrater export frame`: every case that a plan's strata own, with its stratum, for an engine that draws it elsewhere.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::draw::{self, Setting};
use super::export::create_new;
use super::frame_parquet::ParquetWriter;
use super::{Context, Output};
use crate::error::{Error, Result};
use crate::model::BatchName;
use crate::strata::Matcher;

/// Write the frame: one row a case, with its stratum
///
/// Write the frame: one row a case (item_id, stratum and what the plan may know of it), for an engine that draws the sample
/// where the frame lies (`draw --sql`). Texts stand as they are: load the file into a database, not into a spreadsheet.
#[derive(Debug, clap::Args)]
pub struct FrameArgs {
    /// The plan: a file, or one that is compiled in (mechanism, pilot, quickstart)
    #[arg(required_unless_present = "batch")]
    plan: Option<String>,
    /// The frame of a drawn batch
    #[arg(long, conflicts_with_all = ["plan", "bind"])]
    batch: Option<BatchName>,
    /// Let a role of the plan stand for a run (may be repeated)
    #[arg(long, value_name = "ROLE=RUN")]
    bind: Vec<String>,
    /// The form
    #[arg(long, value_enum, default_value_t = Form::Csv)]
    format: Form,
    /// Write the cases too that no stratum owns, with an empty stratum
    #[arg(long)]
    all: bool,
    /// The file to write; stdout without it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Csv,
    Jsonl,
    Parquet,
}

const COLUMNS: [&str; 11] = [
    "item_id",
    "stratum",
    "run",
    "case_id",
    "model",
    "condition",
    "category",
    "verdict",
    "transition",
    "gar_hit",
    "error_record",
];

#[derive(Serialize)]
struct Line<'a> {
    item_id: &'a str,
    stratum: &'a str,
    run: &'a str,
    case_id: &'a str,
    model: &'a str,
    condition: &'a str,
    category: &'a str,
    verdict: &'a str,
    transition: &'a str,
    gar_hit: &'a str,
    error_record: &'a str,
}

impl<'a> Line<'a> {
    fn texts(&self) -> [&'a str; 11] {
        [
            self.item_id,
            self.stratum,
            self.run,
            self.case_id,
            self.model,
            self.condition,
            self.category,
            self.verdict,
            self.transition,
            self.gar_hit,
            self.error_record,
        ]
    }
}

pub(super) fn run(args: &FrameArgs, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let setting = match (&args.batch, &args.plan) {
        (Some(batch), _) => Setting::of_batch(&store, &store.batch(batch)?)?,
        (None, Some(plan)) => Setting::open(&store, &draw::load_plan(plan)?.0, &draw::bindings(&args.bind)?)?,
        (None, None) => return Err(Error::usage("name a plan or a batch")),
    };
    match &args.out {
        Some(path) => {
            let file = BufWriter::new(create_new(path)?);
            let rows = write(args, &setting, file)
                .and_then(|(mut file, rows)| file.flush().map(|()| rows))
                .map_err(|source| Error::io("write", path, &source))?;
            output.line(format!("{rows} cases in {}; frame {}", path.display(), setting.frame_digest));
        }
        None if args.format == Form::Parquet => {
            return Err(Error::usage("a Parquet file needs a name").hint("--out frame.parquet"));
        }
        None => {
            let (bytes, _) = write(args, &setting, Vec::new()).map_err(|source| Error::internal(source.to_string()))?;
            output.raw(&String::from_utf8_lossy(&bytes));
        }
    }
    Ok(())
}

fn write<W: Write>(args: &FrameArgs, setting: &Setting, out: W) -> io::Result<(W, u64)> {
    let mut rows = 0;
    match args.format {
        Form::Csv => {
            let mut writer = csv::Writer::from_writer(out);
            writer.write_record(COLUMNS)?;
            each(args, setting, |line| {
                rows += 1;
                Ok(writer.write_record(line.texts())?)
            })?;
            Ok((writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?, rows))
        }
        Form::Jsonl => {
            let mut out = out;
            each(args, setting, |line| {
                rows += 1;
                serde_json::to_writer(&mut out, line)?;
                out.write_all(b"\n")
            })?;
            Ok((out, rows))
        }
        Form::Parquet => {
            let about = vec![
                ("dualrater.frame".to_owned(), setting.frame_digest.clone()),
                ("dualrater.plan".to_owned(), setting.bound.plan().digest()),
            ];
            let mut writer = ParquetWriter::new(out, COLUMNS.to_vec(), about)?;
            each(args, setting, |line| {
                rows += 1;
                writer.row(line.texts())
            })?;
            Ok((writer.finish()?, rows))
        }
    }
}

/// Every drawable case with its owner.
fn each(args: &FrameArgs, setting: &Setting, mut line: impl FnMut(&Line<'_>) -> io::Result<()>) -> io::Result<()> {
    let assigner = setting.assigner().map_err(|error| io::Error::other(error.to_string()))?;
    let mut matcher = Matcher::new(&assigner);
    let strata = &setting.bound.plan().strata;
    let flag = |value: bool| if value { "true" } else { "false" };
    for case in setting.frame.iter().filter(|case| case.drawable) {
        let owner = matcher.matching(case).first().and_then(|index| strata.get(*index));
        if owner.is_none() && !args.all {
            continue;
        }
        let transition = case.transition.map_or(String::new(), |transition| transition.to_string());
        line(&Line {
            item_id: case.identity.as_str(),
            stratum: owner.map_or("", |stratum| stratum.id.as_str()),
            run: case.run.as_str(),
            case_id: case.identity.case(),
            model: &case.model,
            condition: &case.condition,
            category: case.category.as_str(),
            verdict: case.verdict.map_or("UNSCORED", crate::model::Verdict::as_str),
            transition: &transition,
            gar_hit: flag(case.gar_hit),
            error_record: flag(case.error_record),
        })?;
    }
    Ok(())
}
