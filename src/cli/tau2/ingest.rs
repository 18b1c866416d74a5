//! `dualrater ingest tau2`: a run of τ²-bench.

use std::path::PathBuf;

use crate::cli::{Context, Output, clock, output};
use crate::error::Result;
use crate::ingest::tau2::{Tau2Report, Tau2Request, import, read_task_file};
use crate::model::RunName;

/// A results file of τ²-bench, or the folder of its directory layout
///
/// All schema generations are read and told apart by their keys; simulations are streamed. Classes come from the tasks in
/// the run; --tasks is used only where the run holds none. The arguments of models are never stored. The same file again
/// changes nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The results.json (its folder `simulations` is read where the file holds none)
    file: PathBuf,
    /// Name of the run: one model in one condition
    #[arg(long)]
    run: RunName,
    /// The benchmark's task file, for a run that holds no tasks
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// Name of the model; by the header if absent
    #[arg(long)]
    model: Option<String>,
    /// Condition of the run
    #[arg(long, default_value = "baseline")]
    condition: String,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let tasks = args.tasks.as_deref().map(read_task_file).transpose()?;
    let mut store = context.store_or_new()?;
    let report = import(
        &mut store,
        &Tau2Request {
            run: &args.run,
            path: &args.file,
            tasks: tasks.as_ref(),
            model: args.model.as_deref(),
            condition: &args.condition,
            now: &clock::now(),
        },
    )?;
    tell(&report);
    if args.json {
        return output.json(&report);
    }
    if report.unchanged {
        output.line(format!("{}: unchanged, as stored before", report.run));
        return Ok(());
    }
    output.line(format!(
        "{} {} (schema {}, {}): {} simulations, {} scored; {} messages, {} database writes; {} tasks ({})",
        report.run,
        report.domain,
        report.generation,
        report.layout,
        report.simulations,
        report.scored,
        report.messages,
        report.writes,
        report.tasks,
        report.tasks_from,
    ));
    output.line(format!("next: dualrater tau2 audit {0} · dualrater gar --run {0}", report.run));
    Ok(())
}

/// What was odd, on stderr.
pub(super) fn tell(report: &Tau2Report) {
    for (kind, oddity) in report.oddities.iter() {
        let example = if oddity.example.is_empty() { String::new() } else { format!(", {}", oddity.example) };
        output::message(&format!(
            "note: {}: {kind}: {} (first in simulation {}{example})",
            report.run, oddity.count, oddity.first_line
        ));
    }
    for warning in &report.warnings {
        output::message(&format!("warning: {}: {warning}", report.run));
    }
}
