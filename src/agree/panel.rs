//! Ratings of many units by any number of raters, with gaps; and what remains of them when raters are not told apart.

use std::collections::{BTreeMap, BTreeSet};

use super::{Table, TableError, table::check_size};

/// Why ratings do not make a panel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PanelError {
    /// Units with different numbers of places for ratings.
    #[error("unit {unit} has {found} places for ratings, the first has {expected}")]
    Ragged {
        /// Unit, from 1.
        unit: usize,
        /// Its places.
        found: usize,
        /// The first unit's places.
        expected: usize,
    },
    /// A label outside the category list.
    #[error("unit {unit} has the label {label:?}, which is not one of the categories {categories:?}")]
    Unknown {
        /// Unit, from 1.
        unit: usize,
        /// The label.
        label: String,
        /// The list.
        categories: Vec<String>,
    },
    /// A code that is neither a category nor the mark of a gap.
    #[error("code {code} stands for none of the {categories} categories")]
    Code {
        /// The code.
        code: u32,
        /// Number of categories.
        categories: usize,
    },
    /// More counts (units times categories) than are worth the memory.
    #[error("{units} units with {categories} categories are more than can be compared at once")]
    TooLarge {
        /// Number of units.
        units: usize,
        /// Number of categories.
        categories: usize,
    },
    /// A category that is listed twice, or too many categories or units.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Category names in their natural order: as numbers where all are numbers, else as text.
#[must_use]
pub fn natural_order<'a>(labels: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let unique: BTreeSet<&str> = labels.into_iter().collect();
    let names: Vec<&str> = unique.into_iter().collect();
    natural_numbers(&names).unwrap_or(names).into_iter().map(str::to_owned).collect()
}

/// The names in the order of the numbers they are; `None` where one is none.
pub(crate) fn natural_numbers<'a>(names: &[&'a str]) -> Option<Vec<&'a str>> {
    let number = |name: &&'a str| name.trim().parse::<f64>().ok().filter(|value| value.is_finite()).map(|v| (v, *name));
    let mut numbers = names.iter().map(number).collect::<Option<Vec<(f64, &str)>>>()?;
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(numbers.into_iter().map(|(_, name)| name).collect())
}

/// Ratings of units (rows) by raters (columns) over one ordered list of categories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    categories: Vec<String>,
    raters: usize,
    codes: Vec<u32>,
}

impl Panel {
    /// The code of a rating that is not there.
    pub const MISSING: u32 = u32::MAX;

    /// From labels; without a category list, the labels that occur in their natural order.
    ///
    /// # Errors
    /// Rows of different length, a label outside the list, a category listed twice.
    pub fn from_labels(rows: &[Vec<Option<&str>>], categories: Option<&[String]>) -> Result<Self, PanelError> {
        let categories =
            categories.map_or_else(|| natural_order(rows.iter().flatten().flatten().copied()), <[String]>::to_vec);
        distinct(&categories)?;
        let index: BTreeMap<&str, u32> = categories.iter().map(String::as_str).zip(0u32..).collect();
        let raters = rows.first().map_or(0, Vec::len);
        let mut codes = Vec::with_capacity(rows.len() * raters);
        for (unit, row) in rows.iter().enumerate() {
            if row.len() != raters {
                return Err(PanelError::Ragged { unit: unit + 1, found: row.len(), expected: raters });
            }
            for label in row {
                codes.push(match label {
                    None => Self::MISSING,
                    Some(label) => *index.get(label).ok_or_else(|| PanelError::Unknown {
                        unit: unit + 1,
                        label: (*label).to_owned(),
                        categories: categories.clone(),
                    })?,
                });
            }
        }
        drop(index);
        bounded(rows.len(), categories.len())?;
        Ok(Self { categories, raters, codes })
    }

    /// From category codes, unit after unit; [`Panel::MISSING`] marks a gap.
    ///
    /// # Errors
    /// Codes that do not fill the last unit, a code outside the categories, a category listed twice.
    pub fn from_codes(categories: Vec<String>, raters: usize, codes: Vec<u32>) -> Result<Self, PanelError> {
        distinct(&categories)?;
        let over = codes.len() % raters.max(1);
        if over != 0 || (raters == 0 && !codes.is_empty()) {
            return Err(PanelError::Ragged { unit: codes.len() / raters.max(1) + 1, found: over, expected: raters });
        }
        let size = categories.len();
        bounded(codes.len() / raters.max(1), size)?;
        if let Some(code) = codes.iter().find(|code| **code != Self::MISSING && **code as usize >= size) {
            return Err(PanelError::Code { code: *code, categories: size });
        }
        Ok(Self { categories, raters, codes })
    }

    /// The categories in their order.
    #[must_use]
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// The number of raters.
    #[must_use]
    pub fn raters(&self) -> usize {
        self.raters
    }

    /// The units, each a slice of one code per rater.
    pub fn units(&self) -> impl Iterator<Item = &[u32]> {
        self.codes.chunks_exact(self.raters.max(1))
    }

