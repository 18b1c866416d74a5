//! `dualrater draw`: a stratified audit sample from the ingested runs, stored as a batch.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Context, Output, clock, ingest, output};
use crate::error::{Error, Result};
use crate::model::{BatchName, RunName, Seed};
use crate::rubric::Rubric;
use crate::sample::{self, Draw, Exclusion, Request};
use crate::store::{NewBatch, NewBatchCase, NewBatchStratum, Store};
use crate::strata::{self, BoundPlan, Plan, Role, SqlMatches};

/// Draw a stratified audit sample from the ingested runs
///
/// Draw a stratified audit sample from the ingested runs, or show what would be drawn (--dry-run).
///
/// Every case has a ticket, SHA-256 of `seed:run/case`; within a stratum the lowest tickets are drawn. The same seed draws
/// the same sample on any machine, and a larger quota extends a smaller one. A case in several strata belongs to the first
/// by priority, then by order in the plan.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dualrater draw strata/pilot.toml --batch pilot --seed audit-1 --bind xlam=RUN --bind qwen=RUN …
  dualrater draw strata/mechanism.toml --batch main --seed audit-1 --exclude pilot --bind xlam=RUN …
  dualrater draw quickstart --batch first --seed s1 --bind run=my-run")]
pub struct Args {
    /// The plan: a file, or one that is compiled in (mechanism, pilot, quickstart, tau2-writes, tau2-passes, tau2-ask, chat)
    plan: String,
    /// Name of the batch to make
    #[arg(long)]
    batch: BatchName,
    /// The seed; the plan's own where it has one
    #[arg(long)]
    seed: Option<Seed>,
    /// Let a role of the plan stand for a run (may be repeated)
    #[arg(long, value_name = "ROLE=RUN")]
    bind: Vec<String>,
    /// Do not draw the cases of an earlier batch (may be repeated)
    #[arg(long, value_name = "BATCH")]
    exclude: Vec<BatchName>,
    /// The rubric that the batch is rated with: a name or a file
    #[arg(long, default_value = "mechanism-v2")]
    rubric: String,
    /// Draw the other strata where one has no case
    #[arg(long)]
    allow_empty: bool,
    /// Show what would be drawn and store nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the strata and the cases as JSON
    #[arg(long)]
    json: bool,
}

/// What a draw needs, after the command line was understood.
pub(super) struct DrawRequest<'a> {
    pub batch: &'a BatchName,
    pub plan: &'a Plan,
    pub plan_text: &'a str,
    pub seed: &'a Seed,
    pub bindings: BTreeMap<Role, RunName>,
    pub exclude: &'a [BatchName],
    pub rubric: &'a Rubric,
    pub rubric_text: &'a str,
    pub allow_empty: bool,
    pub command: String,
    pub now: String,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let (plan, plan_text) = load_plan(&args.plan)?;
    let (rubric, rubric_text) = super::rubric::load(&args.rubric)?;
    let seed = args
        .seed
        .as_ref()
        .or(plan.seed.as_ref())
        .ok_or_else(|| Error::usage("a draw needs a seed").hint("choose one and note it: --seed audit-2026-11"))?;
    let mut bindings = BTreeMap::new();
    for text in &args.bind {
        let (role, run) = ingest::pair(text)?;
        let role = Role::parse(&role).map_err(|error| Error::usage(error.to_string()))?;
        let run = RunName::parse(&run).map_err(|error| Error::usage(error.to_string()))?;
        bindings.insert(role, run);
    }
    let request = DrawRequest {
        batch: &args.batch,
        plan: &plan,
        plan_text: &plan_text,
        seed,
        bindings,
        exclude: &args.exclude,
        rubric: &rubric,
        rubric_text: &rubric_text,
        allow_empty: args.allow_empty,
        command: Context::command_line(),
        now: clock::now(),
    };
    let mut store = context.store()?;
    let (draw, bound) = draw(&store, &request)?;
    if draw.cases.is_empty() {
        let unbound: Vec<String> = bound.unbound_roles().into_iter().map(|role| format!("--bind {role}=RUN")).collect();
        let hint = if unbound.is_empty() {
            "`dualrater gar` shows which runs, categories and verdicts there are".to_owned()
        } else {
            format!("roles without a run: {}", unbound.join(" "))
        };
        return Err(Error::data("no stratum has a case to draw; nothing was stored").hint(hint));
    }
    check_seen(&draw, &store, &request)?;
    for warning in &draw.warnings {
        output::message(&format!("warning: {warning}"));
    }
    if !args.dry_run {
        keep(&mut store, &request, &draw, &bound)?;
    }
    if args.json {
        return output.json(&draw);
    }
    show(&draw, args.dry_run, &args.batch, output);
    Ok(())
}

