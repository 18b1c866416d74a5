//! Simulated raters: they know the truth and err at known rates; and an adjudicator who rules by the truth.
//!
//! Whether a rater errs depends on the rater's seed, the case and the label only: not on the order of the work, nor on
//! which other cases were drawn.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::truth::DemoCase;
use crate::digest::Canonical;
use crate::model::{Adjudication, IdError, LabelId, RaterName, Rating, RatingValue, Verdict};

/// The classes of B7 in the rubric's order.
const MODES: [&str; 4] = ["state_inject_misuse", "history_edit_artifact", "recon_prompt_overfit", "unclassified"];

/// How often a rater errs, per label, as shares in 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// B1a: chance of the wrong value.
    pub b1a: f64,
    /// B1b: chance of the wrong value, before the rule that B1a = 1 makes it 1.
    pub b1b: f64,
    /// B3, where it applies.
    pub b3: f64,
    /// B4.
    pub b4: f64,
    /// B6, where the rater gives a value.
    pub b6: f64,
    /// B6: chance to take *n.a.* for a value (then 1), or a value for *n.a.*
    pub b6_applies: f64,
    /// B7: chance of one of the three wrong classes, each as likely.
    pub b7: f64,
}

/// A rater with known error rates. B5 has none of its own: it follows from the rater's B1a and the verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedRater {
    /// The name.
    pub name: RaterName,
    /// The error rates.
    pub rates: Rates,
    /// Sets which cases the errors fall on.
    pub seed: u64,
}

impl SimulatedRater {
    /// The demo's two raters. Their errors are drawn apart from each other; the seeds are two with which they never make
    /// the same error in B1a, B1b, B3, B4 or B5 on a case of the three baselines. So finals of these labels are true
    /// after the disagreements are ruled on, without a spot check, whatever sample is drawn.
    ///
    /// # Errors
    /// Never with these names.
    pub fn pair() -> Result<[Self; 2], IdError> {
        let careful = Rates { b1a: 0.04, b1b: 0.06, b3: 0.02, b4: 0.05, b6: 0.12, b6_applies: 0.05, b7: 0.6 };
        let hasty = Rates { b1a: 0.06, b1b: 0.08, b3: 0.03, b4: 0.06, b6: 0.2, b6_applies: 0.08, b7: 0.7 };
        Ok([
            Self { name: RaterName::parse("sim-careful")?, rates: careful, seed: 55 },
            Self { name: RaterName::parse("sim-hasty")?, rates: hasty, seed: 9 },
        ])
    }

    /// The rater's answers on a case: every label of the truth, with rules between labels kept (B1a = 1 makes B1b 1; B5 is
    /// pass and B1a = 0).
    #[must_use]
    pub fn answers(&self, case: &DemoCase) -> BTreeMap<LabelId, Rating> {
        let mut values: BTreeMap<&LabelId, RatingValue> =
            case.labels.iter().map(|(label, truth)| (label, self.answer(case, label, truth))).collect();
        let gold = values.iter().find(|(label, _)| label.as_str() == "B1a").map(|(_, value)| value.clone());
        for (label, value) in &mut values {
            match (label.as_str(), &gold) {
                ("B1b", Some(gold)) if gold.is_one() => *value = gold.clone(),
                ("B5", Some(gold)) => *value = binary(case.verdict == Verdict::Pass && !gold.is_one()),
                _ => {}
            }
        }
        let rating = |(label, value): (&LabelId, RatingValue)| {
            let rationale = rationale(label.as_str(), &value).to_owned();
            (label.clone(), Rating { rater: self.name.clone(), label: label.clone(), value, rationale })
        };
        values.into_iter().map(rating).collect()
    }

    /// One answer, before the rules between labels.
    fn answer(&self, case: &DemoCase, label: &LabelId, truth: &RatingValue) -> RatingValue {
        let mut random = self.random(case, label);
        let (slip, applies, pick): (f64, f64, u32) = (random.random(), random.random(), random.random());
        let rates = &self.rates;
        let rate = match label.as_str() {
            "B1a" => rates.b1a,
            "B1b" => rates.b1b,
            "B3" => rates.b3,
            "B4" => rates.b4,
            "B6" => rates.b6,
            "B7" => rates.b7,
            _ => 0.0,
        };
        let Some(value) = truth.value() else {
            let takes_a_value = label.as_str() == "B6" && applies < rates.b6_applies;
            return if takes_a_value { binary(true) } else { truth.clone() };
        };
        if label.as_str() == "B6" && applies < rates.b6_applies {
            return RatingValue::NotApplicable;
        }
        if slip >= rate {
            return truth.clone();
        }
        if label.as_str() == "B7" {
            let others = MODES.iter().filter(|mode| **mode != value);
            let wrong = others.cycle().nth(pick as usize % 3).copied().unwrap_or(value);
            return RatingValue::Value(wrong.to_owned());
        }
        binary(value != "1")
    }

    /// The random numbers for one answer: ChaCha8, seeded by SHA-256 of seed, case and label.
    fn random(&self, case: &DemoCase, label: &LabelId) -> ChaCha8Rng {
        let digest =
            Canonical::new("simulated").number(self.seed).text(case.case.as_str()).text(label.as_str()).finish();
        let mut seed = [0_u8; 32];
        for (byte, pair) in seed.iter_mut().zip(digest.as_bytes().chunks(2)) {
            let hex = std::str::from_utf8(pair).unwrap_or_default();
            *byte = u8::from_str_radix(hex, 16).unwrap_or_default();
        }
        ChaCha8Rng::from_seed(seed)
    }
}

/// The demo's adjudicator: rules by the truth.
///
/// `None` where the truth has no such label.
#[must_use]
pub fn adjudicate(case: &DemoCase, label: &LabelId) -> Option<Adjudication> {
    let value = case.labels.get(label)?.clone();
    let note = format!("Simulated ruling. {}", rationale(label.as_str(), &value));
    Some(Adjudication { value, note })
}

fn binary(one: bool) -> RatingValue {
    RatingValue::Value(if one { "1" } else { "0" }.to_owned())
}

fn rationale(label: &str, value: &RatingValue) -> &'static str {
    match (label, value.value()) {
        (_, None) => "The label does not apply to this case.",
        ("B1a", Some("1")) => "The gold turn has the action that the category asks for.",
        ("B1a", _) => "The gold turn has another action.",
        ("B1b", Some("1")) => "A turn from the gold turn on has the action that the category asks for.",
        ("B1b", _) => "No turn from the gold turn on has the action that the category asks for.",
        ("B3", Some("1")) => "A held-out tool is called after its return.",
        ("B3", _) => "No held-out tool is called after its return.",
        ("B4", Some("1")) => "A question for something needed comes up to the gold turn.",
        ("B4", _) => "No question for something needed comes up to the gold turn.",
        ("B5", Some("1")) => "The grader passed it, and the gold turn has another action.",
        ("B5", _) => "The grader failed it, or the gold turn has the gold action.",
        ("B6", Some("1")) => "The last reply agrees with what was done.",
        ("B6", _) => "The last reply claims what was not done.",
        ("B7", Some("state_inject_misuse")) => "Under the probe the model takes a step for done.",
        ("B7", Some("history_edit_artifact")) => "Under the probe the model asks again for what was said.",
        ("B7", Some("recon_prompt_overfit")) => "Under the probe the model makes a call that nobody wants.",
        _ => "Nothing shows which part of the probe made the difference.",
    }
}
