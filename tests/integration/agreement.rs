//! The published audit's agreement and rates, recomputed from its labels.

use std::collections::BTreeMap;
use std::path::Path;

use dualrater::agree::pairs::{self, NaPolicy};
use dualrater::agree::{Options, label_agreement, paper, sides};
use dualrater::estimate::paper as rates;
use dualrater::model::{
    Adjudication, Audit, AuditCase, AuditStratum, BatchName, CaseIdentity, Category, LabelId, RaterKind, RaterName,
    Rating, RatingValue, SpotCheck, StratumId, Transition, Verdict,
};
use serde_json::Value;

const LABELS: [&str; 7] = ["B1a", "B1b", "B3", "B4", "B5", "B6", "B7"];

pub fn read_json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("readable")).expect("JSON")
}

fn value(json: &Value) -> RatingValue {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned).into()
}

fn label(text: &str) -> LabelId {
    LabelId::parse(text).expect("a label")
}

/// Reads the published labels into an audit.
fn published(shared: &Path) -> Audit {
    let text = std::fs::read_to_string(shared.join("data/paper-audit/labels-main.jsonl")).expect("readable");
    let (a, b) = (RaterName::parse("a").expect("name"), RaterName::parse("b").expect("name"));
    let labels: Vec<LabelId> = LABELS.map(label).into();
    let cases: Vec<AuditCase> = text
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).expect("JSON");
            let text = |key: &str| row[key].as_str().expect("text").to_owned();
            let ratings = |rater: &RaterName, key: &str| {
                let of = |label: &LabelId| Rating {
                    rater: rater.clone(),
                    label: label.clone(),
                    value: value(&row[key][label.as_str()]),
                    rationale: String::new(),
                };
                (rater.clone(), labels.iter().map(|label| (label.clone(), of(label))).collect())
            };
            let ruling = |value: RatingValue| Adjudication { value, note: String::new() };
            let check = |key: &str, correct: &Value| SpotCheck {
                correct: correct.as_bool().expect("yes or no"),
                value: value(&row["final"][key]),
                note: String::new(),
            };
            AuditCase {
                case: CaseIdentity::published(&text("model"), &text("case_id")).expect("an identity"),
                model: text("model"),
                category: Category::parse(&text("category")).expect("a category"),
                stratum: StratumId::parse(&text("stratum")).expect("a stratum"),
                transition: row["transition"].as_str().and_then(Transition::parse),
                verdict: row["baseline"].as_str().and_then(Verdict::parse),
                gar_hit: None,
                ratings: BTreeMap::from([ratings(&a, "a"), ratings(&b, "b")]),
                adjudications: row["adj"]
                    .as_object()
                    .expect("rulings")
                    .iter()
                    .map(|(key, found)| (label(key), ruling(value(found))))
                    .collect(),
                spot_checks: row["spot"]
                    .as_object()
                    .map(|checks| checks.iter().map(|(key, correct)| (label(key), check(key, correct))).collect()),
            }
        })
        .collect();
    let strata = ["A", "B", "C", "D", "E", "F", "G"].map(|id| AuditStratum {
        id: StratumId::parse(id).expect("a stratum"),
        title: String::new(),
        population: None,
        drawn: cases.iter().filter(|case| case.stratum.as_str() == id).count() as u64,
        quota: None,
    });
    Audit {
        batch: BatchName::parse("published").expect("a name"),
        strata: strata.into(),
        raters: vec![(a.clone(), RaterKind::Model), (b.clone(), RaterKind::Model)],
        pair: Some((a, b)),
        labels,
        cases,
        no_verdicts: Vec::new(),
    }
}

/// Every expected number in `expected` stands in `found`, to 1e-12.
pub fn assert_contains(found: &Value, expected: &Value, at: &str) {
    match expected {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, inner)| assert_contains(&found[key], inner, &format!("{at}.{key}")));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, inner)| assert_contains(&found[i], inner, &format!("{at}[{i}]")));
        }
        Value::Number(number) => {
            let (want, got) = (number.as_f64().expect("finite"), found.as_f64());
            assert!(got.is_some_and(|got| (got - want).abs() <= 1e-12), "{at}: found {found}, expected {want}");
        }
        other => assert_eq!(found, other, "{at}"),
    }
}

fn json(value: impl serde::Serialize) -> Value {
    serde_json::to_value(value).expect("serialises")
}

