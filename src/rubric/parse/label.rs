//! Reads the labels of a rubric.

use std::collections::{BTreeMap, BTreeSet};

use toml::de::DeValue;

use super::duplicate;
use super::fields::{Fields, Located};
use crate::model::{Category, LabelId, StratumId};
use crate::rubric::problem::{ProblemKind, Problems};
use crate::rubric::value::{check_value, choice_key, is_reserved_answer};
use crate::rubric::{AppliesTo, Choice, Example, Label, LabelKind, NaPolicy, ReadingOfLabel};

/// Column names of the exchange formats, which a label therefore cannot have (letter case ignored).
const RESERVED: [&str; 18] = [
    "batch",
    "rubric",
    "rubric_digest",
    "rater",
    "adjudicator",
    "case",
    "case_digest",
    "category",
    "stratum",
    "case_text",
    "label",
    "kind",
    "item_digest",
    "left_value",
    "right_value",
    "value",
    "note",
    "question",
];

pub(super) fn labels(top: &mut Fields<'_, '_>, problems: &mut Problems<'_>) -> Option<Vec<Label>> {
    let Some(tables) = top.tables("labels", "label", problems) else {
        top.missing_if_absent("labels", problems);
        return None;
    };
    let wanted = tables.len();
    let mut found: Vec<Label> = Vec::new();
    let mut seen = BTreeSet::new();
    for mut table in tables {
        let id = id(&mut table, problems);
        if let Some(id) = &id {
            table.place = format!("label {}", id.value);
            if !seen.insert(id.value.as_str().to_lowercase()) {
                let name = Located { offset: id.offset, value: id.value.to_string() };
                duplicate("label", &name, "the rubric (letter case ignored)", problems);
            }
        }
        found.extend(label(table, id.map(|id| id.value), problems));
    }
    (found.len() == wanted && seen.len() == wanted).then_some(found)
}

fn id(table: &mut Fields<'_, '_>, problems: &mut Problems<'_>) -> Option<Located<LabelId>> {
    let text = table.text("id", problems)?;
    let lower = text.value.to_lowercase();
    if RESERVED.contains(&lower.as_str()) || lower.ends_with("_rationale") {
        let message = format!("a label cannot be called {:?}: a column of the rating sheets has this name", text.value);
        problems.add(text.offset, ProblemKind::Contradiction(message), None);
        return None;
    }
    let plain = text.value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if !plain || !text.value.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let message = format!("{:?} is no label id", text.value);
        let hint = "a letter, then letters, digits, '-', '_' and '.'".to_owned();
        problems.add(text.offset, ProblemKind::Contradiction(message), Some(hint));
        return None;
    }
    match LabelId::parse(&text.value) {
        Ok(id) => Some(Located { offset: text.offset, value: id }),
        Err(error) => {
            problems.add(text.offset, ProblemKind::BadName(error), None);
            None
        }
    }
}

fn label(mut table: Fields<'_, '_>, id: Option<LabelId>, problems: &mut Problems<'_>) -> Option<Label> {
    let title = table.text("title", problems);
    let question = table.text("question", problems);
    let kind = kind(&mut table, problems);
    let applies = applies(&mut table, problems);
    let na = table.word("na", NaPolicy::ALL, NaPolicy::as_str, problems);
    let may_cannot_judge = table.boolean("may_cannot_judge", problems);
    let asked = table.boolean_or("asked", true, problems);
    let steps = table.texts("steps", problems).unwrap_or_default();
    let readings = readings(&mut table, problems);
    let examples = table.tables("examples", "example", problems).unwrap_or_default();
    if let (Some(applies), Some(na)) = (&applies, na) {
        na_fits(&table, applies, na, problems);
    }
    let label = (|| {
        Some(Label {
            id: id?,
            title: title?.value,
            kind: kind?,
            question: question?.value,
            applies: applies?,
            na: na?,
            asked: asked?,
            may_cannot_judge: may_cannot_judge?,
            steps: steps.into_iter().map(|text| text.value).collect(),
            readings,
            examples: Vec::new(),
        })
    })();
    table.finish(problems);
    let mut label = label?;
    label.examples = examples.into_iter().filter_map(|table| example(table, &label, problems)).collect();
    Some(label)
}

fn kind(table: &mut Fields<'_, '_>, problems: &mut Problems<'_>) -> Option<LabelKind> {
    let kind = table.word("kind", &["binary", "choice", "choices"], |word| word, problems);
    let choices = table.tables("choices", "choice", problems);
    match (kind?, choices) {
        ("choice", Some(tables)) => choices_of(table, tables, false, problems).map(LabelKind::Choice),
        ("choices", Some(tables)) => choices_of(table, tables, true, problems).map(LabelKind::Choices),
        ("choice" | "choices", None) => {
            table.missing_if_absent("choices", problems);
            None
        }
        (_, Some(_)) => {
            let message = format!("{} is binary and cannot have choices", table.place);
            let hint = "a binary label has the values 0 and 1; for others use kind = \"choice\"".to_owned();
            problems.add(table.offset, ProblemKind::Contradiction(message), Some(hint));
            None
        }
        (_, None) => Some(LabelKind::Binary),
    }
}

