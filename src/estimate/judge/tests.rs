use std::collections::BTreeMap;

use super::*;
use crate::agree::bootstrap::Plan;
use crate::model::{
    Adjudication, AuditCase, AuditStratum, BatchName, CaseIdentity, Category, RaterKind, Rating, StratumId,
};

fn name(text: &str) -> RaterName {
    RaterName::parse(text).expect("valid")
}

fn label() -> LabelId {
    LabelId::parse("B1a").expect("valid")
}

fn stratum(text: &str) -> StratumId {
    StratumId::parse(text).expect("valid")
}

/// Rows of (stratum, judge, anna, ben, how often); an empty value is missing.
fn audit(rows: &[(&str, &str, &str, &str, usize)]) -> Audit {
    let mut cases = Vec::new();
    let mut strata: Vec<AuditStratum> = Vec::new();
    for (id, judge, anna, ben, times) in rows {
        if !strata.iter().any(|known| known.id.as_str() == *id) {
            let id = stratum(id);
            strata.push(AuditStratum { id, title: String::new(), population: None, drawn: 0, quota: None });
        }
        for _ in 0..*times {
            let mut ratings = BTreeMap::new();
            for (rater, value) in [("judge", judge), ("anna", anna), ("ben", ben)] {
                if !value.is_empty() {
                    let rating = Rating {
                        rater: name(rater),
                        label: label(),
                        value: (*value).to_owned().into(),
                        rationale: String::new(),
                    };
                    ratings.insert(name(rater), BTreeMap::from([(label(), rating)]));
                }
            }
            cases.push(AuditCase {
                case: CaseIdentity::parse(&format!("run/c{}", cases.len())).expect("valid"),
                model: "m".into(),
                category: Category::Base,
                stratum: stratum(id),
                transition: None,
                verdict: None,
                gar_hit: None,
                ratings,
                adjudications: BTreeMap::new(),
                spot_checks: None,
            });
        }
    }
    Audit {
        batch: BatchName::parse("main").expect("valid"),
        strata,
        raters: vec![
            (name("judge"), RaterKind::Model),
            (name("anna"), RaterKind::Human),
            (name("ben"), RaterKind::Human),
        ],
        pair: Some((name("anna"), name("ben"))),
        labels: vec![label()],
        cases,
        no_verdicts: Vec::new(),
    }
}

fn validation(audit: &Audit) -> LabelValidation {
    let options = Options { bootstrap: Plan { seed: 1, replicates: 20 }, ..Options::default() };
    let people = [name("anna"), name("ben")];
    let found = validate(audit, &name("judge"), &people, &[label()], (&options, 0.1)).expect("a table");
    found.labels.into_iter().next().expect("the label")
}

/// Counts by hand, and the confusion with each person has the judge in its rows.
#[test]
fn confusion_with_each_person() {
    let audit = audit(&[
        ("A", "1", "1", "1", 8),
        ("A", "1", "0", "1", 3),
        ("A", "0", "1", "", 2),
        ("B", "0", "0", "0", 7),
        ("B", "1", "", "", 5),
    ]);
    let found = validation(&audit);
    let anna = &found.against[0];
    assert_eq!((anna.person.as_str(), anna.agreement.n, anna.agreement.agree), ("anna", 20, 15));
    assert_eq!(anna.agreement.categories, ["0", "1"]);
    assert_eq!(anna.agreement.table, [[7, 2], [3, 8]]);
    assert_eq!(anna.agreement.left_out.missing, 5);
    assert_eq!(anna.agreement.strata.iter().map(|row| row.n).collect::<Vec<_>>(), [13, 7]);
    assert_eq!((found.against[1].agreement.n, found.against[1].agreement.agree), (18, 18));
}

