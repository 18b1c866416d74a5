//! A table whose cells are values, not texts: each format writes them in its own way.

/// A table.
#[derive(Default)]
pub(in crate::report) struct Table {
    /// File name without extension.
    pub name: String,
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    /// A remark below it.
    pub note: Option<String>,
    /// Belongs into a paper.
    pub print: bool,
    /// Long: folded away until asked for.
    pub folded: bool,
}

/// A column.
pub(in crate::report) struct Column {
    /// Heading for people.
    pub head: String,
    /// Name in machine-readable tables; an interval has two columns, `<key>_low` and `<key>_high`.
    pub key: String,
    /// Right-aligned.
    pub numeric: bool,
    /// Holds intervals.
    pub interval: bool,
}

/// A row.
pub(in crate::report) struct Row {
    pub cells: Vec<Cell>,
    /// A detail of the row above.
    pub detail: bool,
}

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::report) enum Cell {
    Text(String),
    /// An identity, a value: set in a fixed-width face.
    Code(String),
    Count(u64),
    /// A count that may not be known.
    MaybeCount(Option<u64>),
    /// A number and its decimals.
    Number(Option<f64>, usize),
    /// A share, shown in percent.
    Percent(Option<f64>),
    /// No rate while rulings are open; the least and greatest that they can bring.
    NoFinal([f64; 2]),
    P(Option<f64>),
    Interval(Option<[f64; 2]>, usize),
    PercentInterval(Option<[f64; 2]>),
}

impl Column {
    pub fn text(head: &str, key: &str) -> Self {
        Self { head: head.to_owned(), key: key.to_owned(), numeric: false, interval: false }
    }

    pub fn number(head: &str, key: &str) -> Self {
        Self { numeric: true, ..Self::text(head, key) }
    }

    pub fn interval(head: &str, key: &str) -> Self {
        Self { numeric: true, interval: true, ..Self::text(head, key) }
    }
}

impl Row {
    pub fn new(cells: Vec<Cell>) -> Self {
        Self { cells, detail: false }
    }

    pub fn detail(cells: Vec<Cell>) -> Self {
        Self { cells, detail: true }
    }
}

impl Cell {
    pub fn text(text: impl std::fmt::Display) -> Self {
        Self::Text(text.to_string())
    }

    pub fn code(text: impl std::fmt::Display) -> Self {
        Self::Code(text.to_string())
    }

    /// As people read it, not yet escaped for any format.
    pub fn shown(&self) -> String {
        use crate::report::number;
        match self {
            Self::Text(text) | Self::Code(text) => crate::report::text::visible(text),
            Self::Count(count) | Self::MaybeCount(Some(count)) => count.to_string(),
            Self::MaybeCount(None) => number::NONE.to_owned(),
            Self::Number(value, digits) => number::fixed(*value, *digits),
            Self::Percent(share) => number::percent(*share),
            Self::NoFinal(bounds) => format!("no final: {}", number::percent_interval(Some(*bounds))),
            Self::P(value) => number::p_value(*value),
            Self::Interval(limits, digits) => number::interval(*limits, *digits),
            Self::PercentInterval(limits) => number::percent_interval(*limits),
        }
    }
}
