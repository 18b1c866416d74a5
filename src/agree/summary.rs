//! Everything about the raters of one label as one value: what `dualrater kappa --json` prints, and nothing else.
//!
//! Two raters give the measures of their table, and where single ratings are known the coefficients for any number of
//! raters too (which also use items that only one of them rated). More raters give the latter and every pair's kappa.

use std::collections::BTreeMap;

use super::alpha::{AlphaData, Metric};
use super::bootstrap::Plan;
use super::diagnose;
use super::family::{self, Families};
use super::fleiss;
use super::measures::{BootstrapInterval, TwoRaters, two_raters};
use super::pairs::{self, LeftOut, NaPolicy};
use super::ratings::{CategoryOrder, LabelRatings, Reading, Source};
use super::remarks;
pub use super::summary_rows::{AlphaRow, CoefficientRow, Crowd, PairRow, Panels, Summary, Two};
use super::{
    Coefficient, Counts, FamilyInterval, Panel, PanelError, Table, TableError, Undefined, Weights, WeightsError, Z95,
    chance, kappa, many,
};
use crate::model::RatingValue;

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SummaryError {
    /// The ratings do not fit the categories.
    #[error(transparent)]
    Panel(#[from] PanelError),
    /// The counts are no table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The weights are none.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Weights for another number of categories.
    #[error("the weights are for {found} categories, the ratings have {}: {}", .categories.len(), .categories.join(", "))]
    WeightsSize {
        /// Rows of the weights.
        found: usize,
        /// The categories.
        categories: Vec<String>,
    },
    /// A column of free text, most likely.
    #[error("{found} different values are too many for categories (at most {limit})")]
    Categories {
        /// How many there are.
        found: usize,
        /// The limit.
        limit: usize,
    },
}

/// Which weights.
#[derive(Debug, Clone, PartialEq)]
pub enum WeightChoice {
    /// Linear over the order of the categories.
    Linear,
    /// Quadratic.
    Quadratic,
    /// Gwet's ordinal weights.
    Ordinal,
    /// The user's: agreement weights (1 on the diagonal) or disagreement weights (0 on the diagonal).
    Matrix(Vec<Vec<f64>>),
}

impl WeightChoice {
    fn weights(&self, categories: &[String]) -> Result<Weights, SummaryError> {
        let size = categories.len();
        Ok(match self {
            Self::Linear => Weights::linear(size),
            Self::Quadratic => Weights::quadratic(size),
            Self::Ordinal => Weights::ordinal(size),
            Self::Matrix(rows) if rows.len() != size => {
                return Err(SummaryError::WeightsSize { found: rows.len(), categories: categories.to_vec() });
            }
            Self::Matrix(rows) if rows.iter().enumerate().all(|(i, row)| row.get(i) == Some(&0.0)) => {
                Weights::from_disagreement(rows)?
            }
            Self::Matrix(rows) => Weights::from_agreement(rows)?,
        })
    }
}

/// How a summary is made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// The order of the categories; without one, as numbers or as they first appear.
    pub order: Option<Vec<String>>,
    /// Weights; `None` for nominal categories.
    pub weights: Option<WeightChoice>,
    /// What *n.a.* is.
    pub na: NaPolicy,
    /// The bootstrap.
    pub bootstrap: Plan,
}

/// The most categories: a table of them is a square.
const MOST_CATEGORIES: usize = 200;

/// Computes the summary.
///
/// # Errors
/// Values outside the given order, weights that do not fit, more categories or items than a table holds.
pub fn summarise(source: &Source, settings: &Settings) -> Result<Summary, SummaryError> {
    let mut summary = match source {
        Source::Table(table) => of_table(table, settings)?,
        Source::Counts(counts) => of_counts(counts, settings)?,
        Source::Ratings(ratings) => of_ratings(ratings, settings)?,
    };
    let found = remarks::of(&summary, settings);
    summary.findings.extend(found);
    Ok(summary)
}

fn check(categories: &[String]) -> Result<(), SummaryError> {
    if categories.len() > MOST_CATEGORIES {
        return Err(SummaryError::Categories { found: categories.len(), limit: MOST_CATEGORIES });
    }
    Ok(())
}

