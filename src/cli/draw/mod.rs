//! `dualrater draw`: a stratified audit sample from the ingested runs, stored as a batch; a batch enlarged; the same draw as
//! SQL for another engine.

mod extend;
mod request;
mod sharing;
mod show;
mod sql;

use std::collections::BTreeMap;
use std::path::Path;

pub(super) use extend::{Enlarge, enlarge, print_json, show_round};
pub(super) use request::{DrawRequest, Drawn, Setting, draw, keep};
pub(super) use sharing::SharingArgs;

use super::{Context, Output, clock, ingest, output};
use crate::error::{Error, Result};
use crate::model::{BatchName, RunName, Seed};
use crate::sample::Sharing;
use crate::strata::{self, Plan, Role};

/// Draw a stratified audit sample from the ingested runs
///
/// Draw a stratified audit sample from the ingested runs, enlarge one (--extend), or show what would be drawn (--dry-run).
///
/// Every case has a ticket, SHA-256 of `seed:run/case`; within a stratum the lowest tickets are drawn. The same seed draws
/// the same sample on any machine, and a larger quota extends a smaller one. A case in several strata belongs to the first
/// by priority, then by order in the plan.
///
/// An extension keeps every case that is drawn and adds the next tickets; it is recorded as a round, with the number of
/// ratings known at that moment. Decide on it before looking at them: a number that hangs on what the ratings say spoils
/// every interval.
///
/// --adversarial is for audits in which somebody with a stake can name, change or withdraw cases. Publish the frame's
/// digest first (`dualrater frame PLAN` prints it), then let dice or a public beacon give the seed, and name both: --frame
/// DIGEST --seed SEED. Whoever knows a seed knows the next tickets too, so every later round needs a new one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dualrater draw strata/pilot.toml --batch pilot --seed audit-1 --bind xlam=RUN --bind qwen=RUN …
  dualrater draw strata/mechanism.toml --batch main --seed audit-1 --exclude pilot --bind xlam=RUN …
  dualrater draw quickstart --batch first --seed s1 --bind run=my-run
  dualrater draw quickstart --batch n --seed s1 --bind run=my-run --allocation neyman --total 90 --pilot first --label B1b
  dualrater draw --extend main --quota A=60 --quota B=40
  dualrater draw strata/mechanism.toml --seed audit-1 --bind xlam=RUN … --sql duckdb --parquet frame.parquet")]
