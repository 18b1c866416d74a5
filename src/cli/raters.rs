//! `dualrater raters`: who rates a batch, and whose agreement is reported.

use super::{Context, Output, clock, links};
use crate::error::{Error, Result};
use crate::model::{BatchName, RaterName};

/// Show the raters of a batch, fix the pair of record, or make links to the page
///
/// Show the raters of a batch, or fix the pair of record: the two whose agreement is reported. `raters add` registers
/// somebody and makes their secret link to the page of `dualrater serve`.
///
/// Without a fixed pair, the first two registered people or models are of record.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    action: Option<links::Action>,
    /// The batch
    #[arg(long, required = true)]
    batch: Option<BatchName>,
    /// Fix the pair of record
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1..)]
    pair: Option<Vec<RaterName>>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Row {
    rater: RaterName,
    kind: crate::model::RaterKind,
    cases_rated: usize,
    /// Labels of cases that a model was asked for in vain.
    no_verdicts: usize,
    rulings: usize,
    spot_checked_cases: usize,
    cases: usize,
    of_record: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    if let Some(action) = &args.action {
        return links::run(action, context, output);
    }
    let Some(name) = &args.batch else { return Err(Error::usage("say which batch with --batch")) };
    let mut store = context.store()?;
    let batch = store.batch(name)?;
    if let Some(pair) = &args.pair {
        let known = store.batch_raters(&batch)?;
        let (a, b) = check_pair(&known, pair)?;
        check_of_record(&known, &a, &b)?;
        store.set_pair(&batch, &a, &b, &clock::now())?;
    }
    let of_record = store.pair_of_record(&batch)?;
    let audit = store.audit(&batch, Vec::new())?;
    let cases = &audit.cases;
    let rows: Vec<Row> = store
        .batch_raters(&batch)?
        .into_iter()
        .map(|(rater, kind)| {
            let rules = kind == crate::model::RaterKind::Adjudicator;
            Row {
                cases_rated: cases.iter().filter(|case| case.ratings.contains_key(&rater)).count(),
                no_verdicts: audit.no_verdicts.iter().filter(|found| found.rater == rater).count(),
                rulings: if rules { cases.iter().map(|case| case.adjudications.len()).sum() } else { 0 },
                spot_checked_cases: if rules {
                    cases.iter().filter(|case| case.spot_checks.is_some()).count()
                } else {
                    0
                },
                cases: cases.len(),
                of_record: of_record.as_ref().is_some_and(|(a, b)| *a == rater || *b == rater),
                rater,
                kind,
            }
        })
        .collect();
    if args.json {
        return output.json(&rows);
    }
    if rows.is_empty() {
        output.line(format!("batch {name} has no raters yet; `dualrater export` registers one"));
        return Ok(());
    }
    let without: Vec<(String, usize)> =
        rows.iter().filter(|row| row.no_verdicts > 0).map(|row| (row.rater.to_string(), row.no_verdicts)).collect();
    let table: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            vec![
                row.rater.to_string(),
                row.kind.to_string(),
                format!("{}/{}", row.cases_rated, row.cases),
                row.rulings.to_string(),
                row.spot_checked_cases.to_string(),
                if row.of_record { "yes" } else { "" }.to_owned(),
            ]
        })
        .collect();
    output.table(&["rater", "kind", "cases rated", "rulings", "spot checks", "of record"], &table, &[2, 3, 4]);
    for (rater, count) in without {
        output.line(format!("{rater}: no verdict on {count} labels of cases"));
    }
    Ok(())
}

/// Only people and models can be of record: what is computed from the data, or was said knowing both raters, measures
/// nothing about them.
fn check_of_record(known: &[(RaterName, crate::model::RaterKind)], a: &RaterName, b: &RaterName) -> Result<()> {
    match known.iter().find(|(name, kind)| (name == a || name == b) && !kind.can_be_of_record()) {
        None => Ok(()),
        Some((name, kind)) => Err(Error::conflict(format!("{name} is {kind} and cannot be of record"))
            .hint(format!("`dualrater agree --raters NAME,{name}` compares a rater with it"))),
    }
}

/// Two different raters of the batch.
pub(super) fn check_pair(
    known: &[(RaterName, crate::model::RaterKind)],
    pair: &[RaterName],
) -> Result<(RaterName, RaterName)> {
    let names: Vec<String> = known.iter().map(|(name, _)| name.to_string()).collect();
    let hint = format!("raters of this batch: {}", names.join(", "));
    let [a, b] = pair else {
        return Err(Error::usage("a pair has two raters, as in --raters anna,ben").hint(hint));
    };
    if a == b {
        return Err(Error::usage(format!("{a} cannot be paired with itself")).hint(hint));
    }
    for rater in [a, b] {
        if !known.iter().any(|(name, _)| name == rater) {
            return Err(Error::not_found(format!("no rater {rater} in this batch")).hint(hint));
        }
    }
    Ok((a.clone(), b.clone()))
}
