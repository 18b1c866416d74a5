//! What must hold between the answers of one case, and which answers follow from the others.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Applicability, Label, NaPolicy, Rubric, Rule, RuleKind, Severity, Term, applicability};
use crate::model::{Category, LabelId, RatingValue, Verdict};

/// What the rules may look at beside the answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaseFacts<'a> {
    /// The case's category.
    pub category: Category,
    /// The stratum for which it was drawn.
    pub stratum: &'a str,
    /// The grader's verdict on the baseline; `None`: unscored.
    pub verdict: Option<Verdict>,
}

/// Answers that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Which requirement is broken.
    pub kind: ViolationKind,
    /// The labels whose answers are in question.
    pub labels: Vec<LabelId>,
    /// What it does to the answers.
    pub severity: Severity,
    /// What does not fit.
    pub message: String,
    /// What the rater can do.
    pub hint: String,
}

/// The requirements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// The label does not apply to the case, but has another answer than *n.a.*
    MustBeNotApplicable,
    /// The label applies to the case, but is answered with *n.a.*
    MustApply,
    /// A rule of the rubric, by its id.
    Rule(String),
}

/// How a term stands, given the answers so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Truth {
    Holds,
    Fails,
    /// Its label is not answered yet.
    Open,
    /// Its label is answered with *n.a.*
    NotApplicable,
    /// Its label is answered with *cannot judge*, or the case is unscored.
    CannotTell,
}

fn truth(term: &Term, facts: &CaseFacts<'_>, answers: &BTreeMap<LabelId, RatingValue>) -> Truth {
    let holds = match term {
        Term::Label { label, is } => match answers.get(label) {
            None => return Truth::Open,
            Some(RatingValue::NotApplicable) => return Truth::NotApplicable,
            Some(RatingValue::CannotJudge) => return Truth::CannotTell,
            Some(RatingValue::Value(value)) => value == is,
        },
        Term::Verdict(verdict) => match facts.verdict {
            None => return Truth::CannotTell,
            Some(found) => found == *verdict,
        },
        Term::Category(category) => facts.category == *category,
    };
    if holds { Truth::Holds } else { Truth::Fails }
}

/// Checks the answers of one case; labels without an answer break nothing.
#[must_use]
pub fn check_case(rubric: &Rubric, facts: &CaseFacts<'_>, answers: &BTreeMap<LabelId, RatingValue>) -> Vec<Violation> {
    let mut found: Vec<Violation> =
        rubric.labels.iter().filter_map(|label| not_applicable(label, facts, answers.get(&label.id)?)).collect();
    found.extend(rubric.rules.iter().filter_map(|rule| broken(rubric, rule, facts, answers)));
    found
}

fn not_applicable(label: &Label, facts: &CaseFacts<'_>, answer: &RatingValue) -> Option<Violation> {
    let id = &label.id;
    let (kind, message, hint) = match (applicability(label, facts.category, facts.stratum), answer) {
        (Applicability::NotApplicable, answer) if *answer != RatingValue::NotApplicable => (
            ViolationKind::MustBeNotApplicable,
            format!("{id} is {answer}, but does not apply to a {} case of stratum {:?}", facts.category, facts.stratum),
            format!("answer {id} with n.a."),
        ),
        (Applicability::Applies, RatingValue::NotApplicable) => (
            ViolationKind::MustApply,
            format!("{id} is n.a., but applies to a {} case of stratum {:?}", facts.category, facts.stratum),
            format!("answer {id} with {}", super::value::allowed(label).join(" or ")),
        ),
        _ => return None,
    };
    Some(Violation { kind, labels: vec![id.clone()], severity: Severity::Error, message, hint })
}

