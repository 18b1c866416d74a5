//! Leaving out one unit at a time: standard error and acceleration of a statistic of counts.

use super::{Table, Undefined, kappa};

/// The values of a statistic with one unit left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jackknife {
    /// The standard error: √((n − 1)/n · Σ(θᵢ − θ̄)²). Efron 1982, The Jackknife, the Bootstrap and Other Resampling
    /// Plans.
    pub se: f64,
    /// Σ(θ̄ − θᵢ)³ / 6(Σ(θ̄ − θᵢ)²)^1.5, the acceleration of the BCa interval; 0 where nothing varies.
    pub acceleration: f64,
}

/// Leaves out one unit of each non-empty cell in turn; units of the same cell give the same value, so the cost depends on
/// the number of cells.
///
/// # Errors
/// Fewer than two units, or a unit whose absence makes the statistic undefined.
pub fn cells(counts: &[u64], mut statistic: impl FnMut(&[u64]) -> Option<f64>) -> Result<Jackknife, Undefined> {
    let n: u64 = counts.iter().sum();
    if n < 2 {
        return Err(Undefined::TooFewUnits);
    }
    let mut without = counts.to_vec();
    let mut values = Vec::new();
    for (at, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        if let Some(cell) = without.get_mut(at) {
            *cell = count - 1;
        }
        let value = statistic(&without).ok_or(Undefined::FragileUnit)?;
        values.push((value, *count as f64));
        if let Some(cell) = without.get_mut(at) {
            *cell = *count;
        }
    }
    let total = n as f64;
    let mean = values.iter().map(|(value, count)| value * count).sum::<f64>() / total;
    let moment = |power: i32| values.iter().map(|(value, count)| count * (mean - value).powi(power)).sum::<f64>();
    let squares = moment(2);
    let acceleration = if squares > 0.0 { moment(3) / (6.0 * squares.powf(1.5)) } else { 0.0 };
    Ok(Jackknife { se: ((total - 1.0) / total * squares).sqrt(), acceleration })
}

/// The jackknife of Cohen's kappa.
///
/// # Errors
/// As [`cells`].
pub fn kappa(table: &Table) -> Result<Jackknife, Undefined> {
    let k = table.size();
    cells(table.counts(), |counts| kappa::of_counts(counts, k, &mut vec![0; 2 * k]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The jackknife of a mean is its textbook standard error s/√n: here of 3 ones and 7 zeros.
    #[test]
    fn a_mean_has_its_textbook_error() {
        let mean = |counts: &[u64]| Some(counts[1] as f64 / counts.iter().sum::<u64>() as f64);
        let found = cells(&[7, 3], mean).expect("ten units");
        assert!((found.se - (0.3f64 * 0.7 / 9.0).sqrt()).abs() < 1e-15);
        assert_eq!(cells(&[1, 0], mean), Err(Undefined::TooFewUnits));
    }

    #[test]
    fn a_unit_that_carries_the_statistic_is_named() {
        let table = Table::numbered(&[vec![9, 1], vec![0, 0]]).expect("square");
        assert_eq!(kappa(&table), Err(Undefined::FragileUnit));
    }
}
