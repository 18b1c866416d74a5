//! Nonresponse: `batch unusable` declares a case that nobody can rate, `batch replace` draws the next ticket in its place.

use super::draw::{self, Enlarge};
use super::{Context, Output, clock};
use crate::error::{Error, Result};
use crate::model::{BatchName, CaseIdentity, Seed, StratumId};

/// Declare a case that nobody can rate, before anybody does
///
/// Declare a case that nobody can rate (its text is damaged, say), before anybody does.
///
/// The case stays in the batch and in every denominator: rates get bounds that hold whatever its answers would have been.
/// Raters are not shown it, and answers to it are refused. Refused once a person or a model has rated it: what raters
/// cannot judge they say label by label (cannot_judge). A declaration is never taken back.
#[derive(Debug, clap::Args)]
pub struct UnusableArgs {
    /// The case: run/case_id
    case: CaseIdentity,
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// Why nobody can rate it; the report prints this
    #[arg(long)]
    reason: String,
}

/// Draw the next ticket in place of an unusable case
///
/// Draw the next ticket of its stratum in place of an unusable case, or of all of the batch that have no replacement yet.
///
/// A replacement is marked as one and recorded as a round of the batch. The unusable case stays in the denominators: the
/// stratum then holds one case more than its quota, and its inclusion probabilities are those of the larger number.
#[derive(Debug, clap::Args)]
pub struct ReplaceArgs {
    /// Unusable cases (default: all without a replacement)
    cases: Vec<CaseIdentity>,
    /// The batch
    #[arg(long)]
    batch: BatchName,
    /// The seed (default: that of the batch's last round; an adversarial setting needs a new one)
    #[arg(long)]
    seed: Option<Seed>,
    /// Show what would be drawn and store nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn declare(args: &UnusableArgs, context: &Context, output: &mut Output) -> Result<()> {
    let reason = args.reason.trim();
    if reason.is_empty() {
        return Err(Error::usage("--reason is empty").hint("say what is wrong with the case; the report prints it"));
    }
    let mut store = context.store()?;
    let batch = store.batch(&args.batch)?;
    store.declare_unusable(&batch, &args.case, reason, (&Context::command_line(), &clock::now()))?;
    let count = store.unusable(&batch)?.len();
    let all = store.batch_cases(&batch)?.len();
    output.line(format!("{} of batch {} is unusable: {reason}", args.case, args.batch));
    output.line(format!("{count} of {all} cases are unusable; they stay in the denominators, and rates get bounds"));
    if !batch.imported {
        output.line(format!(
            "next, if you want another case in its place: dualrater batch replace --batch {}",
            args.batch
        ));
    }
    Ok(())
}

pub(super) fn replace(args: &ReplaceArgs, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    let batch = store.batch(&args.batch)?;
    let unusable = store.unusable(&batch)?;
    let mut wanted = Vec::new();
    for case in &args.cases {
        let Some(found) = unusable.iter().find(|found| found.case == *case) else {
            return Err(Error::conflict(format!("{case} was not declared unusable")).hint(format!(
                "dualrater batch unusable {case} --batch {} --reason …; only such a case is replaced",
                args.batch
            )));
        };
        if let Some(other) = &found.replaced_by {
            return Err(Error::conflict(format!("{case} was replaced already, by {other}"))
                .hint("a replacement that is unusable itself is declared and replaced in turn"));
        }
        wanted.push(found);
    }
    if args.cases.is_empty() {
        wanted = unusable.iter().filter(|found| found.replaced_by.is_none()).collect();
        if wanted.is_empty() {
            return Err(Error::conflict(format!("no unusable case of batch {} is without a replacement", args.batch))
                .hint("`dualrater batch unusable` declares one"));
        }
    }
    let mut pairs: Vec<(CaseIdentity, StratumId)> = Vec::new();
    for found in wanted {
        let stratum = StratumId::parse(&found.stratum).map_err(|error| Error::internal(error.to_string()))?;
        if !pairs.iter().any(|(case, _)| *case == found.case) {
            pairs.push((found.case.clone(), stratum));
        }
    }
    let enlarged = draw::enlarge(
        &mut store,
        &Enlarge {
            batch: &args.batch,
            // The numbers stay as they are, whatever way they came about.
            sharing: &|present| {
                Ok((crate::sample::Sharing { method: crate::strata::Method::Fixed, total: None, ..present }, None))
            },
            replace: &pairs,
            seed: args.seed.as_ref(),
            adversarial: false,
            frame: None,
            dry_run: args.dry_run,
        },
    )?;
    if args.json {
        return draw::print_json(&args.batch, &enlarged, output);
    }
    draw::show_round(&args.batch, &enlarged, output);
    Ok(())
}
