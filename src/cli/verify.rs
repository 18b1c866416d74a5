//! `dualrater verify`: is the chain of ratings whole?

use super::{Context, Output};
use crate::error::{Error, Kind, Result};

/// Re-compute the hash chain of ratings; with --head, check that an earlier head is still part of it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A chain head from an earlier report or export: everything up to it must still stand
    #[arg(long)]
    head: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let report = store.verify_chain()?;
    if args.json {
        output.json(&report)?;
    } else {
        output.line(format!("{} entries, chain head {}", report.entries, report.head));
    }
    if let Some(entry) = report.first_broken {
        return Err(Error::new(
            Kind::CheckFailed,
            format!("entry {entry} or the one before it was changed after it was written"),
        )
        .hint("compare with a copy made by `dualrater backup`"));
    }
    if let Some(head) = &args.head
        && !store.chain_holds(head)?
    {
        return Err(Error::new(Kind::CheckFailed, format!("the head {head} is not part of the chain"))
            .hint("the ratings were rewritten since, or the head is of another database"));
    }
    if !args.json {
        output.line("every link follows from the one before it");
    }
    Ok(())
}
