//! `dualrater backup`: a copy of the database while others use it.

use std::path::PathBuf;

use super::{Context, Output};
use crate::error::{Error, Place, Result};

/// Copy the database while others use it
///
/// Copy the database with SQLite's online backup; safe while others rate.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file to write; must not exist
    target: PathBuf,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    if args.target.exists() {
        return Err(Error::conflict("the file exists already").at(Place::file(&args.target)).hint("name a new file"));
    }
    let store = context.store()?;
    store.backup(&args.target)?;
    output.line(format!(
        "copied {} to {}, chain head {}",
        context.db.display(),
        args.target.display(),
        store.chain_head()?
    ));
    Ok(())
}
