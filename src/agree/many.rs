//! Coefficients for any number of raters with missing ratings, as Gwet defines them: percent agreement, Fleiss, Conger,
//! Gwet, Krippendorff and Brennan-Prediger, each with weights.
//!
//! Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., ch. 2, 3 and 5 (the definitions of irrCAC). Observed
//! agreement is the mean over the units with two ratings or more; the margins use every unit that has a rating, except
//! Krippendorff's, which leave out units with a single one. Standard errors linearise over units, divisor n(n − 1), with
//! the raters taken as given. Conventions: no unit with two ratings, undefined; a single category used, Fleiss, Conger
//! and Krippendorff undefined, the others 1 with standard error 0 and no interval.

use super::panel::{Counts, Panel};
use super::{Coefficient, Scheme, Undefined, Weights};

/// A unit's ratings in the sums below.
struct Unit<'a> {
    counts: &'a [u32],
    ratings: f64,
    /// Weighted agreement among the unit's pairs of ratings; 0 with fewer than two.
    agreement: f64,
}

/// What all coefficients share.
struct Sums<'a> {
    units: Vec<Unit<'a>>,
    /// Units with two ratings or more.
    paired: u64,
    pa: f64,
    /// Mean over units of each category's share.
    margins: Vec<f64>,
    used: usize,
}

fn sums<'a>(counts: &'a Counts, weights: &Weights) -> Result<Sums<'a>, Undefined> {
    let q = counts.categories().len();
    let mut units = Vec::new();
    let (mut paired, mut pa) = (0u64, 0.0);
    let mut margins = vec![0.0; q];
    let mut uses = vec![0u64; q];
    for unit in counts.units() {
        let ratings: u64 = unit.iter().map(|count| u64::from(*count)).sum();
        if ratings == 0 {
            continue;
        }
        let total = ratings as f64;
        let share = total.recip();
        for ((margin, uses), count) in margins.iter_mut().zip(&mut uses).zip(unit) {
            *margin += f64::from(*count) * share;
            *uses += u64::from(*count);
        }
        let agreement = if ratings > 1 { agreeing(unit, weights) / (total * (total - 1.0)) } else { 0.0 };
        if ratings > 1 {
            paired += 1;
            pa += agreement;
        }
        units.push(Unit { counts: unit, ratings: total, agreement });
    }
    if units.is_empty() {
        return Err(Undefined::NoUnits);
    }
    if paired == 0 {
        return Err(Undefined::TooFewRaters);
    }
    let n = units.len() as f64;
    for margin in &mut margins {
        *margin /= n;
    }
    let used = uses.iter().filter(|count| **count > 0).count();
    Ok(Sums { units, paired, pa: pa / paired as f64, margins, used })
}

/// Weighted agreement among the ordered pairs of a unit's ratings.
fn agreeing(unit: &[u32], weights: &Weights) -> f64 {
    if weights.scheme() == Scheme::Identity {
        return unit.iter().map(|count| f64::from(*count) * (f64::from(*count) - 1.0)).sum();
    }
    let near = |i: usize| unit.iter().zip(weights.row(i)).map(|(other, w)| f64::from(*other) * w).sum::<f64>();
    let used = unit.iter().enumerate().filter(|(_, count)| **count > 0);
    used.map(|(i, count)| f64::from(*count) * (near(i) - 1.0)).sum()
}

/// Joins observed and chance agreement; `chance_of` is a unit's part of the chance term, whose mean is `pe`.
fn join(sums: &Sums<'_>, pe: f64, chance_of: impl Fn(usize, &Unit<'_>) -> f64) -> Coefficient {
    let n = sums.units.len() as f64;
    let mut result = Coefficient {
        pa: Some(sums.pa),
        pe: Some(pe),
        ..Coefficient::undefined(sums.units.len() as u64, Undefined::NoDisagreementPossible)
    };
    if 1.0 - pe <= 1e-14 {
        return result;
    }
    let coef = (sums.pa - pe) / (1.0 - pe);
    result.coef = Some(coef);
    if sums.units.len() < 2 {
        result.reason = Some(Undefined::TooFewUnits);
        return result;
    }
    let scale = n / sums.paired as f64;
    let mut squares = 0.0;
    for (at, unit) in sums.units.iter().enumerate() {
        let paired = if unit.ratings > 1.0 { pe } else { 0.0 };
        let own = scale * (unit.agreement - paired) / (1.0 - pe);
        let chance = 2.0 * (1.0 - coef) * (chance_of(at, unit) - pe) / (1.0 - pe);
        squares += (own - chance - coef).powi(2);
    }
    settle(&mut result, squares, n);
    result
}

