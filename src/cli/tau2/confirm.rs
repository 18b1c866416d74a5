//! `dualrater confirm`: the consent table, and `dualrater ingest verdicts`.

use std::path::PathBuf;

use crate::cli::desk::Desk;
use crate::cli::{Context, Output, clock, output};
use crate::error::{Error, Result};
use crate::ingest::read_verdicts;
use crate::model::{BatchName, LabelId, RaterName, RatingValue};
use crate::store::Store;
use crate::tau2::{ConfirmRecord, confirm_table, consent_record};

/// Consent before database writes, per model and domain
///
/// Of the judged writes: the share that the user confirmed before (GAR), the share in passing simulations (Acc), and their
/// difference, with intervals clustered by simulation. `n` counts all writes; those without a verdict are counted and in no
/// share. Judgments come from a set (`ingest verdicts`) or from a batch rated with a consent rubric (confirm-v1).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A set of finished judgments; the only one where there is one
    #[arg(long, conflicts_with = "batch")]
    set: Option<String>,
    /// A batch of writes: its values after adjudication
    #[arg(long)]
    batch: Option<BatchName>,
    /// In a batch: the answers of this rater in place of the values after adjudication
    #[arg(long, requires = "batch")]
    rater: Option<RaterName>,
    /// The label that asks for consent
    #[arg(long, default_value = "consent", requires = "batch")]
    label: LabelId,
    /// Print JSON: an array of rows
    #[arg(long)]
    json: bool,
}

/// Finished judgments of database writes: CSV or JSON lines
///
/// Fields: model, domain, sim_id, tool, confirmed (true, false, or empty for no verdict), passed (true, false, or empty);
/// further fields are not stored. The same file again changes nothing.
#[derive(Debug, clap::Args)]
pub struct VerdictArgs {
    /// The file
    file: PathBuf,
    /// Name of the set
    #[arg(long, default_value = "published")]
    name: String,
}

pub fn ingest(args: &VerdictArgs, context: &Context, output: &mut Output) -> Result<()> {
    let (sha256, _) = crate::ingest::file_digest(&args.file)?;
    let verdicts = read_verdicts(&args.file)?;
    let judged = verdicts.iter().filter(|verdict| verdict.confirmed.is_some()).count();
    let mut store = context.store_or_new()?;
    let path = args.file.display().to_string();
    let added = store.add_verdicts(&args.name, &path, &sha256, &verdicts, &clock::now())?;
    let state = if added { "" } else { "; unchanged, as stored before" };
    output.line(format!("verdicts {}: {} writes, {judged} judged{state}", args.name, verdicts.len()));
    Ok(())
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let (records, warnings) = match &args.batch {
        Some(batch) => of_batch(&store, batch, args)?,
        None => (of_set(&store, args.set.as_deref())?, Vec::new()),
    };
    let rows = confirm_table(&records);
    for warning in &warnings {
        output::message(&format!("warning: {warning}"));
    }
    if args.json {
        return output.json(&rows);
    }
    let rated = |value: Option<f64>, interval: Option<[f64; 2]>| {
        format!("{} {}", output::percent(value), output::interval(interval, 1)).trim_end().to_owned()
    };
    let table: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let delta = row.delta_pp.map_or("–".to_owned(), |delta| format!("{delta:+.1}"));
            vec![
                format!("{} {}", row.model, row.domain),
                row.n.to_string(),
                row.judged.to_string(),
                rated(row.gar_pct, row.gar_ci95),
                rated(row.acc_pct, row.acc_ci95),
                format!("{delta} {}", output::interval(row.delta_ci95, 1)).trim_end().to_owned(),
            ]
        })
        .collect();
    output.table(&["model, domain", "n", "judged", "GAR %", "Acc %", "Δ pp"], &table, &[1, 2, 3, 4, 5]);
    let (n, judged): (u64, u64) = rows.iter().fold((0, 0), |(n, judged), row| (n + row.n, judged + row.judged));
    output.line(format!("{judged} of {n} writes are judged; intervals are clustered by simulation"));
    Ok(())
}

fn of_set(store: &Store, name: Option<&str>) -> Result<Vec<ConfirmRecord>> {
    let sets = store.verdict_sets()?;
    let name = match (name, sets.as_slice()) {
        (Some(name), _) => name,
        (None, [one]) => &one.name,
        (None, []) => {
            return Err(Error::not_found("there are no judgments of writes")
                .hint("bring some in with `dualrater ingest verdicts FILE`, or name a rated --batch"));
        }
        (None, several) => {
            let names: Vec<&str> = several.iter().map(|set| set.name.as_str()).collect();
            return Err(Error::usage("there are several sets of judgments")
                .hint(format!("choose one with --set: {}", names.join(", "))));
        }
    };
    if !sets.iter().any(|set| set.name == name) {
        return Err(Error::not_found(format!("there is no set of judgments {name:?}")));
    }
    let record = |verdict: crate::store::StoredVerdict| ConfirmRecord {
        model: verdict.model,
        domain: verdict.domain,
        simulation: verdict.simulation,
        confirmed: verdict.confirmed,
        passed: verdict.passed.unwrap_or(false),
    };
    Ok(store.verdicts(name)?.into_iter().map(record).collect())
}

fn of_batch(store: &Store, name: &BatchName, args: &Args) -> Result<(Vec<ConfirmRecord>, Vec<String>)> {
    let desk = Desk::open(store, name)?;
    if !desk.audit.labels.contains(&args.label) {
        let known: Vec<String> = desk.audit.labels.iter().map(ToString::to_string).collect();
        return Err(Error::usage(format!("batch {name} has no label {}", args.label)).hint(format!(
            "its rubric {} has: {}",
            desk.rubric.id,
            known.join(", ")
        )));
    }
    let pair = desk.audit.pair.clone();
    let value = |case: &crate::model::AuditCase| -> Option<RatingValue> {
        match (&args.rater, &pair) {
            (Some(rater), _) => case.value(rater, &args.label).cloned(),
            (None, Some((a, b))) => case.final_value((a, b), &args.label).cloned(),
            (None, None) => None,
        }
    };
    if args.rater.is_none() && pair.is_none() {
        return Err(
            Error::usage(format!("batch {name} has no two raters yet")).hint("name one rater's answers with --rater")
        );
    }
    let mut records = Vec::new();
    for case in desk.audit.cases.iter().filter(|case| case.category == crate::model::Category::Tau2Write) {
        let run = store.run(case.case.run())?;
        let domain = store.tau2_run(&run)?.map_or_else(|| "unknown".to_owned(), |record| record.domain.to_string());
        records.push(consent_record(case, &domain, value(case).as_ref()));
    }
    if records.is_empty() {
        return Err(Error::usage(format!("batch {name} holds no database writes"))
            .hint("draw one with `dualrater draw tau2-writes …`"));
    }
    let unequal = desk.cases.windows(2).any(|pair| match pair {
        [a, b] => a.probability != b.probability,
        _ => false,
    });
    let warnings = unequal.then(|| {
        "strata of this batch were drawn with unequal shares: these rates are those of the sample, not of the runs"
            .to_owned()
    });
    Ok((records, warnings.into_iter().collect()))
}
