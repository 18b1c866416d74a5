//! Weights of agreement between categories: 1 for the same category, less for the others.
//!
//! The order of the categories is the codebook's; sorted by name, "high" stands before "low" and the weights mean nothing.
//! Agreement and disagreement weights are told apart by name, because a matrix of the one read as the other gives a
//! wrong coefficient without complaint.

use serde::Serialize;

/// Why numbers are not weights.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WeightsError {
    /// Not a square of the right size.
    #[error("weights for {categories} categories are {categories} rows of {categories} numbers")]
    Shape {
        /// Number of categories.
        categories: usize,
    },
    /// Agreement weights must be 1 on the diagonal and from 0 to 1 elsewhere.
    #[error(
        "agreement weights are 1 on the diagonal and 0 to 1 elsewhere, but row {row}, column {column} is {value}; \
         a matrix with 0 on the diagonal holds disagreement weights"
    )]
    Agreement {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// The number.
        value: f64,
    },
    /// Disagreement weights must be 0 on the diagonal and not negative elsewhere.
    #[error(
        "disagreement weights are 0 on the diagonal and not negative elsewhere, but row {row}, column {column} is \
         {value}; a matrix with 1 on the diagonal holds agreement weights"
    )]
    Disagreement {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// The number.
        value: f64,
    },
    /// All disagreement weights are 0.
    #[error("at least one disagreement weight must be above 0")]
    AllZero,
}

/// The scheme that weights were made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// Only the same category agrees.
    Identity,
    /// 1 − distance / greatest distance.
    Linear,
    /// 1 − (distance / greatest distance)².
    Quadratic,
    /// 1 − C(steps + 1, 2) / C(q, 2), Gwet's ordinal weights (not Krippendorff's ordinal metric).
    Ordinal,
    /// The user's own matrix.
    Own,
}

/// A square of agreement weights, 1 on the diagonal.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    scheme: Scheme,
    size: usize,
    values: Vec<f64>,
}

impl Weights {
    /// Only the same category agrees.
    #[must_use]
    pub fn identity(size: usize) -> Self {
        Self::by(Scheme::Identity, size, |i, j| f64::from(u8::from(i == j)))
    }

    /// Linear weights over equally spaced categories (Cicchetti & Allison 1971).
    #[must_use]
    pub fn linear(size: usize) -> Self {
        Self::by(Scheme::Linear, size, |i, j| 1.0 - share(i, j, size))
    }

    /// Quadratic weights over equally spaced categories (Fleiss & Cohen 1973).
    #[must_use]
    pub fn quadratic(size: usize) -> Self {
        Self::by(Scheme::Quadratic, size, |i, j| 1.0 - share(i, j, size).powi(2))
    }

    /// Gwet's ordinal weights (Handbook of Inter-Rater Reliability, 4th ed. 2014, ch. 3).
    #[must_use]
    pub fn ordinal(size: usize) -> Self {
        let pairs = |count: usize| (count * count.saturating_sub(1) / 2) as f64;
        Self::by(Scheme::Ordinal, size, |i, j| if i == j { 1.0 } else { 1.0 - pairs(i.abs_diff(j) + 1) / pairs(size) })
    }

    /// Agreement weights: 1 on the diagonal, 0 to 1 elsewhere; rows belong to the first rater.
    ///
    /// # Errors
    /// A wrong shape or a number outside these ranges.
    pub fn from_agreement(rows: &[Vec<f64>]) -> Result<Self, WeightsError> {
        let size = square(rows)?;
        for (i, j, value) in cells(rows) {
            let right = if i == j { (value - 1.0).abs() < 1e-12 } else { (0.0..=1.0).contains(&value) };
            if !right {
                return Err(WeightsError::Agreement { row: i + 1, column: j + 1, value });
            }
        }
        Ok(Self { scheme: Scheme::Own, size, values: rows.concat() })
    }

