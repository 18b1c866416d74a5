//! The adjudicator's files: one row per label to rule on, as CSV or JSON lines.
//!
//! Columns: `batch, rubric, rubric_digest, adjudicator, case, case_digest`, `category` and `stratum` where the rubric
//! shows them, `case_text, label, question, kind, left_value, left_rationale, right_value, right_rationale,
//! item_digest`, then `value` and `note` to fill in. In JSON lines the sides are objects `{"value", "rationale"}`. For a
//! spot check the adjudicator writes the value they find right; the agreement was correct if it is the same.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Item;
use crate::rate::cells::{cell_text, inert_cell};
use crate::rate::delimited::{decode, read_table, trimmed};
use crate::rate::exchange::{LineProblem, Meta};
use crate::rate::json::{Pairs, string};
use crate::rate::jsonl::{object, write_line};
use crate::rate::markdown::case_markdown;
use crate::rate::sheet::crlf;
use crate::rate::view::CaseView;
use crate::rubric::{Rubric, Shown};

const REQUIRED: [&str; 7] = ["batch", "rubric_digest", "adjudicator", "case", "label", "item_digest", "value"];
const OPTIONAL: [&str; 12] = [
    "rubric",
    "case_digest",
    "category",
    "stratum",
    "case_text",
    "question",
    "kind",
    "left_value",
    "left_rationale",
    "right_value",
    "right_rationale",
    "note",
];

/// A ruling as it stands in a file; nothing is checked yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RulingRow {
    /// The line at which it begins, from 1.
    pub line: u64,
    /// The batch it says it belongs to.
    pub batch: String,
    /// The rubric digest it says it was made under.
    pub rubric_digest: String,
    /// The adjudicator it says it is from.
    pub adjudicator: String,
    /// The case.
    pub case: String,
    /// The label.
    pub label: String,
    /// The digest of what was shown.
    pub item_digest: String,
    /// The ruling; blank: none yet.
    pub value: String,
    /// Why.
    pub note: String,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RulingFile {
    /// Its rows.
    pub rows: Vec<RulingRow>,
    /// What could not be read.
    pub problems: Vec<LineProblem>,
}

/// Writes the adjudicator's sheet as CSV, item by item.
pub struct RulingSheetWriter<'r, W: Write> {
    writer: csv::Writer<W>,
    meta: Meta,
    rubric: &'r Rubric,
}

impl<'r, W: Write> RulingSheetWriter<'r, W> {
    /// Writes the header; a byte order mark makes Excel read the file as UTF-8.
    ///
    /// # Errors
    /// The stream's own.
    pub fn new(mut out: W, meta: Meta, rubric: &'r Rubric, byte_order_mark: bool) -> io::Result<Self> {
        if byte_order_mark {
            out.write_all("\u{feff}".as_bytes())?;
        }
        let mut header = vec!["batch", "rubric", "rubric_digest", "adjudicator", "case", "case_digest"];
        header.extend(rubric.shows(Shown::Category).then_some("category"));
        header.extend(rubric.shows(Shown::Stratum).then_some("stratum"));
        header.extend(["case_text", "label", "question", "kind", "left_value", "left_rationale"]);
        header.extend(["right_value", "right_rationale", "item_digest", "value", "note"]);
        let mut writer = crlf(out);
        writer.write_record(&header)?;
        Ok(Self { writer, meta, rubric })
    }

    /// Writes one item with its case.
    ///
    /// # Errors
    /// The stream's own.
    pub fn item(&mut self, item: &Item, view: &CaseView) -> io::Result<()> {
        let (text, digest) = (case_markdown(view), item.digest());
        let meta = &self.meta;
        let mut row: Vec<&str> =
            vec![meta.batch.as_str(), &meta.rubric, &meta.rubric_digest, meta.rater.as_str(), item.case.as_str()];
        row.push(&item.case_digest);
        if self.rubric.shows(Shown::Category) {
            row.push(view.category.map_or("", crate::model::Category::as_str));
        }
        if self.rubric.shows(Shown::Stratum) {
            row.push(view.stratum.as_deref().unwrap_or_default());
        }
        row.extend([text.as_str(), item.label.as_str(), question(self.rubric, item), item.kind.as_str()]);
        row.extend([item.left.value.as_str(), &item.left.rationale]);
        row.extend([item.right.value.as_str(), &item.right.rationale]);
        row.extend([digest.as_str(), "", ""]);
        self.writer.write_record(row.into_iter().map(inert_cell))?;
        Ok(())
    }

    /// Flushes and gives the stream back.
    ///
    /// # Errors
    /// The stream's own.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

fn question<'r>(rubric: &'r Rubric, item: &Item) -> &'r str {
    rubric.label(&item.label).map_or("", |label| label.question.as_str())
}

