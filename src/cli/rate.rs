//! `dualrater rate-ci` and `rate-diff`: intervals for a proportion and for the difference of two.

use serde_json::{Map, Value};

use super::{Output, output};
use crate::error::{Error, Result};
use crate::estimate::paired::Pairs;
use crate::estimate::{EstimateError, summary};

/// Intervals for a proportion: K of N
///
/// Every interval for a proportion: K of N. Wilson's is the default of all reports.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: dualrater rate-ci 13 16 --json")]
pub struct OneArgs {
    /// Successes
    k: u64,
    /// Trials
    n: u64,
    /// Confidence level
    #[arg(long, default_value_t = 0.95)]
    level: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Intervals for the difference of two proportions: K1 of N1 less K2 of N2
///
/// Every interval for the difference of two independent proportions: K1/N1 − K2/N2. Newcombe's is the default.
///
/// For the same cases judged twice (two models on one sample) the groups are not independent and these intervals are too
/// wide; give the table of the pairs with --paired then: intervals for the paired difference and McNemar's tests.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  dualrater rate-diff 56 70 48 80 --json
  dualrater rate-diff --paired \"14,5;0,22\"")]
pub struct TwoArgs {
    /// Successes of the first group
    #[arg(required_unless_present = "paired", requires_all = ["n1", "k2", "n2"], conflicts_with = "paired")]
    k1: Option<u64>,
    /// Trials of the first group
    n1: Option<u64>,
    /// Successes of the second group
    k2: Option<u64>,
    /// Trials of the second group
    n2: Option<u64>,
    /// The same cases judged twice: `both,first only;second only,neither`
    #[arg(long, value_name = "ROWS")]
    paired: Option<String>,
    /// Confidence level
    #[arg(long, default_value_t = 0.95)]
    level: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn one(args: &OneArgs, output: &mut Output) -> Result<()> {
    let found = summary::rate(args.k, args.n, args.level).map_err(|error| refused(&error))?;
    if args.json {
        return output.json(&found);
    }
    output.line(format!("{} of {} = {:.4} · level {}", found.k, found.n, found.rate, found.level));
    table(&found.intervals, output);
    Ok(())
}

pub fn two(args: &TwoArgs, output: &mut Output) -> Result<()> {
    if let Some(table) = &args.paired {
        return pairs(table, args, output);
    }
    let (Some(k1), Some(n1), Some(k2), Some(n2)) = (args.k1, args.n1, args.k2, args.n2) else {
        return Err(Error::internal("the command line asks for four counts"));
    };
    let found = summary::difference((k1, n1), (k2, n2), args.level).map_err(|error| refused(&error))?;
    if args.json {
        return output.json(&found);
    }
    output.line(format!(
        "{} of {} less {} of {} = {:+.4} · level {}",
        found.k1, found.n1, found.k2, found.n2, found.diff, found.level
    ));
    table(&found.intervals, output);
    Ok(())
}

fn pairs(text: &str, args: &TwoArgs, output: &mut Output) -> Result<()> {
    let found = summary::paired(read_pairs(text)?, args.level).map_err(|error| refused(&error))?;
    if args.json {
        return output.json(&found);
    }
    output.line(format!(
        "{} pairs · first only {}, second only {} · difference {:+.4} · level {}",
        found.n, found.pairs.first_only, found.pairs.second_only, found.diff, found.level
    ));
    table(&found.intervals, output);
    match &found.mcnemar {
        Some(test) => output.line(format!(
            "McNemar's test: chi-square {:.4}, p {:.4} · exact p {:.4} · mid-p {:.4}",
            test.chi2, test.p, test.exact_p, test.midp
        )),
        None => output.line("McNemar's test: undefined, no pair differs"),
    }
    Ok(())
}

/// Reads `both,first only;second only,neither`.
fn read_pairs(text: &str) -> Result<Pairs> {
    let rows: Vec<Vec<Option<u64>>> =
        text.split(';').map(|row| row.split(',').map(|cell| cell.trim().parse().ok()).collect()).collect();
    match rows.iter().map(Vec::as_slice).collect::<Vec<_>>().as_slice() {
        [[Some(both), Some(first_only)], [Some(second_only), Some(neither)]] => {
            Ok(Pairs { both: *both, first_only: *first_only, second_only: *second_only, neither: *neither })
        }
        _ => Err(Error::data(format!("{text:?} is no table of pairs"))
            .hint("write four whole numbers: both,first only;second only,neither")),
    }
}

fn refused(error: &EstimateError) -> Error {
    Error::data(error.to_string()).hint("counts are whole numbers with 0 ≤ K ≤ N and N ≥ 1; a level is like 0.95")
}

fn table(intervals: &Map<String, Value>, output: &mut Output) {
    let rows: Vec<Vec<String>> = intervals
        .iter()
        .map(|(name, limits)| {
            let limit = |at: usize| limits.get(at).and_then(Value::as_f64);
            let width = limit(1).zip(limit(0)).map(|(high, low)| high - low);
            vec![
                name.replace('_', " "),
                output::number(limit(0), 4),
                output::number(limit(1), 4),
                output::number(width, 4),
            ]
        })
        .collect();
    output.table(&["interval", "low", "high", "width"], &rows, &[1, 2, 3]);
}
