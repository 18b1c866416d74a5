//! `dualrater prove coverage`: writes docs/coverage.md from a simulation; the tables are its results, the sentences above
//! them name the cells they were read from.

use std::path::PathBuf;

use super::{Output, output};
use crate::error::{Error, Place, Result};
use crate::estimate::coverage::{self, AGREEMENT, Cell, Simulation, Tally, Truth};
use crate::estimate::summary::DIFFERENCES;
use crate::estimate::{EstimateError, Method};

/// Show by simulation what the documentation claims.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// How often every interval holds the truth
    Coverage(CoverageArgs),
    /// How often the intervals of an audit's estimates hold the truth
    Estimation(super::prove_estimation::Args),
}

#[derive(Debug, clap::Args)]
struct CoverageArgs {
    /// Samples of each population
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Bootstrap replicates of each sample
    #[arg(long, default_value_t = 1000)]
    replicates: u32,
    /// The seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Items in a sample
    #[arg(long, value_delimiter = ',', default_values_t = [20, 50, 200, 1000])]
    n: Vec<u64>,
    /// The file to write (default: stdout)
    #[arg(long)]
    out: Option<PathBuf>,
}

pub fn run(args: &Args, output: &mut Output) -> Result<()> {
    let args = match &args.what {
        What::Coverage(args) => args,
        What::Estimation(args) => return super::prove_estimation::run(args, output),
    };
    let truths = coverage::grid(&args.n);
    let mut cells = Vec::new();
    for (at, truth) in truths.iter().enumerate() {
        if output::watched() && at % 10 == 0 {
            output::message(&format!("population {} of {}", at + 1, truths.len()));
        }
        // Populations with common random numbers would err together.
        let seed = coverage::mixed(args.seed, at as u64);
        let plan = Simulation { seed, samples: args.samples, replicates: args.replicates };
        cells.push(coverage::agreement(truth, plan));
    }
    let text = document(args, &cells).map_err(|error| Error::internal(error.to_string()))?;
    match &args.out {
        Some(file) => std::fs::write(file, text).map_err(|source| Error::io("write", file, &source))?,
        None => output.raw(&text),
    }
    check(&cells)
        .map_err(|message| Error::new(crate::error::Kind::CheckFailed, message).at(Place::file("coverage".as_ref())))
}

/// A claim that holds for any seed unless an interval is defective: with ten items or more expected in every cell of the
/// table, all intervals are near their level.
fn check(cells: &[Cell]) -> std::result::Result<(), String> {
    for cell in cells.iter().filter(|cell| cell.truth.rarest_cell() >= 10.0 && cell.samples >= 200) {
        for (name, tally) in AGREEMENT.iter().zip(&cell.intervals) {
            let found = tally.coverage().unwrap_or_default();
            // Several hundred intervals are looked at: four standard errors below what 100 replicates still give.
            let least = 0.93 - 4.0 * (0.95f64 * 0.05 / cell.samples as f64).sqrt();
            if found < least {
                return Err(format!("{name} covers {found:.3} at {}", describe(&cell.truth)));
            }
        }
    }
    Ok(())
}

fn describe(truth: &Truth) -> String {
    format!("n = {}, margins {}, κ = {}", truth.n, margins(truth), truth.kappa)
}

fn margins(truth: &Truth) -> String {
    truth.margins.iter().map(|p| format!("{:.0}", 100.0 * p)).collect::<Vec<_>>().join("/")
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}", 100.0 * part as f64 / whole.max(1) as f64)
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn head(names: &[&str]) -> String {
    let rule: Vec<String> = names.iter().map(|_| "---".to_owned()).collect();
    row(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()) + &row(&rule)
}

/// Coverage in percent, marked where it is too low, and the mean width.
fn tally(found: &Tally, samples: u64) -> String {
    let (Some(coverage), Some(width)) = (found.coverage(), found.mean_width()) else { return "–".to_owned() };
    let mark = if found.under_covers() { "**" } else { "" };
    let few = if found.had * 2 < samples { "°" } else { "" };
    format!("{mark}{:.1}{mark}{few} ({width:.2})", 100.0 * coverage)
}

