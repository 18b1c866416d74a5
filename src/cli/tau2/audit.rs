//! `dualrater tau2 audit`: the counts of one run.

use std::path::{Path, PathBuf};

use crate::cli::{Context, Output, clock, output};
use crate::error::{Error, Result};
use crate::ingest::tau2::{Tau2Request, import, read_task_file};
use crate::model::RunName;
use crate::store::Store;
use crate::tau2::{ClassCounts, RunAudit, RunFacts, audit};

/// Classes, capability, write events and task ids of a run
///
/// Counts of one run: the classes tool_call, ask and refuse as published and under `strict` (an early end is no tool_call
/// hit), what the agent showed at all, database writes, the ASK subsets, what an agent that does nothing would get, and
/// whether the stated task ids fit the checks. RUN is an ingested run, or a results file or folder that is read and not
/// stored.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// An ingested run, or a results file
    run: String,
    /// The benchmark's task file, for a results file that holds no tasks
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let found = audit(&facts(args, context)?);
    if args.json {
        return output.json(&found);
    }
    show(&found, output);
    Ok(())
}

fn facts(args: &Args, context: &Context) -> Result<RunFacts> {
    let path = Path::new(&args.run);
    if context.db.exists() {
        let store = context.store()?;
        match store.run(&args.run) {
            Ok(run) => {
                if args.tasks.is_some() {
                    return Err(Error::usage("an ingested run has its tasks; --tasks is for a results file"));
                }
                return store.tau2_facts(&run)?.ok_or_else(|| {
                    Error::usage(format!("run {} is not a run of τ²-bench", args.run)).hint("`dualrater gar` reads it")
                });
            }
            Err(_) if path.exists() => {}
            Err(error) => return Err(error.into()),
        }
    }
    if !path.exists() {
        return Err(Error::not_found(format!("{:?} is neither an ingested run nor a file", args.run))
            .hint("`dualrater runs` lists the ingested runs"));
    }
    let tasks = args.tasks.as_deref().map(read_task_file).transpose()?;
    let mut store = Store::in_memory()?;
    let name = RunName::parse("run").map_err(|error| Error::internal(error.to_string()))?;
    let request =
        Tau2Request { run: &name, path, tasks: tasks.as_ref(), model: None, condition: "baseline", now: &clock::now() };
    super::ingest::tell(&import(&mut store, &request)?);
    let facts = store.tau2_facts(&store.run(name.as_str())?)?;
    let mut facts = facts.ok_or_else(|| Error::internal("the run that was read is not there"))?;
    facts.run.clone_from(&args.run);
    Ok(facts)
}

fn show(found: &RunAudit, output: &mut Output) {
    output.line(format!(
        "{} · {} · tasks {} ({}) · {} simulations, {} scored, {} unscored",
        found.run,
        found.domain,
        found.masking.tasks,
        found.tasks_from,
        found.simulations,
        found.scored,
        found.unscored.count
    ));
    let passed = |hits: u64, total: u64| output::percent((total > 0).then(|| hits as f64 * 100.0 / total as f64));
    output.line(format!("pass@1 {} ({} of {})", passed(found.pass_hits, found.scored), found.pass_hits, found.scored));
    output.line("");
    let row = |rules: &str, class: &str, counts: &ClassCounts| {
        let percent = |value: Option<f64>| output::percent(value.map(|value| value * 100.0));
        let joint = counts.joint.map_or_else(
            || vec!["–".to_owned(); 2],
            |joint| vec![joint.gar1_fail.to_string(), joint.gar0_pass.to_string()],
        );
        let mut cells = vec![
            format!("{rules} {class}"),
            counts.denominator.to_string(),
            format!("{} ({})", percent(counts.gar), counts.gar_hits),
            format!("{} ({})", percent(counts.acc), counts.acc_hits),
            counts.delta.map_or("–".to_owned(), |delta| format!("{:+.1}", delta * 100.0)),
        ];
        cells.extend(joint);
        cells
    };
    let rows = vec![
        row("paper", "tool_call", &found.paper.tool_call),
        row("paper", "ask", &found.paper.ask),
        row("paper", "refuse", &found.paper.refuse),
        row("strict", "tool_call", &found.strict.tool_call),
        row("strict", "ask", &found.strict_ask),
    ];
    let header = ["class", "n", "GAR %", "Acc %", "Δ pp", "hit, fail", "miss, pass"];
    output.table(&header, &rows, &[1, 2, 3, 4, 5, 6]);
    output.line("");
    let subsets: Vec<String> = ["all", "paper", "valid"]
        .iter()
        .filter_map(|name| found.ask_subsets.get(name).map(|subset| (name, subset)))
        .map(|(name, subset)| format!("{name} {}/{} asked, {} passed", subset.gar_hits, subset.n, subset.acc_hits))
        .collect();
    output.line(format!("ASK subsets (last simulation of each task): {}", subsets.join(" · ")));
    let shown = |label: &str| found.capability.get(label).copied().unwrap_or(0);
    output.line(format!(
        "shown at all, of {}: tool_call {}, ask {}, refuse {}, confirm {}; calls in text form: {} messages",
        found.scored,
        shown("tool_call"),
        shown("ask"),
        shown("refuse"),
        shown("confirm"),
        found.text_form_calls.messages
    ));
    let events = &found.write_events;
    output.line(format!(
        "database writes: {} in {} simulations, {} failed, {} in passing simulations",
        events.total,
        events.sims_with_write,
        events.failed,
        events.passed.get("true").copied().unwrap_or(0)
    ));
    let masking = &found.masking;
    output.line(format!(
        "an agent that does nothing can pass {} of {} tool_call tasks; of {} passes here {} are on tasks without a reference \
         write ({} of them tool_call), {} wrote nothing",
        masking.tool_call_without_write.len(),
        masking.tool_call_tasks,
        masking.passes,
        masking.passes_without_reference_write,
        masking.tool_call_passes_without_reference_write,
        masking.passes_without_any_write
    ));
    for (reason, count) in &found.unscored.reasons {
        output.line(format!("unscored: {reason}: {count}"));
    }
    if let Some(other) = found.by_content.as_ref().and_then(|reading| reading.paper.as_ref()) {
        output.line("");
        output.line("by content (the task that each simulation's own checks prove):");
        let rows = vec![
            row("paper", "tool_call", &other.tool_call),
            row("paper", "ask", &other.ask),
            row("paper", "refuse", &other.refuse),
        ];
        output.table(&header, &rows, &[1, 2, 3, 4, 5, 6]);
    }
    if let Some(recovered) = &found.task_id_from_content {
        output.line(format!(
            "without task_id: {}; matched by content {}, ambiguous {}, unmatched {}, nothing to compare {}",
            recovered.without_task_id,
            recovered.matched,
            recovered.ambiguous,
            recovered.unmatched,
            recovered.nothing_to_compare
        ));
    }
    if let Some(literal) = &found.literal {
        let classes = literal.paper.as_ref().map_or_else(String::new, |paper| {
            format!(
                "; classes tool_call {}, ask {}, refuse {}",
                paper.tool_call.denominator, paper.ask.denominator, paper.refuse.denominator
            )
        });
        output.line(format!(
            "literal reading ({}): {} simulations{classes}",
            literal.what,
            literal.simulations.unwrap_or(0)
        ));
    }
    for note in &found.notes {
        output.line(format!("note: {note}"));
    }
}
