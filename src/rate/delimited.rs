//! Reads a table of delimited text (RFC 4180 and what spreadsheets make of it): any of four separators, a byte order
//! mark, UTF-16, any line ends, line breaks in quotes, a `sep=` line, short rows, blank rows, columns in any order.

use super::exchange::LineProblem;

/// A table whose first record named its columns.
pub(super) struct Table {
    columns: Vec<String>,
    /// The records in order, blank ones left out.
    pub records: Vec<Record>,
    /// What could not be read.
    pub problems: Vec<LineProblem>,
}

/// One record.
pub(super) struct Record {
    /// The line at which it begins, from 1.
    pub line: u64,
    cells: Vec<String>,
}

impl Table {
    /// Names of the columns: the known ones as they are documented, others as they stand without blanks around them.
    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// A record's cell under a column name (letter case ignored); blank where column or cell is absent.
    pub(super) fn cell<'r>(&self, record: &'r Record, column: &str) -> &'r str {
        let index = self.columns.iter().position(|name| name.eq_ignore_ascii_case(column));
        index.and_then(|index| record.cells.get(index)).map_or("", String::as_str)
    }
}

/// Reads a table. `required` columns must be there; `known` ones help to find the separator.
///
/// # Errors
/// Text that cannot be decoded, no header, a missing or doubled column.
pub(super) fn read_table(bytes: &[u8], required: &[&str], known: &[&str]) -> Result<Table, LineProblem> {
    let text = decode(bytes)?;
    let (text, separator, first_line) = separator(&text, required, known);
    let (mut records, mut problems) = parse(text, separator, first_line);
    if records.is_empty() {
        return Err(LineProblem::new(1, "the file is empty"));
    }
    let header = records.remove(0);
    let columns: Vec<String> = header.cells.iter().map(|name| trimmed(name).to_owned()).collect();
    for (index, name) in columns.iter().enumerate() {
        let earlier = columns.iter().take(index);
        if !name.is_empty() && earlier.into_iter().any(|other| other.eq_ignore_ascii_case(name)) {
            let message = format!("the column {} stands twice", super::text::quoted(name));
            return Err(LineProblem::new(header.line, message).hint("remove one of them"));
        }
    }
    let missing: Vec<&str> = required
        .iter()
        .copied()
        .filter(|name| !columns.iter().any(|column| column.eq_ignore_ascii_case(name)))
        .collect();
    if !missing.is_empty() {
        let message = format!("the first row lacks the columns {}", missing.join(", "));
        let hint = "the first row must be the one that was exported; without these columns the answers cannot be tied \
                    to what the rater saw";
        return Err(LineProblem::new(header.line, message).hint(hint));
    }
    let width = columns.len();
    records.retain(|record| {
        if record.cells.iter().all(|cell| trimmed(cell).is_empty()) {
            return false;
        }
        let fits = record.cells.iter().skip(width).all(|cell| trimmed(cell).is_empty());
        if !fits {
            let message = format!("the row has {} cells, the first row {width}", record.cells.len());
            let hint = "put text that holds the separator between double quotes";
            problems.push(LineProblem::new(record.line, message).hint(hint));
        }
        fits
    });
    Ok(Table { columns, records, problems })
}

/// Without the blanks and marks that editors leave around a cell.
pub(super) fn trimmed(cell: &str) -> &str {
    cell.trim_matches(|c: char| c.is_whitespace() || "\u{feff}\u{200b}\u{2060}\0".contains(c))
}

/// Text of a file: UTF-8, or UTF-16 where a byte order mark says so. The mark is taken off.
pub(super) fn decode(bytes: &[u8]) -> Result<String, LineProblem> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16(&units)
            .map_err(|_| LineProblem::new(1, "the file is not valid UTF-16").hint("save it as UTF-8"))
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            match std::str::from_utf8(bytes) {
                Ok(text) => Ok(text.to_owned()),
                Err(error) => {
                    let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
                    let line = before.split(|byte| *byte == b'\n').count() as u64;
                    let hint = "save the file as UTF-8 (in Excel: \"CSV UTF-8\")";
                    Err(LineProblem::new(line, "the line holds bytes that are not UTF-8").hint(hint))
                }
            }
        }
    }
}

/// The separator, the text behind a `sep=` line, and the number of its first line.
fn separator<'t>(text: &'t str, required: &[&str], known: &[&str]) -> (&'t str, char, u64) {
    const CANDIDATES: [char; 4] = [',', ';', '\t', '|'];
    if let Some((first, rest)) = text.split_once('\n')
        && let Some(named) = first.trim_end_matches('\r').strip_prefix("sep=")
        && let Some(separator) = CANDIDATES.into_iter().find(|c| named == c.to_string())
    {
        return (rest, separator, 2);
    }
    // The one under which the first record names most of the columns that are looked for; a comma if none does.
    let matches = |separator: char| {
        let header = Parser::new(text, separator, 1).next();
        let cells = header.map(|(record, _)| record.cells).unwrap_or_default();
        let looked_for =
            |cell: &String| required.iter().chain(known).any(|name| name.eq_ignore_ascii_case(trimmed(cell)));
        cells.iter().filter(|cell| looked_for(cell)).count()
    };
    let mut best = (0, ',');
    for candidate in CANDIDATES {
        let count = matches(candidate);
        if count > best.0 {
            best = (count, candidate);
        }
    }
    (text, best.1, 1)
}

