//! A batch enlarged: by larger quotas or a larger total (`draw --extend`), or by the next tickets in place of unusable cases
//! (`batch replace`). Both are rounds of the batch.

use std::collections::{BTreeMap, BTreeSet};

use super::request::{Setting, check_frame};
use super::sharing::{self, PilotChoice};
use super::{Args, show};
use crate::cli::{Context, Output, clock, output};
use crate::error::{Error, Result};
use crate::model::{BatchName, CaseIdentity, Seed, StratumId};
use crate::sample::{self, Draw, Earlier, ExtensionError, Kept, KeptCase, Request, Sharing};
use crate::store::{BatchInfo, NewRound, RoundInfo, RoundKind, RoundStratum, Store};
use crate::strata::Method;

/// What is wanted of a batch.
pub(in crate::cli) struct Enlarge<'a> {
    pub batch: &'a BatchName,
    /// The numbers: the batch's present ones come in, the wanted ones go out.
    pub sharing: &'a dyn Fn(Sharing) -> Result<(Sharing, Option<PilotChoice>)>,
    /// Unusable cases that get a replacement, with their strata.
    pub replace: &'a [(CaseIdentity, StratumId)],
    pub seed: Option<&'a Seed>,
    pub adversarial: bool,
    /// The frame digest that was published, where one was.
    pub frame: Option<&'a str>,
    /// Store nothing?
    pub dry_run: bool,
}

/// A batch enlarged (or what it would be).
pub(in crate::cli) struct Enlarged {
    pub draw: Draw,
    pub sharing: Sharing,
    /// The new cases, each with the unusable case that it stands for.
    pub added: Vec<(CaseIdentity, Option<CaseIdentity>)>,
    /// The round as stored; `None` in a dry run.
    pub round: Option<RoundInfo>,
}

pub(super) fn run(args: &Args, batch: &BatchName, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store()?;
    let sharing = |present: Sharing| wanted(args, present);
    let enlarged = enlarge(
        &mut store,
        &Enlarge {
            batch,
            sharing: &sharing,
            replace: &[],
            seed: args.seed.as_ref(),
            adversarial: args.adversarial,
            frame: args.frame.as_deref(),
            dry_run: args.dry_run,
        },
    )?;
    for warning in &enlarged.draw.warnings {
        output::message(&format!("warning: {warning}"));
    }
    if args.json {
        return print_json(batch, &enlarged, output);
    }
    let plan = Setting::of_batch(&store, &store.batch(batch)?)?;
    output.line(format!("batch {batch}: {}", sharing::describe(&enlarged.sharing, plan.bound.plan(), None)));
    show::strata(&enlarged.draw, output);
    if args.report {
        crate::cli::frame::of_batch(&store, batch)?.show(output);
    }
    show_round(batch, &enlarged, output);
    Ok(())
}

/// The numbers of an extension: the present ones and what the options say over them.
fn wanted(args: &Args, present: Sharing) -> Result<(Sharing, Option<PilotChoice>)> {
    let options = &args.sharing;
    if options.is_empty() {
        return Err(Error::usage("an extension needs to know how far")
            .hint("--quota STRATUM=N for a stratum, or --total N for all of them together"));
    }
    if !options.quota.is_empty() && options.total.is_none() {
        // Numbers by name, whatever way the batch was shared out in at first.
        return options.over(Sharing { method: Method::Fixed, total: None, minimum: None, ..present });
    }
    let (sharing, pilot) = options.over(present)?;
    if sharing.method == Method::Fixed {
        return Err(Error::usage("the plan gives every stratum its own number: an extension needs numbers too")
            .hint("--quota STRATUM=N, or --allocation proportional (equal, neyman) with --total N"));
    }
    Ok((Sharing { quotas: BTreeMap::new(), ..sharing }, pilot))
}

