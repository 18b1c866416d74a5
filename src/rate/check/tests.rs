use super::*;
use crate::rate::exchange::{AnswerForm, RawAnswer};
use crate::rate::fixture::{meta, rubric};
use crate::rubric::RationaleRule;

const DIGEST: &str = "d1";

fn label(id: &str) -> LabelId {
    LabelId::parse(id).expect("valid")
}

fn case(id: &str) -> CaseIdentity {
    CaseIdentity::parse(id).expect("valid")
}

/// A rubric in which rationales are optional, so that tests can leave them out.
fn terse() -> Rubric {
    let mut rubric = rubric();
    rubric.rationale = RationaleRule::Optional;
    rubric
}

/// A batch of three cases: a miss_func fail in A, a miss_param pass in F, an unscored base case in C.
fn expectation(rubric: &Rubric) -> BatchExpectation<'_> {
    let expected = |category, stratum: &str, verdict| ExpectedCase {
        digest: DIGEST.to_owned(),
        category,
        stratum: stratum.to_owned(),
        verdict,
        events: None,
        existing: BTreeMap::new(),
    };
    let meta = meta(rubric);
    BatchExpectation {
        batch: meta.batch,
        rater: meta.rater,
        rubric,
        cases: BTreeMap::from([
            (case("r/func"), expected(Category::MissFunc, "A", Some(Verdict::Fail))),
            (case("r/param"), expected(Category::MissParam, "F", Some(Verdict::Pass))),
            (case("r/base"), expected(Category::Base, "C", None)),
        ]),
        revise: false,
    }
}

fn row(rubric: &Rubric, line: u64, case: &str, answers: &[(&str, &str)]) -> AnswerRow {
    let meta = meta(rubric);
    let raw = |(label, value): &(&str, &str)| RawAnswer {
        label: (*label).to_owned(),
        value: (*value).to_owned(),
        rationale: String::new(),
    };
    AnswerRow {
        line,
        form: AnswerForm::Sheet,
        batch: meta.batch.to_string(),
        rubric_digest: meta.rubric_digest,
        rater: meta.rater.to_string(),
        case: case.to_owned(),
        case_digest: DIGEST.to_owned(),
        answers: answers.iter().map(raw).collect(),
    }
}

const FULL: [(&str, &str); 7] =
    [("B1a", "0"), ("B1b", "1"), ("B3", "1"), ("B4", "0"), ("B5", "0"), ("B6", "n.a."), ("B7", "n.a.")];

fn stored(expected: &mut BatchExpectation<'_>, case_id: &str, values: &[(&str, &str, &str)]) {
    let facts = expected.cases.get_mut(&case(case_id)).expect("case");
    for (id, value, rationale) in values {
        let rating = StoredRating { value: (*value).to_owned().into(), rationale: (*rationale).to_owned() };
        facts.existing.insert(label(id), rating);
    }
}

fn accepted(outcome: &ImportOutcome) -> Vec<(&str, &str)> {
    outcome.accepted.iter().map(|rating| (rating.label.as_str(), rating.value.as_str())).collect()
}

fn messages(problems: &[LineProblem]) -> Vec<(u64, Option<&str>, &str)> {
    problems.iter().map(|p| (p.line, p.label.as_deref(), p.message.as_str())).collect()
}

#[test]
fn a_full_row_is_taken_whole_and_again_changes_nothing() {
    let rubric = terse();
    let mut expected = expectation(&rubric);
    let outcome = check_import(&expected, vec![row(&rubric, 2, "r/func", &FULL)]);
    assert_eq!(accepted(&outcome), FULL);
    assert!(outcome.problems.is_empty() && outcome.missing.is_empty() && outcome.mapped.is_empty());
    let values: Vec<(&str, &str, &str)> = FULL.iter().map(|(label, value)| (*label, *value, "")).collect();
    stored(&mut expected, "r/func", &values);
    let outcome = check_import(&expected, vec![row(&rubric, 2, "r/func", &FULL)]);
    assert!(outcome.accepted.is_empty() && outcome.problems.is_empty());
    assert_eq!(outcome.unchanged.len(), 7);
}

