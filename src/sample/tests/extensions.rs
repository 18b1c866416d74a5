//! Tests of extension: worked by hand on the twelve tickets of `sample_is_that_of_python_hashlib`, and its laws.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn kept(draw: &Draw) -> Kept {
    let one = |c: &DrawnCase| (c.case.clone(), KeptCase { stratum: c.stratum.clone(), ticket: c.ticket.clone() });
    draw.cases.iter().map(one).collect()
}

fn earlier<'a>(first: &'a Draw, kept: &'a Kept) -> Earlier<'a> {
    Earlier { frame_digest: &first.frame_digest, assignment_digest: Some(&first.assignment_digest), kept }
}

/// Draws on with larger quotas.
fn onwards(plan: BoundPlan, first: &Draw, seed_text: &str, quotas: &[(&str, u64)]) -> Setup {
    let mut setup = Setup::new(plan);
    setup.seed = seed(seed_text);
    setup.kept = kept(first);
    setup.sharing.quotas = quotas.iter().map(|(stratum, quota)| (id(stratum), *quota)).collect();
    setup.allow_empty = true;
    setup
}

#[test]
fn an_extension_keeps_every_case_and_says_what_is_new() {
    let frame = failures(12);
    let first = Setup::new(one_stratum(3)).draw(&frame).expect("drawn");
    let grown = onwards(one_stratum(3), &first, "audit-1", &[("S", 5)]).draw(&frame).expect("drawn");
    let held = kept(&first);
    let added = extension(&earlier(&first, &held), &grown).expect("extends");
    // The tickets' order of these twelve cases is 9, 8, 4, 3, 7, …
    let ids = |cases: &[DrawnCase]| cases.iter().map(|c| c.case.to_string()).collect::<Vec<_>>();
    let name = |number| format!("xlam/multi_turn_miss_func_{number}");
    assert_eq!(ids(&added.kept), [name(9), name(8), name(4)]);
    assert_eq!(ids(&added.added), [name(3), name(7)]);
    assert!(close(added.kept[0].inclusion_probability, 5.0 / 12.0));
    assert!(close(added.added[0].inclusion_probability, 5.0 / 12.0));
    assert_eq!(added.added[1].position, 5);

    // Under the second seed the order is 9, 1, 8, 4, 6, 0, …; 9, 8 and 4 are there already.
    let other = onwards(one_stratum(3), &first, "audit-2", &[("S", 5)]).draw(&frame).expect("drawn");
    let added = extension(&earlier(&first, &held), &other).expect("extends");
    assert_eq!(ids(&added.kept), [name(9), name(8), name(4)]);
    assert_eq!(ids(&added.added), [name(1), name(6)]);
    assert!(close(added.added[0].unconditional_probability.expect("known"), 5.0 / 12.0));
}

#[test]
fn a_replacement_is_the_next_ticket_beyond_the_quota() {
    let frame = failures(12);
    let first = Setup::new(one_stratum(3)).draw(&frame).expect("drawn");
    let mut setup = onwards(one_stratum(3), &first, "audit-1", &[("S", 3)]);
    setup.replacements = BTreeMap::from([(id("S"), 1)]);
    let replaced = setup.draw(&frame).expect("drawn");
    assert_eq!(numbers(&replaced), [9, 8, 4, 3]);
    let stratum = &replaced.strata[0];
    assert_eq!((stratum.quota, stratum.replacements, stratum.n, stratum.shortfall), (3, 1, 4, 0));
    assert!(close(replaced.cases[0].inclusion_probability, 4.0 / 12.0));
    // Later the quota is enlarged to 4: the replacement stays beside it.
    let mut more = onwards(one_stratum(3), &replaced, "audit-1", &[("S", 4)]);
    more.replacements = setup.replacements.clone();
    assert_eq!(numbers(&more.draw(&frame).expect("drawn")), [9, 8, 4, 3, 7]);
}

#[test]
fn what_does_not_extend_is_refused_with_the_reason() {
    let frame = failures(12);
    let first = Setup::new(one_stratum(3)).draw(&frame).expect("drawn");
    let held = kept(&first);
    let error = onwards(one_stratum(3), &first, "audit-1", &[("S", 2)]).draw(&frame).expect_err("smaller");
    assert_eq!(error.to_string(), "stratum S has 3 cases already; a quota of 2 would drop some");
    let same = onwards(one_stratum(3), &first, "audit-1", &[("S", 3)]).draw(&frame).expect("drawn");
    let error = extension(&earlier(&first, &held), &same).expect_err("nothing");
    assert_eq!(error.to_string(), "the extension adds no case: every stratum has the number that is asked for");
    let wider = onwards(one_stratum(3), &first, "audit-1", &[("S", 5)]).draw(&failures(13)).expect("drawn");
    assert!(matches!(extension(&earlier(&first, &held), &wider), Err(ExtensionError::Changed { what: "frame", .. })));
    // A case that passes now belongs to no stratum any more.
    let mut changed = frame.clone();
    changed[9].verdict = Some(Verdict::Pass);
    let error = onwards(one_stratum(3), &first, "audit-1", &[("S", 5)]).draw(&changed).expect_err("lost");
    assert!(matches!(&error, DrawError::Lost { case, .. } if case == &frame[9].identity), "{error}");
}

