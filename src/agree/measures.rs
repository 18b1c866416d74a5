//! Everything about two raters on one table, as one value.

use serde::Serialize;

use super::bootstrap::{self, Plan};
use super::indices::{self, CategoryAgreement};
use super::margins::{self, ChiSquare};
use super::{
    Scheme, Table, Undefined, Weights, Z95,
    alpha::{AlphaData, Metric},
    chance::{self, Chance},
    jackknife, kappa, percent, tails, weighted,
};

/// A 95 % bootstrap interval with how it came about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BootstrapInterval {
    /// `percentile` or `bca`.
    pub method: &'static str,
    /// Lower limit.
    pub low: Option<f64>,
    /// Upper limit.
    pub high: Option<f64>,
    /// Replicates drawn.
    pub replicates: u32,
    /// Replicates in which the statistic was undefined; they are not in the interval.
    pub undefined: u32,
    /// Why there are no limits.
    pub reason: Option<Undefined>,
}

impl BootstrapInterval {
    /// From limits or the reason why there are none.
    pub(crate) fn new(
        method: &'static str,
        replicates: u32,
        undefined: u32,
        limits: Result<[f64; 2], Undefined>,
    ) -> Self {
        let (low, high) = limits.map_or((None, None), |[low, high]| (Some(low), Some(high)));
        Self { method, low, high, replicates, undefined, reason: limits.err() }
    }
}

/// What stands beside kappa: other coefficients, its bounds, prevalence and bias, agreement on single categories, and the
/// tests of equal margins. Never weighted, unless a field says so.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measures {
    /// Kappa's standard error under independence.
    pub se_h0: Option<f64>,
    /// Kappa divided by it.
    pub z_h0: Option<f64>,
    /// Two-sided p-value of kappa = 0.
    pub p_h0: Option<f64>,
    /// Kappa's delete-one jackknife standard error.
    pub jackknife_se: Option<f64>,
    /// The largest kappa that the margins allow.
    pub kappa_max: Option<f64>,
    /// The smallest.
    pub kappa_min: Option<f64>,
    /// Scott's π.
    pub scott_pi: Option<f64>,
    /// Bennett's S, for two categories PABAK.
    pub bennett_s_pabak: Option<f64>,
    /// Gwet's AC1.
    pub gwet_ac1: Option<f64>,
    /// Its standard error.
    pub gwet_ac1_se: Option<f64>,
    /// Its 95 % interval (Student's t).
    pub gwet_ac1_ci95: Option<[f64; 2]>,
    /// Krippendorff's alpha.
    pub krippendorff_alpha_nominal: Option<f64>,
    /// |a − d|/n of a two by two table.
    pub prevalence_index: Option<f64>,
    /// |b − c|/n of a two by two table.
    pub bias_index: Option<f64>,
    /// Which of two categories `positive_agreement` is about.
    pub positive_category: Option<String>,
    /// Agreement on it.
    pub positive_agreement: Option<f64>,
    /// Agreement on the other.
    pub negative_agreement: Option<f64>,
    /// Agreement on each category.
    pub specific_agreement: Vec<CategoryAgreement>,
    /// Do the raters use the categories equally often?
    pub stuart_maxwell: Option<ChiSquare>,
    /// The same question by Bhapkar's test.
    pub bhapkar: Option<ChiSquare>,
    /// Is each confusion as frequent in both directions?
    pub bowker: Option<ChiSquare>,
}

impl Measures {
    /// Computes them for a table. With weights, the fields about kappa's errors are those of weighted kappa, and its
    /// bounds, which the margins alone do not give, are `None`.
    #[must_use]
    pub fn of(table: &Table, weights: Option<&Weights>) -> Self {
        let found = kappa_of(table, weights);
        let bounds = if weights.is_none() { indices::bounds(table) } else { None };
        let gwet = chance::gwet(table);
        let both = indices::positive_and_negative(table);
        let homogeneity = margins::homogeneity(table).ok();
        let positive = indices::positive_category(table).and_then(|at| table.categories().get(at)).cloned();
        Self {
            se_h0: found.se_h0,
            z_h0: found.z_h0(),
            p_h0: found.z_h0().map(tails::two_sided_p),
            jackknife_se: jackknife_of(table, weights).ok().map(|jackknife| jackknife.se),
            kappa_max: bounds.map(|bounds| bounds.max),
            kappa_min: bounds.map(|bounds| bounds.min),
            scott_pi: chance::scott(table).coef,
            bennett_s_pabak: chance::bennett(table).coef,
            gwet_ac1: gwet.coef,
            gwet_ac1_se: gwet.se,
            gwet_ac1_ci95: gwet.interval(0.95).ok(),
            krippendorff_alpha_nominal: AlphaData::from_table(table).alpha(Metric::Nominal).alpha,
            prevalence_index: indices::prevalence_index(table),
            bias_index: indices::bias_index(table),
            positive_category: positive,
            positive_agreement: both.and_then(|(positive, _)| positive),
            negative_agreement: both.and_then(|(_, negative)| negative),
            specific_agreement: indices::specific_agreement(table),
            stuart_maxwell: homogeneity.map(|test| test.stuart_maxwell),
            bhapkar: homogeneity.and_then(|test| test.bhapkar),
            bowker: margins::bowker(table).ok(),
        }
    }
}