    /// The table of two raters over the units that both rated. Raters count from 0; one that does not exist rated
    /// nothing.
    ///
    /// # Errors
    /// More units than a table holds.
    pub fn table(&self, first: usize, second: usize) -> Result<Table, TableError> {
        let k = self.categories.len();
        let mut rows = vec![vec![0u64; k]; k];
        for unit in self.units() {
            let code = |rater: usize| unit.get(rater).copied().unwrap_or(Self::MISSING) as usize;
            if let Some(cell) = rows.get_mut(code(first)).and_then(|row| row.get_mut(code(second))) {
                *cell += 1;
            }
        }
        Table::from_counts(self.categories.clone(), &rows)
    }

    /// How often each unit got each category.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let k = self.categories.len();
        let mut counts = vec![0u32; k * self.codes.len() / self.raters.max(1)];
        if k > 0 {
            for (unit, row) in self.units().zip(counts.chunks_exact_mut(k)) {
                for code in unit {
                    if let Some(count) = row.get_mut(*code as usize) {
                        *count += 1;
                    }
                }
            }
        }
        Counts { categories: self.categories.clone(), counts }
    }
}

/// Refuses counts per unit that would not fit into about half a gigabyte.
fn bounded(units: usize, categories: usize) -> Result<(), PanelError> {
    const MOST: usize = 1 << 27;
    if units.saturating_mul(categories) > MOST { Err(PanelError::TooLarge { units, categories }) } else { Ok(()) }
}

fn distinct(categories: &[String]) -> Result<(), TableError> {
    check_size(categories.len())?;
    let mut seen = BTreeSet::new();
    match categories.iter().find(|category| !seen.insert(category.as_str())) {
        Some(category) => Err(TableError::Duplicate { category: category.clone() }),
        None => Ok(()),
    }
}

/// How often each unit got each category, whoever gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    categories: Vec<String>,
    counts: Vec<u32>,
}

impl Counts {
    /// From rows of counts, a unit a row.
    ///
    /// # Errors
    /// A row that does not fit the categories, a category listed twice.
    pub fn new(categories: Vec<String>, rows: &[Vec<u32>]) -> Result<Self, PanelError> {
        distinct(&categories)?;
        let expected = categories.len();
        if let Some((at, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != expected) {
            return Err(PanelError::Ragged { unit: at + 1, found: row.len(), expected });
        }
        Ok(Self { categories, counts: rows.concat() })
    }

    /// The categories in their order.
    #[must_use]
    pub fn categories(&self) -> &[String] {
        &self.categories
    }

    /// The units, each with its count per category.
    pub fn units(&self) -> impl Iterator<Item = &[u32]> {
        self.counts.chunks_exact(self.categories.len().max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<Option<&'static str>>> {
        vec![vec![Some("2"), Some("10"), None], vec![Some("2"), None, None], vec![Some("10"), Some("10"), Some("2")]]
    }

    #[test]
    fn labels_are_ordered_as_numbers_where_they_are() {
        assert_eq!(natural_order(["10", "9", "2"]), ["2", "9", "10"]);
        assert_eq!(natural_order(["10", "9", "b"]), ["10", "9", "b"]);
        assert_eq!(natural_order(["nan", "1"]), ["1", "nan"]);
    }

    #[test]
    fn a_panel_gives_tables_and_counts() {
        let panel = Panel::from_labels(&rows(), None).expect("rectangular");
        assert_eq!((panel.categories(), panel.raters()), (&["2".to_owned(), "10".to_owned()][..], 3));
        assert_eq!(panel.table(0, 1).expect("small").rows(), [[0, 1], [0, 1]]);
        assert_eq!(panel.table(0, 9).expect("small").n(), 0);
        assert_eq!(panel.counts().units().collect::<Vec<_>>(), [[1, 1], [1, 0], [1, 2]]);
        let codes = vec![0, 1, Panel::MISSING, 0, Panel::MISSING, Panel::MISSING, 1, 1, 0];
        assert_eq!(Panel::from_codes(panel.categories().to_vec(), 3, codes), Ok(panel));
    }

    #[test]
    fn wrong_panels_are_refused() {
        assert!(matches!(
            Panel::from_labels(&[vec![None], vec![]], None),
            Err(PanelError::Ragged { unit: 2, found: 0, expected: 1 })
        ));
        let list = ["2".to_owned()];
        assert!(matches!(Panel::from_labels(&rows(), Some(&list)), Err(PanelError::Unknown { unit: 1, .. })));
        assert!(matches!(Panel::from_codes(list.to_vec(), 2, vec![0, 1]), Err(PanelError::Code { code: 1, .. })));
        assert!(matches!(Panel::from_codes(list.to_vec(), 2, vec![0]), Err(PanelError::Ragged { .. })));
        assert!(Panel::from_codes(vec![], 0, vec![0]).is_err());
        assert!(Counts::new(list.to_vec(), &[vec![1, 2]]).is_err());
        let empty = Panel::from_labels(&[], None).expect("nothing to refuse");
        assert_eq!((empty.counts().units().count(), empty.units().count()), (0, 0));
    }
}
