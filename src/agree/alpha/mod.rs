//! Krippendorff's alpha: any number of raters, gaps, and four metrics.
//!
//! Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"; Hayes & Krippendorff 2007, Commun. Methods Meas.
//! 1:77-89. Conventions. Units with fewer than two ratings are left out of everything, the margins too. No such unit, or
//! only one value among them: undefined. Cost: units with the same ratings are counted together, and the sums over pairs
//! are closed forms, so a million units of two raters cost one pass.

use std::collections::BTreeMap;

use serde::Serialize;

use super::bootstrap::{self, Plan, Replicates};
use super::panel::{Counts, Panel};
use super::{Table, Undefined};

mod metric;

pub use metric::Metric;
use metric::Scores;

/// Alpha with what it was computed from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Alpha {
    /// The metric.
    pub metric: Metric,
    /// 1 − observed / expected disagreement; below −1 and above 1 are impossible, below 0 is not.
    pub alpha: Option<f64>,
    /// Mean observed disagreement between ratings of a unit.
    pub observed: Option<f64>,
    /// Mean disagreement between all ratings.
    pub expected: Option<f64>,
    /// Units with two ratings or more.
    pub units: u64,
    /// Their ratings.
    pub ratings: u64,
    /// Units with a single rating, left out.
    pub single: u64,
    /// Why alpha is missing.
    pub reason: Option<Undefined>,
}

/// Units with the same ratings: how often each category occurs in one of them, and how many there are.
struct Pattern {
    counts: Vec<(usize, u32)>,
    ratings: u64,
    units: u64,
}

/// The ratings as alpha needs them.
pub struct AlphaData {
    patterns: Vec<Pattern>,
    categories: usize,
    numbers: Option<Vec<f64>>,
    single: u64,
}

impl AlphaData {
    /// From counts per unit.
    #[must_use]
    pub fn from_counts(counts: &Counts) -> Self {
        let mut patterns: BTreeMap<&[u32], u64> = BTreeMap::new();
        for unit in counts.units() {
            *patterns.entry(unit).or_default() += 1;
        }
        let whole = |unit: &[u32]| unit.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        Self::new(counts.categories(), patterns.into_iter().map(|(unit, units)| (whole(unit), units)))
    }

    /// From the ratings of a panel.
    #[must_use]
    pub fn from_panel(panel: &Panel) -> Self {
        /// Most ways of rating a unit that are counted by position instead of by search.
        const PLACES: usize = 1 << 16;
        let base = panel.categories().len() + 1;
        let raters = u32::try_from(panel.raters()).unwrap_or(u32::MAX);
        let Some(places) = base.checked_pow(raters).filter(|places| *places <= PLACES) else {
            return Self::from_counts(&panel.counts());
        };
        let mut seen = vec![0u64; places];
        for unit in panel.units() {
            // A gap is the digit after the last category.
            let place = unit.iter().fold(0, |place, code| place * base + (*code as usize).min(base - 1));
            if let Some(count) = seen.get_mut(place) {
                *count += 1;
            }
        }
        let mut patterns: BTreeMap<Vec<(usize, u32)>, u64> = BTreeMap::new();
        for (mut place, units) in seen.into_iter().enumerate().filter(|(_, units)| *units > 0) {
            let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
            for _ in 0..raters {
                if place % base < base - 1 {
                    *counts.entry(place % base).or_default() += 1;
                }
                place /= base;
            }
            *patterns.entry(counts.into_iter().collect()).or_default() += units;
        }
        Self::new(panel.categories(), patterns)
    }

    /// From a table of two raters.
    #[must_use]
    pub fn from_table(table: &Table) -> Self {
        let pairs = (0..table.size()).flat_map(|i| (i..table.size()).map(move |j| (i, j)));
        let patterns = pairs.map(|(i, j)| {
            if i == j {
                (vec![(i, 2)], table.get(i, i))
            } else {
                (vec![(i, 1), (j, 1)], table.get(i, j) + table.get(j, i))
            }
        });
        Self::new(table.categories(), patterns)
    }

    fn new(categories: &[String], patterns: impl IntoIterator<Item = (Vec<(usize, u32)>, u64)>) -> Self {
        let numbers = categories.iter().map(|name| name.trim().parse().ok().filter(|value: &f64| value.is_finite()));
        let mut data =
            Self { patterns: Vec::new(), categories: categories.len(), numbers: numbers.collect(), single: 0 };
        for (counts, units) in patterns.into_iter().filter(|(_, units)| *units > 0) {
            let ratings: u64 = counts.iter().map(|(_, count)| u64::from(*count)).sum();
            match ratings {
                0 => {}
                1 => data.single += units,
                _ => data.patterns.push(Pattern { counts, ratings, units }),
            }
        }
        data
    }