/// Writes the adjudicator's sheet as JSON lines, item by item.
pub struct RulingWriter<'r, W: Write> {
    out: W,
    meta: Meta,
    rubric: &'r Rubric,
}

impl<'r, W: Write> RulingWriter<'r, W> {
    /// A writer; a file without items is empty.
    pub fn new(out: W, meta: Meta, rubric: &'r Rubric) -> Self {
        Self { out, meta, rubric }
    }

    /// Writes one item with its case.
    ///
    /// # Errors
    /// The stream's own.
    pub fn item(&mut self, item: &Item, view: &CaseView) -> io::Result<()> {
        let side = |side: &crate::rate::StoredRating| json!({ "value": side.value, "rationale": side.rationale });
        let mut line = Map::new();
        let mut put = |key: &str, value: Value| line.insert(key.to_owned(), value);
        put("batch", self.meta.batch.as_str().into());
        put("rubric", self.meta.rubric.as_str().into());
        put("rubric_digest", self.meta.rubric_digest.as_str().into());
        put("adjudicator", self.meta.rater.as_str().into());
        put("case", item.case.as_str().into());
        put("case_digest", item.case_digest.as_str().into());
        if let Some(category) = view.category {
            put("category", category.as_str().into());
        }
        if let Some(stratum) = &view.stratum {
            put("stratum", stratum.as_str().into());
        }
        put("case_text", case_markdown(view).into());
        put("label", item.label.as_str().into());
        put("question", question(self.rubric, item).into());
        put("kind", item.kind.as_str().into());
        put("left", side(&item.left));
        put("right", side(&item.right));
        put("item_digest", item.digest().into());
        put("value", Value::Null);
        put("note", "".into());
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

/// Reads a CSV sheet that came back, with the same patience as [`crate::rate::read_csv`].
///
/// # Errors
/// The stream's own. What is wrong with the content is in [`RulingFile::problems`].
pub fn read_ruling_sheet(mut input: impl Read) -> io::Result<RulingFile> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let table = match read_table(&bytes, &REQUIRED, &OPTIONAL) {
        Ok(table) => table,
        Err(problem) => return Ok(RulingFile { rows: Vec::new(), problems: vec![problem] }),
    };
    let rows = table.records.iter().map(|record| {
        let name = |column: &str| trimmed(cell_text(table.cell(record, column))).to_owned();
        RulingRow {
            line: record.line,
            batch: name("batch"),
            rubric_digest: name("rubric_digest"),
            adjudicator: name("adjudicator"),
            case: name("case"),
            label: name("label"),
            item_digest: name("item_digest"),
            value: table.cell(record, "value").to_owned(),
            note: cell_text(table.cell(record, "note")).to_owned(),
        }
    });
    Ok(RulingFile { rows: rows.collect(), problems: table.problems.clone() })
}

/// Reads JSON lines that came back.
///
/// # Errors
/// The stream's own. What is wrong with the content is in [`RulingFile::problems`].
pub fn read_ruling_jsonl(mut input: impl Read) -> io::Result<RulingFile> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let text = match decode(&bytes) {
        Ok(text) => text,
        Err(problem) => return Ok(RulingFile { rows: Vec::new(), problems: vec![problem] }),
    };
    let mut file = RulingFile::default();
    for (number, line) in (1..).zip(text.split('\n')) {
        if trimmed(line).is_empty() {
            continue;
        }
        match object(line, number).and_then(|object| ruling(&object, number)) {
            Ok(row) => file.rows.push(row),
            Err(problem) => file.problems.push(problem),
        }
    }
    Ok(file)
}

fn ruling(object: &Pairs, line: u64) -> Result<RulingRow, LineProblem> {
    let missing: Vec<&str> = REQUIRED.into_iter().filter(|key| *key != "value" && object.text(key).is_none()).collect();
    if !missing.is_empty() {
        let message = format!("the line lacks {}", missing.join(", "));
        return Err(LineProblem::new(line, message).hint("keep the keys of the exported line"));
    }
    let text = |key: &str| object.text(key).unwrap_or_default();
    // Numbers and truth values go on as they are written; the rubric judges them.
    let value = match object.get("value").map(serde_json::value::RawValue::get) {
        None | Some("null") => String::new(),
        Some(json) => string(json).unwrap_or_else(|| json.to_owned()),
    };
    Ok(RulingRow {
        line,
        batch: text("batch"),
        rubric_digest: text("rubric_digest"),
        adjudicator: text("adjudicator"),
        case: text("case"),
        label: text("label"),
        item_digest: text("item_digest"),
        value,
        note: text("note"),
    })
}
