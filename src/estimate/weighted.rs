//! Design-weighted rates: strata with unequal sampling fractions, finite populations, small samples, rates at 0 and 1.
//!
//! **The interval.** One stratum has the exact interval of a sample without replacement ([`super::finite`]). Several are
//! joined twice, and the wider limit counts. First by recovering the variances from the strata's limits, L = p − √Σ W_h²(p_h
//! − l_h)² and U likewise (MOVER: Zou & Donner 2008, Stat. Med. 27:1693-1702; Zou, Huang & Zhang 2009, Comput. Stat. Data
//! Anal. 53:1080-1085): right for few strata of unlike size. Second by a score test with the greatest variance that the strata
//! leave possible (the module `nuisance`): right for many small strata, where the first falls short. Why not the interval of
//! survey practice (Korn and Graubard's effective sample size): it takes the variance from the sample, and a heavy stratum of
//! five cases without a hit then counts as known. Here such a stratum brings the width of 0 of 5, a stratum of one case
//! nearly all of its weight, and a stratum that was seen as a whole none. docs/coverage-estimation.md has the coverage of all.

use serde::Serialize;

use super::Interval;
use super::finite::{check, corrected_z, hypergeometric};
use super::normal::z_of_level;
use super::nuisance::{Stratum, limits};
use super::stratified::{DesignError, DesignIntervals, clopper_pearson_real, proportion_intervals};

/// What was seen of one stratum (or of the part of it that belongs to a cell).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Part {
    /// Cases there, drawn or not.
    pub population: u64,
    /// Drawn cases with an answer, "does not apply" included.
    pub answered: u64,
    /// Of these, the label applies.
    pub applicable: u64,
    /// Of these, the finding is there.
    pub k: u64,
    /// Drawn cases without an answer: unusable, not judged, still open.
    pub unanswered: u64,
}

impl Part {
    /// A part in which the label applies to every case and every drawn case has an answer.
    #[must_use]
    pub fn new(population: u64, n: u64, k: u64) -> Self {
        Self { population, answered: n, applicable: n, k, unanswered: 0 }
    }

    fn check(self) -> Result<(), DesignError> {
        check(self.applicable, self.answered, self.population)?;
        if self.k > self.applicable {
            return Err(DesignError::MoreHitsThanCases { k: self.k, n: self.applicable });
        }
        match self.answered.saturating_add(self.unanswered) {
            sampled if sampled > self.population => {
                Err(DesignError::MoreThanAll { sampled, population: self.population })
            }
            _ => Ok(()),
        }
    }

    /// Cases to which the label applies, estimated where it applies to some only.
    fn concerned(self) -> f64 {
        self.population as f64 * self.applicable as f64 / self.answered.max(1) as f64
    }
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// One stratum: exact for a sample without replacement.
    Hypergeometric,
    /// Several strata: the wider of their exact limits joined (MOVER) and of the score limits.
    MoverOrScore,
    /// The label applies to an unknown number of cases: the wider of those over the estimated numbers, and Korn & Graubard's.
    EstimatedPopulation,
    /// Every case was seen.
    Census,
}

/// A design-weighted rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WeightedRate {
    /// The rate among the cases to which the label applies.
    pub rate: f64,
    /// Its interval.
    pub ci95: [f64; 2],
    /// How the interval was made.
    pub method: IntervalMethod,
    /// The linearised standard error; `None` where a stratum has one answered case of several.
    pub se: Option<f64>,
    /// Cases, drawn or not.
    pub population: u64,
    /// Answered cases to which the label applies.
    pub n: u64,
    /// Of these, with the finding.
    pub k: u64,
    /// Drawn cases without an answer.
    pub unanswered: u64,
    /// Where cases have no answer: the rate if none, and if all of them had the finding.
    pub bounds: Option<[f64; 2]>,
    /// The lower limit of the one and the upper of the other.
    pub bounds_ci95: Option<[f64; 2]>,
    /// What survey software prints for the same sample.
    pub design_intervals: Option<DesignIntervals>,
}