/// Enlarges a batch.
pub(in crate::cli) fn enlarge(store: &mut Store, want: &Enlarge<'_>) -> Result<Enlarged> {
    let batch = store.batch(want.batch)?;
    check_alone(store, &batch)?;
    let rounds = store.rounds(&batch)?;
    let last = rounds.last().ok_or_else(|| Error::internal(format!("batch {} has no round", batch.name)))?;
    let (seed, adversarial) = next_seed(&rounds, &batch, want)?;
    let setting = Setting::of_batch(store, &batch)?;
    check_frame(want.frame, &setting.frame_digest)?;
    let frame_digest = batch.frame.as_ref().map(|(digest, _)| digest.clone()).unwrap_or_default();
    if frame_digest != setting.frame_digest {
        return Err(Error::conflict(format!(
            "the frame changed since batch {} was drawn (digest {frame_digest} is now {})",
            batch.name, setting.frame_digest
        ))
        .hint(format!("runs or verdicts were added; draw a further batch with --exclude {}", batch.name)));
    }
    let (kept, replacements) = (kept(store, &batch)?, replacements(store, &batch, want.replace)?);
    let present = present(store, &batch, &setting, last)?;
    let (mut sharing, choice) = (want.sharing)(present)?;
    let excluded: Vec<BatchName> = serde_json::from_str(&batch.excluded).unwrap_or_default();
    let mut pilot = None;
    if let Some(choice) = choice {
        check_pilot(&choice, &batch, &excluded)?;
        let found = choice.count(store, &setting)?;
        sharing.pilot.clone_from(&found.counts);
        pilot = Some(found);
    }
    let exclusions = setting.exclusions(store, &excluded)?;
    let draw = sample::draw(
        &setting.frame,
        &Request {
            plan: &setting.bound,
            seed: &seed,
            sql_matches: &setting.sql_matches,
            exclusions: &exclusions,
            sharing: &sharing,
            kept: &kept,
            replacements: &replacements,
            allow_empty: true,
        },
    )?;
    let earlier = Earlier { frame_digest: &frame_digest, assignment_digest: last.assignment.as_deref(), kept: &kept };
    let extension = sample::extension(&earlier, &draw).map_err(|error| {
        if let (ExtensionError::Nothing { .. }, Err(none_left)) = (&error, paired(&[], want.replace)) {
            return none_left;
        }
        let hint = match &error {
            ExtensionError::Changed { .. } => format!("draw a further batch with --exclude {}", batch.name),
            ExtensionError::Nothing { .. } => {
                format!("`dualrater batch show {}` shows the numbers as they are", batch.name)
            }
        };
        Error::conflict(error.to_string()).hint(hint)
    })?;
    let added = paired(&extension.added, want.replace)?;
    let round = if want.dry_run {
        None
    } else {
        let cases = setting.batch_cases(&draw, extension.added.iter())?;
        let new = NewRound {
            kind: if want.replace.is_empty() { RoundKind::Extension } else { RoundKind::Replacement },
            seed: seed.as_str(),
            adversarial,
            assignment: &draw.assignment_digest,
            allocation: &sharing::record(&sharing, pilot.as_ref()).to_string(),
            command: &Context::command_line(),
            now: &clock::now(),
            strata: round_strata(&draw),
            cases: cases.into_iter().zip(added.iter().map(|(_, replaces)| replaces.clone())).collect(),
        };
        Some(store.add_round(&batch, last.round, &new)?)
    };
    Ok(Enlarged { draw, sharing, added, round })
}

/// Can the batch grow without taking another's cases or losing its twin?
fn check_alone(store: &Store, batch: &BatchInfo) -> Result<()> {
    if batch.imported {
        return Err(Error::conflict(format!("batch {} was made elsewhere: it has no frame to draw from", batch.name))
            .hint("ingest the runs and draw a batch of your own"));
    }
    if let Some(original) = store.original_of(batch)? {
        return Err(Error::conflict(format!("batch {} holds the cases of {original} again", batch.name))
            .hint(format!("extend {original}, then `dualrater batch rerate` it under a new name")));
    }
    let others: Vec<String> = store.excluded_by(batch)?.iter().map(ToString::to_string).collect();
    if let Some(one) = others.first() {
        return Err(Error::conflict(format!(
            "batch {} was drawn with {} excluded: the next tickets may be its cases",
            others.join(", "),
            batch.name
        ))
        .hint(format!("extend {one}, or draw a further batch with --exclude {} --exclude {one}", batch.name)));
    }
    Ok(())
}