fn weights_of(settings: &Settings, categories: &[String]) -> Result<Option<Weights>, SummaryError> {
    check(categories)?;
    settings.weights.as_ref().map(|choice| choice.weights(categories)).transpose()
}

fn of_table(table: &Table, settings: &Settings) -> Result<Summary, SummaryError> {
    let weights = weights_of(settings, table.categories())?;
    let mut alpha = alphas(&AlphaData::from_table(table), CategoryOrder::Given, settings.bootstrap);
    if settings.order.is_none() {
        // The categories are only numbered: they have places but no distances.
        for metric in [Metric::Interval, Metric::Ratio] {
            if let Some(row) = alpha.get_mut(metric.as_str()) {
                *row = AlphaRow {
                    alpha: None,
                    ci95_bootstrap: None,
                    reason: Some(Undefined::NotNumeric.code()),
                    ..row.clone()
                };
            }
        }
    }
    Ok(Summary {
        label: None,
        raters: vec!["rows".to_owned(), "columns".to_owned()],
        items: table.n(),
        category_order: CategoryOrder::Given,
        two: Some(Box::new(two(table, weights.as_ref(), settings.bootstrap))),
        crowd: None,
        panel: None,
        krippendorff_alpha: alpha,
        dropped: BTreeMap::new(),
        reading: Reading { layout: "table".to_owned(), ..Reading::default() },
        findings: Vec::new(),
    })
}

fn of_counts(counts: &Counts, settings: &Settings) -> Result<Summary, SummaryError> {
    let weights = weights_of(settings, counts.categories())?;
    let some = weights.clone().unwrap_or_else(|| Weights::identity(counts.categories().len()));
    let plain = Weights::identity(some.size());
    let data = AlphaData::from_counts(counts);
    let nameless = CoefficientRow::missing("raters_not_told_apart");
    let panel = Panels {
        percent: many::percent(counts, &some).into(),
        fleiss: many::fleiss(counts, &some).into(),
        conger: nameless,
        light: nameless,
        randolph: many::brennan_prediger(counts, &plain).into(),
        gwet: many::gwet(counts, &some).into(),
        krippendorff: many::krippendorff(counts, &some).into(),
        brennan_prediger: many::brennan_prediger(counts, &some).into(),
    };
    Ok(Summary {
        label: None,
        raters: Vec::new(),
        items: counts.units().count() as u64,
        category_order: CategoryOrder::Given,
        two: None,
        crowd: Some(Box::new(crowd(counts, weights.as_ref(), &data, Vec::new()))),
        panel: Some(Box::new(panel)),
        krippendorff_alpha: alphas(&data, CategoryOrder::Given, settings.bootstrap),
        dropped: too_few(counts, counts.units().count()),
        reading: Reading { layout: "counts".to_owned(), ..Reading::default() },
        findings: Vec::new(),
    })
}

fn of_ratings(ratings: &LabelRatings, settings: &Settings) -> Result<Summary, SummaryError> {
    let na_is_category = settings.na == NaPolicy::Category;
    let (panel, order) = ratings.panel(settings.order.as_deref(), na_is_category)?;
    let weights = weights_of(settings, panel.categories())?;
    let some = weights.clone().unwrap_or_else(|| Weights::identity(panel.categories().len()));
    let counts = panel.counts();
    let data = AlphaData::from_panel(&panel);
    let found = fleiss::many_raters(&panel, &some)?;
    let panels = Panels {
        percent: found.percent.into(),
        fleiss: found.fleiss.into(),
        conger: found.conger.into(),
        light: found.light.into(),
        randolph: found.randolph.into(),
        gwet: found.gwet.into(),
        krippendorff: found.krippendorff.into(),
        brennan_prediger: found.brennan_prediger.into(),
    };
    let (mut pair, mut many, mut dropped) = (None, None, too_few(&counts, ratings.items.len()));
    if ratings.raters.len() == 2 {
        let table = panel.table(0, 1)?;
        let mut found = two(&table, weights.as_ref(), settings.bootstrap);
        found.ci95_family = by_family(ratings, &panel, (0, 1), settings.bootstrap)?;
        dropped = left_out(ratings, settings.na);
        pair = Some(Box::new(found));
    } else {
        let pairs = pair_rows(ratings, &panel, &some, settings.bootstrap)?;
        many = Some(Box::new(crowd(&counts, weights.as_ref(), &data, pairs)));
    }
    Ok(Summary {
        label: ratings.label.clone(),
        raters: ratings.raters.clone(),
        items: ratings.items.len() as u64,
        category_order: order,
        two: pair,
        crowd: many,
        panel: Some(Box::new(panels)),
        krippendorff_alpha: alphas(&data, order, settings.bootstrap),
        dropped,
        reading: ratings.reading.clone(),
        findings: diagnose::odd_rater(&panel, &ratings.raters).into_iter().map(Into::into).collect(),
    })
}