/// Refuses a rubric that shows nothing of units that are told in sections (τ²): its raters would see empty cases.
fn check_seen(draw: &Draw, store: &Store, request: &DrawRequest<'_>) -> Result<()> {
    use crate::rubric::Shown::{Dialogue, Task, WriteEvent};
    if [Dialogue, Task, WriteEvent].iter().any(|item| request.rubric.shows(*item)) {
        return Ok(());
    }
    let runs: std::collections::BTreeSet<&str> = draw.cases.iter().map(|case| case.case.run()).collect();
    for name in runs {
        if store.tau2_run(&store.run(name)?)?.is_some() {
            return Err(Error::usage(format!("the rubric {} shows nothing of runs of τ²-bench", request.rubric.id))
                .hint(
                    "choose --rubric confirm-v1 (writes), tau2-simulation-v1 (simulations) or ask-candidate-v1 (tasks)",
                ));
        }
    }
    Ok(())
}

fn load_plan(name: &str) -> Result<(Plan, String)> {
    let text = match strata::bundled(name) {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(name).map_err(|source| {
            Error::io("read", Path::new(name), &source)
                .hint(format!("a plan is a file or one of: {}", strata::BUNDLED.map(|plan| plan.0).join(", ")))
        })?,
    };
    Ok((Plan::parse(name, &text)?, text))
}

/// Draws; stores nothing.
pub(super) fn draw(store: &Store, request: &DrawRequest<'_>) -> Result<(Draw, BoundPlan)> {
    let mut known = std::collections::BTreeSet::new();
    for run in store.runs()? {
        known.insert(RunName::parse(&run.name).map_err(|error| Error::internal(error.to_string()))?);
    }
    let bound = strata::bind_known(request.plan, &request.bindings, &known)?;
    let frame = store.frame(bound.frame_runs().as_ref(), bound.pairs())?;
    let mut sql_matches = SqlMatches::new();
    for (stratum, condition) in bound.sql_conditions() {
        sql_matches.insert(stratum.clone(), store.cases_where(stratum, condition)?);
    }
    let frame_digest = sample::frame_digest(&frame).map_err(|error| Error::internal(error.to_string()))?;
    let mut exclusions = Vec::new();
    for name in request.exclude {
        let batch = store.batch(name)?;
        // Same strata of the same frame: the earlier plan, bound to the same runs, decides ownership in the same way.
        let same_design = batch.frame.as_ref().is_some_and(|(digest, _)| *digest == frame_digest)
            && stored_assignment(store, &batch)? == Some(bound.assignment_digest());
        exclusions.push(Exclusion { batch: name.clone(), cases: store.batch_identities(&batch)?, same_design });
    }
    let drawn = sample::draw(
        &frame,
        &Request {
            plan: &bound,
            seed: request.seed,
            sql_matches: &sql_matches,
            exclusions: &exclusions,
            pilot: &BTreeMap::new(),
            quotas: &BTreeMap::new(),
            allow_empty: request.allow_empty,
        },
    )?;
    Ok((drawn, bound))
}

/// The assignment digest of a stored batch: its plan bound to its runs again.
fn stored_assignment(store: &Store, batch: &crate::store::BatchInfo) -> Result<Option<String>> {
    let Some((digest, name)) = &batch.plan else { return Ok(None) };
    let Some(text) = store.plan_text(digest)? else { return Ok(None) };
    let Ok(plan) = Plan::parse(name, &text) else { return Ok(None) };
    let Ok(bindings) = serde_json::from_str::<BTreeMap<Role, RunName>>(&batch.bindings) else { return Ok(None) };
    let known = bindings.values().cloned().collect();
    Ok(strata::bind_known(&plan, &bindings, &known).ok().map(|bound| bound.assignment_digest()))
}

