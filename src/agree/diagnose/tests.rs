//! Findings on tables and audits whose trouble is known, and silence where there is none.

use std::collections::BTreeMap;

use super::super::Table;
use super::super::draws::Words;
use super::*;
use crate::model::{Adjudication, AuditCase, BatchName, CaseIdentity, Category, RaterKind, Rating, StratumId, Verdict};

fn findings(rows: &[&[u64]]) -> Vec<Finding> {
    table(&Table::numbered(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).expect("square"))
}

fn kinds(findings: &[Finding]) -> Vec<Kind> {
    findings.iter().map(|finding| finding.kind).collect()
}

/// Feinstein & Cicchetti 1990: 80/10/5/5 has agreement .85, kappa .32 and agreement on the rare category .40; 40/9/6/45
/// has the same agreement and kappa .70. Gwet 2008: 118/5/2/0 has agreement .944 and kappa −.023.
#[test]
fn feinstein_cicchetti_1990_and_gwet_2008_paradox() {
    let found = findings(&[&[80, 10], &[5, 5]]);
    assert_eq!(kinds(&found), [Kind::KappaParadox]);
    assert!((found[0].effect - 0.4).abs() < 1e-12);
    // Both used it in 5 of the 20 cases in which either did: Wilson gives .1119 to .4687, and 2x/(1 + x) of these.
    let [low, high] = found[0].interval.expect("used");
    assert!((low - 0.2238 / 1.1119).abs() < 1e-4 && (high - 0.9374 / 1.4687).abs() < 1e-4, "{low} {high}");
    assert!(findings(&[&[40, 9], &[6, 45]]).is_empty());
    let gwet = findings(&[&[118, 5], &[2, 0]]);
    assert_eq!(kinds(&gwet), [Kind::KappaParadox]);
    assert!(gwet[0].effect == 0.0 && gwet[0].text.contains("-0.02"), "{}", gwet[0].text);
}

#[test]
fn undefined_and_degenerate_tables_are_explained() {
    assert_eq!(kinds(&findings(&[&[10]])), [Kind::OneCategory]);
    assert_eq!(kinds(&findings(&[&[10, 0], &[0, 0]])), [Kind::OneCategory]);
    assert_eq!(kinds(&findings(&[&[7, 0], &[0, 3]])), [Kind::PerfectAgreement]);
    assert_eq!(kinds(&findings(&[&[9, 1], &[0, 0]]))[0], Kind::ConstantRater);
    assert!(findings(&[&[0, 0], &[0, 0]]).is_empty() && findings(&[]).is_empty());
}

#[test]
fn the_confused_pair_is_named_with_its_directions() {
    // 1 and 2 make 22 of 30 disagreements; three pairs share what is left.
    let found = findings(&[&[30, 18, 2], &[4, 30, 2], &[2, 2, 30]]);
    let confused = found.iter().find(|finding| finding.kind == Kind::ConfusedPair).expect("found");
    assert!((confused.effect - 22.0 / 30.0).abs() < 1e-12);
    assert!(confused.text.contains("in 18 cases") && confused.text.contains("in 4."), "{}", confused.text);
    // Evenly spread disagreements name nobody.
    assert!(findings(&[&[30, 5, 5], &[5, 30, 5], &[5, 5, 30]]).is_empty());
    // Two categories have one pair.
    assert!(findings(&[&[30, 9], &[9, 30]]).is_empty());
}

#[test]
fn bias_is_found_where_the_discordant_cases_lean() {
    let found = findings(&[&[40, 26], &[4, 30]]);
    assert_eq!(kinds(&found), [Kind::RaterBias]);
    assert!((found[0].effect - 26.0 / 30.0).abs() < 1e-12);
    assert!(found[0].text.starts_with("the first rater says \"1\""), "{}", found[0].text);
    assert!(findings(&[&[40, 16], &[14, 30]]).is_empty());
}

fn name(text: &str) -> RaterName {
    RaterName::parse(text).expect("a name")
}

fn label_id(text: &str) -> LabelId {
    LabelId::parse(text).expect("a label")
}

/// A case with values per rater: `(rater, label, value)`.
fn case(number: usize, stratum: &str, verdict: Verdict, values: &[(&str, &str, &str)]) -> AuditCase {
    let mut ratings: BTreeMap<RaterName, BTreeMap<LabelId, Rating>> = BTreeMap::new();
    for (rater, label, value) in values {
        let rating = Rating {
            rater: name(rater),
            label: label_id(label),
            value: (*value).to_owned().into(),
            rationale: String::new(),
        };
        ratings.entry(name(rater)).or_default().insert(label_id(label), rating);
    }
    AuditCase {
        case: CaseIdentity::parse(&format!("run/multi_turn_base_{number}")).expect("an identity"),
        model: "model".to_owned(),
        category: Category::Base,
        stratum: StratumId::parse(stratum).expect("a stratum"),
        transition: None,
        verdict: Some(verdict),
        gar_hit: None,
        ratings,
        adjudications: BTreeMap::new(),
        spot_checks: None,
    }
}

fn an_audit(labels: &[&str], cases: Vec<AuditCase>) -> Audit {
    Audit {
        batch: BatchName::parse("batch").expect("a name"),
        strata: Vec::new(),
        raters: vec![
            (name("a"), RaterKind::Human),
            (name("b"), RaterKind::Human),
            (name("rule"), RaterKind::Mechanical),
        ],
        pair: Some((name("a"), name("b"))),
        labels: labels.iter().map(|label| label_id(label)).collect(),
        cases,
        no_verdicts: Vec::new(),
    }
}