#[test]
fn files_that_belong_elsewhere_are_refused() {
    type Change = fn(&mut AnswerRow);
    let rubric = terse();
    let expected = expectation(&rubric);
    let spoil: [(Change, &str); 6] = [
        (|row| row.batch = "pilot".to_owned(), "the row belongs to batch \"pilot\", not \"main\""),
        (|row| row.rater = "ben".to_owned(), "the row is of rater \"ben\", not \"anna\""),
        (|row| row.rubric_digest = "0".to_owned(), "made under the rubric digest \"0\""),
        (|row| row.case_digest = "d0".to_owned(), "another state of the case (digest \"d0\")"),
        (|row| row.case = "r/other".to_owned(), "the batch has no case \"r/other\""),
        (|row| row.case = "\u{1b}[31m".to_owned(), "the batch has no case \"\\u{1b}[31m\""),
    ];
    for (change, message) in spoil {
        let mut row = row(&rubric, 5, "r/func", &FULL);
        change(&mut row);
        let outcome = check_import(&expected, vec![row]);
        assert!(outcome.accepted.is_empty());
        assert_eq!(outcome.problems.len(), 1);
        let problem = &outcome.problems[0];
        assert_eq!(problem.line, 5);
        assert!(problem.message.contains(message), "{}", problem.message);
        assert!(problem.hint.is_some() && !problem.case.as_deref().unwrap_or_default().contains('\u{1b}'));
    }
}

#[test]
fn of_doubled_rows_none_is_taken() {
    let rubric = terse();
    let expected = expectation(&rubric);
    let rows = vec![
        row(&rubric, 2, "r/func", &FULL),
        row(&rubric, 3, "r/base", &[("B4", "0")]),
        row(&rubric, 4, "r/func", &[]),
    ];
    let outcome = check_import(&expected, rows);
    assert_eq!(messages(&outcome.problems), [(4, None, "the case stands in line 2 already")]);
    assert!(outcome.accepted.iter().all(|rating| rating.case == case("r/base")));
}

#[test]
fn wrong_values_are_named_and_the_others_taken() {
    let rubric = terse();
    let expected = expectation(&rubric);
    let answers = [("B1a", "yes"), ("B1b", "2"), ("B4", "n.a."), ("B6", "1.0"), ("b5", "0")];
    let outcome = check_import(&expected, vec![row(&rubric, 9, "r/func", &answers)]);
    let wrong: Vec<_> = outcome.problems.iter().map(|problem| problem.label.as_deref()).collect();
    assert_eq!(wrong, [Some("B1a"), Some("B1b"), Some("B4")]);
    assert_eq!(accepted(&outcome), [("B5", "0"), ("B6", "1"), ("B7", "n.a.")]);
    assert_eq!(outcome.mapped.len(), 1);
    assert_eq!((outcome.mapped[0].from.as_str(), outcome.mapped[0].to.as_str()), ("1.0", "1"));
    assert_eq!(outcome.missing, [(case("r/func"), label("B3"))]);
}

#[test]
fn half_filled_rows_count_what_is_missing_and_untouched_rows_store_nothing() {
    let rubric = terse();
    let expected = expectation(&rubric);
    let rows = vec![
        row(&rubric, 2, "r/func", &[("B1a", ""), ("B3", " "), ("B7", "n.a.")]),
        row(&rubric, 3, "r/base", &[("B1a", "1"), ("B3", ""), ("B7", "N/A")]),
    ];
    let outcome = check_import(&expected, rows);
    assert_eq!(outcome.untouched, [case("r/func")]);
    // B3 was left blank, but cannot be anything else than n.a. in a base case.
    assert_eq!(accepted(&outcome), [("B1a", "1"), ("B3", "n.a."), ("B7", "n.a.")]);
    let missing: Vec<&str> = outcome.missing.iter().map(|(_, label)| label.as_str()).collect();
    assert_eq!(missing, ["B1b", "B4", "B5", "B6"]);
    assert!(outcome.problems.is_empty());
}

