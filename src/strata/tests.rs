//! Tests of plans: the published design, the file format's complaints, binding and ownership.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::model::{CaseIdentity, Category, RunName, StratumId, Transition, Verdict};

fn plan(name: &str) -> Plan {
    Plan::parse(name, bundled(name).expect("bundled")).expect("a bundled plan parses")
}

fn id(text: &str) -> StratumId {
    StratumId::parse(text).expect("valid")
}

fn run(text: &str) -> RunName {
    RunName::parse(text).expect("valid")
}

fn role(text: &str) -> Role {
    Role::parse(text).expect("valid")
}

fn case(run_name: &str, category: Category, verdict: Option<Verdict>, transition: Option<&str>) -> FrameCase {
    FrameCase {
        identity: CaseIdentity::parse(&format!("{run_name}/multi_turn_{category}_1")).expect("valid"),
        run: run(run_name),
        model: "vendor/model".into(),
        condition: "baseline".into(),
        category,
        verdict,
        transition: transition.map(|text| Transition::parse(text).expect("valid")),
        gar_hit: false,
        error_record: false,
        drawable: true,
    }
}

fn owner(bound: &BoundPlan, case: &FrameCase) -> Option<String> {
    let matches = SqlMatches::new();
    let assigner = Assigner::new(bound, &matches).expect("no SQL");
    let index = assigner.owner(case)?;
    bound.plan().strata.get(index).map(|stratum| stratum.id.to_string())
}

/// A plan of one stratum with a given filter, over roles `a` (paired with `b`) and `c`.
fn with_filter(filter: &str) -> Result<Plan, PlanError> {
    let text = format!(
        "id = \"p\"\ntitle = \"t\"\n[runs]\na = \"run-a\"\nb = \"run-b\"\nc = \"run-c\"\n[pairs]\na = \"b\"\n\
         [[stratum]]\nid = \"S\"\ntitle = \"s\"\nquota = 1\nfilter = {filter}\n"
    );
    Plan::parse("p.toml", &text)
}

#[test]
fn quotas_are_those_of_the_published_audit() {
    // Main sample of 200 and pilot of 20, by stratum, as the study's tables state them.
    let quotas = |plan: &Plan| -> Vec<(String, u64)> {
        plan.strata.iter().map(|s| (s.id.to_string(), s.quota.expect("fixed"))).collect()
    };
    let expect = |list: [u64; 7]| -> Vec<(String, u64)> {
        ["A", "B", "C", "D", "E", "F", "G"].map(str::to_owned).into_iter().zip(list).collect()
    };
    assert_eq!(quotas(&plan("mechanism")), expect([48, 30, 40, 30, 20, 22, 10]));
    assert_eq!(quotas(&plan("pilot")), expect([5, 3, 4, 3, 2, 2, 1]));
}

#[test]
fn strata_of_the_published_audit_own_what_its_table_says() {
    use Category::{Base, LongContext, MissFunc, MissParam};
    use Verdict::{Fail, Pass};
    let bound = bind(&plan("mechanism"), &BTreeMap::new()).expect("default bindings");
    for (run, category, verdict, transition, stratum) in [
        ("xlam", MissFunc, Fail, None, Some("A")),
        ("xlam", MissParam, Fail, None, Some("B")),
        ("xlam", MissFunc, Pass, None, None),
        ("xlam", Base, Fail, None, None),
        ("qwen", Base, Fail, Some("FAIL_to_FAIL"), Some("C")),
        ("gptoss", LongContext, Pass, Some("PASS_to_FAIL"), Some("D")),
        ("qwen", MissParam, Fail, Some("FAIL_to_PASS"), Some("E")),
        ("qwen", MissFunc, Pass, Some("PASS_to_FAIL"), Some("F")),
        ("gptoss", MissFunc, Fail, Some("FAIL_to_FAIL"), Some("G")),
        ("qwen", Base, Pass, Some("PASS_to_PASS"), None),
        ("gptoss", Base, Fail, Some("FAIL_to_PASS"), None),
        ("qwen", Base, Fail, None, None),
    ] {
        let case = case(run, category, Some(verdict), transition);
        assert_eq!(owner(&bound, &case).as_deref(), stratum, "{case:?}");
    }
    let unscored = case("xlam", MissFunc, None, None);
    assert_eq!(owner(&bound, &unscored), None, "unscored is never a fail");
    let copy = FrameCase { drawable: false, ..case("xlam", MissFunc, Some(Fail), None) };
    assert_eq!(owner(&bound, &copy), None, "a copy of a duplicate id is never drawn");
}

