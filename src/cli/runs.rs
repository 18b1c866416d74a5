//! `dualrater runs`: what has been ingested.

use super::{Context, Output};
use crate::error::Result;
use crate::model::Category;
use crate::store::{FileKind, RunRow, Store};

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
    category: String,
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
        for category in Category::ALL.into_iter().chain(Category::CHAT) {
            let Some(result) = store.file(&run, category, FileKind::Result)? else { continue };
            let score = store.file(&run, category, FileKind::Score)?;
            rows.push(Row {
                run: run.name.clone(),
                model: run.model.clone(),
                condition: run.condition.clone(),
                category: category.to_string(),
                cases: result.records,
                scored: score.is_some() || logged(&store, &run, category)?,
                failures_only: result.failures_only,
                dataset: run.dataset.clone(),
                result_sha256: result.sha256,
                score_sha256: score.map(|score| score.sha256),
            });
        }
        if let Some(record) = store.tau2_run(&run)? {
            rows.push(Row {
                run: run.name.clone(),
                model: run.model.clone(),
                condition: run.condition.clone(),
                category: format!("tau2 {}", record.domain),
                cases: record.simulations,
                scored: record.scored > 0,
                failures_only: false,
                dataset: None,
                result_sha256: record.sha256,
                score_sha256: None,
            });
        }
    }
    if args.json {
        return output.json(&rows);
    }
    if rows.is_empty() {
        output.line("no runs yet; `dualrater ingest --help` says how to bring one in");
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
            vec![row.run, row.model, row.condition, row.category, row.cases.to_string(), verdicts.to_owned(), dataset]
        })
        .collect();
    output.table(&["run", "model", "condition", "category", "cases", "verdicts", "data set"], &table, &[4]);
    Ok(())
}

/// Do the cases of a chat log carry verdicts of their own?
fn logged(store: &Store, run: &RunRow, category: Category) -> Result<bool> {
    Ok(Category::CHAT.contains(&category) && store.frame_rows(run, category)?.iter().any(|row| row.verdict.is_some()))
}
