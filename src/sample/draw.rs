//! The draw of a frame that fits in memory: digest, allocation and sample in one call.

use std::collections::BTreeMap;

use super::allocation::{AllocationError, PilotCount, plan_quotas};
use super::frame::{DuplicateIdentity, FrameTally, frame_digest};
use super::outcome::Draw;
use super::sampler::{Design, Exclusion, Sampler};
use crate::error::Error;
use crate::model::{Seed, StratumId};
use crate::strata::{Assigner, BoundPlan, FrameCase, Matcher, Method, MissingSqlMatches, SqlMatches};

/// What to draw.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The plan.
    pub plan: &'a BoundPlan,
    /// The seed.
    pub seed: &'a Seed,
    /// The cases that meet each SQL condition of the plan.
    pub sql_matches: &'a SqlMatches,
    /// Earlier batches whose cases are not to be drawn.
    pub exclusions: &'a [Exclusion],
    /// How the finding came out per stratum in a pilot, for Neyman allocation.
    pub pilot: &'a BTreeMap<StratumId, PilotCount>,
    /// Quotas that replace the plan's, to enlarge a sample.
    pub quotas: &'a BTreeMap<StratumId, u64>,
    /// Is a stratum without cases a warning rather than an error?
    pub allow_empty: bool,
}

/// A stratum that has nothing to draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmptyStratum {
    /// The stratum.
    pub stratum: StratumId,
    /// Why.
    pub reason: String,
}

/// A draw that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// An identity that is in the frame twice.
    #[error(transparent)]
    Duplicate(#[from] DuplicateIdentity),
    /// A SQL condition that was not evaluated.
    #[error(transparent)]
    MissingSqlMatches(#[from] MissingSqlMatches),
    /// The allocation fails.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// A quota for a stratum that the plan does not have.
    #[error("the plan has no stratum {0}")]
    UnknownStratum(StratumId),
    /// Strata without a case to draw.
    #[error("{}", empty_message(.0))]
    Empty(Vec<EmptyStratum>),
}

fn empty_message(strata: &[EmptyStratum]) -> String {
    let each: Vec<String> =
        strata.iter().map(|empty| format!("stratum {} is empty: {}", empty.stratum, empty.reason)).collect();
    each.join("; ")
}

impl From<DrawError> for Error {
    fn from(error: DrawError) -> Self {
        let message = error.to_string();
        match error {
            DrawError::Empty(_) => Self::data(message)
                .hint("bind the missing roles or change the conditions; --allow-empty draws the other strata"),
            DrawError::Allocation(AllocationError::TotalTooSmall { .. }) => {
                Self::data(message).hint("raise `total` or lower `minimum`")
            }
            DrawError::Allocation(AllocationError::PilotCount { .. }) => Self::data(message),
            DrawError::UnknownStratum(_) => Self::usage(message).hint("name a stratum of the plan"),
            DrawError::Duplicate(_) | DrawError::MissingSqlMatches(_) => Self::internal(message),
        }
    }
}

/// Draws a sample: within each stratum the cases with the lowest tickets. The order of the frame never matters.
///
/// # Errors
/// An identity that is there twice, strata that are empty and may not be, an allocation that does not work out.
pub fn draw<'a>(frame: impl IntoIterator<Item = &'a FrameCase>, request: &Request<'_>) -> Result<Draw, DrawError> {
    let frame: Vec<&FrameCase> = frame.into_iter().collect();
    let digest = frame_digest(frame.iter().copied())?;
    let assigner = Assigner::new(request.plan, request.sql_matches)?;
    let (quotas, unplaced) = quotas(&frame, &assigner, request)?;
    let design = Design {
        assigner,
        seed: request.seed,
        exclusions: request.exclusions,
        quotas,
        quotas_from_ratings: request.plan.plan().method == Method::Neyman && !request.pilot.is_empty(),
        unplaced,
        allow_empty: request.allow_empty,
    };
    let mut sampler = Sampler::new(&design);
    for case in frame {
        sampler.push(case);
    }
    sampler.finish(digest)
}

/// The quotas in the plan's order, and the cases of its total that find no room.
fn quotas(frame: &[&FrameCase], assigner: &Assigner<'_>, request: &Request<'_>) -> Result<(Vec<u64>, u64), DrawError> {
    let plan = request.plan.plan();
    let mut populations = vec![(0u64, 0u64); plan.strata.len()];
    if plan.method != Method::Fixed {
        let mut tally = FrameTally::default();
        let mut matcher = Matcher::new(assigner);
        for case in frame {
            let Some(owner) = tally.push(case, &mut matcher) else { continue };
            let excluded = request.exclusions.iter().any(|exclusion| exclusion.cases.contains(&case.identity));
            if let Some((population, available)) = populations.get_mut(owner) {
                *population += 1;
                *available += u64::from(!excluded);
            }
        }
    }
    let (mut quotas, unplaced) = plan_quotas(plan, &populations, request.pilot)?;
    for (stratum, quota) in request.quotas {
        let index = plan.strata.iter().position(|known| known.id == *stratum);
        match index.and_then(|index| quotas.get_mut(index)) {
            Some(slot) => *slot = *quota,
            None => return Err(DrawError::UnknownStratum(stratum.clone())),
        }
    }
    Ok((quotas, unplaced))
}