fn broken(
    rubric: &Rubric,
    rule: &Rule,
    facts: &CaseFacts<'_>,
    answers: &BTreeMap<LabelId, RatingValue>,
) -> Option<Violation> {
    let violation = |labels: Vec<LabelId>, message: String, hint: String| {
        let kind = ViolationKind::Rule(rule.id.clone());
        Some(Violation { kind, labels, severity: rule.severity, message, hint })
    };
    match &rule.kind {
        RuleKind::Implies { given, then } => {
            if !given.iter().all(|term| truth(term, facts, answers) == Truth::Holds) {
                return None;
            }
            // An answer that is no value contradicts what follows as much as a wrong value does.
            let contradicted = |term: &&Term| match truth(term, facts, answers) {
                Truth::Holds | Truth::Open => false,
                Truth::Fails | Truth::NotApplicable => true,
                Truth::CannotTell => matches!(term, Term::Label { .. }),
            };
            let failed = then.iter().find(contradicted)?;
            let labels = labels_of(given.iter().chain([failed]));
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            let message = match failed {
                Term::Label { label, .. } => {
                    let answer = answers.get(label).map_or("open", RatingValue::as_str);
                    format!("{label} is {answer} although {}: {}", given.join(" and "), rule.because)
                }
                _ => format!("{failed} does not hold although {}: {}", given.join(" and "), rule.because),
            };
            violation(labels, message, format!("with {} there must be {failed}", given.join(" and ")))
        }
        RuleKind::Equals { label, one_when } => {
            let expected = derived_value(rubric, label, facts, answers)?;
            let answer = answers.get(label).filter(|answer| **answer != expected)?;
            let mut labels = labels_of(one_when.iter());
            labels.push(label.clone());
            let message = format!("{label} is {answer}, but must be {expected}: {}", rule.because);
            violation(labels, message, format!("set {label} to {expected}, or correct what it follows from"))
        }
    }
}

fn labels_of<'t>(terms: impl Iterator<Item = &'t Term>) -> Vec<LabelId> {
    let mut labels: Vec<LabelId> = Vec::new();
    for term in terms {
        if let Term::Label { label, .. } = term
            && !labels.contains(label)
        {
            labels.push(label.clone());
        }
    }
    labels
}

/// The answer that follows from category, stratum, verdict and the other answers; `None` where the label is the rater's
/// to answer, or where too little is answered yet.
///
/// For a label set by an equality: `0` if any term fails, whatever the others are; else nothing yet if a term is open;
/// else *n.a.* or *cannot judge* if a term is (as far as the label allows it); else `1`.
#[must_use]
pub fn derived_value(
    rubric: &Rubric,
    label: &LabelId,
    facts: &CaseFacts<'_>,
    answers: &BTreeMap<LabelId, RatingValue>,
) -> Option<RatingValue> {
    let label = rubric.label(label)?;
    if applicability(label, facts.category, facts.stratum) == Applicability::NotApplicable {
        return Some(RatingValue::NotApplicable);
    }
    let one_when = rubric.rules.iter().find_map(|rule| match &rule.kind {
        RuleKind::Equals { label: target, one_when } if *target == label.id => Some(one_when),
        _ => None,
    })?;
    let truths: Vec<Truth> = one_when.iter().map(|term| truth(term, facts, answers)).collect();
    if truths.contains(&Truth::Fails) {
        Some(RatingValue::Value("0".to_owned()))
    } else if truths.contains(&Truth::Open) {
        None
    } else if truths.contains(&Truth::NotApplicable) {
        (label.na != NaPolicy::Never).then_some(RatingValue::NotApplicable)
    } else if truths.contains(&Truth::CannotTell) {
        label.may_cannot_judge.then_some(RatingValue::CannotJudge)
    } else {
        Some(RatingValue::Value("1".to_owned()))
    }
}

