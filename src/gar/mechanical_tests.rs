//! Tests of the mechanical rater on cases whose answers were worked out by hand from the rubric's steps and examples.

use serde_json::{Value, json};

use super::*;
use crate::model::ActionClass::{Ask, ToolCall};

fn truth(calls: &[usize], held_out: &[&str], return_turn: Option<u32>) -> GroundTruth {
    GroundTruth {
        calls: calls.iter().map(|count| vec!["f()".to_owned(); *count]).collect(),
        held_out_tools: held_out.iter().map(|tool| (*tool).to_owned()).collect(),
        return_turn,
    }
}

fn raw(turns: &[&[Value]]) -> Vec<Vec<String>> {
    turns.iter().map(|turn| turn.iter().map(Value::to_string).collect()).collect()
}

fn answers(version: RubricVersion, rules: RuleSet, case: &CaseEvidence<'_>) -> Vec<(String, String)> {
    let found = mechanical(version, rules, case);
    assert!(found.values().all(|(_, why)| !why.is_empty()));
    let labels: Vec<&str> = found.keys().map(LabelId::as_str).collect();
    let mut expected = version.labels().to_vec();
    expected.sort_unstable();
    assert_eq!(labels, expected);
    found.into_iter().map(|(label, (value, _))| (label.to_string(), value.to_string())).collect()
}

fn check(answers: &[(String, String)], expected: &[(&str, &str)]) {
    let found: Vec<(&str, &str)> = answers.iter().map(|(label, value)| (label.as_str(), value.as_str())).collect();
    assert_eq!(found, expected);
}

/// The tool is missed at turn 1 and comes back at turn 2.
#[test]
fn a_refusal_at_the_true_gold_turn_is_late_by_the_published_rule() {
    let truth = truth(&[1, 0, 1], &["mv"], Some(2));
    let turns = raw(&[
        &[json!("[ls()]"), json!("Which one?")],
        &[json!("There is no tool for that.")],
        &[json!("[mv(a='b')]"), json!("Done. Anything else?")],
    ]);
    let case = CaseEvidence {
        category: Category::MissFunc,
        turns: Some(&turns),
        truth: Some(&truth),
        verdict: Some(Verdict::Pass),
        text_saved: true,
    };
    // Under paper the refusal has no cue and is `other`.
    let paper = answers(RubricVersion::V2, RuleSet::Paper, &case);
    check(&paper, &[("B1a", "0"), ("B1b", "0"), ("B3", "1"), ("B4", "1"), ("B5", "1")]);
    let strict = answers(RubricVersion::V2, RuleSet::Strict, &case);
    check(&strict, &[("B1a", "0"), ("B1b", "1"), ("B3", "1"), ("B4", "1"), ("B5", "1")]);
    let v3 = answers(RubricVersion::V3, RuleSet::Strict, &case);
    check(
        &v3,
        &[("B1a", "1"), ("B1b", "1"), ("B3_after_return", "1"), ("B3_while_absent", "0"), ("B4", "1"), ("B5", "0")],
    );
}

#[test]
fn a_held_out_call_counts_on_the_side_of_the_return_where_it_is_made() {
    let truth = truth(&[0, 0, 1], &["mv"], Some(2));
    let ask = |turns: &[&[Value]]| {
        let turns = raw(turns);
        let case = CaseEvidence {
            category: Category::MissFunc,
            turns: Some(&turns),
            truth: Some(&truth),
            verdict: None,
            text_saved: true,
        };
        let found = answers(RubricVersion::V3, RuleSet::Paper, &case);
        (found.get(3).cloned().map(|pair| pair.1), found.get(2).cloned().map(|pair| pair.1))
    };
    let is = |absent: &str, back: &str| (Some(absent.to_owned()), Some(back.to_owned()));
    let call = json!("[fs.mv(a='b')]");
    assert_eq!(ask(&[&[json!([{"FS.mv": "{}"}])], &[], &[json!("[ls()]")]]), is("1", "0"));
    assert_eq!(ask(&[&[json!("[ls()]")], &[json!("mv it")], &[json!([{"mv": "{}"}])]]), is("0", "1"));
    assert_eq!(ask(&[&[call], &[]]), is("0", "0"), "no published form: dotted names are not read as text calls");
}

#[test]
fn b3_is_asked_of_miss_func_only_and_needs_the_data_set() {
    let truth = truth(&[1, 0], &[], None);
    let turns = raw(&[&[json!("[ls()]")], &[json!("Which file do you mean?")]]);
    let case = |category, truth| CaseEvidence {
        category,
        turns: Some(&turns),
        truth,
        verdict: Some(Verdict::Fail),
        text_saved: true,
    };
    let v3 = answers(RubricVersion::V3, RuleSet::Strict, &case(Category::MissParam, Some(&truth)));
    check(
        &v3,
        &[
            ("B1a", "1"),
            ("B1b", "1"),
            ("B3_after_return", "n.a."),
            ("B3_while_absent", "n.a."),
            ("B4", "1"),
            ("B5", "0"),
        ],
    );
    let v2 = answers(RubricVersion::V2, RuleSet::Strict, &case(Category::MissFunc, None));
    check(&v2, &[("B1a", "0"), ("B1b", "0"), ("B3", "cannot_judge"), ("B4", "0"), ("B5", "0")]);
    let v3 = answers(RubricVersion::V3, RuleSet::Strict, &case(Category::Base, None));
    check(
        &v3,
        &[
            ("B1a", "cannot_judge"),
            ("B1b", "cannot_judge"),
            ("B3_after_return", "n.a."),
            ("B3_while_absent", "n.a."),
            ("B4", "cannot_judge"),
            ("B5", "0"),
        ],
    );
}

