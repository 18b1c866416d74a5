//! From a plan file to a checked [`Plan`]: every complaint has its line, its column and a hint.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;

use super::error::line_and_column;
use super::raw::{Names, RawPlan, RawStratum};
use super::{Method, Plan, PlanError, Problem, Role, Stratum};
use super::{cells, filter};
use crate::model::{RunName, Seed, StratumId};

/// The most strata that a plan can have.
const MOST_STRATA: usize = 10_000;

impl Plan {
    /// Reads a plan; `file` is only used to say where an error is.
    ///
    /// # Errors
    /// The first problem of the file, with line and column.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let source = Source { file, text };
        let raw: RawPlan = toml::from_str(text).map_err(|error| {
            source.error(&error.span().unwrap_or(0..0), Problem::Toml(error.message().trim().to_owned()))
        })?;
        source.plan(raw)
    }
}

/// The file being read: what errors point into.
pub(super) struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

/// What the strata of one plan are checked against.
pub(super) struct Context<'a> {
    pub source: Source<'a>,
    pub method: Method,
    pub roles: BTreeSet<Role>,
    pub pairs: BTreeMap<Role, Role>,
}

impl Source<'_> {
    pub(super) fn error(&self, span: &Range<usize>, problem: Problem) -> PlanError {
        let (line, column) = line_and_column(self.text, span.start);
        PlanError { file: self.file.to_owned(), line, column, problem }
    }

    fn plan(self, raw: RawPlan) -> Result<Plan, PlanError> {
        let id = self.name(&raw.id, StratumId::parse)?;
        let seed = raw.seed.as_ref().map(|seed| self.name(seed, Seed::parse)).transpose()?;
        let method = self.method(raw.allocation.as_ref())?;
        let total = self.positive("total", raw.total.as_ref())?;
        let minimum = self.positive("minimum", raw.minimum.as_ref())?;
        self.check_sharing(method, raw.total.as_ref(), raw.minimum.as_ref(), raw.allocation.as_ref())?;

        let mut roles = BTreeMap::new();
        for (role, meaning) in &raw.roles {
            roles.insert(self.role(role)?, meaning.get_ref().clone());
        }
        let mut runs = BTreeMap::new();
        for (role, run) in &raw.runs {
            let role = self.role(role)?;
            roles.entry(role.clone()).or_default();
            runs.insert(role, self.name(run, RunName::parse)?);
        }
        let known: BTreeSet<Role> = roles.keys().cloned().collect();
        let pairs = self.pairs(&raw.pairs, &known)?;

        let context = Context { source: self, method, roles: known, pairs };
        let strata = context.strata(raw.stratum, raw.cells)?;
        let Context { pairs, .. } = context;
        Ok(Plan { id: id.into(), title: raw.title, seed, method, total, minimum, roles, runs, pairs, strata })
    }

    fn method(&self, word: Option<&Spanned<String>>) -> Result<Method, PlanError> {
        let Some(word) = word else { return Ok(Method::Fixed) };
        Method::parse(word.get_ref()).ok_or_else(|| {
            let known = Method::ALL.iter().map(ToString::to_string).collect();
            let value = word.get_ref().clone();
            self.error(&word.span(), Problem::UnknownWord { what: "way of allocation", value, known })
        })
    }

    fn check_sharing(
        &self,
        method: Method,
        total: Option<&Spanned<u64>>,
        minimum: Option<&Spanned<u64>>,
        word: Option<&Spanned<String>>,
    ) -> Result<(), PlanError> {
        if method == Method::Fixed {
            for (key, value) in [("total", total), ("minimum", minimum)] {
                if let Some(value) = value {
                    return Err(self.error(&value.span(), Problem::Meaningless { key, method: "fixed" }));
                }
            }
        } else if total.is_none() {
            let span = word.map_or(0..0, Spanned::span);
            return Err(self.error(&span, Problem::NoTotal { method: method.as_str() }));
        }
        Ok(())
    }

    fn pairs(&self, raw: &Names, known: &BTreeSet<Role>) -> Result<BTreeMap<Role, Role>, PlanError> {
        let mut pairs = BTreeMap::new();
        for (first, second) in raw {
            let baseline = self.known_role(first.get_ref(), &first.span(), known)?;
            let other = self.known_role(second.get_ref(), &second.span(), known)?;
            if baseline == other {
                return Err(self.error(&second.span(), Problem::SelfPair { role: baseline.into() }));
            }
            pairs.insert(baseline, other);
        }
        Ok(pairs)
    }

    pub(super) fn positive(&self, key: &'static str, value: Option<&Spanned<u64>>) -> Result<Option<u64>, PlanError> {
        match value {
            Some(value) if *value.get_ref() == 0 => Err(self.error(&value.span(), Problem::Zero { key })),
            other => Ok(other.map(|value| *value.get_ref())),
        }
    }

    pub(super) fn name<T>(
        &self,
        text: &Spanned<String>,
        parse: impl Fn(&str) -> Result<T, crate::model::IdError>,
    ) -> Result<T, PlanError> {
        parse(text.get_ref()).map_err(|error| self.error(&text.span(), error.into()))
    }

    fn role(&self, text: &Spanned<String>) -> Result<Role, PlanError> {
        Role::parse(text.get_ref()).map_err(|error| self.error(&text.span(), error.into()))
    }

    pub(super) fn known_role(
        &self,
        text: &str,
        span: &Range<usize>,
        known: &BTreeSet<Role>,
    ) -> Result<Role, PlanError> {
        let role = Role::parse(text).map_err(|error| self.error(span, error.into()))?;
        if known.contains(&role) {
            return Ok(role);
        }
        let known = known.iter().map(ToString::to_string).collect();
        Err(self.error(span, Problem::UnknownRole { role: role.into(), known }))
    }
}