impl std::fmt::Display for Term {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Label { label, is } => write!(f, "{label} = {is}"),
            Self::Verdict(verdict) => write!(f, "verdict = {verdict}"),
            Self::Category(category) => write!(f, "category = {category}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::bundled;

    fn answers(pairs: &[(&str, &str)]) -> BTreeMap<LabelId, RatingValue> {
        let parse = |(label, value): &(&str, &str)| {
            (LabelId::parse(label).expect("valid"), RatingValue::from((*value).to_owned()))
        };
        pairs.iter().map(parse).collect()
    }

    fn broken_ids(category: Category, stratum: &str, verdict: Option<Verdict>, pairs: &[(&str, &str)]) -> Vec<String> {
        let rubric = bundled("mechanism-v2").expect("bundled");
        let facts = CaseFacts { category, stratum, verdict };
        let found = check_case(&rubric, &facts, &answers(pairs));
        found
            .into_iter()
            .map(|violation| match violation.kind {
                ViolationKind::MustBeNotApplicable => format!("must be n.a.: {}", violation.labels[0]),
                ViolationKind::MustApply => format!("must apply: {}", violation.labels[0]),
                ViolationKind::Rule(id) => id,
            })
            .collect()
    }

    /// The consistency rules of the published rubric, one row each.
    #[test]
    fn published_consistency_rules() {
        use Category::{Base, MissFunc, MissParam};
        let (pass, fail) = (Some(Verdict::Pass), Some(Verdict::Fail));
        let none: [&str; 0] = [];
        assert_eq!(broken_ids(Base, "C", fail, &[("B1a", "1"), ("B1b", "1"), ("B5", "0")]), none);
        assert_eq!(broken_ids(Base, "C", fail, &[("B1a", "1"), ("B1b", "0")]), ["late-follows-gold"]);
        assert_eq!(broken_ids(Base, "C", fail, &[("B1a", "0"), ("B1b", "1")]), none);
        assert_eq!(broken_ids(MissParam, "F", pass, &[("B1a", "0"), ("B5", "1")]), none);
        assert_eq!(broken_ids(MissParam, "F", pass, &[("B1a", "0"), ("B5", "0")]), ["pass-without-gold-is-derived"]);
        assert_eq!(broken_ids(MissParam, "F", pass, &[("B1a", "1"), ("B5", "1")]), ["pass-without-gold-is-derived"]);
        assert_eq!(broken_ids(MissParam, "B", fail, &[("B1a", "0"), ("B5", "1")]), ["pass-without-gold-is-derived"]);
        assert_eq!(broken_ids(MissFunc, "A", fail, &[("B3", "n.a.")]), ["must apply: B3"]);
        assert_eq!(broken_ids(MissParam, "B", fail, &[("B3", "0")]), ["must be n.a.: B3"]);
        assert_eq!(broken_ids(MissParam, "B", fail, &[("B7", "unclassified")]), ["must be n.a.: B7"]);
        assert_eq!(broken_ids(MissParam, "D", fail, &[("B7", "n.a.")]), ["must apply: B7"]);
        assert_eq!(broken_ids(MissParam, "D", fail, &[("B6", "n.a.")]), none);
    }

    #[test]
    fn answers_that_are_no_value() {
        use Category::Base;
        let (pass, fail) = (Some(Verdict::Pass), Some(Verdict::Fail));
        let none: [&str; 0] = [];
        // B1b cannot be unknown where B1a is known to be 1.
        assert_eq!(broken_ids(Base, "C", fail, &[("B1a", "1"), ("B1b", "cannot_judge")]), ["late-follows-gold"]);
        assert_eq!(broken_ids(Base, "C", fail, &[("B1a", "cannot_judge"), ("B1b", "0")]), none);
        // A fail decides B5 alone; a pass does not.
        assert_eq!(broken_ids(Base, "C", fail, &[("B1a", "cannot_judge"), ("B5", "0")]), none);
        assert_eq!(broken_ids(Base, "D", pass, &[("B1a", "cannot_judge"), ("B5", "cannot_judge")]), none);
        assert_eq!(
            broken_ids(Base, "D", pass, &[("B1a", "cannot_judge"), ("B5", "1")]),
            ["pass-without-gold-is-derived"]
        );
        // Unscored: B1a = 1 decides alone.
        assert_eq!(broken_ids(Base, "C", None, &[("B1a", "1"), ("B5", "0")]), none);
        assert_eq!(broken_ids(Base, "C", None, &[("B1a", "0"), ("B5", "cannot_judge")]), none);
        assert_eq!(broken_ids(Base, "C", None, &[("B1a", "0"), ("B5", "0")]), ["pass-without-gold-is-derived"]);
        // Nothing is broken while B1a is open on a pass.
        assert_eq!(broken_ids(Base, "D", pass, &[("B5", "1")]), none);
        assert_eq!(broken_ids(Base, "D", fail, &[("B5", "1")]), ["pass-without-gold-is-derived"]);
    }
}
