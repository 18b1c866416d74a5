//! The rate of a label over a finite frame, when an automatic value is known for every case and the label for a sample.
//!
//! Per stratum λ·F + mean(y − λ f): the automatic rate F of all cases, corrected by what the sample shows to be wrong with
//! it. λ = 1 is the difference estimator (Cassel, Särndal & Wretman 1976, Biometrika 63:615-620; prediction-powered inference
//! with a finite unlabelled set), λ = 0 the labels alone, the tuned λ = cov(y, f)/var(f) has the least variance (the
//! regression estimator; Cochran 1977, 7.3; power tuning of Angelopoulos, Duchi & Zrnic 2023 with F known). Nothing is
//! assumed about the errors of the automatic value: only the draw counts.

use serde::Serialize;

use super::disagreement::limits;
use super::stratified::DesignError;
use crate::agree::tails::t_of_level;

/// Fewest degrees of freedom (sampled cases less strata) for tuning: with fewer, λ is noise.
pub const TUNING_DF: u64 = 10;

/// Labels and automatic values of one stratum (or of the part of it that belongs to a cell).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PairedPart {
    /// Cases there, drawn or not.
    pub population: u64,
    /// Of these, automatic hits.
    pub hits: u64,
    /// Sampled: label 1, hit.
    pub tp: u64,
    /// Sampled: label 0, hit.
    pub fp: u64,
    /// Sampled: label 1, no hit.
    #[serde(rename = "fn")]
    pub false_negatives: u64,
    /// Sampled: label 0, no hit.
    pub tn: u64,
}

impl PairedPart {
    /// Sampled cases.
    #[must_use]
    pub fn n(self) -> u64 {
        self.tp.saturating_add(self.fp).saturating_add(self.false_negatives).saturating_add(self.tn)
    }

    fn check(self) -> Result<(), DesignError> {
        let n = self.n();
        if n == 0 {
            return Err(DesignError::NothingSampled { population: self.population });
        }
        let misses = self.population.saturating_sub(self.hits);
        for (sampled, population) in
            [(n, self.population), (self.tp + self.fp, self.hits), (self.false_negatives + self.tn, misses)]
        {
            if sampled > population {
                return Err(DesignError::MoreThanAll { sampled, population });
            }
        }
        if self.hits > self.population {
            return Err(DesignError::MoreHitsThanCases { k: self.hits, n: self.population });
        }
        Ok(())
    }

    /// Variance of y − λ f over one case less, from the four counts with `more` added to each.
    fn variance(self, lambda: f64, more: f64) -> f64 {
        let cells = [(self.tp, 1.0 - lambda), (self.fp, -lambda), (self.false_negatives, 1.0), (self.tn, 0.0)];
        let n: f64 = cells.iter().map(|(count, _)| *count as f64 + more).sum();
        let mean = cells.iter().map(|(count, value)| (*count as f64 + more) * value).sum::<f64>() / n;
        let squares: f64 = cells.iter().map(|(count, value)| (*count as f64 + more) * (value - mean).powi(2)).sum();
        if n > 1.0 { squares / (n - 1.0) } else { 0.0 }
    }
}

/// A corrected rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DifferenceEstimate {
    /// The rate; held within 0 to 1.
    pub rate: f64,
    /// Its interval.
    pub ci95: [f64; 2],
    /// λ.
    pub lambda: f64,
    /// Cases that the labels alone would need for the same variance, shared over the strata as these are: at most the frame,
    /// from which they too would be drawn without replacement.
    pub effective_n: Option<f64>,
    /// `effective_n` less the cases labelled; below 0 where the automatic value does harm.
    pub gained: Option<f64>,
}

/// Why λ was not tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Untuned {
    /// Too few cases.
    #[error("fewer than {TUNING_DF} sampled cases beyond one a stratum, too few to tune lambda")]
    TooFew,
    /// No variance of the automatic value inside a stratum.
    #[error("inside every stratum the sampled cases are all hits or all misses, so there is nothing to tune")]
    Constant,
    /// The sums do not work out.
    #[error("the sample has no corrected rate")]
    NoEstimate,
}