/// Sets the standard error from a sum of squared deviations.
fn settle(result: &mut Coefficient, squares: f64, n: f64) {
    // Below this the deviations are rounding.
    let se = if squares <= n * 1e-26 { 0.0 } else { (squares / (n * (n - 1.0))).sqrt() };
    result.se = Some(se);
    result.reason = (se == 0.0).then_some(Undefined::Degenerate);
}

fn one_category(sums: &Sums<'_>) -> Coefficient {
    Coefficient {
        pa: Some(sums.pa),
        pe: Some(1.0),
        ..Coefficient::undefined(sums.units.len() as u64, Undefined::OneCategory)
    }
}

fn mean_of(unit: &Unit<'_>, per_category: &[f64]) -> f64 {
    unit.counts.iter().zip(per_category).map(|(count, value)| f64::from(*count) * value).sum::<f64>() / unit.ratings
}

/// The mean weighted agreement of a category with the margins.
fn against_margins(margins: &[f64], weights: &Weights) -> Vec<f64> {
    (0..margins.len()).map(|i| margins.iter().enumerate().map(|(j, p)| weights.mirrored(i, j) * p).sum()).collect()
}

/// Percent agreement: the mean agreement of pairs of ratings within units.
#[must_use]
pub fn percent(counts: &Counts, weights: &Weights) -> Coefficient {
    match sums(counts, weights) {
        Err(reason) => Coefficient::undefined(0, reason),
        Ok(sums) => join(&sums, 0.0, |_, _| 0.0),
    }
}

/// Fleiss' kappa. Fleiss 1971, Psychol. Bull. 76:378-382, extended to missing ratings.
#[must_use]
pub fn fleiss(counts: &Counts, weights: &Weights) -> Coefficient {
    let sums = match sums(counts, weights) {
        Ok(sums) => sums,
        Err(reason) => return Coefficient::undefined(0, reason),
    };
    if sums.used < 2 {
        return one_category(&sums);
    }
    let near = against_margins(&sums.margins, weights);
    let pe = sums.margins.iter().zip(&near).map(|(p, e)| p * e).sum();
    join(&sums, pe, |_, unit| mean_of(unit, &near))
}

/// Gwet's AC1, with weights AC2.
#[must_use]
pub fn gwet(counts: &Counts, weights: &Weights) -> Coefficient {
    let sums = match sums(counts, weights) {
        Ok(sums) => sums,
        Err(reason) => return Coefficient::undefined(0, reason),
    };
    let q = sums.margins.len();
    if q < 2 {
        return one_category(&sums);
    }
    let scale = weights.sum() / (q * (q - 1)) as f64;
    let of_category: Vec<f64> = sums.margins.iter().map(|p| scale * (1.0 - p)).collect();
    let pe = sums.margins.iter().zip(&of_category).map(|(p, e)| p * e).sum();
    join(&sums, pe, |_, unit| mean_of(unit, &of_category))
}

/// Brennan and Prediger's coefficient; without weights it is Randolph's free-marginal kappa.
#[must_use]
pub fn brennan_prediger(counts: &Counts, weights: &Weights) -> Coefficient {
    let sums = match sums(counts, weights) {
        Ok(sums) => sums,
        Err(reason) => return Coefficient::undefined(0, reason),
    };
    let q = sums.margins.len();
    if q < 2 {
        return one_category(&sums);
    }
    let pe = weights.sum() / (q * q) as f64;
    join(&sums, pe, |_, _| pe)
}

