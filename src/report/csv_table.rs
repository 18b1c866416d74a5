//! A table for spreadsheets and scripts: full precision, one column per limit of an interval, and no cell that a
//! spreadsheet takes for a formula.

use super::document::{Cell, Table};
use super::{number, text::visible};

/// The table as CSV with a header line.
pub(super) fn text(table: &Table) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut header = Vec::new();
    for column in &table.columns {
        if column.interval {
            header.push(format!("{}_low", column.key));
            header.push(format!("{}_high", column.key));
        } else {
            header.push(inert(&column.key));
        }
    }
    // Writing to memory fails only where rows have unequal lengths, which `cells` keeps from happening.
    let mut done = writer.write_record(&header);
    for row in &table.rows {
        let mut cells: Vec<String> = row.cells.iter().flat_map(cells).collect();
        cells.resize(header.len(), String::new());
        done = done.and_then(|()| writer.write_record(&cells));
    }
    debug_assert!(done.is_ok());
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

fn cells(cell: &Cell) -> Vec<String> {
    match cell {
        Cell::Text(text) | Cell::Code(text) => vec![inert(text)],
        Cell::Count(count) | Cell::MaybeCount(Some(count)) => vec![count.to_string()],
        Cell::MaybeCount(None) | Cell::NoFinal(_) => vec![String::new()],
        Cell::Number(value, _) | Cell::Percent(value) | Cell::P(value) => vec![number::exact(*value)],
        Cell::Interval(limits, _) | Cell::PercentInterval(limits) => {
            vec![number::exact(limits.map(|[low, _]| low)), number::exact(limits.map(|[_, high]| high))]
        }
    }
}

/// Text with an apostrophe before what a spreadsheet would run.
fn inert(text: &str) -> String {
    const RUN: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    let shown = visible(text);
    if text.starts_with(RUN) || shown.starts_with(RUN) { format!("'{shown}") } else { shown }
}