/// The rate over some strata at a confidence level such as 0.95.
///
/// Σ N_h k_h/s_h over Σ N_h a_h/s_h, where of s_h answered cases the label applies to a_h: the stratified mean where it
/// applies to all, else the ratio estimator of a domain (Cochran 1977, 5A.14). Answered cases stand for the whole stratum;
/// `bounds` say how far that can be wrong where cases have no answer.
///
/// # Errors
/// A stratum without an answered case, counts that contradict each other, a label that applies to no case, a level outside
/// (0, 1).
pub fn weighted_rate(parts: &[Part], level: f64) -> Result<WeightedRate, DesignError> {
    let parts: Vec<Part> = parts.iter().copied().filter(|part| part.population > 0).collect();
    let found = without_bounds(&parts, level)?;
    if found.unanswered == 0 {
        return Ok(found);
    }
    // The missing answers are given one way and the other.
    let filled = |hit: bool| {
        let fill = |part: &Part| Part {
            answered: part.answered + part.unanswered,
            applicable: part.applicable + part.unanswered,
            k: part.k + if hit { part.unanswered } else { 0 },
            unanswered: 0,
            ..*part
        };
        without_bounds(&parts.iter().map(fill).collect::<Vec<_>>(), level)
    };
    let (least, most) = (filled(false)?, filled(true)?);
    Ok(WeightedRate {
        bounds: Some([least.rate, most.rate]),
        bounds_ci95: Some([least.ci95[0], most.ci95[1]]),
        ..found
    })
}

fn without_bounds(parts: &[Part], level: f64) -> Result<WeightedRate, DesignError> {
    for part in parts {
        part.check()?;
    }
    let total = |pick: fn(&Part) -> u64| parts.iter().map(pick).fold(0, u64::saturating_add);
    let concerned: f64 = parts.iter().map(|part| part.concerned()).sum();
    if concerned <= 0.0 {
        return Err(DesignError::Empty);
    }
    let per_case = |part: &Part| part.population as f64 / part.answered.max(1) as f64;
    let rate = parts.iter().map(|part| per_case(part) * part.k as f64).sum::<f64>() / concerned;
    let mixed = parts.iter().any(|part| part.applicable > 0 && part.applicable < part.answered);
    let several = parts.iter().filter(|part| part.applicable > 0).count();
    let [mut low, mut high] = joined(parts, |k, n, population| hypergeometric(k, n, population, level))?;
    if several > 1 {
        let [score_low, score_high] = score(parts, level)?;
        (low, high) = (low.min(score_low), high.max(score_high));
    }
    let se = linearised(parts, rate, concerned);
    let (n, df) = (total(|part| part.answered), total(|part| part.answered) - parts.len() as u64);
    let design_intervals = se.and_then(|se| proportion_intervals(rate, se, n, df, level));
    let census = parts.iter().all(|part| part.answered == part.population);
    let method = if census {
        IntervalMethod::Census
    } else if mixed {
        let effective = match (se, design_intervals) {
            (_, Some(found)) => found.korn_graubard,
            // Nothing varies in the sample: as if it were a simple random one.
            _ => {
                let n = total(|part| part.applicable) as f64;
                clopper_pearson_real(rate * n, n, level).limits()
            }
        };
        (low, high) = (low.min(effective[0]), high.max(effective[1]));
        IntervalMethod::EstimatedPopulation
    } else if several == 1 {
        IntervalMethod::Hypergeometric
    } else {
        IntervalMethod::MoverOrScore
    };
    Ok(WeightedRate {
        rate,
        ci95: [low, high],
        method,
        se,
        population: total(|part| part.population),
        n: total(|part| part.applicable),
        k: total(|part| part.k),
        unanswered: total(|part| part.unanswered),
        bounds: None,
        bounds_ci95: None,
        design_intervals,
    })
}

/// The score limits with the greatest variance that the strata's own exact intervals allow (the module `nuisance`).
pub(super) fn score(parts: &[Part], level: f64) -> Result<[f64; 2], DesignError> {
    let z = z_of_level(level).map_err(|_| DesignError::Level { level })?;
    let concerned: f64 = parts.iter().map(|part| part.concerned()).sum();
    let (mut rate, mut strata) = (0.0, Vec::new());
    for part in parts.iter().filter(|part| part.applicable > 0) {
        let population = (part.concerned().round() as u64).max(part.applicable);
        let own = hypergeometric(part.k, part.applicable, population, level)?;
        let (n, weight) = (part.applicable as f64, part.concerned() / concerned);
        rate += weight * part.k as f64 / n;
        let scale = weight * weight * corrected_z(1.0, part.applicable, population).powi(2) / n;
        strata.push(Stratum { weight, scale, share: own });
    }
    let [low, high] = limits(rate, &strata, z);
    Ok([low.clamp(0.0, 1.0), high.clamp(0.0, 1.0)])
}

