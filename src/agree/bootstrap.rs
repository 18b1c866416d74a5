//! Bootstrap of statistics that depend on a table's counts only: cells are resampled, not units.
//!
//! Resampling `n` rated units with replacement changes the cell counts by a multinomial law, so drawing that law
//! directly gives the same bootstrap at a cost that does not grow with `n`. Every replicate has its own ChaCha8 stream:
//! the result is the same on one thread and on many. A replicate in which the statistic is undefined is dropped and
//! counted; above 5 % of them the interval is withheld, since the rest no longer stands for the sample.

use rayon::prelude::*;

use super::draws::{CellSampler, Words};
use super::{Table, Undefined, Weights, kappa, tails, weighted};

/// How many replicates, from which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// The seed; equal seeds give equal replicates.
    pub seed: u64,
    /// The number of replicates.
    pub replicates: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self { seed: 1, replicates: 2000 }
    }
}

/// The defined replicates, sorted, and the number of undefined ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicates {
    values: Vec<f64>,
    undefined: u32,
}

impl Replicates {
    /// From replicates in any order; values that are not finite count as undefined.
    #[must_use]
    pub fn new(replicates: impl IntoIterator<Item = Option<f64>>) -> Self {
        let (mut values, mut undefined) = (Vec::new(), 0);
        for value in replicates {
            match value {
                Some(value) if value.is_finite() => values.push(value),
                _ => undefined += 1,
            }
        }
        values.sort_unstable_by(f64::total_cmp);
        Self { values, undefined }
    }

    /// The defined values, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Replicates in which the statistic was undefined.
    #[must_use]
    pub fn undefined(&self) -> u32 {
        self.undefined
    }

    /// All replicates drawn.
    #[must_use]
    pub fn drawn(&self) -> usize {
        self.values.len() + self.undefined as usize
    }

    /// The standard deviation of the defined replicates (divisor: their number less one).
    #[must_use]
    pub fn se(&self) -> Option<f64> {
        let count = self.values.len() as f64;
        if self.values.len() < 2 {
            return None;
        }
        let mean = self.values.iter().sum::<f64>() / count;
        Some((self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt())
    }

    /// The quantile by linear interpolation between order statistics (type 7 of Hyndman & Fan 1996, the default of
    /// numpy and R); `None` without values or for a share outside 0 to 1.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        if !(0.0..=1.0).contains(&share) {
            return None;
        }
        let place = share * (self.values.len().checked_sub(1)?) as f64;
        let low = *self.values.get(place.floor() as usize)?;
        let high = *self.values.get(place.ceil() as usize)?;
        Some(low + (high - low) * place.fract())
    }

    /// The percentile interval of a level such as 0.95.
    ///
    /// # Errors
    /// No replicates, more than 5 % of them undefined, or all of them equal.
    pub fn percentile(&self, level: f64) -> Result<[f64; 2], Undefined> {
        self.usable()?;
        let tail = (1.0 - level) / 2.0;
        match (self.quantile(tail), self.quantile(1.0 - tail)) {
            (Some(low), Some(high)) => Ok([low, high]),
            _ => Err(Undefined::NoReplicates),
        }
    }

    /// The bias-corrected and accelerated interval. Efron 1987, J. Am. Stat. Assoc. 82:171-185. `acceleration` comes from
    /// the jackknife; replicates equal to the estimate count half.
    ///
    /// # Errors
    /// As [`Replicates::percentile`], and where all replicates lie on one side of the estimate.
    pub fn bca(&self, level: f64, estimate: f64, acceleration: f64) -> Result<[f64; 2], Undefined> {
        self.usable()?;
        let below = self.values.partition_point(|value| *value < estimate) as f64;
        let up_to = self.values.partition_point(|value| *value <= estimate) as f64;
        let share = f64::midpoint(below, up_to) / self.values.len() as f64;
        let bias = tails::normal_quantile(share).ok_or(Undefined::OneSided)?;
        let limit = |tail: f64| {
            let shifted = bias + tails::normal_quantile(tail)?;
            let scale = 1.0 - acceleration * shifted;
            if scale <= 0.0 {
                return None;
            }
            self.quantile(tails::normal_cdf(bias + shifted / scale))
        };
        let tail = (1.0 - level) / 2.0;
        match (limit(tail), limit(1.0 - tail)) {
            (Some(low), Some(high)) => Ok([low, high]),
            _ => Err(Undefined::OneSided),
        }
    }

    /// Can an interval be read off these replicates?
    ///
    /// # Errors
    /// As [`Replicates::percentile`].
    pub fn usable(&self) -> Result<(), Undefined> {
        let (Some(first), Some(last)) = (self.values.first(), self.values.last()) else {
            return Err(if self.undefined == 0 { Undefined::NoReplicates } else { Undefined::TooManyUndefined });
        };
        if self.undefined as usize * 20 > self.drawn() {
            return Err(Undefined::TooManyUndefined);
        }
        if first >= last {
            return Err(Undefined::Degenerate);
        }
        Ok(())
    }
}