pub struct Args {
    /// The plan: a file, or one that is compiled in (mechanism, pilot, quickstart, tau2-writes, tau2-passes, tau2-ask, chat)
    #[arg(required_unless_present = "extend")]
    plan: Option<String>,
    /// Name of the batch to make
    #[arg(long, required_unless_present_any = ["extend", "dry_run", "sql"])]
    batch: Option<BatchName>,
    /// Enlarge this batch: keep its cases and draw further ones, up to --quota or --total
    #[arg(long, value_name = "BATCH", conflicts_with_all = ["plan", "batch", "bind", "exclude", "rubric", "allow_empty", "sql"])]
    extend: Option<BatchName>,
    /// The seed; the plan's own where it has one, for an extension the one before
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
    /// Somebody with a stake can change cases: every round needs a new seed
    #[arg(long)]
    adversarial: bool,
    /// Refuse any frame but the one with this digest
    #[arg(long, value_name = "DIGEST")]
    frame: Option<String>,
    #[command(flatten)]
    sharing: SharingArgs,
    #[command(flatten)]
    sql: sql::SqlArgs,
    /// Show what would be drawn and store nothing
    #[arg(long)]
    dry_run: bool,
    /// Print what the strata reach too, as `dualrater frame` does
    #[arg(long)]
    report: bool,
    /// Print the strata and the cases as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    if let Some(batch) = &args.extend {
        return extend::run(args, batch, context, output);
    }
    let name = args.plan.as_deref().ok_or_else(|| Error::usage("a draw needs a plan"))?;
    let (plan, plan_text) = load_plan(name)?;
    let seed = seed(args, &plan)?;
    let (sharing, pilot) = args.sharing.over(Sharing::of(&plan))?;
    if let Some(file) = &args.sql.counts {
        let engine = args.sql.engine()?;
        return sql::from_counts(&args.sql, engine, file, (&plan, &sharing), seed, output);
    }
    let (rubric, rubric_text) = super::rubric::load(&args.rubric)?;
    // A dry run and a statement store nothing, so they need no name.
    let unnamed = BatchName::parse("unnamed").map_err(|error| Error::internal(error.to_string()))?;
    let request = DrawRequest {
        batch: args.batch.as_ref().unwrap_or(&unnamed),
        plan: &plan,
        plan_text: &plan_text,
        seed,
        bindings: bindings(&args.bind)?,
        exclude: &args.exclude,
        rubric: &rubric,
        rubric_text: &rubric_text,
        sharing,
        pilot,
        frame: args.frame.as_deref(),
        adversarial: args.adversarial,
        allow_empty: args.allow_empty,
        command: Context::command_line(),
        now: clock::now(),
    };
    let mut store = context.store()?;
    let drawn = draw(&store, &request)?;
    if drawn.draw.cases.is_empty() {
        return Err(nothing_drawn(&drawn.setting.bound));
    }
    request::check_seen(&drawn.draw, &store, request.rubric)?;
    for warning in &drawn.draw.warnings {
        output::message(&format!("warning: {warning}"));
    }
    if args.sql.engine.is_some() {
        return sql::run(&args.sql, &drawn, &store, output);
    }
    if !args.dry_run {
        keep(&mut store, &request, &drawn)?;
    }
    if args.json {
        return output.json(&drawn.draw);
    }
    if args.dry_run {
        show::plan(&request, &drawn, output);
    }
    show::strata(&drawn.draw, output);
    if args.report {
        super::frame::of_draw(&store, &drawn)?.show(output);
    } else {
        show::findings(&drawn.draw, output);
    }
    show::end(&request, &drawn.draw, args.dry_run, output);
    Ok(())
}

/// The seed, which in an adversarial setting must come after the frame.
fn seed<'a>(args: &'a Args, plan: &'a Plan) -> Result<&'a Seed> {
    if args.adversarial && (args.seed.is_none() || args.frame.is_none()) {
        return Err(Error::usage("an adversarial setting needs --frame DIGEST and a --seed that was drawn after it").hint(
            "`dualrater frame PLAN --bind …` prints the digest; publish it, then let dice or a public beacon give the seed",
        ));
    }
    args.seed
        .as_ref()
        .or(plan.seed.as_ref())
        .ok_or_else(|| Error::usage("a draw needs a seed").hint("choose one and note it: --seed audit-2026-11"))
}

fn nothing_drawn(bound: &strata::BoundPlan) -> Error {
    let unbound: Vec<String> = bound.unbound_roles().into_iter().map(|role| format!("--bind {role}=RUN")).collect();
    let hint = if unbound.is_empty() {
        "`dualrater gar` shows which runs, categories and verdicts there are".to_owned()
    } else {
        format!("roles without a run: {}", unbound.join(" "))
    };
    Error::data("no stratum has a case to draw; nothing was stored").hint(hint)
}

/// Reads `ROLE=RUN` options.
pub(super) fn bindings(texts: &[String]) -> Result<BTreeMap<Role, RunName>> {
    let mut bindings = BTreeMap::new();
    for text in texts {
        let (role, run) = ingest::pair(text)?;
        let role = Role::parse(&role).map_err(|error| Error::usage(error.to_string()))?;
        let run = RunName::parse(&run).map_err(|error| Error::usage(error.to_string()))?;
        bindings.insert(role, run);
    }
    Ok(bindings)
}

/// A plan and its text: a compiled-in one or a file.
pub(super) fn load_plan(name: &str) -> Result<(Plan, String)> {
    let text = match strata::bundled(name) {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(name).map_err(|source| {
            Error::io("read", Path::new(name), &source)
                .hint(format!("a plan is a file or one of: {}", strata::BUNDLED.map(|plan| plan.0).join(", ")))
        })?,
    };
    Ok((Plan::parse(name, &text)?, text))
}
