//! Random counts: multinomial resampling of table cells from raw ChaCha words.
//!
//! A multinomial is drawn as a chain of conditional binomials, so its cost depends on the number of cells and not on
//! the number of units. Only raw 64-bit words are taken from the generator, converted here: helpers whose values may
//! change between library versions are not used.

use super::alias::BinomialTables;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// Largest mean for which counting up from zero is used instead of rejection.
const SMALL_MEAN: f64 = 10.0;
/// Natural logarithms of factorials are tabled up to this number of units.
const FACTORIALS: u64 = 128;

/// The generator of one replicate: one key for a whole bootstrap, one stream for each replicate, so that replicate
/// `i` is the same on any thread.
fn stream(seed: u64, replicate: u64) -> ChaCha8Rng {
    let mut key = [0u8; 32];
    let (number, name) = key.split_at_mut(8);
    number.copy_from_slice(&seed.to_le_bytes());
    name.copy_from_slice(b"dualrater/bootstrap/1.00");
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(replicate);
    rng
}

/// The raw bits of one replicate's stream, taken from the generator a block at a time.
pub(crate) struct Words {
    rng: ChaCha8Rng,
    block: [u32; Words::BLOCK],
    next: usize,
}

impl Words {
    /// Words of 32 bits in the generator's own block.
    const BLOCK: usize = 64;

    pub(crate) fn new(seed: u64, replicate: u64) -> Self {
        Self { rng: stream(seed, replicate), block: [0; Self::BLOCK], next: Self::BLOCK }
    }

    /// 32 random bits.
    #[inline]
    pub(crate) fn half(&mut self) -> u32 {
        if let Some(word) = self.block.get(self.next) {
            self.next += 1;
            return *word;
        }
        self.refill()
    }

