//! Tests of allocation: worked by hand, and the laws of any allocation.

use proptest::prelude::*;

use super::*;

fn share(population: u64, sd: f64) -> Share {
    Share { population, available: population, minimum: 0, sd }
}

#[test]
fn proportional_rounds_by_largest_remainder() {
    // 10 seats over 53, 24, 23 votes: 5.3, 2.4, 2.3; one seat is left and goes to the largest fraction, .4.
    let shares = [share(53, 0.5), share(24, 0.5), share(23, 0.5)];
    let allocation = allocate(Method::Proportional, 10, &shares).expect("fits");
    assert_eq!(allocation.quotas, [5, 3, 2]);
    // Equal fractions go in the plan's order: 10 over three equal strata.
    let equal = allocate(Method::Equal, 10, &[share(50, 0.5); 3]).expect("fits");
    assert_eq!(equal.quotas, [4, 3, 3]);
}

#[test]
fn what_a_small_stratum_cannot_give_goes_to_the_others() {
    // Equal shares of 30 would be 10 each; the first has 4, so the other two share 26.
    let allocation = allocate(Method::Equal, 30, &[share(4, 0.5), share(100, 0.5), share(100, 0.5)]).expect("fits");
    assert_eq!((allocation.quotas, allocation.unplaced), (vec![4, 13, 13], 0));
    // A cascade: of 60 each gets 20; 5 is full, the rest is 27.5 each; 25 is full too, the last gets 30.
    let allocation = allocate(Method::Equal, 60, &[share(5, 0.5), share(25, 0.5), share(100, 0.5)]).expect("fits");
    assert_eq!(allocation.quotas, [5, 25, 30]);
    let all = allocate(Method::Proportional, 100, &[share(4, 0.5), share(6, 0.5)]).expect("fits");
    assert_eq!((all.quotas, all.unplaced), (vec![4, 6], 90));
}

#[test]
fn minimums_come_first_and_are_capped_by_what_is_there() {
    // Proportional to 900, 90, 10 of 100 would be 90, 9, 1; with a minimum of 20 the first keeps 60.
    let shares = [900, 90, 10].map(|n| Share { minimum: 20, ..share(n, 0.5) });
    let allocation = allocate(Method::Proportional, 100, &shares).expect("fits");
    assert_eq!(allocation.quotas, [70, 20, 10], "the last has 10 only");
    assert_eq!(
        allocate(Method::Proportional, 49, &shares),
        Err(AllocationError::TotalTooSmall { needed: 50, total: 49 })
    );
}

#[test]
fn neyman_follows_size_times_spread_and_never_goes_below_two() {
    // N·S = 100·0.5, 200·0.25, 1000·0: 50 : 50 : 0 of 22; the last keeps two.
    let allocation = allocate(Method::Neyman, 22, &[share(100, 0.5), share(200, 0.25), share(1_000, 0.0)]);
    assert_eq!(allocation.expect("fits").quotas, [10, 10, 2]);
    let single = allocate(Method::Neyman, 22, &[share(1, 0.5), share(100, 0.5)]).expect("fits");
    assert_eq!(single.quotas, [1, 21]);
    let none = allocate(Method::Neyman, 5, &[share(0, 0.5), share(100, 0.5)]).expect("fits");
    assert_eq!(none.quotas, [0, 5]);
}

#[test]
fn a_pilot_rate_is_pulled_towards_the_guess() {
    // (0 + 4·0.5)/(6 + 4) = 0.2: √(0.2·0.8) = 0.4. Without a pilot the guess itself: √(0.1·0.9) = 0.3.
    assert!((binary_sd(0.5, PilotCount { rated: 6, ones: 0 }) - 0.4).abs() < 1e-15);
    assert!((binary_sd(0.1, PilotCount::default()) - 0.3).abs() < 1e-15);
}

fn neyman_plan() -> BoundPlan {
    bound(
        "allocation='neyman'\ntotal=12\nminimum=3\n\
         [[stratum]]\nid='F'\ntitle='f'\nfilter={verdict='FAIL'}\n\
         [[stratum]]\nid='P'\ntitle='p'\nfilter={verdict='PASS'}\n",
    )
}

