//! Families of models: how far GAR and Acc differ between families and between the models of one family.
//!
//! One value per model (the mean of its runs under one condition), one-way random-effects analysis of variance over
//! families. Estimators: the components from the mean squares with n₀ = (N − Σnᵢ²/N)/(k − 1) models a family (Searle,
//! Casella & McCulloch, *Variance Components*, 1992, ch. 3); the interval of the within component from χ²; that of the
//! share between (the intraclass correlation) from F (Shrout & Fleiss 1979, ICC(1,1)). Exact for normal values and
//! families of equal size, approximate else; a handful of models gives wide intervals, and they say so.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use super::GarRow;
use super::size::{SizeEffect, size_effect};
use crate::action::RuleSet;
use crate::model::Category;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FamilyMeasure {
    /// Gold Action Recall, in percent.
    Gar,
    /// Accuracy, in percent.
    Acc,
}

/// A measure within and between families, for one condition and category under one rule set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FamilyRow {
    /// The rules that classified the emissions.
    pub rules: RuleSet,
    /// The condition.
    pub condition: String,
    /// The category.
    pub category: Category,
    /// What is compared.
    pub measure: FamilyMeasure,
    /// The families with a value, by name.
    pub families: Vec<FamilySpread>,
    /// Models with a value that no family names.
    pub without_family: Vec<String>,
    /// The analysis of variance.
    #[serde(flatten)]
    pub components: Components,
    /// What a model's size does to the measure; `None` where no size was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<SizeEffect>,
}

/// What is known of the models.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelTable {
    /// Model → family.
    pub family_of: BTreeMap<String, String>,
    /// Model → number of parameters, in any unit; positive.
    pub size_of: BTreeMap<String, f64>,
}

/// One family's values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FamilySpread {
    /// The family.
    pub family: String,
    /// Its models with their values in percent, by name.
    pub models: BTreeMap<String, f64>,
    /// The mean over models.
    pub mean: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// Sample standard deviation over models (n − 1); null for one model.
    pub sd: Option<f64>,
}

/// Components of variance, in squared percentage points. A field that is null has its reason in `reason`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Components {
    /// Mean square between families.
    pub ms_between: Option<f64>,
    /// Mean square within families.
    pub ms_within: Option<f64>,
    /// Standard deviation of family means in percentage points: the root of the between component, 0 where that is negative.
    pub sd_between: Option<f64>,
    /// Standard deviation of the models of one family, in percentage points.
    pub sd_within: Option<f64>,
    /// 95 % interval of `sd_within`.
    pub sd_within_ci95: Option<[f64; 2]>,
    /// Share of the variance that lies between families (intraclass correlation); negative where families differ less than
    /// chance would have it.
    pub share_between: Option<f64>,
    /// 95 % interval of `share_between`.
    pub share_between_ci95: Option<[f64; 2]>,
    /// Families of unequal size: the interval of the share is approximate.
    pub unequal: bool,
    /// Why a field is null.
    pub reason: Option<String>,
}

/// Compares families and sizes on the rows of a GAR table. Rows of failures only are left out; several
/// runs of a model under one condition count once, with their mean. In the order of rule set, condition, category, measure.
#[must_use]
pub fn families(rows: &[GarRow], known: &ModelTable) -> Vec<FamilyRow> {
    type Key<'r> = (RuleSet, &'r str, Category, FamilyMeasure);
    let mut values: BTreeMap<Key<'_>, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.failures_only) {
        let measures = [(FamilyMeasure::Gar, row.gar_pct), (FamilyMeasure::Acc, row.acc.map(|acc| acc * 100.0))];
        for (measure, value) in measures {
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let key = (row.rules, row.condition.as_str(), row.category, measure);
            values.entry(key).or_default().entry(&row.model).or_default().push(value);
        }
    }
    let compare = |((rules, condition, category, measure), models): (Key<'_>, BTreeMap<&str, Vec<f64>>)| {
        let mut groups: BTreeMap<&str, BTreeMap<String, f64>> = BTreeMap::new();
        let mut without_family = BTreeSet::new();
        for (model, runs) in models {
            match known.family_of.get(model) {
                Some(family) => {
                    groups.entry(family).or_default().insert(model.to_owned(), mean(runs.iter().copied()));
                }
                None => {
                    without_family.insert(model.to_owned());
                }
            }
        }
        let lists: Vec<Vec<f64>> = groups.values().map(|models| models.values().copied().collect()).collect();
        FamilyRow {
            rules,
            condition: condition.to_owned(),
            category,
            measure,
            size: (!known.size_of.is_empty()).then(|| sizes(&groups, &known.size_of)),
            families: groups.into_iter().map(|(family, models)| spread(family, models)).collect(),
            without_family: without_family.into_iter().collect(),
            components: components(&lists),
        }
    };
    values.into_iter().map(compare).collect()
}

