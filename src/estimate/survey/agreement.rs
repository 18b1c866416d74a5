//! Agreement of two raters in a table of cases: weighted by the design, and stratum by stratum.

use std::collections::BTreeSet;

use super::{Answer, KappaRow, StrataKappa, StratumKappa, Survey};
use crate::agree::{Table, kappa, pooled};
use crate::estimate::weighted_kappa::{DesignStratum, Item, weighted_kappa};

pub(super) fn agreement(survey: &Survey, clusters: bool) -> Answer<KappaRow> {
    // What was drawn of each stratum: its clusters, else its cases that were rated.
    let drawn: Vec<u64> = (0..survey.strata.len())
        .map(|at| {
            let rated = survey.of(at).filter(|case| case.pair.is_some());
            if clusters {
                rated.filter_map(|case| case.cluster).collect::<BTreeSet<_>>().len() as u64
            } else {
                rated.count() as u64
            }
        })
        .collect();
    if survey.strata.len() > 1 && survey.populations().is_none() {
        return Answer::missing("several strata have no weights without the size of each in the population");
    }
    let of = |at: usize| survey.strata.get(at).and_then(|stratum| stratum.population).zip(drawn.get(at).copied());
    if let Some((at, (population, drawn))) = (0..drawn.len())
        .filter_map(|at| of(at).map(|pair| (at, pair)))
        .find(|(_, (population, drawn))| drawn > population)
    {
        let name = survey.strata.get(at).map_or("", |stratum| stratum.name.as_str());
        return Answer::missing(format!("{drawn} were rated of stratum {name}, which has {population}"));
    }
    let size = survey.categories.len();
    let mut items = Vec::new();
    let (mut cells, mut counts) = (vec![vec![0.0; size]; size], vec![vec![0u64; size]; size]);
    for (number, case) in survey.cases.iter().enumerate() {
        let Some((first, second)) = case.pair else { continue };
        let weight =
            of(case.stratum).filter(|(_, drawn)| *drawn > 0).map_or(1.0, |(all, drawn)| all as f64 / drawn as f64);
        if let Some(cell) = cells.get_mut(first).and_then(|row| row.get_mut(second)) {
            *cell += weight;
        }
        if let Some(cell) = counts.get_mut(first).and_then(|row| row.get_mut(second)) {
            *cell += 1;
        }
        items.push(Item { stratum: case.stratum, cluster: case.cluster.unwrap_or(number), weight, first, second });
    }
    let design: Vec<DesignStratum> = survey
        .strata
        .iter()
        .zip(&drawn)
        .map(|(stratum, drawn)| DesignStratum { population: stratum.population.map(|all| all as f64), drawn: *drawn })
        .collect();
    let total: f64 = cells.iter().flatten().sum();
    for cell in cells.iter_mut().flatten() {
        *cell /= total;
    }
    Answer::Found(KappaRow {
        estimate: weighted_kappa(&items, &design),
        categories: survey.categories.clone(),
        weighted_cells: cells,
        unweighted_kappa: Table::numbered(&counts).ok().and_then(|table| kappa::cohen(&table).kappa),
    })
}

pub(super) fn stratum_kappa(survey: &Survey, z: f64) -> StrataKappa {
    let size = survey.categories.len();
    let (mut rows, mut kappas) = (Vec::new(), Vec::new());
    for (at, stratum) in survey.strata.iter().enumerate() {
        let mut counts = vec![vec![0u64; size]; size];
        for (first, second) in survey.of(at).filter_map(|case| case.pair) {
            if let Some(cell) = counts.get_mut(first).and_then(|row| row.get_mut(second)) {
                *cell += 1;
            }
        }
        let own = Table::numbered(&counts).ok().map(|table| kappa::cohen(&table));
        rows.push(StratumKappa {
            stratum: stratum.name.clone(),
            n: counts.iter().flatten().sum(),
            kappa: own.as_ref().and_then(|own| own.kappa),
            se: own.as_ref().and_then(|own| own.se),
        });
        kappas.extend(own.map(|own| (stratum.name.clone(), own)));
    }
    let pooled = pooled::pooled(&kappas, z).map_or_else(|reason| Answer::missing(reason.text()), Answer::Found);
    StrataKappa { strata: rows, pooled }
}