/// Kappa without weights, where the row above is weighted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Unweighted {
    /// Observed agreement.
    pub po: Option<f64>,
    /// Chance agreement.
    pub pe: Option<f64>,
    /// Cohen's kappa.
    pub kappa: Option<f64>,
    /// Its standard error.
    pub se: Option<f64>,
}

/// Two raters on one table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoRaters {
    /// Units rated by both.
    pub n: u64,
    /// Units with the same category from both.
    pub agree: u64,
    /// The weights in po, pe, kappa and their errors; absent without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Scheme>,
    /// Observed (weighted) agreement.
    pub po: Option<f64>,
    /// Wilson's interval of agree/n.
    pub po_ci95: Option<[f64; 2]>,
    /// Chance agreement.
    pub pe: Option<f64>,
    /// (Weighted) kappa.
    pub kappa: Option<f64>,
    /// Its large-sample standard error.
    pub se: Option<f64>,
    /// κ ± z·SE.
    pub ci95: Option<[f64; 2]>,
    /// The percentile bootstrap interval.
    pub ci95_bootstrap: BootstrapInterval,
    /// The bias-corrected and accelerated one, from the same replicates.
    pub ci95_bca: BootstrapInterval,
    /// Standard deviation of the replicates.
    pub bootstrap_se: Option<f64>,
    /// The rest.
    #[serde(flatten)]
    pub measures: Measures,
    /// Gwet's AC2 with the same weights; absent without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gwet_ac2: Option<f64>,
    /// Its standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gwet_ac2_se: Option<f64>,
    /// Kappa without the weights; absent without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unweighted: Option<Unweighted>,
    /// The categories in their order.
    pub categories: Vec<String>,
    /// The table: rows are the first rater.
    pub table: Vec<Vec<u64>>,
    /// Why kappa, its standard error or `ci95` is missing.
    pub reason: Option<Undefined>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_text: Option<&'static str>,
}

/// Computes everything about a table. `z` is the multiple of the standard error in `ci95`. Weights that do not fit the
/// table's size are taken as absent for the missing categories (weight 0).
#[must_use]
pub fn two_raters(table: &Table, weights: Option<&Weights>, z: f64, plan: Plan) -> TwoRaters {
    let found = kappa_of(table, weights);
    let (percentile, bca, bootstrap_se) = intervals(table, weights, &found, plan);
    let plain = kappa::cohen(table);
    let ac2 = weights.map(|weights| chance::two_raters(table, weights, Chance::Gwet));
    TwoRaters {
        n: found.n,
        agree: found.agree,
        weights: weights.map(Weights::scheme),
        po: found.po,
        po_ci95: percent::wilson(found.agree, found.n, Z95).map(|(low, high)| [low, high]),
        pe: found.pe,
        kappa: found.kappa,
        se: found.se,
        ci95: found.interval(z).ok(),
        ci95_bootstrap: percentile,
        ci95_bca: bca,
        bootstrap_se,
        measures: Measures::of(table, weights),
        gwet_ac2: ac2.and_then(|ac2| ac2.coef),
        gwet_ac2_se: ac2.and_then(|ac2| ac2.se),
        unweighted: weights.map(|_| Unweighted { po: plain.po, pe: plain.pe, kappa: plain.kappa, se: plain.se }),
        categories: table.categories().to_vec(),
        table: table.rows(),
        reason: found.reason,
        reason_text: found.reason.map(Undefined::text),
    }
}

fn kappa_of(table: &Table, weights: Option<&Weights>) -> kappa::Kappa {
    weights.map_or_else(|| kappa::cohen(table), |weights| weighted::kappa(table, weights))
}

fn jackknife_of(table: &Table, weights: Option<&Weights>) -> Result<jackknife::Jackknife, Undefined> {
    let Some(weights) = weights else { return jackknife::kappa(table) };
    let mut margins = vec![0; 2 * weights.size()];
    jackknife::cells(table.counts(), |counts| weighted::of_counts(counts, weights, &mut margins))
}

/// Percentile and BCa interval from one set of replicates, and their standard deviation. Where kappa is undefined or
/// degenerate there is nothing to resample.
fn intervals(
    table: &Table,
    weights: Option<&Weights>,
    found: &kappa::Kappa,
    plan: Plan,
) -> (BootstrapInterval, BootstrapInterval, Option<f64>) {
    if let Some(reason) = found.reason {
        let none = |method| BootstrapInterval::new(method, 0, 0, Err(reason));
        return (none("percentile"), none("bca"), None);
    }
    let replicates = match weights {
        None => bootstrap::kappa(table, plan),
        Some(weights) => bootstrap::weighted_kappa(table, weights, plan),
    };
    let bca = jackknife_of(table, weights)
        .and_then(|jackknife| replicates.bca(0.95, found.kappa.unwrap_or_default(), jackknife.acceleration));
    let of = |method, limits| BootstrapInterval::new(method, plan.replicates, replicates.undefined(), limits);
    let se = replicates.usable().ok().and_then(|()| replicates.se());
    (of("percentile", replicates.percentile(0.95)), of("bca", bca), se)
}
