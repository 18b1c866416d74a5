use super::*;
use crate::rubric::{Rubric, bundled};

fn rubric() -> Rubric {
    bundled("mechanism-v2").expect("bundled")
}

fn read(label: &str, raw: &str) -> Result<Answer, ValueError> {
    let rubric = rubric();
    let label = rubric.label(&LabelId::parse(label).expect("valid")).expect("in the rubric");
    check_value(label, raw)
}

fn value(label: &str, raw: &str) -> String {
    let answer = read(label, raw).expect(raw);
    answer.value.map_or("missing".to_owned(), |value| value.as_str().to_owned())
}

/// What spreadsheets, editors and people make of `1`.
#[test]
fn ones_and_zeros_survive() {
    for raw in
        ["1", " 1", "1 ", "1\u{a0}", "\u{feff}1", "1\t", "1\r", "'1", "1.0", "1,0", "1.00", "\u{ff11}", "\u{200b}1"]
    {
        assert_eq!(value("B1a", raw), "1", "{raw:?}");
    }
    for raw in ["0", "0.0", "0,00", "\u{202f}0\u{3000}", "\u{feff}'0"] {
        assert_eq!(value("B1a", raw), "0", "{raw:?}");
    }
}

#[test]
fn not_applicable_in_every_spelling() {
    for raw in
        ["n.a.", "n.a", "na", "NA", "N/A", "n/a", "N.A.", "n. a.", "Not applicable", " n.a.\u{a0}", "not-applicable"]
    {
        assert_eq!(value("B6", raw), "n.a.", "{raw:?}");
    }
    for raw in ["cannot_judge", "Cannot judge", "CANNOT-JUDGE", "can't judge", "can\u{2019}t judge"] {
        assert_eq!(value("B6", raw), "cannot_judge", "{raw:?}");
    }
}

#[test]
fn blank_is_missing_and_not_a_value() {
    for raw in ["", " ", "\u{a0}", "\u{feff}", "\t\r\n", "'"] {
        assert_eq!(value("B1a", raw), "missing", "{raw:?}");
    }
}

#[test]
fn choices_in_other_spellings() {
    let spellings = [
        "state_inject_misuse",
        "State_Inject_Misuse",
        "state-inject misuse",
        "STATE INJECT MISUSE",
        "Misled by the injected state",
    ];
    for raw in spellings {
        assert_eq!(value("B7", raw), "state_inject_misuse", "{raw:?}");
    }
}

#[test]
fn what_was_mapped_is_reported() {
    assert_eq!(read("B1a", "1").expect("valid").mapped_from, None);
    assert_eq!(read("B6", "n.a.").expect("valid").mapped_from, None);
    assert_eq!(read("B1a", "1.0").expect("valid").mapped_from.as_deref(), Some("1.0"));
    assert_eq!(read("B6", "N/A").expect("valid").mapped_from.as_deref(), Some("N/A"));
    assert_eq!(read("B1a", "1 ").expect("valid").mapped_from.as_deref(), Some("1 "));
    assert_eq!(read("B1a", " ").expect("valid").mapped_from, None);
}

#[test]
fn nothing_is_guessed() {
    for raw in [
        "2", "-1", "+1", "01", "10", "1.5", "1.", ".0", "1,0,0", "1e0", "l", "O", "x", "1?", "0/1", "1 0", "B1a",
        "\"1\"",
    ] {
        assert!(matches!(read("B1a", raw), Err(ValueError::NotAValue { .. })), "{raw:?}");
    }
    for raw in ["TRUE", "false", "Yes", "n"] {
        assert!(matches!(read("B1a", raw), Err(ValueError::TruthValue { .. })), "{raw:?}");
    }
    for raw in ["#N/A", "#NAME?", "#VALUE!", "NaN"] {
        assert!(matches!(read("B6", raw), Err(ValueError::SpreadsheetError { .. })), "{raw:?}");
    }
    assert!(matches!(read("B1a", "n.a."), Err(ValueError::AlwaysApplies { may_cannot_judge: true, .. })));
    let error = read("B7", "state_inject_missuse").expect_err("misspelt");
    assert_eq!(error.hint(), "did you mean \"state_inject_misuse\"?");
    let mut label = rubric().labels[0].clone();
    label.may_cannot_judge = false;
    assert!(matches!(check_value(&label, "cannot judge"), Err(ValueError::MustJudge { .. })));
}

#[test]
fn messages_stay_short_and_inert() {
    let long = format!("\u{1b}[31m{}", "x".repeat(10_000));
    let error = read("B1a", &long).expect_err("no value");
    assert!(error.to_string().len() < 200);
    assert!(!error.to_string().contains('\u{1b}'));
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_without_panic_and_values_read_back_as_themselves(raw in "\\PC*") {
        for label in &rubric().labels {
            if let Ok(Answer { value: Some(value), .. }) = check_value(label, &raw) {
                let again = check_value(label, value.as_str()).expect("canonical");
                proptest::prop_assert_eq!(again, Answer { value: Some(value), mapped_from: None });
            }
        }
    }
}
