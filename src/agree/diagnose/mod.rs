//! Findings about agreement that a person can act on: what is the matter, how large it is, and how sure that is.
//!
//! No bare p-values: a finding states an effect with its interval, and is made only where the interval excludes what chance
//! or sameness would give. Where several candidates are looked at (strata, categories), the interval's level is raised so
//! that all of them together are wrong in 5 % of audits (Bonferroni).

mod groups;
mod odd_rater;
mod rules;
mod table;

use serde::Serialize;

pub use groups::by_group;
pub use odd_rater::odd_rater;
pub use rules::{adjudicator_all, derived_labels, mechanical};
pub use table::{table, table_named};

use super::pairs::{self, NaPolicy};
use super::{TableError, percent, sides, tails};
use crate::model::{Audit, LabelId, RaterName};

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A single category was used: nothing to correct for chance.
    OneCategory,
    /// One rater gave a single category throughout.
    ConstantRater,
    /// Perfect agreement: the interval of kappa has no width and is withheld.
    PerfectAgreement,
    /// High agreement, low kappa.
    KappaParadox,
    /// Two categories that are taken for each other more often than others.
    ConfusedPair,
    /// One rater uses a category more often than the other.
    RaterBias,
    /// Disagreement is concentrated in a stratum, category, model or family of cases.
    Concentrated,
    /// The raters dispute whether the label applies.
    OneSidedNa,
    /// The adjudicator sides with one rater.
    OneSidedAdjudicator,
    /// One of many raters agrees with the others less than these among themselves.
    OddRater,
    /// A rater's values follow from the data by rule.
    RuleFollowingRater,
    /// A label's values follow from other labels or facts.
    DerivedLabel,
    /// Both raters are one model.
    SameModel,
    /// A rater's rationales repeat from case to case.
    RepeatedRationales,
    /// Both raters give the same rationales.
    SharedRationales,
    /// The place of a case in the rater's order predicts the answer.
    OrderPredicts,
    /// The length of a case predicts the answer.
    LengthPredicts,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// The label, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What is the matter and what to do, in a few sentences.
    pub text: String,
    /// What `effect` is.
    pub measure: &'static str,
    /// Its size.
    pub effect: f64,
    /// Its interval (95 % for the finding as a whole); `None` where the sample gives none.
    pub interval: Option<[f64; 2]>,
}

impl Finding {
    /// The finding as one paragraph that names its label first.
    #[must_use]
    pub fn sentence(&self) -> String {
        match &self.label {
            Some(label) if !self.text.starts_with(label.as_str()) => format!("{label}: {}", self.text),
            _ => self.text.clone(),
        }
    }
}

/// Everything about one label: its table, then groups of cases, applicability, adjudication and mechanical raters.
///
/// # Errors
/// More cases than a table holds.
pub fn label(
    audit: &Audit,
    pair: (&RaterName, &RaterName),
    label: &LabelId,
    na: NaPolicy,
) -> Result<Vec<Finding>, TableError> {
    let pairs = pairs::of(audit, pair, label, na);
    let mut findings = table_named(&pairs.table()?, Some(label.as_str()), (pair.0.as_str(), pair.1.as_str()));
    findings.extend(by_group(&pairs, label));
    findings.extend(groups::one_sided_na(audit, pair, label));
    findings.extend(rules::adjudicator(Some(label), &sides::of(audit, pair, label), pair));
    findings.extend(mechanical(audit, pair, label));
    Ok(findings)
}

/// Everything about an audit: each label in the rubric's order, then what goes across labels.
///
/// # Errors
/// More cases than a table holds.
pub fn audit(audit: &Audit, pair: (&RaterName, &RaterName), na: NaPolicy) -> Result<Vec<Finding>, TableError> {
    let mut findings = Vec::new();
    for name in &audit.labels {
        findings.extend(label(audit, pair, name, na)?);
    }
    findings.extend(adjudicator_all(audit, pair));
    findings.extend(derived_labels(audit, pair));
    Ok(findings)
}

/// The multiple of the standard error for one of `candidates` intervals that are to hold together in 95 % of samples.
fn z_among(candidates: usize) -> f64 {
    tails::z_of_level(1.0 - 0.05 / candidates.max(1) as f64).unwrap_or(super::Z95)
}

/// Wilson's interval of a share, as limits.
fn share_limits(k: u64, n: u64, z: f64) -> Option<[f64; 2]> {
    percent::wilson(k, n, z).map(|(low, high)| [low, high])
}

/// A share as whole percent; small ones and those just below 100 with one decimal.
fn percent_text(share: f64) -> String {
    let value = 100.0 * share;
    let near_edge = (value < 2.0 && value > 0.0) || (value > 98.0 && value < 100.0);
    if near_edge { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

#[cfg(test)]
mod tests;
