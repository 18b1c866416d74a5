//! `dualrater size`: how many cases an audit needs, and what they cost.

mod guess;
mod show;

use super::estimate::population::{self, Question};
use super::{Context, Output, agree, raters};
use crate::error::{Error, Result};
use crate::estimate::size::{
    Minutes, PlannedDisagreement, PlannedStratum, corrected_half_width, kappa_deviation, minutes, rate_half_width,
    smallest,
};
use crate::estimate::z_of_level;
use crate::model::{BatchName, LabelId, RaterName};
use crate::sample::{self, Share};
use crate::strata::Method;

/// How many cases are needed for an interval of a wanted width
///
/// How many cases are needed for an interval of a wanted half-width: of a label's rate, of the raters' kappa, or of GAR
/// corrected by the audit; how they are shared over the strata, and what they cost in rater minutes.
///
/// Guesses come from a pilot batch (--pilot: its strata, rates and disagreements, pulled towards one half as by four more
/// cases a stratum) or are stated. The width is the one to expect; half of the samples give a wider interval.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dualrater size rate --half-width 0.05 --rate 0.1 --population 200
  dualrater size kappa --half-width 0.1 --kappa 0.8 --prevalence 0.3
  dualrater size gar --half-width 0.04 --pilot pilot --label B1b
  dualrater size gar --half-width 0.04 --hit-only 0.03 --label-only 0.02 --population 800 --minutes 4")]
pub struct Args {
    /// Of what: a rate, kappa, or the corrected GAR
    #[arg(value_parser = ["rate", "kappa", "gar"])]
    of: String,
    /// The half-width wanted, a share: 0.05 is 5 points
    #[arg(long, value_name = "SHARE")]
    half_width: f64,
    /// A rated batch to take guesses and strata from
    #[arg(long, value_name = "BATCH", conflicts_with_all = ["rate", "kappa", "prevalence", "hit_only", "label_only", "population"])]
    pilot: Option<BatchName>,
    /// The label of the pilot (default: B1b, else the rubric's first yes-or-no label)
    #[arg(long)]
    label: Option<LabelId>,
    /// The two raters of the pilot (default: the pair of record)
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1..)]
    raters: Option<Vec<RaterName>>,
    /// The rule set under which the pilot's GAR is counted
    #[arg(long, default_value = "paper", value_parser = ["paper", "strict"])]
    rules: String,
    /// The guessed rate (for `rate`)
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    rate: f64,
    /// The guessed kappa (for `kappa`)
    #[arg(long, default_value_t = 0.7)]
    kappa: f64,
    /// The guessed share of yes (for `kappa`)
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    prevalence: f64,
    /// The guessed share of all cases with a hit that raters deny (for `gar`)
    #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
    hit_only: f64,
    /// The guessed share of all cases that raters see and GAR misses (for `gar`)
    #[arg(long, default_value_t = 0.05, value_name = "SHARE")]
    label_only: f64,
    /// Cases there are (default: without end)
    #[arg(long)]
    population: Option<u64>,
    /// How cases are shared over the strata of the pilot
    #[arg(long, default_value = "neyman", value_parser = ["neyman", "proportional", "equal"])]
    allocation: String,
    /// Fewest cases a stratum
    #[arg(long, default_value_t = 2)]
    minimum: u64,
    /// Minutes a rater needs for a case (default: from the pilot's recorded times, where it has them)
    #[arg(long)]
    minutes: Option<f64>,
    /// Confidence level
    #[arg(long, default_value_t = 0.95)]
    level: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Cases of a population that is taken as without end.
const WITHOUT_END: u64 = 1_000_000_000;

#[derive(serde::Serialize)]
struct Answered {
    of: String,
    wanted_half_width: f64,
    level: f64,
    n: Option<u64>,
    expected_half_width: Option<f64>,
    population: Option<u64>,
    guess: String,
    strata: Vec<Quota>,
    minutes_per_case: Option<Minutes>,
    rater_minutes: Option<f64>,
    notes: Vec<String>,
}

#[derive(serde::Serialize)]
struct Quota {
    stratum: String,
    #[serde(rename = "N")]
    population: Option<u64>,
    pilot_n: u64,
    guessed_rate: f64,
    #[serde(rename = "quota")]
    cases: u64,
}

pub fn run(args: &Args, context: &Context, output: &mut Output) -> Result<()> {
    check(args)?;
    let mut times = args.minutes.map(|per_case| Minutes { per_case, from_gaps: 0 });
    let mut notes = Vec::new();
    let (sources, deviation, guess) = match &args.pilot {
        None => guess::stated(args),
        Some(pilot) => {
            let store = context.store()?;
            let (batch, rubric, audit) = population::read(&store, pilot)?;
            let pair = match &args.raters {
                Some(pair) => raters::check_pair(&audit.raters, pair)?,
                None => agree::pair_of_record(&audit)?,
            };
            let label = population::label(&rubric, args.label.as_ref())?;
            let strict = args.rules == "strict";
            let question = Question {
                batch: &batch,
                rubric: &rubric,
                audit: &audit,
                pair: (&pair.0, &pair.1),
                label: &label,
                strict,
            };
            let (input, found) = super::estimate::of(&store, &question)?;
            if args.of == "gar"
                && let Some(reason) = &found.not_corrected
            {
                return Err(Error::data(format!("GAR is not corrected by {label}: {reason}")));
            }
            if times.is_none() {
                times = minutes(&guess::moments(&store, &batch)?);
                if times.is_none() {
                    notes.push(format!(
                        "batch {pilot} has no usable times (ratings imported from a file come all at once): state --minutes to \
                         get the cost"
                    ));
                }
            }
            guess::from_pilot(args, &input, found.weighted_kappa.se.zip(Some(found.weighted_kappa.n)), &label)?
        }
    };
    let answer = answer(args, &sources, deviation, guess, times, notes)?;
    if args.json {
        return output.json(&answer);
    }
    show::show(&answer, output);
    Ok(())
}

