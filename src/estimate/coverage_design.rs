//! How often the intervals of an audit hold the truth: samples without replacement from finite populations whose every case
//! is known.
//!
//! A population is a list of strata with counts of cases by label and metric; nothing is drawn but the sample, so the truth
//! is the population's own rate and not a parameter.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::coverage::{Tally, mixed};
use super::difference::{self, PairedPart};
use super::finite::hypergeometric_mid_p;
use super::rogan_gladen::{LimitedAccuracy, correct_by_limits};
use super::weighted::{Part, group_share, joined, weighted_rate};
use super::weighted_kappa::{DesignStratum, Item, weighted_kappa};
use crate::agree::draws::Words;

/// A stratum of a population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownStratum {
    /// Label 1 and hit, label 0 and hit, label 1 only, neither.
    pub cells: [u64; 4],
    /// Cases drawn.
    pub n: u64,
}

impl KnownStratum {
    fn population(self) -> u64 {
        self.cells.iter().sum()
    }

    fn hits(self) -> u64 {
        self.cells[0] + self.cells[1]
    }

    fn labelled(self) -> u64 {
        self.cells[0] + self.cells[2]
    }
}

/// A population.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPopulation {
    /// What it stands for.
    pub name: String,
    /// Its strata.
    pub strata: Vec<KnownStratum>,
}

/// The intervals in the order of [`DesignCell::intervals`].
pub const INTERVALS: [&str; 11] = [
    "rate, as printed",
    "rate, mid-p MOVER alone",
    "rate, Korn-Graubard",
    "rate, logit",
    "rate, Wald t",
    "corrected, λ = 1",
    "corrected, tuned λ",
    "Rogan-Gladen",
    "sensitivity, weighted",
    "PPV, weighted",
    "κ with the metric, weighted",
];

/// What became of the intervals of one population.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignCell {
    /// The population.
    pub population: KnownPopulation,
    /// The label's rate in it.
    pub rate: f64,
    /// The metric's.
    pub gar: f64,
    /// Samples drawn.
    pub samples: u64,
    /// One tally for each of [`INTERVALS`].
    pub intervals: Vec<Tally>,
}

/// Name; population, sample and label rate of each stratum.
type Design = (&'static str, &'static [(u64, u64, f64)]);

/// The populations of the documentation: designs of an audit, each with a perfect, a good and a poor metric.
#[must_use]
pub fn design_grid() -> Vec<KnownPopulation> {
    // Population, sample, label rate of each stratum.
    let designs: [Design; 14] = [
        ("one cell, 48 of 200, rate 10 %", &[(200, 48, 0.1)]),
        ("one cell, 20 of 200, rate 2 %", &[(200, 20, 0.02)]),
        ("one cell, 20 of 200, rate 0", &[(200, 20, 0.0)]),
        ("one cell, 10 of 200, rate 50 %", &[(200, 10, 0.5)]),
        ("one cell, 30 of 200, rate 97 %", &[(200, 30, 0.97)]),
        ("one cell, 100 of 200, rate 30 %", &[(200, 100, 0.3)]),
        ("two strata, 20 of 150 at 5 %, 20 of 50 at 60 %", &[(150, 20, 0.05), (50, 20, 0.6)]),
        ("a heavy thin stratum, 5 of 1000 at 5 %, 40 of 50 at 50 %", &[(1000, 5, 0.05), (50, 40, 0.5)]),
        ("a census and a sample, 40 of 40 at 50 %, 15 of 160 at 5 %", &[(40, 40, 0.5), (160, 15, 0.05)]),
        ("ten strata, 2 of 20 at 10 %", &[(20, 2, 0.1); 10]),
        ("ten strata, 2 of 20 at 50 %", &[(20, 2, 0.5); 10]),
        ("ten strata, 1 of 20 at 10 %", &[(20, 1, 0.1); 10]),
        ("twenty strata, 5 of 50 at 2 %", &[(50, 5, 0.02); 20]),
        (
            "seven strata by outcome, 200 of 1600",
            &[
                (90, 48, 0.1),
                (70, 30, 0.03),
                (160, 40, 0.6),
                (120, 30, 0.7),
                (60, 20, 0.8),
                (100, 22, 0.9),
                (1000, 10, 0.4),
            ],
        ),
    ];
    // Sensitivity and specificity.
    let metrics = [("perfect", 1.0, 1.0), ("good", 0.95, 0.96), ("poor", 0.6, 0.8)];
    let mut all = Vec::new();
    for (design, strata) in designs {
        for (metric, sensitivity, specificity) in metrics {
            let strata = strata
                .iter()
                .map(|(population, n, rate)| {
                    let share = |of: u64, rate: f64| (of as f64 * rate).round() as u64;
                    let labelled = share(*population, *rate);
                    let (tp, tn) = (share(labelled, sensitivity), share(population - labelled, specificity));
                    KnownStratum { cells: [tp, population - labelled - tn, labelled - tp, tn], n: *n }
                })
                .collect();
            all.push(KnownPopulation { name: format!("{design}; {metric} metric"), strata });
        }
    }
    all
}

