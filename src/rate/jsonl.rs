//! The rating sheet as JSON lines, and the reader of every JSON-lines form (sheet and prompts).
//!
//! A sheet's line: `{"batch", "rubric", "rubric_digest", "rater", "case", "case_digest", "category"?, "stratum"?,
//! "case_text", "labels": {label: {"value": null, "rationale": ""}}}`. A prompt's line has `"messages"` and `"answer"`
//! in place of case text and labels; the answer is an object with `labels`, or any text that holds one.

use std::io::{self, Read, Write};

use serde_json::{Map, Value, json};

use super::answer::{AnswerObject, IDENTITY, find_objects, read_labels, read_object, the_answer};
use super::delimited::{decode, trimmed};
use super::exchange::{AnswerFile, AnswerForm, AnswerRow, LineProblem, Meta, RawAnswer};
use super::json::{Pairs, string};
use super::markdown::case_markdown;
use super::view::{LabelForm, RaterCase};
use crate::model::RatingValue;

/// Writes a sheet case by case.
pub struct JsonlWriter<W: Write> {
    out: W,
    meta: Meta,
}

impl<W: Write> JsonlWriter<W> {
    /// A writer; a file without cases is empty.
    pub fn new(out: W, meta: Meta) -> Self {
        Self { out, meta }
    }

    /// Writes one case.
    ///
    /// # Errors
    /// The stream's own.
    pub fn case(&mut self, case: &RaterCase) -> io::Result<()> {
        let mut line = identity(&self.meta, case);
        if let Some(category) = case.view.category {
            line.insert("category".to_owned(), category.as_str().into());
        }
        if let Some(stratum) = &case.view.stratum {
            line.insert("stratum".to_owned(), stratum.as_str().into());
        }
        line.insert("case_text".to_owned(), case_markdown(&case.view).into());
        let form = |form: &LabelForm| {
            let value = form.value.as_ref().map(RatingValue::as_str);
            (form.label.to_string(), json!({ "value": value, "rationale": form.rationale }))
        };
        line.insert("labels".to_owned(), case.labels.iter().map(form).collect::<Map<_, _>>().into());
        write_line(&mut self.out, &line)
    }

    /// Flushes and gives the stream back.
    ///
    /// # Errors
    /// The stream's own.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The keys that say what a row or an answer belongs to.
pub(super) fn identity(meta: &Meta, case: &RaterCase) -> Map<String, Value> {
    let values = [
        meta.batch.as_str(),
        &meta.rubric,
        &meta.rubric_digest,
        meta.rater.as_str(),
        case.view.case.as_str(),
        &case.digest,
    ];
    IDENTITY.into_iter().zip(values).map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// Writes a JSON object as one line.
pub(super) fn write_line(mut out: impl Write, line: &Map<String, Value>) -> io::Result<()> {
    serde_json::to_writer(&mut out, line)?;
    out.write_all(b"\n")
}

/// Reads sheet or prompt lines that came back. Blank lines and a byte order mark do no harm.
///
/// # Errors
/// The stream's own. What is wrong with the content is in [`AnswerFile::problems`].
pub fn read_jsonl(mut input: impl Read) -> io::Result<AnswerFile> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let text = match decode(&bytes) {
        Ok(text) => text,
        Err(problem) => return Ok(AnswerFile { rows: Vec::new(), problems: vec![problem] }),
    };
    let mut file = AnswerFile::default();
    for (number, line) in (1..).zip(text.split('\n')) {
        if trimmed(line).is_empty() {
            continue;
        }
        match object(line, number) {
            Ok(object) => read_line(&object, number, &mut file),
            Err(problem) => file.problems.push(problem),
        }
    }
    Ok(file)
}

/// A line as an object without doubled keys.
pub(super) fn object(line: &str, number: u64) -> Result<Pairs, LineProblem> {
    let object: Pairs = serde_json::from_str(line).map_err(|error| {
        let message = format!("no JSON object: {error}");
        LineProblem::new(number, message).hint("every line must be one whole JSON object")
    })?;
    match object.doubled_key() {
        Some(key) => {
            let message = format!("the key {} stands twice in the line", super::text::quoted(key));
            Err(LineProblem::new(number, message))
        }
        None => Ok(object),
    }
}

fn read_line(object: &Pairs, line: u64, file: &mut AnswerFile) {
    let [batch, _, rubric_digest, rater, case, case_digest] = IDENTITY.map(|key| object.text(key).unwrap_or_default());
    let missing: Vec<&str> = [
        ("batch", &batch),
        ("rubric_digest", &rubric_digest),
        ("rater", &rater),
        ("case", &case),
        ("case_digest", &case_digest),
    ]
    .into_iter()
    .filter_map(|(key, value)| value.is_empty().then_some(key))
    .collect();
    if !missing.is_empty() {
        let message = format!("the line lacks {}", missing.join(", "));
        let hint = "keep the keys of the exported line; without them the answer cannot be tied to what was seen";
        file.problems.push(LineProblem::new(line, message).hint(hint));
        return;
    }
    let mut problems = Vec::new();
    let answers = match (object.get("labels"), object.get("answer")) {
        (Some(labels), _) => read_labels(labels.get(), line, &mut problems),
        (None, Some(answer)) => read_answer(answer.get(), object, line, &mut problems),
        (None, None) => {
            problems.push(LineProblem::new(line, "the line has neither \"labels\" nor \"answer\""));
            Vec::new()
        }
    };
    file.problems.extend(problems.into_iter().map(|problem| problem.case(&case)));
    file.rows.push(AnswerRow { line, form: AnswerForm::Json, batch, rubric_digest, rater, case, case_digest, answers });
}

/// The answer of a prompt's line: nothing yet, an object, or a text that holds one.
fn read_answer(json: &str, outer: &Pairs, line: u64, problems: &mut Vec<LineProblem>) -> Vec<RawAnswer> {
    if json == "null" {
        return Vec::new();
    }
    let found = match (string(json), Pairs::read(json)) {
        (Some(text), _) if text.trim().is_empty() => return Vec::new(),
        (Some(text), _) => the_answer(find_objects(&text, 1)),
        (None, Some(object)) if object.get("labels").is_some() => Ok(read_object(&object, 1)),
        (None, _) => Err("\"answer\" is neither a text nor an object with the key \"labels\"".to_owned()),
    };
    match found {
        Ok(answer) => {
            problems.extend(answer.problems.iter().cloned().map(|problem| LineProblem { line, ..problem }));
            match contradiction(&answer, outer) {
                Some(message) => {
                    problems.push(LineProblem::new(line, message));
                    Vec::new()
                }
                None => answer.answers,
            }
        }
        Err(message) => {
            let hint = "the answer must hold one JSON object of the form that the prompt shows";
            problems.push(LineProblem::new(line, message).hint(hint));
            Vec::new()
        }
    }
}

/// Does the answer say that it belongs to something else than the line around it?
fn contradiction(answer: &AnswerObject, outer: &Pairs) -> Option<String> {
    IDENTITY.iter().zip(&answer.identity).find_map(|(key, inner)| {
        let (inner, outer) = (inner.as_ref()?, outer.text(key)?);
        (*inner != outer).then(|| {
            format!(
                "the answer is for {key} {}, its line for {}",
                super::text::quoted(inner),
                super::text::quoted(&outer)
            )
        })
    })
}
