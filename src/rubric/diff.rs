//! What differs between two rubrics: labels and rules by their ids, and which of their fields.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Rubric;

/// The difference between a rubric and another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RubricDiff {
    /// The digests of both.
    pub digests: [String; 2],
    /// Fields of the rubric itself that differ; `labels` and `rules` where their common ones stand in another order.
    pub fields: Vec<String>,
    /// Labels that only the second has.
    pub labels_added: Vec<String>,
    /// Labels that only the first has.
    pub labels_removed: Vec<String>,
    /// Labels that both have and that differ.
    pub labels_changed: Vec<LabelChange>,
    /// Rules that only the second has.
    pub rules_added: Vec<String>,
    /// Rules that only the first has.
    pub rules_removed: Vec<String>,
    /// Rules that both have and that differ.
    pub rules_changed: Vec<LabelChange>,
}

/// What differs in a label or rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LabelChange {
    /// The label or rule.
    pub id: String,
    /// Its fields that differ.
    pub fields: Vec<String>,
}

impl RubricDiff {
    /// Do both say the same?
    #[must_use]
    pub fn same(&self) -> bool {
        self.digests[0] == self.digests[1]
    }
}

/// Compares two rubrics.
#[must_use]
pub fn diff(a: &Rubric, b: &Rubric) -> RubricDiff {
    let (left, right) = (object(a), object(b));
    let labels = entries(&left, &right, "labels");
    let rules = entries(&left, &right, "rules");
    let mut fields: Vec<String> =
        changed(&left, &right).into_iter().filter(|name| name != "labels" && name != "rules").collect();
    fields.extend(labels.reordered.then(|| "labels".to_owned()));
    fields.extend(rules.reordered.then(|| "rules".to_owned()));
    RubricDiff {
        digests: [a.digest(), b.digest()],
        fields,
        labels_added: labels.added,
        labels_removed: labels.removed,
        labels_changed: labels.changed,
        rules_added: rules.added,
        rules_removed: rules.removed,
        rules_changed: rules.changed,
    }
}

struct Entries {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<LabelChange>,
    reordered: bool,
}

fn object(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        // A rubric is an object with text keys, so this cannot happen.
        _ => Map::new(),
    }
}

/// The fields whose values differ, in the order in which they are declared.
fn changed(a: &Map<String, Value>, b: &Map<String, Value>) -> Vec<String> {
    a.iter().filter(|(name, value)| b.get(*name) != Some(value)).map(|(name, _)| name.clone()).collect()
}

fn entries(a: &Map<String, Value>, b: &Map<String, Value>, key: &str) -> Entries {
    let list = |side: &Map<String, Value>| -> Vec<(String, Map<String, Value>)> {
        let items = side.get(key).and_then(Value::as_array).into_iter().flatten();
        let named = items.filter_map(|item| {
            let item = item.as_object()?;
            Some((item.get("id")?.as_str()?.to_owned(), item.clone()))
        });
        named.collect()
    };
    let (left, right) = (list(a), list(b));
    let lacks = |side: &[(String, Map<String, Value>)], id: &str| side.iter().all(|(other, _)| other != id);
    let only = |from: &[(String, Map<String, Value>)], other: &[(String, Map<String, Value>)]| -> Vec<String> {
        from.iter().filter(|(id, _)| lacks(other, id)).map(|(id, _)| id.clone()).collect()
    };
    let common = |from: &[(String, Map<String, Value>)], other: &[(String, Map<String, Value>)]| -> Vec<String> {
        from.iter().filter(|(id, _)| !lacks(other, id)).map(|(id, _)| id.clone()).collect()
    };
    let pairs = left.iter().filter_map(|(id, item)| Some((id, item, &right.iter().find(|(other, _)| other == id)?.1)));
    let differing = pairs.map(|(id, one, other)| LabelChange { id: id.clone(), fields: changed(one, other) });
    Entries {
        added: only(&right, &left),
        removed: only(&left, &right),
        changed: differing.filter(|change| !change.fields.is_empty()).collect(),
        reordered: common(&left, &right) != common(&right, &left),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::{bundled, bundled_text, parse};

    #[test]
    fn a_rubric_does_not_differ_from_itself() {
        let rubric = bundled("mechanism-v2").expect("bundled");
        let diff = diff(&rubric, &rubric);
        assert!(
            diff.same() && diff.fields.is_empty() && diff.labels_changed.is_empty() && diff.rules_changed.is_empty()
        );
    }

    /// What version 3 is meant to change.
    #[test]
    fn version_3_against_version_2() {
        let (two, three) = (bundled("mechanism-v2").expect("bundled"), bundled("mechanism-v3").expect("bundled"));
        let diff = diff(&two, &three);
        assert_eq!(diff.labels_removed, ["B3"]);
        assert_eq!(diff.labels_added, ["B3_while_absent", "B3_after_return"]);
        let fields = |id: &str| diff.labels_changed.iter().find(|change| change.id == id).map(|c| c.fields.clone());
        assert!(fields("B5").expect("B5 changed").contains(&"asked".to_owned()));
        assert!(fields("B7").expect("B7 changed").contains(&"kind".to_owned()));
        assert!(fields("B4").expect("B4 changed").contains(&"readings".to_owned()));
        assert_eq!(fields("B6"), None, "B6 is the same question");
        assert!(diff.fields.contains(&"gold_turn".to_owned()));
    }

    #[test]
    fn one_changed_field_is_named_alone() {
        let text = bundled_text("mechanism-v2").expect("bundled");
        let changed = text.replacen("then = [{ label = \"B1b\"", "then = [{ label = \"B4\"", 1);
        let diff = diff(&parse(text).expect("sound"), &parse(&changed).expect("sound"));
        assert_eq!(diff.rules_changed.len(), 1);
        assert_eq!(diff.rules_changed[0].id, "late-follows-gold");
        assert!(diff.labels_changed.is_empty() && diff.fields.is_empty() && !diff.same());
    }
}
