//! Tests of the draw: known samples and counts by hand; the laws that every draw obeys are in `laws`.

mod allocations;
mod extensions;
mod laws;

use std::collections::BTreeMap;

use super::*;
use crate::model::{BatchName, CaseIdentity, Category, RunName, Seed, StratumId, Verdict};
use crate::strata::{Assigner, BoundPlan, FrameCase, Method, Plan, SqlMatches, bind};

fn seed(text: &str) -> Seed {
    Seed::parse(text).expect("valid")
}

fn id(text: &str) -> StratumId {
    StratumId::parse(text).expect("valid")
}

fn case(index: usize, verdict: Verdict) -> FrameCase {
    FrameCase {
        identity: CaseIdentity::parse(&format!("xlam/multi_turn_miss_func_{index}")).expect("valid"),
        run: RunName::parse("xlam").expect("valid"),
        model: "m".into(),
        condition: "baseline".into(),
        category: Category::MissFunc,
        verdict: Some(verdict),
        transition: None,
        gar_hit: index.is_multiple_of(3),
        error_record: false,
        drawable: true,
    }
}

fn failures(count: usize) -> Vec<FrameCase> {
    (0..count).map(|index| case(index, Verdict::Fail)).collect()
}

fn bound(strata: &str) -> BoundPlan {
    let text = format!("id='p'\ntitle='t'\n{strata}");
    bind(&Plan::parse("p.toml", &text).expect("valid plan"), &BTreeMap::new()).expect("no roles")
}

fn one_stratum(quota: u64) -> BoundPlan {
    bound(&format!("[[stratum]]\nid='S'\ntitle='s'\nquota={quota}\nfilter={{verdict='FAIL'}}\n"))
}

struct Setup {
    plan: BoundPlan,
    seed: Seed,
    sql_matches: SqlMatches,
    exclusions: Vec<Exclusion>,
    sharing: Sharing,
    kept: Kept,
    replacements: BTreeMap<StratumId, u64>,
    allow_empty: bool,
}

impl Setup {
    fn new(plan: BoundPlan) -> Self {
        Self {
            sharing: Sharing::of(plan.plan()),
            plan,
            seed: seed("audit-1"),
            sql_matches: SqlMatches::new(),
            exclusions: Vec::new(),
            kept: Kept::new(),
            replacements: BTreeMap::new(),
            allow_empty: false,
        }
    }

    fn excluding(mut self, batch: &str, cases: &[CaseIdentity], same_design: bool) -> Self {
        let batch = BatchName::parse(batch).expect("valid");
        self.exclusions.push(Exclusion { batch, cases: cases.iter().cloned().collect(), same_design });
        self
    }

    fn draw(&self, frame: &[FrameCase]) -> Result<Draw, DrawError> {
        let request = Request {
            plan: &self.plan,
            seed: &self.seed,
            sql_matches: &self.sql_matches,
            exclusions: &self.exclusions,
            sharing: &self.sharing,
            kept: &self.kept,
            replacements: &self.replacements,
            allow_empty: self.allow_empty,
        };
        draw(frame, &request)
    }
}

/// What a design borrows.
#[derive(Default)]
struct Parts {
    none: SqlMatches,
    kept: Kept,
    replacements: BTreeMap<StratumId, u64>,
}

impl Parts {
    fn design<'a>(
        &'a self,
        plan: &'a BoundPlan,
        seed: &'a Seed,
        exclusions: &'a [Exclusion],
        quotas: Vec<u64>,
    ) -> Design<'a> {
        Design {
            assigner: Assigner::new(plan, &self.none).expect("no SQL"),
            seed,
            exclusions,
            method: Method::Fixed,
            total: None,
            quotas,
            quotas_from_ratings: false,
            unplaced: 0,
            kept: &self.kept,
            replacements: &self.replacements,
            allow_empty: true,
        }
    }
}

/// The strata over which a draw fails because they are empty.
fn empties(setup: &Setup, frame: &[FrameCase]) -> Vec<EmptyStratum> {
    match setup.draw(frame) {
        Err(DrawError::Empty(empty)) => empty,
        _ => Vec::new(),
    }
}

fn numbers(draw: &Draw) -> Vec<usize> {
    let number = |case: &CaseIdentity| case.as_str().rsplit('_').next().and_then(|text| text.parse().ok());
    draw.cases.iter().filter_map(|drawn| number(&drawn.case)).collect()
}

fn identities(draw: &Draw) -> Vec<CaseIdentity> {
    draw.cases.iter().map(|drawn| drawn.case.clone()).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-15
}

#[test]
fn sample_is_that_of_python_hashlib() {
    // sorted(hashlib.sha256(f"{seed}:xlam/multi_turn_miss_func_{i}".encode()).hexdigest() for i in range(12))
    let mut setup = Setup::new(one_stratum(12));
    let all = setup.draw(&failures(12)).expect("drawn");
    assert_eq!(numbers(&all), [9, 8, 4, 3, 7, 0, 11, 6, 5, 10, 2, 1]);
    assert_eq!(all.cases[0].ticket, "1d5d9fa9a30f1f76d009b529c1485015d3ba37c1e3618db21068ec4c24b951d3");
    setup.seed = seed("audit-2");
    let other = setup.draw(&failures(12)).expect("drawn");
    assert_eq!(numbers(&other), [9, 1, 8, 4, 6, 0, 5, 2, 3, 10, 11, 7]);
    assert_eq!(numbers(&Setup::new(one_stratum(3)).draw(&failures(12)).expect("drawn")), [9, 8, 4]);
}