/// The effect of size over the models of the families.
fn sizes(groups: &BTreeMap<&str, BTreeMap<String, f64>>, size_of: &BTreeMap<String, f64>) -> SizeEffect {
    let sized = |models: &BTreeMap<String, f64>| -> Vec<(f64, f64)> {
        models.iter().filter_map(|(model, value)| Some((*size_of.get(model)?, *value))).collect()
    };
    let families: Vec<Vec<(f64, f64)>> = groups.values().map(sized).collect();
    let unsized_models =
        groups.values().flat_map(BTreeMap::keys).filter(|model| !size_of.contains_key(*model)).cloned();
    size_effect(&families, unsized_models.collect())
}

fn spread(family: &str, models: BTreeMap<String, f64>) -> FamilySpread {
    let mean = mean(models.values().copied());
    let squares: f64 = models.values().map(|value| (value - mean).powi(2)).sum();
    FamilySpread {
        family: family.to_owned(),
        mean,
        min: models.values().copied().fold(f64::INFINITY, f64::min),
        max: models.values().copied().fold(f64::NEG_INFINITY, f64::max),
        sd: (models.len() > 1).then(|| (squares / (models.len() - 1) as f64).sqrt()),
        models,
    }
}

/// The mean; of nothing, 0 (no caller has nothing).
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// One-way random-effects analysis of variance of groups that are not empty.
fn components(groups: &[Vec<f64>]) -> Components {
    let none = |reason: &str| Components { reason: Some(reason.to_owned()), ..Components::default() };
    let sizes: Vec<f64> = groups.iter().map(|group| group.len() as f64).collect();
    let (k, n) = (groups.len() as f64, sizes.iter().sum::<f64>());
    if groups.len() < 2 {
        return none("two families with values are needed");
    }
    let (between_df, within_df) = (k - 1.0, n - k);
    if within_df < 1.0 {
        return none("no family has two models, so nothing is known of the spread within families");
    }
    let grand = groups.iter().flatten().sum::<f64>() / n;
    let means: Vec<f64> = groups.iter().map(|group| mean(group.iter().copied())).collect();
    let squares_between: f64 = means.iter().zip(&sizes).map(|(mean, size)| size * (mean - grand).powi(2)).sum();
    let squares_within: f64 =
        groups.iter().zip(&means).map(|(group, mean)| group.iter().map(|v| (v - mean).powi(2)).sum::<f64>()).sum();
    let (ms_between, ms_within) = (squares_between / between_df, squares_within / within_df);
    let size = (n - sizes.iter().map(|size| size * size).sum::<f64>() / n) / between_df;
    let between = (ms_between - ms_within) / size;
    let mut found = Components {
        ms_between: Some(ms_between),
        ms_within: Some(ms_within),
        sd_between: Some(between.max(0.0).sqrt()),
        sd_within: Some(ms_within.sqrt()),
        unequal: groups.windows(2).any(|pair| pair[0].len() != pair[1].len()),
        ..Components::default()
    };
    if ms_within <= 0.0 {
        // One value in every family: the share is 1 where families differ, and has no interval.
        found.share_between = (ms_between > 0.0).then_some(1.0);
        found.reason = Some("the models of every family have one value: no interval".to_owned());
        return found;
    }
    found.share_between = Some(between / (between + ms_within));
    found.sd_within_ci95 = chi_square_interval(squares_within, within_df);
    found.share_between_ci95 = share_interval(ms_between / ms_within, between_df, within_df, size);
    found
}

