//! Findings against counts made by hand.

use super::*;
use crate::model::{CaseIdentity, Category, RatingValue, StratumId, Verdict};

fn stratum(id: &str) -> StratumId {
    StratumId::parse(id).expect("valid")
}

fn cell(run: &str, category: Category) -> Cell {
    Cell { run: Some(run.to_owned()), model: format!("model-{run}"), category }
}

fn group(cell: &Cell, reach: Reach, verdict: Verdict, cases: u64, hits: u64) -> FrameGroup {
    FrameGroup { cell: cell.clone(), reach, verdict: Some(verdict), cases, hits, unknown: 0 }
}

/// Cases of a cell and stratum, given as (label, hit, how many).
fn cases(cell: &Cell, id: &str, counts: &[(Answer, bool, usize)]) -> Vec<AuditedCase> {
    let mut all = Vec::new();
    for (answer, hit, count) in counts {
        for _ in 0..*count {
            let name = format!("{}/{id}-{}-{}", cell.owner(), cell.category, all.len());
            let value = match answer {
                Answer::One => "1",
                _ => "0",
            };
            all.push(AuditedCase {
                case: CaseIdentity::parse(&name).expect("valid"),
                cell: cell.clone(),
                stratum: stratum(id),
                answer: *answer,
                values: [Some(RatingValue::Value(value.to_owned())), Some(RatingValue::Value(value.to_owned()))],
                hits: [Some(*hit), None, None, None],
                cues: ["0/0 refuse \"cannot\" at byte 2".to_owned(), String::new(), String::new(), String::new()],
            });
        }
    }
    all
}

fn input(label: &str, groups: Vec<FrameGroup>, cases: Vec<AuditedCase>) -> Input {
    let label = LabelId::parse(label).expect("valid");
    let meaning = meaning(&label, false);
    let ids = ["A", "B", "C"];
    Input {
        label,
        metric: meaning.metric(false),
        meaning,
        strata: ids
            .map(|id| StratumDesign {
                id: stratum(id),
                population: None,
                drawn: cases.iter().filter(|case| case.stratum == stratum(id)).count() as u64,
            })
            .to_vec(),
        frame: Frame::Known { groups },
        cases,
    }
}

use Answer::{CannotJudge, NotApplicable, One, Unusable, Zero};

/// The paper's plan in small. Run x, miss_func: stratum A owns the 100 failing cases (20 hits), nobody the 100 passing ones
/// (2 hits). Run y, miss_func: B owns 150 failing (30 hits), C 50 passing (40 hits).
fn two_runs() -> Input {
    let (x, y) = (cell("x", Category::MissFunc), cell("y", Category::MissFunc));
    let in_stratum = |id: &str| Reach::Stratum(stratum(id));
    let groups = vec![
        group(&x, in_stratum("A"), Verdict::Fail, 100, 20),
        group(&x, Reach::NoStratum, Verdict::Pass, 100, 2),
        group(&y, in_stratum("B"), Verdict::Fail, 150, 30),
        group(&y, in_stratum("C"), Verdict::Pass, 50, 40),
    ];
    let mut all = cases(&x, "A", &[(One, true, 4), (Zero, true, 1), (One, false, 1), (Zero, false, 14)]);
    all.extend(cases(&y, "B", &[(One, true, 4), (Zero, true, 2), (Zero, false, 24)]));
    all.extend(cases(&y, "C", &[(One, true, 7), (Zero, true, 1), (One, false, 1), (Zero, false, 1)]));
    input("B1b", groups, all)
}

fn close(found: Option<f64>, want: f64) {
    assert!(found.is_some_and(|found| (found - want).abs() < 1e-12), "{found:?} {want}");
}

