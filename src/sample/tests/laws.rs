//! The laws that every draw obeys, on random frames, and the uniformity of inclusion.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::subsequence;

use super::*;

/// A frame of up to 60 cases with any verdict, without duplicates.
fn frames() -> impl Strategy<Value = Vec<FrameCase>> {
    subsequence((0..200usize).collect::<Vec<_>>(), 0..60).prop_flat_map(|numbers| {
        let count = numbers.len();
        prop::collection::vec(any::<bool>(), count).prop_map(move |passes| {
            let verdict = |pass: bool| if pass { Verdict::Pass } else { Verdict::Fail };
            numbers.iter().zip(passes).map(|(number, pass)| case(*number, verdict(pass))).collect()
        })
    })
}

/// Three strata: the last overlaps with the others and owns what they leave.
fn three(quota: u64) -> BoundPlan {
    bound(&format!(
        "[[stratum]]\nid='F'\ntitle='f'\nquota={quota}\noptional=true\nfilter={{verdict='FAIL',gar=true}}\n\
         [[stratum]]\nid='P'\ntitle='p'\nquota={quota}\noptional=true\nfilter={{verdict='PASS'}}\n\
         [[stratum]]\nid='R'\ntitle='r'\nquota={quota}\noptional=true\n"
    ))
}

fn setup(quota: u64, text: &str) -> Setup {
    let mut setup = Setup::new(three(quota));
    setup.seed = seed(text);
    setup
}

fn of_stratum(draw: &Draw, stratum: &str) -> Vec<CaseIdentity> {
    draw.cases.iter().filter(|c| c.stratum.as_str() == stratum).map(|c| c.case.clone()).collect()
}

proptest! {
    #[test]
    fn input_order_never_matters((frame, shuffled) in frames().prop_flat_map(|frame| {
        (Just(frame.clone()), Just(frame).prop_shuffle())
    }), quota in 1..12u64) {
        prop_assert_eq!(setup(quota, "s").draw(&frame), setup(quota, "s").draw(&shuffled));
    }

    #[test]
    fn shard_borders_never_matter(frame in frames(), quota in 1..12u64, borders in prop::collection::vec(0..60usize, 0..5)) {
        let (plan, seed, parts) = (three(quota), seed("s"), Parts::default());
        let pilot: BTreeSet<CaseIdentity> = frame.iter().step_by(7).map(|c| c.identity.clone()).collect();
        let exclusions = [Exclusion { batch: BatchName::parse("b").expect("valid"), cases: pilot, same_design: false }];
        let design = parts.design(&plan, &seed, &exclusions, vec![quota; 3]);
        let mut whole = Sampler::new(&design);
        for case in &frame {
            whole.push(case);
        }

        let mut cuts: Vec<usize> = borders.into_iter().map(|cut| cut.min(frame.len())).collect();
        cuts.extend([0, frame.len()]);
        cuts.sort_unstable();
        // The last shard takes over the others, so the merge runs against the order of the frame too.
        let mut merged = Sampler::new(&design);
        for pair in cuts.windows(2).rev() {
            let mut shard = Sampler::new(&design);
            frame[pair[0]..pair[1]].iter().for_each(|case| shard.push(case));
            merged.merge(shard).expect("one design");
        }
        let digest = String::new();
        prop_assert_eq!(whole.finish(digest.clone()), merged.finish(digest));
    }

    #[test]
    fn a_larger_quota_extends_a_smaller(frame in frames(), small in 1..10u64, more in 0..10u64) {
        let few = setup(small, "s").draw(&frame).expect("optional strata");
        let many = setup(small + more, "s").draw(&frame).expect("optional strata");
        for stratum in ["F", "P", "R"] {
            prop_assert!(of_stratum(&many, stratum).starts_with(&of_stratum(&few, stratum)));
        }
    }

    #[test]
    fn a_new_case_moves_no_other(frame in frames(), quota in 1..10u64, number in 200..400usize) {
        let before = setup(quota, "s").draw(&frame).expect("optional strata");
        let mut grown = frame;
        grown.push(case(number, Verdict::Pass));
        let after = setup(quota, "s").draw(&grown).expect("optional strata");
        for stratum in ["F", "P", "R"] {
            let (was, mut is) = (of_stratum(&before, stratum), of_stratum(&after, stratum));
            is.retain(|case| grown.last().is_none_or(|new| new.identity != *case));
            // Either the new case is not drawn, or it displaces at most the last one.
            prop_assert!(was.starts_with(&is) && was.len() - is.len() <= 1, "{was:?} {is:?}");
        }
    }

    #[test]
    fn batches_drawn_apart_are_disjoint(frame in frames(), quota in 1..10u64, same_seed in any::<bool>()) {
        let first = setup(quota, "s").draw(&frame).expect("optional strata");
        let taken = identities(&first);
        let second = setup(quota, if same_seed { "s" } else { "t" }).excluding("first", &taken, true);
        let second = second.draw(&frame).expect("optional strata");
        let taken: BTreeSet<CaseIdentity> = taken.into_iter().collect();
        prop_assert!(identities(&second).iter().all(|case| !taken.contains(case)));
        // Every number of a stratum closes: drawn + left over + taken before = owned.
        for stratum in &second.strata {
            prop_assert_eq!(stratum.n, stratum.available().min(stratum.quota));
            prop_assert_eq!(stratum.shortfall, stratum.quota - stratum.n);
        }
    }

    #[test]
    fn every_drawn_case_is_a_distinct_case_of_its_stratum(frame in frames(), quota in 1..10u64) {
        let plan = three(quota);
        let none = SqlMatches::new();
        let assigner = Assigner::new(&plan, &none).expect("no SQL");
        let drawn = setup(quota, "s").draw(&frame).expect("optional strata");
        let distinct: BTreeSet<&CaseIdentity> = drawn.cases.iter().map(|c| &c.case).collect();
        prop_assert_eq!(distinct.len(), drawn.cases.len());
        for drawn in &drawn.cases {
            let case = frame.iter().find(|case| case.identity == drawn.case).expect("of the frame");
            let owner = assigner.owner(case).and_then(|index| plan.plan().strata.get(index));
            prop_assert_eq!(owner.map(|stratum| &stratum.id), Some(&drawn.stratum));
        }
        prop_assert_eq!(
            drawn.strata.iter().map(|s| s.population).sum::<u64>() + drawn.frame.unreached + drawn.frame.undrawable,
            drawn.frame.cases
        );
    }
}

