//! Results on stdout, messages on stderr, tables that fit the terminal. A reader that goes away is no error.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle};
use serde::Serialize;

use crate::error::{Error, Kind, Result};
pub use crate::report::visible;

/// A rule under the header and nothing else: rows stay close together, so a table can be read at a glance.
const RULED_HEADER: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Where results go.
pub struct Output {
    out: BufWriter<io::Stdout>,
    closed: bool,
    failed: Option<io::Error>,
}

impl Output {
    pub(super) fn new() -> Self {
        Self { out: BufWriter::new(io::stdout()), closed: false, failed: None }
    }

    fn keep(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            if error.kind() == io::ErrorKind::BrokenPipe {
                self.closed = true;
            } else {
                self.failed.get_or_insert(error);
            }
        }
    }

    /// Writes a line of the result. Control characters other than line breaks and tabs are made visible: model output
    /// must not drive the terminal.
    pub fn line(&mut self, text: impl Display) {
        if !self.closed {
            let text = visible(&text.to_string());
            let result = writeln!(self.out, "{text}");
            self.keep(result);
        }
    }

    /// Writes text broken at blanks to at most 80 columns; lines after the first are indented.
    pub fn paragraph(&mut self, text: &str) {
        let width = usize::from(width().min(80));
        let mut line = String::new();
        for word in text.split(' ') {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                self.line(&line);
                "  ".clone_into(&mut line);
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.line(&line);
    }

    /// Writes a value as JSON on lines of its own.
    pub fn json(&mut self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(|error| Error::internal(error.to_string()))?;
        self.line(text);
        Ok(())
    }

    /// Writes text as it is, for files and streams of ours.
    pub fn raw(&mut self, text: &str) {
        if !self.closed {
            let result = self.out.write_all(text.as_bytes());
            self.keep(result);
        }
    }

    /// Writes a table that fits the terminal; columns listed in `numbers` are right-aligned.
    pub fn table(&mut self, header: &[&str], rows: &[Vec<String>], numbers: &[usize]) {
        let mut table = Table::new();
        table.load_style(RULED_HEADER).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width());
        table.set_header(header.to_vec());
        for row in rows {
            table.add_row(row.iter().map(|text| Cell::new(visible(text))));
        }
        // Two blanks between columns where there is room for them, else one.
        let widths = (0..header.len()).map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at)).map(String::as_str).chain(header.get(at).copied());
            cells.flat_map(str::lines).map(|line| line.chars().count()).max().unwrap_or_default()
        });
        let gap = if widths.map(|cells| cells + 2).sum::<usize>() <= usize::from(width()) { 2 } else { 1 };
        for column in table.column_iter_mut() {
            column.set_padding((0, gap));
        }
        // The first column names the row: never broken.
        if let Some(first) = table.column_mut(0) {
            first.set_constraint(ColumnConstraint::ContentWidth);
        }
        for column in numbers {
            if let Some(column) = table.column_mut(*column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self.line(table);
    }

    /// Hands over what was written so far.
    pub fn flush(&mut self) {
        let flushed = self.out.flush();
        self.keep(flushed);
    }

    pub(super) fn finish(mut self, result: Result<()>) -> Result<()> {
        let flushed = self.out.flush();
        self.keep(flushed);
        result?;
        match self.failed {
            Some(error) => Err(Error::new(Kind::Io, format!("cannot write the result: {error}"))),
            None => Ok(()),
        }
    }
}

/// Writes a message to the user.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// Is somebody watching the messages?
pub fn watched() -> bool {
    io::stderr().is_terminal()
}

/// Columns of the terminal; 100 where there is none and `COLUMNS` says nothing.
pub fn width() -> u16 {
    let stated = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| width);
    stated.or_else(terminal).unwrap_or(100).clamp(40, 240)
}

/// A text for a spreadsheet cell: what a spreadsheet would run gets an apostrophe before it.
pub fn inert(text: &str) -> String {
    let runs = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if runs { format!("'{text}") } else { text.to_owned() }
}

/// A percentage with one digit, or a dash.
pub fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.1}"))
}

/// An interval in percent, or nothing.
pub fn interval(value: Option<[f64; 2]>, digits: usize) -> String {
    value.map_or_else(String::new, |[low, high]| format!("[{low:.digits$}, {high:.digits$}]"))
}

/// A number with some digits, or a dash.
pub fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_codes_become_visible() {
        assert_eq!(visible("a\u{1b}[31mb\r\u{7}\u{202e}c\td"), "a\u{241b}[31mb\u{240d}\u{2407}\u{fffd}c\td");
    }
}