#[test]
fn a_plan_with_a_total_is_shared_out_over_its_frame() {
    let mut frame = failures(40);
    frame.extend((40..80).map(|index| case(index, Verdict::Pass)));
    let mut setup = Setup::new(neyman_plan());
    let even = setup.draw(&frame).expect("drawn");
    assert_eq!(even.strata.iter().map(|s| s.n).collect::<Vec<_>>(), [6, 6]);
    // Pilot: 8 of 16 in F, 0 of 16 in P. Centre (8 + 1)/(32 + 2) = 0.2647. F: (8 + 1.0588)/20 = 0.4529, S = 0.4978;
    // P: 1.0588/20 = 0.0529, S = 0.2239. 12·0.4978/(0.4978 + 0.2239) = 8.28 → 8 and 4.
    setup.sharing.pilot =
        BTreeMap::from([(id("F"), PilotCount { rated: 16, ones: 8 }), (id("P"), PilotCount { rated: 16, ones: 0 })]);
    let uneven = setup.draw(&frame).expect("drawn");
    assert_eq!(uneven.strata.iter().map(|s| s.n).collect::<Vec<_>>(), [8, 4]);
    // The quotas hang on what the pilot found, so the chance before the pilot is not known.
    let setup = setup.excluding("pilot", &[frame[0].identity.clone()], true);
    let drawn = setup.draw(&frame).expect("drawn");
    assert_eq!(drawn.cases[0].unconditional_probability, None);
    assert!(drawn.strata[0].unconditional_reason.as_deref().is_some_and(|why| why.contains("ratings")));
}

#[test]
fn a_total_that_finds_no_room_is_a_warning() {
    let mut frame = failures(5);
    frame.push(case(5, Verdict::Pass));
    let drawn = Setup::new(neyman_plan()).draw(&frame).expect("drawn");
    assert_eq!(drawn.strata.iter().map(|s| s.n).collect::<Vec<_>>(), [5, 1]);
    assert_eq!(drawn.warnings, [Warning::TotalShort { total: 12, unplaced: 6 }]);
    assert_eq!(drawn.warnings[0].to_string(), "the strata have room for 6 of 12 cases");
}

#[test]
fn impossible_pilot_counts_are_refused() {
    let mut setup = Setup::new(neyman_plan());
    setup.sharing.pilot = BTreeMap::from([(id("F"), PilotCount { rated: 1, ones: 2 })]);
    let error = setup.draw(&failures(20)).expect_err("2 of 1");
    assert!(matches!(error, DrawError::Allocation(AllocationError::PilotCount { .. })), "{error}");
}

fn shares() -> impl Strategy<Value = Vec<Share>> {
    let one = (0..500u64, 0..=10u64, 0..20u64, 0.0..=0.5f64).prop_map(|(population, kept, minimum, sd)| Share {
        population,
        available: population * kept / 10,
        minimum,
        sd,
    });
    prop::collection::vec(one, 1..12)
}

fn methods() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![Method::Proportional, Method::Equal, Method::Neyman])
}

proptest! {
    #[test]
    fn parts_sum_to_the_total_and_keep_the_bounds(method in methods(), shares in shares(), total in 0..3_000u64) {
        let Ok(allocation) = allocate(method, total, &shares) else { return Ok(()) };
        let floor = if method == Method::Neyman { 2 } else { 0 };
        prop_assert_eq!(allocation.quotas.iter().sum::<u64>() + allocation.unplaced, total);
        for ((quota, share), exact) in allocation.quotas.iter().zip(&shares).zip(&allocation.exact) {
            prop_assert!(*quota <= share.available);
            prop_assert!(*quota >= share.minimum.max(floor).min(share.available));
            prop_assert!((*quota as f64 - exact).abs() < 1.0 + 1e-9, "{quota} for {exact}");
        }
        if allocation.unplaced > 0 {
            prop_assert!(allocation.quotas.iter().zip(&shares).all(|(quota, share)| *quota == share.available));
        }
    }

    #[test]
    fn strata_between_their_bounds_share_in_proportion(shares in shares(), total in 1..3_000u64) {
        let Ok(allocation) = allocate(Method::Proportional, total, &shares) else { return Ok(()) };
        let free: Vec<f64> = allocation.exact.iter().zip(&shares)
            .filter(|(exact, s)| {
                let low = s.minimum.min(s.available) as f64;
                **exact > low + 1e-6 && **exact < s.available as f64 - 1e-6
            })
            .map(|(exact, share)| exact / share.population as f64)
            .collect();
        for pair in free.windows(2) {
            prop_assert!((pair[0] - pair[1]).abs() < 1e-9, "{free:?}");
        }
    }
}

