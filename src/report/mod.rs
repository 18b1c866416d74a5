//! The report of an audit: one view, computed once, and renderers that only format it.
//!
//! [`view()`] takes the rated audit and what the caller knows about its origin and computes everything that a report says.
//! The page, the Markdown text, the tables for spreadsheets and for LaTeX are made from one document of the view, so
//! that all of them say the same; `report.json` is the view itself.

mod csv_table;
mod document;
mod html;
mod latex;
mod markdown;
mod number;
mod provenance;
mod sampling;
mod text;
pub mod view;

pub use provenance::{
    BatchKind, BatchProvenance, FrameProvenance, PlanProvenance, Provenance, RubricProvenance, RunProvenance,
};
pub use sampling::{RoundRecord, SamplingRecord, UnusableRecord};
pub use text::visible;
pub use view::{Input, ReportError, View, view};

/// The report as one HTML page that needs nothing beside it: no script, no request.
#[must_use]
pub fn html(view: &View) -> String {
    html::page(&document::of(view))
}

/// The report as Markdown.
#[must_use]
pub fn markdown(view: &View) -> String {
    markdown::text(&document::of(view))
}

/// The view as JSON with line breaks: `report.json`.
///
/// # Errors
/// The view cannot be written as JSON (a defect).
pub fn json(view: &View) -> Result<String, ReportError> {
    serde_json::to_string_pretty(view)
        .map(|text| text + "\n")
        .map_err(|error| ReportError::Json { message: error.to_string() })
}

/// Every table as `(file name, CSV text)`: numbers in full precision, cells that a spreadsheet would run made inert.
#[must_use]
pub fn csv_tables(view: &View) -> Vec<(String, String)> {
    document::of(view).tables().map(|table| (format!("{}.csv", table.name), csv_table::text(table))).collect()
}

/// The tables that a paper prints, for LaTeX with the package `booktabs`.
#[must_use]
pub fn latex_tables(view: &View) -> String {
    latex::text(&document::of(view))
}

#[cfg(test)]
mod tests;
