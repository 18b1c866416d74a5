//! Sharing: how a sample is shared out between the strata, as the plan says or as the user says over it.
//!
//! A draw that enlarges an earlier one keeps what is there, so every stratum's number starts at what it has.

use std::collections::BTreeMap;

use super::allocation::{AllocationError, PilotCount, Share, allocate, binary_sd};
use crate::model::StratumId;
use crate::strata::{Method, Plan};

/// How the sample is shared out.
#[derive(Debug, Clone, PartialEq)]
pub struct Sharing {
    /// The method.
    pub method: Method,
    /// Cases to share, for a computed method.
    pub total: Option<u64>,
    /// Fewest cases per stratum, instead of the plan's and the strata's own.
    pub minimum: Option<u64>,
    /// Numbers that replace those of the plan, for [`Method::Fixed`].
    pub quotas: BTreeMap<StratumId, u64>,
    /// Guesses of a stratum's rate instead of the plan's, for [`Method::Neyman`].
    pub guesses: BTreeMap<StratumId, f64>,
    /// How the finding came out per stratum in a pilot, for [`Method::Neyman`].
    pub pilot: BTreeMap<StratumId, PilotCount>,
}

impl Sharing {
    /// As the plan says.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self {
            method: plan.method,
            total: plan.total,
            minimum: None,
            quotas: BTreeMap::new(),
            guesses: BTreeMap::new(),
            pilot: BTreeMap::new(),
        }
    }

    /// Are the numbers computed from ratings? Then they hang on what was drawn before.
    #[must_use]
    pub fn from_ratings(&self) -> bool {
        self.method == Method::Neyman && !self.pilot.is_empty()
    }

    /// The number of every stratum in the plan's order, and the cases of the total that find no room.
    ///
    /// `populations`: per stratum the cases that it owns, those that can be drawn, and those that were drawn already
    /// (replacements aside). For Neyman the centre of a stratum is its guess, else the pilot's pooled rate (with one
    /// pseudo-case on each side), which is 0.5 without a pilot.
    ///
    /// # Errors
    /// See [`AllocationError`].
    pub fn quotas(&self, plan: &Plan, populations: &[(u64, u64, u64)]) -> Result<(Vec<u64>, u64), AllocationError> {
        let mut named = self.quotas.keys().chain(self.pilot.keys()).chain(self.guesses.keys());
        if let Some(unknown) = named.find(|id| plan.stratum(id).is_none()) {
            return Err(AllocationError::UnknownStratum {
                stratum: unknown.clone(),
                known: plan.strata.iter().map(|stratum| stratum.id.clone()).collect(),
            });
        }
        if self.method == Method::Fixed {
            return Ok((self.fixed(plan, populations)?, 0));
        }
        self.computed(plan, populations)
    }

    fn fixed(&self, plan: &Plan, populations: &[(u64, u64, u64)]) -> Result<Vec<u64>, AllocationError> {
        plan.strata
            .iter()
            .zip(populations)
            .map(|(stratum, (_, _, drawn))| {
                let stated = self.quotas.get(&stratum.id).copied();
                match stated {
                    Some(quota) if quota < *drawn => {
                        Err(AllocationError::BelowDrawn { stratum: stratum.id.clone(), quota, drawn: *drawn })
                    }
                    Some(quota) => Ok(quota),
                    None => match stratum.quota {
                        Some(quota) => Ok(quota.max(*drawn)),
                        None => Err(AllocationError::NoQuota { stratum: stratum.id.clone(), method: plan.method }),
                    },
                }
            })
            .collect()
    }

    fn computed(&self, plan: &Plan, populations: &[(u64, u64, u64)]) -> Result<(Vec<u64>, u64), AllocationError> {
        let total = self.total.ok_or(AllocationError::NoTotal { method: self.method })?;
        if let Some((stratum, rate)) = self.guesses.iter().find(|(_, rate)| !(**rate > 0.0 && **rate < 1.0)) {
            return Err(AllocationError::Guess { stratum: stratum.clone(), rate: rate.to_string() });
        }
        if let Some((stratum, count)) = self.pilot.iter().find(|(_, count)| count.ones > count.rated) {
            let (ones, rated) = (count.ones, count.rated);
            return Err(AllocationError::PilotCount { stratum: stratum.clone(), ones, rated });
        }
        let drawn = populations.iter().fold(0u64, |sum, (_, _, drawn)| sum.saturating_add(*drawn));
        if drawn > total {
            return Err(AllocationError::TotalBelowDrawn { total, drawn });
        }
        let counts = |pick: fn(&PilotCount) -> u64| self.pilot.values().map(|count| pick(count) as f64).sum::<f64>();
        let pooled = (counts(|count| count.ones) + 1.0) / (counts(|count| count.rated) + 2.0);
        let shares: Vec<Share> = plan
            .strata
            .iter()
            .zip(populations)
            .map(|(stratum, (population, available, drawn))| {
                let centre = self.guesses.get(&stratum.id).copied().or(stratum.rate_guess).unwrap_or(pooled);
                let minimum = self.minimum.or(stratum.minimum).or(plan.minimum).unwrap_or(0);
                Share {
                    population: *population,
                    available: *available,
                    minimum: minimum.max(*drawn),
                    sd: binary_sd(centre, self.pilot.get(&stratum.id).copied().unwrap_or_default()),
                }
            })
            .collect();
        let allocation = allocate(self.method, total, &shares)?;
        Ok((allocation.quotas, allocation.unplaced))
    }
}
