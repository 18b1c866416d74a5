//! `dualrater estimate`: what an audit says about the whole benchmark, and about the automatic metric.

mod csv_rows;
mod gar_table;
pub(super) mod population;
mod show;

use std::path::PathBuf;

use super::{Context, Output, agree, output, raters};
use crate::error::{Error, Result};
use crate::estimate::findings::{Findings, Input, Marginal, findings, marginals};
use crate::model::{BatchName, LabelId, RaterName};
use crate::store::Store;
use population::Question;

/// What an audit says about all cases: weighted rates, and how far GAR can be believed
///
/// What an audit says about all cases it was drawn from: the design-weighted rate of a label per cell (run and category),
/// per run and overall, with intervals that hold for small samples; GAR beside it, case by case; and GAR corrected by the
/// audit. A cell that no stratum reaches has no rate, and the reason is printed.
///
/// `human %` is the raters' rate. `corrected %` is GAR less its mean error in the sample (the difference estimator of
/// prediction-powered inference, lambda = 1). B1b is the label for any-turn GAR, B1a of mechanism-v3 for GAR at the gold
/// turn; no other label corrects GAR. docs/estimation.md says which number answers which question.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dualrater estimate --batch main --label B1b
  dualrater estimate main --rules strict --json
  dualrater estimate --batch published --gar-table table1.csv    # an audit made elsewhere: marginal differences only")]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", required_unless_present = "batch", conflicts_with = "batch")]
    named: Option<BatchName>,
    /// The batch, as other commands have it
    #[arg(long)]
    batch: Option<BatchName>,
    /// The label (default: B1b, else the rubric's first yes-or-no label)
    #[arg(long)]
    label: Option<LabelId>,
    /// The two raters (default: the pair of record)
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1..)]
    raters: Option<Vec<RaterName>>,
    /// The rule set under which GAR is counted and corrected
    #[arg(long, default_value = "paper", value_parser = ["paper", "strict"])]
    rules: String,
    /// Published rates (CSV or JSON with model, category, gar): prints marginal differences beside them
    #[arg(long, value_name = "FILE")]
    gar_table: Option<PathBuf>,
    /// The unit of the column gar (default: percent if a value is above 1)
    #[arg(long, value_name = "UNIT", value_parser = ["share", "percent"], requires = "gar_table")]
    gar_unit: Option<String>,
    /// List the cases on which label and GAR differ, with the cue
    #[arg(long)]
    cases: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print the rows as CSV
    #[arg(long)]
    csv: bool,
}

/// What `--json` prints.
#[derive(serde::Serialize)]
struct Document<'a> {
    format: &'static str,
    batch: &'a BatchName,
    rubric: &'a str,
    raters: [&'a RaterName; 2],
    #[serde(flatten)]
    findings: &'a Findings,
    #[serde(skip_serializing_if = "Option::is_none")]
    marginal: Option<MarginalSection<'a>>,
}

#[derive(serde::Serialize)]
struct MarginalSection<'a> {
    what: &'static str,
    read_as: &'static str,
    cells: &'a [Marginal],
}

const MARGINAL: &str = "Marginal differences: two percentages beside each other. Equal percentages are not agreement; only the runs \
    themselves tell on which cases label and metric differ.";

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let name = args.named.as_ref().or(args.batch.as_ref()).ok_or_else(|| Error::usage("name a batch"))?;
    let store = context.store()?;
    let (batch, rubric, audit) = population::read(&store, name)?;
    let pair = match &args.raters {
        Some(pair) => raters::check_pair(&audit.raters, pair)?,
        None => agree::pair_of_record(&audit)?,
    };
    let label = population::label(&rubric, args.label.as_ref())?;
    let unit = args.gar_unit.as_deref().map(|unit| match unit {
        "percent" => gar_table::Unit::Percent,
        _ => gar_table::Unit::Share,
    });
    let published = args.gar_table.as_ref().map(|file| gar_table::read(file, unit)).transpose()?;
    let question = Question {
        batch: &batch,
        rubric: &rubric,
        audit: &audit,
        pair: (&pair.0, &pair.1),
        label: &label,
        strict: args.rules == "strict",
    };
    let (input, found) = of(&store, &question)?;
    let marginal = published.map(|(rates, unit)| (marginals(&found, &input.cases, &rates), unit));
    if args.csv {
        return csv_rows::write(&found, output);
    }
    if args.json {
        let section = marginal.as_ref().map(|(cells, unit)| MarginalSection {
            what: MARGINAL,
            read_as: if *unit == gar_table::Unit::Percent { "percent" } else { "share" },
            cells,
        });
        return output.json(&Document {
            format: "dualrater-estimate/1",
            batch: name,
            rubric: &rubric.id,
            raters: [&pair.0, &pair.1],
            findings: &found,
            marginal: section,
        });
    }
    show::head(name, &rubric.id, (&pair.0, &pair.1), &found, output);
    if let Some((cells, unit)) = &marginal {
        show::marginal(cells, *unit == gar_table::Unit::Percent, MARGINAL, output);
    }
    show::all(&found, args.cases, output);
    Ok(())
}

/// Reads and estimates.
pub(super) fn of(store: &Store, question: &Question<'_>) -> Result<(Input, Findings)> {
    if output::watched() && question.strict {
        output::message("classifying the frame under the strict rules");
    }
    let input = population::input(store, question)?;
    let mut found = findings(&input);
    found.notes.extend(population::run_notes(store, &input)?);
    Ok((input, found))
}
