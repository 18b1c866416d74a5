use std::collections::BTreeMap;

use super::*;
use crate::model::TurnText;
use crate::rate::fixture::{HOSTILE, case, hostile_case, rubric};
use crate::rate::markdown::case_markdown;

/// Everything that a renderer could get hold of.
fn everything(rubric: &Rubric, case: &CaseText) -> String {
    let case = rater_case(rubric, case, &BTreeMap::new());
    format!("{}\n{}", case_markdown(&case.view), serde_json::to_string(&case).expect("JSON"))
}

/// The bundled rubric with every item of the show list.
fn full_rubric() -> Rubric {
    let mut full = rubric();
    full.show = Shown::ALL.iter().copied().collect();
    full
}

/// What of the fixture belongs to which item of the show list.
fn words(item: Shown) -> &'static [&'static str] {
    match item {
        Shown::Category => &["* Category", "\"miss_func\""],
        Shown::Stratum => &["stratum_word"],
        Shown::Transition => &["PASS_to_FAIL"],
        Shown::SourceRun => &["baseline_run", "baseline_model", "baseline_condition", "second_run"],
        Shown::GoldAction => &["* Gold action", "refuse"],
        Shown::GoldTurn => &["* Gold turn", "(gold turn)"],
        Shown::UserTurns => &["user_word"],
        Shown::GroundTruth => &["truth_word", "expects no call"],
        Shown::HeldOutTools => &["held_word"],
        Shown::ReturnTurn => &["come back"],
        Shown::Emissions => &["baseline_emission_one", "second_emission_two"],
        Shown::GraderVerdict => &["Grader on the", "\"PASS\"", "\"FAIL\""],
        Shown::GraderDetail => &["baseline_error_type", "second_error_detail"],
        Shown::SecondCondition => &["second_run", "second_emission_one", "second_error_type", "second condition"],
        Shown::Task => &["task_title", "task_word"],
        Shown::Policy => &["policy_title", "policy_word"],
        Shown::Dialogue => &["dialogue_title", "dialogue_word"],
        Shown::WriteEvent => &["write_event_title", "write_event_word", "question is about"],
    }
}

#[test]
fn a_rater_sees_what_the_rubric_names_and_nothing_else() {
    let full = full_rubric();
    let shown = everything(&full, &case());
    for item in Shown::ALL {
        for word in words(*item) {
            assert!(shown.contains(word), "{word} is shown");
        }
        let mut without = full.clone();
        without.show.remove(item);
        let hidden = everything(&without, &case());
        for word in words(*item) {
            assert!(!hidden.contains(word), "without {}, {word} is hidden", item.as_str());
        }
    }
    let mut nothing = full;
    nothing.show.clear();
    let hidden = everything(&nothing, &case());
    for word in Shown::ALL.iter().flat_map(|item| words(*item)) {
        assert!(!hidden.contains(word), "{word}");
    }
}

#[test]
fn action_classes_are_never_shown() {
    // Every emission of the fixture is classified as `confirm`.
    assert!(!everything(&rubric(), &case()).contains("confirm"));
}