#[test]
fn answers_that_contradict_each_other_are_refused_together() {
    let rubric = terse();
    let expected = expectation(&rubric);
    // In a pass, B1a = 0 makes B5 = 1; B4 is not concerned.
    let answers = [("B1a", "0"), ("B1b", "0"), ("B4", "0"), ("B5", "0"), ("B7", "unclassified")];
    let outcome = check_import(&expected, vec![row(&rubric, 4, "r/param", &answers)]);
    assert_eq!(accepted(&outcome), [("B1b", "0"), ("B3", "n.a."), ("B4", "0"), ("B7", "unclassified")]);
    assert_eq!(outcome.problems.len(), 1);
    assert!(outcome.problems[0].message.starts_with("B5 is 0, but must be 1"));
    assert_eq!(outcome.missing.len(), 1, "B6 only");
    // n.a. where the label applies, and a value where it does not.
    let outcome =
        check_import(&expected, vec![row(&rubric, 4, "r/param", &[("B3", "1"), ("B7", "n.a."), ("B4", "0")])]);
    assert_eq!(accepted(&outcome), [("B4", "0")]);
    assert_eq!(outcome.problems.len(), 2);
}

#[test]
fn a_rule_that_only_warns_refuses_nothing() {
    let mut rubric = terse();
    for rule in &mut rubric.rules {
        rule.severity = crate::rubric::Severity::Warn;
    }
    let expected = expectation(&rubric);
    let outcome = check_import(&expected, vec![row(&rubric, 4, "r/param", &[("B1a", "0"), ("B5", "0")])]);
    assert_eq!(accepted(&outcome), [("B1a", "0"), ("B3", "n.a."), ("B5", "0")]);
    assert!(outcome.problems.is_empty());
    assert_eq!(outcome.warnings.len(), 1);
}

#[test]
fn stored_answers_change_only_with_leave() {
    let rubric = terse();
    let mut expected = expectation(&rubric);
    stored(&mut expected, "r/param", &[("B1a", "0", "first words"), ("B5", "1", "")]);
    let outcome = check_import(&expected, vec![row(&rubric, 4, "r/param", &[("B1a", "1"), ("B5", "1")])]);
    assert_eq!(messages(&outcome.problems), [(4, Some("B1a"), "B1a is 1 here, but stored with 0")]);
    assert_eq!(outcome.unchanged, [(case("r/param"), label("B5"))]);
    expected.revise = true;
    let outcome = check_import(&expected, vec![row(&rubric, 4, "r/param", &[("B1a", "1"), ("B5", "0"), ("B1b", "1")])]);
    assert!(outcome.problems.is_empty());
    let revised: Vec<_> =
        outcome.accepted.iter().map(|r| (r.label.as_str(), r.revises.as_ref().map(RatingValue::as_str))).collect();
    assert_eq!(revised, [("B1a", Some("0")), ("B1b", None), ("B3", None), ("B5", Some("1"))]);
}

/// A refused revision brings the stored value back, and the row's other answers must fit that one.
#[test]
fn what_is_stored_afterwards_is_consistent() {
    let rubric = terse();
    let mut expected = expectation(&rubric);
    stored(&mut expected, "r/param", &[("B1a", "0", "")]);
    let answers = [("B1a", "1"), ("B1b", "1"), ("B5", "0")];
    let outcome = check_import(&expected, vec![row(&rubric, 4, "r/param", &answers)]);
    assert_eq!(accepted(&outcome), [("B1b", "1"), ("B3", "n.a.")]);
    assert_eq!(outcome.problems.len(), 2, "{:?}", outcome.problems);
}

