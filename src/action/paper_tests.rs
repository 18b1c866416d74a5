//! The rule set `paper` against the tables of the reference release: normalisation, the class of an emission, and properties.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CallForm, Classified, Classifier, CueTable, RuleSet, classify, classify_json, normalise};
use crate::model::ActionClass::{self, Ask, Confirm, Other, Refuse, ToolCall};

/// The canonical text of calls without arguments.
fn empty_calls(names: &[&str]) -> String {
    let calls: Vec<String> = names.iter().map(|name| format!(r#"{{"name":"{name}","arguments":{{}}}}"#)).collect();
    format!("[{}]", calls.join(","))
}

#[test]
fn structured_values_become_a_canonical_list() {
    let calls = |names: &[&str]| Some(empty_calls(names));
    let ls = || calls(&["ls"]);
    for (value, expected) in [
        (json!([{"name": "ls", "arguments": {}}]), ls()),
        (json!([{"arguments": {}, "name": "ls"}]), ls()),
        (json!([{"name": "ls", "parameters": {}}]), ls()),
        (json!({"tool_call": "ls", "arguments": {}}), ls()),
        (json!({"action": "ls", "arguments": {}}), ls()),
        (json!({"ls": {}}), ls()),
        (json!({"a.b-c": {}}), calls(&["a.b-c"])),
        (json!({"": {}}), calls(&[""])),
        (json!([{"ls": {}}, {"name": "cd", "arguments": {}}]), calls(&["ls", "cd"])),
        (json!({"name": {}}), calls(&["name"])),
        (json!({"tools": {}}), calls(&["tools"])),
        (json!({"tools": ["b", "a", "b"], "arguments": {"a": {}, "b": {}, "x": 1}}), calls(&["b", "a", "b"])),
        (
            json!({"ls": {"z": 1, "a": ["é", true, null, 1.0]}}),
            Some(r#"[{"name":"ls","arguments":{"z":1,"a":["\u00e9",true,null,1.0]}}]"#.to_owned()),
        ),
        (json!([]), None),
        (json!({}), None),
        (json!([{}]), None),
        (json!([{"ls": {}}, "x"]), None),
        (json!([{"ls": {}}, {"cd": "{}"}]), None),
        (json!([{"name": "ls", "arguments": {}, "id": "7"}]), None),
        (json!([{"name": "ls", "arguments": {}, "type": "function"}]), None),
        (json!([{"name": "ls", "arguments": "{}"}]), None),
        (json!([{"name": 1, "arguments": {}}]), None),
        (json!([{"tool_call": "ls", "parameters": {}}]), None),
        (json!([{"action": "ls", "parameters": {}}]), None),
        (json!([[{"ls": {}}]]), None),
        (json!({"tools": [], "arguments": {"a": {}}}), None),
        (json!({"tools": [1], "arguments": {"a": {}}}), None),
        (json!({"tools": ["b"], "arguments": {"a": {}}}), None),
        (json!({"tools": ["a"], "arguments": {"a": 1}}), None),
        (json!({"tools": ["a"], "arguments": {"a": {}}, "x": 1}), None),
        (json!([{"tools": ["a"], "arguments": {"a": {}}}]), None),
        (json!({"a": {}, "b": {}}), None),
        (json!(null), None),
        (json!(3), None),
        (json!(true), None),
    ] {
        assert_eq!(normalise(&value), expected, "{value}");
    }
}

#[test]
fn texts_that_hold_a_value_become_a_canonical_list() {
    let calls = |names: &[&str]| Some(empty_calls(names));
    let ls = || calls(&["ls"]);
    for (text, expected) in [
        ("```json\n[{\"name\":\"ls\",\"arguments\":{}}]\n```", ls()),
        ("```\n[{'name': 'ls', 'arguments': {}}]\n```", ls()),
        ("  ```whatever it says {\n\n [{'name': 'ls', 'arguments': {}}]\n\n``` x\n", ls()),
        ("```json\n[{\"name\":\"ls\",\"arguments\":{}}]", ls()),
        ("```json\n[ls()]\n```", None),
        ("```json\n[{\"name\":\"ls\",\"arguments\":{}}]\n```\nDone.", None),
        ("```json\n```", None),
        ("```json", None),
        ("```[{\"name\":\"ls\",\"arguments\":{}}]```", None),
        ("Here it is:\n```json\n[{\"name\":\"ls\",\"arguments\":{}}]\n```", None),
        (r#"[{"arguments":{},"name":"ls"}]"#, ls()),
        (r#"{"name":"a.b","arguments":{}}"#, calls(&["a.b"])),
        (r#"{"ls":{}}"#, ls()),
        (r#"[ {"arguments":{},"name":"ls"}]"#, None),
        (r#"{"name":"ls","arguments":{},"id":"7"}"#, None),
        (r#"{"result":{"rows":2}}"#, Some(r#"[{"name":"result","arguments":{"rows":2}}]"#.to_owned())),
        ("{}", None),
        ("{1,2}", None),
        ("[{}]", None),
        (r#"{"ls":{"a":true,"b":null}}"#, Some(r#"[{"name":"ls","arguments":{"a":true,"b":null}}]"#.to_owned())),
        (r#"{"tools":["ls"],"arguments":{"ls":{}}}"#, ls()),
        (r#"{"tools":("ls",),"arguments":{"ls":{}}}"#, None),
        // Crashes of the reference release: the emission stays as it is.
        ("{[1]: 2}", None),
        ("{{1:2}: 3}", None),
        (r#"{"mv": {"a": {1,2}}}"#, None),
    ] {
        assert_eq!(normalise(&json!(text)), expected, "{text:?}");
    }
}

#[test]
fn emissions_have_the_class_of_the_reference_release() {
    let classes: Vec<(Value, Option<ActionClass>)> = vec![
        (json!([{"cd": "{\"folder\":\"x\"}"}]), Some(ToolCall)),
        (json!([{"cd": {"folder": "x"}}]), Some(ToolCall)),
        (json!([{"name": "ls", "arguments": {}}]), Some(ToolCall)),
        (json!({"a": "x", "b": "y"}), Some(ToolCall)),
        (json!({"text": "hello"}), Some(ToolCall)),
        (json!([{"ls": "{}"}, {}]), Some(ToolCall)),
        (json!([]), None),
        (json!([{}]), None),
        (json!({}), None),
        (json!(null), None),
        (json!(3), None),
        (json!(["plain"]), None),
        (json!([{"ls": "{}"}, "plain"]), None),
        (json!([[{"ls": {}}]]), None),
        (json!(""), None),
        (json!("  \n"), None),
        (json!("\u{1c}\u{2003}"), None),
        (json!("\u{feff}"), Some(Other)),
        (json!("Which folder is it"), Some(Other)),
        (json!("Which folder is it?"), Some(Ask)),
        (json!("That is impossible with my tools; I cannot do it."), Some(Refuse)),
        (json!("Finished. The copy has been successfully made."), Some(Confirm)),
        (json!("I cannot do this. Anything else?"), Some(Refuse)),
        (json!("All done. Anything else?"), Some(Ask)),
        (json!("Here is the report."), Some(Other)),
        (json!("I can\u{2019}t; shall I emit <tool_call>?"), Some(ToolCall)),
        (json!("[]"), Some(Other)),
        (json!("```\n[ls()]\n```"), Some(Other)),
        (json!("```json\n[{\"ls\":{}}]\n```"), Some(ToolCall)),
        (json!(r#"{"result":{"rows":2}}"#), Some(ToolCall)),
        (json!("{[1]: 2}"), Some(Other)),
        (json!(r#"{"mv": {"a": {1,2}}}"#), Some(Other)),
        (json!(r#"{"mv": {"a": {1,2}}} cannot"#), Some(Refuse)),
    ];
    for (value, class) in classes {
        assert_eq!(classify(&value).class, class, "{value}");
        assert_eq!(classify_json(&value.to_string()).map(|found| found.class), Ok(class), "{value}");
    }
}

#[test]
fn a_call_says_its_form_and_its_tools() {
    for (value, form, calls) in [
        (json!("[cd(folder='x'), ls()]"), CallForm::PythonList, vec!["cd", "ls"]),
        (json!("<tool_call>{\"name\": \"ls\", \"arguments\": {}}</tool_call>"), CallForm::XmlTag, vec!["ls"]),
        (json!("[{\"name\": \"ls\", \"arguments\": {}}]"), CallForm::JsonList, vec!["ls"]),
        (json!("{\"name\": \"ls\", \"arguments\": {}}"), CallForm::JsonObject, vec!["ls"]),
        (json!("{\"ls\": {}}"), CallForm::NormalisedJson, vec!["ls"]),
        (json!([{"ls": {}}, {"cd": {}}]), CallForm::NormalisedJson, vec!["ls", "cd"]),
        (json!([{"ls": "{}"}, {"cd": "", "ls": ""}]), CallForm::ApiNames, vec!["ls", "cd", "ls"]),
    ] {
        let found = classify(&value);
        assert_eq!((found.form, found.cue), (Some(form), None), "{value}");
        assert_eq!(found.calls, calls, "{value}");
    }
    assert_eq!(classify(&json!([])), Classified::default());
}

#[test]
fn a_stored_emission_may_hold_what_standard_json_cannot() {
    let class = |text: &str| classify_json(text).map(|found| found.class);
    assert_eq!(class(r#""Which one?\ud83d""#), Ok(Some(Ask)));
    assert_eq!(class(r#"[{"ls": NaN}]"#), Ok(Some(ToolCall)));
    assert_eq!(class(r#"[{"ls": "a", "ls": {}}]"#), Ok(Some(ToolCall)));
    // Python cannot read a text with a lone surrogate as source, JSON can.
    assert_eq!(class(r#""{'ls': {'a': 'x\ud83d'}}""#), Ok(Some(Other)));
    assert_eq!(class(r#""{\"ls\": {\"a\": \"x\ud83d\"}}""#), Ok(Some(ToolCall)));
    assert!(classify_json("not json").is_err());
    assert_eq!(classify_json(&format!("{}1{}", "[".repeat(500), "]".repeat(500))).map(|found| found.class), Ok(None));
}

#[test]
fn rule_sets_have_names_and_classifiers() {
    for rules in RuleSet::ALL {
        assert_eq!(RuleSet::parse(rules.as_str()), Some(rules));
    }
    assert_eq!(RuleSet::parse("loose"), None);
    assert!(Classifier::of(RuleSet::Paper).is_ok());
    let strict = Classifier::of(RuleSet::Strict).expect("available");
    assert_eq!(strict.classify_text("Anything else?").class, Some(ActionClass::Other));
    assert_eq!(Classifier::paper().classify_text("Anything else?").class, Some(ActionClass::Ask));
}

/// Texts with brackets, quotes, cues and characters that change length when lower-cased.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        "[\\[\\]{}()'\"\\\\:,`\n #0-9a-z]{1,6}",
        prop::sample::select(vec![
            "can\u{2019}t",
            "CANNOT",
            "could you",
            "?",
            "all set",
            "\u{212a}indly provide",
            "\u{130}",
            "ΑΣ",
            "\u{201c}",
            "<tool_call",
            "{'name':'",
            "[{\"name\":",
            "\"arguments\":",
            "```",
            "```json\n",
            "b'",
            "'''",
            "1_0",
            "\\u12",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_the_parts_fit_the_class(text in text()) {
        let found = classify(&json!(text));
        prop_assert_eq!(found.form.is_some(), found.class == Some(ToolCall));
        let cued = matches!(found.class, Some(Refuse | Ask | Confirm));
        prop_assert_eq!(found.cue.is_some(), cued);
        prop_assert_eq!(classify_json(&json!(text).to_string()), Ok(found.clone()));
        if let Some(cue) = found.cue {
            prop_assert_eq!(Some(cue.class), found.class);
            // The rest of the text from the offset on begins with the cue, once quotes and case are evened out.
            let rest: String = text[cue.offset..]
                .chars()
                .map(|c| match c {
                    '\u{2018}'..='\u{201b}' | '\u{b4}' | '\u{2bc}' => '\'',
                    '\u{201c}'..='\u{201f}' => '"',
                    _ => c,
                })
                .collect();
            prop_assert!(rest.to_lowercase().starts_with(&cue.cue), "{:?} at {} of {:?}", cue.cue, cue.offset, text);
        }
    }

    #[test]
    fn a_normalised_emission_is_a_call_and_stays_as_it_is(text in text()) {
        if let Some(canonical) = normalise(&json!(text)) {
            prop_assert!(canonical.is_ascii());
            prop_assert_eq!(classify(&json!(text)).class, Some(ToolCall));
            let again = classify(&json!(canonical));
            prop_assert_eq!(again.form, Some(CallForm::JsonList));
            prop_assert_eq!(normalise(&json!(canonical)), None);
        }
    }
}

#[test]
fn another_table_gives_another_classifier() {
    let table = CueTable::parse(&CueTable::PAPER.replace("\"all set\"", "\"fertig\"")).expect("valid");
    let classifier = Classifier::new(table).expect("small");
    assert_eq!(classifier.classify_text("Fertig.").class, Some(Confirm));
    assert_eq!(classifier.classify_text("All set.").class, Some(Other));
    assert_ne!(classifier.table().digest(), Classifier::paper().table().digest());
}
