//! The true rate behind an imperfect test: (apparent rate + specificity − 1)/(sensitivity + specificity − 1).
//!
//! It needs a test that errs alike in the whole population that it is applied to, so it is made per cell and never with the
//! sensitivity of one model for another.

use serde::Serialize;

use super::Interval;
use super::difference::PairedPart;
use super::normal::z_of_level;
use super::stratified::wilson_real;
use super::weighted::{Part, group_share};

/// A sensitivity or a specificity with the number of cases that it rests on, all of equal weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Accuracy {
    /// The share.
    pub rate: f64,
    /// The cases behind it.
    pub cases: f64,
}

/// A sensitivity or a specificity with limits of its own, as a design gives them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LimitedAccuracy {
    /// The share.
    pub rate: f64,
    /// Its interval.
    pub ci95: [f64; 2],
}

impl LimitedAccuracy {
    /// The share of `right` among `of` over the strata, with the limits of the design; `None` where no sampled case is of the
    /// group.
    pub fn of_strata(
        parts: &[PairedPart],
        level: f64,
        right: fn(&PairedPart) -> u64,
        of: fn(&PairedPart) -> u64,
    ) -> Option<Self> {
        let parts: Vec<Part> = parts
            .iter()
            .map(|part| Part {
                population: part.population,
                answered: part.n(),
                applicable: of(part),
                k: right(part),
                unanswered: 0,
            })
            .collect();
        group_share(&parts, level).ok().map(|found| Self { rate: found.rate, ci95: found.ci95 })
    }
}

/// What the test says about the population.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Apparent {
    /// The share of positive cases.
    pub rate: f64,
    /// Cases that it was counted in; `None`: in all there are, so it has no error.
    pub cases: Option<f64>,
}

/// A corrected rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RoganGladen {
    /// The corrected rate, held within 0 to 1.
    pub rate: f64,
    /// Its interval.
    pub ci95: [f64; 2],
    /// As the formula gives it; outside 0 to 1 the error rates of the sample do not fit the population.
    pub unheld: f64,
    /// Sensitivity + specificity − 1.
    pub youden: f64,
    /// Its interval.
    pub youden_ci95: [f64; 2],
}

/// Why there is no corrected rate.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Uncorrected {
    /// No positive or no negative case was sampled.
    #[error("no sampled case has the label {label}, so {what} is not known")]
    NoCases {
        /// 1 or 0.
        label: u8,
        /// Sensitivity or specificity.
        what: &'static str,
    },
    /// No hit was sampled.
    #[error("no hit of the metric was sampled, so nothing is known about its hits")]
    NoHit,
    /// The metric may say nothing about the label.
    #[error(
        "the 95 % interval of sensitivity + specificity - 1 ({low:.2} to {high:.2}) meets 0: the metric may say nothing \
         about the label"
    )]
    Uninformative {
        /// Lower limit.
        low: f64,
        /// Upper limit.
        high: f64,
    },
    /// A level outside (0, 1).
    #[error("a confidence level lies between 0 and 1, got {level}")]
    Level {
        /// The level.
        level: f64,
    },
}

/// The corrected rate. Rogan & Gladen 1978, Am. J. Epidemiol. 107:71-76; interval: Lang & Reiczigel 2014, Prev. Vet. Med.
/// 113:13-22. Sensitivity + specificity − 1: Wilson limits squared and added (Newcombe 1998).
///
/// # Errors
/// No case behind one of the two, an interval of sensitivity + specificity − 1 that meets 0, a level outside (0, 1).
pub fn correct(
    apparent: Apparent,
    sensitivity: Accuracy,
    specificity: Accuracy,
    level: f64,
) -> Result<RoganGladen, Uncorrected> {
    let z = z_of_level(level).map_err(|_| Uncorrected::Level { level })?;
    for (accuracy, label, what) in [(sensitivity, 1, "sensitivity"), (specificity, 0, "specificity")] {
        if accuracy.cases <= 0.0 || !accuracy.cases.is_finite() {
            return Err(Uncorrected::NoCases { label, what });
        }
    }
    let youden = sensitivity.rate + specificity.rate - 1.0;
    let joined = youden_interval(sensitivity, specificity, z);
    if joined.low <= 0.0 {
        return Err(Uncorrected::Uninformative { low: joined.low, high: joined.high });
    }
    let unheld = (apparent.rate + specificity.rate - 1.0) / youden;
    let Some([low, high]) = lang_reiczigel(apparent, sensitivity, specificity, z) else {
        return Err(Uncorrected::Uninformative { low: joined.low, high: joined.high });
    };
    Ok(RoganGladen {
        rate: unheld.clamp(0.0, 1.0),
        ci95: [low.clamp(0.0, 1.0), high.clamp(0.0, 1.0)],
        unheld,
        youden,
        youden_ci95: joined.limits(),
    })
}

