//! `dualrater tau2`: audits of τ²-bench runs and tasks.

mod ask;
mod audit;
pub(super) mod confirm;
pub(super) mod gar;
pub(super) mod ingest;
mod tasks;

use clap::Subcommand;

use super::{Context, Output};
use crate::error::Result;

/// τ²-bench: classes of runs and tasks, ASK candidates, consent before writes
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Audit(audit::Args),
    Tasks(tasks::Args),
    AskCandidates(ask::Args),
    Confirm(confirm::Args),
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    match &args.action {
        Action::Audit(args) => audit::run(args, context, output),
        Action::Tasks(args) => tasks::run(args, context, output),
        Action::AskCandidates(args) => ask::run(args, context, output),
        Action::Confirm(args) => confirm::run(args, context, output),
    }
}
