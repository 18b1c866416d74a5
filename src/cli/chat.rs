//! `dualrater ingest chat`: logs of any agent.

use std::path::PathBuf;

use super::{Context, Output, clock, output};
use crate::error::Result;
use crate::ingest::chat::{ChatRequest, import};
use crate::model::RunName;

/// A log of any agent: JSON lines, one conversation a line, OpenAI-style messages
///
/// Each line is an object with `messages` (roles, content, tool_calls) and, where known, `id`, `category` (your own word),
/// `gold_action` (tool_call, refuse, ask, confirm) and `verdict` (PASS or FAIL). docs/chat.md says it in full. Cases without
/// an id are stored but never drawn. The same file again changes nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The log
    file: PathBuf,
    /// Name of the run: one model in one condition
    #[arg(long)]
    run: RunName,
    /// Name of the model
    #[arg(long, default_value = "unknown")]
    model: String,
    /// Condition of the run
    #[arg(long, default_value = "baseline")]
    condition: String,
    /// Go on without lines that cannot be read, and list them
    #[arg(long)]
    skip_bad_lines: bool,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    let mut store = context.store_or_new()?;
    let report = import(
        &mut store,
        &ChatRequest {
            run: &args.run,
            path: &args.file,
            model: &args.model,
            condition: &args.condition,
            skip_bad_lines: args.skip_bad_lines,
            now: &clock::now(),
        },
    )?;
    for (kind, oddity) in report.oddities.iter() {
        let example = if oddity.example.is_empty() { String::new() } else { format!(", e.g. {}", oddity.example) };
        output::message(&format!(
            "note: {}: {kind}: {} (first in line {}{example})",
            report.run, oddity.count, oddity.first_line
        ));
    }
    for (line, message) in &report.skipped {
        output::message(&format!("skipped: {}:{line}: {message}", args.file.display()));
    }
    if args.json {
        return output.json(&report);
    }
    if report.unchanged {
        output.line(format!("{}: unchanged, as stored before", report.run));
        return Ok(());
    }
    output.line(format!(
        "{}: {} conversations, {} with a verdict, {} messages, {} emissions of the agent",
        report.run, report.conversations, report.scored, report.messages, report.emissions
    ));
    for (category, count) in &report.categories {
        output.line(format!("  {category}: {count}"));
    }
    output.line(format!(
        "next: dualrater gar --run {0} · dualrater draw chat --rubric chat-v1 --batch first --seed s1 --bind run={0}",
        report.run
    ));
    Ok(())
}
