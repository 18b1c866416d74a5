//! A rated audit as one value: what the pure modules `agree`, `estimate` and `report` read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    BatchName, CaseIdentity, Category, LabelId, RaterKind, RaterName, Rating, RatingValue, StratumId, Transition,
    Verdict,
};

/// A third rater's ruling on a disagreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjudication {
    /// The ruling.
    pub value: RatingValue,
    /// Why.
    pub note: String,
}

/// A third rater's check of an agreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpotCheck {
    /// Did the adjudicator call the agreed value correct?
    pub correct: bool,
    /// The adjudicator's own value (the agreed one where `correct`).
    pub value: RatingValue,
    /// Why.
    pub note: String,
}

/// One audited case with everything said about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditCase {
    /// `run/case_id` or `published:<model>/<case_id>`.
    pub case: CaseIdentity,
    /// The audited model.
    pub model: String,
    /// The category.
    pub category: Category,
    /// The stratum that the case was drawn for.
    pub stratum: StratumId,
    /// The verdict's change between the paired runs.
    pub transition: Option<Transition>,
    /// The grader's verdict on the baseline.
    pub verdict: Option<Verdict>,
    /// The automatic metric, any turn, rule set `paper`; `None` where no run is joined.
    pub gar_hit: Option<bool>,
    /// Latest rating per rater and label.
    pub ratings: BTreeMap<RaterName, BTreeMap<LabelId, Rating>>,
    /// Rulings on disagreements.
    pub adjudications: BTreeMap<LabelId, Adjudication>,
    /// Spot checks of agreements; `None` where the case was not spot-checked.
    pub spot_checks: Option<BTreeMap<LabelId, SpotCheck>>,
}

impl AuditCase {
    /// A rater's value for a label; `None` where it is missing.
    #[must_use]
    pub fn value(&self, rater: &RaterName, label: &LabelId) -> Option<&RatingValue> {
        self.ratings.get(rater)?.get(label).map(|rating| &rating.value)
    }

    /// The value after adjudication: the ruling where the pair disagrees, else the shared value, unless a spot check
    /// called it wrong. `None` while a rating or a ruling is missing.
    #[must_use]
    pub fn final_value(&self, pair: (&RaterName, &RaterName), label: &LabelId) -> Option<&RatingValue> {
        let (first, second) = (self.value(pair.0, label)?, self.value(pair.1, label)?);
        if first != second {
            return self.adjudications.get(label).map(|ruling| &ruling.value);
        }
        match self.spot_checks.as_ref().and_then(|checks| checks.get(label)) {
            Some(check) if !check.correct => Some(&check.value),
            _ => Some(first),
        }
    }
}

/// A stratum of a batch and what was drawn from it. `N` is written `population` in code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditStratum {
    /// Short name.
    pub id: StratumId,
    /// Title for people.
    pub title: String,
    /// Cases owned in the frame (after exclusions); `None` for an audit whose frame is unknown.
    pub population: Option<u64>,
    /// Cases drawn.
    pub drawn: u64,
    /// Cases wanted.
    pub quota: Option<u64>,
}

/// An answer that a model was asked for and did not give in any usable form, after all attempts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NoVerdict {
    /// The case.
    pub case: CaseIdentity,
    /// The rater.
    pub rater: RaterName,
    /// The label.
    pub label: LabelId,
    /// A short stable reason, such as `refused` or `invalid_value`.
    pub reason: String,
}

/// A batch with its raters and cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Audit {
    /// The batch.
    pub batch: BatchName,
    /// Its strata in the plan's order.
    pub strata: Vec<AuditStratum>,
    /// All raters with their kinds, in the order of their registration.
    pub raters: Vec<(RaterName, RaterKind)>,
    /// The two raters whose agreement is reported.
    pub pair: Option<(RaterName, RaterName)>,
    /// The labels in the rubric's order.
    pub labels: Vec<LabelId>,
    /// The cases in the batch's order.
    pub cases: Vec<AuditCase>,
    /// Where a model rater gave no verdict, in order (case, rater, label).
    #[serde(default)]
    pub no_verdicts: Vec<NoVerdict>,
}

impl Audit {
    /// Was this rater asked in vain for this label of this case?
    #[must_use]
    pub fn is_without_verdict(&self, case: &CaseIdentity, rater: &RaterName, label: &LabelId) -> bool {
        self.no_verdicts.iter().any(|found| found.case == *case && found.rater == *rater && found.label == *label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(a: &str, b: &str) -> (AuditCase, RaterName, RaterName, LabelId) {
        let (ra, rb) = (RaterName::parse("a").expect("valid"), RaterName::parse("b").expect("valid"));
        let label = LabelId::parse("B1a").expect("valid");
        let rate = |rater: &RaterName, value: &str| {
            let rating = Rating {
                rater: rater.clone(),
                label: label.clone(),
                value: value.to_owned().into(),
                rationale: String::new(),
            };
            (rater.clone(), BTreeMap::from([(label.clone(), rating)]))
        };
        let case = AuditCase {
            case: CaseIdentity::parse("r/c").expect("valid"),
            model: "m".into(),
            category: Category::Base,
            stratum: StratumId::parse("A").expect("valid"),
            transition: None,
            verdict: None,
            gar_hit: None,
            ratings: BTreeMap::from([rate(&ra, a), rate(&rb, b)]),
            adjudications: BTreeMap::new(),
            spot_checks: None,
        };
        (case, ra, rb, label)
    }

    #[test]
    fn final_is_the_ruling_on_a_disagreement_and_the_shared_value_else() {
        let (mut audit, a, b, label) = case("1", "0");
        assert_eq!(audit.final_value((&a, &b), &label), None);
        audit.adjudications.insert(label.clone(), Adjudication { value: "0".to_owned().into(), note: String::new() });
        assert_eq!(audit.final_value((&a, &b), &label).map(RatingValue::as_str), Some("0"));

        let (mut audit, a, b, label) = case("1", "1");
        assert_eq!(audit.final_value((&a, &b), &label).map(RatingValue::as_str), Some("1"));
        let check = SpotCheck { correct: false, value: "0".to_owned().into(), note: String::new() };
        audit.spot_checks = Some(BTreeMap::from([(label.clone(), check)]));
        assert_eq!(audit.final_value((&a, &b), &label).map(RatingValue::as_str), Some("0"));
    }
}