/// The limits of the strata, each made from hits, cases and population, joined by MOVER around the rate.
pub(super) fn joined(
    parts: &[Part],
    limits: impl Fn(u64, u64, u64) -> Result<Interval, DesignError>,
) -> Result<[f64; 2], DesignError> {
    let concerned: f64 = parts.iter().map(|part| part.concerned()).sum();
    let (mut rate, mut below, mut above) = (0.0, 0.0, 0.0);
    for part in parts.iter().filter(|part| part.applicable > 0) {
        let population = (part.concerned().round() as u64).max(part.applicable);
        let own = limits(part.k, part.applicable, population)?;
        let weight = part.concerned() / concerned;
        let centre = part.k as f64 / part.applicable as f64;
        rate += weight * centre;
        below += (weight * (centre - own.low).max(0.0)).powi(2);
        above += (weight * (own.high - centre).max(0.0)).powi(2);
    }
    Ok([(rate - below.sqrt()).max(0.0), (rate + above.sqrt()).min(1.0)])
}

/// A share of a group whose size is not known (of the true positives, of the hits), as [`weighted_rate`] with wider limits: a
/// stratum whose answered cases hold none of the group may still hold some, up to its own upper limit, and these may all be
/// of one kind.
///
/// # Errors
/// As [`weighted_rate`].
pub fn group_share(parts: &[Part], level: f64) -> Result<WeightedRate, DesignError> {
    let found = weighted_rate(parts, level)?;
    let mut unseen = 0.0f64;
    for part in parts.iter().filter(|part| part.applicable == 0 && part.population > 0) {
        let own = hypergeometric(0, part.answered, part.population, level)?;
        unseen = unseen.hypot(own.high * part.population as f64);
    }
    let known: f64 = parts.iter().map(|part| part.concerned()).sum();
    let all = known + unseen;
    let [low, high] = found.ci95;
    Ok(WeightedRate { ci95: [low * known / all, (high * known + unseen) / all], ..found })
}