/// The difference estimator, λ = 1.
///
/// Interval: per stratum the wider of two for "label only" less "hit only" (the module `disagreement`: a score interval and
/// an exact one); the strata are joined by recovering the variances from their limits (MOVER, see [`super::weighted`]). It
/// has a width where the sample shows no disagreement, which a normal interval has not.
///
/// # Errors
/// A stratum with nothing sampled, counts that contradict each other, a level outside (0, 1).
pub fn difference(parts: &[PairedPart], level: f64) -> Result<DifferenceEstimate, DesignError> {
    let (parts, all) = checked(parts)?;
    let (mut rate, mut below, mut above) = (0.0, 0.0, 0.0);
    let (mut least, mut most) = (0.0, 0.0);
    for part in &parts {
        let seen = (part.false_negatives as f64 - part.fp as f64) / part.n() as f64;
        let own = limits(*part, level)?;
        let (here, weight) = (part.population as f64, part.population as f64 / all);
        let hits = part.hits as f64 / here;
        rate += weight * (hits + seen);
        below += (weight * (seen - own.low).max(0.0)).powi(2);
        above += (weight * (own.high - seen).max(0.0)).powi(2);
        // What was seen stays seen.
        least += (part.tp + part.false_negatives) as f64 / all;
        most += (part.population - part.fp - part.tn) as f64 / all;
    }
    let (low, high) = (rate - below.sqrt(), rate + above.sqrt());
    Ok(held(rate, [low.max(least), high.min(most)], 1.0, &parts, all))
}

/// The estimator with the λ of least variance, one for all strata, held within 0 to 1.
///
/// Interval: ± t with sampled cases less strata degrees of freedom; the variance is taken from the four counts with ½ added
/// to each (Agresti & Min 2005, Stat. Med. 24:729-740), so that a sample without disagreement is not taken for certainty.
///
/// # Errors
/// Why there is nothing to tune, or no estimate.
pub fn tuned(parts: &[PairedPart], level: f64) -> Result<DifferenceEstimate, Untuned> {
    let (parts, all) = checked(parts).map_err(|_| Untuned::NoEstimate)?;
    let n: u64 = parts.iter().map(|part| part.n()).sum();
    let df = n - parts.len() as u64;
    if df < TUNING_DF {
        return Err(Untuned::TooFew);
    }
    let (mut together, mut own) = (0.0, 0.0);
    for part in &parts {
        let size = part.n() as f64;
        let labels = (part.tp + part.false_negatives) as f64 / size;
        let hits = (part.tp + part.fp) as f64 / size;
        let scale = weight_of(part, all) * size / (size - 1.0).max(1.0);
        together += scale * (part.tp as f64 / size - labels * hits);
        own += scale * hits * (1.0 - hits);
    }
    if own <= 0.0 {
        return Err(Untuned::Constant);
    }
    let lambda = (together / own).clamp(0.0, 1.0);
    let t = t_of_level(level, df).ok_or(Untuned::NoEstimate)?;
    let rate: f64 = parts
        .iter()
        .map(|part| {
            let (here, size) = (part.population as f64, part.n() as f64);
            let rest = (part.tp + part.false_negatives) as f64 - lambda * (part.tp + part.fp) as f64;
            here / all * (lambda * part.hits as f64 / here + rest / size)
        })
        .sum();
    let half = t * variance(&parts, all, lambda).sqrt();
    Ok(held(rate, [rate - half, rate + half], lambda, &parts, all))
}

/// (N_h/N)² (1 − n_h/N_h)/n_h.
fn weight_of(part: &PairedPart, all: f64) -> f64 {
    let (here, size) = (part.population as f64, part.n() as f64);
    (here / all).powi(2) * (1.0 - size / here) / size
}

fn variance(parts: &[PairedPart], all: f64, lambda: f64) -> f64 {
    parts.iter().map(|part| weight_of(part, all) * part.variance(lambda, 0.5)).sum()
}

