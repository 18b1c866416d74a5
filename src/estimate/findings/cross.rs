//! Case by case: the final label against one reading of the metric, as counted and weighted by the design.
//!
//! The label is the truth, the metric the test. Positive and negative predictive values depend on how common the label is;
//! unweighted, in a sample of chosen strata, they are those of the sample only.

use std::collections::BTreeMap;

use serde::Serialize;

use super::case::{Answer, AuditedCase, Cell, Frame, Reach};
use super::row::LEVEL;
use super::{Confusion, Input, Metric};
use crate::agree::{Table, Undefined, Z95, kappa};
use crate::estimate::weighted::{Part, group_share};
use crate::estimate::weighted_kappa::{DesignStratum, Item, WeightedKappa, weighted_kappa};
use crate::estimate::{Method, proportion};
use crate::model::StratumId;

/// Label against one reading of the metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossTable {
    /// The reading.
    pub metric: Metric,
    /// For people.
    pub title: &'static str,
    /// Over all audited cases; mixes the cells below it.
    pub all: CrossRow,
    /// Per run (or model) and category.
    pub cells: Vec<CrossRow>,
}

/// One cross-table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossRow {
    /// `all`, or the cell.
    pub cell: String,
    /// Audited cases.
    pub cases: u64,
    /// The four counts.
    #[serde(flatten)]
    pub confusion: Confusion,
    /// Why cases are not in the counts.
    pub left_out: Unused,
    /// As counted.
    pub unweighted: Split,
    /// Weighted by the design, over the part of the frame that strata reach; `None` where no weights are known.
    pub weighted: Option<Split>,
}

/// Cases without label or metric; a case counts once, in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Unused {
    /// The metric is not known.
    pub no_metric: u64,
    /// No final value.
    pub open: u64,
    /// The label does not apply.
    pub na: u64,
    /// A rater could not judge.
    pub cannot_judge: u64,
    /// The case was unusable.
    pub unusable: u64,
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Share {
    /// The share; `None` where nothing is in its denominator.
    pub rate: Option<f64>,
    /// Its interval: Wilson's, or that of the design.
    pub ci95: Option<[f64; 2]>,
}

/// What the metric is worth as a test for the label.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Split {
    /// Of the cases with label 1, hits.
    pub sensitivity: Share,
    /// Of the cases with label 0, no hits.
    pub specificity: Share,
    /// Of the hits, cases with label 1.
    pub ppv: Share,
    /// Of the others, cases with label 0.
    pub npv: Share,
    /// Kappa of label and metric.
    pub kappa: WeightedKappa,
}

pub(super) fn table(input: &Input, metric: Metric) -> CrossTable {
    let cells = input.cells();
    CrossTable {
        metric,
        title: metric.title(),
        all: row(input, metric, "all".to_owned(), |_| true),
        cells: cells.iter().map(|cell| row(input, metric, cell.name(), |found| found == cell)).collect(),
    }
}

fn row(input: &Input, metric: Metric, cell: String, keep: impl Fn(&Cell) -> bool) -> CrossRow {
    let cases: Vec<&AuditedCase> = input.cases.iter().filter(|case| keep(&case.cell)).collect();
    let mut left_out = Unused::default();
    for case in &cases {
        let count = match (case.hit(metric), case.answer) {
            (None, _) => &mut left_out.no_metric,
            (_, Answer::Open) => &mut left_out.open,
            (_, Answer::NotApplicable) => &mut left_out.na,
            (_, Answer::CannotJudge) => &mut left_out.cannot_judge,
            (_, Answer::Unusable) => &mut left_out.unusable,
            (Some(_), Answer::One | Answer::Zero) => continue,
        };
        *count += 1;
    }
    let confusion = Confusion::of(cases.iter().copied(), metric);
    CrossRow {
        cell,
        cases: cases.len() as u64,
        left_out,
        unweighted: unweighted(confusion),
        weighted: weighted(input, metric, &cases, &keep),
        confusion,
    }
}

