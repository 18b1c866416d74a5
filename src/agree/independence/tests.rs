use super::*;
use crate::model::{AuditCase, AuditStratum, BatchName, Category, NoVerdict, Rating, StratumId};

fn name(text: &str) -> RaterName {
    RaterName::parse(text).expect("valid")
}

fn label(text: &str) -> LabelId {
    LabelId::parse(text).expect("valid")
}

fn identity(number: usize) -> CaseIdentity {
    CaseIdentity::parse(&format!("run/c{number}")).expect("valid")
}

/// An audit of one label; per case the value and rationale of a and of b.
fn audit(rows: &[[(&str, String); 2]], kinds: [RaterKind; 2]) -> Audit {
    let (a, b, label) = (name("a"), name("b"), label("B1a"));
    let make = |(number, row): (usize, &[(&str, String); 2])| AuditCase {
        case: identity(number),
        model: "m".into(),
        category: Category::Base,
        stratum: StratumId::parse("A").expect("valid"),
        transition: None,
        verdict: None,
        gar_hit: None,
        ratings: [&a, &b]
            .into_iter()
            .zip(row)
            .map(|(rater, (value, rationale))| {
                let rating = Rating {
                    rater: rater.clone(),
                    label: label.clone(),
                    value: (*value).to_owned().into(),
                    rationale: rationale.clone(),
                };
                (rater.clone(), BTreeMap::from([(label.clone(), rating)]))
            })
            .collect(),
        adjudications: BTreeMap::new(),
        spot_checks: None,
    };
    let cases: Vec<AuditCase> = rows.iter().enumerate().map(make).collect();
    Audit {
        batch: BatchName::parse("main").expect("valid"),
        strata: vec![AuditStratum {
            id: StratumId::parse("A").expect("valid"),
            title: "A".into(),
            population: None,
            drawn: rows.len() as u64,
            quota: None,
        }],
        raters: vec![(a.clone(), kinds[0]), (b.clone(), kinds[1])],
        pair: Some((a, b)),
        labels: vec![label],
        cases,
        no_verdicts: Vec::new(),
    }
}

fn found(audit: &Audit, evidence: &Evidence) -> Independence {
    independence(audit, (&name("a"), &name("b")), evidence)
}

fn kinds(found: &Independence) -> Vec<Kind> {
    found.findings.iter().map(|finding| finding.kind).collect()
}

/// By hand: of the six pairs of {3, 5, 8} and {1, 4} five are won. Shares of the first ½, 1, 1 (variance 1/12), of the second
/// 1, ⅔ (variance 1/18): SE² = 1/36 + 1/36.
#[test]
fn rank_effect_by_hand() {
    let effect = rank_effect(&[(vec![3.0, 5.0, 8.0], vec![1.0, 4.0])]).expect("pairs");
    assert!((effect.chance - 5.0 / 6.0).abs() < 1e-12);
    assert!((effect.se - (1.0_f64 / 18.0).sqrt()).abs() < 1e-12, "{}", effect.se);
    // A tie counts half; two groups are weighted by their pairs (6 and 1).
    let two = rank_effect(&[(vec![3.0, 5.0, 8.0], vec![1.0, 4.0]), (vec![2.0], vec![2.0])]).expect("pairs");
    assert!((two.chance - 5.5 / 7.0).abs() < 1e-12);
    assert_eq!((two.first, two.second), (4, 3));
    // One value each: (1 + 1 + 1)/12.
    let se = (36.0 / 18.0 + 3.0 / 12.0_f64).sqrt() / 7.0;
    assert!((two.se - se).abs() < 1e-12, "{}", two.se);
    assert!(rank_effect(&[(vec![1.0], Vec::new())]).is_none());
}