fn parse(text: &str, separator: char, first_line: u64) -> (Vec<Record>, Vec<LineProblem>) {
    let mut records = Vec::new();
    let mut problems = Vec::new();
    for (record, problem) in Parser::new(text, separator, first_line) {
        if record.cells.iter().any(|cell| !cell.is_empty()) {
            records.push(record);
        }
        problems.extend(problem);
    }
    (records, problems)
}

/// Splits text into records. Line ends are LF, CRLF or a lone CR. A quote opens a quoted cell only at its start; a
/// quote elsewhere stands for itself, as spreadsheets take it.
struct Parser<'t> {
    chars: std::iter::Peekable<std::str::Chars<'t>>,
    separator: char,
    line: u64,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, separator: char, line: u64) -> Self {
        Self { chars: text.chars().peekable(), separator, line }
    }

    /// The next character; counts lines.
    fn step(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        if c == '\n' || (c == '\r' && self.chars.peek() != Some(&'\n')) {
            self.line += 1;
        }
        Some(c)
    }

    /// The inside of a quoted cell; `false` where the closing quote is missing.
    fn quoted(&mut self, cell: &mut String) -> bool {
        while let Some(c) = self.step() {
            if c != '"' {
                cell.push(c);
            } else if self.chars.peek() == Some(&'"') {
                self.step();
                cell.push('"');
            } else {
                return true;
            }
        }
        false
    }
}

impl Iterator for Parser<'_> {
    type Item = (Record, Option<LineProblem>);

    fn next(&mut self) -> Option<Self::Item> {
        self.chars.peek()?;
        let line = self.line;
        let mut problem = None;
        let mut cells = Vec::new();
        let mut cell = String::new();
        let mut at_start = true;
        while let Some(c) = self.step() {
            match c {
                '"' if at_start => {
                    let opened = self.line;
                    if !self.quoted(&mut cell) {
                        let message = "a double quote is opened here and never closed";
                        let hint = "the file may be cut off, or a quote inside a text is not doubled";
                        problem = Some(LineProblem::new(opened, message).hint(hint));
                    }
                    at_start = false;
                }
                '\n' => break,
                '\r' => {
                    if self.chars.peek() == Some(&'\n') {
                        self.step();
                    }
                    break;
                }
                c if c == self.separator => {
                    cells.push(std::mem::take(&mut cell));
                    at_start = true;
                }
                c => {
                    cell.push(c);
                    at_start = false;
                }
            }
        }
        cells.push(cell);
        Some((Record { line, cells }, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str, separator: char) -> Vec<(u64, Vec<String>)> {
        Parser::new(text, separator, 1).map(|(record, _)| (record.line, record.cells)).collect()
    }

    /// The rules of RFC 4180, section 2, and line numbers behind line breaks in quotes.
    #[test]
    fn records_and_their_lines() {
        let text = "a,b\r\n\"x\r\ny\",\"say \"\"hi\"\"\"\r\n\n1,\"\",3\rlast";
        let expected: Vec<(u64, Vec<&str>)> = vec![
            (1, vec!["a", "b"]),
            (2, vec!["x\r\ny", "say \"hi\""]),
            (4, vec![""]),
            (5, vec!["1", "", "3"]),
            (6, vec!["last"]),
        ];
        let expected: Vec<(u64, Vec<String>)> =
            expected.into_iter().map(|(line, cells)| (line, cells.into_iter().map(str::to_owned).collect())).collect();
        assert_eq!(cells(text, ','), expected);
    }

    #[test]
    fn an_unclosed_quote_names_the_line_at_which_it_opens() {
        let (records, problems) = parse("a,b\n1,\"x\ny\nz", ',', 1);
        assert_eq!(records.len(), 2);
        assert_eq!(problems[0].line, 2);
    }

    #[test]
    fn bytes_that_are_no_text_are_found_by_line() {
        let problem = decode(b"a\nb\nZ\xfcrich").expect_err("not UTF-8");
        assert_eq!(problem.line, 3);
        assert!(problem.hint.is_some_and(|hint| hint.contains("UTF-8")));
        let utf16: Vec<u8> = "\u{feff}ü".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&utf16).expect("UTF-16"), "ü");
        let utf16: Vec<u8> = "\u{feff}ü".encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&utf16).expect("UTF-16"), "ü");
    }

    proptest::proptest! {
        /// The `csv` crate writes, this parser reads.
        #[test]
        fn reads_what_the_csv_crate_writes(
            rows in proptest::collection::vec(proptest::collection::vec("[a\", ;\\r\\n\\tü]{0,8}", 1..5), 1..5),
            separator in proptest::sample::select(vec![',', ';', '\t', '|']),
        ) {
            let mut writer = csv::WriterBuilder::new()
                .delimiter(separator as u8)
                .flexible(true)
                .from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).expect("written");
            }
            let bytes = writer.into_inner().expect("flushed");
            let text = String::from_utf8(bytes).expect("text");
            let read: Vec<Vec<String>> = cells(&text, separator).into_iter().map(|(_, cells)| cells).collect();
            proptest::prop_assert_eq!(read, rows);
        }
    }
}