fn check(args: &Args) -> Result<()> {
    let inside = |value: f64| (0.0..=1.0).contains(&value);
    z_of_level(args.level).map_err(|error| Error::usage(error.to_string()))?;
    if !(args.half_width > 0.0 && args.half_width < 1.0) {
        return Err(Error::usage(format!("a half-width lies between 0 and 1, got {}", args.half_width))
            .hint("it is a share: 5 points are 0.05"));
    }
    for (name, value) in [
        ("--rate", args.rate),
        ("--prevalence", args.prevalence),
        ("--hit-only", args.hit_only),
        ("--label-only", args.label_only),
        ("--hit-only and --label-only together", args.hit_only + args.label_only),
    ] {
        if !inside(value) {
            return Err(Error::usage(format!("{name} is a share between 0 and 1, got {value}")));
        }
    }
    if args.population.is_some_and(|population| population == 0 || population > WITHOUT_END) {
        return Err(Error::usage(format!("--population lies between 1 and {WITHOUT_END}")));
    }
    if args.minutes.is_some_and(|minutes| !(minutes > 0.0 && minutes.is_finite())) {
        return Err(Error::usage("--minutes is a positive number"));
    }
    if args.of == "kappa" && args.pilot.is_none() && kappa_deviation(args.kappa, args.prevalence).is_none() {
        return Err(Error::usage(format!(
            "two raters with a share of yes of {} cannot have a kappa of {} with an interval",
            args.prevalence, args.kappa
        ))
        .hint("kappa lies below 1 and the share of yes strictly between 0 and 1"));
    }
    Ok(())
}

fn answer(
    args: &Args,
    sources: &[guess::Source],
    deviation: Option<f64>,
    guess: String,
    times: Option<Minutes>,
    mut notes: Vec<String>,
) -> Result<Answered> {
    let method = match args.allocation.as_str() {
        "proportional" => Method::Proportional,
        "equal" => Method::Equal,
        _ => Method::Neyman,
    };
    let all: u64 = sources.iter().map(|source| source.population).sum();
    let shares: Vec<Share> = sources
        .iter()
        .map(|source| Share {
            population: source.population,
            available: source.population,
            minimum: args.minimum.max(1),
            sd: source.variance.max(0.0).sqrt(),
        })
        .collect();
    let quotas = |total: u64| sample::allocate(method, total, &shares).ok().map(|found| found.quotas);
    let z = z_of_level(args.level).map_err(|error| Error::usage(error.to_string()))?;
    let half_width = |total: u64| {
        let planned: Vec<PlannedStratum> = sources
            .iter()
            .zip(quotas(total)?)
            .map(|(source, n)| PlannedStratum {
                population: source.population,
                n,
                rate: source.rate,
                variance: source.variance,
            })
            .collect();
        match args.of.as_str() {
            "rate" => rate_half_width(&planned, args.level),
            "gar" => {
                let planned: Vec<PlannedDisagreement> = sources
                    .iter()
                    .zip(&planned)
                    .map(|(source, planned)| {
                        let [label_only, hit_only] = source.differing;
                        PlannedDisagreement { population: planned.population, n: planned.n, label_only, hit_only }
                    })
                    .collect();
                corrected_half_width(&planned, args.level).ok().flatten()
            }
            _ => {
                let (n, population) = (total as f64, all as f64);
                deviation.map(|deviation| z * deviation * ((1.0 - n / population).max(0.0) / n).sqrt())
            }
        }
    };
    let least = shares.iter().map(|share| share.minimum.max(2).min(share.available)).sum::<u64>();
    let n = smallest(least, all, args.half_width, half_width);
    let endless = args.pilot.is_none() && args.population.is_none();
    if n.is_none() {
        notes.push(if endless {
            format!("not reached with {WITHOUT_END} cases")
        } else {
            "not reached even with every case".to_owned()
        });
    }
    if n.is_some_and(|n| n == least) && sources.len() > 1 {
        notes.push(format!("{least} is the least that the minimum of each stratum allows"));
    }
    if args.pilot.is_some() {
        notes.push(
            "the cases of the pilot are not counted in; to keep them, enlarge it in place of a new draw".to_owned(),
        );
    }
    if args.of == "kappa" {
        notes.push(
            "kappa's interval is a large-sample one: with few cases in the rarest combination it promises too much"
                .to_owned(),
        );
    }
    let strata = n
        .and_then(quotas)
        .map(|quotas| {
            sources
                .iter()
                .zip(quotas)
                .map(|(source, quota)| Quota {
                    stratum: source.name.clone(),
                    population: (!endless).then_some(source.population),
                    pilot_n: source.rated,
                    guessed_rate: source.rate,
                    cases: quota,
                })
                .collect()
        })
        .unwrap_or_default();
    Ok(Answered {
        of: args.of.clone(),
        wanted_half_width: args.half_width,
        level: args.level,
        n,
        expected_half_width: n.and_then(half_width),
        population: (!endless).then_some(all),
        guess,
        strata,
        minutes_per_case: times,
        rater_minutes: times.zip(n).map(|(times, n)| 2.0 * times.per_case * n as f64),
        notes,
    })
}