fn check_pilot(choice: &PilotChoice, batch: &BatchInfo, excluded: &[BatchName]) -> Result<()> {
    if choice.batch == batch.name {
        return Err(Error::usage("the size of an extension must not hang on what the batch's own ratings say").hint(
            format!("draw a further batch: --pilot {0} --exclude {0}; its probabilities are known", batch.name),
        ));
    }
    if !excluded.contains(&choice.batch) {
        return Err(Error::usage(format!("batch {} was not drawn with {} excluded", batch.name, choice.batch))
            .hint("a pilot's cases must be out of reach; draw a further batch, or guess: --guess STRATUM=SHARE"));
    }
    Ok(())
}

/// The seed of the next round, and whether every round needs one of its own.
fn next_seed(rounds: &[RoundInfo], batch: &BatchInfo, want: &Enlarge<'_>) -> Result<(Seed, bool)> {
    let adversarial = want.adversarial || rounds.iter().any(|round| round.adversarial);
    let mut used: Vec<&str> = rounds.iter().filter_map(|round| round.seed.as_deref()).collect();
    used.dedup();
    if adversarial {
        let fresh = want.seed.filter(|seed| !used.contains(&seed.as_str()));
        return match fresh {
            Some(seed) => Ok((seed.clone(), true)),
            None => Err(Error::usage(
                "an adversarial setting needs a new seed for every round: whoever knows a seed knows the next tickets",
            )
            .hint(format!("let dice or a public beacon give one now: --seed NEW (used so far: {})", used.join(", ")))),
        };
    }
    let last = used.last().copied().or(batch.seed.as_deref()).unwrap_or_default();
    let seed = match want.seed {
        Some(seed) => seed.clone(),
        None => Seed::parse(last).map_err(|error| Error::internal(error.to_string()))?,
    };
    Ok((seed, false))
}

fn kept(store: &Store, batch: &BatchInfo) -> Result<Kept> {
    let mut kept = Kept::new();
    for case in store.batch_cases(batch)? {
        let stratum = StratumId::parse(&case.stratum).map_err(|error| Error::internal(error.to_string()))?;
        let ticket = case.ticket.ok_or_else(|| Error::internal(format!("{} has no ticket", case.identity)))?;
        kept.insert(case.identity, KeptCase { stratum, ticket });
    }
    Ok(kept)
}

/// Per stratum the replacements, old and new.
fn replacements(
    store: &Store,
    batch: &BatchInfo,
    new: &[(CaseIdentity, StratumId)],
) -> Result<BTreeMap<StratumId, u64>> {
    let mut counts = BTreeMap::new();
    for unusable in store.unusable(batch)?.into_iter().filter(|unusable| unusable.replaced_by.is_some()) {
        let stratum = StratumId::parse(&unusable.stratum).map_err(|error| Error::internal(error.to_string()))?;
        *counts.entry(stratum).or_default() += 1;
    }
    for (_, stratum) in new {
        *counts.entry(stratum.clone()).or_default() += 1;
    }
    Ok(counts)
}

/// The batch's numbers as they are: the way it was shared out in, and every stratum's quota.
fn present(store: &Store, batch: &BatchInfo, setting: &Setting, last: &RoundInfo) -> Result<Sharing> {
    let mut sharing = Sharing::of(setting.bound.plan());
    if let Some(method) = last.allocation.get("method").and_then(|method| method.as_str()).and_then(Method::parse) {
        sharing.method = method;
    }
    for stratum in store.batch_strata(batch)? {
        let id = StratumId::parse(&stratum.id).map_err(|error| Error::internal(error.to_string()))?;
        sharing.quotas.insert(id, stratum.quota.unwrap_or(0));
    }
    Ok(sharing)
}

