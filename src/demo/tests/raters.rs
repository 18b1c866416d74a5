//! Simulated raters: errors at the stated rates, rules between labels kept, finals of the primary labels true.

use super::*;
use crate::model::{LabelId, Rating, RatingValue};

const PRIMARY: [&str; 5] = ["B1a", "B1b", "B3", "B4", "B5"];

fn value<'a>(answers: &'a BTreeMap<LabelId, Rating>, label: &str) -> &'a str {
    answers[&LabelId::parse(label).expect("valid")].value.as_str()
}

fn rater(rates: Rates, seed: u64) -> SimulatedRater {
    let [mut rater, _] = SimulatedRater::pair().expect("valid names");
    rater.rates = rates;
    rater.seed = seed;
    rater
}

#[test]
fn a_rater_without_errors_tells_the_truth() {
    let truth = Truth::load().expect("sound data");
    for case in truth.cases() {
        for (label, rating) in rater(Rates::default(), 7).answers(case) {
            assert_eq!(rating.value, case.labels[&label], "{} {label}", case.case);
        }
    }
}

#[test]
fn a_rater_who_always_errs_is_right_only_where_a_rule_makes_it_so() {
    let rates = Rates { b1a: 1.0, b1b: 1.0, b3: 1.0, b4: 1.0, b6: 1.0, b6_applies: 0.0, b7: 1.0 };
    let truth = Truth::load().expect("sound data");
    for case in truth.cases() {
        let answers = rater(rates, 7).answers(case);
        for (label, rating) in &answers {
            let known = &case.labels[label];
            match label.as_str() {
                "B1b" if value(&answers, "B1a") == "1" => assert!(rating.value.is_one()),
                "B5" => {}
                _ if *known == RatingValue::NotApplicable => assert_eq!(rating.value, *known),
                _ => assert_ne!(rating.value, *known, "{} {label}", case.case),
            }
        }
    }
}

#[test]
fn answers_keep_the_rules_between_labels_for_any_seed() {
    let rates = Rates { b1a: 0.5, b1b: 0.5, b3: 0.5, b4: 0.5, b6: 0.5, b6_applies: 0.3, b7: 0.5 };
    let truth = Truth::load().expect("sound data");
    for seed in 0..5 {
        for case in truth.cases() {
            let answers = rater(rates, seed).answers(case);
            assert_eq!(answers.len(), 7);
            let get = |label| value(&answers, label);
            assert!(get("B1a") == "0" || get("B1b") == "1");
            assert_eq!(get("B5") == "1", case.verdict == Verdict::Pass && get("B1a") == "0");
            assert_eq!(get("B3") == "n.a.", case.category != Category::MissFunc);
            let b7 = &case.labels[&LabelId::parse("B7").expect("valid")];
            assert_eq!(get("B7") == "n.a.", *b7 == RatingValue::NotApplicable);
            assert!(answers.values().all(|rating| !rating.rationale.is_empty()));
        }
    }
}

/// Over 20 seeds the share of wrong answers lies within 4 standard errors of the rate that was asked for.
#[test]
fn errors_come_at_the_stated_rates() {
    let rates = Rates { b4: 0.05, b3: 0.2, b7: 0.65, ..Rates::default() };
    let truth = Truth::load().expect("sound data");
    let mut wrong: BTreeMap<LabelId, (f64, f64)> = BTreeMap::new();
    for seed in 0..20 {
        let rater = rater(rates, seed);
        for case in truth.cases() {
            for (label, rating) in rater.answers(case) {
                if case.labels[&label].value().is_some() {
                    let (errors, n) = wrong.entry(label.clone()).or_default();
                    *errors += f64::from(u8::from(rating.value != case.labels[&label]));
                    *n += 1.0;
                }
            }
        }
    }
    for (label, rate) in [("B4", 0.05), ("B3", 0.2), ("B7", 0.65), ("B1a", 0.0)] {
        let (errors, n) = wrong[&LabelId::parse(label).expect("valid")];
        let (share, error): (f64, f64) = (errors / n, (rate * (1.0 - rate) / n).sqrt());
        assert!((share - rate).abs() <= 4.0 * error, "{label}: {share} for {rate}");
    }
}

#[test]
fn another_seed_errs_on_other_cases() {
    let truth = Truth::load().expect("sound data");
    let errors = |seed: u64| -> BTreeSet<String> {
        let rater = rater(Rates { b4: 0.1, ..Rates::default() }, seed);
        let label = LabelId::parse("B4").expect("valid");
        let wrong = |case: &&DemoCase| rater.answers(case)[&label].value != case.labels[&label];
        truth.cases().iter().filter(wrong).map(|case| case.case.as_str().to_owned()).collect()
    };
    assert_ne!(errors(1), errors(2));
    assert!(!errors(1).is_empty());
}

#[test]
fn the_pair_never_errs_together_on_primary_labels_of_the_baselines_so_finals_are_true() {
    let truth = Truth::load().expect("sound data");
    let [first, second] = SimulatedRater::pair().expect("valid names");
    let mut disagreements: BTreeMap<&str, usize> = BTreeMap::new();
    for case in truth.cases().iter().filter(|case| case.case.run().ends_with("-baseline")) {
        let (a, b) = (first.answers(case), second.answers(case));
        for name in PRIMARY {
            let label = LabelId::parse(name).expect("valid");
            let last = if a[&label].value == b[&label].value {
                a[&label].value.clone()
            } else {
                *disagreements.entry(name).or_default() += 1;
                adjudicate(case, &label).expect("a ruling").value
            };
            assert_eq!(last, case.labels[&label], "{} {name}", case.case);
        }
    }
    assert!(PRIMARY.iter().all(|name| disagreements.contains_key(name)), "{disagreements:?}");
}