#[test]
fn published_audit_gives_every_expected_number() {
    let Some(shared) = crate::shared::folder() else { return };
    let expected = read_json(&shared.join("data/paper-audit/expected.json"));
    let audit = published(&shared);
    assert_eq!(audit.cases.len(), 200);
    let (a, b) = audit.pair.clone().expect("a pair");
    let pair = (&a, &b);
    let rules = &expected["paper_rules"];
    let per_label = |f: &dyn Fn(&LabelId) -> Value| -> Value {
        audit.labels.iter().map(|label| (label.to_string(), f(label))).collect::<serde_json::Map<_, _>>().into()
    };

    let kappas = per_label(&|label| json(paper::label_kappa(&audit, pair, label, NaPolicy::Drop).expect("small")));
    assert_contains(&kappas, &rules["kappa"], "kappa");
    let primary = paper::PRIMARY_LABELS.map(|label| kappas[label]["kappa"].as_f64().expect("defined"));
    let (mean, least) = paper::mean_and_min(primary).expect("five labels");
    assert_contains(&json(mean), &rules["primary_macro_mean"], "macro mean");
    assert_contains(&json(least), &rules["primary_min"], "minimum");

    let with_na = per_label(&|label| json(paper::label_kappa(&audit, pair, label, NaPolicy::Category).expect("small")));
    assert_contains(&with_na, &expected["na_as_category_kappa"], "na as category");

    let strata: Value = paper::stratum_agreement(&audit, pair, &paper::PRIMARY_LABELS.map(label))
        .into_iter()
        .map(|row| {
            let mut fields = json(&row.agreement);
            fields["n"] = json(row.n);
            (row.stratum.to_string(), fields)
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    assert_contains(&strata, &rules["stratum_agreement"], "stratum");

    let finals: BTreeMap<_, _> = rates::final_rates(&audit, pair).into_iter().collect();
    assert_contains(&json(finals), &rules["final_rates"], "final rates");
    assert_contains(&json(rates::cells(&audit, pair)), &expected["cells"], "cells");
    let modes = rates::distribution(&audit, pair, &label("B7"));
    assert_eq!(modes.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [24, 14, 11, 3]);
    assert_contains(&json(modes.into_iter().collect::<BTreeMap<_, _>>()), &rules["B7"], "B7");

    let side = |f: &dyn Fn(sides::Sides) -> u64| per_label(&|label| json(f(sides::of(&audit, pair, label))));
    assert_contains(&side(&|sides| sides.disagreements), &expected["disagreements"], "disagreements");
    assert_contains(&side(&|sides| sides.one_sided_na), &expected["one_sided_na"], "one-sided n.a.");
    assert_contains(&side(&|sides| sides.with_first), &expected["adjudicator_sided_with_a"], "sided with a");
    assert_eq!(side(&|sides| sides.open), per_label(&|_| json(0)));
    assert_contains(&json(sides::spot_checked_cases(&audit)), &expected["spot_checked_cases"], "spot checks");
}

/// Our own rules on the same labels: the counts close, strata stand beside, perfect agreement has no interval.
#[test]
fn published_audit_under_own_rules() {
    let Some(shared) = crate::shared::folder() else { return };
    let audit = published(&shared);
    let (a, b) = audit.pair.clone().expect("a pair");
    for label in &audit.labels {
        for na in [NaPolicy::Drop, NaPolicy::Category] {
            let found = label_agreement(&audit, (&a, &b), label, &Options { na, ..Options::default() }).expect("small");
            assert_eq!(found.n + found.left_out.total(), 200, "{label}");
            assert_eq!(found.strata.iter().map(|row| row.n).sum::<u64>(), found.n, "{label}");
            assert_eq!(found.strata.iter().map(|row| row.agree).sum::<u64>(), found.agree, "{label}");
            let drawn: Vec<u64> = found.strata.iter().map(|row| row.n + row.left_out.total()).collect();
            assert_eq!(drawn, [48, 30, 40, 30, 20, 22, 10], "{label}");
            let row = json(&found);
            let perfect = found.po == Some(1.0);
            assert_eq!(row["ci95"].is_null(), perfect, "{label}");
            assert_eq!(row["reason"] == "degenerate", perfect, "{label}");
            if let (Some(kappa), Some(low), Some(high)) =
                (found.kappa, found.ci95_bootstrap.low, found.ci95_bootstrap.high)
            {
                assert!(low < kappa && kappa < high, "{label}");
                assert_eq!(found.ci95_bootstrap.replicates, 2000);
            }
        }
        // 125 of the 200 cases share their scenario with another one.
        let every = label_agreement(&audit, (&a, &b), label, &Options { na: NaPolicy::Category, ..Options::default() })
            .expect("small");
        assert_eq!(every.ci95_family.cases_sharing, 125);
        // B6 is the label whose applicability the raters disputed.
        let used = pairs::of(&audit, (&a, &b), label, NaPolicy::Drop);
        assert_eq!(used.left_out.one_sided_na, if label.as_str() == "B6" { 31 } else { 0 });
    }
}

/// What is known about the published audit is found: B5 is a function, applicability of B6 is disputed, the adjudicator
/// of B7 sided with b in 38 of 40 cases, B3 and B5 are perfect; and no label is called a function that is not.
#[test]
fn published_audit_findings() {
    use dualrater::agree::diagnose::{self, Kind};
    let Some(shared) = crate::shared::folder() else { return };
    let audit = published(&shared);
    let (a, b) = audit.pair.clone().expect("a pair");
    let found = diagnose::audit(&audit, (&a, &b), NaPolicy::Drop).expect("small");
    let labels = |kind: Kind| -> Vec<Option<&str>> {
        found.iter().filter(|finding| finding.kind == kind).map(|finding| finding.label.as_deref()).collect()
    };
    assert_eq!(labels(Kind::DerivedLabel), [Some("B5")]);
    assert_eq!(labels(Kind::OneSidedNa), [Some("B6")]);
    assert_eq!(labels(Kind::PerfectAgreement), [Some("B3"), Some("B5")]);
    assert_eq!(labels(Kind::OneSidedAdjudicator), [Some("B1a"), Some("B1b"), Some("B6"), Some("B7"), None]);
    let b7 = found.iter().find(|f| f.kind == Kind::OneSidedAdjudicator && f.label.as_deref() == Some("B7"));
    assert!((b7.expect("found").effect - 0.95).abs() < 1e-12);
    for finding in &found {
        let [low, high] = finding.interval.expect("every finding here has one");
        assert!(low <= finding.effect && finding.effect <= high, "{finding:?}");
    }
}
