//! Tables of delimited text as spreadsheets leave them: any of four separators, a byte order mark, UTF-16, `sep=` lines, blanks
//! around cells, blank rows.

use std::path::Path;

use crate::error::{Error, Place, Result};

/// Spellings of a value that is not there, letter case aside.
pub(super) const MISSING: [&str; 5] = ["", "na", "n/a", "nan", "null"];

/// A header and its records, each with the line at which it begins.
pub(super) struct Sheet<'p> {
    pub(super) name: &'p Path,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<(u64, Vec<String>)>,
}

impl<'p> Sheet<'p> {
    /// Reads all of it; `columns` tells the user what the first row must be.
    pub(super) fn read(bytes: &[u8], name: &'p Path, columns: &'static str) -> Result<Self> {
        let text = decode(bytes).map_err(|(line, message)| {
            Error::data(message).at(Place::line(name, line)).hint("save the file as UTF-8")
        })?;
        let named = text.split_once('\n').and_then(|(first, rest)| {
            let mark = first.trim_end_matches('\r').strip_prefix("sep=")?.bytes().next()?;
            Some((rest, mark))
        });
        let (text, separator, before) = match named {
            Some((rest, mark)) => (rest, mark, 1),
            None => (text.as_str(), separator(&text), 0),
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(text.as_bytes());
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| Error::data(error.to_string()).at(Place::file(name)))?;
            let line = record.position().map_or(0, csv::Position::line) + before;
            if record.iter().any(|cell| !cell.trim().is_empty()) {
                rows.push((line, record.iter().map(str::to_owned).collect::<Vec<String>>()));
            }
        }
        // A quote that is never closed swallows the rest of the file into the last cell.
        if let Some((line, cells)) = rows.last()
            && text.matches('"').count() % 2 == 1
            && cells.last().is_some_and(|cell| cell.contains('\n'))
        {
            return Err(Error::data("a double quote in this record is never closed")
                .at(Place::line(name, *line))
                .hint("the file may be cut off, or a quote inside a text is not doubled"));
        }
        if rows.is_empty() {
            return Err(Error::data("the file is empty").at(Place::file(name)).hint(columns));
        }
        let (first, header) = rows.remove(0);
        let header: Vec<String> = header.iter().map(|cell| trim(cell).to_owned()).collect();
        for (at, column) in header.iter().enumerate() {
            if !column.is_empty() && header.iter().take(at).any(|other| other == column) {
                return Err(Error::data(format!("the column {column:?} stands twice")).at(Place::line(name, first)));
            }
        }
        for (line, cells) in &rows {
            if cells.iter().skip(header.len()).any(|cell| !cell.trim().is_empty()) {
                return Err(Error::data(format!("the row has {} cells, the header {}", cells.len(), header.len()))
                    .at(Place::line(name, *line))
                    .hint("put text that holds the separator between double quotes"));
            }
        }
        Ok(Self { name, header, rows })
    }

    /// The first of these columns that is there, letter case aside.
    pub(super) fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.header.iter().position(|column| column.eq_ignore_ascii_case(name)))
    }

    /// The column of a name that the user gave.
    pub(super) fn stated(&self, column: &str) -> Result<usize> {
        let exact = self.header.iter().position(|name| name == column);
        exact.or_else(|| self.find(&[column])).ok_or_else(|| {
            Error::not_found(format!("there is no column {column:?}"))
                .at(Place::file(self.name))
                .hint(format!("the columns are: {}", self.header.join(", ")))
        })
    }

    /// What is wrong in a row.
    pub(super) fn error(&self, line: u64, message: impl Into<String>) -> Error {
        Error::data(message).at(Place::line(self.name, line))
    }
}

/// A cell; a row may be short.
pub(super) fn cell(cells: &[String], at: usize) -> &str {
    cells.get(at).map_or("", String::as_str)
}

/// Without the blanks and marks that editors leave around a cell.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || "\u{feff}\u{200b}\u{2060}\0".contains(c))
}

fn decode(bytes: &[u8]) -> std::result::Result<String, (u64, &'static str)> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16(&units).map_err(|_| (1, "the file is not valid UTF-16"))
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
                let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
                (before.split(|byte| *byte == b'\n').count() as u64, "the line holds bytes that are not UTF-8")
            })
        }
    }
}

/// The separator that splits the first record into most cells; a comma where none does.
fn separator(text: &str) -> u8 {
    let cells = |mark: u8| {
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(mark).from_reader(text.as_bytes());
        reader.records().next().and_then(std::result::Result::ok).map_or(0, |record| record.len())
    };
    let mut best = (1, b',');
    for mark in [b',', b';', b'\t', b'|'] {
        let count = cells(mark);
        if count > best.0 {
            best = (count, mark);
        }
    }
    best.1
}