fn checked(parts: &[PairedPart]) -> Result<(Vec<PairedPart>, f64), DesignError> {
    let parts: Vec<PairedPart> = parts.iter().copied().filter(|part| part.population > 0).collect();
    for part in &parts {
        part.check()?;
    }
    let all = parts.iter().map(|part| part.population as f64).sum();
    if parts.is_empty() { Err(DesignError::Empty) } else { Ok((parts, all)) }
}

fn held(rate: f64, limits: [f64; 2], lambda: f64, parts: &[PairedPart], all: f64) -> DifferenceEstimate {
    let n = parts.iter().map(|part| part.n()).sum::<u64>() as f64;
    let effective = gain(parts, all, lambda).map(|gain| gain * n);
    DifferenceEstimate {
        rate: rate.clamp(0.0, 1.0),
        ci95: limits.map(|limit| limit.clamp(0.0, 1.0)),
        lambda,
        effective_n: effective,
        gained: effective.map(|effective| effective - n),
    }
}

/// The c by which the sample would have to grow for the labels alone to reach the variance: Σ W² S²(1/(c n) − 1/N) is the
/// variance with the automatic value. `None` where every case was seen: nothing is left to gain.
fn gain(parts: &[PairedPart], all: f64, lambda: f64) -> Option<f64> {
    let (mut sampled, mut whole) = (0.0, 0.0);
    for part in parts {
        let (here, size) = (part.population as f64, part.n() as f64);
        let own = (here / all).powi(2) * part.variance(0.0, 0.5);
        sampled += own / size;
        whole += own / here;
    }
    let unseen = parts.iter().any(|part| part.n() < part.population);
    (unseen && whole > 0.0).then(|| sampled / (variance(parts, all, lambda) + whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(population: u64, hits: u64, [tp, fp, false_negatives, tn]: [u64; 4]) -> PairedPart {
        PairedPart { population, hits, tp, fp, false_negatives, tn }
    }

    /// By hand: 200 cases, 22 hits (11 %); of 48 sampled 3 hits are right, 2 wrong, 2 labels are missed. 0.11 + (2 − 2)/48.
    /// A second stratum of 100 with 50 hits and of 10 sampled 4 right, 1 wrong, none missed: 0.5 − 0.1 = 0.4.
    /// Together (200·0.11 + 100·0.4)/300.
    #[test]
    fn by_hand() {
        let first = part(200, 22, [3, 2, 2, 41]);
        assert!((difference(&[first], 0.95).expect("sampled").rate - 0.11).abs() < 1e-12);
        let both = difference(&[first, part(100, 50, [4, 1, 0, 5])], 0.95).expect("sampled");
        assert!((both.rate - 62.0 / 300.0).abs() < 1e-12);
        assert!(both.ci95[0] < both.rate && both.rate < both.ci95[1]);
    }

    #[test]
    fn refusals() {
        assert_eq!(difference(&[part(9, 2, [0; 4])], 0.95), Err(DesignError::NothingSampled { population: 9 }));
        assert!(difference(&[part(9, 2, [3, 0, 0, 1])], 0.95).is_err(), "more hits sampled than there are");
        assert!(difference(&[part(4, 9, [3, 0, 0, 1])], 0.95).is_err());
        assert_eq!(difference(&[], 0.95), Err(DesignError::Empty));
        assert_eq!(tuned(&[part(90, 20, [2, 0, 0, 3])], 0.95), Err(Untuned::TooFew));
        assert_eq!(tuned(&[part(90, 0, [0, 0, 2, 30])], 0.95), Err(Untuned::Constant));
    }

    /// No disagreement in 20 of 200: no certainty either.
    #[test]
    fn a_sample_without_disagreement_leaves_a_width() {
        let found = difference(&[part(200, 40, [4, 0, 0, 16])], 0.95).expect("sampled");
        assert!((found.rate - 0.2).abs() < 1e-12 && found.ci95[1] - found.ci95[0] > 0.1, "{found:?}");
        let found = tuned(&[part(200, 40, [4, 0, 0, 16])], 0.95).expect("sampled");
        assert!((found.lambda - 1.0).abs() < 1e-12 && found.ci95[1] - found.ci95[0] > 0.05, "{found:?}");
        assert!(found.gained.expect("a gain") > 20.0);
    }

    /// Cochran 1977, 2.6, solved for n. The labels alone: n' of 200 with S²(1/n' − 1/200) as large as the variance with the
    /// metric. Counts with one half added: 10.5, 0.5, 0.5 and 30.5 of 42. S² of the labels is 11·31/42/41, of the differences 2·0.5/41.
    #[test]
    fn effective_cases_are_drawn_from_the_same_frame() {
        let found = difference(&[part(200, 50, [10, 0, 0, 30])], 0.95).expect("sampled");
        let (labels, differences) = (11.0 * 31.0 / 42.0 / 41.0, 1.0 / 41.0);
        let left: f64 = differences * (1.0 / 40.0 - 1.0 / 200.0);
        let want = 1.0 / (left / labels + 1.0 / 200.0);
        assert!((found.effective_n.expect("a gain") - want).abs() < 1e-9, "{found:?} {want}");
        assert!(want < 200.0);
        assert_eq!(difference(&[part(40, 10, [10, 0, 0, 30])], 0.95).expect("all").effective_n, None);
    }

    proptest! {
        /// All cases seen: the estimate is the label's rate and has no width, whatever the automatic value says.
        #[test]
        fn a_census_is_the_truth(tp in 0u64..20, fp in 0u64..20, fnn in 0u64..20, tn in 0u64..20) {
            prop_assume!(tp + fp + fnn + tn > 0);
            let all = tp + fp + fnn + tn;
            let found = difference(&[part(all, tp + fp, [tp, fp, fnn, tn])], 0.95).expect("all");
            let truth = (tp + fnn) as f64 / all as f64;
            prop_assert!((found.rate - truth).abs() < 1e-12);
            prop_assert!(found.ci95[1] - found.ci95[0] < 1e-12);
        }

        /// A perfect automatic value: the estimate is its rate over the frame.
        #[test]
        fn a_perfect_proxy_is_believed(tp in 0u64..20, tn in 0u64..20, hits in 0u64..50, misses in 0u64..50) {
            prop_assume!(tp + tn > 0);
            let found = difference(&[part(tp + tn + hits + misses, tp + hits, [tp, 0, 0, tn])], 0.95).expect("sampled");
            let rate = (tp + hits) as f64 / (tp + tn + hits + misses) as f64;
            prop_assert!((found.rate - rate).abs() < 1e-12);
            prop_assert!(found.ci95[0] <= rate + 1e-12 && rate <= found.ci95[1] + 1e-12);
        }

        /// Hits and labels exchanged for their opposites mirror the estimate; the tuned variance is not above either end's.
        #[test]
        fn mirrored(tp in 0u64..20, fp in 0u64..20, fnn in 0u64..20, tn in 0u64..20, h in 0u64..60, m in 0u64..60) {
            prop_assume!(tp + fp + fnn + tn > 12);
            let all = tp + fp + fnn + tn + h + m;
            let one = [part(all, tp + fp + h, [tp, fp, fnn, tn])];
            let two = [part(all, fnn + tn + m, [tn, fnn, fp, tp])];
            let (a, b) = (difference(&one, 0.95).expect("sampled"), difference(&two, 0.95).expect("sampled"));
            prop_assert!((a.rate + b.rate - 1.0).abs() < 1e-12);
            prop_assert!((a.ci95[0] + b.ci95[1] - 1.0).abs() < 1e-6);
            if let Ok(found) = tuned(&one, 0.95) {
                prop_assert!((0.0..=1.0).contains(&found.lambda));
                let plain = |lambda: f64| one[0].variance(lambda, 0.0);
                prop_assert!(plain(found.lambda) <= plain(0.0) + 1e-12 && plain(found.lambda) <= plain(1.0) + 1e-12);
            }
        }
    }
}