/// Krippendorff's alpha with agreement weights and Gwet's standard error (identity weights: nominal; quadratic weights
/// over equally spaced categories: interval). For the metrics of its author see [`super::alpha`].
#[must_use]
pub fn krippendorff(counts: &Counts, weights: &Weights) -> Coefficient {
    let q = counts.categories().len();
    let pairable: Vec<u32> = counts
        .units()
        .filter(|unit| unit.iter().map(|count| u64::from(*count)).sum::<u64>() > 1)
        .flatten()
        .copied()
        .collect();
    let units = pairable.chunks_exact(q.max(1)).map(|unit| {
        let ratings: f64 = unit.iter().map(|count| f64::from(*count)).sum();
        Unit { counts: unit, ratings, agreement: agreeing(unit, weights) / (ratings - 1.0) }
    });
    let units: Vec<Unit<'_>> = units.collect();
    let n = units.len() as f64;
    let total: f64 = units.iter().map(|unit| unit.ratings).sum();
    if units.is_empty() {
        let any = counts.units().flatten().any(|count| *count > 0);
        return Coefficient::undefined(0, if any { Undefined::TooFewRaters } else { Undefined::NoUnits });
    }
    let mean = total / n;
    let margins: Vec<f64> = (0..q)
        .map(|i| units.iter().filter_map(|unit| unit.counts.get(i)).map(|count| f64::from(*count)).sum::<f64>() / total)
        .collect();
    let raw = units.iter().map(|unit| unit.agreement / mean).sum::<f64>() / n;
    // The author's small-sample correction: a pair of equal ratings is one of all `total` that can be drawn.
    let pa = (1.0 - 1.0 / total) * raw + 1.0 / total;
    let near = against_margins(&margins, weights);
    let pe: f64 = margins.iter().zip(&near).map(|(p, e)| p * e).sum();
    let mut result = Coefficient {
        pa: Some(pa),
        pe: Some(pe),
        ..Coefficient::undefined(units.len() as u64, Undefined::NoDisagreementPossible)
    };
    if margins.iter().filter(|p| **p > 0.0).count() < 2 {
        result.pe = Some(1.0);
        result.reason = Some(Undefined::OneCategory);
        return result;
    }
    if 1.0 - pe <= 1e-14 {
        return result;
    }
    let (coef, plain) = ((pa - pe) / (1.0 - pe), (raw - pe) / (1.0 - pe));
    result.coef = Some(coef);
    if units.len() < 2 {
        result.reason = Some(Undefined::TooFewUnits);
        return result;
    }
    let squares = units
        .iter()
        .map(|unit| {
            let excess = (unit.ratings - mean) / mean;
            let own = (unit.agreement / mean - raw * excess - pe) / (1.0 - pe);
            let chance = mean_of(unit, &near) * unit.ratings / mean - pe * excess;
            (own - 2.0 * (1.0 - plain) * (chance - pe) / (1.0 - pe) - plain).powi(2)
        })
        .sum();
    settle(&mut result, squares, n);
    result
}