/// Stores a draw as a batch.
pub(super) fn keep(store: &mut Store, request: &DrawRequest<'_>, draw: &Draw, bound: &BoundPlan) -> Result<()> {
    let mut cases = Vec::with_capacity(draw.cases.len());
    let frame = store.frame(bound.frame_runs().as_ref(), bound.pairs())?;
    let by_identity: BTreeMap<_, _> = frame.iter().map(|case| (&case.identity, case)).collect();
    let reasons: BTreeMap<_, _> = draw.strata.iter().map(|s| (&s.id, s.unconditional_reason.clone())).collect();
    for drawn in &draw.cases {
        let Some(case) = by_identity.get(&drawn.case) else {
            return Err(Error::internal(format!("{} was drawn but is not in the frame", drawn.case)));
        };
        cases.push(NewBatchCase {
            identity: drawn.case.clone(),
            stratum: drawn.stratum.to_string(),
            model: case.model.clone(),
            category: case.category.to_string(),
            transition: case.transition.map(|transition| transition.to_string()),
            verdict: case.verdict.map(|verdict| verdict.to_string()),
            second_run: bound.pairs().get(&case.run).map(ToString::to_string),
            ticket: Some(drawn.ticket.clone()),
            probability: Some(drawn.inclusion_probability),
            unconditional: drawn.unconditional_probability,
            unconditional_reason: reasons.get(&drawn.stratum).cloned().flatten(),
        });
    }
    let strata = draw
        .strata
        .iter()
        .map(|stratum| NewBatchStratum {
            id: stratum.id.to_string(),
            title: stratum.title.clone(),
            population: Some(stratum.population),
            excluded: stratum.excluded,
            quota: Some(stratum.quota),
            drawn: stratum.n,
            shortfall: stratum.shortfall,
            overlap: stratum.overlap,
        })
        .collect();
    let excluded: Vec<String> = request.exclude.iter().map(ToString::to_string).collect();
    store.add_batch(&NewBatch {
        name: request.batch,
        imported: false,
        seed: Some(request.seed.as_str()),
        plan: Some((&draw.plan_digest, &draw.plan, request.plan_text)),
        frame: Some((&draw.frame_digest, frame.len() as u64)),
        rubric: (&request.rubric.digest(), &request.rubric.id, request.rubric_text),
        bindings: &serde_json::to_string(&draw.bindings).unwrap_or_default(),
        excluded: &serde_json::to_string(&excluded).unwrap_or_default(),
        command: &request.command,
        now: &request.now,
        strata,
        cases,
    })?;
    Ok(())
}

fn show(draw: &Draw, dry_run: bool, batch: &BatchName, output: &mut Output) {
    // Without earlier batches both probabilities are one, and nothing is excluded.
    let earlier = !draw.excluded.is_empty();
    let rows: Vec<Vec<String>> = draw
        .strata
        .iter()
        .map(|s| {
            let mut row = vec![s.id.to_string(), s.title.clone(), s.population.to_string()];
            if earlier {
                row.push(s.excluded.to_string());
            }
            row.extend([s.quota.to_string(), s.n.to_string(), s.shortfall.to_string()]);
            row.push(output::number(s.inclusion_probability, 4));
            if earlier {
                row.push(output::number(s.unconditional_probability, 4));
            }
            row
        })
        .collect();
    if earlier {
        let header = ["stratum", "title", "N", "taken", "quota", "n", "short", "p given earlier", "p overall"];
        output.table(&header, &rows, &[2, 3, 4, 5, 6, 7, 8]);
    } else {
        output.table(&["stratum", "title", "N", "quota", "n", "short", "p"], &rows, &[2, 3, 4, 5, 6]);
    }
    let unreached = draw.frame.unreached;
    if unreached > 0 {
        output.line(format!(
            "No stratum reaches {unreached} of the frame's {} cases; the sample says nothing about them.",
            draw.frame.cases
        ));
        for cell in draw.frame.unreached_cells() {
            let verdict = cell.verdict.map_or("unscored", crate::model::Verdict::as_str);
            output.line(format!("  {} {} {verdict}: {}", cell.run, cell.category, cell.unreached()));
        }
    }
    output.line(format!("seed {} · plan {} · frame {}", draw.seed, draw.plan_digest, draw.frame_digest));
    let drawn = draw.cases.len();
    if dry_run {
        output.line(format!("dry run: {drawn} cases would be drawn; nothing was stored"));
    } else {
        output.line(format!(
            "batch {batch}: {drawn} cases; next: dualrater export --batch {batch} --rater NAME --as csv"
        ));
    }
}
