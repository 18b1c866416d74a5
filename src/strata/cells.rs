//! `[[cells]]`: one stratum per combination of model × category × verdict × GAR, without writing each.
//!
//! `by` lists the dimensions to split by (all four by default; `model` only where runs or models are listed). A
//! dimension that is listed but not split by only restricts. The ids are the table's id and a number: raters see a case's
//! stratum, and an id that names verdict or GAR would tell them what the metric says. The titles, which they do not see, say it.

use std::collections::BTreeSet;

use toml::Spanned;

use super::filter;
use super::parse::Context;
use super::predicate::verdict_word;
use super::raw::{RawCells, Words};
use super::{PlanError, Predicate, Problem, Role, Stratum};
use crate::model::{Category, StratumId, Verdict};

/// One value of one dimension: how a title writes it, and what it asks of a case.
#[derive(Clone)]
struct Value {
    title: String,
    predicate: Predicate,
}

impl Value {
    fn new(title: &str, predicate: Predicate) -> Self {
        Self { title: title.to_owned(), predicate }
    }
}

/// The strata of a table of cells, the last dimension changing fastest.
pub(super) fn expand(context: &Context<'_>, raw: &RawCells, limit: usize) -> Result<Vec<Stratum>, PlanError> {
    let source = &context.source;
    source.name(&raw.id, StratumId::parse)?;
    let (dimensions, mut common) = dimensions(context, raw)?;
    if raw.filter.is_some() {
        common.push(filter::predicate(context, raw.filter.as_ref())?);
    }
    let quota = context.quota(raw.quota.as_ref(), &raw.id)?;
    let minimum = context.minimum(raw.minimum.as_ref())?;
    let rate_guess = context.rate(raw.rate_guess.as_ref())?;

    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for values in dimensions {
        if rows.len().saturating_mul(values.len()) > limit {
            let problem = Problem::TooManyCells { id: raw.id.get_ref().clone(), limit };
            return Err(source.error(&raw.id.span(), problem));
        }
        rows = rows
            .iter()
            .flat_map(|row| values.iter().map(|value| row.iter().chain([value]).cloned().collect()))
            .collect();
    }
    rows.into_iter()
        .enumerate()
        .map(|(number, row)| {
            let id = format!("{}-{:02}", raw.id.get_ref(), number + 1);
            let titles: Vec<&str> = row.iter().map(|value| value.title.as_str()).collect();
            let id = StratumId::parse(&id).map_err(|error| source.error(&raw.id.span(), error.into()))?;
            let parts = common.iter().cloned().chain(row.iter().map(|value| value.predicate.clone())).collect();
            Ok(Stratum {
                id,
                title: format!("{}: {}", raw.title, titles.join(", ")),
                quota,
                minimum,
                rate_guess,
                priority: raw.priority,
                optional: raw.optional,
                filter: Predicate::All(parts),
                where_sql: None,
            })
        })
        .collect()
}

/// The values per dimension to split by, and the conditions common to all cells.
fn dimensions(context: &Context<'_>, raw: &RawCells) -> Result<(Vec<Vec<Value>>, Vec<Predicate>), PlanError> {
    let by = split_by(context, raw)?;
    let mut split = Vec::new();
    let mut common = Vec::new();

    if let Some(words) = &raw.run {
        let roles = filter::roles(context, words)?;
        if let Some(transition) = raw.filter.as_ref().and_then(|filter| filter.get_ref().transition.as_ref()) {
            context.check_pairs(&roles, &transition.span())?;
        }
        if by.contains("model") {
            split.push(roles.iter().map(run_value).collect());
        } else {
            common.push(Predicate::Run(roles));
        }
    }
    if let Some(words) = &raw.model {
        let models = filter::texts(context, "model", words)?;
        // With runs listed too, the runs are the dimension and the models restrict.
        if by.contains("model") && raw.run.is_none() {
            split.push(models.iter().map(|model| model_value(model)).collect());
        } else {
            common.push(Predicate::Model(models));
        }
    }
    let categories = raw.category.as_ref().map(|words| filter::categories(context, words)).transpose()?;
    if by.contains("category") {
        let list = categories.unwrap_or_else(|| Category::ALL.to_vec());
        split.push(list.into_iter().map(category_value).collect());
    } else if let Some(list) = categories {
        common.push(Predicate::Category(list.into_iter().collect()));
    }
    let verdicts = raw.verdict.as_ref().map(|words| filter::verdicts(context, words)).transpose()?;
    if by.contains("verdict") {
        let list = verdicts.unwrap_or_else(|| vec![Some(Verdict::Pass), Some(Verdict::Fail)]);
        split.push(list.into_iter().map(verdict_value).collect());
    } else if let Some(list) = verdicts {
        common.push(Predicate::Verdict(list.into_iter().collect()));
    }
    if by.contains("gar") {
        let list = raw.gar.map_or_else(|| vec![true, false], |wanted| vec![wanted]);
        split.push(list.into_iter().map(gar_value).collect());
    } else if let Some(wanted) = raw.gar {
        common.push(Predicate::Gar(wanted));
    }
    Ok((split, common))
}

fn split_by<'a>(context: &Context<'_>, raw: &'a RawCells) -> Result<BTreeSet<&'a str>, PlanError> {
    const KNOWN: [&str; 4] = ["model", "category", "verdict", "gar"];
    let named = raw.run.is_some() || raw.model.is_some();
    let Some(by) = &raw.by else {
        return Ok(KNOWN.into_iter().filter(|dimension| *dimension != "model" || named).collect());
    };
    check_by(context, by, &KNOWN)?;
    let by_set: BTreeSet<&str> = by.get_ref().0.iter().map(String::as_str).collect();
    if by_set.contains("model") && !named {
        return Err(context.source.error(&by.span(), Problem::NoModels));
    }
    Ok(by_set)
}

fn check_by(context: &Context<'_>, by: &Spanned<Words>, known: &[&str]) -> Result<(), PlanError> {
    if by.get_ref().0.is_empty() {
        return Err(context.source.error(&by.span(), Problem::Empty { key: "by" }));
    }
    match by.get_ref().0.iter().find(|word| !known.contains(&word.as_str())) {
        None => Ok(()),
        Some(word) => {
            let known = known.iter().map(|word| (*word).to_owned()).collect();
            let problem = Problem::UnknownWord { what: "dimension of cells", value: word.clone(), known };
            Err(context.source.error(&by.span(), problem))
        }
    }
}

fn run_value(role: &Role) -> Value {
    Value::new(role.as_str(), Predicate::Run(BTreeSet::from([role.clone()])))
}

fn model_value(model: &str) -> Value {
    Value::new(model, Predicate::Model(BTreeSet::from([model.to_owned()])))
}

fn category_value(category: Category) -> Value {
    Value::new(category.as_str(), Predicate::Category(BTreeSet::from([category])))
}

fn verdict_value(verdict: Option<Verdict>) -> Value {
    Value::new(verdict_word(verdict), Predicate::Verdict(BTreeSet::from([verdict])))
}

fn gar_value(wanted: bool) -> Value {
    Value::new(if wanted { "gold action seen" } else { "gold action not seen" }, Predicate::Gar(wanted))
}