/// Over the 18 cases that all three rated the judge gives anna's answer in 15, as ben does: no difference; and gives ben's in
/// all 18, where anna does in 15: 3 more. Tango's limits for 3 of 18 against 0 are those of `paired` (its own tests).
#[test]
fn beside_a_second_person() {
    let audit =
        audit(&[("A", "1", "1", "1", 8), ("A", "1", "0", "1", 3), ("A", "0", "1", "", 2), ("B", "0", "0", "0", 7)]);
    let found = validation(&audit).second;
    assert_eq!(found.len(), 2);
    let counts: Vec<(u64, u64, u64)> = found.iter().map(|row| (row.n, row.judge_agrees, row.second_agrees)).collect();
    assert_eq!(counts, [(18, 15, 15), (18, 18, 15)]);
    assert!((found[1].difference - 1.0 / 6.0).abs() < 1e-12);
    let z = crate::agree::tails::z_of_level(0.975).expect("a level");
    let pairs = crate::estimate::paired::Pairs { both: 15, first_only: 3, second_only: 0, neither: 0 };
    let limits = crate::estimate::paired::tango(pairs, z).expect("pairs").limits();
    let bits = |limits: [f64; 2]| limits.map(f64::to_bits);
    assert_eq!(bits(found[1].interval), bits(limits), "two comparisons share the 5 %");
    assert_eq!(found[0].standing, Standing::Open, "18 cases do not show that the loss is below 10 points");
}

#[test]
fn standing_follows_the_interval() {
    let worse = audit(&[("A", "0", "1", "1", 30), ("A", "1", "1", "1", 30)]);
    assert!(validation(&worse).second.iter().all(|row| row.standing == Standing::Worse));
    let well = audit(&[("A", "0", "0", "0", 90), ("A", "1", "1", "1", 90)]);
    assert!(validation(&well).second.iter().all(|row| row.standing == Standing::AsWell));
}

/// By hand. Stratum A: 100 judged, 60 yes; people rated 20: tp 10, fp 2, fn 1, tn 7. Stratum B: 50 judged, 5 yes; people
/// rated 10: tp 1, fp 0, fn 2, tn 7. A: 0.60 + (1 − 2)/20 = 0.55; B: 0.10 + (2 − 0)/10 = 0.30; together (55 + 15)/150.
#[test]
fn corrected_rate_by_hand() {
    let audit = audit(&[
        ("A", "1", "1", "", 10),
        ("A", "1", "0", "", 2),
        ("A", "0", "1", "", 1),
        ("A", "0", "0", "", 7),
        ("A", "1", "", "", 48),
        ("A", "0", "", "", 32),
        ("B", "1", "1", "1", 1),
        ("B", "0", "1", "1", 2),
        ("B", "0", "0", "0", 7),
        ("B", "1", "", "", 4),
        ("B", "0", "", "", 36),
        ("B", "n.a.", "1", "1", 3),
        ("B", "", "0", "", 2),
    ]);
    let found = validation(&audit).corrected.expect("a yes-or-no label");
    assert_eq!((found.judged, found.judged_yes, found.with_people, found.people_yes), (150, 65, 30, 14));
    assert_eq!((found.outside, found.disputed, found.people_other), (5, 0, 0));
    let rate = found.difference.expect("people in every stratum");
    assert!((rate.rate - 70.0 / 150.0).abs() < 1e-12, "{}", rate.rate);
    assert!(rate.ci95[0] < rate.rate && rate.rate < rate.ci95[1]);
    assert!(found.tuned.is_some());
}

#[test]
fn disputes_need_a_ruling_and_strata_need_people() {
    let mut audit = audit(&[
        ("A", "1", "1", "0", 4),
        ("A", "1", "1", "1", 4),
        ("A", "1", "n.a.", "n.a.", 2),
        ("B", "0", "", "", 9),
    ]);
    let found = validation(&audit).corrected.expect("binary");
    assert_eq!((found.with_people, found.disputed, found.people_other), (4, 4, 2));
    assert_eq!(found.strata_without_people, [stratum("B")]);
    assert!(found.difference.is_none());
    assert_eq!(found.reason.as_deref(), Some("people rated no case of stratum B"));
    let ruling = Adjudication { value: "0".to_owned().into(), note: String::new() };
    audit.cases[0].adjudications.insert(label(), ruling);
    let found = validation(&audit).corrected.expect("binary");
    assert_eq!((found.with_people, found.disputed, found.people_yes), (5, 3, 4));
}