#[test]
fn a_total_is_shared_so_that_no_stratum_loses_a_case() {
    // 40 fails and 40 passes with 3 of each; 20 in equal parts are 10 each; 7 fails against 3: 20 are 10 and 10 still,
    // 8 would be 4 each, but 7 + 3 are there.
    let mut frame = failures(40);
    frame.extend((40..80).map(|index| case(index, Verdict::Pass)));
    let plan = || {
        bound(
            "[[stratum]]\nid='F'\ntitle='f'\nquota=7\nfilter={verdict='FAIL'}\n\
             [[stratum]]\nid='P'\ntitle='p'\nquota=3\nfilter={verdict='PASS'}\n",
        )
    };
    let first = Setup::new(plan()).draw(&frame).expect("drawn");
    let share = |total| {
        let mut setup = onwards(plan(), &first, "audit-1", &[]);
        setup.sharing = Sharing { method: Method::Equal, total: Some(total), ..Sharing::of(setup.plan.plan()) };
        setup.draw(&frame).map(|drawn| drawn.strata.iter().map(|s| s.n).collect::<Vec<_>>())
    };
    assert_eq!(share(20).expect("drawn"), [10, 10]);
    assert_eq!(share(12).expect("drawn"), [7, 5]);
    assert_eq!(
        share(8).expect_err("too small").to_string(),
        "10 cases are drawn already; a total of 8 would drop some"
    );
}

#[test]
fn inclusion_after_an_extension_under_a_new_seed_is_uniform() {
    // 3 of 20, then 4 more under another seed, 10,000 times: every case has 7/20. Quantiles of χ²(19) at 0.001 and 0.999,
    // from tables: 5.41, 43.82. (A Python program with hashlib finds the same counts.)
    const ROUNDS: u32 = 10_000;
    let (plan, frame) = (one_stratum(3), failures(20));
    let sample = |seed_text: &str, parts: &Parts, quota: u64| {
        let seed = seed(seed_text);
        let design = parts.design(&plan, &seed, &[], vec![quota]);
        let mut sampler = Sampler::new(&design);
        for case in &frame {
            sampler.push(case);
        }
        sampler.finish(String::new()).expect("drawn")
    };
    let mut hits = [0u32; 20];
    for number in 0..ROUNDS {
        let first = sample(&format!("first-{number}"), &Parts::default(), 3);
        let parts = Parts { kept: kept(&first), ..Parts::default() };
        for number in numbers(&sample(&format!("second-{number}"), &parts, 7)) {
            hits[number] += 1;
        }
    }
    let found = laws::chi_square(&hits, 0.35, ROUNDS);
    assert!((5.41..43.82).contains(&found), "{found}: {hits:?}");
}

proptest! {
    /// Under one seed an extension is the draw with the larger numbers, whatever was drawn before and excluded.
    #[test]
    fn an_extension_is_the_larger_draw(
        fails in 1..40usize, passes in 1..40usize, small in 1..10u64, more in 1..10u64, taken in 0..5usize,
    ) {
        let plan = |quota: u64| bound(&format!(
            "[[stratum]]\nid='F'\ntitle='f'\nquota={quota}\nfilter={{verdict='FAIL'}}\n\
             [[stratum]]\nid='P'\ntitle='p'\nquota={quota}\nfilter={{verdict='PASS'}}\n"
        ));
        let mut frame = failures(fails);
        frame.extend((fails..fails + passes).map(|index| case(index, Verdict::Pass)));
        let taken: Vec<CaseIdentity> = frame.iter().step_by(3).take(taken).map(|case| case.identity.clone()).collect();
        let with = |setup: Setup| setup.excluding("pilot", &taken, true);
        let mut small_setup = with(Setup::new(plan(small)));
        small_setup.allow_empty = true;
        let first = small_setup.draw(&frame).expect("drawn");
        let mut large = with(Setup::new(plan(small + more)));
        large.allow_empty = true;
        let large = large.draw(&frame).expect("drawn");
        let quotas = [("F", small + more), ("P", small + more)];
        let grown = with(onwards(plan(small), &first, "audit-1", &quotas)).draw(&frame).expect("drawn");
        prop_assert_eq!(&grown.cases, &large.cases);
        for (one, other) in grown.strata.iter().zip(&large.strata) {
            prop_assert_eq!(one, other);
        }

        // Under another seed: the old cases are there, the numbers are the same, and the probabilities of all cases
        // that could be drawn sum to the sample's size.
        let other = with(onwards(plan(small), &first, "another", &quotas)).draw(&frame).expect("drawn");
        let all: BTreeSet<&CaseIdentity> = other.cases.iter().map(|drawn| &drawn.case).collect();
        prop_assert!(first.cases.iter().all(|drawn| all.contains(&drawn.case)));
        prop_assert_eq!(all.len(), other.cases.len());
        for (one, same) in other.strata.iter().zip(&large.strata) {
            prop_assert_eq!(one, same);
            let sum = one.inclusion_probability.unwrap_or(0.0) * one.available() as f64;
            prop_assert!((sum - one.n as f64).abs() < 1e-9);
        }
    }
}
