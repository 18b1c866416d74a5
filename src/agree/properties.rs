//! Properties over random tables and panels: bounds, symmetries, and coefficients that must coincide.

use proptest::prelude::*;

use super::alpha::{AlphaData, Metric};
use super::bootstrap::Plan;
use super::chance::{self, Chance};
use super::{Coefficient, Panel, Table, Weights, fleiss, indices, kappa, many, two_raters, weighted};

fn tables() -> impl Strategy<Value = Vec<Vec<u64>>> {
    (1usize..5).prop_flat_map(|k| {
        let count = prop_oneof![2 => Just(0u64), 3 => 0u64..4, 2 => 0u64..60];
        proptest::collection::vec(proptest::collection::vec(count, k), k)
    })
}

fn panels() -> impl Strategy<Value = (usize, usize, Vec<u32>)> {
    (2usize..5, 2usize..6, 1usize..15).prop_flat_map(|(categories, raters, units)| {
        let code = prop_oneof![1 => Just(Panel::MISSING), 4 => 0u32..categories as u32];
        (Just(categories), Just(raters), proptest::collection::vec(code, raters * units))
    })
}

fn table(rows: &[Vec<u64>]) -> Table {
    Table::numbered(rows).expect("square")
}

fn panel(categories: usize, raters: usize, codes: &[u32]) -> Panel {
    Panel::from_codes((1..=categories).map(|i| i.to_string()).collect(), raters, codes.to_vec()).expect("codes")
}

fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-9,
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// The units of a table as pairs of category numbers.
fn units(table: &Table) -> Vec<(usize, usize)> {
    let cells = (0..table.size()).flat_map(|i| (0..table.size()).map(move |j| (i, j)));
    cells.flat_map(|(i, j)| vec![(i, j); table.get(i, j) as usize]).collect()
}

fn as_panel(table: &Table) -> Panel {
    let codes: Vec<u32> = units(table).into_iter().flat_map(|(i, j)| [i as u32, j as u32]).collect();
    panel(table.size(), 2, &codes)
}