    /// Alpha.
    #[must_use]
    pub fn alpha(&self, metric: Metric) -> Alpha {
        let units: Vec<u64> = self.patterns.iter().map(|pattern| pattern.units).collect();
        let total = |per: fn(&Pattern) -> u64| self.patterns.iter().map(|pattern| per(pattern) * pattern.units).sum();
        let mut result = Alpha {
            metric,
            alpha: None,
            observed: None,
            expected: None,
            units: units.iter().sum(),
            ratings: total(|pattern| pattern.ratings),
            single: self.single,
            reason: None,
        };
        match self.scores(metric).and_then(|scores| self.disagreement(&units, &scores)) {
            Err(reason) => result.reason = Some(reason),
            Ok((observed, expected)) => {
                result.observed = Some(observed);
                result.expected = Some(expected);
                result.alpha = Some(1.0 - observed / expected);
            }
        }
        result
    }

    /// Bootstrap replicates of alpha: units are resampled (those with a single rating too few to count are not).
    ///
    /// # Errors
    /// The metric does not fit the categories.
    pub fn replicates(&self, metric: Metric, plan: Plan) -> Result<Replicates, Undefined> {
        let scores = self.scores(metric)?;
        let units: Vec<u64> = self.patterns.iter().map(|pattern| pattern.units).collect();
        if units.is_empty() {
            return Ok(Replicates::new([]));
        }
        Ok(bootstrap::cells(
            &units,
            plan,
            || (),
            |(), drawn| self.disagreement(drawn, &scores).ok().map(|(observed, expected)| 1.0 - observed / expected),
        ))
    }

    fn scores(&self, metric: Metric) -> Result<Scores, Undefined> {
        if self.patterns.is_empty() {
            return Err(if self.single == 0 { Undefined::NoUnits } else { Undefined::TooFewRaters });
        }
        let numbers = || self.numbers.clone().ok_or(Undefined::NotNumeric);
        Ok(match metric {
            Metric::Nominal => Scores::Nominal,
            Metric::Ordinal => Scores::Ordinal,
            Metric::Interval => Scores::Interval(numbers()?),
            Metric::Ratio => {
                let numbers = numbers()?;
                if numbers.iter().any(|value| *value < 0.0) {
                    return Err(Undefined::NotRatio);
                }
                Scores::Ratio(numbers)
            }
        })
    }

