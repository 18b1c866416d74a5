//! Size of models: how much a measure changes when a model's number of parameters doubles, within families and over all.
//!
//! Least squares on log₂ of the size. Within families each family has its own intercept (fixed effects), so what families
//! differ by does not count; over all there is one intercept, and size and family are mixed. The difference between the
//! two is the question whether a difference is mediated by family or by size.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The slope on log₂ size, in percentage points per doubling.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SizeSlope {
    /// Models with a size that count (within families: those whose family has another with a different size).
    pub models: usize,
    /// Percentage points per doubling; null with `reason`.
    pub per_doubling: Option<f64>,
    /// Its standard error.
    pub se: Option<f64>,
    /// 95 % interval from Student's t; null with `reason`.
    pub ci95: Option<[f64; 2]>,
    /// Why a field is null.
    pub reason: Option<String>,
}

/// Size and measure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SizeEffect {
    /// With an intercept for each family.
    pub within_families: SizeSlope,
    /// With one intercept: families are mixed in.
    pub overall: SizeSlope,
    /// Models with a value but no size.
    pub without_size: Vec<String>,
}

/// The slopes of families that hold (size in any unit, value in percent) pairs; sizes are positive.
#[must_use]
pub fn size_effect(families: &[Vec<(f64, f64)>], without_size: Vec<String>) -> SizeEffect {
    let all: Vec<(f64, f64)> = families.iter().flatten().copied().collect();
    SizeEffect { within_families: slope(families), overall: slope(&[all]), without_size }
}

/// Slope with an intercept for each group (the Frisch–Waugh theorem: the regression of group-centred values).
fn slope(groups: &[Vec<(f64, f64)>]) -> SizeSlope {
    let none = |models, reason: &str| SizeSlope { models, reason: Some(reason.to_owned()), ..SizeSlope::default() };
    let varied = |group: &&Vec<(f64, f64)>| group.iter().any(|(size, _)| Some(*size) != group.first().map(|one| one.0));
    let groups: Vec<&Vec<(f64, f64)>> = groups.iter().filter(varied).collect();
    let models: usize = groups.iter().map(|group| group.len()).sum();
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for group in &groups {
        let n = group.len() as f64;
        let x_mean = group.iter().map(|(size, _)| size.log2()).sum::<f64>() / n;
        let y_mean = group.iter().map(|(_, value)| value).sum::<f64>() / n;
        for (size, value) in *group {
            let (x, y) = (size.log2() - x_mean, value - y_mean);
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
    }
    if groups.is_empty() || xx <= 0.0 {
        return none(models, "no two models of different size to compare");
    }
    let found = xy / xx;
    let degrees = models as f64 - groups.len() as f64 - 1.0;
    let mut out = SizeSlope { models, per_doubling: Some(found), ..SizeSlope::default() };
    if degrees < 1.0 {
        out.reason = Some("too few models for an interval".to_owned());
        return out;
    }
    let se = ((yy - found * xy).max(0.0) / degrees / xx).sqrt();
    let quantile = StudentsT::new(0.0, 1.0, degrees).ok().map(|t| t.inverse_cdf(0.975));
    out.se = Some(se);
    out.ci95 = quantile.map(|t| [found - t * se, found + t * se]).filter(|limits| limits.iter().all(|l| l.is_finite()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// statsmodels 0.15.0, `OLS` of the value on log₂ size with dummies for the families a, b and c, and with a constant.
    #[test]
    fn slopes_as_in_statsmodels() {
        let families = [
            vec![(1.0, 10.0), (3.0, 18.0), (8.0, 25.0)],
            vec![(8.0, 60.0), (32.0, 61.0), (70.0, 72.0)],
            vec![(7.0, 40.0)],
        ];
        let found = size_effect(&families, Vec::new());
        let near = |slope: &SizeSlope, value: f64, se: f64, limits: [f64; 2]| {
            assert!((slope.per_doubling.expect("a slope") - value).abs() < 1e-9);
            assert!((slope.se.expect("an error") - se).abs() < 1e-9);
            let [low, high] = slope.ci95.expect("an interval");
            assert!((low - limits[0]).abs() < 1e-6 && (high - limits[1]).abs() < 1e-6, "{low} {high}");
        };
        // A family of one model has an intercept of its own and tells nothing about the slope.
        near(&found.within_families, 4.182_979_841_742_3, 1.100_721_721_957_204_7, [0.679_992_06, 7.685_967_62]);
        near(&found.overall, 10.600_609_642_474_899, 2.346_908_697_927_969_6, [4.567_688_77, 16.633_530_51]);
        assert_eq!((found.within_families.models, found.overall.models), (6, 7));
    }

    #[test]
    fn what_cannot_be_told_has_a_reason() {
        for families in [vec![], vec![vec![(8.0, 1.0), (8.0, 2.0)]], vec![vec![(8.0, 1.0)]]] {
            let found = size_effect(&families, Vec::new());
            assert!(found.within_families.per_doubling.is_none() && found.within_families.reason.is_some());
        }
        let two = size_effect(&[vec![(1.0, 10.0), (4.0, 20.0)]], Vec::new());
        assert_eq!(two.within_families.per_doubling, Some(5.0));
        assert!(two.within_families.ci95.is_none() && two.within_families.reason.is_some());
    }
}
