//! Prompts keep their form, and replies come back in many.

use std::collections::BTreeMap;

use dualrater::rate::{AnswerFile, PromptWriter, prompt, read_markdown};
use serde_json::{Value, json};

use super::*;

/// The form at the end of a prompt, filled in.
fn filled(document: &str, rationale: &str) -> String {
    let start = document.rfind("```json\n").expect("form") + "```json\n".len();
    let end = start + document[start..].find("\n```").expect("fence");
    let mut form: Value = serde_json::from_str(&document[start..end]).expect("JSON");
    for (name, answer) in form["labels"].as_object_mut().expect("labels") {
        if answer["value"].is_null() {
            answer["value"] = if name == "B1a" || name == "B4" || name == "B5" { json!(0) } else { json!("1") };
            answer["rationale"] = json!(rationale);
        }
    }
    format!("{}{}{}", &document[..start], serde_json::to_string_pretty(&form).expect("JSON"), &document[end..])
}

fn taken(rubric: &Rubric, case: &RaterCase, file: AnswerFile) -> Vec<(String, String, String)> {
    assert_eq!(file.problems, []);
    let outcome = check_import(&expectation(rubric, std::slice::from_ref(case)), file.rows);
    assert_eq!(outcome.problems, []);
    outcome.accepted.into_iter().map(|r| (r.label.to_string(), r.value.to_string(), r.rationale)).collect()
}

fn expected_answers(rationale: &str) -> Vec<(String, String, String)> {
    [("B1a", "0"), ("B1b", "1"), ("B3", "1"), ("B4", "0"), ("B5", "0"), ("B6", "1"), ("B7", "n.a.")]
        .into_iter()
        .map(|(label, value)| {
            let rationale = if label == "B7" { "" } else { rationale };
            (label.to_owned(), value.to_owned(), rationale.to_owned())
        })
        .collect()
}

#[test]
fn a_prompt_keeps_its_form_whatever_the_case_says() {
    let rubric = rubric();
    let system = prompt(&rubric, &rater_case(&rubric, &case_text("r/1", "x"), &BTreeMap::new())).system;
    for text in HOSTILE {
        let case = rater_case(&rubric, &case_text("r/1", text), &BTreeMap::new());
        let document = prompt_markdown(&meta(&rubric), &rubric, &case);
        let made = prompt(&rubric, &case);
        assert_eq!(made.system, system, "the system part knows nothing of the case");
        let mark = &case.digest[..16];
        for whole in [&document, &made.user] {
            assert_eq!(whole.lines().filter(|line| **line == format!("[case {mark} begins]")).count(), 1, "{text:?}");
            assert_eq!(whole.lines().filter(|line| **line == format!("[case {mark} ends]")).count(), 1, "{text:?}");
            assert!(!whole.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "{text:?}");
            for token in ["<|", "|>", "[INST]", "</s>"] {
                assert!(!whole.contains(token), "{token} in {text:?}");
            }
            for acting in ['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}'] {
                assert!(!whole.contains(acting), "{text:?}");
            }
        }
        // The untouched document answers nothing, whatever stands in the case.
        let untouched = read_markdown(document.as_bytes()).expect("read");
        assert_eq!(untouched.problems, [], "{text:?}");
        let outcome = check_import(&expectation(&rubric, std::slice::from_ref(&case)), untouched.rows);
        assert_eq!((outcome.accepted.len(), outcome.untouched.len(), outcome.problems.len()), (0, 1, 0), "{text:?}");
        // Filled in, with the same text as rationale.
        let answered = read_markdown(filled(&document, text).as_bytes()).expect("read");
        let expected = if text.trim().is_empty() { expected_answers("") } else { expected_answers(text) };
        assert_eq!(taken(&rubric, &case, answered), expected, "{text:?}");
    }
}

#[test]
fn replies_come_back_in_many_forms() {
    let rubric = rubric();
    let case = rater_case(&rubric, &case_text("r/1", HOSTILE[0]), &BTreeMap::new());
    let document = prompt_markdown(&meta(&rubric), &rubric, &case);
    let filled_in = filled(&document, "why");
    let start = filled_in.rfind("```json\n").expect("form");
    let whole = &filled_in[start..];
    let labels = {
        let form: Value =
            serde_json::from_str(whole.trim_start_matches("```json\n").trim_end().trim_end_matches("```"))
                .expect("JSON");
        json!({ "labels": form["labels"] }).to_string()
    };
    let prose = format!("Let me think {{step by step}}.\n\n```json\n{labels}\n```\n\nDone.");
    for reply in [
        // The object below the untouched form, with or without what it answers.
        format!("{document}\n{prose}\n"),
        format!("{document}\n{whole}"),
        // Alone, if it says what it answers.
        whole.to_owned(),
        format!("Sure!\r\n{}", whole.replace('\n', "\r\n")),
    ] {
        let file = read_markdown(reply.as_bytes()).expect("read");
        assert_eq!(taken(&rubric, &case, file), expected_answers("why"));
    }
    let lost = read_markdown(labels.as_bytes()).expect("read");
    assert!(lost.rows.is_empty() && lost.problems[0].message.contains("does not say what it answers"));
    let cut = document.replace(" ends]", " ended]");
    assert!(
        read_markdown(cut.as_bytes()).expect("read").problems[0].message.contains("the line that ends it is missing")
    );
    let other = format!("{document}\n{}", whole.replace("\"r/1\"", "\"r/2\""));
    assert!(
        read_markdown(other.as_bytes()).expect("read").problems[0].message.contains("for case \"r/1\" and \"r/2\"")
    );

    let mut writer = PromptWriter::new(Vec::new(), meta(&rubric), &rubric);
    writer.case(&case).expect("written");
    let line = String::from_utf8(writer.finish().expect("flushed")).expect("text");
    let parsed: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(parsed["messages"][0]["role"], "system");
    assert_eq!(parsed["messages"][1]["role"], "user");
    let untouched = read_jsonl(line.as_bytes()).expect("read");
    assert_eq!((untouched.problems.len(), untouched.rows[0].answers.len()), (0, 0));
    let object: Value = serde_json::from_str(&labels).expect("JSON");
    for answer in [json!(prose), object, json!(whole), json!(labels)] {
        let mut answered = parsed.clone();
        answered["answer"] = answer;
        let file = read_jsonl(answered.to_string().as_bytes()).expect("read");
        assert_eq!(taken(&rubric, &case, file), expected_answers("why"));
    }
    for (answer, message) in [
        (json!("I refuse."), "no answer here"),
        (json!(3), "neither a text nor an object"),
        (json!({ "B1a": 1 }), "neither a text nor an object"),
        (json!(whole.replace("\"r/1\"", "\"r/2\"")), "the answer is for case \"r/2\", its line for \"r/1\""),
        (json!(format!("{labels} {}", labels.replace("\"why\"", "\"no\""))), "2 different answers"),
    ] {
        let mut answered = parsed.clone();
        answered["answer"] = answer;
        let file = read_jsonl(answered.to_string().as_bytes()).expect("read");
        assert!(file.problems[0].message.contains(message), "{:?}", file.problems);
        assert_eq!(file.problems[0].line, 1);
    }
}