fn of_audit(found: &Audit) -> Vec<Finding> {
    audit(found, (&name("a"), &name("b")), NaPolicy::Drop).expect("small")
}

#[test]
fn a_stratum_that_drives_disagreement_is_named() {
    // Stratum A: 8 of 20 apart; B: 2 of 80.
    let apart = |number: usize| if number < 20 { number < 8 } else { number >= 98 };
    let cases = (0..100)
        .map(|number| {
            let a = if number % 2 == 0 { "1" } else { "0" };
            let b = if apart(number) == (a == "1") { "0" } else { "1" };
            case(number, if number < 20 { "A" } else { "B" }, Verdict::Fail, &[("a", "L", a), ("b", "L", b)])
        })
        .collect();
    let found = of_audit(&an_audit(&["L"], cases));
    let finding = found.iter().find(|finding| finding.kind == Kind::Concentrated).expect("found");
    assert!((finding.effect - (0.4 - 0.025)).abs() < 1e-12, "{finding:?}");
    assert!(finding.text.contains("The stratum \"A\" has 20 of 100 cases"), "{}", finding.text);
}

/// Disagreements that fall at random: a grouping names a group in at most about 5 % of audits.
#[test]
fn random_disagreement_is_rarely_called_concentrated() {
    const AUDITS: u64 = 300;
    let (label, strata) = (label_id("L"), ["A", "B", "C", "D", "E", "F", "G"]);
    let mut named = 0;
    for seed in 0..AUDITS {
        let mut words = Words::new(seed, 0);
        let cases = (0..200)
            .map(|number| {
                let b = if words.uniform() < 0.15 { "0" } else { "1" };
                case(number, strata[number % 7], Verdict::Fail, &[("a", "L", "1"), ("b", "L", b)])
            })
            .collect();
        let audit = an_audit(&["L"], cases);
        let pairs = pairs::of(&audit, (&name("a"), &name("b")), &label, NaPolicy::Drop);
        named += u64::from(!by_group(&pairs, &label).is_empty());
    }
    // 5 % of 300 is 15, and four standard deviations more is 30.
    assert!(named <= 30, "{named} of {AUDITS}");
}

#[test]
fn a_rater_who_applies_the_rule_is_named() {
    let cases = |exception: bool| -> Vec<AuditCase> {
        (0..60)
            .map(|number| {
                let rule = if number % 3 == 0 { "1" } else { "0" };
                let a = if exception && number == 30 { "0" } else { rule };
                let b = if number % 7 == 0 { "1" } else { rule };
                case(number, "A", Verdict::Fail, &[("a", "L", a), ("b", "L", b), ("rule", "L", rule)])
            })
            .collect()
    };
    let found = of_audit(&an_audit(&["L"], cases(false)));
    let rule: Vec<&Finding> = found.iter().filter(|finding| finding.kind == Kind::RuleFollowingRater).collect();
    assert_eq!(rule.len(), 1);
    assert!(rule[0].text.starts_with("a gave the value of the mechanical rater rule on all 60 cases"));
    let found = of_audit(&an_audit(&["L"], cases(true)));
    assert!(!kinds(&found).contains(&Kind::RuleFollowingRater));
}

#[test]
fn a_label_that_follows_from_others_is_named_and_one_exception_clears_it() {
    let cases = |exception: bool| -> Vec<AuditCase> {
        (0..80)
            .map(|number| {
                let verdict = if number % 2 == 0 { Verdict::Pass } else { Verdict::Fail };
                let (a, b) = (if number % 4 < 2 { "1" } else { "0" }, if number % 5 < 2 { "1" } else { "0" });
                let derived = |own: &str| if verdict == Verdict::Pass && own == "0" { "1" } else { "0" };
                let second = if exception && number == 0 { "1" } else { derived(b) };
                case(
                    number,
                    "A",
                    verdict,
                    &[("a", "B1a", a), ("b", "B1a", b), ("a", "B5", derived(a)), ("b", "B5", second)],
                )
            })
            .collect()
    };
    let found = of_audit(&an_audit(&["B1a", "B5"], cases(false)));
    let derived: Vec<_> = found.iter().filter(|finding| finding.kind == Kind::DerivedLabel).collect();
    assert_eq!(derived.len(), 1);
    assert_eq!(derived[0].label.as_deref(), Some("B5"));
    assert!(derived[0].text.starts_with("B5 follows from the grader's verdict and B1a"), "{}", derived[0].text);
    assert!(!kinds(&of_audit(&an_audit(&["B1a", "B5"], cases(true)))).contains(&Kind::DerivedLabel));
}

#[test]
fn an_adjudicator_with_a_side_is_named() {
    let cases = |for_a: usize| -> Vec<AuditCase> {
        (0..40)
            .map(|number| {
                let mut found = case(number, "A", Verdict::Fail, &[("a", "L", "1"), ("b", "L", "0")]);
                let value = if number < for_a { "1" } else { "0" }.to_owned().into();
                found.adjudications.insert(label_id("L"), Adjudication { value, note: String::new() });
                found
            })
            .collect()
    };
    let found = of_audit(&an_audit(&["L"], cases(33)));
    let sided: Vec<_> = found.iter().filter(|finding| finding.kind == Kind::OneSidedAdjudicator).collect();
    assert_eq!(sided.iter().map(|finding| finding.label.as_deref()).collect::<Vec<_>>(), [Some("L"), None]);
    assert!((sided[0].effect - 33.0 / 40.0).abs() < 1e-12);
    assert!(!kinds(&of_audit(&an_audit(&["L"], cases(22)))).contains(&Kind::OneSidedAdjudicator));
}