fn two(table: &Table, weights: Option<&Weights>, plan: Plan) -> Two {
    let all = two_raters(table, weights, Z95, plan);
    let reasons = reasons(table, &all, weights.is_some());
    Two { gwet_ac1_se_irrcac: all.measures.gwet_ac1_se, ci95_family: None, reasons, all }
}

/// Why each measure that is null is so.
fn reasons(table: &Table, all: &TwoRaters, weighted: bool) -> BTreeMap<&'static str, &'static str> {
    let of_kappa = all.reason.map_or("not_available", Undefined::code);
    let of = |found: Coefficient| found.interval(0.95).err().map_or("not_available", Undefined::code);
    let plain = kappa::cohen(table).reason.map_or("not_available", Undefined::code);
    let square = if table.n() == 0 {
        Undefined::NoUnits.code()
    } else if table.size() == 2 {
        "category_not_used"
    } else {
        "not_two_categories"
    };
    let margins = if table.n() == 0 { Undefined::NoUnits } else { Undefined::NothingDiffers }.code();
    let bounds = if weighted { "not_defined_with_weights" } else { plain };
    let alpha = AlphaData::from_table(table).alpha(Metric::Nominal).reason.map_or("not_available", Undefined::code);
    let jackknife = if all.reason.is_some() { of_kappa } else { Undefined::FragileUnit.code() };
    let measures = &all.measures;
    let null = [
        ("po", all.po.is_none(), of_kappa),
        ("pe", all.pe.is_none(), of_kappa),
        ("kappa", all.kappa.is_none(), of_kappa),
        ("se", all.se.is_none(), of_kappa),
        ("ci95", all.ci95.is_none(), of_kappa),
        ("se_h0", measures.se_h0.is_none(), of_kappa),
        ("jackknife_se", measures.jackknife_se.is_none(), jackknife),
        ("kappa_max", measures.kappa_max.is_none(), bounds),
        ("kappa_min", measures.kappa_min.is_none(), bounds),
        ("scott_pi", measures.scott_pi.is_none(), of(chance::scott(table))),
        ("bennett_s_pabak", measures.bennett_s_pabak.is_none(), of(chance::bennett(table))),
        ("gwet_ac1", measures.gwet_ac1.is_none(), of(chance::gwet(table))),
        ("gwet_ac1_ci95", measures.gwet_ac1_ci95.is_none(), of(chance::gwet(table))),
        ("krippendorff_alpha_nominal", measures.krippendorff_alpha_nominal.is_none(), alpha),
        ("prevalence_index", measures.prevalence_index.is_none(), square),
        ("bias_index", measures.bias_index.is_none(), square),
        ("positive_agreement", measures.positive_agreement.is_none(), square),
        ("negative_agreement", measures.negative_agreement.is_none(), square),
        ("stuart_maxwell", measures.stuart_maxwell.is_none(), margins),
        ("bhapkar", measures.bhapkar.is_none(), margins),
        ("bowker", measures.bowker.is_none(), margins),
    ];
    null.into_iter().filter(|(_, null, _)| *null).map(|(name, _, reason)| (name, reason)).collect()
}

fn crowd(counts: &Counts, weights: Option<&Weights>, data: &AlphaData, pairs: Vec<PairRow>) -> Crowd {
    let test = fleiss::fleiss(counts);
    Crowd {
        n: counts.units().filter(|unit| ratings_of(unit) > 1).count() as u64,
        weights: weights.map(Weights::scheme),
        categories: counts.categories().to_vec(),
        krippendorff_alpha_nominal: data.alpha(Metric::Nominal).alpha,
        fleiss_test_reason: test.as_ref().err().copied(),
        fleiss_test: test.ok(),
        pairs,
    }
}

