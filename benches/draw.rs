//! How long a draw takes. The same work in other programs: `benches/peers/draw.py`.
//!
//! `cargo bench --bench draw`

use std::collections::BTreeMap;

use dualrater::model::{CaseIdentity, Category, RunName, Seed, Verdict};
use dualrater::sample::{Design, Kept, Request, Sampler, Sharing, draw, frame_digest};
use dualrater::strata::{Assigner, BoundPlan, FrameCase, Method, Plan, SqlMatches, bind};

fn main() {
    divan::main();
}

/// 30 strata: 4 categories × 2 verdicts × GAR in four runs, less what does not occur; 40 cases of each.
const PLAN: &str = "id='p'\ntitle='t'\n[runs]\na='run-0'\nb='run-1'\nc='run-2'\nd='run-3'\n\
    [[cells]]\nid='c'\ntitle='c'\nrun=['a','b','c','d']\nby=['model','category','verdict']\nquota=40\n";

fn plan() -> BoundPlan {
    bind(&Plan::parse("p.toml", PLAN).expect("valid"), &BTreeMap::new()).expect("binds")
}

fn frame(cases: usize) -> Vec<FrameCase> {
    let runs: Vec<RunName> = (0..4).map(|run| RunName::parse(&format!("run-{run}")).expect("valid")).collect();
    (0..cases)
        .map(|index| {
            let run = &runs[index * 4 / cases];
            let category = Category::ALL[index % 4];
            FrameCase {
                identity: CaseIdentity::new(run, &format!("multi_turn_{category}_{index:07}")).expect("valid"),
                run: run.clone(),
                model: "vendor/model-8b".into(),
                condition: "baseline".into(),
                category,
                verdict: Some(if index % 7 < 3 { Verdict::Pass } else { Verdict::Fail }),
                transition: None,
                gar_hit: index % 3 == 0,
                error_record: false,
                drawable: true,
            }
        })
        .collect()
}

/// The whole call: digest of the frame, assignment, counts, tickets, lowest of each stratum.
#[divan::bench(args = [100_000, 1_000_000], sample_count = 10, sample_size = 1)]
fn draw_with_frame_digest(bencher: divan::Bencher, cases: usize) {
    let (plan, frame, seed) = (plan(), frame(cases), Seed::parse("audit-1").expect("valid"));
    let (none, sharing, kept, replacements) =
        (SqlMatches::new(), Sharing::of(plan.plan()), Kept::new(), BTreeMap::new());
    let request = Request {
        plan: &plan,
        seed: &seed,
        sql_matches: &none,
        exclusions: &[],
        sharing: &sharing,
        kept: &kept,
        replacements: &replacements,
        allow_empty: false,
    };
    bencher.bench(|| draw(divan::black_box(&frame), &request));
}

/// The same without the digest, on one thread: what a stream of cases costs.
#[divan::bench(args = [100_000, 1_000_000], sample_count = 10, sample_size = 1)]
fn sampler_one_thread(bencher: divan::Bencher, cases: usize) {
    let (plan, frame, seed) = (plan(), frame(cases), Seed::parse("audit-1").expect("valid"));
    let (none, kept, replacements) = (SqlMatches::new(), Kept::new(), BTreeMap::new());
    let design = Design {
        assigner: Assigner::new(&plan, &none).expect("no SQL"),
        seed: &seed,
        exclusions: &[],
        method: Method::Fixed,
        total: None,
        quotas: vec![40; plan.plan().strata.len()],
        quotas_from_ratings: false,
        unplaced: 0,
        kept: &kept,
        replacements: &replacements,
        allow_empty: false,
    };
    bencher.bench(|| {
        let mut sampler = Sampler::new(&design);
        for case in divan::black_box(&frame) {
            sampler.push(case);
        }
        sampler.finish(String::new())
    });
}

/// The frame's digest alone (the cases are sorted already).
#[divan::bench(args = [1_000_000], sample_count = 10, sample_size = 1)]
fn frame_digest_alone(bencher: divan::Bencher, cases: usize) {
    let frame = frame(cases);
    bencher.bench(|| frame_digest(divan::black_box(&frame)));
}