#[test]
fn length_and_order_are_found_where_they_are_and_not_elsewhere() {
    // Rater a says 1 to the longer half; b alternates. The order of b is such that ones come last; that of a alternates.
    let rows: Vec<[(&str, String); 2]> = (0..80)
        .map(|at| {
            [(if at >= 40 { "1" } else { "0" }, String::new()), (if at % 2 == 0 { "1" } else { "0" }, String::new())]
        })
        .collect();
    let audit = audit(&rows, [RaterKind::Human, RaterKind::Model]);
    let lengths = (0..80).map(|at| (identity(at), 1000 + at as u64)).collect();
    let a_order: Vec<CaseIdentity> = (0..40).flat_map(|at| [identity(at), identity(79 - at)]).collect();
    let b_order: Vec<CaseIdentity> =
        (0..40).map(|at| 2 * at + 1).chain((0..40).map(|at| 2 * at)).map(identity).collect();
    let order = BTreeMap::from([(name("a"), a_order), (name("b"), b_order)]);
    let found = found(&audit, &Evidence { order, lengths, ..Evidence::default() });
    assert_eq!(found.looks.len(), 4, "two raters, one label, two looks");
    assert_eq!(kinds(&found), [Kind::LengthPredicts, Kind::OrderPredicts]);
    assert!(found.findings[0].text.starts_with("a's answers follow the length"), "{}", found.findings[0].text);
    assert!(found.findings[1].text.starts_with("b's answers follow the order"), "{}", found.findings[1].text);
    assert!((found.findings[0].effect - 1.0).abs() < 1e-12);
    let [low, _] = found.findings[0].interval.expect("an interval");
    assert!(low > 0.5 && low < 1.0, "separation is no certainty: {low}");
    assert!(found.looked().expect("looks").starts_with("4 looks at whether length (2) or order (2)"));
}

/// Strata that differ in length and in their answers are no effect of length.
#[test]
fn length_is_compared_inside_strata() {
    let rows: Vec<[(&str, String); 2]> =
        (0..60).map(|at| [(if at / 3 % 2 == 0 { "1" } else { "0" }, String::new()), ("1", String::new())]).collect();
    let mut audit = audit(&rows, [RaterKind::Human, RaterKind::Human]);
    for (at, case) in audit.cases.iter_mut().enumerate() {
        case.stratum = StratumId::parse(if at / 3 % 2 == 0 { "A" } else { "B" }).expect("valid");
    }
    let lengths = (0..60).map(|at| (identity(at), if at / 3 % 2 == 0 { 9000 } else { 10 })).collect();
    let found = found(&audit, &Evidence { lengths, ..Evidence::default() });
    assert!(found.looks.is_empty(), "inside a stratum there is only one answer: {:?}", found.looks);
}

/// Under chance alone, all looks together must stay quiet about as often as they promise.
#[test]
fn chance_is_rarely_taken_for_an_effect() {
    use rand::{Rng as _, SeedableRng as _};
    let mut stream = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    let (mut wrong, audits) = (0, 400);
    for _ in 0..audits {
        let mut coin = || if stream.next_u32().is_multiple_of(2) { "1" } else { "0" };
        let rows: Vec<[(&str, String); 2]> =
            (0..60).map(|_| [(coin(), String::new()), (coin(), String::new())]).collect();
        let audit = audit(&rows, [RaterKind::Human, RaterKind::Human]);
        let lengths = (0..60).map(|at| (identity(at), u64::from(stream.next_u32()))).collect();
        let order = BTreeMap::from([name("a"), name("b")].map(|rater| (rater, (0..60).map(identity).collect())));
        let found = found(&audit, &Evidence { order, lengths, ..Evidence::default() });
        wrong += usize::from(!found.findings.is_empty());
    }
    // 5 % promised; four standard errors above it are 9.4 %.
    assert!(wrong <= audits * 94 / 1000, "{wrong} of {audits}");
}

const PHRASE: &str = "The model calls the tool that the ground truth names, so the label is met at turn";

