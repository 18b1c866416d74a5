//! `dualrater rubric`: show or check a rubric.

use std::path::Path;

use clap::Subcommand;

use super::Output;
use crate::error::{Error, Result};
use crate::rubric::{self, BUNDLED, Rubric, RubricDiff};

/// Show, check or compare rubrics.
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
    /// Print what differs between two rubrics: labels and rules added, removed and changed
    Diff {
        /// A compiled-in rubric or a file
        a: String,
        /// Another
        b: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
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
        Action::Diff { a, b, json } => {
            let ((a, _), (b, _)) = (load(a)?, load(b)?);
            let diff = rubric::diff(&a, &b);
            if *json {
                return output.json(&diff);
            }
            print(&a, &b, &diff, output);
        }
    }
    Ok(())
}

fn print(a: &Rubric, b: &Rubric, diff: &RubricDiff, output: &mut Output) {
    output.line(format!("{} {} → {} {}", a.id, short(&diff.digests[0]), b.id, short(&diff.digests[1])));
    if diff.same() {
        output.line("the same questions");
        return;
    }
    let mut rows = Vec::new();
    for (what, list) in [
        ("added", &diff.labels_added),
        ("removed", &diff.labels_removed),
        ("rule added", &diff.rules_added),
        ("rule removed", &diff.rules_removed),
    ] {
        rows.extend(list.iter().map(|id| vec![id.clone(), what.to_owned(), String::new()]));
    }
    for (what, list) in [("changed", &diff.labels_changed), ("rule changed", &diff.rules_changed)] {
        rows.extend(list.iter().map(|change| vec![change.id.clone(), what.to_owned(), change.fields.join(", ")]));
    }
    if !diff.fields.is_empty() {
        rows.push(vec!["the rubric".to_owned(), "changed".to_owned(), diff.fields.join(", ")]);
    }
    output.table(&["label", "what", "fields"], &rows, &[]);
    output.line("Ratings under the one are never mixed with ratings under the other.");
}

fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
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
