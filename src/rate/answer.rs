//! The answer object in JSON, `{"labels": {label: {"value": …, "rationale": …}}}`: found in whatever stands around it,
//! then read strictly.

use super::exchange::{LineProblem, RawAnswer};
use super::json::{Pairs, string};
use super::text::quoted;

/// The keys by which an answer object may say what it answers.
pub(super) const IDENTITY: [&str; 6] = ["batch", "rubric", "rubric_digest", "rater", "case", "case_digest"];

/// An answer object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerObject {
    /// What it says about itself, in the order of [`IDENTITY`].
    pub identity: [Option<String>; 6],
    /// Its answers.
    pub answers: Vec<RawAnswer>,
    /// What is wrong in it.
    pub problems: Vec<LineProblem>,
}

impl AnswerObject {
    /// Does it answer nothing (as the form that was sent out)?
    pub(super) fn is_blank(&self) -> bool {
        let prefilled = |answer: &RawAnswer| answer.value == crate::model::RatingValue::NOT_APPLICABLE;
        self.answers.iter().all(|answer| answer.is_blank() || (prefilled(answer) && answer.rationale.is_empty()))
    }
}

/// Reads an object that has the key `labels`. `line` is where it stands.
pub(super) fn read_object(object: &Pairs, line: u64) -> AnswerObject {
    let mut problems = Vec::new();
    let doubled = object.doubled_key().map(str::to_owned);
    if let Some(key) = doubled {
        let message = format!("the key {} stands twice in the answer", quoted(&key));
        problems.push(LineProblem::new(line, message));
    }
    for (key, _) in &object.0 {
        if key != "labels" && !IDENTITY.contains(&key.as_str()) {
            let message = format!("the answer has the unknown key {}", quoted(key));
            problems.push(LineProblem::new(line, message).hint("an answer has the key \"labels\" only"));
        }
    }
    let answers = object.get("labels").map_or_else(Vec::new, |labels| read_labels(labels.get(), line, &mut problems));
    AnswerObject { identity: IDENTITY.map(|key| object.text(key)), answers, problems }
}

/// Reads the value of `labels`. An answer with a problem is left out.
pub(super) fn read_labels(json: &str, line: u64, problems: &mut Vec<LineProblem>) -> Vec<RawAnswer> {
    let Some(labels) = Pairs::read(json) else {
        let hint = "write {label: {\"value\": …, \"rationale\": …}}";
        problems.push(LineProblem::new(line, "\"labels\" is no JSON object").hint(hint));
        return Vec::new();
    };
    if let Some(label) = labels.doubled_key() {
        let message = format!("{} is answered twice", quoted(label));
        problems.push(LineProblem::new(line, message).label(label));
        return Vec::new();
    }
    let mut answers = Vec::new();
    for (label, value) in &labels.0 {
        match read_answer(label, value.get()) {
            Ok(answer) => answers.push(answer),
            Err(message) => {
                let hint = "write {\"value\": \"1\", \"rationale\": \"…\"}";
                problems.push(LineProblem::new(line, message).label(label).hint(hint));
            }
        }
    }
    answers
}

fn read_answer(label: &str, json: &str) -> Result<RawAnswer, String> {
    let name = quoted(label);
    let object = Pairs::read(json).ok_or_else(|| format!("the answer to {name} is no JSON object"))?;
    if let Some(key) = object.doubled_key() {
        return Err(format!("the answer to {name} has {} twice", quoted(key)));
    }
    if let Some((key, _)) = object.0.iter().find(|(key, _)| key != "value" && key != "rationale") {
        return Err(format!("the answer to {name} has the unknown key {}", quoted(key)));
    }
    let value = object.get("value").ok_or_else(|| format!("the answer to {name} has no \"value\""))?.get();
    // Numbers and truth values go on as they are written; the rubric judges them.
    let value = if value == "null" { String::new() } else { string(value).unwrap_or_else(|| value.to_owned()) };
    let rationale = match object.get("rationale").map(serde_json::value::RawValue::get) {
        None | Some("null") => String::new(),
        Some(json) => string(json).ok_or_else(|| format!("the rationale of {name} is no text"))?,
    };
    Ok(RawAnswer { label: label.to_owned(), value, rationale })
}

/// All answer objects in a text, whatever stands around them (fences, prose, other JSON), with the line of each counted
/// from `first_line`. The search ends after a fixed number of bytes read in vain, so that no text can make it long.
pub(super) fn find_objects(text: &str, first_line: u64) -> Vec<AnswerObject> {
    let mut budget: usize = 1 << 25;
    let mut found = Vec::new();
    let mut from = 0;
    let mut line = first_line;
    // An object that begins behind the last "labels" cannot hold it.
    let end = text.rfind("\"labels\"").unwrap_or(0);
    while let Some(skipped) = text.get(from..end).and_then(|rest| rest.find('{')) {
        let start = from + skipped;
        line += newlines(text.get(from..start));
        let rest = text.get(start..).unwrap_or_default();
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Pairs>();
        let read = stream.next();
        let length = match &read {
            Some(Ok(object)) if object.get("labels").is_some() => {
                found.push(read_object(object, line));
                stream.byte_offset()
            }
            _ => {
                let in_vain = match &read {
                    Some(Err(error)) => offset_of(rest, error.line(), error.column()),
                    _ => stream.byte_offset(),
                };
                if in_vain > budget {
                    break;
                }
                budget -= in_vain;
                1
            }
        };
        line += newlines(text.get(start..start + length));
        from = start + length;
    }
    found
}