fn unweighted(found: Confusion) -> Split {
    let Confusion { tp, fp, false_negatives, tn } = found;
    let share = |k: u64, n: u64| Share {
        rate: (n > 0).then(|| k as f64 / n as f64),
        ci95: proportion(Method::Wilson, k, n, LEVEL).ok().map(crate::estimate::Interval::limits),
    };
    let kappa = match Table::numbered(&[vec![tp, false_negatives], vec![fp, tn]]) {
        Err(error) => WeightedKappa::missing(error.to_string()),
        Ok(table) => {
            let found = kappa::cohen(&table);
            WeightedKappa {
                kappa: found.kappa,
                se: found.se,
                ci95: found.interval(Z95).ok(),
                po: found.po,
                pe: found.pe,
                n: found.n,
                reason: found.reason.map(Undefined::text).map(str::to_owned),
            }
        }
    };
    Split {
        sensitivity: share(tp, tp + false_negatives),
        specificity: share(tn, tn + fp),
        ppv: share(tp, tp + fp),
        npv: share(tn, tn + false_negatives),
        kappa,
    }
}

fn weighted(input: &Input, metric: Metric, cases: &[&AuditedCase], keep: &dyn Fn(&Cell) -> bool) -> Option<Split> {
    let populations = reached(input, keep)?;
    let mut strata: BTreeMap<&StratumId, (u64, u64, Confusion)> = BTreeMap::new();
    for case in cases {
        let Some(population) = populations.get(&case.stratum) else { continue };
        let known = case.answer.answered() && case.hit(metric).is_some();
        let own = strata.entry(&case.stratum).or_insert((*population, 0, Confusion::default()));
        own.1 += u64::from(known);
        if let Some((label, hit)) = case.both(metric) {
            own.2.count(label, hit);
        }
    }
    let share = |of: fn(&Confusion) -> u64, k: fn(&Confusion) -> u64| {
        let parts: Vec<Part> = strata
            .values()
            .filter(|(_, answered, _)| *answered > 0)
            .map(|(population, answered, found)| Part {
                population: *population,
                answered: *answered,
                applicable: of(found),
                k: k(found),
                unanswered: 0,
            })
            .collect();
        group_share(&parts, LEVEL)
            .map_or_else(|_| Share::default(), |found| Share { rate: Some(found.rate), ci95: Some(found.ci95) })
    };
    Some(Split {
        sensitivity: share(|c| c.tp + c.false_negatives, |c| c.tp),
        specificity: share(|c| c.tn + c.fp, |c| c.tn),
        ppv: share(|c| c.tp + c.fp, |c| c.tp),
        npv: share(|c| c.tn + c.false_negatives, |c| c.tn),
        kappa: design_kappa(&populations, cases, |case| {
            case.both(metric).map(|(label, hit)| (usize::from(label), usize::from(hit)))
        }),
    })
}

/// The cases of each stratum that are inside; `None` where the frame is not known.
pub(super) fn reached(input: &Input, keep: impl Fn(&Cell) -> bool) -> Option<BTreeMap<StratumId, u64>> {
    let Frame::Known { groups } = &input.frame else { return None };
    let mut populations = BTreeMap::new();
    for group in groups.iter().filter(|group| keep(&group.cell)) {
        if let Reach::Stratum(id) = &group.reach {
            *populations.entry(id.clone()).or_insert(0) += group.cases;
        }
    }
    Some(populations)
}

/// Kappa of two values over the cases, each weighted by its stratum's cases over those drawn with an answer: the answered
/// stand for the whole stratum, as in every other rate. (A case to which the label does not apply is answered; it belongs to
/// the stratum and not to the table.)
pub(super) fn design_kappa(
    populations: &BTreeMap<StratumId, u64>,
    cases: &[&AuditedCase],
    values: impl Fn(&AuditedCase) -> Option<(usize, usize)>,
) -> WeightedKappa {
    let places: BTreeMap<&StratumId, usize> = populations.keys().zip(0..).collect();
    let mut drawn = vec![0u64; places.len()];
    for case in cases.iter().filter(|case| case.answer.answered() || values(case).is_some()) {
        if let Some(count) = places.get(&case.stratum).and_then(|at| drawn.get_mut(*at)) {
            *count += 1;
        }
    }
    let design: Vec<DesignStratum> = populations
        .values()
        .zip(&drawn)
        .map(|(population, drawn)| DesignStratum { population: Some(*population as f64), drawn: *drawn })
        .collect();
    let items: Vec<Item> = cases
        .iter()
        .enumerate()
        .filter_map(|(cluster, case)| {
            let stratum = *places.get(&case.stratum)?;
            let (first, second) = values(case)?;
            let weight = *populations.get(&case.stratum)? as f64 / (*drawn.get(stratum)?).max(1) as f64;
            Some(Item { stratum, cluster, weight, first, second })
        })
        .collect();
    weighted_kappa(&items, &design)
}
