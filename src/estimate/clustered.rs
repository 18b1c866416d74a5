//! Shares and means over clustered units: writes of one simulation, trials of one task. Units of a cluster are alike, so
//! the interval is built on clusters.
//!
//! The point estimate is the ratio of totals; its variance is the linearised one of a ratio over clusters drawn with
//! replacement (Cochran 1977, 6.3; Kish 1965). A share gets Wilson's interval at the effective size n/deff with the t
//! quantile of (clusters − 1) degrees of freedom (Korn and Graubard 1998 do the same for the exact interval); a mean gets
//! the t interval.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::Interval;

/// One cluster: the sum of its values and how many there are.
pub type Cluster = (f64, u64);

/// A share or mean over clusters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clustered {
    /// The ratio of totals.
    pub estimate: f64,
    /// Its standard error; `None` with one cluster.
    pub se: Option<f64>,
    /// Clusters with at least one unit.
    pub clusters: u64,
    /// Units.
    pub units: u64,
    /// Its interval; `None` with one cluster.
    pub interval: Option<Interval>,
}

/// A share: the values of the clusters are counts of hits. `None`: no units.
#[must_use]
pub fn share(clusters: &[Cluster], level: f64) -> Option<Clustered> {
    let mut found = estimate(clusters)?;
    let n = found.units as f64;
    let p = found.estimate;
    let (Some(se), Some(t)) = (found.se, t_quantile(found.clusters, level)) else { return Some(found) };
    // All hits or none: nothing is known of the likeness inside clusters, so each counts as one unit.
    let simple = p * (1.0 - p) / n;
    let effective = if simple > 0.0 { n / (se * se / simple).max(1.0) } else { found.clusters as f64 };
    let (t2, centre) = (t * t, p + t * t / (2.0 * effective));
    let half = t * (p * (1.0 - p) / effective + t2 / (4.0 * effective * effective)).sqrt();
    let scale = 1.0 + t2 / effective;
    found.interval = Some(Interval::new(((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0)));
    Some(found)
}

/// A mean of values between −1 and 1, such as differences of two answers. `None`: no units.
#[must_use]
pub fn mean(clusters: &[Cluster], level: f64) -> Option<Clustered> {
    let mut found = estimate(clusters)?;
    if let (Some(se), Some(t)) = (found.se, t_quantile(found.clusters, level)) {
        let limits = (found.estimate - t * se, found.estimate + t * se);
        found.interval = Some(Interval::new(limits.0.max(-1.0), limits.1.min(1.0)));
    }
    Some(found)
}

fn estimate(clusters: &[Cluster]) -> Option<Clustered> {
    let used: Vec<Cluster> = clusters.iter().copied().filter(|(_, n)| *n > 0).collect();
    let units: u64 = used.iter().map(|(_, n)| n).sum();
    if units == 0 {
        return None;
    }
    let (n, k) = (units as f64, used.len() as f64);
    let estimate = used.iter().map(|(sum, _)| sum).sum::<f64>() / n;
    let squares: f64 = used.iter().map(|(sum, size)| (sum - estimate * *size as f64).powi(2)).sum();
    let se = (used.len() > 1).then(|| (k / (k - 1.0) * squares).sqrt() / n);
    Some(Clustered { estimate, se, clusters: used.len() as u64, units, interval: None })
}

fn t_quantile(clusters: u64, level: f64) -> Option<f64> {
    let freedom = clusters.checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(t.inverse_cdf(0.5 + level / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-6
    }

    /// Clusters of one unit are a simple sample: the standard error is that of the sample variance, √(p(1−p)/(n−1)).
    #[test]
    fn single_units_give_the_textbook_error() {
        let clusters: Vec<Cluster> = (0..20).map(|i| (f64::from(u8::from(i < 6)), 1)).collect();
        let found = share(&clusters, 0.95).expect("units");
        assert!(close(found.estimate, 0.3) && close(found.se.expect("se"), (0.3_f64 * 0.7 / 19.0).sqrt()));
        // The mean's interval with t(19) = 2.0930240544 of the tables.
        let limits = mean(&clusters, 0.95).expect("units").interval.expect("interval").limits();
        assert!(
            close(limits[0], 0.3 - 2.093_024_054_4 * 0.105_131_497)
                && close(limits[1], 0.3 + 2.093_024_054_4 * 0.105_131_497)
        );
    }

    /// Clusters of ten equal units each: the information is that of the clusters, not of the units.
    #[test]
    fn equal_units_in_a_cluster_count_once() {
        let ones: Vec<Cluster> = (0..20).map(|i| (f64::from(u8::from(i < 6)), 1)).collect();
        let tens: Vec<Cluster> = ones.iter().map(|(sum, _)| (sum * 10.0, 10)).collect();
        let (one, ten) = (share(&ones, 0.95).expect("units"), share(&tens, 0.95).expect("units"));
        assert!(close(one.se.expect("se"), ten.se.expect("se")));
        assert_eq!((ten.units, ten.clusters), (200, 20));
        let (one, ten) = (one.interval.expect("interval"), ten.interval.expect("interval"));
        assert!(close(one.limits()[0], ten.limits()[0]) && close(one.limits()[1], ten.limits()[1]));
    }

    /// By hand: totals 1 of 2, 0 of 1, 3 of 3: p = 4/6; residuals 1 − 4/3, −2/3, 1; squares 1/9 + 4/9 + 1 = 14/9;
    /// se = √(3/2 · 14/9)/6 = √(7/3)/6.
    #[test]
    fn unequal_clusters_by_hand() {
        let found = share(&[(1.0, 2), (0.0, 1), (3.0, 3)], 0.95).expect("units");
        assert!(close(found.estimate, 2.0 / 3.0) && close(found.se.expect("se"), (7.0_f64 / 3.0).sqrt() / 6.0));
    }

    #[test]
    fn one_cluster_has_no_interval_and_none_no_estimate() {
        assert_eq!(share(&[(1.0, 2)], 0.95).expect("units").interval, None);
        assert_eq!(share(&[(0.0, 0)], 0.95), None);
        // All hits: Wilson's interval at as many units as there are clusters, so the upper limit is 1.
        let all = share(&[(5.0, 5), (5.0, 5), (5.0, 5)], 0.95).expect("units").interval.expect("interval");
        assert!(all.limits()[0] < 0.5 && close(all.limits()[1], 1.0));
    }
}