/// By hand. Run y: B 4 of 30 stand for 150, C 8 of 10 for 50: (150·4/30 + 50·8/10)/200 = 60/200. GAR 70/200. Difference:
/// B −2/30 of 150 is −10, C (1 − 1)/10 is 0: (70 − 10)/200. Sensitivity: tp B 4·5 = 20, C 7·5 = 35, fn C 1·5:
/// 55/60; specificity: fp B 2·5, C 1·5 = 15, tn B 24·5, C 1·5 = 125: 125/140.
#[test]
fn a_covered_cell_by_hand() {
    let found = findings(&two_runs());
    let row = found.cells.iter().find(|row| row.cell == "y/miss_func").expect("the cell");
    assert!(row.covered && row.covered_part.is_none() && row.reason.is_none());
    let measures = &row.measures;
    assert_eq!((measures.population, measures.n, measures.k), (Some(200), 40, 12));
    close(measures.weighted_rate, 0.3);
    close(measures.gar_rate, 0.35);
    close(measures.difference_estimator.rate, 0.3);
    close(measures.difference_estimator.more.lambda, 1.0);
    let (sensitivity, specificity) = (55.0 / 60.0, 125.0 / 140.0);
    close(measures.rogan_gladen.rate, (0.35 + specificity - 1.0) / (sensitivity + specificity - 1.0));
    let Confusion { tp, fp, false_negatives, tn } = row.confusion;
    assert_eq!((tp, fp, false_negatives, tn), (11, 3, 1, 25));
    let cross = found.cross.first().and_then(|table| table.cells.get(1)).expect("the cell's cross-table");
    let weighted = cross.weighted.as_ref().expect("weights");
    close(weighted.sensitivity.rate, sensitivity);
    close(weighted.specificity.rate, specificity);
    close(weighted.ppv.rate, 55.0 / 70.0);
    close(weighted.npv.rate, 125.0 / 130.0);
    close(cross.unweighted.ppv.rate, 11.0 / 14.0);
}

/// Run x: the passing half is in no stratum, so the cell has no rate; its failing half has 5/20. If the other 100 had the
/// finding never or always: 25/200 to 125/200.
#[test]
fn a_cell_that_no_stratum_reaches_is_refused() {
    let found = findings(&two_runs());
    for row in found.cells.iter().filter(|row| row.cell == "x/miss_func").chain([&found.overall]) {
        assert!(!row.covered && row.measures.weighted_rate.is_none() && row.measures.ci95.is_none());
        assert!(row.measures.difference_estimator.rate.is_none() && row.measures.rogan_gladen.rate.is_none());
        let reason = row.reason.as_deref().expect("a reason");
        assert!(reason.contains("100 in no stratum (100 PASS)"), "{reason}");
        assert_eq!(row.uncovered, 100);
    }
    let row = found.cells.first().expect("x");
    close(row.measures.gar_rate, 0.11);
    let part = row.covered_part.as_ref().expect("a part");
    assert_eq!((part.population, part.n), (Some(100), 20));
    close(part.weighted_rate, 0.25);
    close(part.gar_rate, 0.2);
    close(part.difference_estimator.rate, 0.2);
    let [low, high] = row.whole_bounds.expect("bounds");
    assert!((low - 0.125).abs() < 1e-12 && (high - 0.625).abs() < 1e-12);
}

/// Over all: A 25, B 20, C 40 of 300 covered; pooled rows say what they mix and are not corrected by one sensitivity.
#[test]
fn pooling_is_said() {
    let found = findings(&two_runs());
    assert_eq!(found.overall.pooled_over, ["x", "y"]);
    let part = found.overall.covered_part.as_ref().expect("a part");
    close(part.weighted_rate, 85.0 / 300.0);
    let reason = part.rogan_gladen.reason.as_deref().expect("a reason");
    assert!(part.rogan_gladen.rate.is_none() && reason.contains("per cell only"), "{reason}");
    assert!(found.models.iter().all(|row| row.pooled_over.is_empty() && row.measures.rogan_gladen.rate.is_none()));
    assert_eq!(found.disagreeing.iter().filter(|case| case.metric == Metric::AnyTurnPaper).count(), 6);
    assert!(found.disagreeing.iter().all(|case| case.cue.contains("cannot")));
}

