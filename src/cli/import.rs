//! `dualrater import` (in the making).

use super::{Context, Output};
use crate::error::Result;

/// In the making.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_args: &Args, _context: &Context, _output: &mut Output) -> Result<()> {
    Err(crate::error::Error::internal("in the making"))
}