/// Conger's kappa: chance from each rater's own margins. Conger 1980, Psychol. Bull. 88:322-328; without gaps it is the
/// kappa of Hubert 1977 and of Davies & Fleiss 1982, for two raters Cohen's.
#[must_use]
pub fn conger(panel: &Panel, weights: &Weights) -> Coefficient {
    let counts = panel.counts();
    let sums = match sums(&counts, weights) {
        Ok(sums) => sums,
        Err(reason) => return Coefficient::undefined(0, reason),
    };
    if sums.used < 2 {
        return one_category(&sums);
    }
    let q = panel.categories().len();
    let rated: Vec<&[u32]> = panel.units().filter(|unit| unit.iter().any(|code| *code != Panel::MISSING)).collect();
    let n = rated.len() as f64;
    // Each rater's shares; raters without ratings are no raters.
    let mut shares: Vec<(usize, f64, Vec<f64>)> = Vec::new();
    for rater in 0..panel.raters() {
        let mut uses = vec![0.0; q];
        for code in rated.iter().filter_map(|unit| unit.get(rater)) {
            if let Some(count) = uses.get_mut(*code as usize) {
                *count += 1.0;
            }
        }
        let total: f64 = uses.iter().fold(0.0, |sum, count| sum + count);
        if total > 0.0 {
            for count in &mut uses {
                *count /= total;
            }
            shares.push((rater, total, uses));
        }
    }
    let raters = shares.len() as f64;
    let all: Vec<f64> = (0..q).map(|k| shares.iter().filter_map(|(_, _, share)| share.get(k)).sum()).collect();
    // For each rater and category: mean weighted agreement with a random rating of another rater.
    let pairs = raters * (raters - 1.0);
    let meets: Vec<Vec<f64>> = shares
        .iter()
        .map(|(_, _, own)| {
            let others: Vec<f64> = all.iter().zip(own).map(|(all, own)| all - own).collect();
            against_margins(&others, weights).into_iter().map(|sum| sum / pairs).collect()
        })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let expected: Vec<f64> = shares.iter().zip(&meets).map(|((_, _, own), meets)| dot(own, meets)).collect();
    let pe: f64 = expected.iter().sum();
    join(&sums, pe, |at, _| {
        let Some(unit) = rated.get(at) else { return pe };
        let moved: f64 = shares
            .iter()
            .zip(&meets)
            .zip(&expected)
            .map(|(((rater, total, _), meets), expected)| {
                let code = unit.get(*rater).copied().unwrap_or(Panel::MISSING) as usize;
                meets.get(code).map_or(0.0, |value| (value - expected) * n / total)
            })
            .sum();
        pe + moved
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gwet's example of 4 raters and 12 units (R irrCAC, cac.raw4raters), with the figures of that package's vignette:
    /// the last unit has one rating, which counts in the margins of all but Krippendorff's alpha.
    #[test]
    fn gwet_2014_four_raters() {
        let units = ["11.1", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", ".555", "..11", "..3."];
        let codes =
            units.iter().flat_map(|unit| unit.chars().map(|c| c.to_digit(10).map_or(Panel::MISSING, |d| d - 1)));
        let panel = Panel::from_codes((1..=5).map(|i| i.to_string()).collect(), 4, codes.collect()).expect("codes");
        let (counts, identity) = (panel.counts(), Weights::identity(5));
        for (found, coef, se) in [
            (percent(&counts, &identity), 0.81818, 0.12561),
            (fleiss(&counts, &identity), 0.76117, 0.15302),
            (conger(&panel, &identity), 0.76282, 0.14917),
            (gwet(&counts, &identity), 0.77544, 0.14295),
            (brennan_prediger(&counts, &identity), 0.77273, 0.14472),
        ] {
            assert!((found.coef.expect("defined") - coef).abs() < 6e-6, "{found:?} {coef}");
            assert!((found.se.expect("defined") - se).abs() < 6e-6, "{found:?} {se}");
        }
        // Krippendorff 2011 has the same data; the standard errors that irrCAC 1.4 gives are tested elsewhere.
        assert!((krippendorff(&counts, &identity).coef.expect("defined") - 0.743).abs() < 5e-4);
    }

    #[test]
    fn gaps_and_single_categories_are_said() {
        let panel =
            |units: &[[u32; 2]]| Panel::from_codes(vec!["a".into(), "b".into()], 2, units.concat()).expect("codes");
        let (gap, identity) = (Panel::MISSING, Weights::identity(2));
        let alone = panel(&[[0, gap], [gap, 1]]);
        let one = panel(&[[0, 0], [0, 0]]);
        for coefficient in [percent, fleiss, gwet, brennan_prediger, krippendorff] {
            assert_eq!(coefficient(&alone.counts(), &identity).reason, Some(Undefined::TooFewRaters));
            assert_eq!(coefficient(&panel(&[]).counts(), &identity).reason, Some(Undefined::NoUnits));
            assert_eq!(coefficient(&panel(&[[gap, gap]]).counts(), &identity).reason, Some(Undefined::NoUnits));
        }
        for coefficient in [fleiss, krippendorff] {
            assert_eq!(coefficient(&one.counts(), &identity).reason, Some(Undefined::OneCategory));
        }
        assert_eq!(conger(&one, &identity).reason, Some(Undefined::OneCategory));
        assert_eq!(gwet(&one.counts(), &identity).reason, Some(Undefined::Degenerate));
        assert_eq!(conger(&alone, &identity).reason, Some(Undefined::TooFewRaters));
    }
}
