//! Binding: a plan's roles meet the user's runs. What is not bound makes its strata empty, with the reason.

use std::collections::{BTreeMap, BTreeSet};

use super::{Plan, Predicate, Role, Stratum};
use crate::digest::Canonical;
use crate::model::{RunName, StratumId};

/// A plan whose roles are bound to runs, as far as they are.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundPlan {
    plan: Plan,
    bindings: BTreeMap<Role, RunName>,
    pairs: BTreeMap<RunName, RunName>,
    strata: Vec<BoundStratum>,
    order: Vec<usize>,
}

/// A stratum's condition over runs, or the roles that keep it from being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundStratum {
    /// The condition can be asked.
    Asked(Predicate<RunName>),
    /// These roles have no run.
    Unbound(BTreeSet<Role>),
}

/// Bindings that contradict the plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The plan has no such role.
    #[error("plan {plan} has no role `{role}` (it has: {})", known.join(", "))]
    UnknownRole {
        /// The plan.
        plan: String,
        /// The role.
        role: Role,
        /// The plan's roles.
        known: Vec<String>,
    },
    /// The user bound a role to a run that does not exist.
    #[error("role `{role}` is bound to run {run}, which does not exist")]
    UnknownRun {
        /// The role.
        role: Role,
        /// The run.
        run: RunName,
    },
    /// Both conditions of a pair are the same run.
    #[error("roles `{first}` and `{second}` are a pair, but both are bound to run {run}")]
    OneRunPair {
        /// The baseline role.
        first: Role,
        /// The other.
        second: Role,
        /// The run.
        run: RunName,
    },
    /// One run is the baseline of two pairs, so its cases would have two transitions.
    #[error("run {run} is the baseline of two pairs (with {first} and {second})")]
    TwoSeconds {
        /// The run.
        run: RunName,
        /// One second condition.
        first: RunName,
        /// The other.
        second: RunName,
    },
}

impl From<BindError> for crate::error::Error {
    fn from(error: BindError) -> Self {
        let message = error.to_string();
        match error {
            BindError::UnknownRole { .. } => Self::usage(message).hint("bind roles that the plan declares"),
            BindError::UnknownRun { .. } => Self::not_found(message).hint("ingest the run first, or bind another"),
            BindError::OneRunPair { .. } | BindError::TwoSeconds { .. } => {
                Self::usage(message).hint("bind each condition to a run of its own")
            }
        }
    }
}

/// Binds a plan: the user's bindings over the plan's own.
///
/// # Errors
/// A role that the plan does not declare; pairs that fall together.
pub fn bind(plan: &Plan, bindings: &BTreeMap<Role, RunName>) -> Result<BoundPlan, BindError> {
    let mut all = plan.runs.clone();
    for (role, run) in bindings {
        if !plan.roles.contains_key(role) {
            let known = plan.roles.keys().map(ToString::to_string).collect();
            return Err(BindError::UnknownRole { plan: plan.id.clone(), role: role.clone(), known });
        }
        all.insert(role.clone(), run.clone());
    }
    BoundPlan::new(plan, all)
}

/// Binds a plan among the runs that exist: one of the user's bindings to a run that does not is an error, one of the
/// plan's own leaves the role unbound.
///
/// # Errors
/// As [`bind`], and a binding of the user's to an unknown run.
pub fn bind_known(
    plan: &Plan,
    bindings: &BTreeMap<Role, RunName>,
    known: &BTreeSet<RunName>,
) -> Result<BoundPlan, BindError> {
    if let Some((role, run)) = bindings.iter().find(|(_, run)| !known.contains(run)) {
        return Err(BindError::UnknownRun { role: role.clone(), run: run.clone() });
    }
    let mut bound = bind(plan, bindings)?;
    bound.bindings.retain(|_, run| known.contains(run));
    BoundPlan::new(plan, bound.bindings)
}

