//! What a draw is, once made: strata with their numbers, cases with their probabilities, warnings.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use super::FrameReport;
use crate::model::{BatchName, CaseIdentity, RunName, Seed, StratumId};
use crate::strata::{Method, Role};

/// A drawn sample with everything needed to repeat it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Draw {
    /// The plan's id.
    pub plan: String,
    /// SHA-256 of the plan.
    pub plan_digest: String,
    /// SHA-256 over what decides ownership; equal for a pilot and its main plan.
    pub assignment_digest: String,
    /// SHA-256 of the frame.
    pub frame_digest: String,
    /// The seed.
    pub seed: Seed,
    /// How the sample was shared out.
    pub allocation: Method,
    /// The runs that the plan's roles stood for.
    pub bindings: BTreeMap<Role, RunName>,
    /// Earlier batches whose cases could not be drawn.
    pub excluded: Vec<ExcludedBatch>,
    /// The strata in the plan's order.
    pub strata: Vec<StratumDraw>,
    /// The drawn cases: strata in the plan's order, within a stratum by (ticket, identity).
    pub cases: Vec<DrawnCase>,
    /// What the plan reaches of the frame.
    pub frame: FrameReport,
    /// What the user should know.
    pub warnings: Vec<Warning>,
}

/// An earlier batch and its part in this draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExcludedBatch {
    /// The batch.
    pub batch: BatchName,
    /// Its cases.
    pub cases: u64,
    /// Those of them that are in this frame.
    pub in_frame: u64,
    /// Was it drawn from the same strata of the same frame?
    pub same_design: bool,
}

/// A stratum and what was drawn from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StratumDraw {
    /// Short name.
    pub id: StratumId,
    /// Title for people.
    pub title: String,
    /// Drawable cases that it owns, excluded ones among them.
    #[serde(rename = "N")]
    pub population: u64,
    /// Cases drawn.
    pub n: u64,
    /// Cases wanted.
    pub quota: u64,
    /// Cases drawn beyond the quota, in place of unusable ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub replacements: u64,
    /// Cases wanted and not there: quota + replacements − n.
    pub shortfall: u64,
    /// Owned cases that earlier batches took.
    pub excluded: u64,
    /// Owned cases that later strata match too.
    pub overlap: u64,
    /// The chance of each of its cases that earlier batches left, given those batches: n / (N − excluded).
    pub inclusion_probability: Option<f64>,
    /// The chance of each of its cases before anything was drawn, where that is known.
    pub unconditional_probability: Option<f64>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconditional_reason: Option<String>,
    /// Why the stratum is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_reason: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl StratumDraw {
    /// Cases that could be drawn: N less the excluded ones.
    #[must_use]
    pub fn available(&self) -> u64 {
        self.population.saturating_sub(self.excluded)
    }
}

/// A drawn case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DrawnCase {
    /// `run/case_id`.
    pub case: CaseIdentity,
    /// The stratum that it was drawn for.
    pub stratum: StratumId,
    /// SHA-256 of `seed:case`, 64 lower-case hex digits.
    pub ticket: String,
    /// Place among the stratum's cases that could be drawn, from 1.
    pub position: u64,
    /// Chance of the case to be drawn, given the earlier batches.
    pub inclusion_probability: f64,
    /// Chance of the case to be drawn before anything was drawn; `None`: see the stratum's `unconditional_reason`.
    pub unconditional_probability: Option<f64>,
}

/// Something about a draw that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A stratum has fewer cases than wanted.
    Short {
        /// The stratum.
        stratum: StratumId,
        /// Cases wanted.
        quota: u64,
        /// Cases drawn: all that could be.
        drawn: u64,
        /// Cases that it owns.
        population: u64,
        /// Those that earlier batches took.
        excluded: u64,
    },
    /// A stratum without any case to draw.
    Empty {
        /// The stratum.
        stratum: StratumId,
        /// Why.
        reason: String,
    },
    /// A stratum that has cases, but that the allocation gave none.
    NotSampled {
        /// The stratum.
        stratum: StratumId,
        /// Cases that it owns.
        population: u64,
    },
    /// Cases of the frame that can never be drawn.
    Undrawable {
        /// How many.
        cases: u64,
    },
    /// The strata have fewer cases than the total to share.
    TotalShort {
        /// The total of the plan.
        total: u64,
        /// Cases of it that no stratum has room for.
        unplaced: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { stratum, quota, drawn, population, excluded } => {
                write!(f, "stratum {stratum}: {drawn} of {quota} cases (it has {population}")?;
                if *excluded > 0 {
                    write!(f, ", {excluded} of them in earlier batches")?;
                }
                f.write_str(")")
            }
            Self::Empty { stratum, reason } => write!(f, "stratum {stratum} is empty: {reason}"),
            Self::NotSampled { stratum, population } => {
                write!(f, "stratum {stratum}: the allocation gives it none of its {population} cases")
            }
            Self::Undrawable { cases } => {
                write!(f, "{cases} cases of the frame can never be drawn (duplicate or missing ids)")
            }
            Self::TotalShort { total, unplaced } => {
                write!(f, "the strata have room for {} of {total} cases", total.saturating_sub(*unplaced))
            }
        }
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