/// The values of a choice, or those of a set (`several`), where a value may also need an event or stand alone.
fn choices_of(
    label: &Fields<'_, '_>,
    tables: Vec<Fields<'_, '_>>,
    several: bool,
    problems: &mut Problems<'_>,
) -> Option<Vec<Choice>> {
    let count = tables.len();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut choices = Vec::new();
    for (index, mut table) in tables.into_iter().enumerate() {
        let (id, title, help) =
            (table.text("id", problems), table.text("title", problems), table.text("help", problems));
        for name in [&id, &title].into_iter().flatten() {
            // A rater may write either, so neither may stand for two values.
            if names.insert(choice_key(&name.value), index).is_some_and(|other| other != index) {
                duplicate("value", name, &label.place, problems);
            }
        }
        if let Some(id) = &id {
            let plain = id.value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
            let letter_first = id.value.starts_with(|c: char| c.is_ascii_lowercase());
            if !plain || !letter_first || is_reserved_answer(&id.value) {
                let message = format!("{:?} cannot be a value of {}", id.value, label.place);
                let hint = "a lower-case letter, then lower-case letters, digits and '_'; not n.a. or cannot_judge";
                problems.add(id.offset, ProblemKind::Contradiction(message), Some(hint.to_owned()));
            }
        }
        let needs = if several { table.optional_text("needs", problems).map(|text| text.value) } else { None };
        let alone = if several { table.boolean_or("alone", false, problems) } else { Some(false) };
        table.finish(problems);
        if let (Some(id), Some(title), Some(help), Some(alone)) = (id, title, help, alone) {
            choices.push(Choice { id: id.value, title: title.value, help: help.value, needs, alone });
        }
    }
    if count == 1 {
        let message = format!("{} has one choice only", label.place);
        problems.add(label.offset, ProblemKind::Contradiction(message), Some("give at least two".to_owned()));
    }
    (choices.len() == count).then_some(choices)
}

fn applies(table: &mut Fields<'_, '_>, problems: &mut Problems<'_>) -> Option<AppliesTo> {
    let Some(value) = table.raw("applies") else {
        table.missing("applies", problems);
        return None;
    };
    let place = format!("\"applies\" of {}", table.place);
    match value.get_ref() {
        DeValue::String(text) if text == "all" => Some(AppliesTo::default()),
        DeValue::Table(inner) => {
            let mut inner = Fields::new(place, value.span().start, inner);
            let categories = inner.texts("categories", problems).map(|words| {
                let found = words.iter().filter_map(|word| {
                    inner.known_word("categories", word, &Category::EVERY, Category::as_str, problems)
                });
                found.collect::<BTreeSet<_>>()
            });
            let strata = inner.texts("strata", problems).map(|words| {
                let found = words.iter().filter_map(|word| match StratumId::parse(&word.value) {
                    Ok(id) => Some(id),
                    Err(error) => {
                        problems.add(word.offset, ProblemKind::BadName(error), None);
                        None
                    }
                });
                found.collect::<BTreeSet<_>>()
            });
            let when = inner.optional_text("when", problems).map(|text| text.value);
            inner.finish(problems);
            Some(AppliesTo { categories, strata, when })
        }
        _ => {
            table.wrong_type("applies", "\"all\" or a table with categories, strata or when", value, problems);
            None
        }
    }
}

/// `na` says in one word what `applies` says in full; a file in which they differ is a mistake.
fn na_fits(table: &Fields<'_, '_>, applies: &AppliesTo, na: NaPolicy, problems: &mut Problems<'_>) {
    let structured = applies.categories.is_some() || applies.strata.is_some();
    let expected = match (structured, applies.when.is_some()) {
        (_, true) => NaPolicy::Rater,
        (true, false) => NaPolicy::Derived,
        (false, false) => NaPolicy::Never,
    };
    if na != expected {
        let message = format!(
            "{} has na = {:?}, but its \"applies\" makes it {expected:?}",
            table.place,
            na.as_str(),
            expected = expected.as_str()
        );
        let hint = "never: applies to all; derived: by categories or strata; rater: with a \"when\"".to_owned();
        problems.add(table.offset, ProblemKind::Contradiction(message), Some(hint));
    }
}

fn readings(table: &mut Fields<'_, '_>, problems: &mut Problems<'_>) -> Vec<ReadingOfLabel> {
    let Some(tables) = table.tables("readings", "reading", problems) else { return Vec::new() };
    let mut found: Vec<ReadingOfLabel> = Vec::new();
    let mut complete = true;
    for mut reading in tables {
        let (id, text, used) =
            (reading.text("id", problems), reading.text("text", problems), reading.boolean("used", problems));
        reading.finish(problems);
        let (Some(id), Some(text), Some(used)) = (id, text, used) else {
            complete = false;
            continue;
        };
        if found.iter().any(|other| other.id == id.value) {
            duplicate("reading", &id, &table.place, problems);
        }
        found.push(ReadingOfLabel { id: id.value, text: text.value, used });
    }
    let used = found.iter().filter(|reading| reading.used).count();
    if complete && used != 1 {
        let message = format!("{} has {used} readings in use, not one", table.place);
        problems.add(
            table.offset,
            ProblemKind::Contradiction(message),
            Some("set used = true on one of them".to_owned()),
        );
    }
    found
}

fn example(mut table: Fields<'_, '_>, label: &Label, problems: &mut Problems<'_>) -> Option<Example> {
    let (case, answer, why) =
        (table.text("case", problems), table.text("answer", problems), table.text("why", problems));
    table.finish(problems);
    let answer = answer?;
    let read = check_value(label, &answer.value).ok().filter(|read| read.mapped_from.is_none());
    let Some(value) = read.and_then(|read| read.value) else {
        let kind = ProblemKind::NoSuchValue {
            label: label.id.to_string(),
            value: answer.value.clone(),
            place: table.place.clone(),
        };
        problems.add(
            answer.offset,
            kind,
            Some(format!("answers are {}", crate::rubric::value::allowed(label).join(", "))),
        );
        return None;
    };
    Some(Example { case: case?.value, answer: value, why: why?.value })
}
