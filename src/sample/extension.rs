//! Extension: a batch is enlarged, and every case drawn before stays.
//!
//! What is kept is left out of the new draw and counted in: a stratum that has n of the N − e cases which could be drawn
//! and now takes m more of the rest holds n + m, and each of its cases had the chance (n + m)/(N − e) to be among them.
//! Under the same seed that is the draw one would have made with the larger number at once (the kept cases hold the
//! lowest tickets). Under another seed it is two draws, one after the other, without replacement:
//!
//! ```text
//! P = n/(N − e) + (1 − n/(N − e)) · m/(N − e − n) = (n + m)/(N − e)
//! ```
//!
//! Either way n and m must not hang on the ratings; so the number of ratings known is recorded. And who knows the seed
//! knows the next tickets: where somebody with a stake can change or withdraw cases, an extension takes a new seed.

use std::collections::BTreeMap;

use super::outcome::{Draw, DrawnCase};
use crate::model::{CaseIdentity, StratumId};

/// A case that an earlier round drew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCase {
    /// The stratum that it was drawn for.
    pub stratum: StratumId,
    /// Its ticket under the seed of its round.
    pub ticket: String,
}

/// All cases of the earlier rounds.
pub type Kept = BTreeMap<CaseIdentity, KeptCase>;

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
    #[error("the {what} changed since the batch was drawn (digest {was} is now {is})")]
    Changed {
        /// What changed.
        what: &'static str,
        /// As it was.
        was: String,
        /// As it is.
        is: String,
    },
    /// Nothing new was drawn.
    #[error("the extension adds no case: {reason}")]
    Nothing {
        /// Why.
        reason: String,
    },
}

/// What the batch was drawn from, as it was stored.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// Its frame digest.
    pub frame_digest: &'a str,
    /// Its assignment digest, where it is known.
    pub assignment_digest: Option<&'a str>,
    /// Its cases.
    pub kept: &'a Kept,
}

/// Checks that a draw extends a batch, and splits it into what was there and what is new.
///
/// # Errors
/// Another frame or assignment; nothing new.
pub fn extension(earlier: &Earlier<'_>, draw: &Draw) -> Result<Extension, ExtensionError> {
    let assignment = earlier.assignment_digest.unwrap_or(&draw.assignment_digest);
    for (what, was, is) in [
        ("frame", earlier.frame_digest, &draw.frame_digest),
        ("assignment of cases to strata", assignment, &draw.assignment_digest),
    ] {
        if was != is {
            return Err(ExtensionError::Changed { what, was: was.to_owned(), is: is.to_owned() });
        }
    }
    let (kept, added): (Vec<DrawnCase>, Vec<DrawnCase>) =
        draw.cases.iter().cloned().partition(|drawn| earlier.kept.contains_key(&drawn.case));
    if added.is_empty() {
        let short: Vec<&str> = draw.strata.iter().filter(|s| s.shortfall > 0).map(|s| s.id.as_str()).collect();
        let reason = match short.as_slice() {
            [] => "every stratum has the number that is asked for".to_owned(),
            _ => format!("every stratum has the number that is asked for, or no case left ({})", short.join(", ")),
        };
        return Err(ExtensionError::Nothing { reason });
    }
    Ok(Extension { kept, added })
}
