//! The draw against other programs and real runs: SQLite with the statement we print, published allocation values,
//! and the stratum sizes of public run files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use dualrater::digest::sha256_hex;
use dualrater::model::{CaseIdentity, Category, RunName, Seed, StratumId, Transition, Verdict};
use dualrater::sample::sql::{Engine, Source, SqlDraw, SqlStratum, draw_sql};
use dualrater::sample::{Draw, Exclusion, Kept, Request, Share, Sharing, allocate, draw};
use dualrater::strata::{BoundPlan, FrameCase, Method, Plan, Role, SqlMatches, bind, bundled};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

fn seed(text: &str) -> Seed {
    Seed::parse(text).expect("valid")
}

fn run_draw(plan: &BoundPlan, seed: &Seed, frame: &[FrameCase], exclusions: &[Exclusion], allow_empty: bool) -> Draw {
    let request = Request {
        plan,
        seed,
        sql_matches: &SqlMatches::new(),
        exclusions,
        sharing: &Sharing::of(plan.plan()),
        kept: &Kept::new(),
        replacements: &BTreeMap::new(),
        allow_empty,
    };
    draw(frame, &request).expect("drawn")
}

/// 10,000 cases in eight cells, whose ids hold accents, Japanese, quotes, spaces and a character outside the basic plane.
fn synthetic() -> Vec<FrameCase> {
    let run = RunName::parse("läufe-実行").expect("valid");
    (0..10_000usize)
        .map(|index| {
            let odd = ["é", "日本語", "it's", "a b", "𝔘"][index % 5];
            FrameCase {
                identity: CaseIdentity::new(&run, &format!("{odd}_{index}")).expect("valid"),
                run: run.clone(),
                model: "m".into(),
                condition: "baseline".into(),
                category: Category::ALL[index % 3],
                verdict: Some(if index % 7 < 3 { Verdict::Pass } else { Verdict::Fail }),
                transition: None,
                gar_hit: false,
                error_record: false,
                drawable: true,
            }
        })
        .collect()
}

fn sqlite_with(frame: &[FrameCase], plan: &BoundPlan) -> Connection {
    let db = Connection::open_in_memory().expect("opens");
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    db.create_scalar_function("sha256_hex", 1, flags, |args| Ok(sha256_hex(args.get::<String>(0)?.as_bytes())))
        .expect("registers");
    db.execute_batch("CREATE TABLE \"the \"\"frame\" (item_id TEXT NOT NULL, stratum TEXT NOT NULL) STRICT; BEGIN")
        .expect("creates");
    let none = SqlMatches::new();
    let assigner = dualrater::strata::Assigner::new(plan, &none).expect("no SQL");
    {
        let mut insert = db.prepare("INSERT INTO \"the \"\"frame\" VALUES (?1, ?2)").expect("prepares");
        // Against our order, so that nothing is drawn because of where it stands.
        for case in frame.iter().rev() {
            if let Some(owner) = assigner.owner(case) {
                insert.execute((case.identity.as_str(), plan.plan().strata[owner].id.as_str())).expect("inserts");
            }
        }
    }
    db.execute_batch("COMMIT").expect("commits");
    db
}

#[test]
fn sqlite_draws_the_same_sample_from_10_000_cases() {
    let text = "id='p'\ntitle='t'\n[[cells]]\nid=\"o'clock\"\ntitle='c'\nby=['category','verdict']\nquota=40\n\
                category=['base','long_context','miss_func']\n";
    let plan = bind(&Plan::parse("p.toml", text).expect("valid"), &BTreeMap::new()).expect("no roles");
    let frame = synthetic();
    let db = sqlite_with(&frame, &plan);
    let source = Source::Table("the \"frame".into());
    for text in ["audit-1", "läufe 日本", "it's \\ quoted"] {
        let seed = seed(text);
        let first = run_draw(&plan, &seed, &frame, &[], false);
        assert_eq!(first.cases.len(), 240);
        let taken: BTreeSet<CaseIdentity> = first.cases.iter().map(|drawn| drawn.case.clone()).collect();
        let batch = "first".parse().expect("valid");
        let exclusions = [Exclusion { batch, cases: taken.clone(), same_design: true }];
        let second = run_draw(&plan, &seed, &frame, &exclusions, false);
        let taken: Vec<CaseIdentity> = taken.into_iter().collect();

        for (ours, excluded) in [(&first, &[][..]), (&second, &taken[..])] {
            let mut expected: Vec<(String, String, String, i64)> = ours
                .cases
                .iter()
                .map(|c| (c.stratum.to_string(), c.case.to_string(), c.ticket.clone(), c.position.cast_signed()))
                .collect();
            expected.sort_by(|a, b| (&a.0, a.3).cmp(&(&b.0, b.3)));
            for prefilter in [false, true] {
                let strata = SqlStratum::of(ours);
                let engine = Engine::Sqlite;
                let request = SqlDraw { engine, source: &source, seed: &seed, strata: &strata, excluded, prefilter };
                let sql = draw_sql(&request).expect("written");
                let mut statement = db.prepare(&sql).expect("SQLite takes it");
                let rows: Vec<(String, String, String, i64)> = statement
                    .query_map([], |row| Ok((row.get(1)?, row.get(0)?, row.get(2)?, row.get(3)?)))
                    .expect("runs")
                    .collect::<Result<_, _>>()
                    .expect("rows");
                assert!(rows == expected, "seed {text}, prefilter {prefilter}, {} excluded", excluded.len());
            }
        }
    }
}

