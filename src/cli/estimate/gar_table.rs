//! `--gar-table`: rates of the metric as somebody published them.

use std::path::Path;

use serde_json::Value;

use crate::error::{Error, Place, Result};
use crate::estimate::findings::PublishedRate;
use crate::model::Category;

/// Are the rates of a file shares or percentages?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Share,
    Percent,
}

const HINT: &str = "a table has a row a cell with model, category and gar (or gar_pct, in percent): CSV with a header, or a JSON \
    array of objects";

/// Reads CSV or JSON; says in which unit the column `gar` was read.
pub(super) fn read(file: &Path, unit: Option<Unit>) -> Result<(Vec<PublishedRate>, Unit)> {
    let text = std::fs::read_to_string(file).map_err(|source| Error::io("read", file, &source))?;
    let rows = if text.trim_start().starts_with('[') { json(file, &text)? } else { csv(file, &text)? };
    if rows.is_empty() {
        return Err(Error::data("the table has no row").at(Place::file(file)).hint(HINT));
    }
    let percent = rows.iter().any(|row| row.percent);
    let found = unit.unwrap_or({
        let above = rows.iter().any(|row| row.gar > 1.0);
        if percent || above { Unit::Percent } else { Unit::Share }
    });
    let mut published: Vec<PublishedRate> = Vec::new();
    for row in rows {
        let gar = if found == Unit::Percent { row.gar / 100.0 } else { row.gar };
        if !(0.0..=1.0).contains(&gar) {
            return Err(Error::data(format!("a rate of {} is none", row.gar)).at(row.place).hint(HINT));
        }
        if published.iter().any(|known| known.model == row.model && known.category == row.category) {
            return Err(Error::data(format!("{}/{} stands in two rows", row.model, row.category))
                .at(row.place)
                .hint("one row a cell"));
        }
        published.push(PublishedRate { model: row.model, category: row.category, gar });
    }
    Ok((published, found))
}

struct Row {
    place: Place,
    model: String,
    category: Category,
    gar: f64,
    percent: bool,
}

fn row(place: &Place, model: &str, category: &str, gar: Option<f64>, percent: bool) -> Result<Row> {
    let refused = |message: String| Error::data(message).at(place.clone()).hint(HINT);
    if model.is_empty() {
        return Err(refused("a row without a model".to_owned()));
    }
    let found = Category::parse(category)
        .ok_or_else(|| refused(format!("{category:?} is no category (base, long_context, miss_func, miss_param)")))?;
    let gar = gar.filter(|gar| gar.is_finite()).ok_or_else(|| refused("a row without a number for gar".to_owned()))?;
    Ok(Row { place: place.clone(), model: model.to_owned(), category: found, gar, percent })
}

fn csv(file: &Path, text: &str) -> Result<Vec<Row>> {
    let failed = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        Error::data(error.to_string()).at(Place::line(file, line)).hint(HINT)
    };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(failed)?.clone();
    let place = |name: &str| header.iter().position(|column| column.trim_start_matches('\u{feff}') == name);
    let percent = place("gar").is_none();
    let (Some(model), Some(category), Some(gar)) =
        (place("model"), place("category"), place("gar").or_else(|| place("gar_pct")))
    else {
        return Err(Error::data("the columns model, category and gar are wanted").at(Place::line(file, 1)).hint(HINT));
    };
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(failed)?;
        let line = record.position().map_or(1, csv::Position::line);
        let cell = |at: usize| record.get(at).unwrap_or_default();
        let written = cell(gar);
        let number = written.strip_suffix('%').unwrap_or(written).trim().parse().ok();
        rows.push(row(
            &Place::line(file, line),
            cell(model),
            cell(category),
            number,
            percent || written.ends_with('%'),
        )?);
    }
    Ok(rows)
}

fn json(file: &Path, text: &str) -> Result<Vec<Row>> {
    let values: Vec<Value> = serde_json::from_str(text).map_err(|error| {
        Error::data(format!("not a JSON array: {error}")).at(Place::line(file, error.line() as u64)).hint(HINT)
    })?;
    let mut rows = Vec::new();
    for value in &values {
        let word = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let percent = value.get("gar").is_none();
        let gar = value.get("gar").or_else(|| value.get("gar_pct")).and_then(Value::as_f64);
        rows.push(row(&Place::file(file), word("model"), word("category"), gar, percent)?);
    }
    Ok(rows)
}
