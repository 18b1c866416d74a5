//! The JSON schema of an answer: what a server with structured output is asked to hold a model to.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Applicability, Label, LabelKind, NaPolicy, Rubric, value};
use crate::model::{Category, RatingValue};

/// The JSON schema of the answer to a case of this category and stratum: `{"labels": {label: {"value", "rationale"}}}`
/// with every asked label required and nothing beside it. A label that cannot apply takes *n.a.* alone; one that always
/// applies here does not take it. Kept to what servers with structured output understand: types, `enum`, `pattern`,
/// `required`, `additionalProperties`. `events` narrows named values to those that the case offers (see [`Label::offered`]). It is narrower than prose and wider than the rules between answers, so an answer
/// that fits it is still checked like any other.
#[must_use]
pub fn answer_schema(rubric: &Rubric, category: Category, stratum: &str, events: Option<&BTreeSet<String>>) -> Value {
    let asked = rubric.applicabilities(category, stratum).into_iter().filter(|(label, _)| label.asked);
    let labels: Map<String, Value> = asked
        .map(|(label, applies)| {
            let properties =
                json!({ "value": answer(&label.narrowed(events), applies), "rationale": { "type": "string" } });
            (label.id.to_string(), object(&properties))
        })
        .collect();
    object(&json!({ "labels": object(&labels.into()) }))
}

fn object(properties: &Value) -> Value {
    let names: Vec<String> = properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}

fn answer(label: &Label, applies: Applicability) -> Value {
    let closed = applies == Applicability::NotApplicable;
    let mut allowed = value::allowed(label);
    if closed {
        allowed = vec![RatingValue::NOT_APPLICABLE.to_owned()];
    } else if applies == Applicability::Applies && label.na != NaPolicy::Rater {
        allowed.retain(|answer| answer != RatingValue::NOT_APPLICABLE);
    }
    match &label.kind {
        LabelKind::Choices(choices) if !closed => {
            let one = choices.iter().map(|choice| choice.id.as_str()).collect::<Vec<_>>().join("|");
            let reserved = [RatingValue::NOT_APPLICABLE, RatingValue::CANNOT_JUDGE];
            let others = reserved.into_iter().filter(|other| allowed.iter().any(|answer| answer == other));
            let others: String = others.map(|other| format!("|{}", other.replace('.', "\\."))).collect();
            json!({ "type": "string", "pattern": format!("^(({one})(\\+({one}))*{others})$") })
        }
        _ => json!({ "type": "string", "enum": allowed }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::{bundled, check_value};

    fn allowed(schema: &Value, label: &str) -> Vec<String> {
        let list = schema.pointer(&format!("/properties/labels/properties/{label}/properties/value/enum"));
        let list = list.and_then(Value::as_array).expect("an enumeration");
        list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The rubric's own table: B3 is for miss_func alone, B7 for strata D and F.
    #[test]
    fn labels_take_what_the_rubric_says_for_the_case() {
        let rubric = bundled("mechanism-v2").expect("bundled");
        let base = answer_schema(&rubric, Category::Base, "C", None);
        assert_eq!(allowed(&base, "B3"), ["n.a."]);
        assert_eq!(allowed(&base, "B7"), ["n.a."]);
        let held_out = answer_schema(&rubric, Category::MissFunc, "D", None);
        assert!(allowed(&held_out, "B3").starts_with(&["0".to_owned(), "1".to_owned()]));
        assert!(!allowed(&held_out, "B3").contains(&"n.a.".to_owned()));
        assert!(allowed(&held_out, "B6").contains(&"n.a.".to_owned()), "the rater decides whether there is a claim");
        assert!(allowed(&held_out, "B7").contains(&"history_edit_artifact".to_owned()));
        let required = held_out.pointer("/properties/labels/required").and_then(Value::as_array).expect("required");
        assert_eq!(required.len(), 7);
    }

    #[test]
    fn what_the_schema_allows_the_reader_takes() {
        for name in ["mechanism-v2", "mechanism-v3"] {
            let rubric = bundled(name).expect("bundled");
            for category in Category::ALL {
                for stratum in ["A", "D"] {
                    let schema = answer_schema(&rubric, category, stratum, None);
                    for label in rubric.labels.iter().filter(|label| label.asked) {
                        let path = format!("/properties/labels/properties/{}/properties/value", label.id);
                        let answer = schema.pointer(&path).expect("every asked label");
                        match answer.get("enum").and_then(Value::as_array) {
                            Some(answers) => {
                                assert!(!answers.is_empty());
                                for answer in answers {
                                    let text = answer.as_str().expect("a text");
                                    let read = check_value(label, text).expect("a valid answer");
                                    assert_eq!(read.value.map(String::from).as_deref(), Some(text));
                                }
                            }
                            None => {
                                let pattern = answer.get("pattern").and_then(Value::as_str).expect("a pattern");
                                let pattern = regex::Regex::new(pattern).expect("a pattern that compiles");
                                let values = label.values();
                                assert!(pattern.is_match(values[0]));
                                assert!(pattern.is_match(&format!("{}+{}", values[0], values[1])));
                                assert!(!pattern.is_match("n.b.") && !pattern.is_match("") && !pattern.is_match("x"));
                            }
                        }
                    }
                    assert!(schema.pointer("/properties/labels/properties/B5").is_none() || name == "mechanism-v2");
                }
            }
        }
    }
}
