//! `dualrater history`: everything that was ever said about a case.

use super::{Context, Output};
use crate::error::{Error, Result};
use crate::model::{CaseIdentity, RatingValue};

/// Every rating, ruling and spot check about a case, oldest first.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The case: run/case_id
    case: CaseIdentity,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let entries = store.history(&args.case)?;
    if entries.is_empty() {
        return Err(
            Error::not_found(format!("nothing was said about {}", args.case)).hint("a case is named run/case_id")
        );
    }
    if args.json {
        return output.json(&entries);
    }
    let rows: Vec<Vec<String>> = entries
        .into_iter()
        .map(|entry| {
            let value = match entry.correct {
                Some(true) => format!("{} (agreed value correct)", entry.value),
                Some(false) => format!("{} (agreed value wrong)", entry.value),
                None if entry.value == RatingValue::TAKEN_BACK => "(taken back)".to_owned(),
                None => entry.value,
            };
            vec![
                entry.id.to_string(),
                entry.rated_at,
                entry.batch,
                entry.rater,
                entry.act,
                entry.label,
                value,
                entry.rationale,
            ]
        })
        .collect();
    output.table(&["#", "when", "batch", "rater", "act", "label", "value", "rationale"], &rows, &[0]);
    Ok(())
}