fn refusal(change: impl Fn(&mut Sharing)) -> crate::error::Error {
    let mut setup = Setup::new(one_stratum(5));
    change(&mut setup.sharing);
    setup.draw(&failures(20)).expect_err("refused").into()
}

#[test]
fn the_users_numbers_replace_the_plans_and_wrong_ones_say_what_to_do() {
    let mut setup = Setup::new(one_stratum(5));
    setup.sharing.quotas = BTreeMap::from([(id("S"), 3)]);
    assert_eq!(setup.draw(&failures(20)).expect("drawn").strata[0].n, 3);
    // The plan's quotas do not matter where a total is shared.
    setup.sharing = Sharing { method: Method::Equal, total: Some(7), ..Sharing::of(setup.plan.plan()) };
    let shared = setup.draw(&failures(20)).expect("drawn");
    assert_eq!((shared.strata[0].n, shared.allocation), (7, Method::Equal));

    for (change, message, hint) in [
        (
            (|sharing: &mut Sharing| sharing.quotas = BTreeMap::from([(id("T"), 3)])) as fn(&mut Sharing),
            "the plan has no stratum T",
            Some("its strata: S"),
        ),
        (
            |sharing| sharing.method = Method::Equal,
            "the allocation equal needs a total to share",
            Some("say how many cases there are to share: --total N"),
        ),
        (
            |sharing| {
                (sharing.method, sharing.total) = (Method::Neyman, Some(9));
                sharing.guesses = BTreeMap::from([(id("S"), 1.0)]);
            },
            "the guess of stratum S must lie strictly between 0 and 1, got 1",
            Some("guess the share of cases with the finding, for example 0.1"),
        ),
        (
            |sharing| {
                (sharing.method, sharing.total, sharing.minimum) = (Method::Proportional, Some(9), Some(10));
            },
            "the strata's minimums need 10 cases, the total is 9",
            Some("raise `total` or lower `minimum`"),
        ),
    ] {
        let error = refusal(change);
        assert_eq!((error.message(), error.hint_text()), (message, hint));
    }
    let mut shares = Setup::new(neyman_plan());
    shares.sharing.method = Method::Fixed;
    let error: crate::error::Error = shares.draw(&failures(20)).expect_err("no quota").into();
    assert_eq!(error.message(), "stratum F has no quota (the plan shares a total: neyman)");
    assert_eq!(error.hint_text(), Some("name one: --quota F=N; or leave --allocation out"));
}

#[test]
fn neyman_with_guesses_worked_by_hand() {
    // 40 fails, 40 passes; guesses 0.5 and 0.1: S = 0.5 and √0.09 = 0.3. 16 · 0.5/0.8 = 10 and 6.
    let mut frame = failures(40);
    frame.extend((40..80).map(|index| case(index, Verdict::Pass)));
    let mut setup = Setup::new(neyman_plan());
    setup.sharing.total = Some(16);
    setup.sharing.guesses = BTreeMap::from([(id("F"), 0.5), (id("P"), 0.1)]);
    let drawn = setup.draw(&frame).expect("drawn");
    assert_eq!(drawn.strata.iter().map(|s| s.n).collect::<Vec<_>>(), [10, 6]);
}