/// The standard error of the ratio by linearisation: the stratified variance of y − R·a, where a says that the label
/// applies. Särndal, Swensson & Wretman 1992, 5.6.
fn linearised(parts: &[Part], rate: f64, concerned: f64) -> Option<f64> {
    let mut variance = 0.0;
    for part in parts.iter().filter(|part| part.answered < part.population) {
        if part.answered < 2 {
            return None;
        }
        let (n, all) = (part.answered as f64, part.population as f64);
        let (k, others) = (part.k as f64, (part.applicable - part.k) as f64);
        // Values 1 − R, −R and 0.
        let (up, down) = (1.0 - rate, -rate);
        let centre = (k * up + others * down) / n;
        let squares = k * up * up + others * down * down - n * centre * centre;
        variance += all * all * (1.0 - n / all) * squares.max(0.0) / (n - 1.0) / n;
    }
    Some(variance.sqrt() / concerned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::stratified::{self, StratumValues};
    use proptest::prelude::*;

    fn rate(parts: &[Part]) -> WeightedRate {
        weighted_rate(parts, 0.95).expect("an estimate")
    }

    /// By hand: 100 cases of which 10 were seen and 2 hit, 300 of which 5 were seen and 0 hit. (100·0.2 + 300·0)/400 = 0.05.
    /// The heavy stratum alone leaves up to 0.75 × its own upper limit, so an interval that calls it known is wrong.
    #[test]
    fn a_heavy_stratum_without_hits_is_not_known() {
        let found = rate(&[Part::new(100, 10, 2), Part::new(300, 5, 0)]);
        assert!((found.rate - 0.05).abs() < 1e-12);
        let own = hypergeometric(0, 5, 300, 0.95).expect("drawn").high;
        assert!(found.ci95[1] >= 0.05 + 0.75 * own - 1e-12, "{found:?}");
        assert!(found.design_intervals.expect("varies").korn_graubard[1] < 0.3, "{found:?}");
        assert_eq!(found.method, IntervalMethod::MoverOrScore);
    }

    #[test]
    fn one_stratum_has_its_exact_interval_and_a_census_none() {
        let found = rate(&[Part::new(200, 48, 5)]);
        let own = hypergeometric(5, 48, 200, 0.95).expect("drawn");
        assert!((found.ci95[0] - own.low).abs() < 1e-12 && (found.ci95[1] - own.high).abs() < 1e-12);
        let all = rate(&[Part::new(48, 48, 5), Part::new(3, 3, 3)]);
        assert_eq!(all.method, IntervalMethod::Census);
        assert!((all.ci95[1] - all.ci95[0]).abs() < 1e-12 && (all.rate - 8.0 / 51.0).abs() < 1e-12);
        assert_eq!(all.se, Some(0.0));
    }

    #[test]
    fn what_is_not_covered_or_contradicts_itself_is_refused() {
        let nothing = Part { population: 7, ..Part::default() };
        assert_eq!(
            weighted_rate(&[Part::new(5, 2, 1), nothing], 0.95),
            Err(DesignError::NothingSampled { population: 7 })
        );
        assert_eq!(weighted_rate(&[], 0.95), Err(DesignError::Empty));
        assert!(weighted_rate(&[Part::new(5, 6, 1)], 0.95).is_err());
        assert!(weighted_rate(&[Part::new(5, 2, 3)], 0.95).is_err());
        assert!(weighted_rate(&[Part { unanswered: 4, ..Part::new(5, 2, 1) }], 0.95).is_err());
        // Applies to nothing that was seen.
        assert_eq!(weighted_rate(&[Part { applicable: 0, k: 0, ..Part::new(5, 2, 0) }], 0.95), Err(DesignError::Empty));
        // A stratum to whose cases the label never applies says nothing and costs nothing.
        let never = Part { applicable: 0, k: 0, ..Part::new(500, 20, 0) };
        let with = rate(&[Part::new(50, 10, 3), never]);
        assert!((with.rate - 0.3).abs() < 1e-12 && with.method == IntervalMethod::Hypergeometric);
    }

    /// By hand: 10 of 20 drawn, 8 answered with 4 hits, 2 unusable: from 4/10 to 6/10.
    #[test]
    fn cases_without_an_answer_widen_the_bounds() {
        let found = rate(&[Part { unanswered: 2, ..Part::new(20, 8, 4) }]);
        assert_eq!(found.bounds, Some([0.4, 0.6]));
        let wide = found.bounds_ci95.expect("bounds");
        assert!(wide[0] < 0.4 && wide[1] > 0.6);
    }

    proptest! {
        /// Equal sampling fractions: the weighted rate is the plain one, and the standard error is Cochran's.
        #[test]
        fn equal_weights_give_the_plain_rate(
            counts in prop::collection::vec((2u64..20, 0.0f64..=1.0), 1..5), times in 1u64..6,
        ) {
            let parts: Vec<Part> =
                counts.iter().map(|(n, p)| Part::new(n * times, *n, (*n as f64 * p).round() as u64)).collect();
            let found = rate(&parts);
            let (k, n): (u64, u64) = (parts.iter().map(|p| p.k).sum(), parts.iter().map(|p| p.answered).sum());
            prop_assert!((found.rate - k as f64 / n as f64).abs() < 1e-12);
            let values: Vec<Vec<f64>> = parts
                .iter()
                .map(|part| (0..part.answered).map(|i| if i < part.k { 1.0 } else { 0.0 }).collect())
                .collect();
            let strata: Vec<StratumValues<'_>> =
                parts.iter().zip(&values).map(|(p, values)| StratumValues { population: p.population, values }).collect();
            let other = stratified::mean(&strata).expect("cases");
            prop_assert!((found.se.expect("two a stratum") - other.se.expect("two a stratum")).abs() < 1e-9);
            prop_assert!(found.ci95[0] <= found.rate + 1e-12 && found.rate <= found.ci95[1] + 1e-12);
            prop_assert!(found.ci95[0] >= 0.0 && found.ci95[1] <= 1.0);
            if times == 1 { prop_assert!((found.ci95[1] - found.ci95[0]).abs() < 1e-12); }
        }

        /// No and yes exchanged mirror rate and interval; strata in another order change nothing.
        #[test]
        fn mirrored_and_reordered(counts in prop::collection::vec((1u64..20, 0u64..20, 0u64..60), 1..5)) {
            let parts: Vec<Part> =
                counts.iter().map(|(n, k, more)| Part::new(n + more, *n, (*k).min(*n))).collect();
            let mirrored: Vec<Part> =
                parts.iter().rev().map(|p| Part::new(p.population, p.answered, p.answered - p.k)).collect();
            let (one, two) = (rate(&parts), rate(&mirrored));
            prop_assert!((one.rate + two.rate - 1.0).abs() < 1e-12);
            prop_assert!((one.ci95[0] + two.ci95[1] - 1.0).abs() < 1e-12);
            prop_assert!((one.ci95[1] + two.ci95[0] - 1.0).abs() < 1e-12);
        }
    }
}
