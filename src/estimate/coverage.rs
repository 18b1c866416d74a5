//! How often intervals hold the truth: kappa and its kin by simulation from known truth, proportions and differences
//! exactly, by summing over every possible sample.
//!
//! The population of agreement: two raters with the same margins m, P = κ·diag(m) + (1 − κ)·m·mᵀ, so that Cohen's κ,
//! weighted κ and Scott's π of the population all equal κ. For two categories a prevalence p and its mirror 1 − p differ
//! by the names of the categories only; the sampled laws, and so the coverage, are the same.

use std::collections::BTreeMap;

use rayon::prelude::*;
use statrs::distribution::{Binomial, Discrete};

use super::differences::TwoGroups;
use super::summary::DIFFERENCES;
use super::{EstimateError, Method, proportion};
use crate::agree::alpha::{AlphaData, Metric};
use crate::agree::bootstrap::{self, Plan};
use crate::agree::draws::Words;
use crate::agree::{Coefficient, Table, Weights, Z95, chance, jackknife, kappa, weighted};

/// A population to draw from.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Items in a sample.
    pub n: u64,
    /// The margins of both raters.
    pub margins: Vec<f64>,
    /// Kappa.
    pub kappa: f64,
}

impl Truth {
    fn cells(&self) -> Vec<f64> {
        let size = self.margins.len();
        let mut cells = Vec::with_capacity(size * size);
        for (i, row) in self.margins.iter().enumerate() {
            for (j, column) in self.margins.iter().enumerate() {
                let same = if i == j { self.kappa * row } else { 0.0 };
                cells.push(same + (1.0 - self.kappa) * row * column);
            }
        }
        cells
    }

    /// How many items the rarest cell of the table holds on average: large-sample theory needs it large.
    #[must_use]
    pub fn rarest_cell(&self) -> f64 {
        self.cells().into_iter().fold(1.0, f64::min) * self.n as f64
    }

    /// Bennett's S and Gwet's AC1 of the population.
    fn chance_free(&self) -> (f64, f64) {
        let squares: f64 = self.margins.iter().map(|p| p * p).sum();
        let po = self.kappa + (1.0 - self.kappa) * squares;
        let q = self.margins.len() as f64;
        let gwet = (1.0 - squares) / (q - 1.0);
        ((po - 1.0 / q) / (1.0 - 1.0 / q), (po - gwet) / (1.0 - gwet))
    }
}

/// How the simulation is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Simulation {
    /// The seed.
    pub seed: u64,
    /// Samples of each population.
    pub samples: u32,
    /// Bootstrap replicates of each sample.
    pub replicates: u32,
}

/// The intervals of agreement in the order of [`Cell::intervals`].
pub const AGREEMENT: [&str; 9] = [
    "κ ± 1.96 SE",
    "κ ± 1.96 jackknife SE",
    "κ bootstrap percentile",
    "κ bootstrap BCa",
    "linear weighted κ ± 1.96 SE",
    "Scott's π, t",
    "Bennett's S, t",
    "Gwet's AC1, t",
    "α bootstrap percentile",
];

/// What became of one kind of interval.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tally {
    /// Samples that had the interval.
    pub had: u64,
    /// Of these, the interval held the truth.
    pub held: u64,
    /// Sum of the widths.
    pub width: f64,
}

impl Tally {
    pub(super) fn add(&mut self, limits: [f64; 2], truth: f64, times: u64) {
        self.had += times;
        // A limit that equals the truth but for rounding holds it.
        self.held += if limits[0] <= truth + 1e-12 && truth <= limits[1] + 1e-12 { times } else { 0 };
        self.width += (limits[1] - limits[0]) * times as f64;
    }

    /// The share of intervals that held the truth; `None` where there were none.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        (self.had > 0).then(|| self.held as f64 / self.had as f64)
    }

    /// The mean width.
    #[must_use]
    pub fn mean_width(&self) -> Option<f64> {
        (self.had > 0).then(|| self.width / self.had as f64)
    }

    /// Does the interval hold the truth in less than 95 % by more than two standard errors of the simulation?
    #[must_use]
    pub fn under_covers(&self) -> bool {
        self.coverage().is_some_and(|found| found + 2.0 * (0.95f64 * 0.05 / self.had as f64).sqrt() < 0.95)
    }
}

/// The intervals of one population.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The population.
    pub truth: Truth,
    /// Samples drawn.
    pub samples: u64,
    /// Samples in which kappa is undefined (one category only).
    pub undefined: u64,
    /// Samples in which the raters agree on every item.
    pub perfect: u64,
    /// One tally for each of [`AGREEMENT`].
    pub intervals: Vec<Tally>,
}

