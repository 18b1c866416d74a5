//! Reads a rubric from TOML and checks it: all problems at once, each with line, column and advice.

mod dialogue;
mod fields;
mod label;
mod rule;

use toml::de::DeTable;

use self::fields::{Fields, Located};
use super::problem::{ProblemKind, Problems, RubricError};
use super::spelling::did_you_mean;
use super::{GoldTurnRule, Label, RationaleRule, Rubric, Shown};
use crate::model::LabelId;

/// Reads a rubric.
///
/// # Errors
/// Everything that is wrong in the text, in the order of its lines.
pub fn parse(text: &str) -> Result<Rubric, RubricError> {
    let mut problems = Problems::new(text);
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let offset = error.span().map_or(0, |span| span.start);
        problems.add(offset, ProblemKind::Syntax(error.message().to_owned()), None);
    }
    // What a broken file seems to say is not worth a second list of complaints.
    if problems.len() > 0 {
        return problems.or(None);
    }
    let top = Fields::new("the rubric".to_owned(), 0, document.get_ref());
    let rubric = read(top, &mut problems);
    problems.or(rubric)
}

fn read(mut top: Fields<'_, '_>, problems: &mut Problems<'_>) -> Option<Rubric> {
    let id = top.text("id", problems);
    if let Some(id) = &id {
        check_id(id, problems);
    }
    let version = top.number("version", problems);
    let title = top.text("title", problems);
    let about = top.optional_text("about", problems).map(|text| text.value).unwrap_or_default();
    let gold_turn = top.word("gold_turn", GoldTurnRule::ALL, GoldTurnRule::as_str, problems);
    let rationale = top.word("rationale", RationaleRule::ALL, RationaleRule::as_str, problems);
    let show = shown(&mut top, problems);
    let dialogue = dialogue::dialogue(&mut top, problems);
    let guidance = top.texts("guidance", problems).unwrap_or_default();
    let before = problems.len();
    let labels = label::labels(&mut top, problems);
    // Where a label is broken, who names it is not to blame: then names are not looked up.
    let known = labels.as_deref().filter(|_| problems.len() == before);
    let primary = primary(&mut top, known, problems);
    let rules = rule::rules(&mut top, known, problems);
    if let Some(labels) = known {
        rule::not_asked_follow(labels, &rules, problems);
    }
    top.finish(problems);
    Some(Rubric {
        id: id?.value,
        version: version?,
        title: title?.value,
        about,
        gold_turn: gold_turn?,
        rationale: rationale?,
        primary,
        show: show?.into_iter().collect(),
        dialogue,
        guidance: guidance.into_iter().map(|text| text.value).collect(),
        labels: labels?,
        rules,
    })
}

/// A rubric's id goes into file names and headings.
fn check_id(id: &Located<String>, problems: &mut Problems<'_>) {
    if !id.value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        let message = format!("{:?} is no rubric id", id.value);
        let hint = "letters, digits, '-', '_' and '.' only".to_owned();
        problems.add(id.offset, ProblemKind::Contradiction(message), Some(hint));
    }
}

fn shown(top: &mut Fields<'_, '_>, problems: &mut Problems<'_>) -> Option<Vec<Shown>> {
    let Some(words) = top.texts("show", problems) else {
        top.missing_if_absent("show", problems);
        return None;
    };
    let mut items: Vec<Shown> = Vec::new();
    for word in words {
        let Some(item) = top.known_word("show", &word, Shown::ALL, Shown::as_str, problems) else { continue };
        if items.contains(&item) {
            duplicate("item", &word, "\"show\"", problems);
        }
        items.push(item);
    }
    Some(items)
}

fn primary(top: &mut Fields<'_, '_>, labels: Option<&[Label]>, problems: &mut Problems<'_>) -> Vec<LabelId> {
    let mut found: Vec<LabelId> = Vec::new();
    for name in top.texts("primary", problems).unwrap_or_default() {
        let Some(label) = known_label(&name, labels, "\"primary\"", problems) else { continue };
        if found.contains(&label.id) {
            duplicate("label", &name, "\"primary\"", problems);
        }
        found.push(label.id.clone());
    }
    found
}

/// The label that a text names; a problem if there is none. `None` for `labels` means that they are not known.
fn known_label<'l>(
    name: &Located<String>,
    labels: Option<&'l [Label]>,
    place: &str,
    problems: &mut Problems<'_>,
) -> Option<&'l Label> {
    let labels = labels?;
    let found = labels.iter().find(|label| label.id.as_str() == name.value);
    if found.is_none() {
        let kind = ProblemKind::NoSuchLabel { name: name.value.clone(), place: place.to_owned() };
        let hint = did_you_mean(&name.value, labels.iter().map(|label| label.id.as_str()));
        problems.add(name.offset, kind, Some(hint));
    }
    found
}

fn duplicate(what: &'static str, name: &Located<String>, place: &str, problems: &mut Problems<'_>) {
    let kind = ProblemKind::Duplicate { what, name: name.value.clone(), place: place.to_owned() };
    problems.add(name.offset, kind, Some("remove one of them".to_owned()));
}

#[cfg(test)]
mod tests;