/// Draws samples of a population and makes every interval of each. Samples with equal counts are computed once.
#[must_use]
pub fn design(population: &KnownPopulation, seed: u64, samples: u32) -> DesignCell {
    let mut drawn: BTreeMap<Vec<[u64; 4]>, u64> = BTreeMap::new();
    for sample in 0..samples {
        let mut words = Words::new(mixed(seed, 0), u64::from(sample));
        let counts = population.strata.iter().map(|stratum| draw(*stratum, &mut words)).collect();
        *drawn.entry(counts).or_default() += 1;
    }
    let drawn: Vec<(Vec<[u64; 4]>, u64)> = drawn.into_iter().collect();
    let truth = Truths::of(population);
    let found: Vec<([Option<[f64; 2]>; 11], u64)> =
        drawn.par_iter().map(|(counts, times)| (intervals(population, counts, truth.gar), *times)).collect();
    let targets = truth.targets();
    let mut tallies = vec![Tally::default(); INTERVALS.len()];
    for (limits, times) in found {
        for ((tally, limits), target) in tallies.iter_mut().zip(limits).zip(targets) {
            if let (Some(limits), Some(target)) = (limits, target) {
                tally.add(limits, target, times);
            }
        }
    }
    DesignCell {
        population: population.clone(),
        rate: truth.rate,
        gar: truth.gar,
        samples: u64::from(samples),
        intervals: tallies,
    }
}

/// Cases drawn one by one without replacement.
fn draw(stratum: KnownStratum, words: &mut Words) -> [u64; 4] {
    let (mut left, mut taken) = (stratum.cells, [0u64; 4]);
    for _ in 0..stratum.n {
        let all: u64 = left.iter().sum();
        let mut place = (words.uniform() * all as f64) as u64;
        for (count, taken) in left.iter_mut().zip(&mut taken) {
            if place < *count {
                *count -= 1;
                *taken += 1;
                break;
            }
            place -= *count;
        }
    }
    taken
}

#[derive(Debug, Clone, Copy)]
struct Truths {
    rate: f64,
    gar: f64,
    sensitivity: Option<f64>,
    ppv: Option<f64>,
    kappa: Option<f64>,
}

impl Truths {
    fn of(population: &KnownPopulation) -> Self {
        let sum = |pick: fn(&KnownStratum) -> u64| population.strata.iter().map(pick).sum::<u64>() as f64;
        let all = sum(|stratum| stratum.population());
        let (labelled, hits, both) = (sum(|s| s.labelled()), sum(|s| s.hits()), sum(|s| s.cells[0]));
        let po = (both + sum(|s| s.cells[3])) / all;
        let pe = (labelled * hits + (all - labelled) * (all - hits)) / (all * all);
        Self {
            rate: labelled / all,
            gar: hits / all,
            sensitivity: (labelled > 0.0).then(|| both / labelled),
            ppv: (hits > 0.0).then(|| both / hits),
            kappa: (pe < 1.0).then(|| (po - pe) / (1.0 - pe)),
        }
    }

    fn targets(self) -> [Option<f64>; 11] {
        let rate = Some(self.rate);
        [rate, rate, rate, rate, rate, rate, rate, rate, self.sensitivity, self.ppv, self.kappa]
    }
}

