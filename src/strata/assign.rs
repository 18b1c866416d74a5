//! Assignment: which stratum owns a case. Strata are asked by priority, then by place in the file; the first match wins.

use std::collections::{BTreeMap, BTreeSet};

use super::{BoundPlan, BoundStratum, FrameCase, Predicate};
use crate::digest::Canonical;
use crate::model::{CaseIdentity, RunName, StratumId};

/// Per stratum with a SQL condition: the cases that meet it, as the store found them.
pub type SqlMatches = BTreeMap<StratumId, BTreeSet<CaseIdentity>>;

/// A SQL condition whose matching cases were not handed over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("stratum {stratum} has a SQL condition, but the cases that meet it are not known")]
pub struct MissingSqlMatches {
    /// The stratum.
    pub stratum: StratumId,
}

/// A stratum that can be asked: its index and its condition.
type Asked<'a> = (usize, &'a Predicate<RunName>);

/// Decides which stratum owns a case.
#[derive(Debug, Clone)]
pub struct Assigner<'a> {
    plan: &'a BoundPlan,
    matches: &'a SqlMatches,
    asked: Vec<Asked<'a>>,
    /// Per stratum: the cases that meet its SQL condition, if it has one.
    sql: Vec<Option<&'a BTreeSet<CaseIdentity>>>,
}

impl<'a> Assigner<'a> {
    /// An assigner for a bound plan and the results of its SQL conditions.
    ///
    /// # Errors
    /// A stratum with a SQL condition that `matches` does not know.
    pub fn new(plan: &'a BoundPlan, matches: &'a SqlMatches) -> Result<Self, MissingSqlMatches> {
        let strata: Vec<_> = plan.strata().collect();
        let mut asked = Vec::new();
        let mut sql = vec![None; strata.len()];
        for &index in plan.order() {
            let Some((stratum, BoundStratum::Asked(predicate))) = strata.get(index).copied() else { continue };
            asked.push((index, predicate));
            if stratum.where_sql.is_some() {
                let Some(set) = matches.get(&stratum.id) else {
                    return Err(MissingSqlMatches { stratum: stratum.id.clone() });
                };
                if let Some(slot) = sql.get_mut(index) {
                    *slot = Some(set);
                }
            }
        }
        Ok(Self { plan, matches, asked, sql })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &'a BoundPlan {
        self.plan
    }

    /// Indexes of every stratum that a case matches, in the order in which they are asked: the first owns the case,
    /// the others overlap with it.
    pub fn matching(&self, case: &FrameCase) -> impl Iterator<Item = usize> {
        self.matching_filters(case).filter(move |index| self.meets_sql(*index, case))
    }

    /// As [`Assigner::matching`], SQL conditions aside.
    pub(super) fn matching_filters(&self, case: &FrameCase) -> impl Iterator<Item = usize> {
        self.asked.iter().filter(move |(_, predicate)| predicate.matches(case)).map(|(index, _)| *index)
    }

    /// Does a case meet the SQL condition of a stratum, if it has one?
    pub(super) fn meets_sql(&self, stratum: usize, case: &FrameCase) -> bool {
        self.sql.get(stratum).copied().flatten().is_none_or(|set| set.contains(&case.identity))
    }

    /// The index of the stratum that owns a case; `None`: no stratum reaches it, or it can never be drawn.
    #[must_use]
    pub fn owner(&self, case: &FrameCase) -> Option<usize> {
        if case.drawable { self.matching(case).next() } else { None }
    }

    /// SHA-256 over what decides ownership, the results of SQL conditions included. Two draws with equal assignment
    /// and frame digests have the same population in every stratum.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut out = Canonical::new("assigner-1").text(&self.plan.assignment_digest());
        for (stratum, _) in self.plan.sql_conditions() {
            let cases = self.matches.get(stratum);
            out = out.text(stratum.as_str()).number(cases.map_or(0, BTreeSet::len) as u64);
            cases.into_iter().flatten().for_each(|case| out.push(case.as_str()));
        }
        out.finish()
    }
}
