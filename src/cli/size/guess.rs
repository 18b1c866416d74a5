//! What the size of a sample is computed from: stated guesses, or a rated pilot.

use super::{Args, WITHOUT_END};
use crate::error::{Error, Result};
use crate::estimate::findings::{Answer, Confusion, Frame, Input, Reach};
use crate::estimate::size::kappa_deviation;
use crate::model::LabelId;
use crate::sample::{self, PilotCount};

/// A stratum of which cases are wanted.
pub(super) struct Source {
    pub name: String,
    pub population: u64,
    /// The guessed rate.
    pub rate: f64,
    /// The variance of one case of what is estimated.
    pub variance: f64,
    /// Of the corrected GAR: the guessed shares with the label and no hit, and with a hit and no label.
    pub differing: [f64; 2],
    pub rated: u64,
}

/// Strata, the standard deviation of kappa for one case, and what was guessed.
pub(super) type Guess = (Vec<Source>, Option<f64>, String);

pub(super) fn stated(args: &Args) -> Guess {
    let population = args.population.unwrap_or(WITHOUT_END);
    let (fp, fnn) = (args.hit_only, args.label_only);
    let (rate, variance, guess) = match args.of.as_str() {
        "rate" => (args.rate, args.rate * (1.0 - args.rate), format!("a rate of {}", args.rate)),
        "gar" => (fnn, variance_of([fnn, fp]), format!("{fp} of the cases are hits only, {fnn} have the label only")),
        _ => (args.prevalence, 1.0, format!("kappa {} at a share of yes of {}", args.kappa, args.prevalence)),
    };
    let source = Source { name: "all".to_owned(), population, rate, variance, differing: [fnn, fp], rated: 0 };
    (vec![source], kappa_deviation(args.kappa, args.prevalence), guess)
}

/// The variance of label less hit: 1, −1 or 0.
fn variance_of([label_only, hit_only]: [f64; 2]) -> f64 {
    label_only + hit_only - (label_only - hit_only).powi(2)
}

pub(super) fn from_pilot(args: &Args, input: &Input, kappa: Option<(f64, u64)>, label: &LabelId) -> Result<Guess> {
    let Frame::Known { groups } = &input.frame else {
        return Err(Error::data("the pilot's frame is not known, so its strata have no sizes")
            .hint("state the guesses and --population in place of --pilot"));
    };
    let mut sources = Vec::new();
    for stratum in &input.strata {
        let own = groups.iter().filter(|group| group.reach == Reach::Stratum(stratum.id.clone()));
        let population: u64 = own.map(|group| group.cases).sum();
        if population == 0 {
            continue;
        }
        let cases: Vec<_> = input.cases.iter().filter(|case| case.stratum == stratum.id).collect();
        let count = |answer: Answer| cases.iter().filter(|case| case.answer == answer).count() as u64;
        let pilot = PilotCount { ones: count(Answer::One), rated: count(Answer::One) + count(Answer::Zero) };
        // Pulled towards one half, so that a few cases that all agree are not taken for certainty.
        let rate = (pilot.ones as f64 + 2.0) / (pilot.rated as f64 + 4.0);
        let mut differing = [0.0; 2];
        let variance = match args.of.as_str() {
            "gar" => {
                let mut found = Confusion::default();
                for (label, hit) in cases.iter().filter_map(|case| case.both(input.metric)) {
                    let cell = match (label, hit) {
                        (true, true) => &mut found.tp,
                        (false, true) => &mut found.fp,
                        (true, false) => &mut found.false_negatives,
                        (false, false) => &mut found.tn,
                    };
                    *cell += 1;
                }
                let n = (found.tp + found.fp + found.false_negatives + found.tn) as f64 + 2.0;
                differing = [(found.false_negatives as f64 + 0.5) / n, (found.fp as f64 + 0.5) / n];
                variance_of(differing)
            }
            _ => sample::binary_sd(0.5, pilot).powi(2),
        };
        sources.push(Source {
            name: stratum.id.to_string(),
            population,
            rate,
            variance,
            differing,
            rated: pilot.rated,
        });
    }
    if sources.is_empty() {
        return Err(Error::data("no stratum of the pilot has a case in the frame"));
    }
    let deviation = kappa.map(|(se, n)| {
        let all: f64 = sources.iter().map(|source| source.population as f64).sum();
        se * (n as f64).sqrt() / (1.0 - n as f64 / all).max(1e-9).sqrt()
    });
    if args.of == "kappa" && deviation.is_none() {
        return Err(Error::data(format!("the pilot's kappa of {label} has no standard error"))
            .hint("state --kappa and --prevalence in place of --pilot"));
    }
    Ok((sources, deviation, format!("from the pilot, label {label}")))
}

/// Per rater the seconds at which each case was first rated.
pub(super) fn moments(store: &crate::store::Store, batch: &crate::store::BatchInfo) -> Result<Vec<Vec<f64>>> {
    let mut raters: std::collections::BTreeMap<String, Vec<f64>> = std::collections::BTreeMap::new();
    for (rater, moment) in store.first_ratings(batch)? {
        if let Ok(stamp) = moment.parse::<jiff::Timestamp>() {
            raters.entry(rater).or_default().push(stamp.as_millisecond() as f64 / 1000.0);
        }
    }
    Ok(raters.into_values().collect())
}