/// The new cases in the draw's order, each beside the unusable case of its stratum that it stands for.
fn paired(
    added: &[sample::DrawnCase],
    replace: &[(CaseIdentity, StratumId)],
) -> Result<Vec<(CaseIdentity, Option<CaseIdentity>)>> {
    if replace.is_empty() {
        return Ok(added.iter().map(|drawn| (drawn.case.clone(), None)).collect());
    }
    let mut open: Vec<&(CaseIdentity, StratumId)> = replace.iter().collect();
    let mut pairs = Vec::new();
    for drawn in added {
        let place = open.iter().position(|(_, stratum)| *stratum == drawn.stratum);
        pairs.push((drawn.case.clone(), place.map(|place| open.remove(place).0.clone())));
    }
    let strata: BTreeSet<&str> = open.iter().map(|(_, stratum)| stratum.as_str()).collect();
    if let Some(stratum) = strata.first() {
        return Err(Error::conflict(format!("stratum {stratum} has no further case to replace {} with", open.len()))
            .hint("its unusable cases stay in the denominators, with bounds"));
    }
    Ok(pairs)
}

fn round_strata(draw: &Draw) -> Vec<RoundStratum> {
    draw.strata
        .iter()
        .map(|stratum| RoundStratum {
            id: stratum.id.to_string(),
            quota: Some(stratum.quota),
            replacements: stratum.replacements,
            drawn: stratum.n,
            shortfall: stratum.shortfall,
            probability: stratum.inclusion_probability,
            unconditional: stratum.unconditional_probability,
            unconditional_reason: stratum.unconditional_reason.clone(),
        })
        .collect()
}

/// The enlarged batch as JSON.
#[derive(serde::Serialize)]
struct Printed<'a> {
    batch: &'a BatchName,
    added: Vec<Added<'a>>,
    round: Option<&'a RoundInfo>,
    #[serde(flatten)]
    draw: &'a Draw,
}

#[derive(serde::Serialize)]
struct Added<'a> {
    case: &'a CaseIdentity,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<&'a CaseIdentity>,
}

pub(in crate::cli) fn print_json(batch: &BatchName, enlarged: &Enlarged, output: &mut Output) -> Result<()> {
    let added = enlarged.added.iter().map(|(case, replaces)| Added { case, replaces: replaces.as_ref() }).collect();
    output.json(&Printed { batch, added, round: enlarged.round.as_ref(), draw: &enlarged.draw })
}

/// Says what was recorded, and what it means where ratings were known.
pub(in crate::cli) fn show_round(batch: &BatchName, enlarged: &Enlarged, output: &mut Output) {
    for (case, replaces) in &enlarged.added {
        if let Some(unusable) = replaces {
            output.line(format!("{case} replaces {unusable}"));
        }
    }
    let (added, all) = (enlarged.added.len(), enlarged.draw.cases.len());
    let Some(round) = &enlarged.round else {
        output.line(format!("dry run: {added} cases would be added, {all} in all; nothing was stored"));
        return;
    };
    output.line(format!(
        "round {} of batch {batch} ({}): {added} {} added, {all} in all; seed {}; {} ratings were known{}",
        round.round,
        round.kind.as_str(),
        if added == 1 { "case" } else { "cases" },
        enlarged.draw.seed,
        round.ratings_known,
        match round.ratings_elsewhere {
            Some(count) if count > 0 => format!(", and {count} of the same frame in other batches"),
            _ => String::new(),
        }
    ));
    if round.kind == RoundKind::Extension && round.ratings_known > 0 {
        output.line("A size that hangs on what the ratings say spoils every interval; the report prints this round.");
    }
    output.line(format!(
        "next: dualrater export --batch {batch} --rater NAME --out FILE (old answers come along, new cases are empty)"
    ));
}
