//! Cohen's kappa of a population, from a sample with unequal inclusion probabilities (R `survey`: `svykappa`).
//!
//! The influence of an item in cell (i, j) is {(1[i = j] − po) − (1 − κ)(c_i + r_j − 2 pe)}/(1 − pe), where r and c are the
//! weighted margins of rows and columns; the variance of κ is that of the weighted mean of the influences under the design.
//! Kappa: Cohen 1960, Educ. Psychol. Meas. 20:37-46; linearisation: Binder 1983, Int. Stat. Rev. 51:279-292; Lumley 2010,
//! Complex Surveys.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::agree::{Undefined, Z95};

/// One sampled case with both values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Item {
    /// The stratum: its place in the design.
    pub stratum: usize,
    /// The cluster inside the stratum; a number of its own for each case where cases were drawn one by one.
    pub cluster: usize,
    /// Cases that it stands for: 1 over its inclusion probability.
    pub weight: f64,
    /// The first value: its category's number.
    pub first: usize,
    /// The second value.
    pub second: usize,
}

/// A stratum of the design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DesignStratum {
    /// Clusters in the population (cases, where cases were drawn one by one); `None`: taken as without end.
    pub population: Option<f64>,
    /// Clusters drawn, those without usable values included.
    pub drawn: u64,
}

/// A design-weighted kappa.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WeightedKappa {
    /// Kappa.
    pub kappa: Option<f64>,
    /// Its linearised standard error.
    pub se: Option<f64>,
    /// κ ± 1.96 SE, not clamped.
    pub ci95: Option<[f64; 2]>,
    /// Weighted agreement.
    pub po: Option<f64>,
    /// Weighted agreement expected by chance.
    pub pe: Option<f64>,
    /// Cases used.
    pub n: u64,
    /// Why a value is missing.
    pub reason: Option<String>,
}

impl WeightedKappa {
    /// One without a value.
    #[must_use]
    pub fn missing(reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..Self::default() }
    }
}

/// Kappa over sampled items. A stratum of which one cluster of several was drawn has no variance of its own; its deviation is
/// then taken from 0, the mean of all influences (R `survey.lonely.psu = "adjust"`), which is on the safe side.
#[must_use]
pub fn weighted_kappa(items: &[Item], strata: &[DesignStratum]) -> WeightedKappa {
    let usable = |item: &&Item| item.weight > 0.0 && item.weight.is_finite();
    let items: Vec<&Item> = items.iter().filter(usable).collect();
    let mut found = WeightedKappa { n: items.len() as u64, ..WeightedKappa::default() };
    let total: f64 = items.iter().map(|item| item.weight).sum();
    if items.is_empty() {
        found.reason = Some(Undefined::NoUnits.text().to_owned());
        return found;
    }
    let (mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new());
    let mut agreeing = 0.0;
    for item in &items {
        let share = item.weight / total;
        *rows.entry(item.first).or_insert(0.0) += share;
        *columns.entry(item.second).or_insert(0.0) += share;
        agreeing += if item.first == item.second { share } else { 0.0 };
    }
    let margin = |margins: &BTreeMap<usize, f64>, category| margins.get(&category).copied().unwrap_or(0.0);
    let pe: f64 = rows.iter().map(|(category, share)| share * margin(&columns, *category)).sum();
    found.po = Some(agreeing);
    found.pe = Some(pe);
    let one_category = rows.len() == 1 && rows.keys().eq(columns.keys());
    if one_category {
        found.reason = Some(Undefined::OneCategory.text().to_owned());
        return found;
    }
    let perfect = items.iter().all(|item| item.first == item.second);
    let kappa = if perfect { 1.0 } else { (agreeing - pe) / (1.0 - pe) };
    found.kappa = Some(kappa);
    if rows.len() == 1 || columns.len() == 1 {
        found.reason = Some(Undefined::ConstantRater.text().to_owned());
        return found;
    }
    // Influences summed per cluster, as shares of the total weight.
    let mut sums: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for item in &items {
        let same = if item.first == item.second { 1.0 } else { 0.0 };
        let chance = margin(&columns, item.first) + margin(&rows, item.second) - 2.0 * pe;
        let influence = ((same - agreeing) - (1.0 - kappa) * chance) / (1.0 - pe);
        *sums.entry((item.stratum, item.cluster)).or_insert(0.0) += item.weight / total * influence;
    }
    let variance: f64 = strata.iter().enumerate().map(|(at, stratum)| own_variance(&sums, at, *stratum)).sum();
    let se = variance.max(0.0).sqrt();
    if perfect {
        found.reason = Some(Undefined::Degenerate.text().to_owned());
        return found;
    }
    found.se = Some(se);
    if se > 0.0 {
        found.ci95 = Some([kappa - Z95 * se, kappa + Z95 * se]);
    } else {
        // All cases were seen: kappa is that of the population.
        found.ci95 = Some([kappa, kappa]);
    }
    found
}

