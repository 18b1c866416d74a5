//! From a filter as TOML has it to a [`Predicate`]: the keys of one table must all hold.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use super::parse::Context;
use super::raw::{RawFilter, Words};
use super::{PlanError, Predicate, Problem, Role};
use crate::model::{Category, Transition, Verdict};

/// The deepest nesting of `all`, `any` and `not`.
const DEEPEST: usize = 16;

/// The predicate of a filter; no filter holds for every case.
pub(super) fn predicate(context: &Context<'_>, raw: Option<&Spanned<RawFilter>>) -> Result<Predicate, PlanError> {
    raw.map_or(Ok(Predicate::All(Vec::new())), |raw| table(context, raw, 1))
}

fn table(context: &Context<'_>, raw: &Spanned<RawFilter>, depth: usize) -> Result<Predicate, PlanError> {
    let source = &context.source;
    if depth > DEEPEST {
        return Err(source.error(&raw.span(), Problem::TooDeep { limit: DEEPEST }));
    }
    let filter = raw.get_ref();
    let mut parts = Vec::new();
    if let Some(words) = &filter.run {
        let roles = roles(context, words)?;
        if let Some(transition) = &filter.transition {
            context.check_pairs(&roles, &transition.span())?;
        }
        parts.push(Predicate::Run(roles));
    }
    if let Some(words) = &filter.model {
        parts.push(Predicate::Model(texts(context, "model", words)?));
    }
    if let Some(words) = &filter.condition {
        parts.push(Predicate::Condition(texts(context, "condition", words)?));
    }
    if let Some(words) = &filter.category {
        parts.push(Predicate::Category(categories(context, words)?.into_iter().collect()));
    }
    if let Some(words) = &filter.verdict {
        parts.push(Predicate::Verdict(verdicts(context, words)?.into_iter().collect()));
    }
    if let Some(words) = &filter.transition {
        parts.push(Predicate::Transition(transitions(context, words)?));
    }
    parts.extend(filter.gar.map(Predicate::Gar));
    parts.extend(filter.error_record.map(Predicate::ErrorRecord));
    if let Some(list) = &filter.all {
        parts.push(Predicate::All(tables(context, "all", list, depth)?));
    }
    if let Some(list) = &filter.any {
        parts.push(Predicate::Any(tables(context, "any", list, depth)?));
    }
    if let Some(inner) = &filter.not {
        parts.push(Predicate::Not(Box::new(table(context, inner, depth + 1)?)));
    }
    match parts.len() {
        // `not = {}` and `any = [{}]` are slips, not conditions; so is `filter = {}`.
        0 => Err(source.error(&raw.span(), Problem::Empty { key: "filter" })),
        1 => Ok(parts.pop().unwrap_or(Predicate::All(Vec::new()))),
        _ => Ok(Predicate::All(parts)),
    }
}

fn tables(
    context: &Context<'_>,
    key: &'static str,
    list: &Spanned<Vec<Spanned<RawFilter>>>,
    depth: usize,
) -> Result<Vec<Predicate>, PlanError> {
    if list.get_ref().is_empty() {
        return Err(context.source.error(&list.span(), Problem::Empty { key }));
    }
    list.get_ref().iter().map(|inner| table(context, inner, depth + 1)).collect()
}

/// The roles of a list, each declared by the plan.
pub(super) fn roles(context: &Context<'_>, words: &Spanned<Words>) -> Result<BTreeSet<Role>, PlanError> {
    let known = |word: &str, span: &Range<usize>| context.source.known_role(word, span, &context.roles);
    each(context, "run", words, known).map(|list| list.into_iter().collect())
}

/// Free texts, such as model names.
pub(super) fn texts(
    context: &Context<'_>,
    key: &'static str,
    words: &Spanned<Words>,
) -> Result<BTreeSet<String>, PlanError> {
    each(context, key, words, |word, _| Ok(word.to_owned())).map(|list| list.into_iter().collect())
}

/// Categories in the order written.
pub(super) fn categories(context: &Context<'_>, words: &Spanned<Words>) -> Result<Vec<Category>, PlanError> {
    each(context, "category", words, |word, span| {
        Category::parse(word).ok_or_else(|| {
            let known = Category::EVERY.iter().map(ToString::to_string).collect();
            context.source.error(span, Problem::UnknownWord { what: "category", value: word.to_owned(), known })
        })
    })
}

/// Verdicts in the order written; `UNSCORED` is the absence of one.
pub(super) fn verdicts(context: &Context<'_>, words: &Spanned<Words>) -> Result<Vec<Option<Verdict>>, PlanError> {
    each(context, "verdict", words, |word, span| {
        if word.eq_ignore_ascii_case("unscored") {
            return Ok(None);
        }
        Verdict::parse(word).map(Some).ok_or_else(|| {
            let known = ["PASS", "FAIL", "UNSCORED"].map(str::to_owned).to_vec();
            context.source.error(span, Problem::UnknownWord { what: "verdict", value: word.to_owned(), known })
        })
    })
}

fn transitions(context: &Context<'_>, words: &Spanned<Words>) -> Result<Vec<Transition>, PlanError> {
    each(context, "transition", words, |word, span| {
        Transition::parse(word).ok_or_else(|| {
            let known = ["PASS_to_PASS", "PASS_to_FAIL", "FAIL_to_PASS", "FAIL_to_FAIL"].map(str::to_owned).to_vec();
            context.source.error(span, Problem::UnknownWord { what: "transition", value: word.to_owned(), known })
        })
    })
}

fn each<T>(
    context: &Context<'_>,
    key: &'static str,
    words: &Spanned<Words>,
    read: impl Fn(&str, &Range<usize>) -> Result<T, PlanError>,
) -> Result<Vec<T>, PlanError> {
    let span = words.span();
    if words.get_ref().0.is_empty() {
        return Err(context.source.error(&span, Problem::Empty { key }));
    }
    words.get_ref().0.iter().map(|word| read(word, &span)).collect()
}