#[test]
fn rationales_are_required_expected_or_optional() {
    for (rule, problems, warnings) in
        [(RationaleRule::Required, 1, 0), (RationaleRule::Expected, 0, 1), (RationaleRule::Optional, 0, 0)]
    {
        let mut rubric = rubric();
        rubric.rationale = rule;
        let expected = expectation(&rubric);
        let mut row = row(&rubric, 2, "r/base", &[("B1a", "1"), ("B4", "0")]);
        row.answers[0].rationale = "turn 0 calls ls".to_owned();
        row.answers[1].rationale = " ".to_owned();
        let outcome = check_import(&expected, vec![row]);
        assert_eq!((outcome.problems.len(), outcome.warnings.len()), (problems, warnings), "{rule:?}");
        assert_eq!(outcome.accepted[0].rationale, "turn 0 calls ls");
    }
}

#[test]
fn a_new_rationale_is_a_revision_and_a_blank_one_takes_nothing_back() {
    let rubric = terse();
    let mut expected = expectation(&rubric);
    stored(&mut expected, "r/base", &[("B4", "0", "old words")]);
    let mut again = row(&rubric, 2, "r/base", &[("B4", "0")]);
    let outcome = check_import(&expected, vec![again.clone()]);
    assert_eq!(outcome.unchanged, [(case("r/base"), label("B4"))]);
    again.answers[0].rationale = "new words".to_owned();
    let outcome = check_import(&expected, vec![again.clone()]);
    assert_eq!(messages(&outcome.problems), [(2, Some("B4"), "B4 is 0 here, but stored with another rationale")]);
    expected.revise = true;
    let outcome = check_import(&expected, vec![again]);
    let revised = outcome.accepted.iter().find(|rating| rating.label == label("B4")).expect("taken");
    assert_eq!((revised.rationale.as_str(), revised.revises.is_some()), ("new words", true));
}

#[test]
fn unknown_labels_are_passed_over_in_sheets_and_refused_in_json() {
    let rubric = terse();
    let expected = expectation(&rubric);
    let answers = [("B4", "0"), ("B2", "1"), ("my notes", "hm")];
    let mut rows = vec![row(&rubric, 2, "r/base", &answers), row(&rubric, 3, "r/func", &answers)];
    let outcome = check_import(&expected, rows.clone());
    assert!(outcome.problems.is_empty());
    assert_eq!(outcome.warnings.len(), 2, "each column once");
    for row in &mut rows {
        row.form = AnswerForm::Json;
    }
    let outcome = check_import(&expected, rows);
    assert_eq!(outcome.problems.len(), 4);
}

#[test]
fn a_label_answered_twice_is_not_answered() {
    let rubric = terse();
    let expected = expectation(&rubric);
    let outcome = check_import(&expected, vec![row(&rubric, 2, "r/base", &[("B4", "0"), ("b4", "1"), ("B1a", "1")])]);
    assert_eq!(messages(&outcome.problems), [(2, Some("B4"), "B4 is answered twice in this row")]);
    assert_eq!(accepted(&outcome), [("B1a", "1"), ("B3", "n.a."), ("B7", "n.a.")]);
}

