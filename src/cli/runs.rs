//! `dualrater runs`: what has been ingested.

use super::{Context, Output};
use crate::error::Result;
use crate::model::Category;
use crate::store::FileKind;

/// List the ingested runs
///
/// List the ingested runs with their categories, cases and scores.
///
/// `unscored` cases have no score file; `failures only` runs hold failed cases alone, so they have no accuracy. With --json also the
/// SHA-256 of every file and of the data set.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Row {
    run: String,
    model: String,
    condition: String,
    category: Category,
    cases: u64,
    scored: bool,
    failures_only: bool,
    dataset: Option<String>,
    result_sha256: String,
    score_sha256: Option<String>,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let mut rows = Vec::new();
    for run in store.runs()? {
        for category in Category::ALL {
            let Some(result) = store.file(&run, category, FileKind::Result)? else { continue };
            let score = store.file(&run, category, FileKind::Score)?;
            rows.push(Row {
                run: run.name.clone(),
                model: run.model.clone(),
                condition: run.condition.clone(),
                category,
                cases: result.records,
                scored: score.is_some(),
                failures_only: result.failures_only,
                dataset: run.dataset.clone(),
                result_sha256: result.sha256,
                score_sha256: score.map(|score| score.sha256),
            });
        }
    }
    if args.json {
        return output.json(&rows);
    }
    if rows.is_empty() {
        output.line("no runs yet; `dualrater ingest bfcl --help` says how to bring one in");
        return Ok(());
    }
    let table: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let verdicts = match (row.scored, row.failures_only) {
                (true, true) => "failures only",
                (true, false) => "scored",
                (false, _) => "unscored",
            };
            let dataset = row.dataset.map_or("–".to_owned(), |digest| digest.chars().take(8).collect());
            vec![
                row.run,
                row.model,
                row.condition,
                row.category.to_string(),
                row.cases.to_string(),
                verdicts.to_owned(),
                dataset,
            ]
        })
        .collect();
    output.table(&["run", "model", "condition", "category", "cases", "verdicts", "data set"], &table, &[4]);
    Ok(())
}
