//! The rating sheet as CSV: one row per case, two columns per label.
//!
//! Columns: `batch, rubric, rubric_digest, rater, case, case_digest`, `category` and `stratum` where the rubric shows
//! them, `case_text`, then for each label `<L>` and `<L>_rationale`. The case text is there to be read; what ties an
//! answer to what was seen is `case_digest`, so a spreadsheet that cuts long cells does no harm.

use std::io::{self, Read, Write};

use super::cells::{cell_text, inert_cell};
use super::delimited::{Table, read_table, trimmed};
use super::exchange::{AnswerFile, AnswerForm, AnswerRow, LineProblem, Meta, RawAnswer};
use super::markdown::case_markdown;
use super::view::RaterCase;
use crate::model::RatingValue;
use crate::rubric::{Rubric, Shown};

const REQUIRED: [&str; 5] = ["batch", "rubric_digest", "rater", "case", "case_digest"];
const OPTIONAL: [&str; 4] = ["rubric", "category", "stratum", "case_text"];
const RATIONALE: &str = "_rationale";

/// Writes a sheet case by case.
pub struct SheetWriter<W: Write> {
    writer: csv::Writer<W>,
    meta: Meta,
    category: bool,
    stratum: bool,
}

impl<W: Write> SheetWriter<W> {
    /// Writes the header. A byte order mark makes Excel read the file as UTF-8; other programs do better without.
    ///
    /// # Errors
    /// The stream's own.
    pub fn new(mut out: W, meta: Meta, rubric: &Rubric, byte_order_mark: bool) -> io::Result<Self> {
        if byte_order_mark {
            out.write_all("\u{feff}".as_bytes())?;
        }
        let (category, stratum) = (rubric.shows(Shown::Category), rubric.shows(Shown::Stratum));
        let mut header: Vec<String> = ["batch", "rubric", "rubric_digest", "rater", "case", "case_digest"]
            .into_iter()
            .chain(category.then_some("category"))
            .chain(stratum.then_some("stratum"))
            .chain(["case_text"])
            .map(str::to_owned)
            .collect();
        for label in &rubric.labels {
            header.push(label.id.to_string());
            header.push(format!("{}{RATIONALE}", label.id));
        }
        let mut writer = crlf(out);
        writer.write_record(&header)?;
        Ok(Self { writer, meta, category, stratum })
    }

    /// Writes one case.
    ///
    /// # Errors
    /// The stream's own.
    pub fn case(&mut self, case: &RaterCase) -> io::Result<()> {
        let (meta, view) = (&self.meta, &case.view);
        let text = case_markdown(view);
        let mut row: Vec<&str> = vec![
            meta.batch.as_str(),
            &meta.rubric,
            &meta.rubric_digest,
            meta.rater.as_str(),
            view.case.as_str(),
            &case.digest,
        ];
        if self.category {
            row.push(view.category.map_or("", crate::model::Category::as_str));
        }
        if self.stratum {
            row.push(view.stratum.as_deref().unwrap_or_default());
        }
        row.push(&text);
        for form in &case.labels {
            row.push(form.value.as_ref().map_or("", RatingValue::as_str));
            row.push(&form.rationale);
        }
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

/// A CSV writer with the line ends of RFC 4180.
pub(super) fn crlf<W: Write>(out: W) -> csv::Writer<W> {
    csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out)
}

/// Reads a sheet that came back from a spreadsheet. Survives a byte order mark, UTF-16, any line ends, semicolons or
/// tabs for commas, line breaks in cells, columns in another order, missing optional columns, short and blank rows.
///
/// # Errors
/// The stream's own. What is wrong with the content is in [`AnswerFile::problems`].
pub fn read_csv(mut input: impl Read) -> io::Result<AnswerFile> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let mut table = match read_table(&bytes, &REQUIRED, &OPTIONAL) {
        Ok(table) => table,
        Err(problem) => return Ok(AnswerFile { rows: Vec::new(), problems: vec![problem] }),
    };
    let labels = label_columns(&table);
    let mut problems = std::mem::take(&mut table.problems);
    if labels.is_empty() {
        problems.push(LineProblem::new(1, "the first row names no label"));
    }
    let rows = table.records.iter().map(|record| {
        let name = |column: &str| trimmed(cell_text(table.cell(record, column))).to_owned();
        let answer = |label: &String| RawAnswer {
            label: label.clone(),
            value: table.cell(record, label).to_owned(),
            rationale: cell_text(table.cell(record, &format!("{label}{RATIONALE}"))).to_owned(),
        };
        AnswerRow {
            line: record.line,
            form: AnswerForm::Sheet,
            batch: name("batch"),
            rubric_digest: name("rubric_digest"),
            rater: name("rater"),
            case: name("case"),
            case_digest: name("case_digest"),
            answers: labels.iter().map(answer).collect(),
        }
    });
    Ok(AnswerFile { rows: rows.collect(), problems })
}

/// Every column that is neither one of the sheet's own nor a rationale; which of them are labels, the rubric decides.
/// A rationale without its value column still names its label.
fn label_columns(table: &Table) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for column in table.columns() {
        let own = REQUIRED.iter().chain(&OPTIONAL).any(|name| name.eq_ignore_ascii_case(column));
        if column.is_empty() || own {
            continue;
        }
        let cut = column.len().saturating_sub(RATIONALE.len());
        let label = match column.get(cut..) {
            Some(end) if end.eq_ignore_ascii_case(RATIONALE) => column.get(..cut).unwrap_or_default(),
            _ => column,
        };
        if !labels.iter().any(|other| other.eq_ignore_ascii_case(label)) {
            labels.push(label.to_owned());
        }
    }
    labels
}
