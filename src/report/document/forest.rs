//! A forest plot: values with their intervals, one row each.

/// The plot. Values are in the units of the axis.
pub(in crate::report) struct Forest {
    /// A short name for identifiers on the page.
    pub name: String,
    pub title: String,
    /// What is to be seen, for those who do not see it.
    pub description: String,
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<f64>,
    /// Show the axis in percent.
    pub percent: bool,
    /// A line to compare with.
    pub reference: Option<f64>,
    /// What each kind of mark means; empty where there is one kind only.
    pub legend: Vec<(MarkKind, String)>,
    pub rows: Vec<ForestRow>,
}

/// A row.
pub(in crate::report) struct ForestRow {
    /// Lines.
    pub label: Vec<String>,
    /// A detail of the row above.
    pub detail: bool,
    pub marks: Vec<Mark>,
    /// What stands at the right, in lines.
    pub text: Vec<String>,
}

/// A value with its interval.
pub(in crate::report) struct Mark {
    pub kind: MarkKind,
    pub value: f64,
    pub interval: Option<[f64; 2]>,
}

/// Forms that differ without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum MarkKind {
    Disc,
    Ring,
    Diamond,
}