/// (1 − m/M) m/(m − 1) Σ (z − z̄)² over the m drawn clusters of a stratum; clusters without a usable case have z = 0.
fn own_variance(sums: &BTreeMap<(usize, usize), f64>, at: usize, stratum: DesignStratum) -> f64 {
    let own: Vec<f64> = sums.range((at, 0)..=(at, usize::MAX)).map(|(_, sum)| *sum).collect();
    let drawn = stratum.drawn.max(own.len() as u64);
    let m = drawn as f64;
    let unseen = stratum.population.map_or(1.0, |population| (1.0 - m / population).max(0.0));
    if drawn < 2 {
        return unseen * own.iter().map(|z| z * z).sum::<f64>();
    }
    let mean = own.iter().sum::<f64>() / m;
    let squares = own.iter().map(|z| (z - mean).powi(2)).sum::<f64>() + (m - own.len() as f64) * mean * mean;
    unseen * m / (m - 1.0) * squares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agree::{Table, kappa};
    use proptest::prelude::*;

    fn items(cells: &[(usize, usize, u64)], weight: f64, stratum: usize) -> Vec<Item> {
        let mut all = Vec::new();
        for (first, second, count) in cells {
            for _ in 0..*count {
                let cluster = all.len();
                all.push(Item { stratum, cluster, weight, first: *first, second: *second });
            }
        }
        all
    }

    #[test]
    fn degenerate_samples_say_why() {
        let design = |drawn| [DesignStratum { population: Some(100.0), drawn }];
        assert!(weighted_kappa(&[], &design(0)).reason.is_some());
        let same = weighted_kappa(&items(&[(1, 1, 9)], 2.0, 0), &design(9));
        assert_eq!((same.kappa, same.reason.is_some()), (None, true));
        let perfect = weighted_kappa(&items(&[(1, 1, 9), (0, 0, 3)], 2.0, 0), &design(12));
        assert_eq!((perfect.kappa, perfect.se, perfect.ci95), (Some(1.0), None, None));
        let constant = weighted_kappa(&items(&[(1, 1, 9), (0, 1, 3)], 2.0, 0), &design(12));
        assert!(constant.kappa.is_some_and(|kappa| kappa.abs() < 1e-12) && constant.ci95.is_none());
    }

    proptest! {
        /// Equal weights and no end to the population: kappa is Cohen's, and the standard error is that of Fleiss, Cohen and
        /// Everitt 1969 but for n/(n − 1).
        #[test]
        fn equal_weights_are_cohen(a in 1u64..40, b in 1u64..40, c in 1u64..40, d in 1u64..40) {
            let n = a + b + c + d;
            let found = weighted_kappa(
                &items(&[(0, 0, a), (0, 1, b), (1, 0, c), (1, 1, d)], 3.5, 0),
                &[DesignStratum { population: None, drawn: n }],
            );
            let plain = kappa::cohen(&Table::numbered(&[vec![a, b], vec![c, d]]).expect("a table"));
            prop_assert!((found.kappa.expect("defined") - plain.kappa.expect("defined")).abs() < 1e-12);
            let scale = (n as f64 / (n as f64 - 1.0)).sqrt();
            prop_assert!((found.se.expect("defined") - plain.se.expect("defined") * scale).abs() < 1e-9);
            // Every case seen: nothing is uncertain.
            let all = weighted_kappa(
                &items(&[(0, 0, a), (0, 1, b), (1, 0, c), (1, 1, d)], 1.0, 0),
                &[DesignStratum { population: Some(n as f64), drawn: n }],
            );
            prop_assert!(all.se.expect("defined").abs() < 1e-12);
        }
    }
}
