//! Reads the rules of a rubric.

use std::collections::BTreeSet;

use super::fields::Fields;
use super::{duplicate, known_label};
use crate::model::{Category, Verdict};
use crate::rubric::problem::{ProblemKind, Problems};
use crate::rubric::{Label, LabelKind, Rule, RuleKind, Severity, Term};

pub(super) fn rules(top: &mut Fields<'_, '_>, labels: Option<&[Label]>, problems: &mut Problems<'_>) -> Vec<Rule> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for mut table in top.tables("rules", "rule", problems).unwrap_or_default() {
        let id = table.text("id", problems);
        if let Some(id) = &id {
            table.place = format!("rule {:?}", id.value);
            if !seen.insert(id.value.clone()) {
                duplicate("rule", id, "the rubric", problems);
            }
        }
        let severity = table.word("severity", Severity::ALL, Severity::as_str, problems);
        let because = table.text("because", problems);
        let kind = kind(&mut table, labels, problems);
        table.finish(problems);
        if let (Some(id), Some(severity), Some(because), Some(kind)) = (id, severity, because, kind) {
            found.push(Rule { id: id.value, severity, because: because.value, kind });
        }
    }
    found
}

/// A label that is not asked must follow from answers that are.
pub(super) fn not_asked_follow(labels: &[Label], rules: &[Rule], problems: &mut Problems<'_>) {
    let asked = |id: &crate::model::LabelId| labels.iter().all(|label| label.id != *id || label.asked);
    for label in labels.iter().filter(|label| !label.asked) {
        let terms = rules.iter().find_map(|rule| match &rule.kind {
            RuleKind::Equals { label: target, one_when } if *target == label.id => Some(one_when),
            _ => None,
        });
        let message = match terms {
            None => format!("label {} is not asked, but no rule says what it follows from", label.id),
            Some(terms) if terms.iter().any(|term| matches!(term, Term::Label { label, .. } if !asked(label))) => {
                format!("label {} follows from a label that is not asked itself", label.id)
            }
            Some(_) => continue,
        };
        let hint = "give a rule with \"label\" and \"one_when\", or take out asked = false".to_owned();
        problems.add(0, ProblemKind::Contradiction(message), Some(hint));
    }
}

fn kind(table: &mut Fields<'_, '_>, labels: Option<&[Label]>, problems: &mut Problems<'_>) -> Option<RuleKind> {
    let label = table.optional_text("label", problems);
    let given = terms(table, "if", labels, problems);
    let then = terms(table, "then", labels, problems);
    let one_when = terms(table, "one_when", labels, problems);
    match (given, then, label, one_when) {
        (Some(given), Some(then), None, None) => Some(RuleKind::Implies { given: given?, then: then? }),
        (None, None, Some(name), Some(one_when)) => {
            let label = known_label(&name, labels, &table.place, problems)?;
            if label.kind != LabelKind::Binary {
                let message = format!("{} sets {}, which is not binary", table.place, label.id);
                problems.add(name.offset, ProblemKind::Contradiction(message), None);
            }
            let one_when = one_when?;
            if one_when.iter().any(|term| matches!(term, Term::Label { label: other, .. } if *other == label.id)) {
                let message = format!("{} makes {} depend on itself", table.place, label.id);
                problems.add(name.offset, ProblemKind::Contradiction(message), None);
            }
            Some(RuleKind::Equals { label: label.id.clone(), one_when })
        }
        _ => {
            let message = format!("{} is neither an implication nor an equality", table.place);
            let hint = "give \"if\" and \"then\", or \"label\" and \"one_when\"".to_owned();
            problems.add(table.offset, ProblemKind::Contradiction(message), Some(hint));
            None
        }
    }
}

/// The terms of one key: `None` where the key is absent, `Some(None)` where it holds a mistake.
#[expect(clippy::option_option, reason = "absent and mistaken are told apart on purpose")]
fn terms(
    table: &mut Fields<'_, '_>,
    key: &'static str,
    labels: Option<&[Label]>,
    problems: &mut Problems<'_>,
) -> Option<Option<Vec<Term>>> {
    table.raw(key)?;
    let Some(tables) = table.tables(key, "condition", problems) else { return Some(None) };
    let count = tables.len();
    let found: Vec<Term> = tables.into_iter().filter_map(|table| term(table, labels, problems)).collect();
    Some((found.len() == count).then_some(found))
}

fn term(mut table: Fields<'_, '_>, labels: Option<&[Label]>, problems: &mut Problems<'_>) -> Option<Term> {
    let label = table.optional_text("label", problems);
    let is = table.optional_text("is", problems);
    let verdict = table.optional_text("verdict", problems);
    let category = table.optional_text("category", problems);
    let found = match (label, is, verdict, category) {
        (Some(name), Some(is), None, None) => known_label(&name, labels, &table.place, problems).and_then(|label| {
            let set = matches!(label.kind, LabelKind::Choices(_));
            if !set && label.values().contains(&is.value.as_str()) {
                return Some(Term::Label { label: label.id.clone(), is: is.value });
            }
            // Terms compare whole answers, and a set has too many to name them.
            let hint = if set {
                "a label of several values cannot be in a condition".to_owned()
            } else {
                format!("values are {}", label.values().join(", "))
            };
            let kind =
                ProblemKind::NoSuchValue { label: label.id.to_string(), value: is.value, place: table.place.clone() };
            problems.add(is.offset, kind, Some(hint));
            None
        }),
        (None, None, Some(word), None) => {
            let all = [Verdict::Pass, Verdict::Fail];
            table.known_word("verdict", &word, &all, Verdict::as_str, problems).map(Term::Verdict)
        }
        (None, None, None, Some(word)) => {
            table.known_word("category", &word, &Category::EVERY, Category::as_str, problems).map(Term::Category)
        }
        _ => {
            let message = format!("{} is no condition", table.place);
            let hint = "give \"label\" and \"is\", or \"verdict\", or \"category\"".to_owned();
            problems.add(table.offset, ProblemKind::Contradiction(message), Some(hint));
            None
        }
    };
    table.finish(problems);
    found
}
