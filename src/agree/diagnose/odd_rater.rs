//! Among three and more raters: the one who stands apart.

use super::super::Panel;
use super::{Finding, Kind, z_among};

/// Units needed before a rater is said to stand apart.
const ENOUGH: usize = 10;

/// How much less than the others a rater agrees: per unit the share of the others who gave the rater's value, less the
/// share of agreeing pairs among the others; the mean over the units and its large-sample standard error.
struct Distance {
    rater: usize,
    units: usize,
    mean: f64,
    se: f64,
}

/// The rater who agrees with the others less than these agree among themselves, where the interval of that difference
/// (at the level of as many intervals as there are raters) lies below zero; the surest one where there are several.
///
/// Units count that the rater and at least two others rated. `names` are the raters in the panel's order.
#[must_use]
pub fn odd_rater(panel: &Panel, names: &[String]) -> Option<Finding> {
    if panel.raters() < 3 {
        return None;
    }
    let z = z_among(panel.raters());
    let upper = |found: &Distance| found.mean + z * found.se;
    let found = (0..panel.raters())
        .filter_map(|rater| distance(panel, rater))
        .filter(|found| found.units >= ENOUGH && upper(found) < 0.0)
        .reduce(|best, next| if upper(&next) < upper(&best) { next } else { best })?;
    let name = names.get(found.rater)?;
    let points = |share: f64| format!("{:.0}", 100.0 * share.abs());
    let text = format!(
        "{name} stands apart: over {} items the others agree with {name} less often than among themselves, by {} \
         percentage points ({} to {}). Compare {name}'s answers with the others' before a coefficient over all raters is \
         reported, and give it without {name} beside it.",
        found.units,
        points(found.mean),
        points(upper(&found)),
        points((found.mean - z * found.se).max(-1.0)),
    );
    Some(Finding {
        kind: Kind::OddRater,
        label: None,
        text,
        measure: "agreement with this rater less agreement among the others",
        effect: found.mean,
        interval: Some([(found.mean - z * found.se).max(-1.0), upper(&found)]),
    })
}

fn distance(panel: &Panel, rater: usize) -> Option<Distance> {
    let (mut units, mut sum, mut squares) = (0usize, 0.0, 0.0);
    for unit in panel.units() {
        let Some(difference) = difference(unit, rater) else { continue };
        units += 1;
        sum += difference;
        squares += difference * difference;
    }
    if units < 2 {
        return None;
    }
    let n = units as f64;
    let mean = sum / n;
    let variance = ((squares - n * mean * mean) / (n - 1.0)).max(0.0);
    Some(Distance { rater, units, mean, se: (variance / n).sqrt() })
}

/// One unit's difference; `None` where the rater or all but one of the others are missing.
fn difference(unit: &[u32], rater: usize) -> Option<f64> {
    let own = *unit.get(rater).filter(|code| **code != Panel::MISSING)?;
    let others = || {
        let present = |&(at, code): &(usize, &u32)| at != rater && *code != Panel::MISSING;
        unit.iter().enumerate().filter(present).map(|(_, code)| *code)
    };
    let count = others().count();
    if count < 2 {
        return None;
    }
    let with = others().filter(|code| *code == own).count() as f64 / count as f64;
    let agreeing: usize =
        others().enumerate().map(|(at, code)| others().skip(at + 1).filter(|other| *other == code).count()).sum();
    Some(with - agreeing as f64 / (count * (count - 1) / 2) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        ["a", "b", "c", "d"].map(str::to_owned).into()
    }

    fn panel(rows: &[[&str; 4]]) -> Panel {
        let rows: Vec<Vec<Option<&str>>> =
            rows.iter().map(|row| row.iter().map(|v| (!v.is_empty()).then_some(*v)).collect()).collect();
        Panel::from_labels(&rows, None).expect("a panel")
    }

    /// Counted by hand: d differs from three others who agree in 8 of 20 units, so its difference is −1 in 8 units and 0 in
    /// 12: mean −0.4, variance (8 − 20·0.16)/19, z for four raters 2.4977 (the 99.375 % quantile of the normal).
    #[test]
    fn a_rater_apart_by_hand() {
        let mut rows = vec![["x", "x", "x", "y"]; 8];
        rows.extend([["x", "x", "x", "x"]; 6]);
        rows.extend([["y", "y", "y", "y"]; 6]);
        let found = odd_rater(&panel(&rows), &names()).expect("d stands apart");
        assert!((found.effect + 0.4).abs() < 1e-12);
        let se = (0.252_631_578_947_368_4_f64 / 20.0).sqrt();
        let [low, high] = found.interval.expect("an interval");
        assert!((high - (-0.4 + 2.497_7 * se)).abs() < 1e-4, "{high}");
        assert!((low - (-0.4 - 2.497_7 * se)).abs() < 1e-4, "{low}");
        assert!(found.text.starts_with("d stands apart: over 20 items"), "{}", found.text);
    }

    #[test]
    fn nobody_is_accused_without_evidence() {
        // Each rater differs as often as any other.
        let turn = [["y", "x", "x", "x"], ["x", "y", "x", "x"], ["x", "x", "y", "x"], ["x", "x", "x", "y"]];
        assert!(odd_rater(&panel(&turn.repeat(10)), &names()).is_none());
        // Full agreement; too few units; two raters to each unit.
        assert!(odd_rater(&panel(&[["x", "x", "x", "x"]; 30]), &names()).is_none());
        assert!(odd_rater(&panel(&[["x", "x", "x", "y"]; 9]), &names()).is_none());
        assert!(odd_rater(&panel(&[["x", "y", "", ""]; 30]), &names()).is_none());
    }
}