/// The corrected rate where sensitivity and specificity come from a sample that was drawn by strata, and the apparent rate is
/// counted over the whole frame.
///
/// Interval: each of the two error rates is set to its limits in turn, and the distances that the corrected rate moves are
/// squared and added (MOVER; Newcombe 2013, Confidence Intervals for Proportions and Related Measures of Effect Size, ch. 7).
/// A shortened sample (Kish's effective number of cases) in [`correct`] instead knows neither the finite population nor a
/// stratum without a case of the group.
///
/// # Errors
/// An interval of sensitivity + specificity − 1 that meets 0.
pub fn correct_by_limits(
    apparent: f64,
    sensitivity: LimitedAccuracy,
    specificity: LimitedAccuracy,
) -> Result<RoganGladen, Uncorrected> {
    let (se, sp) = (sensitivity.rate, specificity.rate);
    let youden = se + sp - 1.0;
    let joined = squared_and_added(youden, sensitivity, specificity);
    // Where the lower limit is above 0, either rate alone at its lower limit leaves the sum above 0 too.
    if joined.low <= 0.0 {
        return Err(Uncorrected::Uninformative { low: joined.low, high: joined.high });
    }
    let at = |se: f64, sp: f64| (apparent + sp - 1.0) / (se + sp - 1.0);
    let unheld = at(se, sp);
    let (mut below, mut above) = (0.0f64, 0.0f64);
    let moved = [sensitivity.ci95.map(|limit| at(limit, sp)), specificity.ci95.map(|limit| at(se, limit))];
    for [one, two] in moved {
        below = below.hypot((unheld - one.min(two)).max(0.0));
        above = above.hypot((one.max(two) - unheld).max(0.0));
    }
    Ok(RoganGladen {
        rate: unheld.clamp(0.0, 1.0),
        ci95: [(unheld - below).clamp(0.0, 1.0), (unheld + above).clamp(0.0, 1.0)],
        unheld,
        youden,
        youden_ci95: joined.limits(),
    })
}

fn youden_interval(sensitivity: Accuracy, specificity: Accuracy, z: f64) -> Interval {
    let limited = |accuracy: Accuracy| LimitedAccuracy {
        rate: accuracy.rate,
        ci95: wilson_real(accuracy.rate, accuracy.cases, z).limits(),
    };
    squared_and_added(sensitivity.rate + specificity.rate - 1.0, limited(sensitivity), limited(specificity))
}

fn squared_and_added(youden: f64, one: LimitedAccuracy, two: LimitedAccuracy) -> Interval {
    let down = |accuracy: LimitedAccuracy| (accuracy.rate - accuracy.ci95[0]).max(0.0);
    let up = |accuracy: LimitedAccuracy| (accuracy.ci95[1] - accuracy.rate).max(0.0);
    Interval::new(youden - down(one).hypot(down(two)), youden + up(one).hypot(up(two)))
}

