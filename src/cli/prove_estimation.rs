//! `dualrater prove estimation`: writes docs/coverage-estimation.md from a simulation.

use std::path::PathBuf;

use super::{Output, output};
use crate::error::{Error, Kind, Place, Result};
use crate::estimate::coverage::{Tally, mixed};
use crate::estimate::coverage_design::{DesignCell, INTERVALS, design, design_grid};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Samples of each population
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// The seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The file to write (default: stdout)
    #[arg(long)]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<()> {
    let populations = design_grid();
    let mut cells = Vec::new();
    for (at, population) in populations.iter().enumerate() {
        if output::watched() {
            output::message(&format!("population {} of {}", at + 1, populations.len()));
        }
        cells.push(design(population, mixed(args.seed, at as u64), args.samples));
    }
    let text = document(args, &cells);
    match &args.out {
        Some(file) => std::fs::write(file, text).map_err(|source| Error::io("write", file, &source))?,
        None => output.raw(&text),
    }
    check(&cells)
        .map_err(|message| Error::new(Kind::CheckFailed, message).at(Place::file("coverage of estimation".as_ref())))
}

/// What must hold for any seed: the printed intervals are near their level (strata of one case each are the worst).
fn check(cells: &[DesignCell]) -> std::result::Result<(), String> {
    for cell in cells.iter().filter(|cell| cell.samples >= 200) {
        let noise = 4.0 * (0.95f64 * 0.05 / cell.samples as f64).sqrt();
        for (at, least) in [(0, 0.925), (5, 0.925)] {
            let found = cell.intervals.get(at).and_then(Tally::coverage).unwrap_or_default();
            if found < least - noise {
                let name = INTERVALS.get(at).copied().unwrap_or_default();
                return Err(format!("{name} covers {found:.3} at {}", cell.population.name));
            }
        }
    }
    Ok(())
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn head(names: &[&str]) -> String {
    let rule: Vec<String> = names.iter().map(|_| "---".to_owned()).collect();
    row(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()) + &row(&rule)
}

/// Coverage and width; the share of samples with the interval where it is not all.
fn tally(found: &Tally, samples: u64) -> String {
    let (Some(coverage), Some(width)) = (found.coverage(), found.mean_width()) else { return "–".to_owned() };
    let mark = if found.under_covers() { "**" } else { "" };
    let share = found.had as f64 / samples as f64;
    let had = if found.had < samples { format!(" of {:.0} %", (100.0 * share).floor()) } else { String::new() };
    format!("{mark}{:.1}{mark}{had} ({width:.2})", 100.0 * coverage)
}

fn document(args: &Args, cells: &[DesignCell]) -> String {
    let mut text = format!(
        "# Coverage of estimates: how often the intervals of an audit hold the truth\n\n\
         Written by `scripts/prove estimation`: seed {}, {} samples without replacement from each of {} known finite \
         populations. Nominal level 95 %. The simulation's own standard error is {:.2} points; **bold** is below 95 by more \
         than two of them. Do not edit by hand.\n\n",
        args.seed,
        args.samples,
        cells.len(),
        100.0 * (0.95f64 * 0.05 / f64::from(args.samples)).sqrt(),
    );
    text += READING;
    text += "## Overview\n\nOver the populations: mean and least coverage in percent, populations in which the interval \
             under-covers, share of samples that have the interval, mean width.\n\n";
    text += &overview(cells);
    text += "\n## Every population\n\nCoverage in percent (mean width); \"of x %\": only that share of the samples has the \
             interval, the coverage is theirs.\n\n";
    let mut names = vec!["population", "rate %", "GAR %"];
    names.extend(INTERVALS);
    text += &head(&names);
    for cell in cells {
        let percent = |share: f64| format!("{:.1}", 100.0 * share);
        let mut line = vec![cell.population.name.clone(), percent(cell.rate), percent(cell.gar)];
        line.extend(cell.intervals.iter().map(|found| tally(found, cell.samples)));
        text += &row(&line);
    }
    text
}

const READING: &str = "\
`rate, as printed` is what `dualrater estimate` prints as the raters' rate, `corrected, λ = 1` what it prints as corrected. \
The others stand beside it: mid-p limits joined by MOVER alone are narrower and fail where strata are many and small; Korn and Graubard's, the logit and the Wald interval are those of survey \
software, and they have no limits where the sample has no hit, or where a stratum has one case. The populations with a perfect \
metric show what a sample without any disagreement is worth. Rogan and Gladen's estimate is refused unless sensitivity + \
specificity − 1 is above 0 with confidence, so its coverage is that of the samples that pass.\n\n";

fn overview(cells: &[DesignCell]) -> String {
    let mut text = head(&["interval", "mean", "least", "at", "under-covers", "samples with it", "mean width"]);
    for (at, name) in INTERVALS.iter().enumerate() {
        let found: Vec<(&DesignCell, &Tally, f64)> = cells
            .iter()
            .filter_map(|cell| {
                let tally = cell.intervals.get(at)?;
                Some((cell, tally, tally.coverage()?))
            })
            .collect();
        let Some(least) = found.iter().min_by(|a, b| a.2.total_cmp(&b.2)) else { continue };
        let count = found.len() as f64;
        let had: u64 = found.iter().map(|(_, tally, _)| tally.had).sum();
        let all: u64 = cells.iter().map(|cell| cell.samples).sum();
        let width = found.iter().filter_map(|(_, tally, _)| tally.mean_width()).sum::<f64>() / count;
        text += &row(&[
            (*name).to_owned(),
            format!("{:.1}", 100.0 * found.iter().map(|(_, _, coverage)| coverage).sum::<f64>() / count),
            format!("{:.1}", 100.0 * least.2),
            least.0.population.name.clone(),
            format!("{} of {}", found.iter().filter(|(_, tally, _)| tally.under_covers()).count(), found.len()),
            format!("{:.1} %", 100.0 * had as f64 / all as f64),
            format!("{width:.3}"),
        ]);
    }
    text
}
