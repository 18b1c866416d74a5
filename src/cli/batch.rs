//! `dualrater batch`: one batch shown, rated again under another rubric, and its unusable cases.

use clap::Subcommand;

use super::{Context, Output, clock};
use crate::error::Result;
use crate::model::BatchName;
use crate::store::Rerating;

/// Show a batch, rate it again under another rubric, declare and replace unusable cases.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show a batch: strata, rounds, unusable cases
    Show {
        /// The batch
        batch: BatchName,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Declare a case that nobody can rate, before anybody does
    Unusable(super::unusable::UnusableArgs),
    /// Draw the next ticket in place of an unusable case
    Replace(super::unusable::ReplaceArgs),
    /// The same cases as a new batch under another rubric; no rating is taken over
    Rerate {
        /// The batch whose cases are rated again
        #[arg(long)]
        batch: BatchName,
        /// The other rubric: a compiled-in one or a file
        #[arg(long)]
        rubric: String,
        /// Name of the new batch
        #[arg(long = "as", value_name = "NAME")]
        name: BatchName,
    },
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let (batch, rubric, name) = match &args.action {
        Action::Show { batch, json } => return super::batches::show(batch, *json, context, output),
        Action::Unusable(args) => return super::unusable::declare(args, context, output),
        Action::Replace(args) => return super::unusable::replace(args, context, output),
        Action::Rerate { batch, rubric, name } => (batch, rubric, name),
    };
    let mut store = context.store()?;
    let original = store.batch(batch)?;
    let (rubric, text) = super::rubric::load(rubric)?;
    let digest = rubric.digest();
    store.rerate(
        &original,
        &Rerating { name, rubric: (&digest, &rubric.id, &text), command: &Context::command_line(), now: &clock::now() },
    )?;
    let cases = store.batch_cases(&store.batch(name)?)?.len();
    output.line(format!("batch {name}: the {cases} cases of {batch} under {} {digest}", rubric.id));
    output.line(format!("ratings of {batch} under {} stay where they are; {name} has none yet", original.rubric.1));
    output.line(format!(
        "next: dualrater export --batch {name} --rater NAME; later: dualrater agree --batch {name} --across {batch}"
    ));
    Ok(())
}