#[test]
fn probabilities_of_a_draw_after_a_pilot() {
    // 12 cases; a pilot of 3; then 5 of the 9 that are left.
    let pilot = Setup::new(one_stratum(3)).draw(&failures(12)).expect("drawn");
    assert!(close(pilot.strata[0].inclusion_probability.expect("cases"), 3.0 / 12.0));
    let main = Setup::new(one_stratum(5)).excluding("pilot", &identities(&pilot), true);
    let main = main.draw(&failures(12)).expect("drawn");
    // The same seed: the next five tickets.
    assert_eq!(numbers(&main), [3, 7, 0, 11, 6]);
    assert_eq!((pilot.frame_digest, pilot.assignment_digest), (main.frame_digest, main.assignment_digest));
    let stratum = &main.strata[0];
    assert_eq!((stratum.population, stratum.excluded, stratum.available(), stratum.n), (12, 3, 9, 5));
    assert!(close(main.cases[0].inclusion_probability, 5.0 / 9.0));
    assert!(close(main.cases[0].unconditional_probability.expect("same design"), 5.0 / 12.0));
    assert_eq!(main.cases.iter().map(|case| case.position).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[test]
fn unconditional_probability_is_unknown_after_another_design() {
    let frame = failures(12);
    let other = Setup::new(one_stratum(5)).excluding("other", &[frame[0].identity.clone()], false);
    let drawn = other.draw(&frame).expect("drawn");
    assert!(close(drawn.cases[0].inclusion_probability, 5.0 / 11.0));
    assert_eq!(drawn.cases[0].unconditional_probability, None);
    assert!(drawn.strata[0].unconditional_reason.as_deref().is_some_and(|why| why.contains("batch other")));

    // A batch that has no case in this frame says nothing about it.
    let elsewhere = CaseIdentity::parse("another-run/c").expect("valid");
    let drawn = Setup::new(one_stratum(5)).excluding("far", &[elsewhere], false).draw(&frame).expect("drawn");
    assert!(close(drawn.cases[0].unconditional_probability.expect("known"), 5.0 / 12.0));
    assert_eq!((drawn.excluded[0].cases, drawn.excluded[0].in_frame), (1, 0));
}

#[test]
fn unconditional_probability_by_simulation() {
    // A pilot of 4 and a main sample of 6 out of 20 under 2,000 seeds: P(case 0 in main) = 6/20. The standard error is
    // √(0.3·0.7/2000) = 0.01025; the bound is 3.3 of them.
    let frame = failures(20);
    let mut hits = 0;
    for number in 0..2_000 {
        let mut pilot = Setup::new(one_stratum(4));
        pilot.seed = seed(&format!("pilot-{number}"));
        let pilot = pilot.draw(&frame).expect("drawn");
        let mut main = Setup::new(one_stratum(6)).excluding("pilot", &identities(&pilot), true);
        main.seed = seed(&format!("main-{number}"));
        let main = main.draw(&frame).expect("drawn");
        hits += u32::from(main.cases.iter().any(|drawn| drawn.case == frame[0].identity));
    }
    let share = f64::from(hits) / 2_000.0;
    assert!((share - 0.3).abs() < 0.034, "{share}");
}

#[test]
fn short_strata_warn_with_numbers_and_empty_ones_fail() {
    let short = Setup::new(one_stratum(20)).draw(&failures(12)).expect("short is a warning");
    assert_eq!((short.strata[0].n, short.strata[0].shortfall), (12, 8));
    assert_eq!(short.warnings[0].to_string(), "stratum S: 12 of 20 cases (it has 12)");
    assert!(close(short.cases[0].inclusion_probability, 1.0));

    let mut setup = Setup::new(one_stratum(2));
    let frame = vec![case(0, Verdict::Pass)];
    let empty = empties(&setup, &frame);
    assert_eq!(empty[0].reason, "no case of the frame meets its conditions");
    setup.allow_empty = true;
    let drawn = setup.draw(&frame).expect("allowed");
    assert_eq!((drawn.cases.len(), drawn.strata[0].shortfall), (0, 2));
    assert!(matches!(drawn.warnings[0], Warning::Empty { .. }));
    assert_eq!(drawn.strata[0].inclusion_probability, None);
}

#[test]
fn reasons_for_emptiness_tell_what_took_the_cases() {
    let all = identities(&Setup::new(one_stratum(3)).draw(&failures(3)).expect("drawn"));
    let empty = empties(&Setup::new(one_stratum(1)).excluding("b", &all, true), &failures(3));
    assert_eq!(empty[0].reason, "all its 3 cases are in earlier batches");

    let two = bound(
        "[[stratum]]\nid='late'\ntitle='l'\nquota=1\nfilter={gar=true}\npriority=2\n\
         [[stratum]]\nid='early'\ntitle='e'\nquota=1\npriority=1\n",
    );
    let empty = empties(&Setup::new(two), &failures(4));
    // Cases 0 and 3 show the gold action.
    assert_eq!(empty[0].reason, "the 2 cases that meet its conditions belong to strata asked before");
}

#[test]
fn counts_of_the_frame_close() {
    // 10 fails (gar: 0 3 6 9), 5 passes (10–14; gar: 12), one copy of a fail.
    let mut frame = failures(10);
    frame.extend((10..15).map(|index| case(index, Verdict::Pass)));
    frame.push(FrameCase { drawable: false, ..case(15, Verdict::Fail) });
    let plan = bound(
        "[[stratum]]\nid='F'\ntitle='f'\nquota=2\nfilter={verdict='FAIL'}\n\
         [[stratum]]\nid='G'\ntitle='g'\nquota=1\nfilter={gar=true}\n",
    );
    let drawn = Setup::new(plan.clone()).draw(&frame).expect("drawn");
    let counts: Vec<_> = drawn.strata.iter().map(|s| (s.population, s.n, s.overlap)).collect();
    assert_eq!(counts, [(10, 2, 4), (1, 1, 0)]);
    let report = &drawn.frame;
    assert_eq!((report.cases, report.undrawable, report.unreached), (16, 1, 4));
    assert_eq!(report.overlaps, [Overlap { owner: id("F"), also: id("G"), cases: 4 }]);
    let unreached: Vec<_> = report.unreached_cells().map(|c| (c.verdict, c.drawable, c.owned)).collect();
    assert_eq!(unreached, [(Some(Verdict::Pass), 5, 1)]);
    assert!(drawn.warnings.contains(&Warning::Undrawable { cases: 1 }));
    let texts: Vec<&str> = report.findings.iter().map(|finding| finding.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "1 of 5 passing cases of xlam (m) are in reach (stratum G). What is found in miss_func 1 of 5 stands for the \
             cases that the strata choose, not for the others.",
            "4 cases of stratum F meet the conditions of G too and belong to F, which is asked first.",
            "1 case can never be drawn: later copies of a duplicate id, and records without a usable id. The sample says \
             nothing about them.",
        ]
    );
    let none = SqlMatches::new();
    assert_eq!(frame_report(&frame, &Assigner::new(&plan, &none).expect("no SQL")), *report);
}

#[test]
fn a_case_that_is_there_twice_is_refused() {
    let mut frame = failures(3);
    frame.push(frame[1].clone());
    let error = Setup::new(one_stratum(1)).draw(&frame).expect_err("twice");
    assert!(matches!(error, DrawError::Duplicate(_)), "{error}");
}

#[test]
fn frame_digest_covers_every_field_and_no_order() {
    let frame = failures(5);
    let whole = frame_digest(&frame).expect("unique");
    assert_eq!(frame_digest(frame.iter().rev()).expect("unique"), whole);
    let changes: [fn(&mut FrameCase); 5] = [
        |case| case.gar_hit = !case.gar_hit,
        |case| case.error_record = true,
        |case| case.drawable = false,
        |case| case.verdict = None,
        |case| case.condition = "sri-v1".into(),
    ];
    for change in changes {
        let mut other = frame.clone();
        change(&mut other[2]);
        assert_ne!(frame_digest(&other).expect("unique"), whole);
    }
    let mut streamed = FrameDigest::default();
    for case in &frame {
        streamed.push(case).expect("sorted");
    }
    assert_eq!(streamed.finish(), whole);
    let mut unsorted = FrameDigest::default();
    unsorted.push(&frame[1]).expect("first");
    assert!(unsorted.push(&frame[0]).is_err());
}

#[test]
fn json_has_the_field_names_that_scripts_rely_on() {
    let drawn = Setup::new(one_stratum(2)).draw(&failures(3)).expect("drawn");
    let json = serde_json::to_value(&drawn).expect("serialises");
    for key in ["id", "N", "n", "quota", "shortfall"] {
        assert!(json["strata"][0].get(key).is_some(), "{key}");
    }
    for key in ["case", "stratum", "ticket", "inclusion_probability"] {
        assert!(json["cases"][0].get(key).is_some(), "{key}");
    }
    assert_eq!((&json["strata"][0]["N"], &json["seed"]), (&3.into(), &"audit-1".into()));
}

#[test]
fn shards_of_two_designs_do_not_merge() {
    let (plan, seed, parts) = (one_stratum(2), seed("s"), Parts::default());
    let (one, two) = (parts.design(&plan, &seed, &[], vec![2]), parts.design(&plan, &seed, &[], vec![2]));
    assert_eq!(Sampler::new(&one).merge(Sampler::new(&two)), Err(OtherDesign));
    assert_eq!(Sampler::new(&one).merge(Sampler::new(&one)), Ok(()));
}
