//! What must hold for every ledger, on random ledgers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use tacita_accounting::{
    AccountError, Accountant, FilterError, Gdp, Ledger, Neighbours, Pld, RandomRuns, Rdp, RdpCurve,
    RdpFilter, Reading, Round, Sampling, Tcdp, Zcdp, whole_grid,
};

fn upper(accountant: &dyn Accountant, ledger: &Ledger, delta: f64) -> f64 {
    let reading = accountant.epsilon(ledger, delta).unwrap();
    reading.upper_bound().expect("a guarantee")
}

fn one(neighbours: Neighbours, sampling: Sampling, z: f64, times: u64) -> Ledger {
    let mut ledger = Ledger::new(neighbours);
    let round = Round::new(sampling, vec![z]).unwrap();
    ledger.push(round.times(times)).unwrap();
    ledger
}

fn poisson(rate: f64, z: f64, times: u64) -> Ledger {
    one(
        Neighbours::AddOrRemoveOne,
        Sampling::Poisson { rate },
        z,
        times,
    )
}

/// Rates from 1e-6 to 1, multipliers from 0.4 to 40, up to 1e5 steps, δ from 1e-12 to 0.03.
fn setting() -> impl Strategy<Value = (f64, f64, u64, f64)> {
    (
        -13.8..0.0_f64,
        -0.9..3.7_f64,
        0.0..11.5_f64,
        -27.6..-3.5_f64,
    )
        .prop_map(|(q, z, t, d)| (q.exp(), z.exp(), t.exp() as u64, d.exp()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 60, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn rdp_grows_with_rate_and_steps_and_falls_with_noise_and_delta(
        (rate, z, steps, delta) in setting(),
        factor in 1.01..3.0_f64,
    ) {
        let rdp = Rdp;
        // The search for the best order leaves a relative 1e-6 or less.
        let base = upper(&rdp, &poisson(rate, z, steps), delta);
        let room = 1e-6 * base + 1e-12;
        prop_assert!(upper(&rdp, &poisson((rate * factor).min(1.0), z, steps), delta) >= base - room);
        let longer = (steps as f64 * factor).ceil() as u64;
        prop_assert!(upper(&rdp, &poisson(rate, z, longer), delta) >= base - room);
        prop_assert!(upper(&rdp, &poisson(rate, z * factor, steps), delta) <= base + room);
        prop_assert!(upper(&rdp, &poisson(rate, z, steps), (delta * factor).min(0.5)) <= base + room);
    }

    #[test]
    fn accountants_keep_their_order((rate, z, steps, delta) in setting()) {
        let ledger = poisson(rate, z, steps);
        let rdp = upper(&Rdp, &ledger, delta);
        let tcdp = upper(&Tcdp::new(), &ledger, delta);
        let zcdp = upper(&Zcdp, &ledger, delta);
        prop_assert!(rdp <= tcdp * (1.0 + 1e-6) + 1e-12, "rdp {} above tcdp {}", rdp, tcdp);
        prop_assert!(rdp <= zcdp * (1.0 + 1e-6) + 1e-12, "rdp {} above zcdp {}", rdp, zcdp);
    }

    #[test]
    fn order_and_splitting_of_rounds_change_nothing(
        (rate, z, steps, delta) in setting(),
        other in 0.5..5.0_f64,
        cut in 0.0..1.0_f64,
    ) {
        let steps = steps.max(2);
        let first = ((steps as f64 * cut) as u64).clamp(1, steps - 1);
        let whole = whole_grid(&[poisson(rate, z, steps), poisson(rate, other, 3)]).unwrap();
        let split = whole_grid(&[
            poisson(rate, z, first), poisson(rate, other, 3), poisson(rate, z, steps - first),
        ]).unwrap();
        let accountants: [&dyn Accountant; 3] = [&Rdp, &Tcdp::new(), &Zcdp];
        for accountant in accountants {
            let (a, b) = (upper(accountant, &whole, delta), upper(accountant, &split, delta));
            prop_assert!((a - b).abs() <= 1e-12 * a, "{} and {}", a, b);
        }
    }

    #[test]
    fn joint_queries_cost_what_their_effective_multiplier_costs(
        (rate, z, steps, delta) in setting(),
        side in 1.1..10.0_f64,
    ) {
        let mut joint = Ledger::new(Neighbours::AddOrRemoveOne);
        let round = Round::new(Sampling::Poisson { rate }, vec![z, side * z]).unwrap();
        let effective = round.effective_noise_multiplier();
        joint.push(round.times(steps)).unwrap();
        let a = upper(&Rdp, &joint, delta);
        let b = upper(&Rdp, &poisson(rate, effective, steps), delta);
        prop_assert_eq!(a, b);
    }

    #[test]
    fn filter_never_admits_more_than_the_budget(
        (rate, z, _, delta) in setting(),
        epsilon in 0.2..8.0_f64,
        noises in prop::collection::vec(0.6..4.0_f64, 1..30),
    ) {
        let forecast = poisson(rate, z, 100);
        let mut filter = match RdpFilter::for_forecast(epsilon, delta, &forecast) {
            Ok(filter) => filter,
            Err(AccountError::OutOfReach { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        for factor in noises {
            let round = Round::new(Sampling::Poisson { rate }, vec![z * factor]).unwrap();
            let before = filter.ledger().rounds_made();
            match filter.admit(&round.times(10)) {
                Ok(()) => prop_assert_eq!(filter.ledger().rounds_made(), before + 10),
                Err(FilterError::Spent { .. }) => prop_assert_eq!(filter.ledger().rounds_made(), before),
                Err(error) => return Err(TestCaseError::fail(error.to_string())),
            }
        }
        prop_assert!(filter.epsilon_spent() <= epsilon);
        if filter.ledger().rounds_made() > 0 {
            // The best order can only do better than the one fixed beforehand.
            let best = upper(&Rdp, filter.ledger(), delta);
            prop_assert!(best <= filter.epsilon_spent() * (1.0 + 1e-6) + 1e-12);
        }
    }

    #[test]
    fn choosing_costs_more_than_one_run_and_the_more_the_more_runs(
        (rate, z, steps, delta) in setting(),
        shape in -0.9..3.0_f64,
    ) {
        let run = poisson(rate, z, steps.min(2000));
        let single = upper(&Rdp, &run, delta);
        let mut previous = single;
        for mean in [1.5, 4.0, 40.0] {
            let runs = RandomRuns::negative_binomial(shape, mean).unwrap();
            prop_assert!((runs.mean() / mean - 1.0).abs() < 1e-9);
            let chosen = runs.epsilon(&run, delta).unwrap().upper_bound().unwrap();
            prop_assert!(chosen >= previous * (1.0 - 1e-6));
            previous = chosen;
        }
    }

    #[test]
    fn best_of_any_costs_at_least_the_best_of_each(
        (rate, z, steps, delta) in setting(),
        (other_rate, other_z, other_steps, _) in setting(),
        mean in 1.5..50.0_f64,
    ) {
        let runs = [poisson(rate, z, steps.max(1)), poisson(other_rate, other_z, other_steps.max(1))];
        for random in [RandomRuns::logarithmic(mean).unwrap(), RandomRuns::poisson(mean).unwrap()] {
            let of = |runs: &[Ledger]| {
                random.epsilon_of_any(runs, delta).unwrap().upper_bound().unwrap()
            };
            let any = of(&runs);
            prop_assert!(any >= of(&runs[..1]) * (1.0 - 1e-6));
            prop_assert!(any >= of(&runs[1..]) * (1.0 - 1e-6));
        }
    }

    #[test]
    fn units_cost_more_than_records_and_less_than_without_sampling(
        (rate, z, steps, delta) in setting(),
        records in 2_u32..6,
    ) {
        let (rate, steps) = (rate.min(0.9), steps.min(10_000));
        let of = |ledger: Ledger| ledger.with_records_per_unit(records).unwrap();
        let record = upper(&Rdp, &poisson(rate, z, steps), delta);
        let unit = upper(&Rdp, &of(poisson(rate, z, steps)), delta);
        // At worst all of a unit's records take part in every round.
        let worst = upper(&Rdp, &of(poisson(1.0, z, steps)), delta);
        prop_assert!(unit >= record * (1.0 - 1e-6));
        prop_assert!(unit <= worst * (1.0 + 1e-6));
        prop_assert!(unit <= upper(&Zcdp, &of(poisson(rate, z, steps)), delta) * (1.0 + 1e-6));
    }

}

proptest! {
    // Fewer cases: some of these brackets take a second.
    #![proptest_config(ProptestConfig {
        cases: 25, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(3),
        ..ProptestConfig::default()
    })]

    #[test]
    fn pld_upper_end_lies_below_rdp((rate, z, steps, delta) in setting()) {
        let ledger = poisson(rate, z, steps);
        let rdp = upper(&Rdp, &ledger, delta);
        let Reading::Bracket { lower, upper } = Pld::default().epsilon(&ledger, delta).unwrap()
        else {
            return Err(TestCaseError::fail("a bracket was expected"));
        };
        prop_assert!(lower <= rdp, "pld {} above rdp {}", lower, rdp);
        // 1e-4 is the width asked of the bracket; below 1e-6 the lattice may not resolve it.
        prop_assert!(upper <= rdp * (1.0 + 1e-4) + 1e-6, "pld {} above rdp {}", upper, rdp);
    }
}

#[test]
fn tcdp_theorem_dominates_the_exact_curve() {
    // Bun et al. 2018: D_α ≤ 13 s²ρα up to ω = ln(1/s)/(4ρ). A check of the constants as coded:
    // the exact divergence must lie below at every order of the range.
    for rate in [0.1, 0.03, 1e-3, 1e-5] {
        for z in [2.3, 4.0, 20.0] {
            let rho: f64 = 0.5 / (z * z);
            let omega = -f64::ln(rate) / (4.0 * rho);
            let curve = RdpCurve::of(&poisson(rate, z, 1)).unwrap();
            for fraction in [0.02, 0.1, 0.3, 0.6, 1.0] {
                let order = 1.0 + fraction * (omega - 1.0);
                let bound = 13.0 * rate * rate * rho * order;
                assert!(curve.divergence_up(order).unwrap() <= bound);
            }
            let ledger = poisson(rate, z, 500);
            match Tcdp::by_theorem().epsilon(&ledger, 1e-5) {
                Ok(reading) => {
                    let exact = upper(&Tcdp::new(), &ledger, 1e-5);
                    assert!(reading.upper_bound().unwrap() >= exact);
                }
                Err(error) => assert!(matches!(error, AccountError::Unsupported { .. })),
            }
        }
    }
}

#[test]
fn rounds_without_a_proof_are_refused_by_name() {
    let fixed = Sampling::FixedSize { batch: 10, of: 100 };
    let cases: [(&dyn Accountant, Neighbours, Sampling, &str); 6] = [
        (
            &Rdp,
            Neighbours::AddOrRemoveOne,
            fixed,
            "fixed-size sampling under add",
        ),
        (
            &Rdp,
            Neighbours::ReplaceOne,
            Sampling::Poisson { rate: 0.1 },
            "poisson",
        ),
        (&Zcdp, Neighbours::AddOrRemoveOne, fixed, "fixed-size"),
        (
            &Tcdp::new(),
            Neighbours::AddOrRemoveOne,
            fixed,
            "fixed-size",
        ),
        (&Gdp, Neighbours::ReplaceOne, fixed, "fixed-size"),
        (
            &Tcdp::by_theorem(),
            Neighbours::AddOrRemoveOne,
            Sampling::Poisson { rate: 0.5 },
            "0.5",
        ),
    ];
    for (accountant, neighbours, sampling, named) in cases {
        let ledger = one(neighbours, sampling, 3.0, 5);
        for error in [
            accountant.supports(&ledger).unwrap_err(),
            accountant.epsilon(&ledger, 1e-5).unwrap_err(),
            accountant.delta(&ledger, 1.0).unwrap_err(),
        ] {
            assert!(matches!(error, AccountError::Unsupported { .. }), "{error}");
            let text = error.to_string();
            assert!(
                text.contains(named) && text.contains(accountant.name()),
                "{text}"
            );
        }
    }
}

#[test]
fn bad_arguments_are_named() {
    let ledger = poisson(0.01, 1.0, 10);
    for delta in [0.0, 1.0, -1.0, f64::NAN] {
        let text = Rdp.epsilon(&ledger, delta).unwrap_err().to_string();
        assert!(text.contains(&format!("got {delta}")), "{text}");
    }
    for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
        let text = Zcdp.delta(&ledger, epsilon).unwrap_err().to_string();
        assert!(text.contains(&format!("got {epsilon}")), "{text}");
    }
    let empty = Ledger::new(Neighbours::AddOrRemoveOne);
    for accountant in [&Rdp as &dyn Accountant, &Zcdp, &Tcdp::new(), &Gdp] {
        let text = accountant.epsilon(&empty, 1e-5).unwrap_err().to_string();
        assert!(text.contains("no rounds"), "{text}");
    }
    assert!(
        RandomRuns::geometric(0.5)
            .unwrap_err()
            .to_string()
            .contains("got 0.5")
    );
    assert!(
        RandomRuns::negative_binomial(-1.0, 5.0)
            .unwrap_err()
            .to_string()
            .contains("got -1")
    );
    assert!(
        RandomRuns::poisson(f64::NAN)
            .unwrap_err()
            .to_string()
            .contains("got NaN")
    );
}

#[test]
fn partition_costs_one_round_per_pass() {
    let passes = one(
        Neighbours::ReplaceOne,
        Sampling::Partition { batches: 240 },
        6.0,
        20,
    );
    let full = one(Neighbours::ReplaceOne, Sampling::Full {}, 6.0, 20);
    let accountants: [&dyn Accountant; 3] = [&Rdp, &Zcdp, &Gdp];
    for accountant in accountants {
        let (a, b) = (
            upper(accountant, &passes, 1e-5),
            upper(accountant, &full, 1e-5),
        );
        assert_eq!(a, b);
    }
}

#[test]
fn exact_gdp_lies_below_every_other_bound_for_full_batches() {
    for (z, times) in [(1.0, 1), (5.0, 100), (40.0, 3)] {
        let ledger = one(Neighbours::AddOrRemoveOne, Sampling::Full {}, z, times);
        let exact = upper(&Gdp, &ledger, 1e-6);
        assert!(matches!(
            Gdp.epsilon(&ledger, 1e-6).unwrap(),
            Reading::UpperBound(_)
        ));
        assert!(exact <= upper(&Rdp, &ledger, 1e-6));
        assert!(exact <= upper(&Zcdp, &ledger, 1e-6));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(2),
        ..ProptestConfig::default()
    })]

    /// Plans of any kind, in any order, for owners of up to three records: what is admitted keeps the total by the
    /// tightest accountant, and so by the best order of the filter's own.
    #[test]
    fn what_a_filter_admits_never_costs_more_than_its_total(
        epsilon in 0.3..8.0_f64,
        delta in -20.0..-5.0_f64,
        records in 1..4_u32,
        runs in prop::collection::vec((-5.0..0.0_f64, 0.8..20.0_f64, 1..300_u64), 1..8),
    ) {
        let delta = delta.exp();
        let unit = Ledger::new(Neighbours::AddOrRemoveOne).with_records_per_unit(records).unwrap();
        let mut filter = RdpFilter::for_budget(epsilon, delta, unit.clone()).unwrap();
        for (rate, z, steps) in runs {
            let round = Round::new(Sampling::Poisson { rate: rate.exp() }, vec![z]).unwrap();
            let mut run = unit.clone();
            run.push(round.times(steps)).unwrap();
            let (left, cost) = (filter.left(), filter.cost_of_run(&run).unwrap());
            prop_assert_eq!(filter.admit_run(&run).is_ok(), cost <= left, "{} of {}", cost, left);
        }
        prop_assert!(filter.epsilon_spent() <= epsilon);
        if filter.ledger().rounds_made() > 0 {
            prop_assert!(upper(&Rdp, filter.ledger(), delta) <= epsilon);
            prop_assert!(upper(&Pld::default(), filter.ledger(), delta) <= epsilon);
        }
    }

    #[test]
    fn the_divergence_of_a_search_gives_at_least_its_epsilon(
        (rate, z, steps, delta) in setting(),
        mean in 1.5..20.0_f64,
        poisson_runs in prop::bool::ANY,
    ) {
        let candidates = [poisson(rate, z, steps.min(2000)), poisson(rate, 1.5 * z, steps.min(2000))];
        let runs = match poisson_runs {
            true => RandomRuns::poisson(mean).unwrap(),
            false => RandomRuns::logarithmic(mean).unwrap(),
        };
        let least = runs.epsilon_of_any(&candidates, delta).unwrap().upper_bound().unwrap();
        let at = |order: f64| {
            let divergence = runs.divergence_of_any(&candidates, order).unwrap();
            // Canonne, Kamath & Steinke 2020, Proposition 12.
            divergence + (-order.recip()).ln_1p() - (delta.ln() + order.ln()) / (order - 1.0)
        };
        let orders = (0..401).map(|step| 1.0 + (-6.0 + 0.05 * f64::from(step)).exp());
        let best = orders.map(at).fold(f64::INFINITY, f64::min).max(0.0);
        let room = 1e-6 * least + 1e-8;
        prop_assert!(best >= least - room, "{best} below {least}");
        // And it is that of the search, not a looser one, but for the distance between orders.
        prop_assert!(best <= least * 1.05 + room || least > 50.0, "{best} far above {least}");
    }
}
