//! The draw of a frame that fits in memory: digest, allocation and sample in one call.

use std::collections::BTreeMap;

use super::allocation::AllocationError;
use super::extension::Kept;
use super::frame::{DuplicateIdentity, FrameTally, frame_digest};
use super::outcome::Draw;
use super::sampler::{Design, Exclusion, Sampler};
use super::sharing::Sharing;
use crate::error::Error;
use crate::model::{CaseIdentity, Seed, StratumId};
use crate::strata::{Assigner, BoundPlan, FrameCase, Matcher, MissingSqlMatches, SqlMatches};

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
    /// How the sample is shared out.
    pub sharing: &'a Sharing,
    /// Cases of earlier rounds, which stay: the numbers count them in. Empty for a first draw.
    pub kept: &'a Kept,
    /// Per stratum the cases to draw beyond its number, in place of unusable ones.
    pub replacements: &'a BTreeMap<StratumId, u64>,
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
    /// A case of an earlier round that its stratum does not own any more.
    #[error("case {case} of stratum {stratum} would be lost: the frame or its strata changed")]
    Lost {
        /// The case.
        case: CaseIdentity,
        /// The stratum that it was drawn for.
        stratum: StratumId,
    },
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
            DrawError::Allocation(error) => allocation_error(&error, message),
            DrawError::Lost { .. } => Self::conflict(message)
                .hint("an extension needs the runs as they were; or draw a further batch with --exclude"),
            DrawError::Duplicate(_) | DrawError::MissingSqlMatches(_) => Self::internal(message),
        }
    }
}

fn allocation_error(error: &AllocationError, message: String) -> Error {
    match error {
        AllocationError::TotalTooSmall { .. } => Error::data(message).hint("raise `total` or lower `minimum`"),
        AllocationError::PilotCount { .. } => Error::data(message),
        AllocationError::UnknownStratum { known, .. } => {
            let known: Vec<&str> = known.iter().map(StratumId::as_str).collect();
            Error::usage(message).hint(format!("its strata: {}", known.join(", ")))
        }
        AllocationError::NoQuota { stratum, .. } => {
            Error::usage(message).hint(format!("name one: --quota {stratum}=N; or leave --allocation out"))
        }
        AllocationError::NoTotal { .. } => {
            Error::usage(message).hint("say how many cases there are to share: --total N")
        }
        AllocationError::Guess { .. } => {
            Error::usage(message).hint("guess the share of cases with the finding, for example 0.1")
        }
        AllocationError::BelowDrawn { .. } | AllocationError::TotalBelowDrawn { .. } => {
            Error::conflict(message).hint("an extension only adds: name a larger number")
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
        method: request.sharing.method,
        total: request.sharing.total,
        quotas,
        quotas_from_ratings: request.sharing.from_ratings(),
        unplaced,
        kept: request.kept,
        replacements: request.replacements,
        allow_empty: request.allow_empty,
    };
    let mut sampler = Sampler::new(&design);
    for case in frame {
        sampler.push(case);
    }
    sampler.finish(digest)
}

/// The quotas in the plan's order, and the cases of the total that find no room.
fn quotas(frame: &[&FrameCase], assigner: &Assigner<'_>, request: &Request<'_>) -> Result<(Vec<u64>, u64), DrawError> {
    let plan = request.plan.plan();
    let mut populations = vec![(0u64, 0u64, 0u64); plan.strata.len()];
    if request.sharing.method != crate::strata::Method::Fixed {
        let mut tally = FrameTally::default();
        let mut matcher = Matcher::new(assigner);
        for case in frame {
            let Some(owner) = tally.push(case, &mut matcher) else { continue };
            let excluded = request.exclusions.iter().any(|exclusion| exclusion.cases.contains(&case.identity));
            if let Some((population, available, _)) = populations.get_mut(owner) {
                *population += 1;
                *available += u64::from(!excluded);
            }
        }
    }
    for (stratum, (_, _, drawn)) in plan.strata.iter().zip(&mut populations) {
        let kept = request.kept.values().filter(|kept| kept.stratum == stratum.id).count() as u64;
        // Replacements stand beside the number, not in it.
        *drawn = kept.saturating_sub(request.replacements.get(&stratum.id).copied().unwrap_or(0));
    }
    Ok(request.sharing.quotas(plan, &populations)?)
}