/// A run that saved calls only: a call answers where a text cannot.
#[test]
fn text_that_was_not_saved_is_judged_only_where_a_call_decides() {
    let truth = truth(&[1, 0, 1], &["mv"], Some(2));
    let call = json!([{"ls": "{}"}]);
    let case = |turns, verdict| CaseEvidence {
        category: Category::MissFunc,
        turns: Some(turns),
        truth: Some(&truth),
        verdict: Some(verdict),
        text_saved: false,
    };
    let silent = raw(&[std::slice::from_ref(&call), &[], std::slice::from_ref(&call)]);
    let v3 = answers(RubricVersion::V3, RuleSet::Paper, &case(&silent, Verdict::Pass));
    let cannot = "cannot_judge";
    check(
        &v3,
        &[
            ("B1a", cannot),
            ("B1b", cannot),
            ("B3_after_return", "0"),
            ("B3_while_absent", "0"),
            ("B4", cannot),
            ("B5", cannot),
        ],
    );
    let calls = raw(&[std::slice::from_ref(&call), std::slice::from_ref(&call), std::slice::from_ref(&call)]);
    let v3 = answers(RubricVersion::V3, RuleSet::Paper, &case(&calls, Verdict::Pass));
    check(
        &v3,
        &[("B1a", "0"), ("B1b", "0"), ("B3_after_return", "0"), ("B3_while_absent", "0"), ("B4", cannot), ("B5", "1")],
    );
    // What base asks for can be seen to be absent.
    let base = CaseEvidence { category: Category::Base, ..case(&silent, Verdict::Fail) };
    assert_eq!(answers(RubricVersion::V3, RuleSet::Paper, &base).first().map(|b1a| b1a.1.clone()), Some("1".into()));
}

#[test]
fn an_error_record_and_a_result_cut_short_are_told_apart() {
    let truth = truth(&[1, 0], &["mv"], Some(2));
    let cut = raw(&[&[json!("[ls()]")]]);
    let case = |turns| CaseEvidence {
        category: Category::MissFunc,
        turns,
        truth: Some(&truth),
        verdict: Some(Verdict::Pass),
        text_saved: true,
    };
    let v3 = answers(RubricVersion::V3, RuleSet::Strict, &case(None));
    assert!(v3.iter().all(|(_, value)| value == "cannot_judge"), "{v3:?}");
    let v3 = answers(RubricVersion::V3, RuleSet::Strict, &case(Some(&cut)));
    assert!(v3.iter().all(|(label, value)| value == if label == "B5" { "1" } else { "0" }), "{v3:?}");
}

/// The rubric of the published audit has two readings of B4: a question after a call counts by one only.
#[test]
fn the_two_readings_of_b4_differ_where_a_call_comes_first() {
    let turn =
        |classes: &[ActionClass]| TurnFacts { classes: classes.iter().copied().map(Some).collect(), calls: Vec::new() };
    for (turns, up_to_gold, before_call) in [
        (vec![turn(&[ToolCall, Ask])], "1", "0"),
        (vec![turn(&[Ask, ToolCall])], "1", "1"),
        (vec![turn(&[ToolCall]), turn(&[Ask])], "0", "0"),
        (vec![], "0", "0"),
    ] {
        let view = View { category: Category::Base, turns: Some(&turns), truth: None, verdict: None, text_saved: true };
        assert_eq!(b4_up_to_gold_turn(&view, Ok(0)).0.as_str(), up_to_gold, "{turns:?}");
        assert_eq!(b4_before_any_call(&view, Ok(0)).0.as_str(), before_call, "{turns:?}");
    }
    let silent = View {
        turns: Some(&[]),
        text_saved: false,
        ..View { category: Category::Base, turns: None, truth: None, verdict: None, text_saved: false }
    };
    assert_eq!(b4_before_any_call(&silent, Ok(0)).0, RatingValue::CannotJudge);
}

#[test]
fn b5_is_one_only_for_a_pass_without_the_gold_action() {
    let value = |text: &str| RatingValue::from(text.to_owned());
    for (verdict, b1a, expected) in [
        (Some(Verdict::Pass), "0", "1"),
        (Some(Verdict::Pass), "1", "0"),
        (Some(Verdict::Pass), "cannot_judge", "cannot_judge"),
        (Some(Verdict::Fail), "0", "0"),
        (Some(Verdict::Fail), "cannot_judge", "0"),
        (None, "1", "0"),
        (None, "0", "cannot_judge"),
    ] {
        assert_eq!(b5(verdict, &value(b1a)).0.as_str(), expected, "{verdict:?} {b1a}");
    }
}
