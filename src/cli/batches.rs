//! `dualrater batches`: what has been drawn.

use super::{Context, Output, output};
use crate::error::Result;
use crate::model::BatchName;
use crate::store::{BatchInfo, RoundInfo, Store, UnusableCase};

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
    if let Some(name) = &args.batch {
        return show(name, args.json, context, output);
    }
    let store = context.store()?;
    let batches = store.batches()?;
    if args.json {
        let all: Vec<_> = batches.iter().map(|batch| as_json(&store, batch)).collect::<Result<_>>()?;
        return output.json(&all);
    }
    let mut rows = Vec::new();
    for batch in batches {
        let cases = store.batch_cases(&batch)?.len();
        let rounds = store.rounds(&batch)?.len();
        let unusable = store.unusable(&batch)?.len();
        let source = if batch.imported { "made elsewhere" } else { "drawn" };
        rows.push(vec![
            batch.name.to_string(),
            source.to_owned(),
            cases.to_string(),
            if rounds == 0 { "–".to_owned() } else { rounds.to_string() },
            unusable.to_string(),
            batch.rubric.1,
            batch.seed.unwrap_or_default(),
            minute(&batch.created_at),
        ]);
    }
    if rows.is_empty() {
        output.line("no batches yet; `dualrater draw --help` says how to draw one");
        return Ok(());
    }
    output.table(&["batch", "source", "cases", "rounds", "unusable", "rubric", "seed", "made"], &rows, &[2, 3, 4]);
    Ok(())
}

fn as_json(store: &Store, batch: &BatchInfo) -> Result<serde_json::Value> {
    let later = store.later_cases(batch)?;
    let added: Vec<_> = later
        .iter()
        .map(|(case, found)| serde_json::json!({ "case": case, "round": found.round, "replaces": found.replaces }))
        .collect();
    Ok(serde_json::json!({
        "batch": batch.name, "imported": batch.imported, "seed": batch.seed, "plan": batch.plan,
        "frame": batch.frame, "rubric": [&batch.rubric.1, &batch.rubric.0], "command": batch.command,
        "created_at": batch.created_at, "program": batch.program,
        "strata": store.batch_strata(batch)?, "cases": store.batch_cases(batch)?,
        "rounds": store.rounds(batch)?, "added_later": added, "unusable": store.unusable(batch)?,
    }))
}

/// One batch with its strata, rounds and unusable cases.
pub(super) fn show(name: &BatchName, json: bool, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let batch = store.batch(name)?;
    if json {
        // A list, as for all batches.
        return output.json(&[as_json(&store, &batch)?]);
    }
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
    let rounds = store.rounds(&batch)?;
    let last = rounds.last();
    let rows: Vec<Vec<String>> = store
        .batch_strata(&batch)?
        .into_iter()
        .map(|s| {
            let now = last.and_then(|round| round.strata.iter().find(|found| found.id == s.id));
            vec![
                s.id,
                s.title,
                count(s.population),
                count(s.quota),
                now.map_or("–".to_owned(), |now| now.replacements.to_string()),
                s.drawn.to_string(),
                s.shortfall.to_string(),
                output::number(now.and_then(|now| now.probability), 4),
            ]
        })
        .collect();
    output.table(&["stratum", "title", "N", "quota", "replaced", "n", "short", "p"], &rows, &[2, 3, 4, 5, 6, 7]);
    show_rounds(&rounds, output);
    show_unusable(&store.unusable(&batch)?, output);
    Ok(())
}

/// A time stamp to the minute, for tables.
fn minute(stamp: &str) -> String {
    stamp.get(..16).unwrap_or(stamp).replace('T', " ")
}

fn show_rounds(rounds: &[RoundInfo], output: &mut Output) {
    if rounds.is_empty() {
        return;
    }
    output.line("");
    let rows: Vec<Vec<String>> = rounds
        .iter()
        .map(|round| {
            vec![
                round.round.to_string(),
                round.kind.as_str().to_owned(),
                round.added.to_string(),
                round.ratings_known.to_string(),
                round.ratings_elsewhere.map_or("–".to_owned(), |count| count.to_string()),
                round.seed.clone().unwrap_or_default(),
                minute(&round.made_at),
            ]
        })
        .collect();
    output.table(&["round", "what", "cases", "ratings known", "elsewhere", "seed", "made"], &rows, &[2, 3, 4]);
    if rounds.iter().any(|round| round.adversarial) {
        output.line("adversarial setting: every round has a seed of its own, drawn after the one before");
    }
}

fn show_unusable(unusable: &[UnusableCase], output: &mut Output) {
    if unusable.is_empty() {
        return;
    }
    output.line("");
    let rows: Vec<Vec<String>> = unusable
        .iter()
        .map(|found| {
            vec![
                found.stratum.clone(),
                found.case.to_string(),
                found.reason.clone(),
                found.replaced_by.as_ref().map_or("no".to_owned(), ToString::to_string),
            ]
        })
        .collect();
    output.table(&["stratum", "unusable case", "reason", "replaced by"], &rows, &[]);
}