/// One success and one failure are added to sensitivity and specificity, z²/2 of each to the apparent rate, and the middle
/// is moved. `None` where what was added leaves no information.
fn lang_reiczigel(apparent: Apparent, sensitivity: Accuracy, specificity: Accuracy, z: f64) -> Option<[f64; 2]> {
    let more =
        |accuracy: Accuracy| ((accuracy.rate * accuracy.cases + 1.0) / (accuracy.cases + 2.0), accuracy.cases + 2.0);
    let ((se, n_se), (sp, n_sp)) = (more(sensitivity), more(specificity));
    let (ap, of_apparent) = match apparent.cases {
        None => (apparent.rate, 0.0),
        Some(n) => {
            let ap = (apparent.rate * n + z * z / 2.0) / (n + z * z);
            (ap, ap * (1.0 - ap) / (n + z * z))
        }
    };
    let youden = se + sp - 1.0;
    if youden <= 0.0 {
        return None;
    }
    let rate = (ap + sp - 1.0) / youden;
    let (of_se, of_sp) = (se * (1.0 - se) / n_se, sp * (1.0 - sp) / n_sp);
    let moved = 2.0 * z * z * (rate * of_se - (1.0 - rate) * of_sp);
    let half = z * (of_apparent + rate * rate * of_se + (1.0 - rate).powi(2) * of_sp).max(0.0).sqrt() / youden;
    Some([rate + moved - half, rate + moved + half])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accuracy(k: u32, n: u32) -> Accuracy {
        Accuracy { rate: f64::from(k) / f64::from(n), cases: f64::from(n) }
    }

    /// The example of the package llm-judge-agreement: 75.9 % (67.3 to 84.1).
    #[test]
    fn llm_judge_agreement_example() {
        let apparent = Apparent { rate: 320.0 / 400.0, cases: Some(400.0) };
        let found = correct(apparent, accuracy(78, 80), accuracy(30, 40), 0.95).expect("informative");
        assert!((found.rate - 0.758_620_689_655_172).abs() < 1e-12);
        assert!((found.ci95[0] - 0.673).abs() < 5e-4 && (found.ci95[1] - 0.841).abs() < 5e-4, "{found:?}");
    }

    #[test]
    fn no_number_where_there_is_no_knowledge() {
        let all = Apparent { rate: 0.1, cases: None };
        let none = Accuracy { rate: 0.0, cases: 0.0 };
        assert_eq!(
            correct(all, none, accuracy(9, 9), 0.95),
            Err(Uncorrected::NoCases { label: 1, what: "sensitivity" })
        );
        assert!(matches!(correct(all, accuracy(1, 2), accuracy(5, 10), 0.95), Err(Uncorrected::Uninformative { .. })));
    }

    /// By hand: apparent 0.3, sensitivity 0.8 (0.6 to 0.9), specificity 0.9 (0.85 to 1): (0.3 − 0.1)/0.7 = 2/7. Sensitivity at
    /// its limits gives 0.2/0.5 = 0.4 and 0.2/0.8 = 0.25; specificity 0.15/0.65 and 0.3/0.8 = 0.375.
    #[test]
    fn limits_by_hand() {
        let found = correct_by_limits(
            0.3,
            LimitedAccuracy { rate: 0.8, ci95: [0.6, 0.9] },
            LimitedAccuracy { rate: 0.9, ci95: [0.85, 1.0] },
        )
        .expect("informative");
        let rate: f64 = 2.0 / 7.0;
        let (down, up) = ((rate - 0.25).hypot(rate - 0.15 / 0.65), (0.4f64 - rate).hypot(0.375 - rate));
        assert!((found.rate - rate).abs() < 1e-12 && (found.ci95[0] - (rate - down)).abs() < 1e-12, "{found:?}");
        assert!((found.ci95[1] - (rate + up)).abs() < 1e-12, "{found:?}");
        assert!((found.youden_ci95[0] - (0.7 - 0.2f64.hypot(0.05))).abs() < 1e-12, "{found:?}");
        let known = |rate| LimitedAccuracy { rate, ci95: [rate, rate] };
        let sure = correct_by_limits(0.3, known(0.9), known(0.8)).expect("known");
        assert!((sure.ci95[0] - 1.0 / 7.0).abs() < 1e-12 && (sure.ci95[1] - 1.0 / 7.0).abs() < 1e-12, "{sure:?}");
        let poor = LimitedAccuracy { rate: 0.6, ci95: [0.3, 0.8] };
        assert!(matches!(correct_by_limits(0.3, poor, poor), Err(Uncorrected::Uninformative { .. })));
    }

    /// A perfect test in many cases changes nothing; yes and no exchanged mirror the result.
    #[test]
    fn perfect_and_mirrored() {
        let found =
            correct(Apparent { rate: 0.3, cases: None }, accuracy(90, 90), accuracy(90, 90), 0.95).expect("sure");
        assert!((found.rate - 0.3).abs() < 1e-12 && found.ci95[0] < 0.3 && found.ci95[1] > 0.3);
        let back =
            correct(Apparent { rate: 0.7, cases: None }, accuracy(60, 90), accuracy(80, 90), 0.95).expect("sure");
        let there =
            correct(Apparent { rate: 0.3, cases: None }, accuracy(80, 90), accuracy(60, 90), 0.95).expect("sure");
        assert!((back.rate + there.rate - 1.0).abs() < 1e-12 && (back.ci95[0] + there.ci95[1] - 1.0).abs() < 1e-12);
    }
}