/// Replicates of any statistic of a table's counts. `scratch` makes one working space per thread; `statistic` sees the
/// resampled counts in the table's layout (row after row) and gives `None` where it is undefined.
pub fn cells<S>(
    counts: &[u64],
    plan: Plan,
    scratch: impl Fn() -> S + Sync + Send,
    statistic: impl Fn(&mut S, &[u64]) -> Option<f64> + Sync + Send,
) -> Replicates {
    /// Replicates that one thread takes at a time; fewer are not worth waking another thread for.
    const CHUNK: usize = 250;
    let sampler = CellSampler::new(counts);
    let replicates: Vec<Option<f64>> = (0..plan.replicates as usize)
        .into_par_iter()
        .with_min_len(CHUNK)
        .map_init(
            || (scratch(), vec![0u64; counts.len()]),
            |(space, out), replicate| {
                sampler.draw(&mut Words::new(plan.seed, replicate as u64), out);
                statistic(space, out)
            },
        )
        .collect();
    Replicates::new(replicates)
}

/// Replicates of Cohen's kappa. None are drawn from a table without units.
#[must_use]
pub fn kappa(table: &Table, plan: Plan) -> Replicates {
    if table.n() == 0 {
        return Replicates::new([]);
    }
    let k = table.size();
    cells(table.counts(), plan, || vec![0u64; 2 * k], |margins, counts| kappa::of_counts(counts, k, margins))
}

/// Replicates of weighted kappa.
#[must_use]
pub fn weighted_kappa(table: &Table, weights: &Weights, plan: Plan) -> Replicates {
    if table.n() == 0 {
        return Replicates::new([]);
    }
    let k = weights.size();
    let statistic = |margins: &mut Vec<u64>, counts: &[u64]| weighted::of_counts(counts, weights, margins);
    cells(table.counts(), plan, || vec![0u64; 2 * k], statistic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[&[u64]]) -> Table {
        Table::numbered(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).expect("square")
    }

    #[test]
    fn quantiles_are_numpys() {
        // numpy.quantile([1, 2, 3, 4, 10], [0.025, 0.5, 0.975]) = 1.1, 3.0, 9.4
        let five = Replicates::new([4.0, 1.0, 10.0, 3.0, 2.0].map(Some));
        for (share, expected) in [(0.025, 1.1), (0.5, 3.0), (0.975, 9.4), (0.0, 1.0), (1.0, 10.0)] {
            assert!((five.quantile(share).expect("five values") - expected).abs() < 1e-12);
        }
        assert_eq!(five.quantile(1.5), None);
        assert_eq!(Replicates::new([]).quantile(0.5), None);
    }

    /// Efron & Tibshirani 1993, ch. 14: without bias and acceleration BCa is the percentile interval; with the estimate
    /// at the 60 % point and acceleration 0.05 the limits are the shares worked out by hand from a normal table.
    #[test]
    fn bca_shifts_the_shares_as_by_hand() {
        let values = Replicates::new((0..=1000).map(|i| Some(f64::from(i) / 1000.0)));
        let plain = values.bca(0.95, 0.5, 0.0).expect("two sides");
        assert!((plain[0] - 0.025).abs() < 1e-9 && (plain[1] - 0.975).abs() < 1e-9);
        // z0 = 0.25335; low: z0 + (z0 - 1.95996)/(1 - 0.05(z0 - 1.95996)) = -1.31893; high: 0.25335 + 2.21331/0.88933.
        let moved = values.bca(0.95, 0.6, 0.05).expect("two sides");
        assert!((moved[0] - 0.0936).abs() < 1e-3 && (moved[1] - 0.9970).abs() < 1e-3, "{moved:?}");
        assert_eq!(values.bca(0.95, -1.0, 0.0), Err(Undefined::OneSided));
    }

    #[test]
    fn one_thread_and_many_give_the_same_replicates() {
        let table = table(&[&[88, 14, 18], &[10, 40, 10], &[2, 6, 12]]);
        let plan = Plan { seed: 11, replicates: 3000 };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| kappa(&table, plan))
        };
        let one = on(1);
        assert_eq!(one, on(4));
        assert_ne!(one, kappa(&table, Plan { seed: 12, ..plan }));
        // More replicates extend fewer: the first 1000 are the same.
        assert_eq!(one.drawn(), 3000);
    }

    #[test]
    fn undefined_replicates_are_counted_and_withhold_the_interval() {
        // One disagreement among 20: a replicate without it has one category only, with probability 0.95^20 = 0.358.
        let rare = kappa(&table(&[&[19, 1], &[0, 0]]), Plan { seed: 1, replicates: 10_000 });
        assert!(rare.undefined().abs_diff(3585) < 250, "{}", rare.undefined());
        assert_eq!(rare.percentile(0.95), Err(Undefined::TooManyUndefined));
        let perfect = kappa(&table(&[&[50, 0], &[0, 50]]), Plan::default());
        assert_eq!(perfect.percentile(0.95), Err(Undefined::Degenerate));
        assert_eq!(kappa(&table(&[]), Plan::default()).percentile(0.95), Err(Undefined::NoReplicates));
    }
}
