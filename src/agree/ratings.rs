//! Ratings that came from a table of any origin: one label, its raters, and what reading it met.

use std::collections::BTreeMap;

use serde::Serialize;

use super::panel::{Counts, PanelError};
use super::{Panel, Table, natural_numbers};
use crate::model::RatingValue;

/// One item with a value per rater.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RatedItem {
    /// Its name.
    pub item: String,
    /// Items of one family are not independent of each other.
    pub family: Option<String>,
    /// One place per rater; `None` where the rating is missing.
    pub values: Vec<Option<RatingValue>>,
}

/// What reading the values met.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Reading {
    /// `wide`, `long`, `counts` or `table`.
    pub layout: String,
    /// Cells read as missing, by their spelling.
    pub missing: BTreeMap<String, u64>,
    /// Values with blanks around them, which were taken off.
    pub trimmed: u64,
    /// Ratings that stood twice with the same value; each counts once.
    pub repeated: u64,
    /// Rows whose item name stands in an earlier row too; each row is an item of its own.
    pub items_repeated: u64,
}

/// The ratings of one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelRatings {
    /// The label; `None` where the file names none.
    pub label: Option<String>,
    /// The raters.
    pub raters: Vec<String>,
    /// The items.
    pub items: Vec<RatedItem>,
    /// What reading met.
    pub reading: Reading,
}

/// What agreement can be computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Ratings by named raters.
    Ratings(LabelRatings),
    /// How many raters gave each item each category.
    Counts(Counts),
    /// A contingency table of two raters.
    Table(Table),
}

/// How the order of the categories was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CategoryOrder {
    /// Stated by the user or by the columns of the table.
    Given,
    /// All categories are numbers.
    Numeric,
    /// In the order in which they first appear: no order in which weights would mean anything is known.
    FirstSeen,
}

impl LabelRatings {
    /// The values that the measures use: *n.a.* only where it is a category, never *cannot judge*.
    fn used(value: Option<&RatingValue>, na_is_category: bool) -> Option<&str> {
        match value? {
            RatingValue::Value(text) => Some(text),
            RatingValue::NotApplicable => na_is_category.then_some(RatingValue::NOT_APPLICABLE),
            RatingValue::CannotJudge => None,
        }
    }

    /// The ratings as codes over their categories: those given, else as numbers, else as they first appear.
    ///
    /// # Errors
    /// A value outside the given order, a category listed twice.
    pub fn panel(&self, order: Option<&[String]>, na_is_category: bool) -> Result<(Panel, CategoryOrder), PanelError> {
        let rows: Vec<Vec<Option<&str>>> = self
            .items
            .iter()
            .map(|item| item.values.iter().map(|value| Self::used(value.as_ref(), na_is_category)).collect())
            .collect();
        if let Some(order) = order {
            return Ok((Panel::from_labels(&rows, Some(order))?, CategoryOrder::Given));
        }
        let mut seen = std::collections::BTreeSet::new();
        let names: Vec<&str> = rows.iter().flatten().flatten().copied().filter(|name| seen.insert(*name)).collect();
        let (names, how) = match natural_numbers(&names) {
            Some(sorted) => (sorted, CategoryOrder::Numeric),
            None => (names, CategoryOrder::FirstSeen),
        };
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        Ok((Panel::from_labels(&rows, Some(&names))?, how))
    }
}
