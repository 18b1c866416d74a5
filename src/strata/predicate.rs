//! Predicates: which cases a stratum wants, as a tree that needs no database to be evaluated.
//!
//! `R` is how a run is named: a [`Role`] in a plan, a [`RunName`] once the plan is bound.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use super::{FrameCase, Role};
use crate::digest::Canonical;
use crate::model::{Category, RunName, Transition, Verdict};

/// A condition on one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate<R = Role> {
    /// Every part holds; an empty list holds for every case.
    All(Vec<Self>),
    /// At least one part holds.
    Any(Vec<Self>),
    /// The part does not hold.
    Not(Box<Self>),
    /// The case belongs to one of these runs.
    Run(BTreeSet<R>),
    /// The run's model is one of these.
    Model(BTreeSet<String>),
    /// The run's condition is one of these.
    Condition(BTreeSet<String>),
    /// The case's category is one of these.
    Category(BTreeSet<Category>),
    /// The verdict is one of these; `None` stands for unscored.
    Verdict(BTreeSet<Option<Verdict>>),
    /// The verdict's change between the paired runs is one of these.
    Transition(Vec<Transition>),
    /// The case shows (or does not show) the gold action.
    Gar(bool),
    /// The case is (or is not) an inference error.
    ErrorRecord(bool),
}

impl<R: Ord + Display> Predicate<R> {
    /// Every run named anywhere in the tree.
    #[must_use]
    pub fn runs(&self) -> BTreeSet<&R> {
        let mut found = BTreeSet::new();
        self.visit(&mut |part| {
            if let Self::Run(runs) = part {
                found.extend(runs);
            }
        });
        found
    }

    /// Does the tree ask for a transition anywhere?
    #[must_use]
    pub fn has_transition(&self) -> bool {
        let mut found = false;
        self.visit(&mut |part| found |= matches!(part, Self::Transition(_)));
        found
    }

    /// Does the condition look at the automatic metric?
    pub fn has_gar(&self) -> bool {
        let mut found = false;
        self.visit(&mut |part| found |= matches!(part, Self::Gar(_)));
        found
    }

    fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
        see(self);
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.visit(see)),
            Self::Not(part) => part.visit(see),
            _ => {}
        }
    }

    /// Writes the tree's canonical form: the node's name, the number of its parts, the parts. Sets are in order of
    /// value, so two spellings of one condition (`"base"` and `["base"]`) are the same bytes.
    pub(super) fn write(&self, out: &mut Canonical) {
        match self {
            Self::All(parts) => write_tree(out, "all", parts),
            Self::Any(parts) => write_tree(out, "any", parts),
            Self::Not(part) => {
                out.push("not");
                part.write(out);
            }
            Self::Run(runs) => write_set(out, "run", runs),
            Self::Model(models) => write_set(out, "model", models),
            Self::Condition(conditions) => write_set(out, "condition", conditions),
            Self::Category(categories) => write_set(out, "category", categories.iter().map(|c| c.as_str())),
            Self::Verdict(verdicts) => write_set(out, "verdict", verdicts.iter().map(|v| verdict_word(*v))),
            Self::Transition(list) => {
                let words: BTreeSet<String> = list.iter().map(ToString::to_string).collect();
                write_set(out, "transition", &words);
            }
            Self::Gar(wanted) => write_set(out, "gar", [bool_word(*wanted)]),
            Self::ErrorRecord(wanted) => write_set(out, "error_record", [bool_word(*wanted)]),
        }
    }
}

impl Predicate<Role> {
    /// The same tree with runs for roles; the roles without a run where there are any.
    ///
    /// # Errors
    /// The roles that have no run in `bindings`.
    pub fn bind(&self, bindings: &BTreeMap<Role, RunName>) -> Result<Predicate<RunName>, BTreeSet<Role>> {
        let unbound: BTreeSet<Role> =
            self.runs().into_iter().filter(|role| !bindings.contains_key(role)).cloned().collect();
        if unbound.is_empty() { Ok(self.renamed(bindings)) } else { Err(unbound) }
    }

    fn renamed(&self, bindings: &BTreeMap<Role, RunName>) -> Predicate<RunName> {
        let each = |parts: &[Self]| parts.iter().map(|part| part.renamed(bindings)).collect();
        match self {
            Self::All(parts) => Predicate::All(each(parts)),
            Self::Any(parts) => Predicate::Any(each(parts)),
            Self::Not(part) => Predicate::Not(Box::new(part.renamed(bindings))),
            Self::Run(roles) => Predicate::Run(roles.iter().filter_map(|role| bindings.get(role)).cloned().collect()),
            Self::Model(models) => Predicate::Model(models.clone()),
            Self::Condition(conditions) => Predicate::Condition(conditions.clone()),
            Self::Category(categories) => Predicate::Category(categories.clone()),
            Self::Verdict(verdicts) => Predicate::Verdict(verdicts.clone()),
            Self::Transition(list) => Predicate::Transition(list.clone()),
            Self::Gar(wanted) => Predicate::Gar(*wanted),
            Self::ErrorRecord(wanted) => Predicate::ErrorRecord(*wanted),
        }
    }
}

impl Predicate<RunName> {
    /// Does the condition hold for a case?
    #[must_use]
    pub fn matches(&self, case: &FrameCase) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(case)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(case)),
            Self::Not(part) => !part.matches(case),
            Self::Run(runs) => runs.contains(&case.run),
            Self::Model(models) => models.contains(&case.model),
            Self::Condition(conditions) => conditions.contains(&case.condition),
            Self::Category(categories) => categories.contains(&case.category),
            Self::Verdict(verdicts) => verdicts.contains(&case.verdict),
            Self::Transition(list) => case.transition.is_some_and(|transition| list.contains(&transition)),
            Self::Gar(wanted) => case.gar_hit == *wanted,
            Self::ErrorRecord(wanted) => case.error_record == *wanted,
        }
    }
}

/// How a verdict is written in plans and reports.
pub(crate) fn verdict_word(verdict: Option<Verdict>) -> &'static str {
    verdict.map_or("UNSCORED", Verdict::as_str)
}

fn bool_word(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn write_tree<R: Ord + Display>(out: &mut Canonical, name: &str, parts: &[Predicate<R>]) {
    out.push(name);
    out.push(&parts.len().to_string());
    for part in parts {
        part.write(out);
    }
}

fn write_set<T: Display>(out: &mut Canonical, name: &str, values: impl IntoIterator<Item = T>) {
    let values: Vec<T> = values.into_iter().collect();
    out.push(name);
    out.push(&values.len().to_string());
    for value in values {
        out.push(&value.to_string());
    }
}