/// v2's B1a means no GAR, and B5 none at all: rates, but no correction.
#[test]
fn only_the_label_that_means_the_metric_corrects_it() {
    for label in ["B1a", "B5"] {
        let found = findings(&Input { ..input(label, Vec::new(), Vec::new()) });
        assert!(found.not_corrected.is_some(), "{label}");
        let mut input = two_runs();
        (input.label, input.meaning) = (found.label.clone(), meaning(&found.label, false));
        let found = findings(&input);
        let row = found.cells.iter().find(|row| row.cell == "y/miss_func").expect("the cell");
        assert!(row.measures.weighted_rate.is_some() && row.measures.difference_estimator.rate.is_none());
    }
    let b1a = LabelId::parse("B1a").expect("valid");
    assert_eq!(meaning(&b1a, true).metric(false), Metric::GoldTurnPaper);
    assert!(meaning(&b1a, true).refusal().is_none() && meaning(&b1a, false).refusal().is_some());
}

#[test]
fn no_hit_sampled_and_no_answer() {
    let y = cell("y", Category::MissParam);
    let groups = vec![group(&y, Reach::Stratum(stratum("A")), Verdict::Fail, 40, 3)];
    let none = cases(&y, "A", &[(One, false, 2), (Zero, false, 8)]);
    let found = findings(&input("B1b", groups.clone(), none));
    let row = found.cells.first().expect("a cell");
    assert!(row.measures.rogan_gladen.reason.as_deref().is_some_and(|reason| reason.contains("no hit")));
    close(row.measures.difference_estimator.rate, 0.075 + 0.2);

    // Three of ten could not be judged: 2 of 7 stand for all, 2 of 10 to 5 of 10 are possible.
    let some = cases(&y, "A", &[(One, true, 2), (Zero, false, 5), (CannotJudge, false, 3)]);
    let found = findings(&input("B1b", groups.clone(), some));
    let weighted = found.overall.measures.weighted.expect("a rate");
    close(found.overall.measures.weighted_rate, 2.0 / 7.0);
    assert_eq!((weighted.bounds, weighted.unanswered), (Some([0.2, 0.5]), 3));
    assert!(found.notes.iter().any(|note| note.contains("3 of 10")));

    // Unusable cases of a stratum count like those.
    let with = input("B1b", groups.clone(), cases(&y, "A", &[(One, true, 2), (Zero, false, 5), (Unusable, false, 3)]));
    assert_eq!(findings(&with).overall.measures.weighted.expect("a rate").bounds, Some([0.2, 0.5]));

    // Nothing applies.
    let found = findings(&input("B1b", groups, cases(&y, "A", &[(NotApplicable, false, 4)])));
    let row = found.cells.first().expect("a cell");
    assert!(row.covered && row.measures.weighted_rate.is_none() && row.reason.is_some());
}

#[test]
fn an_audit_made_elsewhere_has_sample_rates_only() {
    let mut input = two_runs();
    input.frame = Frame::Unknown { reason: "made elsewhere".to_owned() };
    let found = findings(&input);
    assert!(found.not_weighted.is_some() && found.weighted_kappa.kappa.is_none());
    let row = found.cells.iter().find(|row| row.cell == "y/miss_func").expect("the cell");
    assert!(!row.covered && row.measures.weighted_rate.is_none() && row.reason.as_deref() == Some("made elsewhere"));
    close(row.sample.rate, 0.3);
    assert!(found.cross[0].all.weighted.is_none() && found.cross[0].all.unweighted.kappa.kappa.is_some());
    let published = |model: &str, gar| PublishedRate { model: model.to_owned(), category: Category::MissFunc, gar };
    let rows = marginals(&found, &input.cases, &[published("model-y", 0.35), published("absent", 0.1)]);
    close(rows[0].difference, -0.05);
    assert!(rows[0].basis.contains("not of the cell") && rows[1].difference.is_none() && rows[1].reason.is_some());
}

/// Groups and cases in another order give the same findings but for the order of lists of cases.
#[test]
fn order_never_matters() {
    let one = two_runs();
    let mut two = one.clone();
    two.cases.reverse();
    if let Frame::Known { groups } = &mut two.frame {
        groups.reverse();
    }
    let (one, two) = (findings(&one), findings(&two));
    assert_eq!(one.cells, two.cells);
    assert_eq!(one.overall, two.overall);
    close(
        one.cross[0].all.weighted.as_ref().expect("weights").kappa.se,
        two.cross[0].all.weighted.as_ref().expect("weights").kappa.se.expect("se"),
    );
}