proptest::proptest! {
    /// Whatever a file holds: what would be stored afterwards satisfies every rule, and nothing vanishes.
    #[test]
    fn any_row_leaves_a_consistent_case(
        values in proptest::collection::vec(proptest::sample::select(vec![
            "0", "1", "", "n.a.", "cannot_judge", "unclassified", "x", "1.0",
        ]), 7),
        stored_values in proptest::collection::vec(proptest::sample::select(vec!["0", "1", ""]), 5),
        case_id in proptest::sample::select(vec!["r/func", "r/param", "r/base"]),
        revise in proptest::bool::ANY,
    ) {
        let rubric = terse();
        let mut expected = expectation(&rubric);
        expected.revise = revise;
        let ids = ["B1a", "B1b", "B3", "B4", "B5", "B6", "B7"];
        for (id, value) in ["B1a", "B1b", "B4", "B5", "B6"].iter().zip(&stored_values) {
            if !value.is_empty() {
                stored(&mut expected, case_id, &[(id, value, "")]);
            }
        }
        let facts = expected.cases[&case(case_id)].clone();
        let before: BTreeMap<LabelId, RatingValue> =
            facts.existing.iter().map(|(label, stored)| (label.clone(), stored.value.clone())).collect();
        // A store that is broken already is not what is tested here.
        if !crate::rubric::check_case(&rubric, &facts.facts(), &before).is_empty() {
            return Ok(());
        }
        let answers: Vec<(&str, &str)> = ids.into_iter().zip(values).collect();
        let outcome = check_import(&expected, vec![row(&rubric, 2, case_id, &answers)]);
        let mut after = before.clone();
        for rating in &outcome.accepted {
            let old = after.insert(rating.label.clone(), rating.value.clone());
            proptest::prop_assert_eq!(old.clone(), rating.revises.clone());
            proptest::prop_assert!(old.is_none() || revise);
        }
        proptest::prop_assert_eq!(crate::rubric::check_case(&rubric, &facts.facts(), &after), vec![]);
        if outcome.problems.is_empty() && outcome.untouched.is_empty() {
            for id in ids.map(label) {
                let count = usize::from(after.contains_key(&id))
                    + outcome.missing.iter().filter(|(_, missing)| *missing == id).count();
                proptest::prop_assert_eq!(count, 1, "{}", id);
            }
        }
    }
}

/// Version 3 does not ask B5: it is 1 exactly for a pass whose B1a is 0, whatever stands in its cell, and it moves when B1a
/// is revised.
#[test]
fn a_label_that_is_not_asked_is_computed() {
    let mut rubric = crate::rubric::bundled("mechanism-v3").expect("bundled");
    rubric.rationale = RationaleRule::Optional;
    let mut expected = expectation(&rubric);
    let b5 = |outcome: &ImportOutcome| {
        let found = outcome.accepted.iter().find(|answer| answer.label == label("B5"));
        found.map(|answer| answer.value.as_str().to_owned())
    };
    let answers = |b1a, b5| vec![("B1a", b1a), ("B1b", "1"), ("B4", "0"), ("B5", b5), ("B6", "n.a.")];
    for (b1a, cell, due) in
        [("0", "", "1"), ("1", "(by rule)", "0"), ("0", "n.a.", "1"), ("cannot_judge", "", "cannot_judge")]
    {
        let outcome = check_import(&expected, vec![row(&rubric, 2, "r/param", &answers(b1a, cell))]);
        assert_eq!(outcome.problems, []);
        assert!(outcome.warnings.iter().all(|warning| warning.label.as_deref() != Some("B5")), "{cell}");
        assert_eq!(b5(&outcome).as_deref(), Some(due), "B1a {b1a} on a pass");
    }
    let outcome = check_import(&expected, vec![row(&rubric, 2, "r/param", &answers("0", "0"))]);
    assert!(outcome.warnings.iter().any(|warning| warning.label.as_deref() == Some("B5")), "the cell is passed over");
    assert_eq!(b5(&outcome).as_deref(), Some("1"));
    let open = check_import(&expected, vec![row(&rubric, 2, "r/param", &[("B4", "0")])]);
    assert!(!open.missing.iter().any(|(_, found)| *found == label("B5")), "nobody is asked for it");
    assert_eq!(b5(&open), None, "B1a is open");
    stored(&mut expected, "r/param", &[("B1a", "0", ""), ("B5", "1", "")]);
    expected.revise = true;
    let outcome = check_import(&expected, vec![row(&rubric, 2, "r/param", &answers("1", "1"))]);
    assert_eq!(outcome.problems, []);
    assert_eq!(b5(&outcome).as_deref(), Some("0"), "B1a was revised to 1");
}