fn intervals(population: &KnownPopulation, counts: &[[u64; 4]], gar: f64) -> [Option<[f64; 2]>; 11] {
    let strata = || population.strata.iter().zip(counts);
    let part = |applicable: fn(&[u64; 4]) -> u64, k: fn(&[u64; 4]) -> u64| -> Vec<Part> {
        strata()
            .map(|(stratum, counts)| Part {
                population: stratum.population(),
                answered: stratum.n,
                applicable: applicable(counts),
                k: k(counts),
                unanswered: 0,
            })
            .collect()
    };
    let labels = part(|c| c.iter().sum(), |c| c[0] + c[2]);
    let rate = weighted_rate(&labels, 0.95).ok();
    let mid_p = joined(&labels, |k, n, population| hypergeometric_mid_p(k, n, population, 0.95)).ok();
    let others = rate.and_then(|rate| rate.design_intervals);
    let paired: Vec<PairedPart> = strata()
        .map(|(stratum, [tp, fp, false_negatives, tn])| PairedPart {
            population: stratum.population(),
            hits: stratum.hits(),
            tp: *tp,
            fp: *fp,
            false_negatives: *false_negatives,
            tn: *tn,
        })
        .collect();
    let of = |parts: &[Part]| group_share(parts, 0.95).ok().map(|found| found.ci95);
    let sensitivity = part(|c| c[0] + c[2], |c| c[0]);
    let rogan = LimitedAccuracy::of_strata(&paired, 0.95, |part| part.tp, |part| part.tp + part.false_negatives)
        .zip(LimitedAccuracy::of_strata(&paired, 0.95, |part| part.tn, |part| part.tn + part.fp))
        .and_then(|(sensitivity, specificity)| correct_by_limits(gar, sensitivity, specificity).ok());
    [
        rate.map(|rate| rate.ci95),
        mid_p,
        others.map(|found| found.korn_graubard),
        others.map(|found| found.logit),
        others.map(|found| found.wald_t),
        difference::difference(&paired, 0.95).ok().map(|found| found.ci95),
        difference::tuned(&paired, 0.95).ok().map(|found| found.ci95),
        // As the findings have it: none without a sampled hit.
        rogan.filter(|_| paired.iter().any(|part| part.tp + part.fp > 0)).map(|found| found.ci95),
        of(&sensitivity),
        of(&part(|c| c[0] + c[1], |c| c[0])),
        kappa(population, counts),
    ]
}

fn kappa(population: &KnownPopulation, counts: &[[u64; 4]]) -> Option<[f64; 2]> {
    let mut items = Vec::new();
    let mut design = Vec::new();
    for (at, (stratum, counts)) in population.strata.iter().zip(counts).enumerate() {
        let weight = stratum.population() as f64 / stratum.n.max(1) as f64;
        design.push(DesignStratum { population: Some(stratum.population() as f64), drawn: stratum.n });
        for (count, (first, second)) in counts.iter().zip([(1, 1), (0, 1), (1, 0), (0, 0)]) {
            for _ in 0..*count {
                items.push(Item { stratum: at, cluster: items.len(), weight, first, second });
            }
        }
    }
    weighted_kappa(&items, &design).ci95
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every count of the documented populations closes, and a small run has the exact interval at its level. The draw is
    /// without replacement: a census returns the population.
    #[test]
    fn a_small_run() {
        for population in design_grid() {
            for stratum in &population.strata {
                assert!(stratum.n <= stratum.population(), "{}", population.name);
            }
        }
        let census = KnownStratum { cells: [3, 4, 5, 6], n: 18 };
        assert_eq!(draw(census, &mut Words::new(1, 1)), [3, 4, 5, 6]);
        let cell = design(&design_grid()[0], 5, 400);
        assert!((cell.rate - 0.1).abs() < 1e-12 && (cell.gar - 0.1).abs() < 1e-12);
        assert!(cell.intervals[0].coverage().is_some_and(|found| found >= 0.93), "{cell:?}");
        assert!(cell.intervals[5].coverage().is_some_and(|found| found >= 0.93), "{cell:?}");
    }
}
