//! The command line: one file per command with its arguments and its `run`. Results go to stdout, progress and messages to
//! stderr; errors name place and remedy; exit codes are those of [`crate::exit`].

mod across;
mod adjudicate;
mod agree;
mod backup;
mod batch;
mod batches;
mod chat;
mod classify;
mod clock;
mod context;
mod demo;
mod diff;
mod draw;
mod estimate;
mod events;
mod explain;
mod export;
mod export_frame;
mod families;
mod frame;
mod frame_parquet;
mod gar;
mod history;
mod import;
mod independence;
mod ingest;
mod judge;
mod kappa;
mod links;
mod mechanical;
mod nonresponse;
mod output;
mod prove;
mod prove_estimation;
mod rate;
mod rate_weighted;
mod raters;
mod report;
mod rubric;
mod runs;
mod serve;
mod size;
mod status;
mod tau2;
mod unusable;
mod validate;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use context::Context;
pub use output::Output;

use crate::desk;
use crate::error::Error;
use crate::exit;

/// Can you believe an automatic agent-benchmark number? Audit it with two raters.
///
/// Scored runs go in, a stratified sample of cases is drawn, two raters who cannot see each other answer a rubric, the
/// rest is adjudicated, and a report says how far both agree with the benchmark's own metric.
///
/// The way of the data: ingest → gar → draw → serve, or export and import → agree → adjudicate → report. `dualrater demo` walks it
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
5 a check failed · 70 a defect of dualrater · 74 the system refused · 75 the database is busy · 130 stopped by the user";

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Ingest(ingest::Args),
    Classify(classify::Args),
    Gar(gar::Args),
    Explain(explain::Args),
    Diff(diff::Args),
    Frame(frame::Args),
    Draw(draw::Args),
    Export(export::Args),
    Import(import::Args),
    Judge(judge::Args),
    RateMechanically(mechanical::Args),
    Agree(agree::Args),
    Kappa(kappa::Args),
    RateCi(rate::OneArgs),
    RateDiff(rate::TwoArgs),
    RateWeighted(rate_weighted::Args),
    Validate(validate::Args),
    Adjudicate(adjudicate::Args),
    Estimate(estimate::Args),
    Size(size::Args),
    Report(report::Args),
    Tau2(tau2::Args),
    Confirm(tau2::confirm::Args),
    Runs(runs::Args),
    Batch(batch::Args),
    Batches(batches::Args),
    Raters(raters::Args),
    Serve(serve::Args),
    Status(status::Args),
    Rubric(rubric::Args),
    History(history::Args),
    Verify(verify::Args),
    Backup(backup::Args),
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
        Command::Frame(args) => frame::run(args, context, output),
        Command::Draw(args) => draw::run(args, context, output),
        Command::Export(args) => export::run(args, context, output),
        Command::Import(args) => import::run(args, context, output),
        Command::Judge(args) => judge::run(args, context, output),
        Command::RateMechanically(args) => mechanical::run(args, context, output),
        Command::Agree(args) => agree::run(args, context, output),
        Command::Kappa(args) => kappa::run(args, output),
        Command::RateCi(args) => rate::one(args, output),
        Command::RateDiff(args) => rate::two(args, output),
        Command::RateWeighted(args) => rate_weighted::run(args, output),
        Command::Validate(args) => validate::run(args, context, output),
        Command::Adjudicate(args) => adjudicate::run(args, context, output),
        Command::Estimate(args) => estimate::run(args, context, output),
        Command::Size(args) => size::run(args, context, output),
        Command::Report(args) => report::run(args, context, output),
        Command::Tau2(args) => tau2::run(args, context, output),
        Command::Confirm(args) => tau2::confirm::run(args, context, output),
        Command::Runs(args) => runs::run(args, context, output),
        Command::Batch(args) => batch::run(args, context, output),
        Command::Batches(args) => batches::run(args, context, output),
        Command::Raters(args) => raters::run(args, context, output),
        Command::Serve(args) => serve::run(args, context, output),
        Command::Status(args) => status::run(args, context, output),
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