fn document(args: &CoverageArgs, cells: &[Cell]) -> std::result::Result<String, EstimateError> {
    let mut text = format!(
        "# Coverage: how often the intervals hold the truth\n\n\
         Written by `scripts/prove coverage`: seed {}, {} samples of each of {} populations, {} bootstrap replicates of each \
         sample. Nominal level 95 %. The simulation's own standard error is {:.2} points where all samples have the interval; \
         **bold** is below 95 by more than two of them. Do not edit by hand.\n\n",
        args.seed,
        args.samples,
        cells.len(),
        args.replicates,
        100.0 * (0.95f64 * 0.05 / f64::from(args.samples)).sqrt(),
    );
    text += READING;
    text += &default(cells);
    text += "## Agreement: all populations of one size\n\n\
             Mean and least coverage in percent over the populations, number of populations in which the interval \
             under-covers, and mean width. Samples without an interval are not in the coverage; how many they are stands \
             in the tables below.\n\n";
    text += &overview(args, cells);
    text += "\n## Agreement: by the rarest cell\n\n\
             The same by the number of items that the rarest cell of the table holds on average: this, not n, decides \
             whether an interval can be believed.\n\n";
    text += &by_rarest_cell(cells);
    text += "\n## Undefined and perfect samples\n\n\
             Percent of samples in which κ is undefined (all ratings in one category), in which the raters agree on every \
             item (κ = 1 or undefined: no interval, reason `degenerate`), and that have each interval, for two \
             categories.\n\n";
    text += &undefined(cells);
    text += "\n## Every population\n\n\
             Coverage in percent (mean width). ° fewer than half of the samples have the interval: the others are perfect, \
             constant, or had more than 5 % undefined replicates, so what is left is a selection.\n\n";
    let mut names = vec!["margins", "n", "κ"];
    names.extend(AGREEMENT);
    text += &head(&names);
    for cell in cells {
        let mut line = vec![margins(&cell.truth), cell.truth.n.to_string(), cell.truth.kappa.to_string()];
        line.extend(cell.intervals.iter().map(|found| tally(found, cell.samples)));
        text += &row(&line);
    }
    text += "\n## One proportion (exact)\n\n\
             Coverage in percent (mean width), summed over every possible count. p and 1 − p give the same. \
             The default is Wilson's.\n\n";
    text += &proportions(&args.n)?;
    text += "\n## Difference of two proportions (exact)\n\n\
             Two independent groups of n each. The default is Newcombe's.\n\n";
    text += &differences(&args.n)?;
    Ok(text)
}

const READING: &str = "\
The populations: two raters with the same margins m and P = κ·diag(m) + (1 − κ)·m·mᵀ, so κ, linear weighted κ and π of the \
population are all κ. A prevalence of 0.95 is that of 0.05 with the categories renamed; the intervals are the same. \
Items are independent here: families of items make every plain interval too narrow, which is why the one by family \
stands beside it.\n\n";

/// Which interval is the default, and why, with the counts of this run.
fn default(cells: &[Cell]) -> String {
    let under = |at: usize, keep: &dyn Fn(&Cell) -> bool| {
        let kept = cells.iter().filter(|cell| keep(cell)).filter_map(|cell| cell.intervals.get(at));
        kept.filter(|tally| tally.under_covers()).count()
    };
    let all = |at: usize| under(at, &|_| true);
    let full = |at: usize| under(at, &|cell: &Cell| cell.truth.rarest_cell() >= 10.0);
    format!(
        "**The default.** `ci95` is κ ± 1.96 SE, because it is what papers print and anybody can recompute it from the table. \
         It is not the best: of {} populations it under-covers in {} ({} of them with ten items or more expected in every \
         cell), the percentile bootstrap in {} ({}), BCa in {} ({}). So both bootstrap intervals always stand beside it; \
         where a cell of the table is expected to hold fewer than ten items, read BCa, and where it is fewer than one, \
         no interval of κ can be relied on: raise n or the share of the rare category. For agreement itself and for rates \
         the default is Wilson's interval, whose coverage swings around 95 % and falls below it for rates near 0 and 1 in \
         small samples (Clopper and Pearson's never does, and is wider); for differences it is Newcombe's.\n\n",
        cells.len(),
        all(0),
        full(0),
        all(2),
        full(2),
        all(3),
        full(3),
    )
}