    #[cold]
    fn refill(&mut self) -> u32 {
        let mut bytes = [0u8; 4 * Self::BLOCK];
        self.rng.fill_bytes(&mut bytes);
        for (word, bytes) in self.block.iter_mut().zip(bytes.as_chunks().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        self.next = 1;
        self.block[0]
    }

    /// 64 random bits.
    #[inline]
    pub(crate) fn word(&mut self) -> u64 {
        u64::from(self.half()) | u64::from(self.half()) << 32
    }

    /// A number in [0, 1) with 53 random bits.
    #[inline]
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// One cell of the chain: the probability that a unit not yet placed falls here, folded to at most one half.
struct Step {
    cell: usize,
    p: f64,
    folded: bool,
    ln_q: f64,
    odds: f64,
    ln_odds: f64,
    /// Where they are small enough to be worth building.
    tables: Option<BinomialTables>,
}

impl Step {
    fn new(cell: usize, p: f64, folded: bool, tables: Option<BinomialTables>) -> Self {
        let odds = p / (1.0 - p);
        Self { cell, p, folded, ln_q: (-p).ln_1p(), odds, ln_odds: odds.ln(), tables }
    }
}

/// Draws tables of `n` units whose cells have the shares of the given counts.
pub(crate) struct CellSampler {
    n: u64,
    steps: Vec<Step>,
    last: Option<usize>,
    ln_factorial: Vec<f64>,
}

impl CellSampler {
    pub(crate) fn new(counts: &[u64]) -> Self {
        let n: u64 = counts.iter().sum();
        // Large cells first: few units are left for the many small ones.
        let mut order: Vec<(usize, u64)> = counts.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        order.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let last = order.pop().map(|(cell, _)| cell);
        let mut left = n;
        let shares: Vec<(usize, u64, u64)> = order
            .into_iter()
            .map(|(cell, count)| {
                left -= count;
                (cell, count, left)
            })
            .collect();
        let step = |(cell, count, rest): (usize, u64, u64)| {
            let folded = count > rest;
            // How many units come to this step: a binomial number itself.
            let mean = (count + rest) as f64;
            let deviation = (mean * (1.0 - mean / n as f64)).sqrt();
            let p = count.min(rest) as f64 / mean;
            Step::new(cell, p, folded, BinomialTables::new(mean, deviation, n, p))
        };
        // The tables of small samples are small.
        let steps = if n < 10_000 {
            shares.into_iter().map(step).collect()
        } else {
            shares.into_par_iter().map(step).collect()
        };
        let mut ln_factorial = vec![0.0];
        let mut sum = 0.0;
        for i in 1..=n.min(FACTORIALS) {
            sum += (i as f64).ln();
            ln_factorial.push(sum);
        }
        Self { n, steps, last, ln_factorial }
    }

    /// Fills `out` (as long as the counts were) with one table.
    pub(crate) fn draw(&self, words: &mut Words, out: &mut [u64]) {
        out.fill(0);
        let mut left = self.n;
        for step in &self.steps {
            if left == 0 {
                return;
            }
            let hits = self.binomial(words, left, step);
            let count = if step.folded { left - hits } else { hits };
            if let Some(cell) = out.get_mut(step.cell) {
                *cell = count;
            }
            left -= count;
        }
        if let Some(cell) = self.last.and_then(|cell| out.get_mut(cell)) {
            *cell = left;
        }
    }

    fn binomial(&self, words: &mut Words, n: u64, step: &Step) -> u64 {
        if let Some(count) = step.tables.as_ref().and_then(|tables| tables.draw(words, n)) {
            return count;
        }
        if n as f64 * step.p < SMALL_MEAN { count_up(words, n, step) } else { self.reject(words, n, step) }
    }

    /// Transformed rejection, algorithm BTRS of Hörmann 1993, J. Stat. Comput. Simul. 46:101-110, with the squeezes of its
    /// step 3.2 before the exact test.
    fn reject(&self, words: &mut Words, n: u64, step: &Step) -> u64 {
        let (size, p) = (n as f64, step.p);
        let variance = size * p * (1.0 - p);
        let deviation = variance.sqrt();
        let b = 1.15 + 2.53 * deviation;
        let a = -0.0873 + 0.0248 * b + 0.01 * p;
        let c = size * p + 0.5;
        // 0.92 - 4.2 / b, multiplied out.
        let inside = 0.92 * b - 4.2;
        loop {
            let u = words.uniform() - 0.5;
            let v = words.uniform();
            let edge = 0.5 - u.abs();
            let place = (2.0 * a / edge + b) * u + c;
            if edge >= 0.07 && v * b <= inside {
                return (place as u64).min(n);
            }
            if place < 0.0 || place >= size + 1.0 {
                continue;
            }
            let k = place as u64;
            let mode = ((size + 1.0) * p) as u64;
            let alpha = 2.83 * deviation + 5.1 * deviation / b;
            let height = (v * alpha / (a / (edge * edge) + b)).ln();
            let away = k.abs_diff(mode) as f64;
            if away > 20.0 && 2.0 * away < variance - 2.0 {
                let slack = away / variance * (((away / 3.0 + 0.625) * away + 1.0 / 6.0) / variance + 0.5);
                let curve = -away * away / (2.0 * variance);
                if height < curve - slack {
                    return k;
                }
                if height > curve + slack {
                    continue;
                }
            }
            let bound =
                self.ln_factorial(mode) + self.ln_factorial(n - mode) - self.ln_factorial(k) - self.ln_factorial(n - k)
                    + (k as f64 - mode as f64) * step.ln_odds;
            if height <= bound {
                return k;
            }
        }
    }

    fn ln_factorial(&self, k: u64) -> f64 {
        if let Some(value) = self.ln_factorial.get(k as usize) {
            return *value;
        }
        // Stirling's series; beyond the table the next term is below 1e-19.
        let x = k as f64 + 1.0;
        let inverse = 1.0 / (x * x);
        (x - 0.5) * x.ln() - x + 0.918_938_533_204_672_7 + (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse / 1260.0)) / x
    }
}

/// Inversion by counting up from zero: for small means.
fn count_up(words: &mut Words, n: u64, step: &Step) -> u64 {
    /// A count this far out has probability below 1e-70 for a mean of at most 10.
    const FAR: usize = 120;
    /// 1/x, because division is the slow part of the loop.
    const RECIPROCALS: [f64; FAR + 1] = {
        let mut table = [0.0; FAR + 1];
        let mut x = 1;
        while x <= FAR {
            table[x] = 1.0 / x as f64;
            x += 1;
        }
        table
    };
    let none = (n as f64 * step.ln_q).exp();
    loop {
        let mut rest = words.uniform();
        let mut probability = none;
        let mut left = n as f64;
        for (x, reciprocal) in RECIPROCALS.iter().enumerate() {
            if x > 0 {
                probability *= left * step.odds * reciprocal;
                left -= 1.0;
            }
            if rest < probability {
                return x as u64;
            }
            if left <= 0.0 {
                // All units are placed; what is left of `rest` is rounding.
                return n;
            }
            rest -= probability;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, Discrete};

    /// The p-value of drawn counts against the binomial probabilities of statrs.
    fn fit(n: u64, p: f64, mut draw: impl FnMut(&mut Words) -> u64) -> f64 {
        const DRAWS: u64 = 20_000;
        let mut seen = vec![0u64; n as usize + 1];
        let mut words = Words::new(7, 0);
        for _ in 0..DRAWS {
            seen[draw(&mut words) as usize] += 1;
        }
        let law = Binomial::new(p, n).expect("a probability");
        let (mut chi, mut classes, mut expected, mut observed) = (0.0, 0u32, 0.0, 0.0);
        for (k, count) in seen.iter().enumerate() {
            expected += law.pmf(k as u64) * DRAWS as f64;
            observed += *count as f64;
            if expected >= 20.0 {
                chi += (observed - expected) * (observed - expected) / expected;
                classes += 1;
                (expected, observed) = (0.0, 0.0);
            }
        }
        ChiSquared::new(f64::from(classes - 1)).expect("two classes or more").sf(chi)
    }

    #[test]
    fn every_cell_has_its_binomial_law() {
        // First, middle and last steps; folded and not; a cell of one unit.
        for counts in [vec![88, 14, 18, 10, 40, 10, 2, 6, 12], vec![3, 1], vec![150, 50], vec![5, 600, 1, 394]] {
            let n: u64 = counts.iter().sum();
            let sampler = CellSampler::new(&counts);
            let mut out = vec![0; counts.len()];
            for cell in 0..counts.len() {
                let p = fit(n, counts[cell] as f64 / n as f64, |words| {
                    sampler.draw(words, &mut out);
                    assert_eq!(out.iter().sum::<u64>(), n);
                    out[cell]
                });
                assert!(p > 1e-4, "cell {cell} of {counts:?}: p = {p}");
            }
        }
    }

    #[test]
    fn every_method_has_the_binomial_law() {
        let sampler = CellSampler::new(&[]);
        for (n, share) in [(30, 0.1), (300, 0.03), (40, 0.4), (200, 0.11), (3000, 0.2), (3000, 0.5)] {
            let plain = Step::new(0, share, false, None);
            let p = fit(n, share, |words| sampler.binomial(words, n, &plain));
            assert!(p > 1e-4, "rejection or counting up, {n} {share}: p = {p}");
            // Tables around another number of units, so that the varying part is in play.
            for mean in [n as f64 - 20.0, n as f64, n as f64 + 17.0] {
                let tables = BinomialTables::new(mean, 9.0, 4000, share).expect("small");
                let p = fit(n, share, |words| tables.draw(words, n).expect("covered"));
                assert!(p > 1e-4, "tables, {n} {share}: p = {p}");
            }
        }
    }

    /// The covariance of two cells is −n·p·q.
    #[test]
    fn cells_have_the_multinomial_covariance() {
        const DRAWS: u64 = 50_000;
        let counts = [40u64, 30, 20, 10];
        let sampler = CellSampler::new(&counts);
        let (mut product, mut out) = (0.0, [0; 4]);
        for replicate in 0..DRAWS {
            sampler.draw(&mut Words::new(3, replicate), &mut out);
            product += (out[1] as f64 - 30.0) * (out[2] as f64 - 20.0);
        }
        // Its standard error at 50,000 draws is about 0.1.
        assert!((product / DRAWS as f64 + 100.0 * 0.3 * 0.2).abs() < 0.5);
    }

    #[test]
    fn large_and_empty_tables_are_drawn() {
        let counts = [2_000_000_000u64, 1_500_000_000, 1, 0];
        let sampler = CellSampler::new(&counts);
        let mut out = [0; 4];
        sampler.draw(&mut Words::new(1, 1), &mut out);
        assert_eq!(out.iter().sum::<u64>(), 3_500_000_001);
        // 2/3.5 of the units, give or take six standard deviations of 29,277.
        assert!(out[0].abs_diff(2_000_000_000) < 180_000);
        assert_eq!(out[3], 0);
        let mut none = [9; 2];
        CellSampler::new(&[0, 0]).draw(&mut Words::new(1, 1), &mut none);
        assert_eq!(none, [0, 0]);
    }
}
