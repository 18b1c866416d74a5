//! Finished judgments of database writes: CSV with a header, or JSON lines, as judges of other programs leave them.

use std::path::Path;

use serde_json::{Map, Value};

use super::{LineReader, Oddities, parse_object};
use crate::error::{Error, Place, Result};
use crate::store::StoredVerdict;

/// Reads the judgments of a file, in its order. A file whose first line begins with `{` is JSON lines, any other CSV.
///
/// # Errors
/// A field that is missing or cannot be read, with its line.
pub fn read_verdicts(path: &Path) -> Result<Vec<StoredVerdict>> {
    let mut reader = LineReader::open(path)?;
    let mut oddities = Oddities::default();
    let json = reader.next_line(&mut oddities)?.is_some_and(|line| line.text.trim_start().starts_with('{'));
    if json { json_lines(path) } else { csv_rows(path) }
}

const FIELDS: [&str; 6] = ["model", "domain", "sim_id", "tool", "confirmed", "passed"];

fn json_lines(path: &Path) -> Result<Vec<StoredVerdict>> {
    let mut reader = LineReader::open(path)?;
    let mut oddities = Oddities::default();
    let mut found = Vec::new();
    while let Some(line) = reader.next_line(&mut oddities)? {
        let place = Place::line(path, line.number);
        let object: Map<String, Value> = parse_object(line.text)
            .map_err(|error| Error::data(format!("not a judgment: {}", trouble(&error))).at(place.clone()))?;
        let text = |key: &str| match object.get(key) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Err(Error::data(format!("{key} is missing or no text")).at(place.clone())),
        };
        let truth = |key: &str| match object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(*truth)),
            Some(_) => Err(Error::data(format!("{key} is neither true, false nor null")).at(place.clone())),
        };
        found.push(StoredVerdict {
            model: text("model")?,
            domain: text("domain")?,
            simulation: text("sim_id")?,
            tool: text("tool")?,
            confirmed: truth("confirmed")?,
            passed: truth("passed")?,
        });
    }
    Ok(found)
}

/// What kind of trouble a JSON error is, without the text that it may quote.
fn trouble(error: &serde_json::Error) -> &'static str {
    if error.is_eof() { "the line ends in the middle of a value" } else { "the line is no JSON object" }
}

fn csv_rows(path: &Path) -> Result<Vec<StoredVerdict>> {
    let unreadable = |error: &csv::Error| {
        let line = error.position().map(csv::Position::line);
        let place = Place { file: path.to_path_buf(), line, column: None };
        Error::data("the row cannot be read: is it CSV in UTF-8 with as many cells as the first line?").at(place)
    };
    let mut reader = csv::ReaderBuilder::new().from_path(path).map_err(|error| unreadable(&error))?;
    let header = reader.headers().map_err(|error| unreadable(&error))?.clone();
    let mut columns = [0; 6];
    for (column, name) in columns.iter_mut().zip(FIELDS) {
        let found = header.iter().position(|cell| cell.trim().trim_start_matches('\u{feff}') == name);
        *column = found.ok_or_else(|| {
            Error::data(format!("the first line has no column {name}"))
                .at(Place::line(path, 1))
                .hint(format!("the columns are {}", FIELDS.join(", ")))
        })?;
    }
    let [model, domain, simulation, tool, confirmed, passed] = columns;
    let mut found = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| unreadable(&error))?;
        let place = Place { file: path.to_path_buf(), line: row.position().map(csv::Position::line), column: None };
        let cell = |column: usize| row.get(column).unwrap_or_default().trim();
        let text = |column: usize, name: &str| match cell(column) {
            "" => Err(Error::data(format!("{name} is empty")).at(place.clone())),
            text => Ok(text.to_owned()),
        };
        let truth = |column: usize, name: &str| match cell(column).to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(Some(true)),
            "false" | "0" => Ok(Some(false)),
            "" | "null" | "none" => Ok(None),
            _ => Err(Error::data(format!("{name} is neither true, false nor empty")).at(place.clone())),
        };
        found.push(StoredVerdict {
            model: text(model, "model")?,
            domain: text(domain, "domain")?,
            simulation: text(simulation, "sim_id")?,
            tool: text(tool, "tool")?,
            confirmed: truth(confirmed, "confirmed")?,
            passed: truth(passed, "passed")?,
        });
    }
    Ok(found)
}
