//! The square contingency table of two raters over one ordered list of categories.

use std::collections::BTreeMap;

use serde::Serialize;

use super::panel::natural_order;

/// Why counts or labels do not make a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A row count or row length that differs from the number of categories.
    #[error("a table over {categories} categories has {categories} rows of {categories} counts; {found}")]
    Shape {
        /// Number of categories.
        categories: usize,
        /// What was found, in words.
        found: String,
    },
    /// A category that is listed twice.
    #[error("category {category:?} is listed twice")]
    Duplicate {
        /// The category.
        category: String,
    },
    /// A label outside the category list.
    #[error("label {label:?} is not one of the categories {categories:?}")]
    Unknown {
        /// The label.
        label: String,
        /// The list.
        categories: Vec<String>,
    },
    /// More categories than anybody rates with: most likely the wrong column.
    #[error("{found} different categories, at most {limit} can be compared; is this the column of the labels?")]
    TooManyCategories {
        /// How many there are.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// More units than double precision can count exactly.
    #[error("a table holds at most {limit} units")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
}

/// Counts of value pairs: rows are the first rater, columns the second, both in the order of `categories`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    categories: Vec<String>,
    counts: Vec<u64>,
    n: u64,
}

impl Table {
    /// The most units in a table: squares of counts stay below 2^64 and counts below 2^53.
    pub const MAX_UNITS: u64 = u32::MAX as u64;

    /// The most categories of a table: its memory grows with their square.
    pub const MAX_CATEGORIES: usize = 1000;

    /// A table from rows of counts.
    ///
    /// # Errors
    /// Rows that do not fit the categories, a category listed twice, too many units.
    pub fn from_counts(categories: Vec<String>, rows: &[Vec<u64>]) -> Result<Self, TableError> {
        let k = categories.len();
        let shape = |found: String| TableError::Shape { categories: k, found };
        if rows.len() != k {
            return Err(shape(format!("found {} rows", rows.len())));
        }
        if let Some((at, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != k) {
            return Err(shape(format!("row {} has {} counts", at + 1, row.len())));
        }
        Self::new(categories, rows.concat())
    }

    /// A table from rows of counts whose categories are named `1`, `2`, ….
    ///
    /// # Errors
    /// As [`Table::from_counts`].
    pub fn numbered(rows: &[Vec<u64>]) -> Result<Self, TableError> {
        Self::from_counts((1..=rows.len()).map(|i| i.to_string()).collect(), rows)
    }

    /// A table of pairs of labels over a given category list (the codebook's order).
    ///
    /// # Errors
    /// A label outside the list, a category listed twice, too many units.
    pub fn from_pairs<'a>(
        categories: &[String],
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, TableError> {
        let index: BTreeMap<&str, usize> = categories.iter().enumerate().map(|(i, c)| (c.as_str(), i)).collect();
        let find = |label: &str| {
            index
                .get(label)
                .copied()
                .ok_or_else(|| TableError::Unknown { label: label.to_owned(), categories: categories.to_vec() })
        };
        let k = categories.len();
        check_size(k)?;
        let mut counts = vec![0u64; k * k];
        for (first, second) in pairs {
            let cell = find(first)? * k + find(second)?;
            if let Some(count) = counts.get_mut(cell) {
                *count += 1;
            }
        }
        Self::new(categories.to_vec(), counts)
    }

    /// A table of pairs of labels over the categories that occur, in their natural order (numbers by size, else by name).
    /// A weighted measure of words needs the codebook's order: use [`Table::from_pairs`].
    ///
    /// # Errors
    /// Too many units or categories.
    pub fn observed<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, TableError> {
        let mut cells: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for pair in pairs {
            *cells.entry(pair).or_default() += 1;
        }
        let categories = natural_order(cells.keys().flat_map(|(a, b)| [*a, *b]));
        let k = categories.len();
        check_size(k)?;
        let index: BTreeMap<&str, usize> = categories.iter().map(String::as_str).zip(0..).collect();
        let mut counts = vec![0u64; k * k];
        for ((a, b), count) in &cells {
            if let (Some(i), Some(j)) = (index.get(a), index.get(b))
                && let Some(cell) = counts.get_mut(i * k + j)
            {
                *cell = *count;
            }
        }
        drop(index);
        Self::new(categories, counts)
    }

    fn new(categories: Vec<String>, counts: Vec<u64>) -> Result<Self, TableError> {
        check_size(categories.len())?;
        let mut seen = std::collections::BTreeSet::new();
        if let Some(category) = categories.iter().find(|category| !seen.insert(category.as_str())) {
            return Err(TableError::Duplicate { category: category.clone() });
        }
        let n = counts
            .iter()
            .try_fold(0u64, |sum, count| sum.checked_add(*count))
            .filter(|n| *n <= Self::MAX_UNITS)
            .ok_or(TableError::TooLarge { limit: Self::MAX_UNITS })?;
        Ok(Self { categories, counts, n })
    }

    /// The categories in their order.
    #[must_use]
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// The number of categories.
    #[must_use]
    pub fn size(&self) -> usize {
        self.categories.len()
    }

    /// The number of units.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The counts, row after row.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The count of the pair (first rater `row`, second rater `column`); 0 outside the table.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> u64 {
        if column >= self.size() {
            return 0;
        }
        self.counts.get(row * self.size() + column).copied().unwrap_or(0)
    }

