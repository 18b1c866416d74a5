//! `dualrater verify`: is the chain of ratings whole, and do the facts that it stands on still hold?

use super::{Context, Output, output};
use crate::action::classify_json;
use crate::digest::ticket;
use crate::error::{Error, Kind, Result};
use crate::model::Seed;
use crate::rate::CaseView;
use crate::rubric::{self, Rubric};
use crate::store::Store;
use crate::strata::Plan;

/// Re-compute the hash chain of ratings
///
/// Re-compute the hash chain of ratings, and check what the ratings stand on: rubrics, plans, tickets, verdicts, emission
/// classes, and what raters were shown. With --head, check that an earlier head is still part of the chain.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A chain head from an earlier report or export: everything up to it must still stand
    #[arg(long)]
    head: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let store = context.store()?;
    let report = store.verify_chain()?;
    if args.json {
        output.json(&report)?;
    } else {
        output.line(format!("{} entries, chain head {}", report.entries, report.head));
    }
    if let Some(entry) = report.first_broken {
        return Err(Error::new(
            Kind::CheckFailed,
            format!("entry {entry} or the one before it was changed after it was written"),
        )
        .hint("compare with a copy made by `dualrater backup`"));
    }
    if let Some(head) = &args.head
        && !store.chain_holds(head)?
    {
        return Err(Error::new(Kind::CheckFailed, format!("the head {head} is not part of the chain"))
            .hint("the ratings were rewritten since, or the head is of another database"));
    }
    let broken = foundations(&store)?;
    if let Some(first) = broken.first() {
        for problem in broken.iter().skip(1).take(11) {
            output::message(problem);
        }
        return Err(Error::new(Kind::CheckFailed, format!("{first} ({} such findings)", broken.len()))
            .hint("compare with a copy made by `dualrater backup`"));
    }
    if !args.json {
        output.line("every link follows from the one before it");
        output.line(
            "rubrics, plans, tickets, verdicts, emission classes and what raters were shown are as they were stored",
        );
        output.line("only a head that was noted elsewhere (--head) proves that nothing was rewritten as a whole");
    }
    Ok(())
}

/// What the ratings stand on, checked against the digests and rules that pin it; a line per finding.
fn foundations(store: &Store) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    for batch in store.batches()? {
        let name = &batch.name;
        let rubric = rubric::parse(&batch.rubric.2).ok();
        if rubric.as_ref().map(Rubric::digest).as_ref() != Some(&batch.rubric.0) {
            broken.push(format!("batch {name}: the stored rubric is not the one that its digest names"));
        }
        if let Some((digest, plan)) = &batch.plan {
            let text = store.plan_text(digest)?.unwrap_or_default();
            if Plan::parse(plan, &text).ok().map(|plan| plan.digest()).as_ref() != Some(digest) {
                broken.push(format!("batch {name}: the stored plan is not the one that its digest names"));
            }
        }
        if batch.imported {
            continue;
        }
        let Some(seed) = batch.seed.as_deref().and_then(|seed| Seed::parse(seed).ok()) else {
            broken.push(format!("batch {name}: no seed"));
            continue;
        };
        let shown = store.shown_digests(&batch)?;
        for case in store.batch_cases(&batch)? {
            if case.ticket.as_deref() != Some(ticket(&seed, &case.identity).as_str()) {
                broken.push(format!("batch {name}: {} has a ticket that seed {seed} does not give", case.identity));
            }
            let text = store.case_text(&batch, &case)?;
            if text.baseline.verdict.map(|verdict| verdict.to_string()) != case.verdict {
                broken.push(format!("batch {name}: {} was drawn with another verdict than its run has", case.identity));
            }
            if let (Some(rubric), Some(digests)) = (&rubric, shown.get(&case.identity)) {
                let now = CaseView::new(rubric, &text).digest();
                if digests.iter().any(|digest| *digest != now) {
                    broken.push(format!("batch {name}: {} is not what its raters were shown", case.identity));
                }
            }
        }
    }
    for run in store.runs()? {
        let changed = store.emissions_with(&run, |raw| {
            classify_json(raw).ok().and_then(|found| found.class).map(crate::model::ActionClass::as_str)
        })?;
        if changed > 0 {
            broken.push(format!("run {}: {changed} emissions have another class than the classifier gives", run.name));
        }
        let changed = store.tau2_changed_labels(&run)?;
        if changed > 0 {
            broken.push(format!("run {}: {changed} messages have other labels than the detector gives", run.name));
        }
    }
    Ok(broken)
}