fn overview(args: &CoverageArgs, cells: &[Cell]) -> String {
    let mut text = head(&["interval", "n", "mean", "least", "at", "under-covers", "mean width"]);
    for (at, name) in AGREEMENT.iter().enumerate() {
        for n in &args.n {
            let of_size: Vec<(&Cell, &Tally, f64)> = cells
                .iter()
                .filter(|cell| cell.truth.n == *n)
                .filter_map(|cell| {
                    let tally = cell.intervals.get(at)?;
                    Some((cell, tally, tally.coverage()?))
                })
                .collect();
            let Some(least) = of_size.iter().min_by(|a, b| a.2.total_cmp(&b.2)) else { continue };
            let count = of_size.len() as f64;
            let mean = of_size.iter().map(|(_, _, coverage)| coverage).sum::<f64>() / count;
            let width = of_size.iter().filter_map(|(_, tally, _)| tally.mean_width()).sum::<f64>() / count;
            let under = of_size.iter().filter(|(_, tally, _)| tally.under_covers()).count();
            text += &row(&[
                (*name).to_owned(),
                n.to_string(),
                format!("{:.1}", 100.0 * mean),
                format!("{:.1}", 100.0 * least.2),
                format!("{}, κ {}", margins(&least.0.truth), least.0.truth.kappa),
                format!("{under} of {}", of_size.len()),
                format!("{width:.3}"),
            ]);
        }
    }
    text
}

fn by_rarest_cell(cells: &[Cell]) -> String {
    const BANDS: [(f64, f64, &str); 4] =
        [(0.0, 1.0, "below 1"), (1.0, 5.0, "1 to 5"), (5.0, 10.0, "5 to 10"), (10.0, f64::INFINITY, "10 and more")];
    let mut text = head(&["interval", "rarest cell", "mean", "least", "under-covers", "samples with interval"]);
    for (at, name) in AGREEMENT.iter().enumerate() {
        for (low, high, band) in BANDS {
            let inside = cells.iter().filter(|cell| (low..high).contains(&cell.truth.rarest_cell()));
            let tallies: Vec<&Tally> = inside.clone().filter_map(|cell| cell.intervals.get(at)).collect();
            let covered: Vec<f64> = tallies.iter().filter_map(|tally| tally.coverage()).collect();
            let least = covered.iter().copied().fold(1.0, f64::min);
            if covered.is_empty() {
                continue;
            }
            text += &row(&[
                (*name).to_owned(),
                band.to_owned(),
                format!("{:.1}", 100.0 * covered.iter().sum::<f64>() / covered.len() as f64),
                format!("{:.1}", 100.0 * least),
                format!("{} of {}", tallies.iter().filter(|tally| tally.under_covers()).count(), covered.len()),
                percent(tallies.iter().map(|tally| tally.had).sum(), inside.map(|cell| cell.samples).sum()),
            ]);
        }
    }
    text
}

fn undefined(cells: &[Cell]) -> String {
    let mut text = head(&["prevalence", "n", "κ", "κ undefined", "perfect", "κ ± SE", "percentile", "BCa", "AC1"]);
    for cell in cells.iter().filter(|cell| cell.truth.margins.len() == 2) {
        let had = |at: usize| percent(cell.intervals.get(at).map_or(0, |tally| tally.had), cell.samples);
        text += &row(&[
            format!("{}", cell.truth.margins.first().copied().unwrap_or_default()),
            cell.truth.n.to_string(),
            cell.truth.kappa.to_string(),
            percent(cell.undefined, cell.samples),
            percent(cell.perfect, cell.samples),
            had(0),
            had(2),
            had(3),
            had(7),
        ]);
    }
    text
}

fn exact((coverage, width): (f64, f64)) -> String {
    let mark = if coverage < 0.945 { "**" } else { "" };
    format!("{mark}{:.1}{mark} ({width:.3})", 100.0 * coverage)
}

fn proportions(sizes: &[u64]) -> std::result::Result<String, EstimateError> {
    let mut names = vec!["n", "p"];
    names.extend(Method::ALL.map(Method::as_str));
    let mut text = head(&names);
    for n in sizes {
        for p in [0.01, 0.05, 0.1, 0.3, 0.5] {
            let mut line = vec![n.to_string(), p.to_string()];
            for method in Method::ALL {
                line.push(exact(coverage::of_proportion(method, *n, p)?));
            }
            text += &row(&line);
        }
    }
    Ok(text)
}

fn differences(sizes: &[u64]) -> std::result::Result<String, EstimateError> {
    let mut names = vec!["n", "p1", "p2"];
    names.extend(DIFFERENCES.map(|(name, _)| name));
    let mut text = head(&names);
    // Beyond 50 the sum over all pairs of counts is slow and the methods no longer differ.
    for n in sizes.iter().filter(|n| **n <= 50) {
        for (p1, p2) in [(0.05, 0.05), (0.1, 0.05), (0.3, 0.1), (0.5, 0.3), (0.5, 0.5), (0.9, 0.5)] {
            let mut line = vec![n.to_string(), p1.to_string(), p2.to_string()];
            line.extend(coverage::of_difference(*n, p1, p2)?.into_iter().map(exact));
            text += &row(&line);
        }
    }
    Ok(text)
}
