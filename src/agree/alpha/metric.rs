//! The four metrics of alpha: what a difference is, and its sum over all pairs of ratings in closed form.

use serde::Serialize;

/// What a difference between two values is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Equal or not.
    Nominal,
    /// The number of ratings between them, in the order of the categories.
    Ordinal,
    /// Their distance; the categories must be numbers.
    Interval,
    /// Their distance relative to their sum; numbers of at least zero.
    Ratio,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 4] = [Self::Nominal, Self::Ordinal, Self::Interval, Self::Ratio];

    /// The written form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Nominal => "nominal",
            Self::Ordinal => "ordinal",
            Self::Interval => "interval",
            Self::Ratio => "ratio",
        }
    }
}

/// The metric, before the margins are known.
pub(super) enum Scores {
    Nominal,
    Ordinal,
    Interval(Vec<f64>),
    Ratio(Vec<f64>),
}

/// The metric with its values.
pub(super) enum Measure<'a> {
    Equal,
    Distance(std::borrow::Cow<'a, [f64]>),
    Relative(&'a [f64]),
}

impl Scores {
    pub(super) fn measure(&self, uses: &[u64]) -> Measure<'_> {
        match self {
            Self::Nominal => Measure::Equal,
            // The ordinal metric is the distance of mean ranks: ratings below, and half of those equal.
            Self::Ordinal => {
                let mut below = 0.0;
                let ranks = uses.iter().map(|count| {
                    below += *count as f64;
                    below - *count as f64 / 2.0
                });
                Measure::Distance(ranks.collect::<Vec<_>>().into())
            }
            Self::Interval(numbers) => Measure::Distance(numbers.as_slice().into()),
            Self::Ratio(numbers) => Measure::Relative(numbers),
        }
    }
}

impl Measure<'_> {
    /// The sum of squared differences over ordered pairs of different ratings, from counts per category.
    pub(super) fn over_pairs(&self, counts: impl Iterator<Item = (usize, f64)> + Clone) -> f64 {
        let value = |values: &[f64], at: usize| values.get(at).copied().unwrap_or(0.0);
        match self {
            Self::Equal => {
                let (sum, squares) =
                    counts.fold((0.0, 0.0), |(sum, squares), (_, count)| (sum + count, squares + count * count));
                sum * sum - squares
            }
            Self::Distance(scores) => {
                // Around the mean, so that large scores lose no digits.
                let (sum, weighted) = counts.clone().fold((0.0, 0.0), |(sum, weighted), (at, count)| {
                    (sum + count, weighted + count * value(scores, at))
                });
                let mean = weighted / sum;
                2.0 * sum * counts.map(|(at, count)| count * (value(scores, at) - mean).powi(2)).sum::<f64>()
            }
            Self::Relative(numbers) => {
                let mut sum = 0.0;
                for (i, first) in counts.clone() {
                    for (j, second) in counts.clone().filter(|(j, _)| *j > i) {
                        let (a, b) = (value(numbers, i), value(numbers, j));
                        // Two spellings of zero do not differ.
                        if a + b > 0.0 {
                            sum += 2.0 * first * second * ((a - b) / (a + b)).powi(2);
                        }
                    }
                }
                sum
            }
        }
    }
}