proptest! {
    /// Nothing is NaN or infinite, nothing exceeds 1, and what is missing has its reason.
    #[test]
    fn numbers_are_bounded_or_absent(rows in tables()) {
        let table = table(&rows);
        for weights in [None, Some(Weights::linear(table.size()))] {
            let all = two_raters(&table, weights.as_ref(), 1.96, Plan { seed: 1, replicates: 60 });
            let m = &all.measures;
            for (name, value) in [
                ("po", all.po), ("pe", all.pe), ("kappa", all.kappa), ("max", m.kappa_max), ("min", m.kappa_min),
                ("pi", m.scott_pi), ("s", m.bennett_s_pabak), ("ac1", m.gwet_ac1), ("ac2", all.gwet_ac2),
                ("alpha", m.krippendorff_alpha_nominal), ("low", all.ci95_bootstrap.low),
                ("high", all.ci95_bootstrap.high), ("bca low", all.ci95_bca.low), ("bca high", all.ci95_bca.high),
            ] {
                prop_assert!(value.is_none_or(|value| value.is_finite() && value <= 1.0 + 1e-12), "{name} {value:?}");
            }
            for (name, value) in [
                ("se", all.se), ("se_h0", m.se_h0), ("ac1 se", m.gwet_ac1_se), ("jackknife", m.jackknife_se),
                ("z", m.z_h0.map(f64::abs)), ("p", m.p_h0), ("bootstrap", all.bootstrap_se),
            ] {
                prop_assert!(value.is_none_or(|value| value.is_finite() && value >= 0.0), "{name} {value:?}");
            }
            prop_assert!(all.kappa.is_none_or(|kappa| kappa >= -1.0 - 1e-12));
            prop_assert_eq!(all.ci95.is_none(), all.reason.is_some());
            prop_assert!(all.kappa.is_some() || all.reason.is_some());
            prop_assert_eq!(all.ci95_bootstrap.low.is_none(), all.ci95_bootstrap.reason.is_some());
            prop_assert_eq!(all.ci95_bca.low.is_none(), all.ci95_bca.reason.is_some());
            if let (Some(kappa), Some(bounds), None) = (all.kappa, indices::bounds(&table), &weights) {
                prop_assert!(bounds.min - 1e-12 <= kappa && kappa <= bounds.max + 1e-12);
            }
        }
    }

    /// Exchanging the raters changes nothing; neither does another order of the categories.
    #[test]
    fn raters_and_nominal_categories_are_exchangeable(rows in tables(), shift in 0usize..4) {
        let here = table(&rows);
        let k = here.size();
        let moved = |i: usize| (i + shift) % k;
        let turned: Vec<Vec<u64>> = (0..k).map(|i| (0..k).map(|j| here.get(moved(i), moved(j))).collect()).collect();
        let plan = Plan { seed: 1, replicates: 0 };
        let one = two_raters(&here, None, 1.96, plan);
        for other in [here.transposed(), table(&turned)] {
            let two = two_raters(&other, None, 1.96, plan);
            for (a, b) in [
                (one.po, two.po), (one.pe, two.pe), (one.kappa, two.kappa), (one.se, two.se),
                (one.measures.se_h0, two.measures.se_h0), (one.measures.jackknife_se, two.measures.jackknife_se),
                (one.measures.kappa_max, two.measures.kappa_max), (one.measures.kappa_min, two.measures.kappa_min),
                (one.measures.scott_pi, two.measures.scott_pi), (one.measures.gwet_ac1, two.measures.gwet_ac1),
                (one.measures.gwet_ac1_se, two.measures.gwet_ac1_se),
                (one.measures.krippendorff_alpha_nominal, two.measures.krippendorff_alpha_nominal),
                (one.measures.stuart_maxwell.map(|t| t.chi2), two.measures.stuart_maxwell.map(|t| t.chi2)),
                (one.measures.bowker.map(|t| t.chi2), two.measures.bowker.map(|t| t.chi2)),
            ] {
                prop_assert!(same(a, b), "{a:?} {b:?}");
            }
            prop_assert_eq!(one.reason, two.reason);
        }
        let linear = Weights::linear(k);
        let (there, back) = (weighted::kappa(&here, &linear), weighted::kappa(&here.transposed(), &linear));
        prop_assert!(same(there.kappa, back.kappa) && same(there.se, back.se) && same(there.se_h0, back.se_h0));
    }

    /// Identity weights are no weights.
    #[test]
    fn identity_weights_change_nothing(rows in tables()) {
        let table = table(&rows);
        let identity = Weights::identity(table.size());
        let (plain, weighed) = (kappa::cohen(&table), weighted::kappa(&table, &identity));
        for (a, b) in [
            (plain.po, weighed.po), (plain.pe, weighed.pe), (plain.kappa, weighed.kappa), (plain.se, weighed.se),
            (plain.se_h0, weighed.se_h0),
        ] {
            prop_assert!(same(a, b), "{a:?} {b:?}");
        }
        prop_assert_eq!(plain.reason, weighed.reason);
        let mut margins = vec![0; 2 * table.size()];
        let bare = kappa::of_counts(table.counts(), table.size(), &mut margins);
        prop_assert!(same(bare, plain.kappa));
        prop_assert!(same(weighted::of_counts(table.counts(), &identity, &mut margins), plain.kappa));
    }

    /// Kappa by its definition: agreement of pairs on a unit against agreement of any two ratings of the two raters.
    #[test]
    fn kappa_equals_its_definition_by_pairs(rows in tables()) {
        let table = table(&rows);
        let units = units(&table);
        let n = units.len() as f64;
        let own = units.iter().filter(|(a, b)| a == b).count() as f64;
        let any: f64 = units.iter().map(|(a, _)| units.iter().filter(|(_, b)| a == b).count() as f64).sum();
        let found = kappa::cohen(&table);
        if let Some(kappa) = found.kappa {
            prop_assert!((kappa - (own / n - any / (n * n)) / (1.0 - any / (n * n))).abs() < 1e-9);
        } else {
            prop_assert!(units.is_empty() || (any - n * n).abs() < 0.5);
        }
    }

    /// For two raters without gaps alpha is π + (1 − π)/2n.
    #[test]
    fn alpha_is_scotts_pi_with_a_correction(rows in tables()) {
        let table = table(&rows);
        let pi = chance::scott(&table).coef;
        let alpha = AlphaData::from_table(&table).alpha(Metric::Nominal).alpha;
        let expected = pi.map(|pi| pi + (1.0 - pi) / (2.0 * table.n() as f64));
        prop_assert!(same(alpha, expected), "{alpha:?} {expected:?}");
        let metrics = [Metric::Nominal, Metric::Ordinal, Metric::Interval, Metric::Ratio];
        let by_units = AlphaData::from_panel(&as_panel(&table));
        for metric in metrics {
            prop_assert!(same(AlphaData::from_table(&table).alpha(metric).alpha, by_units.alpha(metric).alpha));
        }
    }

    /// For two raters without gaps the coefficients for many raters are those for two; their standard errors have the
    /// divisor n − 1 where the table's have n.
    #[test]
    fn two_of_many_raters_are_two_raters(rows in tables(), scheme in 0usize..3) {
        let table = table(&rows);
        let size = table.size();
        let weights = match scheme {
            0 => Weights::identity(size),
            1 => Weights::linear(size),
            _ => Weights::quadratic(size),
        };
        let panel = as_panel(&table);
        let counts = panel.counts();
        let stretch = (table.n() as f64 / (table.n() as f64 - 1.0)).sqrt();
        let wide = |se: Option<f64>| se.filter(|_| table.n() > 1).map(|se| se * stretch);
        let cohen = weighted::kappa(&table, &weights);
        let light = fleiss::light(&panel, &weights).expect("small");
        prop_assert!(same(light.coef, cohen.kappa), "{light:?} {cohen:?}");
        if cohen.reason.is_none() {
            prop_assert!(same(light.se, wide(cohen.se)), "{light:?} {cohen:?}");
        }
        let conger = many::conger(&panel, &weights);
        prop_assert!(same(conger.coef, cohen.kappa), "{conger:?} {cohen:?}");
        if cohen.reason.is_none() {
            prop_assert!(same(conger.se, wide(cohen.se)), "{conger:?} {cohen:?}");
        }
        for (many, chance) in [
            (many::fleiss(&counts, &weights), Chance::Scott),
            (many::brennan_prediger(&counts, &weights), Chance::Uniform),
            (many::gwet(&counts, &weights), Chance::Gwet),
        ] {
            let two: Coefficient = chance::two_raters(&table, &weights, chance);
            prop_assert!(same(many.coef, two.coef), "{many:?} {two:?}");
            if two.reason.is_none() {
                prop_assert!(same(many.se, wide(two.se)), "{many:?} {two:?}");
            }
        }
    }

    /// Neither the order of the units nor that of the raters matters, gaps or not; agreement weights give the metrics'
    /// alphas where both exist.
    #[test]
    fn units_and_raters_have_no_order((categories, raters, codes) in panels()) {
        let here = panel(categories, raters, &codes);
        let mut units: Vec<Vec<u32>> = codes.chunks(raters).map(<[u32]>::to_vec).collect();
        units.reverse();
        for unit in &mut units {
            unit.rotate_left(1);
        }
        let there = panel(categories, raters, &units.concat());
        for weights in [Weights::identity(categories), Weights::quadratic(categories)] {
            let (one, two) = (
                fleiss::many_raters(&here, &weights).expect("small"),
                fleiss::many_raters(&there, &weights).expect("small"),
            );
            for (name, a, b) in [
                ("percent", one.percent, two.percent), ("fleiss", one.fleiss, two.fleiss),
                ("conger", one.conger, two.conger), ("light", one.light, two.light), ("gwet", one.gwet, two.gwet),
                ("krippendorff", one.krippendorff, two.krippendorff),
                ("brennan_prediger", one.brennan_prediger, two.brennan_prediger),
            ] {
                prop_assert!(same(a.coef, b.coef) && same(a.se, b.se) && a.n == b.n, "{name}: {a:?} {b:?}");
                prop_assert!(a.coef.is_none_or(|coef| coef.is_finite() && coef <= 1.0 + 1e-12), "{name}: {a:?}");
                prop_assert!(a.se.is_none_or(|se| se.is_finite() && se >= 0.0), "{name}: {a:?}");
                prop_assert!(a.coef.is_some() || a.reason.is_some(), "{name}: {a:?}");
            }
        }
        let (one, two) = (AlphaData::from_panel(&here), AlphaData::from_panel(&there));
        for metric in Metric::ALL {
            prop_assert!(same(one.alpha(metric).alpha, two.alpha(metric).alpha));
        }
        let counts = here.counts();
        for (metric, weights) in
            [(Metric::Nominal, Weights::identity(categories)), (Metric::Interval, Weights::quadratic(categories))]
        {
            let by_weights = many::krippendorff(&counts, &weights).coef;
            prop_assert!(same(by_weights, one.alpha(metric).alpha), "{metric:?} {by_weights:?}");
        }
    }
}