fn pair_rows(
    ratings: &LabelRatings,
    panel: &Panel,
    weights: &Weights,
    plan: Plan,
) -> Result<Vec<PairRow>, SummaryError> {
    let name = |at: usize| ratings.raters.get(at).cloned().unwrap_or_default();
    fleiss::pairwise(panel, weights)?
        .into_iter()
        .map(|pair| {
            Ok(PairRow {
                first: name(pair.first),
                second: name(pair.second),
                n: pair.kappa.n,
                po: pair.kappa.po,
                kappa: pair.kappa.kappa,
                se: pair.kappa.se,
                ci95: pair.kappa.interval(Z95).ok(),
                ci95_family: by_family(ratings, panel, (pair.first, pair.second), plan)?,
                reason: pair.kappa.reason,
            })
        })
        .collect()
}

/// The interval with families resampled; `None` where no family holds two items of the pair.
fn by_family(
    ratings: &LabelRatings,
    panel: &Panel,
    pair: (usize, usize),
    plan: Plan,
) -> Result<Option<FamilyInterval>, SummaryError> {
    let size = panel.categories().len();
    let cells = ratings.items.iter().zip(panel.units()).filter_map(|(item, unit)| {
        let (first, second) = (*unit.get(pair.0)? as usize, *unit.get(pair.1)? as usize);
        let name = item.family.clone().unwrap_or_else(|| family::of_id(&item.item));
        (first < size && second < size).then_some((name, first * size + second))
    });
    let families = Families::new(size, cells);
    if families.sharing() == 0 {
        return Ok(None);
    }
    let reason = kappa::cohen(&panel.table(pair.0, pair.1)?).reason;
    let interval = match reason.map_or_else(|| families.kappa(plan), Err) {
        Ok(found) => BootstrapInterval::new("percentile", plan.replicates, found.undefined(), found.percentile(0.95)),
        Err(reason) => BootstrapInterval::new("percentile", 0, 0, Err(reason)),
    };
    Ok(Some(FamilyInterval { interval, families: families.count(), cases_sharing: families.sharing() }))
}

fn alphas(data: &AlphaData, order: CategoryOrder, plan: Plan) -> BTreeMap<&'static str, AlphaRow> {
    let row = |metric: Metric| {
        let found = data.alpha(metric);
        let mut row = AlphaRow {
            alpha: found.alpha,
            ci95_bootstrap: None,
            units: found.units,
            ratings: found.ratings,
            reason: found.reason.map(Undefined::code),
        };
        if metric == Metric::Ordinal && order == CategoryOrder::FirstSeen {
            row.alpha = None;
            row.reason = Some("no_order");
        }
        if row.alpha.is_some()
            && let Ok(replicates) = data.replicates(metric, plan)
        {
            let limits = replicates.percentile(0.95);
            let count = if replicates.drawn() == 0 { 0 } else { plan.replicates };
            row.ci95_bootstrap = Some(BootstrapInterval::new("percentile", count, replicates.undefined(), limits));
        }
        row
    };
    Metric::ALL.into_iter().map(|metric| (metric.as_str(), row(metric))).collect()
}

fn ratings_of(unit: &[u32]) -> u64 {
    unit.iter().map(|count| u64::from(*count)).sum()
}

/// Items that have no pair of ratings. (Counts over no categories have no units, though there are items.)
fn too_few(counts: &Counts, items: usize) -> BTreeMap<&'static str, u64> {
    let rated = counts.units().filter(|unit| ratings_of(unit) > 0).count();
    let single = counts.units().filter(|unit| ratings_of(unit) == 1).count();
    BTreeMap::from([("no_rating", items.saturating_sub(rated) as u64), ("single_rating", single as u64)])
}

fn left_out(ratings: &LabelRatings, na: NaPolicy) -> BTreeMap<&'static str, u64> {
    let mut left = LeftOut::default();
    for item in &ratings.items {
        let value = |at: usize| item.values.get(at).and_then(Option::as_ref);
        if let Err(reason) = pairs::usable(value(0), value(1), na) {
            left.add(reason);
        }
    }
    BTreeMap::from([
        ("missing", left.missing),
        (RatingValue::CANNOT_JUDGE, left.cannot_judge),
        ("one_sided_na", left.one_sided_na),
        ("both_na", left.both_na),
    ])
}