    /// Observed and expected disagreement of the patterns, each as often as `units` says.
    fn disagreement(&self, units: &[u64], scores: &Scores) -> Result<(f64, f64), Undefined> {
        let mut uses = vec![0u64; self.categories];
        for (pattern, units) in self.patterns.iter().zip(units) {
            for (category, count) in &pattern.counts {
                if let Some(uses) = uses.get_mut(*category) {
                    *uses += u64::from(*count) * units;
                }
            }
        }
        let total = uses.iter().sum::<u64>() as f64;
        if uses.iter().filter(|count| **count > 0).count() < 2 {
            return Err(if total > 0.0 { Undefined::OneCategory } else { Undefined::NoUnits });
        }
        let metric = scores.measure(&uses);
        let observed: f64 = self
            .patterns
            .iter()
            .zip(units)
            .filter(|(_, units)| **units > 0)
            .map(|(pattern, units)| {
                let counts = pattern.counts.iter().map(|(category, count)| (*category, f64::from(*count)));
                *units as f64 * metric.over_pairs(counts) / (pattern.ratings - 1) as f64
            })
            .sum();
        let everything = uses.iter().enumerate().filter(|(_, count)| **count > 0).map(|(i, count)| (i, *count as f64));
        let expected = metric.over_pairs(everything) / (total * (total - 1.0));
        // Categories that are written differently may be the same number.
        if expected > 0.0 { Ok((observed / total, expected)) } else { Err(Undefined::NoDisagreementPossible) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(rows: &[&[Option<&str>]]) -> AlphaData {
        let rows: Vec<_> = rows.iter().map(|row| row.to_vec()).collect();
        AlphaData::from_panel(&Panel::from_labels(&rows, None).expect("rectangular"))
    }

    #[test]
    fn undefined_is_said_not_computed() {
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!(panel(&[]).alpha(Metric::Nominal).reason, Some(Undefined::NoUnits));
        assert_eq!(panel(&[&[a, None], &[None, b]]).alpha(Metric::Nominal).reason, Some(Undefined::TooFewRaters));
        let one = panel(&[&[a, a], &[a, a], &[None, b]]).alpha(Metric::Nominal);
        assert_eq!((one.alpha, one.reason, one.single, one.units), (None, Some(Undefined::OneCategory), 1, 2));
        assert_eq!(panel(&[&[a, b]]).alpha(Metric::Interval).reason, Some(Undefined::NotNumeric));
        let spellings = panel(&[&[Some("0"), Some("0.0")]]);
        assert_eq!(spellings.alpha(Metric::Ratio).reason, Some(Undefined::NoDisagreementPossible));
        assert_eq!(spellings.alpha(Metric::Interval).reason, Some(Undefined::NoDisagreementPossible));
        assert_eq!(panel(&[&[Some("-1"), Some("1")]]).alpha(Metric::Ratio).reason, Some(Undefined::NotRatio));
    }

    /// pln-fing-udelar/fast-krippendorff issue 27: two units, each rated A by one and B by the other, is −0.5.
    #[test]
    fn fast_krippendorff_issue_27_below_zero() {
        let (a, b) = (Some("A"), Some("B"));
        let found = panel(&[&[a, b], &[b, a]]).alpha(Metric::Nominal).alpha.expect("defined");
        assert!((found + 0.5).abs() < 1e-15);
    }

    /// The definition by pairs of ratings, without closed forms or grouping.
    fn by_pairs(rows: &[Vec<Option<u32>>], metric: Metric) -> Option<f64> {
        let units: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().flatten().copied().collect()).collect();
        let units: Vec<&Vec<u32>> = units.iter().filter(|unit| unit.len() > 1).collect();
        let all: Vec<u32> = units.iter().flat_map(|unit| unit.iter().copied()).collect();
        let uses = |value: u32| all.iter().filter(|other| **other == value).count() as f64;
        let delta = |a: u32, b: u32| -> f64 {
            let (x, y) = (f64::from(a), f64::from(b));
            match metric {
                Metric::Nominal => f64::from(u8::from(a != b)),
                Metric::Ordinal => {
                    let between: f64 = (a.min(b)..=a.max(b)).map(uses).sum();
                    if a == b { 0.0 } else { (between - f64::midpoint(uses(a), uses(b))).powi(2) }
                }
                Metric::Interval => (x - y).powi(2),
                Metric::Ratio => {
                    if a == b {
                        0.0
                    } else {
                        ((x - y) / (x + y)).powi(2)
                    }
                }
            }
        };
        let pairs = |values: &[u32]| -> f64 {
            let ordered = (0..values.len()).flat_map(|i| (0..values.len()).map(move |j| (i, j)));
            ordered.filter(|(i, j)| i != j).map(|(i, j)| delta(values[i], values[j])).sum()
        };
        let n = all.len() as f64;
        let expected = pairs(&all) / (n * (n - 1.0));
        let observed = units.iter().map(|unit| pairs(unit) / (unit.len() - 1) as f64).sum::<f64>() / n;
        (expected > 0.0).then(|| 1.0 - observed / expected)
    }

    proptest::proptest! {
        /// Few raters are grouped by position, many by search: both equal the definition.
        #[test]
        fn closed_forms_equal_the_definition(
            rows in (2usize..9).prop_flat_map(|raters| {
                proptest::collection::vec(proptest::collection::vec(proptest::option::of(0u32..5), raters), 1..12)
            })
        ) {
            let labels: Vec<Vec<Option<String>>> =
                rows.iter().map(|row| row.iter().map(|code| code.map(|code| code.to_string())).collect()).collect();
            let labels: Vec<Vec<Option<&str>>> =
                labels.iter().map(|row| row.iter().map(Option::as_deref).collect()).collect();
            let panel = Panel::from_labels(&labels, None).expect("rectangular");
            for metric in Metric::ALL {
                let expected = by_pairs(&rows, metric);
                for data in [AlphaData::from_panel(&panel), AlphaData::from_counts(&panel.counts())] {
                    match (data.alpha(metric).alpha, expected) {
                        (Some(found), Some(expected)) => proptest::prop_assert!((found - expected).abs() < 1e-10),
                        (found, expected) => proptest::prop_assert_eq!(found, expected),
                    }
                }
            }
        }
    }
    use proptest::strategy::Strategy as _;
}