/// The byte offset of a line and column, both from 1.
fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    lines.map(str::len).sum::<usize>() + column
}

fn newlines(text: Option<&str>) -> u64 {
    text.unwrap_or_default().matches('\n').count() as u64
}

/// The one answer among several objects: blank forms give way to filled ones, equal ones count once.
pub(super) fn the_answer(objects: Vec<AnswerObject>) -> Result<AnswerObject, String> {
    let (blank, mut filled): (Vec<_>, Vec<_>) = objects.into_iter().partition(AnswerObject::is_blank);
    filled.dedup_by(|one, two| one.answers == two.answers);
    match (filled.len(), blank.into_iter().next()) {
        (0, None) => Err("there is no answer here: no JSON object with the key \"labels\"".to_owned()),
        (0, Some(blank)) => Ok(blank),
        (1, _) => filled.pop().ok_or_else(String::new),
        (count, _) => Err(format!("there are {count} different answers here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"labels": {"B1a": {"value": 1, "rationale": "turn 0"}}}"#;

    fn answer(text: &str) -> Result<Vec<(String, String, String)>, String> {
        let object = the_answer(find_objects(text, 1))?;
        assert_eq!(object.problems, []);
        Ok(object.answers.into_iter().map(|a| (a.label, a.value, a.rationale)).collect())
    }

    #[test]
    fn an_answer_is_found_in_whatever_stands_around_it() {
        let expected = vec![("B1a".to_owned(), "1".to_owned(), "turn 0".to_owned())];
        for text in [
            ANSWER.to_owned(),
            format!("```json\n{ANSWER}\n```"),
            format!("Here is my {{thinking}} about {{\"a\": 1}}:\n\n{ANSWER}\n\nHope that helps {{"),
            format!("{{\"answer\": {ANSWER}}}"),
            format!("{ANSWER}\n{ANSWER}"),
            format!(
                "{{\"labels\": {{\"B1a\": {{\"value\": null, \"rationale\": \"\"}}, \"B3\": {{\"value\": \"n.a.\"}}}}}} then {ANSWER}"
            ),
        ] {
            assert_eq!(answer(&text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn no_answer_and_two_answers_are_told_apart() {
        assert!(answer("I cannot answer.").expect_err("none").contains("no answer here"));
        assert!(answer("").is_err());
        let two = format!("{ANSWER} or rather {}", ANSWER.replace(": 1", ": 0"));
        assert!(answer(&two).expect_err("two").contains("2 different answers"));
    }

    #[test]
    fn content_is_strict() {
        let problems = |labels: &str| {
            let text = format!("\n\n{{\"labels\": {labels}}}");
            let objects = find_objects(&text, 1);
            assert_eq!(objects.len(), 1);
            objects[0].problems.iter().map(|p| (p.line, p.message.clone())).collect::<Vec<_>>()
        };
        assert_eq!(problems("[]"), [(3, "\"labels\" is no JSON object".to_owned())]);
        assert_eq!(problems(r#"{"B1a": 1}"#), [(3, "the answer to \"B1a\" is no JSON object".to_owned())]);
        assert_eq!(
            problems(r#"{"B1a": {"rationale": ""}}"#),
            [(3, "the answer to \"B1a\" has no \"value\"".to_owned())]
        );
        assert_eq!(
            problems(r#"{"B1a": {"value": 1, "confidence": 2}}"#),
            [(3, "the answer to \"B1a\" has the unknown key \"confidence\"".to_owned())]
        );
        assert_eq!(
            problems(r#"{"B1a": {"value": 1}, "B1a": {"value": 0}}"#),
            [(3, "\"B1a\" is answered twice".to_owned())]
        );
        assert_eq!(
            problems(r#"{"B1a": {"value": 1, "value": 0}}"#),
            [(3, "the answer to \"B1a\" has \"value\" twice".to_owned())]
        );
        assert_eq!(
            problems(r#"{"B1a": {"value": 1, "rationale": 3}}"#),
            [(3, "the rationale of \"B1a\" is no text".to_owned())]
        );
        let objects = find_objects(r#"{"labels": {}, "note": 1}"#, 1);
        assert_eq!(objects[0].problems[0].message, "the answer has the unknown key \"note\"");
        // Truth values go on to the rubric, which refuses them.
        assert_eq!(answer(r#"{"labels": {"B1a": {"value": true}}}"#).expect("found")[0].1, "true");
    }

    #[test]
    fn hostile_texts_end_in_time() {
        for text in
            ["{".repeat(1_000_000), "{\"a\":".repeat(200_000), "{\"labels\":".repeat(100_000), "[".repeat(100_000)]
        {
            assert!(the_answer(find_objects(&text, 1)).is_err());
        }
    }
}