    /// The counts as rows.
    #[must_use]
    pub fn rows(&self) -> Vec<Vec<u64>> {
        self.counts.chunks(self.size().max(1)).map(<[u64]>::to_vec).collect()
    }

    /// How often the first rater used each category.
    #[must_use]
    pub fn row_totals(&self) -> Vec<u64> {
        self.counts.chunks(self.size().max(1)).map(|row| row.iter().sum()).collect()
    }

    /// How often the second rater used each category.
    #[must_use]
    pub fn column_totals(&self) -> Vec<u64> {
        (0..self.size()).map(|j| (0..self.size()).map(|i| self.get(i, j)).sum()).collect()
    }

    /// Units on which both raters gave the same category.
    #[must_use]
    pub fn agreeing(&self) -> u64 {
        (0..self.size()).map(|i| self.get(i, i)).sum()
    }

    /// The same table with the raters exchanged.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let k = self.size();
        let counts = (0..k).flat_map(|i| (0..k).map(move |j| (j, i))).map(|(i, j)| self.get(i, j)).collect();
        Self { categories: self.categories.clone(), counts, n: self.n }
    }
}

/// Refuses more categories than a table is for.
pub(super) fn check_size(found: usize) -> Result<(), TableError> {
    let limit = Table::MAX_CATEGORIES;
    if found > limit { Err(TableError::TooManyCategories { found, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_and_counts_make_the_same_table() {
        let categories = vec!["low".to_owned(), "mid".to_owned(), "high".to_owned()];
        let pairs = [("low", "low"), ("low", "high"), ("high", "low"), ("mid", "mid"), ("low", "low")];
        let table = Table::from_pairs(&categories, pairs).expect("all labels listed");
        let same = Table::from_counts(categories, &[vec![2, 0, 1], vec![0, 1, 0], vec![1, 0, 0]]).expect("square");
        assert_eq!(table, same);
        assert_eq!((table.n(), table.agreeing()), (5, 3));
        assert_eq!((table.row_totals(), table.column_totals()), (vec![3, 1, 1], vec![3, 1, 1]));
        assert_eq!(table.transposed().get(2, 0), 1);
    }

    #[test]
    fn observed_categories_are_sorted_whatever_the_order_of_the_pairs() {
        let one = Table::observed([("b", "a"), ("c", "c")]).expect("small");
        let two = Table::observed([("c", "c"), ("b", "a")]).expect("small");
        assert_eq!(one, two);
        assert_eq!(one.categories(), ["a", "b", "c"]);
        assert_eq!(one.get(1, 0), 1);
        let numbers = Table::observed([("10", "9"), ("2", "2")]).expect("small");
        assert_eq!(numbers.categories(), ["2", "9", "10"]);
    }

    #[test]
    fn free_text_is_not_taken_for_categories() {
        let texts: Vec<String> = (0..1001).map(|i| format!("text {i}")).collect();
        let pairs = texts.iter().map(|text| (text.as_str(), text.as_str()));
        assert!(matches!(Table::observed(pairs), Err(TableError::TooManyCategories { found: 1001, .. })));
        assert!(matches!(Table::from_pairs(&texts, []), Err(TableError::TooManyCategories { .. })));
    }

    #[test]
    fn wrong_shapes_are_refused() {
        let ab = || vec!["a".to_owned(), "b".to_owned()];
        assert!(matches!(Table::from_counts(ab(), &[vec![1, 2]]), Err(TableError::Shape { .. })));
        assert!(matches!(Table::from_counts(ab(), &[vec![1, 2], vec![1]]), Err(TableError::Shape { .. })));
        assert!(matches!(
            Table::from_counts(vec!["a".into(), "a".into()], &[vec![1, 2], vec![1, 2]]),
            Err(TableError::Duplicate { .. })
        ));
        assert!(matches!(Table::from_pairs(&ab(), [("a", "z")]), Err(TableError::Unknown { .. })));
        assert!(matches!(Table::numbered(&[vec![u64::MAX]]), Err(TableError::TooLarge { .. })));
        assert!(matches!(Table::numbered(&[vec![u64::MAX, 1], vec![0, 0]]), Err(TableError::TooLarge { .. })));
    }

    #[test]
    fn the_empty_table_is_a_table() {
        let table = Table::observed([]).expect("nothing to refuse");
        assert_eq!((table.n(), table.size(), table.agreeing(), table.get(0, 0)), (0, 0, 0, 0));
        assert!(table.row_totals().is_empty());
    }
}
