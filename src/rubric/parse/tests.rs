use super::*;
use crate::rubric::{Problem, bundled_text};

/// A small sound rubric; the tests below spoil one thing each.
const SOUND: &str = r#"id = "t-v1"
version = 1
title = "T"
gold_turn = "ground_truth"
rationale = "optional"
primary = ["X"]
show = ["emissions"]

[[labels]]
id = "X"
title = "A yes or no"
kind = "binary"
question = "Is it so?"
applies = "all"
na = "never"
may_cannot_judge = false
examples = [{ case = "c", answer = "1", why = "w" }]

[[labels]]
id = "Y"
title = "A choice"
kind = "choice"
question = "Which?"
applies = { categories = ["base"] }
na = "derived"
may_cannot_judge = true
choices = [
  { id = "red_one", title = "Red one", help = "h" },
  { id = "blue", title = "Blue", help = "h" },
]

[[rules]]
id = "r"
severity = "warn"
if = [{ label = "X", is = "1" }]
then = [{ label = "Y", is = "blue" }]
because = "so it is"
"#;

fn problems(text: &str) -> Vec<Problem> {
    parse(text).expect_err("spoilt").problems
}

/// Spoils one place and expects one problem: where it must be found, and words of its message and hint.
fn spoilt(from: &str, to: &str, line: u64, column: u64, message: &str, hint: &str) {
    assert!(SOUND.contains(from), "{from} stands in the rubric");
    let found = problems(&SOUND.replacen(from, to, 1));
    assert_eq!(found.len(), 1, "{found:?}");
    let problem = &found[0];
    assert_eq!((problem.line, problem.column), (line, column), "{problem}");
    assert!(problem.kind.to_string().contains(message), "{problem}");
    assert!(problem.hint.as_deref().unwrap_or_default().contains(hint), "{:?}", problem.hint);
}

#[test]
fn the_sound_rubric_is_sound() {
    let rubric = parse(SOUND).expect("sound");
    assert_eq!(rubric.labels.len(), 2);
    assert_eq!(rubric.rules.len(), 1);
}

#[test]
fn every_kind_of_problem_is_found_at_its_place() {
    spoilt("title = \"T\"", "titel = \"T\"\ntitle = \"T\"", 3, 1, "unknown key \"titel\"", "did you mean \"title\"");
    spoilt("question = \"Is it so?\"", "queston = \"?\"\nquestion = \"Is it so?\"", 13, 1, "unknown key", "question");
    spoilt("version = 1\n", "", 1, 1, "needs the key \"version\"", "");
    spoilt("question = \"Is it so?\"\n", "", 9, 1, "label X needs the key \"question\"", "");
    spoilt("version = 1", "version = \"1\"", 2, 11, "must be a whole number", "");
    spoilt("version = 1", "version = -1", 2, 11, "must be a whole number", "");
    spoilt("title = \"T\"", "title = 3", 3, 9, "must be a text, not integer", "");
    spoilt("may_cannot_judge = false", "may_cannot_judge = \"no\"", 16, 20, "must be true or false", "");
    spoilt("title = \"T\"", "title = \"  \"", 3, 9, "is empty", "");
    spoilt("show = [\"emissions\"]", "show = []", 7, 8, "\"show\" in the rubric is empty", "leave the key out");
    spoilt(
        "show = [\"emissions\"]",
        "show = [\"emission\"]",
        7,
        9,
        "no value of \"show\"",
        "did you mean \"emissions\"",
    );
    spoilt("[\"emissions\"]", "[\"emissions\", \"emissions\"]", 7, 22, "stands twice", "remove one");
    spoilt("show = [\"emissions\"]", "show = \"emissions\"", 7, 8, "must be a list of texts", "");
    spoilt("kind = \"binary\"", "kind = \"bool\"", 12, 8, "no value of \"kind\"", "binary");
    spoilt(
        "gold_turn = \"ground_truth\"",
        "gold_turn = \"truth\"",
        4,
        13,
        "no value of \"gold_turn\"",
        "zero_for_missing",
    );
    spoilt("rationale = \"optional\"", "rationale = \"maybe\"", 5, 13, "no value of \"rationale\"", "expected");
    spoilt("primary = [\"X\"]", "primary = [\"x\"]", 6, 12, "does not have", "did you mean \"X\"");
    spoilt("primary = [\"X\"]", "primary = [\"X\", \"X\"]", 6, 17, "stands twice", "");
    spoilt("id = \"t-v1\"", "id = \"t v1\"", 1, 6, "no rubric id", "letters");
}