impl BoundPlan {
    fn new(plan: &Plan, bindings: BTreeMap<Role, RunName>) -> Result<Self, BindError> {
        let pairs = bound_pairs(plan, &bindings)?;
        let strata = plan.strata.iter().map(|stratum| bound_stratum(plan, stratum, &bindings)).collect();
        let mut order: Vec<(i64, usize)> =
            plan.strata.iter().enumerate().map(|(index, stratum)| (stratum.priority, index)).collect();
        order.sort_unstable();
        let order = order.into_iter().map(|(_, index)| index).collect();
        Ok(Self { plan: plan.clone(), bindings, pairs, strata, order })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Every bound role with its run.
    #[must_use]
    pub fn bindings(&self) -> &BTreeMap<Role, RunName> {
        &self.bindings
    }

    /// Baseline run → second run, for the pairs whose roles are both bound.
    #[must_use]
    pub fn pairs(&self) -> &BTreeMap<RunName, RunName> {
        &self.pairs
    }

    /// The plan's strata with their bound conditions, in the order of the file.
    pub fn strata(&self) -> impl Iterator<Item = (&Stratum, &BoundStratum)> {
        self.plan.strata.iter().zip(&self.strata)
    }

    /// Indexes of the strata in the order in which they are asked: by priority, then by place in the file.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The roles that have no run.
    #[must_use]
    pub fn unbound_roles(&self) -> Vec<&Role> {
        self.plan.roles.keys().filter(|role| !self.bindings.contains_key(role)).collect()
    }

    /// Why each stratum that cannot be asked is empty.
    pub fn unbound_strata(&self) -> impl Iterator<Item = (&StratumId, String)> {
        self.strata().filter_map(|(stratum, bound)| match bound {
            BoundStratum::Asked(_) => None,
            BoundStratum::Unbound(roles) => Some((&stratum.id, unbound_reason(roles))),
        })
    }

    /// The strata that have a SQL condition, with its text: the store evaluates it.
    pub fn sql_conditions(&self) -> impl Iterator<Item = (&StratumId, &str)> {
        self.plan.strata.iter().filter_map(|stratum| Some((&stratum.id, stratum.where_sql.as_deref()?)))
    }

    /// The runs whose cases make the frame: every bound role that is not merely the second condition of a pair, and
    /// every role that a stratum names. `None` where the plan declares no role: the frame is all runs.
    #[must_use]
    pub fn frame_runs(&self) -> Option<BTreeSet<RunName>> {
        if self.plan.roles.is_empty() {
            return None;
        }
        let seconds: BTreeSet<&Role> = self.plan.pairs.values().collect();
        let named: BTreeSet<&Role> = self.plan.strata.iter().flat_map(|stratum| stratum.filter.runs()).collect();
        let in_frame =
            |role: &Role| named.contains(role) || self.plan.pairs.contains_key(role) || !seconds.contains(role);
        Some(self.bindings.iter().filter(|(role, _)| in_frame(role)).map(|(_, run)| run.clone()).collect())
    }

    /// SHA-256 over what decides which stratum owns a case: ids, conditions over runs and SQL texts, in the order in
    /// which they are asked. Quotas, titles and the seed are not part of it: a pilot and its main plan are equal here.
    #[must_use]
    pub fn assignment_digest(&self) -> String {
        let mut out = Canonical::new("assignment-1").number(self.order.len() as u64);
        let asked = self.order.iter().filter_map(|index| self.plan.strata.get(*index).zip(self.strata.get(*index)));
        for (stratum, bound) in asked {
            out = out.text(stratum.id.as_str()).optional(stratum.where_sql.as_deref());
            match bound {
                BoundStratum::Asked(predicate) => predicate.write(&mut out),
                BoundStratum::Unbound(_) => out.push("unbound"),
            }
        }
        for (first, second) in &self.pairs {
            out = out.text(first.as_str()).text(second.as_str());
        }
        out.finish()
    }
}

/// The sentence for a stratum whose roles have no run.
pub(crate) fn unbound_reason(roles: &BTreeSet<Role>) -> String {
    let names: Vec<&str> = roles.iter().map(Role::as_str).collect();
    format!("no run is bound to {} {}", if names.len() == 1 { "role" } else { "roles" }, names.join(", "))
}

fn bound_pairs(plan: &Plan, bindings: &BTreeMap<Role, RunName>) -> Result<BTreeMap<RunName, RunName>, BindError> {
    let mut pairs: BTreeMap<RunName, RunName> = BTreeMap::new();
    for (first, second) in &plan.pairs {
        let (Some(baseline), Some(other)) = (bindings.get(first), bindings.get(second)) else { continue };
        if baseline == other {
            return Err(BindError::OneRunPair { first: first.clone(), second: second.clone(), run: other.clone() });
        }
        match pairs.insert(baseline.clone(), other.clone()) {
            Some(earlier) if earlier != *other => {
                return Err(BindError::TwoSeconds { run: baseline.clone(), first: earlier, second: other.clone() });
            }
            _ => {}
        }
    }
    Ok(pairs)
}

fn bound_stratum(plan: &Plan, stratum: &Stratum, bindings: &BTreeMap<Role, RunName>) -> BoundStratum {
    let mut missing = BTreeSet::new();
    if stratum.filter.has_transition() {
        let seconds = stratum.filter.runs().into_iter().filter_map(|role| plan.pairs.get(role));
        missing.extend(seconds.filter(|role| !bindings.contains_key(role)).cloned());
    }
    match stratum.filter.bind(bindings) {
        Ok(predicate) if missing.is_empty() => BoundStratum::Asked(predicate),
        Ok(_) => BoundStratum::Unbound(missing),
        Err(roles) => BoundStratum::Unbound(missing.into_iter().chain(roles).collect()),
    }
}