    /// Disagreement weights: 0 on the diagonal, not negative elsewhere; scaled by the greatest.
    ///
    /// # Errors
    /// A wrong shape, a number outside these ranges, or all of them 0.
    pub fn from_disagreement(rows: &[Vec<f64>]) -> Result<Self, WeightsError> {
        let size = square(rows)?;
        let mut most = 0.0f64;
        for (i, j, value) in cells(rows) {
            let right = if i == j { value == 0.0 } else { value.is_finite() && value >= 0.0 };
            if !right {
                return Err(WeightsError::Disagreement { row: i + 1, column: j + 1, value });
            }
            most = most.max(value);
        }
        if most == 0.0 {
            return Err(WeightsError::AllZero);
        }
        Ok(Self { scheme: Scheme::Own, size, values: rows.concat().iter().map(|value| 1.0 - value / most).collect() })
    }

    fn by(scheme: Scheme, size: usize, weight: impl Fn(usize, usize) -> f64) -> Self {
        let values = (0..size).flat_map(|i| (0..size).map(move |j| (i, j))).map(|(i, j)| weight(i, j)).collect();
        Self { scheme, size, values }
    }

    /// How they were made.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The number of categories.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The weight of a pair of categories; 0 outside the square.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> f64 {
        if column >= self.size {
            return 0.0;
        }
        self.values.get(row * self.size + column).copied().unwrap_or(0.0)
    }

    /// A row of weights.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        self.values.get(row * self.size..(row + 1) * self.size).unwrap_or(&[])
    }

    /// The sum of all weights.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.values.iter().fold(0.0, |sum, value| sum + value)
    }

    /// The mean of the weight and its mirror image, for coefficients that do not tell the raters apart.
    #[must_use]
    pub fn mirrored(&self, row: usize, column: usize) -> f64 {
        f64::midpoint(self.get(row, column), self.get(column, row))
    }
}

fn share(i: usize, j: usize, size: usize) -> f64 {
    if i == j { 0.0 } else { i.abs_diff(j) as f64 / (size - 1) as f64 }
}

fn square(rows: &[Vec<f64>]) -> Result<usize, WeightsError> {
    let categories = rows.len();
    if rows.iter().all(|row| row.len() == categories) {
        Ok(categories)
    } else {
        Err(WeightsError::Shape { categories })
    }
}

fn cells(rows: &[Vec<f64>]) -> impl Iterator<Item = (usize, usize, f64)> {
    rows.iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, value)| (i, j, *value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of four categories written out by hand; Gwet's ordinal ones are 5/6, 1/2 and 0.
    #[test]
    fn schemes_of_four_categories() {
        let first_row = |weights: Weights| weights.row(0).to_vec();
        assert_eq!(first_row(Weights::identity(4)), [1.0, 0.0, 0.0, 0.0]);
        let near = |found: Vec<f64>, want: [f64; 4]| {
            assert!(found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?} {want:?}");
        };
        near(first_row(Weights::linear(4)), [1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0]);
        near(first_row(Weights::quadratic(4)), [1.0, 8.0 / 9.0, 5.0 / 9.0, 0.0]);
        near(first_row(Weights::ordinal(4)), [1.0, 5.0 / 6.0, 0.5, 0.0]);
        assert_eq!(Weights::linear(1).row(0), [1.0]);
        assert_eq!(Weights::linear(0).sum().to_bits(), 0.0f64.to_bits());
    }

    #[test]
    fn one_kind_of_matrix_is_not_taken_for_the_other() {
        let agreement = vec![vec![1.0, 0.5], vec![0.5, 1.0]];
        let disagreement = vec![vec![0.0, 2.0], vec![2.0, 0.0]];
        assert!(Weights::from_agreement(&agreement).is_ok() && Weights::from_disagreement(&disagreement).is_ok());
        assert!(matches!(
            Weights::from_agreement(&disagreement),
            Err(WeightsError::Agreement { row: 1, column: 1, .. })
        ));
        assert!(matches!(Weights::from_disagreement(&agreement), Err(WeightsError::Disagreement { .. })));
        assert!(matches!(Weights::from_agreement(&[vec![1.0, 0.0]]), Err(WeightsError::Shape { categories: 1 })));
        assert!(matches!(Weights::from_disagreement(&[vec![0.0]]), Err(WeightsError::AllZero)));
        assert!(Weights::from_agreement(&[vec![f64::NAN]]).is_err());
    }
}
