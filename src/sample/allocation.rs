//! Allocation: how many cases each stratum gets, where the plan does not say so itself.
//!
//! Every method shares `total` in proportion to a weight per stratum: its population (proportional), 1 (equal), or
//! population × standard deviation (Neyman 1934, which minimises the variance of the stratified mean for a given
//! total). No stratum gets less than its minimum or more than it has; what a bound takes or frees is shared again
//! between the others in proportion to their weights. Whole numbers come from the largest remainder (Hamilton): every
//! part is rounded down, and the cases left over go to the largest fractions, equal fractions in the plan's order.

use crate::model::StratumId;
use crate::strata::Method;

/// Fewest cases of a stratum under Neyman allocation: one case has no variance.
const NEYMAN_FLOOR: u64 = 2;

/// Pseudo-observations that pull a pilot's rate towards the guess: about z² for 95 %, as in the Agresti–Coull interval.
const SHRINKAGE: f64 = 4.0;

/// What the allocation knows about a stratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Cases that it owns.
    pub population: u64,
    /// Cases that can still be drawn.
    pub available: u64,
    /// Fewest cases wanted.
    pub minimum: u64,
    /// Standard deviation of the finding within the stratum.
    pub sd: f64,
}

/// A computed allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// Parts before rounding, within the bounds; they sum to the total less `unplaced`.
    pub exact: Vec<f64>,
    /// Whole parts.
    pub quotas: Vec<u64>,
    /// Cases of the total that no stratum has room for.
    pub unplaced: u64,
}

/// How a stratum's label came out in a pilot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PilotCount {
    /// Cases rated with a value.
    pub rated: u64,
    /// Those with the finding.
    pub ones: u64,
}

/// An allocation that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// The minimums need more than the total.
    #[error("the strata's minimums need {needed} cases, the total is {total}")]
    TotalTooSmall {
        /// What the minimums need.
        needed: u64,
        /// The total.
        total: u64,
    },
    /// More findings than ratings.
    #[error("the pilot counts of stratum {stratum} say {ones} of {rated}")]
    PilotCount {
        /// The stratum.
        stratum: StratumId,
        /// Findings.
        ones: u64,
        /// Ratings.
        rated: u64,
    },
    /// A stratum that the plan does not have.
    #[error("the plan has no stratum {stratum}")]
    UnknownStratum {
        /// The name.
        stratum: StratumId,
        /// The plan's strata.
        known: Vec<StratumId>,
    },
    /// Fixed numbers are wanted, and a stratum has none.
    #[error("stratum {stratum} has no quota (the plan shares a total: {method})")]
    NoQuota {
        /// The stratum.
        stratum: StratumId,
        /// The plan's own method.
        method: Method,
    },
    /// A computed method without a total.
    #[error("the allocation {method} needs a total to share")]
    NoTotal {
        /// The method.
        method: Method,
    },
    /// A guess outside (0, 1).
    #[error("the guess of stratum {stratum} must lie strictly between 0 and 1, got {rate}")]
    Guess {
        /// The stratum.
        stratum: StratumId,
        /// The guess.
        rate: String,
    },
    /// A drawn case would be lost.
    #[error("stratum {stratum} has {drawn} cases already; a quota of {quota} would drop some")]
    BelowDrawn {
        /// The stratum.
        stratum: StratumId,
        /// The number wanted.
        quota: u64,
        /// Cases drawn.
        drawn: u64,
    },
    /// Drawn cases would be lost.
    #[error("{drawn} cases are drawn already; a total of {total} would drop some")]
    TotalBelowDrawn {
        /// The total wanted.
        total: u64,
        /// Cases drawn.
        drawn: u64,
    },
}

/// Shares `total` between strata. [`Method::Fixed`] has nothing to share and gets the weights of `Equal`.
///
/// # Errors
/// The minimums (2 under Neyman, if the stratum has them) need more than the total.
pub fn allocate(method: Method, total: u64, strata: &[Share]) -> Result<Allocation, AllocationError> {
    let floor = if method == Method::Neyman { NEYMAN_FLOOR } else { 0 };
    let bounds: Vec<(u64, u64)> = strata.iter().map(|s| (s.minimum.max(floor).min(s.available), s.available)).collect();
    let needed = bounds.iter().fold(0u64, |sum, (low, _)| sum.saturating_add(*low));
    if needed > total {
        return Err(AllocationError::TotalTooSmall { needed, total });
    }
    let room = bounds.iter().fold(0u64, |sum, (_, high)| sum.saturating_add(*high));
    let target = total.min(room);
    let weights: Vec<f64> = strata.iter().map(|stratum| weight(method, stratum)).collect();
    let exact = bounded_shares(target, &weights, &bounds);
    let quotas = largest_remainder(target, &exact, &bounds);
    Ok(Allocation { exact, quotas, unplaced: total - target })
}

