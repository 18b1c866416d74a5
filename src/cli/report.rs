//! `dualrater report` (in the making).

use std::path::Path;

use super::{Context, Output};
use crate::agree::Options;
use crate::error::Result;
use crate::model::BatchName;
use crate::store::Store;

/// In the making.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, _context: &Context, _output: &mut Output) -> Result<()> {
    Err(crate::error::Error::internal("in the making"))
}

pub(super) fn write(_store: &Store, _batch: &BatchName, _out: &Path, _options: Options) -> Result<()> {
    Ok(())
}