/// The populations of the documentation: every n, κ and margin.
#[must_use]
pub fn grid(sizes: &[u64]) -> Vec<Truth> {
    const MARGINS: [&[f64]; 10] = [
        &[0.05, 0.95],
        &[0.1, 0.9],
        &[0.3, 0.7],
        &[0.5, 0.5],
        &[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
        &[0.7, 0.2, 0.1],
        &[0.25, 0.25, 0.25, 0.25],
        &[0.6, 0.2, 0.15, 0.05],
        &[0.2, 0.2, 0.2, 0.2, 0.2],
        &[0.5, 0.25, 0.15, 0.07, 0.03],
    ];
    let mut all = Vec::new();
    for margins in MARGINS {
        for n in sizes {
            for kappa in [0.0, 0.4, 0.8, 0.95] {
                all.push(Truth { n: *n, margins: margins.to_vec(), kappa });
            }
        }
    }
    all
}

/// A seed made of two numbers. Steele, Lea & Flood 2014, OOPSLA (SplitMix64's finaliser).
#[must_use]
pub fn mixed(seed: u64, number: u64) -> u64 {
    let mut x = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Draws samples of a population and makes every interval of each. Samples with equal tables are computed once.
#[must_use]
pub fn agreement(truth: &Truth, plan: Simulation) -> Cell {
    let size = truth.margins.len();
    let mut sums = truth.cells();
    for at in 1..sums.len() {
        let before = sums.get(at - 1).copied().unwrap_or_default();
        if let Some(sum) = sums.get_mut(at) {
            *sum += before;
        }
    }
    // The sampler's stream is not that of any bootstrap below.
    let seed = mixed(plan.seed, 0);
    let mut tables: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for sample in 0..plan.samples {
        let mut words = Words::new(seed, u64::from(sample));
        let mut counts = vec![0u64; size * size];
        for _ in 0..truth.n {
            let place = words.uniform();
            let at = sums.partition_point(|sum| *sum <= place).min(size * size - 1);
            if let Some(count) = counts.get_mut(at) {
                *count += 1;
            }
        }
        *tables.entry(counts).or_default() += 1;
    }
    let tables: Vec<(Vec<u64>, u64)> = tables.into_iter().collect();
    let found: Vec<(u64, bool, bool, Found)> = tables
        .par_iter()
        .enumerate()
        .map(|(at, (counts, times))| {
            let rows: Vec<Vec<u64>> = counts.chunks(size).map(<[u64]>::to_vec).collect();
            let Ok(table) = Table::numbered(&rows) else { return (*times, true, false, [None; AGREEMENT.len()]) };
            let undefined = kappa::cohen(&table).kappa.is_none();
            let perfect = table.agreeing() == table.n();
            let seed = mixed(plan.seed, 1 + at as u64);
            (*times, undefined, perfect, intervals(&table, Plan { seed, replicates: plan.replicates }))
        })
        .collect();
    let (bennett, gwet) = truth.chance_free();
    let targets = [truth.kappa; AGREEMENT.len()];
    let mut cell = Cell {
        truth: truth.clone(),
        samples: u64::from(plan.samples),
        undefined: 0,
        perfect: 0,
        intervals: vec![Tally::default(); AGREEMENT.len()],
    };
    for (times, undefined, perfect, limits) in found {
        cell.undefined += u64::from(undefined) * times;
        cell.perfect += u64::from(perfect) * times;
        for (at, ((tally, limits), target)) in cell.intervals.iter_mut().zip(limits).zip(targets).enumerate() {
            let target = match at {
                6 => bennett,
                7 => gwet,
                _ => target,
            };
            if let Some(limits) = limits {
                tally.add(limits, target, times);
            }
        }
    }
    cell
}

type Found = [Option<[f64; 2]>; AGREEMENT.len()];

fn intervals(table: &Table, plan: Plan) -> Found {
    let found = kappa::cohen(table);
    let linear = weighted::kappa(table, &Weights::linear(table.size()));
    let jackknife = jackknife::kappa(table).ok();
    let defined = found.reason.is_none();
    let value = found.kappa.filter(|_| defined);
    let replicates = if defined { bootstrap::kappa(table, plan) } else { bootstrap::Replicates::new([]) };
    let t = |coefficient: Coefficient| coefficient.interval(0.95).ok();
    let around = |value: f64, se: f64| [value - Z95 * se, value + Z95 * se];
    let bca = value.zip(jackknife).and_then(|(value, j)| replicates.bca(0.95, value, j.acceleration).ok());
    let alpha = AlphaData::from_table(table);
    let of_alpha = if defined { alpha.replicates(Metric::Nominal, plan).ok() } else { None };
    [
        found.interval(Z95).ok(),
        value.zip(jackknife).map(|(value, j)| around(value, j.se)),
        replicates.percentile(0.95).ok(),
        bca,
        linear.interval(Z95).ok(),
        t(chance::scott(table)),
        t(chance::bennett(table)),
        t(chance::gwet(table)),
        of_alpha.and_then(|replicates| replicates.percentile(0.95).ok()),
    ]
}

/// The exact coverage and mean width of an interval for a proportion.
///
/// # Errors
/// No trials.
pub fn of_proportion(method: Method, n: u64, p: f64) -> Result<(f64, f64), EstimateError> {
    let law = Binomial::new(p, n).map_err(|_| EstimateError::NoTrials)?;
    let (mut coverage, mut width) = (0.0, 0.0);
    for k in 0..=n {
        let probability = law.pmf(k);
        let interval = proportion(method, k, n, 0.95)?;
        if interval.low <= p + 1e-12 && p <= interval.high + 1e-12 {
            coverage += probability;
        }
        width += probability * interval.width();
    }
    Ok((coverage, width))
}

/// The exact coverage and mean width of every interval in [`DIFFERENCES`] for two groups of `n`.
///
/// # Errors
/// No trials.
pub fn of_difference(n: u64, p1: f64, p2: f64) -> Result<Vec<(f64, f64)>, EstimateError> {
    let law = |p: f64| Binomial::new(p, n).map_err(|_| EstimateError::NoTrials);
    let (first, second) = (law(p1)?, law(p2)?);
    let mut sums = vec![(0.0, 0.0); DIFFERENCES.len()];
    for k1 in 0..=n {
        for k2 in 0..=n {
            let probability = first.pmf(k1) * second.pmf(k2);
            // What is left out is less than 1e-6 in all.
            if probability < 1e-6 / ((n + 1) * (n + 1)) as f64 {
                continue;
            }
            let groups = TwoGroups::new(k1, n, k2, n)?;
            for (sum, (_, method)) in sums.iter_mut().zip(DIFFERENCES) {
                let interval = method(groups, Z95)?;
                if interval.low <= p1 - p2 + 1e-9 && p1 - p2 <= interval.high + 1e-9 {
                    sum.0 += probability;
                }
                sum.1 += probability * interval.width();
            }
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Agresti & Coull 1998, Am. Stat. 52:119-126: Wald at n = 10, p = 0.1 covers 1 − 0.9¹⁰ less the tail above; by hand from
    /// the binomial: k = 1, 2, 3, 4 hold 0.1, so the sum of these four probabilities.
    #[test]
    fn wald_at_ten_is_as_by_hand() {
        // 0.387420489 + 0.193710245 + 0.057395628 + 0.011160261
        let (coverage, _) = of_proportion(Method::Wald, 10, 0.1).expect("trials");
        assert!((coverage - 0.649_686_623).abs() < 1e-6, "{coverage}");
    }

    /// Clopper and Pearson's interval never covers less than its level.
    #[test]
    fn the_exact_interval_is_conservative() {
        for n in [5, 20, 61] {
            for p in [0.01, 0.05, 0.2, 0.5, 0.77] {
                let (coverage, _) = of_proportion(Method::ClopperPearson, n, p).expect("trials");
                assert!(coverage >= 0.95 - 1e-9, "{n} {p} {coverage}");
            }
        }
    }

    /// The population has the kappa it says, and a large sample's intervals hold it about as often as they say.
    #[test]
    fn a_large_sample_covers() {
        let truth = Truth { n: 1000, margins: vec![0.5, 0.3, 0.2], kappa: 0.4 };
        assert!((truth.cells().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let cell = agreement(&truth, Simulation { seed: 5, samples: 400, replicates: 200 });
        assert_eq!((cell.undefined, cell.perfect), (0, 0));
        for (name, tally) in AGREEMENT.iter().zip(&cell.intervals) {
            let coverage = tally.coverage().expect("defined");
            assert!((0.90..=0.99).contains(&coverage), "{name}: {coverage}");
        }
    }

    /// At n = 20, prevalence 0.05 and kappa 0.95 all items fall into one category with probability
    /// (0.95·0.95 + 0.05·0.95²)²⁰ = 0.9476²⁰ ≈ 0.34 (both raters 95 %, the other way round never).
    #[test]
    fn small_skewed_samples_are_mostly_perfect() {
        let truth = Truth { n: 20, margins: vec![0.05, 0.95], kappa: 0.95 };
        let cell = agreement(&truth, Simulation { seed: 5, samples: 2000, replicates: 0 });
        let share = cell.undefined as f64 / 2000.0;
        assert!((share - 0.3410).abs() < 0.035, "{share}");
        assert!(cell.perfect >= cell.undefined);
    }
}
