//! The rubric as instructions in Markdown, for a person or a model, and the empty answer to a case.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Applicability, Label, LabelKind, NaPolicy, Rubric, RuleKind};
use crate::model::{Category, RatingValue, StratumId};

/// The rubric as instructions: advice, every label with its question, steps, values and examples, the rules between
/// answers, and the form of the answer. A function of the rubric only, so it is the same for every case.
#[must_use]
pub fn instructions(rubric: &Rubric) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_instructions(&mut out, rubric);
    out
}

fn write_instructions(out: &mut String, rubric: &Rubric) -> std::fmt::Result {
    writeln!(out, "# {}\n", rubric.title)?;
    if !rubric.about.is_empty() {
        writeln!(out, "{}\n", rubric.about)?;
    }
    if !rubric.guidance.is_empty() {
        writeln!(out, "## How to work\n")?;
        for item in &rubric.guidance {
            writeln!(out, "* {}", item.replace("\n\n", "\n\n  "))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "## Labels\n")?;
    for label in &rubric.labels {
        write_label(out, label)?;
    }
    if !rubric.rules.is_empty() {
        writeln!(out, "## What must fit together\n")?;
        for rule in &rubric.rules {
            let list = |terms: &[super::Term]| terms.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
            match &rule.kind {
                RuleKind::Implies { given, then } => {
                    writeln!(out, "* If {}, then {}: {}.", list(given), list(then), rule.because)?;
                }
                RuleKind::Equals { label, one_when } => {
                    writeln!(out, "* {label} is 1 exactly if {}: {}.", list(one_when), rule.because)?;
                }
            }
        }
        writeln!(out)?;
    }
    write_form(out, rubric)
}

fn write_label(out: &mut String, label: &Label) -> std::fmt::Result {
    writeln!(out, "### {}: {}\n", label.id, label.title)?;
    writeln!(out, "{}\n", label.question)?;
    writeln!(out, "Applies: {}\n", applies(label))?;
    match &label.kind {
        LabelKind::Binary => writeln!(out, "Values: `0` or `1`{}.\n", others(label))?,
        LabelKind::Choice(choices) => {
            writeln!(out, "Values, one of{}:\n", others(label))?;
            for choice in choices {
                writeln!(out, "* `{}`: {}. {}", choice.id, choice.title, choice.help)?;
            }
            writeln!(out)?;
        }
    }
    if let Some(used) = label.readings.iter().find(|reading| reading.used) {
        writeln!(out, "Of several readings, this one counts: {}\n", used.text)?;
    }
    for (number, step) in label.steps.iter().enumerate() {
        writeln!(out, "{}. {step}", number + 1)?;
    }
    if !label.steps.is_empty() {
        writeln!(out)?;
    }
    for example in &label.examples {
        writeln!(out, "* Example: {} Answer: `{}`. {}", example.case, example.answer, example.why)?;
    }
    if !label.examples.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

fn applies(label: &Label) -> String {
    let applies = &label.applies;
    let mut parts = Vec::new();
    if let Some(categories) = &applies.categories {
        let names: Vec<&str> = categories.iter().map(|category| category.as_str()).collect();
        parts.push(format!("to cases of category {}", names.join(", ")));
    }
    if let Some(strata) = &applies.strata {
        let names: Vec<&str> = strata.iter().map(StratumId::as_str).collect();
        parts.push(format!("to cases of stratum {}", names.join(", ")));
    }
    if let Some(when) = &applies.when {
        parts.push(format!("where this holds: {when}"));
    }
    match (parts.is_empty(), label.na) {
        (true, _) => "to every case.".to_owned(),
        (false, NaPolicy::Rater) => format!("{} Else answer n.a.", parts.join(", ")),
        (false, _) => format!("{}. Elsewhere the answer n.a. is filled in already.", parts.join(", ")),
    }
}

fn others(label: &Label) -> String {
    let mut others = String::new();
    if label.na != NaPolicy::Never {
        others.push_str(", or `n.a.`");
    }
    if label.may_cannot_judge {
        others.push_str(", or `cannot_judge`");
    }
    others
}

fn write_form(out: &mut String, rubric: &Rubric) -> std::fmt::Result {
    writeln!(out, "## Form of the answer\n")?;
    writeln!(
        out,
        "`n.a.` means that the label does not apply to the case. `cannot_judge` means that it applies, but what it asks about was not saved. Neither is a way out of a hard case.\n"
    )?;
    writeln!(out, "Answer with one JSON object of this form, with every label in it and nothing else:\n")?;
    let labels: Map<String, Value> =
        rubric.labels.iter().map(|label| (label.id.to_string(), json!({ "value": "…", "rationale": "…" }))).collect();
    writeln!(out, "```json\n{}\n```", pretty(&json!({ "labels": labels })))
}

/// A JSON value over several lines.
fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

/// The empty answer to a case: `{label: {"value": null, "rationale": ""}}`, with *n.a.* filled in where a label does
/// not apply.
#[must_use]
pub fn scaffold(rubric: &Rubric, category: Category, stratum: &str) -> Map<String, Value> {
    let entry = |(label, applies): (&Label, Applicability)| {
        let value = match applies {
            Applicability::NotApplicable => Value::from(RatingValue::NOT_APPLICABLE),
            _ => Value::Null,
        };
        (label.id.to_string(), json!({ "value": value, "rationale": "" }))
    };
    rubric.applicabilities(category, stratum).into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::bundled;

    #[test]
    fn instructions_hold_every_part_of_every_label() {
        let rubric = bundled("mechanism-v2").expect("bundled");
        let text = instructions(&rubric);
        for label in &rubric.labels {
            assert!(text.contains(&format!("### {}: {}", label.id, label.title)));
            assert!(text.contains(&label.question));
            for step in &label.steps {
                assert!(text.contains(step), "{step}");
            }
            for example in &label.examples {
                assert!(text.contains(&example.case) && text.contains(&example.why));
            }
            for value in label.values() {
                assert!(text.contains(&format!("`{value}`")));
            }
        }
        // The reading that is not used must not confuse the rater.
        assert!(!text.contains("must also come before the first tool call"));
        for item in &rubric.guidance {
            assert!(text.contains(item));
        }
    }

    #[test]
    fn scaffold_fills_in_what_does_not_apply() {
        let rubric = bundled("mechanism-v2").expect("bundled");
        let labels = scaffold(&rubric, Category::Base, "C");
        let filled: Vec<&str> =
            labels.iter().filter(|(_, answer)| answer["value"] == "n.a.").map(|(label, _)| label.as_str()).collect();
        assert_eq!(filled, ["B3", "B7"]);
        assert_eq!(labels.keys().collect::<Vec<_>>(), ["B1a", "B1b", "B3", "B4", "B5", "B6", "B7"]);
        assert_eq!(scaffold(&rubric, Category::MissFunc, "D").values().filter(|a| a["value"].is_null()).count(), 7);
    }
}
