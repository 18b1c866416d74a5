//! Where an audit comes from, as plain data that the caller gives: digests, seed, versions, command lines.

use std::collections::BTreeMap;

use serde::Serialize;

use super::SamplingRecord;

/// Everything that a reader needs to find or repeat what a report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// The program and its version.
    pub program: String,
    /// When the report was made (UTC, RFC 3339).
    pub generated_at: String,
    /// The command line of the report.
    pub command_line: String,
    /// The batch.
    pub batch: BatchProvenance,
    /// The rubric under which the ratings were made.
    pub rubric: RubricProvenance,
    /// The last link of the chain of ratings.
    pub chain_head: String,
    /// Entries in the chain.
    pub chain_entries: u64,
    /// Model of an audit made elsewhere → the run that it is joined to.
    pub joined_runs: BTreeMap<String, String>,
    /// Rater → the language model behind it, where known.
    pub rater_models: BTreeMap<String, String>,
    /// The runs that the audited cases come from.
    pub runs: Vec<RunProvenance>,
    /// What the caller found that a reader must know before using the numbers.
    pub notes: Vec<String>,
}

/// How a batch came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BatchProvenance {
    /// Its name.
    pub name: String,
    /// Drawn here or taken over.
    pub kind: BatchKind,
    /// The seed of the draw.
    pub seed: Option<String>,
    /// The plan.
    pub plan: Option<PlanProvenance>,
    /// The frame.
    pub frame: Option<FrameProvenance>,
    /// Role (or model) → run.
    pub bindings: BTreeMap<String, String>,
    /// Batches whose cases were excluded.
    pub excluded: Vec<String>,
    /// When it was made (UTC, RFC 3339).
    pub created_at: String,
    /// The command line that made it.
    pub command: String,
    /// Rounds, unusable cases and replacements.
    pub sampling: SamplingRecord,
}

/// Drawn here or made elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BatchKind {
    /// Drawn by this program from a frame that it knows.
    Drawn,
    /// Taken over from an audit made elsewhere.
    Imported,
}

impl BatchKind {
    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::Imported => "imported",
        }
    }
}

/// The plan of a draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanProvenance {
    /// Its name.
    pub name: String,
    /// SHA-256 of its canonical bytes.
    pub digest: String,
}

/// The frame of a draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FrameProvenance {
    /// SHA-256 of its canonical bytes.
    pub digest: String,
    /// Cases that could be drawn.
    pub size: u64,
}

/// The rubric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RubricProvenance {
    /// Its name.
    pub id: String,
    /// SHA-256 of its canonical bytes.
    pub digest: String,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunProvenance {
    /// Its name.
    pub name: String,
    /// The model.
    pub model: String,
    /// The condition.
    pub condition: String,
    /// SHA-256 of its result files.
    pub results: Vec<String>,
    /// The domain of a run of τ²-bench.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Did the benchmark keep what the model wrote beside its calls? `None`: not known.
    pub text_saved: Option<bool>,
}