/// √(SS/χ²) at the 97.5 % and the 2.5 % quantile.
fn chi_square_interval(squares: f64, df: f64) -> Option<[f64; 2]> {
    let chi = ChiSquared::new(df).ok()?;
    finite([(squares / chi.inverse_cdf(0.975)).sqrt(), (squares / chi.inverse_cdf(0.025)).sqrt()])
}

/// (F/F₀.₉₇₅ − 1)/(F/F₀.₉₇₅ + n₀ − 1), and the same with F₀.₀₂₅.
fn share_interval(ratio: f64, between_df: f64, within_df: f64, size: f64) -> Option<[f64; 2]> {
    let f = FisherSnedecor::new(between_df, within_df).ok()?;
    let limit = |quantile: f64| {
        let scaled = ratio / f.inverse_cdf(quantile);
        (scaled - 1.0) / (scaled + size - 1.0)
    };
    finite([limit(0.975), limit(0.025)])
}

fn finite(limits: [f64; 2]) -> Option<[f64; 2]> {
    limits.iter().all(|limit| limit.is_finite()).then_some(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, wanted: f64, within: f64) {
        let found = found.expect("defined");
        assert!((found - wanted).abs() <= within, "{found} is not {wanted}");
    }

    /// Shrout & Fleiss 1979, table 2 to 4: six targets, four judges. Mean squares 11.24 and 6.26, ICC(1,1) 0.17; the
    /// interval −0.13 to 0.72 is what pingouin 0.7.0 (`intraclass_corr`, ICC(1,1)) and `psych::ICC` in R print for their data.
    #[test]
    fn shrout_and_fleiss_1979() {
        let groups = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]];
        let groups: Vec<Vec<f64>> = groups.iter().map(|group| group.iter().copied().map(f64::from).collect()).collect();
        let found = components(&groups);
        near(found.ms_between, 11.24, 0.005);
        near(found.ms_within, 6.26, 0.005);
        near(found.share_between, 0.17, 0.005);
        let [low, high] = found.share_between_ci95.expect("an interval");
        near(Some(low), -0.133, 0.001);
        near(Some(high), 0.72, 0.005);
        assert!(!found.unequal && found.reason.is_none());
    }

    /// By hand: {1, 3}, {5}: means 2 and 5, grand mean 3; between 2·1 + 1·4 = 6 over 1, within 2 over 1;
    /// n₀ = 3 − 5/3 = 4/3, component (6 − 2)/(4/3) = 3, share 3/5. χ² with 1 df: 5.0239 and 0.000982.
    #[test]
    fn families_of_unequal_size_by_hand() {
        let found = components(&[vec![1.0, 3.0], vec![5.0]]);
        near(found.ms_between, 6.0, 1e-12);
        near(found.ms_within, 2.0, 1e-12);
        near(found.sd_between, 3f64.sqrt(), 1e-12);
        near(found.share_between, 0.6, 1e-12);
        let [low, high] = found.sd_within_ci95.expect("an interval");
        near(Some(low), (2.0 / 5.0239_f64).sqrt(), 1e-4);
        near(Some(high), (2.0 / 0.000_982_07_f64).sqrt(), 0.05);
        assert!(found.unequal);
    }

    #[test]
    fn what_cannot_be_told_has_a_reason() {
        for groups in [vec![], vec![vec![1.0, 2.0]], vec![vec![1.0], vec![2.0]]] {
            let found = components(&groups);
            assert!(found.share_between.is_none() && found.reason.is_some(), "{groups:?}");
        }
        let same = components(&[vec![4.0, 4.0], vec![4.0, 4.0]]);
        assert!(same.share_between.is_none() && same.reason.is_some());
        let apart = components(&[vec![4.0, 4.0], vec![5.0, 5.0]]);
        assert_eq!((apart.share_between, apart.share_between_ci95), (Some(1.0), None));
        // Families that differ less than their models: no negative variance is shown.
        assert_eq!(components(&[vec![0.0, 10.0], vec![1.0, 9.0]]).sd_between, Some(0.0));
    }
}