#[test]
fn repeated_and_shared_rationales() {
    assert!(nearly_same(&format!("{PHRASE} 3."), &format!("{PHRASE} 14!")), "numbers and marks do not count");
    assert!(!nearly_same("It asks for the date.", "It asks for the date."), "too short to say anything");
    let own = |at: usize| {
        let mut seed = at as u64;
        let words: Vec<String> = (0..14)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                format!("w{}", seed >> 50)
            })
            .collect();
        words.join(" ")
    };
    let rows: Vec<[(&str, String); 2]> = (0..40).map(|at| [("1", own(at)), ("1", format!("{PHRASE} {at}."))]).collect();
    let found = found(&audit(&rows, [RaterKind::Human, RaterKind::Model]), &Evidence::default());
    let counts: Vec<(u64, u64)> = found.repeated.iter().map(|row| (row.repeated, row.compared)).collect();
    assert_eq!(counts, [(0, 40), (40, 40)]);
    assert_eq!(kinds(&found), [Kind::RepeatedRationales]);
    assert!(found.findings[0].text.starts_with("40 of b's 40 rationales (100 %"), "{}", found.findings[0].text);
    assert_eq!(found.shared.as_ref().map(|row| (row.shared, row.compared)), Some((0, 40)));
    // b copies a in a quarter of the cases.
    let rows: Vec<[(&str, String); 2]> =
        (0..40).map(|at| [("1", own(at)), ("1", if at % 4 == 0 { own(at) } else { own(1000 + at) })]).collect();
    let found = self::found(&audit(&rows, [RaterKind::Human, RaterKind::Human]), &Evidence::default());
    assert_eq!(kinds(&found), [Kind::SharedRationales]);
    assert_eq!(found.shared.map(|row| (row.shared, row.compared)), Some((10, 40)));
}

/// The filter finds exactly what comparing all pairs finds.
#[test]
fn twins_are_those_of_all_pairs() {
    let texts: Vec<String> = (0..120_usize)
        .map(|at| {
            let words = (0..20).map(|word| {
                if at % 4 == 0 && word == 19 { at.to_string() + "x" } else { format!("w{}", word * (at % 30)) }
            });
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    let twins = texts
        .iter()
        .enumerate()
        .filter(|(at, text)| texts.iter().enumerate().any(|(other, found)| other != *at && nearly_same(text, found)))
        .count() as u64;
    let rows: Vec<[(&str, String); 2]> = texts.iter().map(|text| [("1", text.clone()), ("0", String::new())]).collect();
    let found = found(&audit(&rows, [RaterKind::Human, RaterKind::Human]), &Evidence::default());
    assert_eq!(found.repeated[0].repeated, twins);
    assert!(twins > 0 && twins < 120, "{twins}");
}

#[test]
fn one_model_behind_two_names_is_said() {
    let rows = vec![[("1", String::new()), ("1", String::new())]];
    let both = audit(&rows, [RaterKind::Model, RaterKind::Model]);
    let models =
        |second: &str| BTreeMap::from([("a".to_owned(), "GPT-X".to_owned()), ("b".to_owned(), second.to_owned())]);
    let same = found(&both, &Evidence { models: models("gpt-x"), ..Evidence::default() });
    assert_eq!(kinds(&same), [Kind::SameModel]);
    assert!(same.findings[0].text.contains("self-consistency, not agreement between raters"));
    assert!(found(&both, &Evidence { models: models("other"), ..Evidence::default() }).findings.is_empty());
    assert!(found(&both, &Evidence::default()).findings.is_empty(), "not recorded, not claimed");
}

/// Counted by hand: three cases in three passes, one of them with a pass without verdict, one that changes once.
#[test]
fn passes_are_self_consistency() {
    let rows = vec![[("1", String::new()), ("1", String::new())]; 3];
    let mut audit = audit(&rows, [RaterKind::Human, RaterKind::Model]);
    audit.no_verdicts =
        vec![NoVerdict { case: identity(2), rater: name("b"), label: label("B1a"), reason: "refused".into() }];
    let answers = [["1", "1", "1"], ["1", "0", "1"], ["", "1", "1"]];
    let passes = answers.iter().enumerate().flat_map(|(case, row)| {
        row.iter().zip(1..).map(move |(value, pass)| PassValue {
            rater: name("b"),
            case: identity(case),
            pass,
            label: label("B1a"),
            value: (!value.is_empty()).then(|| (*value).to_owned().into()),
        })
    });
    let found = found(&audit, &Evidence { passes: passes.collect(), ..Evidence::default() });
    let row = &found.consistency[0];
    assert_eq!((row.passes, row.cases, row.incomplete, row.same), (3, 2, 1, 1));
    assert_eq!(row.share, Some(0.5));
    assert_eq!(found.raters[1].reasons, BTreeMap::from([("refused".to_owned(), 1)]));
}