/// χ² of inclusion counts under simple random sampling without replacement of n out of N, R times. The inclusion
/// indicators of one draw have variance f(1 − f) and covariance −f(1 − f)/(N − 1), so Σ(O − Rf)²·(N − 1)/(R·f(1 − f)·N)
/// has N − 1 degrees of freedom.
pub(super) fn chi_square(counts: &[u32], fraction: f64, rounds: u32) -> f64 {
    let (size, rounds) = (counts.len() as f64, f64::from(rounds));
    let sum: f64 = counts.iter().map(|count| (f64::from(*count) - rounds * fraction).powi(2)).sum();
    sum * (size - 1.0) / (rounds * fraction * (1.0 - fraction) * size)
}

#[test]
fn inclusion_is_uniform_over_10_000_seeds() {
    // 41 cases, 8 drawn: 40 degrees of freedom. Quantiles of χ²(40) at 0.001 and 0.999, from tables: 17.92, 73.40.
    const CASES: usize = 41;
    const ROUNDS: u32 = 10_000;
    let (plan, parts, frame) = (one_stratum(8), Parts::default(), failures(CASES));
    let (mut included, mut first) = (vec![0u32; CASES], vec![0u32; CASES]);
    for number in 0..ROUNDS {
        let seed = seed(&format!("uniform-{number}"));
        let design = parts.design(&plan, &seed, &[], vec![8]);
        let mut sampler = Sampler::new(&design);
        for case in &frame {
            sampler.push(case);
        }
        let drawn = numbers(&sampler.finish(String::new()).expect("drawn"));
        assert_eq!(drawn.len(), 8);
        for number in &drawn {
            included[*number] += 1;
        }
        first[drawn[0]] += 1;
    }
    let inclusion = chi_square(&included, 8.0 / CASES as f64, ROUNDS);
    assert!((17.92..73.40).contains(&inclusion), "inclusion: {inclusion}");
    let leading = chi_square(&first, 1.0 / CASES as f64, ROUNDS);
    assert!((17.92..73.40).contains(&leading), "first place: {leading}");
}
