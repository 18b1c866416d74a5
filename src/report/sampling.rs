//! How a sample grew, as plain data that the caller gives: rounds, unusable cases and their replacements.

use serde::Serialize;

use crate::model::{CaseIdentity, StratumId};

/// The rounds of a batch and its nonresponse.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SamplingRecord {
    /// The rounds, oldest first; none for an audit made elsewhere.
    pub rounds: Vec<RoundRecord>,
    /// Cases that were declared unusable before anybody rated them.
    pub unusable: Vec<UnusableRecord>,
}

/// A round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoundRecord {
    /// Its number, from 1.
    pub round: u64,
    /// `draw`, `extension` or `replacement`.
    pub kind: String,
    /// Cases that came in.
    pub added: u64,
    /// Answers of people and models to the batch's cases at that moment.
    pub ratings_known: u64,
    /// Such answers to cases of the same frame in other batches; `None`: not noted.
    pub ratings_elsewhere: Option<u64>,
    /// Its seed.
    pub seed: Option<String>,
    /// Does every round take a seed of its own?
    pub adversarial: bool,
    /// When (UTC).
    pub made_at: String,
    /// The command line.
    pub command: String,
}

/// An unusable case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnusableRecord {
    /// The case.
    pub case: CaseIdentity,
    /// Its stratum.
    pub stratum: StratumId,
    /// Why nobody can rate it.
    pub reason: String,
    /// When it was declared (UTC).
    pub declared_at: String,
    /// The case that was drawn in its place.
    pub replaced_by: Option<CaseIdentity>,
}