#[test]
fn allocation_of_200_over_the_apistrat_strata_is_that_of_the_survey_literature() {
    // Entries s01 (stratum sizes and scores of R's apistrat) and s06 (n·N_h/N and n·N_h·S_h/Σ before rounding).
    let Some(shared) = crate::shared::folder() else { return };
    let path = shared.join("data/reference_values.json");
    let text = std::fs::read_to_string(path).expect("readable");
    let values: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let entry = |id: &str| values["entries"].as_array()?.iter().find(|entry| entry["id"] == id);
    let (data, expected) = (entry("s01").expect("s01"), &entry("s06").expect("s06")["expected"]);
    let names = ["E", "M", "H"];
    let shares: Vec<Share> = names
        .iter()
        .map(|name| {
            let population = data["input"]["N"][name].as_u64().expect("N");
            let scores = data["input"]["api00"][name].as_array().expect("scores").iter();
            let scores: Vec<f64> = scores.map(|score| score.as_f64().expect("number")).collect();
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let sd = (scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (scores.len() as f64 - 1.0)).sqrt();
            Share { population, available: population, minimum: 0, sd }
        })
        .collect();
    for (method, key) in [(Method::Proportional, "proportional"), (Method::Neyman, "neyman")] {
        let allocation = allocate(method, 200, &shares).expect("fits");
        for (name, exact) in names.iter().zip(&allocation.exact) {
            let wanted = expected[key][name].as_f64().expect("number");
            assert!((exact - wanted).abs() < 1e-9, "{key} {name}: {exact} for {wanted}");
        }
        assert_eq!(allocation.quotas.iter().sum::<u64>(), 200);
    }
}

/// Verdict per case id of one run: the ids of its result files, fails those that a score file lists after its header.
fn verdicts(run: &str) -> Option<BTreeMap<String, Verdict>> {
    let mut verdicts = BTreeMap::new();
    for (folder, verdict) in [("result", Verdict::Pass), ("score", Verdict::Fail)] {
        let folder = crate::shared::path(&format!("runs/bfcl/{run}/{folder}"))?;
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(folder).expect("readable").map(|file| file.expect("entry").path()).collect();
        files.sort();
        for file in files {
            for line in std::fs::read_to_string(file).expect("readable").lines() {
                let value: serde_json::Value = serde_json::from_str(line).expect("JSON line");
                if let Some(id) = value["id"].as_str() {
                    verdicts.insert(id.to_owned(), verdict);
                }
            }
        }
    }
    Some(verdicts)
}

fn frame_of(run: &str, own: &BTreeMap<String, Verdict>, second: Option<&BTreeMap<String, Verdict>>) -> Vec<FrameCase> {
    let run = RunName::parse(run).expect("valid");
    own.iter()
        .map(|(id, verdict)| FrameCase {
            identity: CaseIdentity::new(&run, id).expect("valid"),
            run: run.clone(),
            model: run.to_string(),
            condition: "baseline".into(),
            category: Category::of_case_id(id).expect("category in the id"),
            verdict: Some(*verdict),
            transition: second.and_then(|second| second.get(id)).map(|to| Transition { from: *verdict, to: *to }),
            gar_hit: false,
            error_record: false,
            drawable: true,
        })
        .collect()
}

