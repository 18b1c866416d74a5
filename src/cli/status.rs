//! `dualrater status`: how far everybody is with a batch.

use super::{Context, Output, output};
use crate::error::Result;
use crate::model::BatchName;
use crate::serve::{self, duration};

/// How far everybody is with a batch
///
/// How far everybody is with a batch: per rater the cases done, begun and left, median seconds a case, flags; how far the
/// adjudication is.
///
/// Agreement so far is shown only with --kappa: a rater who sees it is not blind any more.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// Show agreement so far (for the owner's eyes)
    #[arg(long)]
    kappa: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let status = serve::status(&store, &args.batch, args.kappa)?;
    if args.json {
        return output.json(&status);
    }
    if status.raters.is_empty() {
        output.line(format!(
            "batch {} has no raters yet; `dualrater raters add` or `dualrater export` registers one",
            args.batch
        ));
        return Ok(());
    }
    let rows: Vec<Vec<String>> = status
        .raters
        .iter()
        .map(|rater| {
            let flags = rater.marks.iter().filter(|(_, marks)| marks.flag.is_some()).count();
            let known = rater.marks.iter().filter(|(_, marks)| marks.known).count();
            vec![
                rater.rater.to_string(),
                rater.kind.to_string(),
                format!("{}/{}", rater.done, status.cases),
                rater.begun.to_string(),
                rater.left.to_string(),
                rater.median_seconds.map_or("–".to_owned(), duration),
                flags.to_string(),
                known.to_string(),
                if rater.link { "yes" } else { "" }.to_owned(),
            ]
        })
        .collect();
    output.table(
        &["rater", "kind", "done", "begun", "left", "median", "flags", "known", "link"],
        &rows,
        &[2, 3, 4, 5, 6, 7],
    );
    for rater in &status.raters {
        for (case, marks) in &rater.marks {
            if let Some(note) = &marks.flag {
                let note = if note.is_empty() { String::new() } else { format!(": {note}") };
                output.line(format!("flagged by {}: {case}{note}", rater.rater));
            }
        }
    }
    if let Some(adjudication) = &status.adjudication {
        output.line(format!(
            "adjudication: {} of {} disagreements ruled on, {} of {} agreed cases spot-checked, {} cases wait for a rater",
            adjudication.ruled,
            adjudication.disagreements,
            adjudication.spot_checked,
            adjudication.agreed_cases,
            adjudication.waiting
        ));
    }
    if let Some(labels) = &status.agreement {
        let rows: Vec<Vec<String>> = labels
            .iter()
            .map(|label| {
                vec![
                    label.label.to_string(),
                    label.n.to_string(),
                    output::number(label.po, 3),
                    output::number(label.kappa, 3),
                    output::interval(label.ci95, 2),
                    label.reason.clone().unwrap_or_default(),
                ]
            })
            .collect();
        output.table(&["label", "n", "po", "kappa", "95 % CI", "note"], &rows, &[1, 2, 3, 4]);
    }
    output.line(format!("chain head {}", status.chain_head));
    Ok(())
}