fn weight(method: Method, stratum: &Share) -> f64 {
    let population = stratum.population as f64;
    let weight = match method {
        Method::Proportional => population,
        Method::Neyman => population * stratum.sd,
        Method::Equal | Method::Fixed => 1.0,
    };
    if weight.is_finite() && weight > 0.0 { weight } else { 0.0 }
}

/// Parts in proportion to the weights, within the bounds, that sum to `target` (which the bounds allow).
///
/// The parts are t·w held within the bounds, for the one t that gives the sum. It is found by fixing, round by round,
/// the parts that lie beyond the bounds on the side that is out of balance; at most one round per stratum.
fn bounded_shares(target: u64, weights: &[f64], bounds: &[(u64, u64)]) -> Vec<f64> {
    let mut parts: Vec<Option<f64>> = vec![None; weights.len()];
    loop {
        let fixed: f64 = parts.iter().flatten().sum();
        let rest = (target as f64 - fixed).max(0.0);
        let free_weight: f64 = weights.iter().zip(&parts).filter(|(_, part)| part.is_none()).map(|(w, _)| w).sum();
        let free = parts.iter().filter(|part| part.is_none()).count();
        if free == 0 {
            break;
        }
        // Strata that are left with no weight at all share evenly what is left.
        let share = |weight: f64| if free_weight > 0.0 { rest * weight / free_weight } else { rest / free as f64 };
        let (mut below, mut above) = (0.0, 0.0);
        for ((weight, part), (low, high)) in weights.iter().zip(&parts).zip(bounds) {
            if part.is_none() {
                below += (*low as f64 - share(*weight)).max(0.0);
                above += (share(*weight) - *high as f64).max(0.0);
            }
        }
        let last = below == 0.0 && above == 0.0;
        for ((weight, part), (low, high)) in weights.iter().zip(&mut parts).zip(bounds) {
            if part.is_some() {
                continue;
            }
            let (low, high, wanted) = (*low as f64, *high as f64, share(*weight));
            if last {
                *part = Some(wanted);
            } else if below >= above && wanted <= low {
                *part = Some(low);
            } else if above >= below && wanted >= high {
                *part = Some(high);
            }
        }
    }
    parts.into_iter().map(|part| part.unwrap_or(0.0)).collect()
}

/// Whole parts that sum to `target`.
fn largest_remainder(target: u64, exact: &[f64], bounds: &[(u64, u64)]) -> Vec<u64> {
    let mut whole: Vec<u64> =
        exact.iter().zip(bounds).map(|(part, (low, high))| (part.floor() as u64).clamp(*low, *high)).collect();
    let mut order: Vec<(usize, f64)> = exact.iter().map(|part| part - part.floor()).enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut left = target.saturating_sub(whole.iter().sum());
    // One pass is enough unless rounding noise has eaten a whole unit.
    while left > 0 {
        let before = left;
        for (index, _) in &order {
            if let (Some(part), Some((_, high))) = (whole.get_mut(*index), bounds.get(*index))
                && left > 0
                && *part < *high
            {
                *part += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    whole
}

/// The standard deviation √(p(1 − p)) of a yes-or-no finding, for a rate that is guessed or comes from a pilot.
///
/// The pilot's rate is shrunk towards `centre` as if four more cases had been rated there: (ones + 4·centre) / (rated
/// + 4). So a stratum whose few pilot cases all agree is not taken for one without variance.
#[must_use]
pub fn binary_sd(centre: f64, pilot: PilotCount) -> f64 {
    let rate = (pilot.ones as f64 + SHRINKAGE * centre) / (pilot.rated as f64 + SHRINKAGE);
    (rate * (1.0 - rate)).max(0.0).sqrt()
}