#[test]
fn strata_of_public_runs_have_the_sizes_counted_from_their_score_files() {
    // xLAM-2-8b (109/200 pass on miss_func, 129/200 on miss_param), gpt-oss-20b in two versions as the two conditions.
    let read = |run| verdicts(run);
    let Some(xlam) = read("Salesforce_Llama-xLAM-2-8b-fc-r") else { return };
    let (Some(gptoss), Some(fixed)) = (read("openai_gpt-oss-20b"), read("openai_gpt-oss-20b__harmony-fixes")) else {
        return;
    };
    let mut frame = frame_of("xlam", &xlam, None);
    frame.extend(frame_of("gptoss", &gptoss, Some(&fixed)));

    let plan = Plan::parse("strata/mechanism.toml", bundled("mechanism").expect("bundled")).expect("valid");
    let known: BTreeSet<RunName> =
        ["xlam", "gptoss", "gptoss_sri"].map(|run| RunName::parse(run).expect("valid")).into_iter().collect();
    let bound = dualrater::strata::bind_known(&plan, &BTreeMap::new(), &known).expect("binds");
    assert_eq!(bound.unbound_roles(), [&Role::parse("qwen").expect("valid"), &Role::parse("qwen_sri").expect("valid")]);

    let drawn = run_draw(&bound, &seed("audit-1"), &frame, &[], true);
    let sizes: Vec<(&str, u64, u64)> = drawn.strata.iter().map(|s| (s.id.as_str(), s.population, s.n)).collect();
    assert_eq!(
        sizes,
        [("A", 91, 48), ("B", 71, 30), ("C", 0, 0), ("D", 64, 30), ("E", 0, 0), ("F", 0, 0), ("G", 275, 10)]
    );
    // The plan reaches no xLAM case that passed: nothing can be said about masking there.
    let passing = drawn.frame.cells.iter().filter(|c| c.run.as_str() == "xlam" && c.verdict == Some(Verdict::Pass));
    let passing: Vec<(u64, u64)> = passing.map(|cell| (cell.drawable, cell.owned)).collect();
    assert_eq!(passing, [(153, 0), (109, 0), (129, 0)]);
    let masking = drawn.frame.findings.iter().find(|f| f.code == "unreached" && f.verdict == Some(Verdict::Pass));
    assert_eq!(
        masking.map(|finding| finding.text.as_str()),
        Some(
            "No stratum reaches a passing case of xlam: 391 cases (base 153, miss_func 109, miss_param 129). The audit \
             cannot say anything about masking there (a pass without the gold action)."
        )
    );
}

#[test]
fn the_study_draws_its_pilot_first_and_excludes_it() {
    // Every stratum of the study filled with 100 cases of its kind.
    let kinds = [
        ("xlam", Category::MissFunc, Verdict::Fail, None),
        ("xlam", Category::MissParam, Verdict::Fail, None),
        ("qwen", Category::Base, Verdict::Fail, Some("FAIL_to_FAIL")),
        ("gptoss", Category::MissFunc, Verdict::Pass, Some("PASS_to_FAIL")),
        ("qwen", Category::MissFunc, Verdict::Fail, Some("FAIL_to_PASS")),
        ("qwen", Category::MissParam, Verdict::Pass, Some("PASS_to_FAIL")),
        ("gptoss", Category::LongContext, Verdict::Fail, Some("FAIL_to_FAIL")),
    ];
    let mut frame = Vec::new();
    for (run, category, verdict, transition) in kinds {
        let run = RunName::parse(run).expect("valid");
        frame.extend((0..100).map(|index| FrameCase {
            identity: CaseIdentity::new(&run, &format!("multi_turn_{category}_{verdict}_{index}")).expect("valid"),
            run: run.clone(),
            model: run.to_string(),
            condition: "baseline".into(),
            category,
            verdict: Some(verdict),
            transition: transition.and_then(Transition::parse),
            gar_hit: false,
            error_record: false,
            drawable: true,
        }));
    }
    let plan = |name: &str| {
        let plan = Plan::parse(name, bundled(name).expect("bundled")).expect("valid");
        bind(&plan, &BTreeMap::new()).expect("default bindings")
    };
    let seed = seed("audit-1");
    let pilot = run_draw(&plan("strata/pilot.toml"), &seed, &frame, &[], false);
    assert_eq!(pilot.cases.len(), 20);
    let cases: BTreeSet<CaseIdentity> = pilot.cases.iter().map(|drawn| drawn.case.clone()).collect();
    let main_plan = plan("mechanism");
    let before = run_draw(&main_plan, &seed, &frame, &[], false);
    let same_design = before.assignment_digest == pilot.assignment_digest && before.frame_digest == pilot.frame_digest;
    assert!(same_design, "pilot and main plan ask the same of the same frame");
    let exclusions = [Exclusion { batch: "pilot".parse().expect("valid"), cases, same_design }];
    let main = run_draw(&main_plan, &seed, &frame, &exclusions, false);
    assert_eq!(main.cases.len(), 200);
    assert!(main.cases.iter().all(|drawn| !exclusions[0].cases.contains(&drawn.case)));
    let a = main.strata.iter().find(|s| s.id == StratumId::parse("A").expect("valid")).expect("stratum A");
    assert_eq!((a.population, a.excluded, a.n), (100, 5, 48));
    assert!((a.inclusion_probability.expect("cases") - 48.0 / 95.0).abs() < 1e-15);
    assert!((a.unconditional_probability.expect("same design") - 0.48).abs() < 1e-15);
}