#[test]
fn the_digest_covers_what_is_shown_and_only_that() {
    type Change = fn(&mut CaseText);
    let digest = |rubric: &Rubric, case: &CaseText| CaseView::new(rubric, case).digest();
    let changes: [(Shown, Change); 19] = [
        (Shown::Category, |case| case.category = Category::MissParam),
        (Shown::Stratum, |case| case.stratum.push('x')),
        (Shown::Transition, |case| case.transition = None),
        (Shown::SourceRun, |case| case.baseline.model.push('x')),
        (Shown::UserTurns, |case| case.user_turns.as_mut().expect("turns")[0].push('x')),
        (Shown::GroundTruth, |case| case.ground_truth.as_mut().expect("truth").calls[1].push("f()".to_owned())),
        (Shown::HeldOutTools, |case| case.ground_truth.as_mut().expect("truth").held_out_tools.clear()),
        (Shown::ReturnTurn, |case| case.ground_truth.as_mut().expect("truth").return_turn = Some(1)),
        (Shown::Emissions, |case| case.baseline.turns[1].emissions.push("\"x\"".to_owned())),
        (Shown::Emissions, |case| case.baseline.text_not_saved = true),
        (Shown::GraderVerdict, |case| case.baseline.verdict = None),
        (Shown::GraderDetail, |case| case.baseline.error_detail = None),
        (Shown::GraderDetail, |case| case.second.as_mut().expect("second").error_type = None),
        (Shown::SecondCondition, |case| case.second.as_mut().expect("second").turns[0].emissions.clear()),
        (Shown::SecondCondition, |case| case.second.as_mut().expect("second").condition.push('x')),
        (Shown::Task, |case| case.sections[0].title.push('x')),
        (Shown::Policy, |case| case.sections[1].entries[0].text.push('x')),
        (Shown::Dialogue, |case| case.sections[2].entries[0].speaker.push('x')),
        (Shown::WriteEvent, |case| case.sections[3].entries[0].marked = false),
    ];
    let full = full_rubric();
    let mut seen = vec![digest(&full, &case())];
    assert_eq!(digest(&full, &case()), seen[0]);
    for (item, change) in changes {
        let mut changed = case();
        change(&mut changed);
        let shown = digest(&full, &changed);
        assert!(!seen.contains(&shown), "{}", item.as_str());
        seen.push(shown);
        let mut without = full.clone();
        without.show.remove(&item);
        // The category also decides the gold action.
        without.show.remove(&Shown::GoldAction);
        assert_eq!(digest(&without, &changed), digest(&without, &case()), "without {}", item.as_str());
    }
}

/// Digests are stored with every rating: those of cases without sections were made before there were any. The value
/// was computed in Python by the written rule of the canonical bytes.
#[test]
fn a_case_without_sections_keeps_its_digest() {
    let mut plain = case();
    plain.sections.clear();
    let digest = CaseView::new(&rubric(), &plain).digest();
    assert_eq!(digest, "7a582aa661be9b27fc185db43c17302bb3a7497b1ba0afb9a3e2ec7cf30d24c9");
    assert_eq!(CaseView::new(&rubric(), &case()).digest(), digest, "the rubric names no section");
}

#[test]
fn gaps_are_named() {
    let mut gaps = case();
    gaps.category = Category::Base;
    gaps.user_turns = None;
    gaps.ground_truth = None;
    gaps.second.as_mut().expect("second").turns.push(TurnText::default());
    gaps.ground_truth_reason = Some("no data set fits the run".to_owned());
    gaps.baseline.text_not_saved = true;
    gaps.baseline.verdict = None;
    gaps.baseline.turns.clear();
    gaps.baseline.error = Some("Error during inference: x".to_owned());
    let text = everything(&rubric(), &gaps);
    for words in [
        "The user's words were not saved.",
        "There is no ground truth: no data set fits the run.",
        "The gold turn is not known.",
        "saved only the calls of the baseline",
        "* Grader on the baseline: unscored",
        "Error during inference",
        "The baseline has emissions for 0 of 4 turns.",
    ] {
        assert!(text.contains(words), "{words}");
    }
}

#[test]
fn the_form_closes_what_does_not_apply_and_keeps_own_answers() {
    let label = LabelId::parse("B1a").expect("valid");
    let own = Rating {
        rater: crate::model::RaterName::parse("anna").expect("valid"),
        label: label.clone(),
        value: RatingValue::Value("1".to_owned()),
        rationale: "because".to_owned(),
    };
    let case = rater_case(&rubric(), &case(), &BTreeMap::from([(label, own)]));
    let form: Vec<(&str, Option<&str>)> =
        case.labels.iter().map(|form| (form.label.as_str(), form.value.as_ref().map(RatingValue::as_str))).collect();
    let expected = [
        ("B1a", Some("1")),
        ("B1b", None),
        ("B3", None),
        ("B4", None),
        ("B5", None),
        ("B6", None),
        ("B7", Some("n.a.")),
    ];
    assert_eq!(form, expected);
    assert_eq!(case.labels[0].rationale, "because");
}

