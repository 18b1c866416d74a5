//! `dualrater rubric`: show or check a rubric.

use std::path::Path;

use clap::Subcommand;

use super::Output;
use crate::error::{Error, Result};
use crate::rubric::{self, BUNDLED, Rubric};

/// Show or check a rubric
///
/// Show or check a rubric.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the rubric as raters read it
    Show {
        /// A compiled-in rubric (mechanism-v2) or a file
        #[arg(default_value = "mechanism-v2")]
        rubric: String,
    },
    /// Check a rubric file and print its digest
    Check {
        /// A compiled-in rubric or a file
        rubric: String,
    },
}

pub fn run(args: &Args, output: &mut Output) -> Result<()> {
    match &args.action {
        Action::Show { rubric } => {
            let (rubric, _) = load(rubric)?;
            output.line(rubric::instructions(&rubric));
        }
        Action::Check { rubric } => {
            let (rubric, _) = load(rubric)?;
            output.line(format!(
                "{} version {}: {} labels, digest {}",
                rubric.id,
                rubric.version,
                rubric.labels.len(),
                rubric.digest()
            ));
        }
    }
    Ok(())
}

/// Loads a rubric by name or file, with its text.
pub(super) fn load(name: &str) -> Result<(Rubric, String)> {
    if let Some(text) = rubric::bundled_text(name) {
        let rubric = rubric::parse(text).map_err(|error| error.into_error(Path::new(name)))?;
        return Ok((rubric, text.to_owned()));
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path).map_err(|source| {
        Error::io("read", path, &source).hint(format!("a rubric is a file or one of: {}", BUNDLED.join(", ")))
    })?;
    let rubric = rubric::parse(&text).map_err(|error| error.into_error(path))?;
    Ok((rubric, text))
}