#[test]
fn every_kind_of_problem_in_a_label() {
    spoilt("id = \"Y\"", "id = \"x\"", 20, 6, "label \"x\" stands twice", "");
    spoilt("id = \"Y\"", "id = \"case\"", 20, 6, "a column of the rating sheets", "");
    spoilt("id = \"Y\"", "id = \"X_rationale\"", 20, 6, "a column of the rating sheets", "");
    spoilt("id = \"Y\"", "id = \"=1\"", 20, 6, "no label id", "a letter");
    spoilt("id = \"blue\"", "id = \"red_one\"", 29, 10, "value \"red_one\" stands twice in label Y", "");
    spoilt("title = \"Blue\"", "title = \"RED-ONE\"", 29, 26, "value \"RED-ONE\" stands twice", "");
    spoilt("id = \"blue\"", "id = \"Blue\"", 29, 10, "cannot be a value of label Y", "lower-case");
    spoilt("id = \"blue\"", "id = \"n_a\"", 29, 10, "cannot be a value of label Y", "not n.a.");
    spoilt(
        "  { id = \"red_one\", title = \"Red one\", help = \"h\" },\n",
        "",
        19,
        1,
        "one choice only",
        "at least two",
    );
    spoilt("kind = \"choice\"", "kind = \"binary\"", 19, 1, "binary and cannot have choices", "kind = \"choice\"");
    spoilt("kind = \"binary\"", "kind = \"choice\"", 9, 1, "label X needs the key \"choices\"", "");
    spoilt("na = \"derived\"", "na = \"never\"", 19, 1, "makes it \"derived\"", "categories or strata");
    spoilt("{ categories = [\"base\"] }", "{ categories = [\"bass\"] }", 24, 27, "no value of \"categories\"", "base");
    spoilt(
        "{ categories = [\"base\"] }",
        "{ category = [\"base\"], categories = [\"base\"] }",
        24,
        13,
        "unknown key",
        "categories",
    );
    spoilt("{ categories = [\"base\"] }", "{ strata = [\"a/b\"] }", 24, 23, "cannot hold '/'", "");
    spoilt("applies = \"all\"", "applies = \"some\"", 14, 11, "must be \"all\" or a table", "");
    spoilt("answer = \"1\"", "answer = \"yes\"", 17, 36, "no answer to X", "0, 1");
    spoilt(
        "na = \"never\"",
        "na = \"never\"\nreadings = [{ id = \"a\", text = \"t\", used = false }, { id = \"b\", text = \"t\", used = false }]",
        9,
        1,
        "0 readings in use",
        "used = true",
    );
}

#[test]
fn every_kind_of_problem_in_a_rule() {
    spoilt("label = \"X\", is", "label = \"Z\", is", 35, 17, "names the label \"Z\"", "X, Y");
    spoilt("is = \"blue\"", "is = \"green\"", 36, 29, "no answer to Y", "red_one, blue");
    spoilt(
        "if = [{ label = \"X\", is = \"1\" }]",
        "if = [{ verdict = \"OK\" }]",
        35,
        19,
        "no value of \"verdict\"",
        "PASS",
    );
    spoilt(
        "if = [{ label = \"X\", is = \"1\" }]",
        "if = [{ label = \"X\" }]",
        35,
        7,
        "is no condition",
        "\"label\" and \"is\"",
    );
    spoilt(
        "then = [{ label = \"Y\", is = \"blue\" }]\n",
        "",
        32,
        1,
        "neither an implication nor an equality",
        "one_when",
    );
    spoilt("severity = \"warn\"", "severity = \"fatal\"", 34, 12, "no value of \"severity\"", "error, warn");
    let implication = "if = [{ label = \"X\", is = \"1\" }]\nthen = [{ label = \"Y\", is = \"blue\" }]";
    spoilt(implication, "label = \"Y\"\none_when = [{ verdict = \"PASS\" }]", 35, 9, "which is not binary", "");
    spoilt(implication, "label = \"X\"\none_when = [{ label = \"X\", is = \"1\" }]", 35, 9, "depend on itself", "");
    let twice = format!(
        "{SOUND}\n[[rules]]\nid = \"r\"\nseverity = \"warn\"\nlabel = \"X\"\none_when = [{{ verdict = \"PASS\" }}]\nbecause = \"b\"\n"
    );
    assert_eq!(problems(&twice)[0].to_string(), "line 40, column 6: rule \"r\" stands twice in the rubric");
}

#[test]
fn broken_toml_and_several_problems() {
    let found = problems("id = \"x\nversion = 1\n");
    assert_eq!(found[0].line, 1);
    assert!(matches!(found[0].kind, ProblemKind::Syntax(_)));
    let found = problems("");
    let missing: Vec<String> = found.iter().map(|problem| problem.kind.to_string()).collect();
    for key in ["id", "version", "title", "gold_turn", "rationale", "show", "labels"] {
        assert!(missing.contains(&format!("the rubric needs the key {key:?}")), "{key}: {missing:?}");
    }
    let spoilt = SOUND.replace("kind = \"binary\"", "kind = \"b\"").replace("title = \"T\"", "title = 1");
    let found = problems(&spoilt);
    assert_eq!(found.iter().map(|p| p.line).collect::<Vec<_>>(), [3, 12], "in the order of the lines");
}

#[test]
fn an_error_names_file_line_and_column() {
    let error = parse(&SOUND.replace("kind = \"binary\"", "kind = \"bool\"")).expect_err("spoilt");
    let error = error.into_error(std::path::Path::new("my.toml"));
    assert!(error.to_string().starts_with("my.toml:12:8: \"bool\" is no value of \"kind\" in label X"), "{error}");
    assert!(error.hint_text().is_some());
}

#[test]
fn truncated_rubrics_never_panic() {
    let text = bundled_text("mechanism-v2").expect("bundled");
    for end in (0..text.len()).step_by(7) {
        if let Some(part) = text.get(..end) {
            let _ = parse(part);
        }
    }
}
