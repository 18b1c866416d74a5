//! Tests of the rule set `strict`: the examples of `docs/rules.md`, one rule at a time, and what holds for any text.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{RuleEffect, StrictRule, StrictRules, StrictTable, strict, strict_json};
use crate::action::classify;
use crate::model::ActionClass::{self, Ask, Confirm, Other, Refuse, ToolCall};

fn class(value: &Value) -> Option<ActionClass> {
    strict(value, &StrictRules::all()).class
}

/// Per rule a text whose class it changes (with it, without it; all other rules on) and one that it leaves alone.
const EXAMPLES: &[(StrictRule, &str, ActionClass, ActionClass, &str, ActionClass)] = &[
    (
        StrictRule::DecoderValidCall,
        "[Remark (see below)] nothing was moved",
        Other,
        ToolCall,
        "[touch(file_name='a.txt'), ls()]",
        ToolCall,
    ),
    (StrictRule::ResultLikeJson, r#"{"result": {"rows": 2}}"#, Other, ToolCall, r#"{"ls": {"a": true}}"#, ToolCall),
    (StrictRule::MoreCallForms, "```python\n[fs.touch(x=1)]\n```", ToolCall, Other, "touch(x=1) is what I ran", Other),
    (
        StrictRule::ThinkBlock,
        "<think>Could I? I cannot see the file.</think>\nIt has 3 lines.",
        Other,
        Refuse,
        "<think>Fine.</think>\nWhich file?",
        Ask,
    ),
    (
        StrictRule::Code,
        "Run `grep -c foo?` to count them.",
        Other,
        Ask,
        "Shall `foo` be the name, or which other?",
        Ask,
    ),
    (
        StrictRule::Url,
        "It is at https://example.org/find?q=a in the list.",
        Other,
        Ask,
        "Is it https://example.org/a or b?",
        Ask,
    ),
    (
        StrictRule::ToolOutput,
        "The tool answered {'note': unable to open} at first.",
        Other,
        Refuse,
        "I am unable to do that: no tool opens files.",
        Refuse,
    ),
    (
        StrictRule::QuotedText,
        "The message \"Are you in?\" went to Ann.",
        Other,
        Ask,
        "Is \"a.txt\" the file that you mean?",
        Ask,
    ),
    (
        StrictRule::NegatedRefusal,
        "The folder is gone, and I cannot wait to see the rest.",
        Other,
        Refuse,
        "I cannot delete folders.",
        Refuse,
    ),
    (
        StrictRule::ReportedError,
        "The file cannot be found, so I created it.",
        Other,
        Refuse,
        "The file cannot be found: I cannot search with the tools I have.",
        Refuse,
    ),
    (
        StrictRule::RefusalForInput,
        "I cannot book the flight without the date.",
        Ask,
        Refuse,
        "I cannot book the flight without a booking tool.",
        Refuse,
    ),
    (
        StrictRule::UncuedRefusal,
        "That tool isn't offered here.",
        Refuse,
        Other,
        "That file isn't there any more.",
        Other,
    ),
    (StrictRule::CourtesyQuestion, "It is 12 km. Anything else?", Other, Ask, "It is 12 km. Which other town?", Ask),
    (
        StrictRule::Offer,
        "It is 12 km. Would you like me to book a taxi?",
        Other,
        Ask,
        "Which taxi would you like to book?",
        Ask,
    ),
    (
        StrictRule::StatementCue,
        "That is what the list shows, and what is the same in both.",
        Other,
        Ask,
        "What is the same in both?",
        Ask,
    ),
    (
        StrictRule::AskWithoutMark,
        "Please enter the name of the file.",
        Ask,
        Other,
        "Please check the file before you print it.",
        Other,
    ),
    (StrictRule::QuestionMarks, "哪个文件？", Ask, Other, "这个文件。", Other),
    (StrictRule::UncuedCompletion, "The file has been moved.", Confirm, Other, "The file has not been moved.", Other),
];

#[test]
fn every_rule_has_an_example_that_it_changes_and_one_that_it_leaves() {
    for (rule, changed, with, without, left, class_left) in EXAMPLES {
        // Completions would speak for `confirm` where `other` is what the example is about.
        let all = match rule {
            StrictRule::UncuedCompletion => StrictRules::all(),
            _ => StrictRules::all().without(StrictRule::UncuedCompletion),
        };
        let off = all.clone().without(*rule);
        let verdict = strict(&json!(changed), &all);
        assert_eq!(verdict.class, Some(*with), "{rule}: {changed}");
        assert!(verdict.fired.iter().any(|hit| hit.rule == *rule), "{rule} says that it fired: {changed}");
        assert_eq!(strict(&json!(changed), &off).class, Some(*without), "without {rule}: {changed}");
        assert_eq!(strict(&json!(left), &all).class, Some(*class_left), "{rule}: {left}");
        assert_eq!(strict(&json!(left), &off).class, Some(*class_left), "without {rule}: {left}");
    }
    let shown: Vec<StrictRule> = EXAMPLES.iter().map(|example| example.0).collect();
    let about_emissions = StrictRule::ALL.into_iter().filter(|rule| *rule != StrictRule::GoldWindow);
    assert_eq!(shown, about_emissions.collect::<Vec<_>>());
}

#[test]
fn what_a_reader_calls_a_refusal() {
    for text in [
        "I can't do that: none of my functions offers it.",
        "There is no tool for that.",
        "I lack the permission to do this.",
        "I don't currently have a way to rename files.",
        "Sorry, that isn't supported.",
        "Renaming is not supported.",
        "This request cannot be completed with the tools at hand.",
        "The provided tools do not include a way to post a tweet.",
        "I’m not able to send mail.",
        "I do not have access to a mail tool. Anything else?",
    ] {
        assert_eq!(class(&json!(text)), Some(Refuse), "{text}");
    }
    for text in [
        "This cannot be undone.",
        "The engine cannot be started because a door is open.",
        "The order cannot be cancelled; it is no longer open.",
        "If you cannot find it, look in the log.",
        "I was unable to find the file.",
        "The car cannot go that far without a stop.",
        "I cannot copy it because it does not exist.",
        "The call failed: you are not authorized.",
    ] {
        assert_ne!(class(&json!(text)), Some(Refuse), "{text}");
    }
}

#[test]
fn what_a_reader_calls_a_question() {
    for text in [
        "Please provide the name of the file.",
        "I need to know which of the two you mean.",
        "To cancel it, I’ll need the **order ID**.",
        "How many seats would you like to book?",
        "Let me know which account to use.",
        "It is done. Could you tell me the second name?",
        "Which one؟",
        "Could you confirm if you meant the other file or if you need a new one?",
    ] {
        assert_eq!(class(&json!(text)), Some(Ask), "{text}");
    }
    for text in [
        "Here it is. Let me know if you need anything else!",
        "Would you like to:\n1. Fund the account?\n2. Cancel the order?\n✅ See the list (e.g., all)?",
        "I'll need to look it up first.",
        "If you'd like to cancel one, please provide its ID.",
        "How else can I help?",
        "- To Ann: \"Could you bring the keys?\"\n- To Bob: 'Why?'",
    ] {
        assert_ne!(class(&json!(text)), Some(Ask), "{text}");
    }
}

#[test]
fn a_call_is_one_that_can_be_made() {
    for (value, expected) in [
        (json!([{"cd": "{\"folder\": \"x\"}"}]), ToolCall),
        (json!([{"cd": "not JSON"}]), Other),
        (json!([{"two words?": "{}"}]), Other),
        (json!({"text": "hello"}), Other),
        (json!([{"ls": {}}]), ToolCall),
        (json!({"response": {}}), Other),
        (json!("{\"name\":\"a\",\"arguments\":{}}; {\"name\":\"b\",\"arguments\":{}}"), ToolCall),
        (json!("I would emit <tool_call> next"), Other),
        (json!("<think>x <tool_call>{\"name\":\"a\",\"arguments\":{}}</tool_call></think>It is 3."), Other),
        (json!("<think>\nok\n<tool_call>\n{\"name\":\"a\",\"arguments\":{}}\n</tool_call>"), ToolCall),
        (json!("<think>ok</think>\n[{\"name\":\"a\",\"arguments\":{}}]"), ToolCall),
        (json!("[{\"name\":\"a\",\"arguments\":{}}"), Other),
        (json!("f(x=1)"), ToolCall),
    ] {
        assert_eq!(class(&value), Some(expected), "{value}");
    }
    for nothing in [json!(""), json!(" \n"), json!([]), json!(null), json!([{}])] {
        assert_eq!(class(&nothing), None, "{nothing}");
    }
}

#[test]
fn hits_say_what_was_ignored_and_where() {
    let verdict = strict(&json!("“Ready?” It’s done. I’ll need the key"), &StrictRules::all());
    let hits: Vec<(StrictRule, usize, RuleEffect)> =
        verdict.fired.iter().map(|hit| (hit.rule, hit.offset, hit.effect)).collect();
    assert_eq!(
        hits,
        [
            (StrictRule::QuotedText, 8, RuleEffect::Ignores(Ask)),
            (StrictRule::AskWithoutMark, 26, RuleEffect::Adds(Ask))
        ]
    );
    assert_eq!(verdict.cue.map(|cue| cue.offset), Some(26));
}

#[test]
fn the_digest_of_the_table_follows_its_content() {
    let digest = StrictTable::digest(StrictTable::STRICT).expect("valid");
    let comment = format!("# another comment\n{}", StrictTable::STRICT);
    assert_eq!(StrictTable::digest(&comment).as_deref(), Ok(digest.as_str()));
    let changed = StrictTable::STRICT.replace("\"ask\"", "\"beg\"");
    assert_ne!(StrictTable::digest(&changed).as_deref(), Ok(digest.as_str()));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_offsets_lie_in_the_text(
        text in r#"(\PC|[\n"'`?.<>\[\]{}(),=:*]|<think>|</think>|```|cannot|I'll need|would you like to|<tool_call>|？|’){0,40}"#
    ) {
        let verdict = strict(&json!(text), &StrictRules::all());
        for hit in &verdict.fired {
            prop_assert!(text.is_char_boundary(hit.offset), "{hit:?}");
        }
        prop_assert_eq!(verdict.class == Some(ToolCall), verdict.form.is_some());
    }

    #[test]
    fn without_rules_the_classes_are_those_of_paper(
        text in r#"(\PC|[\n"'`?.<>\[\]{}(),=:*]|<think>|</think>|```|cannot|i'll need|what is the|<tool_call>|\{"a": \{\}\}|？|’|all set){0,30}"#
    ) {
        for value in [json!(text), json!({ text.clone(): text })] {
            prop_assert_eq!(strict(&value, &StrictRules::none()).class, classify(&value).class);
        }
        let written = json!(text).to_string();
        let (read, direct) = (strict_json(&written, &StrictRules::all()), strict(&json!(text), &StrictRules::all()));
        prop_assert_eq!(read.expect("JSON"), direct);
    }
}

#[test]
fn the_documentation_has_a_row_for_every_rule_with_its_examples() {
    let page = include_str!("../../../docs/rules.md");
    for rule in StrictRule::ALL {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{rule}` |")));
        let row = row.expect("a row for every rule");
        let Some(example) = EXAMPLES.iter().find(|example| example.0 == rule) else { continue };
        for text in [example.1, example.4] {
            // The page writes a fence in words and a line break as a space.
            let shown = text.replace("```python\n", "").replace("\n```", "").replace('\n', " ");
            assert!(row.contains(&shown), "{rule}: {shown}");
        }
    }
}