/// The lines of a Markdown text that stand outside of fenced blocks (CommonMark: a fence of backticks closes with one
/// at least as long).
fn outside_of_fences(markdown: &str) -> Vec<&str> {
    let mut open: Option<usize> = None;
    let mut outside = Vec::new();
    for line in markdown.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match open {
            Some(fence) if ticks >= fence && line.len() == ticks => open = None,
            Some(_) => {}
            None if ticks >= 3 => open = Some(ticks),
            None => outside.push(line),
        }
    }
    assert_eq!(open, None, "every fence is closed");
    outside
}

#[test]
fn hostile_text_stays_in_its_place() {
    let rubric = full_rubric();
    let skeleton = |text: &str| {
        let view = CaseView::new(&rubric, &hostile_case(text));
        let markdown = case_markdown(&view);
        assert!(!markdown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
        assert!(!markdown.chars().any(|c| "\u{202e}\u{2066}\u{200b}\u{feff}\u{e0049}".contains(c)), "{text:?}");
        // Names of runs and tools stand in code spans, which no line outside of a fence may otherwise hold.
        let lines = outside_of_fences(&markdown);
        // A title or speaker may say anything on its own line.
        let named = |line: &str| !line.starts_with("## ⟨") && !line.starts_with("⟨");
        let lines = lines.into_iter().filter(|line| named(line));
        lines.map(|line| line.split('`').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let expected = skeleton("harmless");
    assert!(expected.contains(&"## Turn 0 (gold turn)".to_owned()));
    for text in HOSTILE {
        assert_eq!(skeleton(text), expected, "{text:?}");
    }
}

#[test]
fn hostile_reasons_stay_on_their_line() {
    for text in HOSTILE {
        let mut case = hostile_case(text);
        case.ground_truth = None;
        let markdown = case_markdown(&CaseView::new(&rubric(), &case));
        let notes =
            outside_of_fences(&markdown).into_iter().filter(|line| line.contains("There is no ground truth: ")).count();
        assert_eq!(notes, 1);
        let headings = outside_of_fences(&markdown).into_iter().filter(|line| line.starts_with("## Turn")).count();
        assert_eq!(headings, 3, "{text:?}");
        assert!(!markdown.contains("<script>alert(1)</script>") || text.contains("<script>"));
    }
}

#[test]
fn the_same_case_gives_the_same_text() {
    let (one, two) = (everything(&rubric(), &case()), everything(&rubric(), &case()));
    assert_eq!(one, two);
}

#[test]
fn a_case_reads_as_a_conversation() {
    let mut case = case();
    case.baseline.turns[0].emissions =
        vec![r#"[{"cd": "{\"folder\": \"docs\"}"}]"#.to_owned(), r#""Done. See `docs`.""#.to_owned()];
    let markdown = case_markdown(&CaseView::new(&rubric(), &case));
    let turn = "## Turn 0 (gold turn)\n\nUser:\n\n```\nuser_word\n```\n\nThe benchmark expects:\n\n```\ntruth_word(a=1)\n```\n\n\
                Baseline, emission 1 of 2:\n\n```\ncd(folder=\"docs\")\n```\n\n\
                Baseline, emission 2 of 2:\n\n```\nDone. See `docs`.\n```\n\n\
                Second condition, emission 1 of 2:\n\n```\nsecond_emission_one\n```\n";
    assert!(markdown.contains(turn), "{markdown}");
    assert!(markdown.contains("## Turn 2 (held-out tools come back)\n\nUser: (empty)\n"));
    assert!(markdown.contains("Baseline: no emission in this turn.\n"));
}