impl Context<'_> {
    /// All strata in the order of the file, written ones and cells mixed as they stand there.
    fn strata(
        &self,
        written: Vec<Spanned<RawStratum>>,
        tables: Vec<Spanned<super::raw::RawCells>>,
    ) -> Result<Vec<Stratum>, PlanError> {
        let mut placed: Vec<(usize, Range<usize>, Vec<Stratum>)> = Vec::new();
        for raw in written {
            let (start, raw) = (raw.span().start, raw.into_inner());
            let span = raw.id.span();
            placed.push((start, span, vec![self.stratum(raw)?]));
        }
        for raw in tables {
            let (start, raw) = (raw.span().start, raw.into_inner());
            let span = raw.id.span();
            placed.push((start, span, cells::expand(self, &raw, MOST_STRATA)?));
        }
        placed.sort_by_key(|(start, ..)| *start);

        let mut seen = BTreeSet::new();
        let mut strata: Vec<Stratum> = Vec::new();
        for (_, span, group) in placed {
            for stratum in group {
                if !seen.insert(stratum.id.clone()) {
                    return Err(self.source.error(&span, Problem::DuplicateStratum { id: stratum.id.into() }));
                }
                strata.push(stratum);
            }
        }
        if strata.is_empty() {
            return Err(self.source.error(&(0..0), Problem::NoStrata));
        }
        Ok(strata)
    }

    fn stratum(&self, raw: RawStratum) -> Result<Stratum, PlanError> {
        let id = self.source.name(&raw.id, StratumId::parse)?;
        if let Some(text) = raw.where_sql.as_ref().filter(|text| text.get_ref().trim().is_empty()) {
            return Err(self.source.error(&text.span(), Problem::Empty { key: "where" }));
        }
        Ok(Stratum {
            quota: self.quota(raw.quota.as_ref(), &raw.id)?,
            minimum: self.minimum(raw.minimum.as_ref())?,
            rate_guess: self.rate(raw.rate_guess.as_ref())?,
            id,
            title: raw.title,
            priority: raw.priority,
            optional: raw.optional,
            filter: filter::predicate(self, raw.filter.as_ref())?,
            where_sql: raw.where_sql.map(Spanned::into_inner),
        })
    }

    /// A transition needs runs that have a second condition.
    pub(super) fn check_pairs(&self, roles: &BTreeSet<Role>, span: &Range<usize>) -> Result<(), PlanError> {
        match roles.iter().find(|role| !self.pairs.contains_key(role)) {
            Some(role) => Err(self.source.error(span, Problem::NoPair { role: role.to_string() })),
            None => Ok(()),
        }
    }

    /// The quota, which must be there exactly where the method is fixed.
    pub(super) fn quota(&self, quota: Option<&Spanned<u64>>, id: &Spanned<String>) -> Result<Option<u64>, PlanError> {
        match (self.method, quota) {
            (Method::Fixed, None) => {
                Err(self.source.error(&id.span(), Problem::NoQuota { stratum: id.get_ref().clone() }))
            }
            (Method::Fixed, quota) => self.source.positive("quota", quota),
            (_, None) => Ok(None),
            (method, Some(quota)) => {
                let problem = Problem::Meaningless { key: "quota", method: method.as_str() };
                Err(self.source.error(&quota.span(), problem))
            }
        }
    }

    pub(super) fn minimum(&self, minimum: Option<&Spanned<u64>>) -> Result<Option<u64>, PlanError> {
        match minimum {
            Some(value) if self.method == Method::Fixed => {
                Err(self.source.error(&value.span(), Problem::Meaningless { key: "minimum", method: "fixed" }))
            }
            other => self.source.positive("minimum", other),
        }
    }

    pub(super) fn rate(&self, rate: Option<&Spanned<f64>>) -> Result<Option<f64>, PlanError> {
        let Some(rate) = rate else { return Ok(None) };
        let value = *rate.get_ref();
        if self.method != Method::Neyman {
            let problem = Problem::Meaningless { key: "rate_guess", method: self.method.as_str() };
            return Err(self.source.error(&rate.span(), problem));
        }
        if value > 0.0 && value < 1.0 {
            return Ok(Some(value));
        }
        Err(self.source.error(&rate.span(), Problem::Rate { value: value.to_string() }))
    }
}
