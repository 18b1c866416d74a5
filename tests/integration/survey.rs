//! `rate-weighted`: values counted by hand, and what it says of files that do not fit.

use dualrater::estimate::survey::{Answer, Survey, SurveySummary, summarise};
use dualrater::ingest::{SurveyColumns, read_survey};
use std::path::Path;

fn read(text: &str, columns: &SurveyColumns) -> Survey {
    read_survey(text.as_bytes(), Path::new("cases.csv"), columns).expect("a table")
}

fn summary(survey: &Survey) -> SurveySummary {
    summarise(survey, 0.95).expect("a level")
}

#[test]
fn means_and_rates_weigh_strata_by_their_population() {
    let mut survey = read("stratum,value\nA,1\nA,0\nB,1\nB,1\nA,\n", &SurveyColumns::default());
    let open = summary(&survey);
    assert!(matches!(open.mean, Answer::Missing { .. }) && matches!(open.rate, Answer::Missing { .. }));
    for (stratum, population) in survey.strata.iter_mut().zip([30, 10]) {
        stratum.population = Some(population);
    }
    let found = summary(&survey);
    // 30/40 · 1/2 + 10/40 · 1 = 0.625; the variance is (3/4)² · (1 − 2/30) · 0.5/2.
    let mean = found.mean.found().expect("a mean");
    assert!((mean.estimate.mean - 0.625).abs() < 1e-12);
    assert!((mean.estimate.se.expect("two of each") - 0.131_25_f64.sqrt()).abs() < 1e-12);
    assert_eq!(found.strata.iter().map(|row| (row.n, row.unlabelled)).collect::<Vec<_>>(), [(2, 1), (2, 0)]);
    // Both of B agree, and there are only two: the limit is not 1 on the low side.
    let rate = found.rate.found().expect("labels of 0 and 1");
    assert!((rate.rate - 0.625).abs() < 1e-12 && rate.ci95[0] < 0.375 && rate.ci95[1] > 0.9, "{rate:?}");
}

#[test]
fn kappa_counts_cases_with_both_values() {
    let columns = SurveyColumns { raters: Some(("a".to_owned(), "b".to_owned())), ..SurveyColumns::default() };
    // yes/yes 20, yes/no 5, no/yes 10, no/no 15: Cohen's kappa is 0.4 (po 0.7, pe 0.5).
    let mut text = String::from("a,b\n");
    for (pair, times) in [("yes,yes", 20), ("yes,no", 5), ("no,yes", 10), ("no,no", 15), ("yes,", 3), ("NA,no", 2)] {
        text.push_str(&format!("{pair}\n").repeat(times));
    }
    let found = summary(&read(&text, &columns));
    let Some(Answer::Found(kappa)) = found.weighted_kappa else { panic!("no kappa") };
    assert_eq!((kappa.estimate.n, kappa.categories.len()), (50, 2));
    for value in [kappa.estimate.kappa, kappa.unweighted_kappa] {
        assert!((value.expect("defined") - 0.4).abs() < 1e-12);
    }
}

#[test]
fn a_corrected_rate_is_made_per_stratum_and_refused_where_the_metric_says_nothing() {
    let mut text = String::from("value,metric\n");
    // Sensitivity 36/40, specificity 48/60, 260 of 500 called 1: (0.52 + 0.8 − 1)/(0.9 + 0.8 − 1) = 0.32/0.7.
    for (row, times) in [("1,1", 36), ("1,0", 4), ("0,1", 12), ("0,0", 48), (",1", 260), (",0", 240)] {
        text.push_str(&format!("{row}\n").repeat(times));
    }
    let found = summary(&read(&text, &SurveyColumns::default()));
    let corrected = found.rogan_gladen[0].corrected.found().expect("informative").rate;
    assert!((corrected - 0.32 / 0.7).abs() < 1e-12);
    let chance = summary(&read("value,metric\n1,1\n1,0\n0,1\n0,0\n,1\n,0\n", &SurveyColumns::default()));
    assert!(matches!(chance.rogan_gladen[0].corrected, Answer::Missing { .. }));
}

#[test]
fn clusters_have_their_own_rate_and_no_mean_of_single_cases() {
    let mut survey = read("cluster,value\nx,1\nx,1\ny,0\nz,1\n", &SurveyColumns::default());
    survey.strata[0].population = Some(40);
    let found = summary(&survey);
    let Some(Answer::Found(clusters)) = &found.clustered else { panic!("no clusters") };
    assert_eq!((clusters.clusters, clusters.n), (3, 4));
    assert!((clusters.rate - 0.75).abs() < 1e-12 && matches!(found.mean, Answer::Missing { .. }));
}

#[test]
fn what_does_not_fit_is_named_by_line() {
    let error = |text: &str| {
        read_survey(text.as_bytes(), Path::new("cases.csv"), &SurveyColumns::default()).expect_err("wrong").to_string()
    };
    assert!(
        error("stratum,value\nA,1\nA,high\n").contains("cases.csv:3")
            && error("stratum,value\nA,inf\n").contains("inf")
    );
    assert!(error("stratum,value\nA,1\n,0\n").contains("cases.csv:3"));
    assert!(error("stratum,score\nA,1\n").contains("no column of labels"));
    assert!(error("").contains("empty"));
}
