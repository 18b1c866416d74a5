//! The command line: one file per command with its arguments and its `run`. Results go to stdout, progress and messages to
//! stderr; errors name place and remedy; exit codes are those of [`crate::exit`].

mod adjudicate;
mod agree;
mod backup;
mod batches;
mod classify;
mod clock;
mod context;
mod demo;
mod desk;
mod diff;
mod draw;
mod explain;
mod export;
mod gar;
mod history;
mod import;
mod ingest;
mod kappa;
mod output;
mod prove;
mod rate;
mod raters;
mod report;
mod rubric;
mod runs;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use context::Context;
pub use output::Output;

use crate::error::Error;
use crate::exit;

/// Can you believe an automatic agent-benchmark number? Audit it with two raters.
///
/// Scored runs go in, a stratified sample of cases is drawn, two raters who cannot see each other answer a rubric, the
/// rest is adjudicated, and a report says how far both agree with the benchmark's own metric.
///
/// The way of the data: ingest → gar → draw → export/import → agree → adjudicate → report. `dualrater demo` walks it
/// with data of its own.
#[derive(Debug, Parser)]
#[command(name = "dualrater", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(flatten)]
    context: Context,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done · 1 input that cannot be used · 2 wrong command line · 3 not found · 4 contradicts what is stored ·
5 a check failed · 70 a defect of dualrater · 74 the system refused · 75 the database is busy";

#[derive(Debug, Subcommand)]
enum Command {
    /// Walk the whole way with compiled-in data: runs, sample, two simulated raters, adjudicator, report
    Demo(demo::Args),
    /// Read runs, data sets and audits made elsewhere into the database
    Ingest(ingest::Args),
    /// Classify emissions from stdin, one JSON value a line
    Classify(classify::Args),
    /// Gold Action Recall beside accuracy, per run and category
    Gar(gar::Args),
    /// What each rule set sees in a case, emission by emission
    Explain(explain::Args),
    /// The cases that change between two rule sets, by rule
    Diff(diff::Args),
    /// Draw a stratified audit sample from the ingested runs
    Draw(draw::Args),
    /// Write a rating sheet or rubric prompts for one rater
    Export(export::Args),
    /// Read a filled sheet or answered prompts back
    Import(import::Args),
    /// How far two raters agree, per label and stratum
    Agree(agree::Args),
    /// Agreement of two or more raters from a file or a table, without a database
    Kappa(kappa::Args),
    /// Intervals for a proportion: K of N
    RateCi(rate::OneArgs),
    /// Intervals for the difference of two proportions: K1 of N1 less K2 of N2
    RateDiff(rate::TwoArgs),
    /// Give the disagreements to a third rater and take the rulings back
    Adjudicate(adjudicate::Args),
    /// Write the audit report: HTML, Markdown, JSON, CSV and LaTeX tables
    Report(report::Args),
    /// List the ingested runs
    Runs(runs::Args),
    /// List the batches, or show one
    Batches(batches::Args),
    /// Show the raters of a batch, or fix the pair of record
    Raters(raters::Args),
    /// Show or check a rubric
    Rubric(rubric::Args),
    /// Every rating, ruling and spot check about a case, oldest first
    History(history::Args),
    /// Re-compute the hash chain of ratings
    Verify(verify::Args),
    /// Copy the database while others use it
    Backup(backup::Args),
    /// Show by simulation what the documentation claims
    #[command(hide = true)]
    Prove(prove::Args),
}

/// Runs the program; returns its exit code.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are results, a wrong command line is an error: clap knows which stream.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::OK });
        }
    };
    let mut output = Output::new();
    let result = run(&cli, &mut output);
    match output.finish(result) {
        Ok(()) => ExitCode::from(exit::OK),
        Err(error) => {
            report_error(&error);
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn run(cli: &Cli, output: &mut Output) -> crate::error::Result<()> {
    let context = &cli.context;
    match &cli.command {
        Command::Demo(args) => demo::run(args, context, output),
        Command::Ingest(args) => ingest::run(args, context, output),
        Command::Classify(args) => classify::run(args, output),
        Command::Gar(args) => gar::run(args, context, output),
        Command::Explain(args) => explain::run(args, context, output),
        Command::Diff(args) => diff::run(args, context, output),
        Command::Draw(args) => draw::run(args, context, output),
        Command::Export(args) => export::run(args, context, output),
        Command::Import(args) => import::run(args, context, output),
        Command::Agree(args) => agree::run(args, context, output),
        Command::Kappa(args) => kappa::run(args, output),
        Command::RateCi(args) => rate::one(args, output),
        Command::RateDiff(args) => rate::two(args, output),
        Command::Adjudicate(args) => adjudicate::run(args, context, output),
        Command::Report(args) => report::run(args, context, output),
        Command::Runs(args) => runs::run(args, context, output),
        Command::Batches(args) => batches::run(args, context, output),
        Command::Raters(args) => raters::run(args, context, output),
        Command::Rubric(args) => rubric::run(args, output),
        Command::History(args) => history::run(args, context, output),
        Command::Verify(args) => verify::run(args, context, output),
        Command::Backup(args) => backup::run(args, context, output),
        Command::Prove(args) => prove::run(args, output),
    }
}

fn report_error(error: &Error) {
    output::message(&format!("error: {error}"));
    if let Some(hint) = error.hint_text() {
        output::message(&format!("hint: {hint}"));
    }
}
