//! Families of cases: cases about one conversation are not independent of each other.
//!
//! In BFCL multi-turn, entry n of `base`, `long_context`, `miss_func` and `miss_param` is one scenario in four variants;
//! in τ² the trials of a task are one task. Resampling single cases treats them as independent and gives intervals that
//! are too narrow; here whole families are resampled.

use std::collections::BTreeMap;

use super::bootstrap::{self, Plan, Replicates};
use super::{Undefined, kappa};
use crate::model::AuditCase;

/// The family that a case belongs to: the scenario's number for ids like `multi_turn_base_17`, else the id up to a trial's
/// `#`. The same for all models and conditions.
#[must_use]
pub fn of_case(case: &AuditCase) -> String {
    of_id(case.case.case())
}

pub(crate) fn of_id(id: &str) -> String {
    // A write of τ² (`35#0/w2`) is of the family of its simulation's task.
    let id = match id.rsplit_once("/w") {
        Some((simulation, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            simulation
        }
        _ => id,
    };
    // The part after the last slash: an audit made elsewhere has the model in front.
    let id = id.rsplit('/').next().unwrap_or(id);
    let task = id.split_once('#').map_or(id, |(task, _)| task);
    for category in crate::model::Category::ALL {
        if let Some(number) = task.strip_prefix(&format!("multi_turn_{category}_"))
            && !number.is_empty()
        {
            return format!("multi_turn_{number}");
        }
    }
    task.to_owned()
}

/// Units of a table grouped into families.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Families {
    size: usize,
    /// Cells and counts of a family, and how many families have exactly these.
    patterns: Vec<(Vec<(usize, u64)>, u64)>,
    shared: u64,
}

impl Families {
    /// Groups units, given as (family, cell of the table's counts), over `size` categories.
    pub fn new<K: Ord>(size: usize, units: impl IntoIterator<Item = (K, usize)>) -> Self {
        let mut families: BTreeMap<K, BTreeMap<usize, u64>> = BTreeMap::new();
        for (family, cell) in units {
            *families.entry(family).or_default().entry(cell).or_default() += 1;
        }
        let mut patterns: BTreeMap<Vec<(usize, u64)>, u64> = BTreeMap::new();
        let mut shared = 0;
        for cells in families.into_values() {
            let units: u64 = cells.values().sum();
            shared += if units > 1 { units } else { 0 };
            *patterns.entry(cells.into_iter().collect()).or_default() += 1;
        }
        Self { size, patterns: patterns.into_iter().collect(), shared }
    }

    /// The number of families.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.patterns.iter().map(|(_, families)| families).sum()
    }

    /// Units whose family has another unit.
    #[must_use]
    pub fn sharing(&self) -> u64 {
        self.shared
    }

    /// Replicates of Cohen's kappa with families resampled. Families of equal content are drawn together, so the cost
    /// depends on the number of different ones.
    ///
    /// # Errors
    /// Fewer than two families.
    pub fn kappa(&self, plan: Plan) -> Result<Replicates, Undefined> {
        if self.count() < 2 {
            return Err(Undefined::TooFewFamilies);
        }
        let families: Vec<u64> = self.patterns.iter().map(|(_, families)| *families).collect();
        let size = self.size;
        let space = || (vec![0u64; size * size], vec![0u64; 2 * size]);
        Ok(bootstrap::cells(&families, plan, space, |(counts, margins), drawn| {
            counts.fill(0);
            for ((cells, _), times) in self.patterns.iter().zip(drawn) {
                for (cell, count) in cells {
                    if let Some(sum) = counts.get_mut(*cell) {
                        *sum += count * times;
                    }
                }
            }
            kappa::of_counts(counts, size, margins)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_a_scenario_are_one_family() {
        for id in [
            "multi_turn_base_17",
            "multi_turn_miss_func_17",
            "multi_turn_long_context_17",
            "m/multi_turn_miss_param_17",
        ] {
            assert_eq!(of_id(id), "multi_turn_17");
        }
        assert_ne!(of_id("multi_turn_base_17"), of_id("multi_turn_base_1"));
        assert_eq!((of_id("35#0/w2").as_str(), of_id("35#1").as_str(), of_id("m/35#0").as_str()), ("35", "35", "35"));
        assert_eq!((of_id("airline_3#2").as_str(), of_id("x").as_str()), ("airline_3", "x"));
    }

    /// Every family a unit of its own: the law of the plain bootstrap. Every unit copied four times into one family: the
    /// spread of the plain bootstrap with a quarter of the units.
    #[test]
    fn copies_bring_no_information() {
        let cells: Vec<usize> = [30usize, 6, 4, 20].iter().enumerate().flat_map(|(cell, n)| vec![cell; *n]).collect();
        let plan = Plan { seed: 2, replicates: 20_000 };
        let table = super::super::Table::numbered(&[vec![30, 6], vec![4, 20]]).expect("square");
        let plain = bootstrap::kappa(&table, plan).se().expect("many");
        let alone = Families::new(2, cells.iter().copied().enumerate());
        assert_eq!((alone.count(), alone.sharing()), (60, 0));
        assert!((alone.kappa(plan).expect("families").se().expect("many") / plain - 1.0).abs() < 0.02);
        let copied = Families::new(2, cells.iter().enumerate().flat_map(|(family, cell)| vec![(family, *cell); 4]));
        assert_eq!((copied.count(), copied.sharing()), (60, 240));
        assert!((copied.kappa(plan).expect("families").se().expect("many") / plain - 1.0).abs() < 0.02);
        assert_eq!(Families::new(2, [(1, 0), (1, 3)]).kappa(plan), Err(Undefined::TooFewFamilies));
    }
}
