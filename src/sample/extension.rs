//! Extension: a batch is enlarged by drawing again with larger quotas; every case drawn before stays in its place.
//!
//! The larger sample is an ordinary draw under the same seed, so its probabilities are those of a draw of that size. What
//! must not happen is that the size is chosen after looking at the ratings: the caller records how many were known.

use std::collections::{BTreeMap, BTreeSet};

use super::outcome::{Draw, DrawnCase};
use crate::model::{CaseIdentity, StratumId};

/// What an enlarged draw adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Extension {
    /// Cases drawn before, with their new probabilities.
    pub kept: Vec<DrawnCase>,
    /// Cases drawn now.
    pub added: Vec<DrawnCase>,
}

/// A draw that does not extend a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// Something that decides the draw is not what it was.
    #[error("the {what} changed since the batch was drawn ({was} is now {is})")]
    Changed {
        /// What changed.
        what: &'static str,
        /// As it was.
        was: String,
        /// As it is.
        is: String,
    },
    /// A case of the batch that the new draw does not hold in the same stratum.
    #[error("case {case} of stratum {stratum} would be lost")]
    Lost {
        /// The case.
        case: CaseIdentity,
        /// Its stratum.
        stratum: StratumId,
    },
}

/// What the batch was drawn with, as it was stored.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// Its seed.
    pub seed: &'a str,
    /// Its frame digest.
    pub frame_digest: &'a str,
    /// Its assignment digest.
    pub assignment_digest: &'a str,
    /// Its cases with their strata.
    pub cases: &'a BTreeMap<CaseIdentity, StratumId>,
}

/// Checks that a draw extends a batch, and splits it into what was there and what is new.
///
/// # Errors
/// Another seed, frame or assignment; a case that would be lost (a smaller quota, another exclusion).
pub fn extension(earlier: &Earlier<'_>, draw: &Draw) -> Result<Extension, ExtensionError> {
    for (what, was, is) in [
        ("seed", earlier.seed, draw.seed.as_str()),
        ("frame", earlier.frame_digest, &draw.frame_digest),
        ("assignment of cases to strata", earlier.assignment_digest, &draw.assignment_digest),
    ] {
        if was != is {
            return Err(ExtensionError::Changed { what, was: was.to_owned(), is: is.to_owned() });
        }
    }
    let now: BTreeSet<(&CaseIdentity, &StratumId)> = draw.cases.iter().map(|c| (&c.case, &c.stratum)).collect();
    if let Some((case, stratum)) = earlier.cases.iter().find(|pair| !now.contains(pair)) {
        return Err(ExtensionError::Lost { case: case.clone(), stratum: stratum.clone() });
    }
    let (kept, added) = draw.cases.iter().cloned().partition(|drawn| earlier.cases.contains_key(&drawn.case));
    Ok(Extension { kept, added })
}