#[test]
fn pilot_and_main_plan_ask_the_same_but_are_two_plans() {
    let (main, pilot) = (plan("mechanism"), plan("pilot"));
    assert_ne!(main.digest(), pilot.digest());
    let digest = |plan| bind(plan, &BTreeMap::new()).expect("binds").assignment_digest();
    assert_eq!(digest(&main), digest(&pilot));
    let other = BTreeMap::from([(role("xlam"), run("another"))]);
    assert_ne!(digest(&main), bind(&main, &other).expect("binds").assignment_digest());
}

#[test]
fn digest_is_of_the_value_not_of_the_text() {
    let one = with_filter(r#"{ run = "c", category = ["base", "miss_func"], verdict = "FAIL" }"#).expect("valid");
    let two =
        with_filter("{ verdict = ['fail'], run = ['c'], category = ['miss_func', 'base'] } # same").expect("valid");
    let three = with_filter(r#"{ run = "c", category = ["base", "miss_func"], verdict = "PASS" }"#).expect("valid");
    assert_eq!(one.digest(), two.digest());
    assert_ne!(one.digest(), three.digest());
}

#[test]
fn quickstart_has_one_stratum_per_category_verdict_and_gar() {
    let quick = plan("quickstart");
    // 4 categories × 2 verdicts × 2.
    assert_eq!(quick.strata.len(), 16);
    let wanted =
        |title: &str| quick.strata.iter().find(|stratum| stratum.title.ends_with(title)).map(|s| s.id.to_string());
    let expected = wanted("miss_func, PASS, gold action not seen").expect("such a stratum");
    // Raters see ids: none may say what the metric or the grader says.
    let telling = ["gar", "pass", "fail", "miss"];
    assert!(quick.strata.iter().all(|stratum| telling.iter().all(|word| !stratum.id.as_str().contains(word))));
    let bound = bind(&quick, &BTreeMap::from([(role("run"), run("mine"))])).expect("binds");
    let masked = case("mine", Category::MissFunc, Some(Verdict::Pass), None);
    assert_eq!(owner(&bound, &masked), Some(expected));
    assert_eq!(owner(&bound, &case("other", Category::MissFunc, Some(Verdict::Pass), None)), None);
}

#[test]
fn cells_split_by_listed_dimensions_and_stand_in_file_order() {
    let text = "id='p'\ntitle='t'\n[[cells]]\nid='c'\ntitle='C'\nmodel=['x/y','z']\nby=['model','gar']\nverdict='PASS'\n\
                quota=1\n[[stratum]]\nid='s'\ntitle='S'\nquota=1\npriority=-1\n";
    let plan = Plan::parse("p.toml", text).expect("valid");
    let ids: Vec<&str> = plan.strata.iter().map(|stratum| stratum.id.as_str()).collect();
    assert_eq!(ids, ["c-01", "c-02", "c-03", "c-04", "s"]);
    let titles: Vec<&str> = plan.strata.iter().map(|stratum| stratum.title.as_str()).collect();
    let seen = "gold action seen";
    assert_eq!(titles[..2], [format!("C: x/y, {seen}"), "C: x/y, gold action not seen".to_owned()]);
    let bound = bind(&plan, &BTreeMap::new()).expect("no roles");
    assert_eq!(bound.frame_runs(), None, "a plan without roles is about all runs");
    // The stratum without a filter is asked first, so it owns everything.
    assert_eq!(bound.order(), [4, 0, 1, 2, 3]);
    assert_eq!(owner(&bound, &case("r", Category::Base, Some(Verdict::Pass), None)).as_deref(), Some("s"));
}

#[test]
fn nested_conditions_follow_logic() {
    let filter = "{ run = 'a', any = [{ category = 'base', verdict = 'PASS' }, { not = { gar = true } }], \
                  all = [{ error_record = false }, { model = ['vendor/model', 'm2'] }] }";
    let bound = bind(&with_filter(filter).expect("valid"), &BTreeMap::new()).expect("binds");
    let base = case("run-a", Category::Base, Some(Verdict::Fail), None);
    let check = |case: FrameCase| owner(&bound, &case).is_some();
    assert!(check(base.clone()));
    assert!(!check(FrameCase { gar_hit: true, ..base.clone() }));
    assert!(check(FrameCase { gar_hit: true, verdict: Some(Verdict::Pass), ..base.clone() }));
    assert!(!check(FrameCase { error_record: true, ..base.clone() }));
    assert!(!check(FrameCase { model: "other".into(), ..base.clone() }));
    assert!(!check(FrameCase { run: run("run-c"), ..base }));
}

#[test]
fn complaints_name_the_place() {
    let at = |text: &str| {
        let error = Plan::parse("p.toml", text).expect_err(text);
        (error.line, error.column, error.problem)
    };
    let head = "id = \"p\"\ntitle = \"t\"\n";
    let (line, column, problem) = at(&format!("{head}[[stratum]]\nid = \"A\"\ntitle = \"a\"\nquotta = 3\n"));
    assert_eq!((line, column), (6, 1));
    assert!(matches!(&problem, Problem::Toml(text) if text.contains("quotta")), "{problem}");

    let (line, column, problem) = at(&format!("{head}[[stratum]]\nid = \"A\"\ntitle = \"a\"\nquota = 0\n"));
    assert_eq!((line, column, problem), (6, 9, Problem::Zero { key: "quota" }));

    let (line, _, problem) = at(&format!("{head}[[stratum]]\nid = \"A\"\ntitle = \"a\"\n"));
    assert_eq!((line, problem), (4, Problem::NoQuota { stratum: "A".into() }));

    let twice = "[[stratum]]\nid = \"A\"\ntitle = \"a\"\nquota = 1\n";
    let (line, column, problem) = at(&format!("{head}{twice}{twice}"));
    assert_eq!((line, column, problem), (8, 6, Problem::DuplicateStratum { id: "A".into() }));

    assert_eq!(at(head).2, Problem::NoStrata);
    assert!(matches!(at("id = \"p\"\ntitle = \n").2, Problem::Toml(_)));
    assert_eq!(at("id = \"p\"\ntitle = \n").0, 2);
    assert!(matches!(at(&format!("{head}total = 5\n{twice}")).2, Problem::Meaningless { key: "total", .. }));
    assert!(matches!(at(&format!("{head}allocation = \"neyman\"\n{twice}")).2, Problem::NoTotal { .. }));
    assert!(matches!(at(&format!("{head}allocation = \"best\"\n{twice}")).2, Problem::UnknownWord { .. }));
    assert!(matches!(at(&format!("{head}seed = \"a:b\"\n{twice}")).2, Problem::Name(_)));
    let computed = format!("{head}allocation = \"neyman\"\ntotal = 9\n");
    assert!(matches!(at(&format!("{computed}{twice}")).2, Problem::Meaningless { key: "quota", .. }));
    let guess = "[[stratum]]\nid = \"A\"\ntitle = \"a\"\nrate_guess = 1.0\n";
    assert!(matches!(at(&format!("{computed}{guess}")).2, Problem::Rate { .. }));
}

#[test]
fn filters_that_say_nothing_or_nonsense_are_refused() {
    let problem = |filter: &str| with_filter(filter).expect_err(filter).problem;
    assert!(matches!(problem("{ run = 'xlam' }"), Problem::UnknownRole { .. }));
    assert!(matches!(problem("{ category = 'bse' }"), Problem::UnknownWord { what: "category", .. }));
    assert!(matches!(problem("{ verdict = 'maybe' }"), Problem::UnknownWord { what: "verdict", .. }));
    assert!(matches!(problem("{ run = 'a', transition = 'up' }"), Problem::UnknownWord { .. }));
    assert!(matches!(problem("{ category = [] }"), Problem::Empty { key: "category" }));
    assert!(matches!(problem("{ any = [] }"), Problem::Empty { key: "any" }));
    assert!(matches!(problem("{ not = {} }"), Problem::Empty { key: "filter" }));
    assert!(matches!(problem("{ gar = 'yes' }"), Problem::Toml(_)));
    assert!(matches!(problem("{ category = { base = 1 } }"), Problem::Toml(_)));
    assert_eq!(
        problem("{ run = 'c', transition = 'PASS_to_FAIL' }"),
        Problem::NoPair { role: "c".into() },
        "role c has no second condition"
    );
    assert!(with_filter("{ run = 'a', transition = 'PASS_to_FAIL' }").is_ok());
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let nested = |depth: usize| format!("{}{{ gar = true }}{}", "{ not = ".repeat(depth), " }".repeat(depth));
    assert!(with_filter(&nested(10)).is_ok());
    assert!(matches!(with_filter(&nested(20)).expect_err("deep").problem, Problem::TooDeep { .. }));
    assert!(with_filter(&nested(5_000)).is_err());
}

#[test]
fn errors_carry_place_and_hint_to_the_user() {
    let error: crate::error::Error = with_filter("{ run = 'xlam' }").expect_err("unknown role").into();
    assert_eq!(error.to_string(), "p.toml:13:18: role `xlam` is not declared");
    assert_eq!(error.hint_text(), Some("declare it under [roles], or use one of: a, b, c"));
}

#[test]
fn unbound_roles_leave_their_strata_empty_with_the_reason() {
    let known = BTreeSet::from([run("xlam"), run("qwen")]);
    let bound = bind_known(&plan("mechanism"), &BTreeMap::new(), &known).expect("binds");
    let unbound: Vec<&str> = bound.unbound_roles().into_iter().map(Role::as_str).collect();
    assert_eq!(unbound, ["gptoss", "gptoss_sri", "qwen_sri"]);
    let reasons: Vec<(String, String)> = bound.unbound_strata().map(|(s, why)| (s.to_string(), why)).collect();
    assert_eq!(reasons.iter().map(|(s, _)| s.as_str()).collect::<Vec<_>>(), ["C", "D", "E", "F", "G"]);
    assert_eq!(reasons[0].1, "no run is bound to role qwen_sri");
    assert_eq!(reasons[1].1, "no run is bound to roles gptoss, gptoss_sri");
    assert_eq!(bound.frame_runs(), Some(known));
}

#[test]
fn the_frame_is_made_of_baselines() {
    let bound = bind(&plan("mechanism"), &BTreeMap::new()).expect("binds");
    assert_eq!(bound.frame_runs(), Some(BTreeSet::from([run("gptoss"), run("qwen"), run("xlam")])));
    assert_eq!(bound.pairs().get(&run("qwen")), Some(&run("qwen_sri")));
}

#[test]
fn bindings_that_contradict_the_plan_are_refused() {
    let plan = plan("mechanism");
    let bind_one = |name: &str, to: &str| bind(&plan, &BTreeMap::from([(role(name), run(to))]));
    assert!(matches!(bind_one("quen", "x"), Err(BindError::UnknownRole { .. })));
    assert!(matches!(bind_one("qwen", "qwen_sri"), Err(BindError::OneRunPair { .. })));
    assert!(matches!(bind_one("qwen", "gptoss"), Err(BindError::TwoSeconds { .. })));
    let known = BTreeSet::from([run("xlam")]);
    let missing = bind_known(&plan, &BTreeMap::from([(role("xlam"), run("no"))]), &known);
    assert!(matches!(missing, Err(BindError::UnknownRun { .. })));
}

#[test]
fn sql_conditions_narrow_and_must_be_evaluated() {
    let text =
        "id='p'\ntitle='t'\n[[stratum]]\nid='S'\ntitle='s'\nquota=1\nfilter={verdict='FAIL'}\nwhere='turns > 3'\n";
    let bound = bind(&Plan::parse("p.toml", text).expect("valid"), &BTreeMap::new()).expect("binds");
    assert_eq!(bound.sql_conditions().collect::<Vec<_>>(), [(&id("S"), "turns > 3")]);
    let none = SqlMatches::new();
    assert!(Assigner::new(&bound, &none).is_err());

    let fail = case("r", Category::Base, Some(Verdict::Fail), None);
    let pass = case("s", Category::Base, Some(Verdict::Pass), None);
    let other = case("t", Category::Base, Some(Verdict::Fail), None);
    let sets = SqlMatches::from([(id("S"), BTreeSet::from([fail.identity.clone(), pass.identity.clone()]))]);
    let assigner = Assigner::new(&bound, &sets).expect("evaluated");
    assert_eq!(assigner.owner(&fail), Some(0));
    assert_eq!(assigner.owner(&pass), None);
    assert_eq!(assigner.owner(&other), None);
    let fewer = SqlMatches::from([(id("S"), BTreeSet::new())]);
    assert_ne!(assigner.digest(), Assigner::new(&bound, &fewer).expect("evaluated").digest());
}
