//! `dualrater batches`: what has been drawn.

use super::{Context, Output};
use crate::error::Result;
use crate::model::BatchName;

/// List the batches, or show one
///
/// List the batches, or show one with its strata.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A batch to show
    batch: Option<BatchName>,
    /// Print JSON: all batches with their strata and cases
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    if args.json {
        let mut all = Vec::new();
        for batch in
            store.batches()?.into_iter().filter(|batch| args.batch.as_ref().is_none_or(|name| *name == batch.name))
        {
            all.push(serde_json::json!({
                "batch": batch.name, "imported": batch.imported, "seed": batch.seed, "plan": batch.plan,
                "frame": batch.frame, "rubric": [&batch.rubric.1, &batch.rubric.0], "command": batch.command,
                "created_at": batch.created_at, "program": batch.program,
                "strata": store.batch_strata(&batch)?, "cases": store.batch_cases(&batch)?,
            }));
        }
        return output.json(&all);
    }
    let Some(name) = &args.batch else {
        let mut rows = Vec::new();
        for batch in store.batches()? {
            let cases = store.batch_cases(&batch)?.len();
            let source = if batch.imported { "made elsewhere" } else { "drawn" };
            rows.push(vec![
                batch.name.to_string(),
                source.to_owned(),
                cases.to_string(),
                batch.rubric.1,
                batch.seed.unwrap_or_default(),
                batch.created_at,
            ]);
        }
        if rows.is_empty() {
            output.line("no batches yet; `dualrater draw --help` says how to draw one");
            return Ok(());
        }
        output.table(&["batch", "source", "cases", "rubric", "seed", "made"], &rows, &[2]);
        return Ok(());
    };
    let batch = store.batch(name)?;
    output.line(format!("batch {} ({})", batch.name, if batch.imported { "made elsewhere" } else { "drawn" }));
    output.line(format!("made      {} by dualrater {}: {}", batch.created_at, batch.program, batch.command));
    output.line(format!("rubric    {} {}", batch.rubric.1, batch.rubric.0));
    if let Some(original) = store.original_of(&batch)? {
        output.line(format!("re-rates  {original}, the same cases under another rubric"));
    }
    if let Some((digest, name)) = &batch.plan {
        output.line(format!("plan      {name} {digest}"));
    }
    if let Some((digest, size)) = &batch.frame {
        output.line(format!("frame     {size} cases {digest}"));
    }
    if let Some(seed) = &batch.seed {
        output.line(format!("seed      {seed}"));
    }
    let count = |value: Option<u64>| value.map_or("–".to_owned(), |count| count.to_string());
    let rows: Vec<Vec<String>> = store
        .batch_strata(&batch)?
        .into_iter()
        .map(|s| vec![s.id, s.title, count(s.population), count(s.quota), s.drawn.to_string(), s.shortfall.to_string()])
        .collect();
    output.table(&["stratum", "title", "N", "quota", "n", "short"], &rows, &[2, 3, 4, 5]);
    Ok(())
}
