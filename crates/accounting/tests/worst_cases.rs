//! Ledgers that used to take minutes, hours or for ever: each is answered, and answered rightly.
//!
//! What each takes is counted, not timed (`effort.rs`); `crates/accounting/examples/stress.rs` prints times.

#![allow(clippy::unwrap_used)]

use tacita_accounting::calibrate::{Budget, QueryNoise, Shape, most_steps, smallest_noise};
use tacita_accounting::{
    AccountError, Accountant, Gdp, Ledger, Neighbours, Pld, Rdp, Reading, Round, Sampling, Tcdp,
    Zcdp, epsilon_of_mu,
};

fn ends(reading: Reading) -> (f64, f64) {
    match reading {
        Reading::Bracket { lower, upper } => (lower, upper),
        other => panic!("not a bracket: {other:?}"),
    }
}

fn ledger(records: u32, rounds: impl IntoIterator<Item = (Sampling, f64, u64)>) -> Ledger {
    let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne)
        .with_records_per_unit(records)
        .unwrap();
    for (sampling, noise, times) in rounds {
        let round = Round::new(sampling, vec![noise]).unwrap();
        ledger.push(round.times(times)).unwrap();
    }
    ledger
}

fn poisson(rate: f64) -> Sampling {
    Sampling::Poisson { rate }
}

/// Φ(−4.264890793922825) = 1e-5 (mpmath 1.4.1).
const DEVIATIONS: f64 = 4.264_890_793_922_825;

#[test]
fn full_rounds_of_hardly_any_noise_have_the_epsilon_of_one_gaussian() {
    for (noise, times) in [
        (1e-7, 1),
        (1e-9, 1),
        (1e-12, 1_000_000_000_000),
        (1e-3, 1_000_000_000),
        (1e-5, 77),
    ] {
        for sampling in [Sampling::Full {}, poisson(1.0)] {
            let ledger = ledger(1, [(sampling, noise, times)]);
            let (lower, upper) = ends(Pld::default().epsilon(&ledger, 1e-5).unwrap());
            let mu = (times as f64).sqrt() / noise;
            let exact = 0.5 * mu * mu + mu * DEVIATIONS;
            assert!(
                lower <= exact && exact * (1.0 - 1e-14) <= upper,
                "{lower} {exact} {upper}"
            );
            assert!(upper - lower <= 1e-9 * upper, "{lower} {upper}");
            let (lower, upper) = ends(Pld::default().delta(&ledger, 0.5 * exact).unwrap());
            assert!(lower > 1.0 - 1e-3 && upper <= 1.0);
        }
    }
}

#[test]
fn an_epsilon_beyond_all_numbers_is_infinite() {
    let ledger = ledger(1, [(Sampling::Full {}, 1e-300, 9)]);
    let (lower, upper) = ends(Pld::default().epsilon(&ledger, 1e-5).unwrap());
    assert!(lower > 1e300 && lower.is_finite() && upper == f64::INFINITY);
    for accountant in [&Rdp as &dyn Accountant, &Zcdp, &Gdp, &Tcdp::new()] {
        let upper = accountant.epsilon(&ledger, 1e-5).unwrap().upper_bound();
        assert_eq!(upper, Some(f64::INFINITY), "{}", accountant.name());
    }
}

#[test]
fn numbers_at_the_ends_of_their_range_are_answered() {
    for rate in [5e-324, 1e-200, 1.0 - f64::EPSILON / 2.0] {
        for noise in [5e-324, 1e-320, 1e-200, 1e200, f64::MAX] {
            for (times, delta) in [(1, 5e-324), (1 << 53, 1e-5), (3, 1.0 - f64::EPSILON / 2.0)] {
                let ledger = ledger(1, [(poisson(rate), noise, times)]);
                for accountant in [
                    &Pld::default() as &dyn Accountant,
                    &Rdp,
                    &Tcdp::new(),
                    &Zcdp,
                    &Gdp,
                ] {
                    let what = format!("{} {rate} {noise} {times} {delta}", accountant.name());
                    let epsilon = accountant.epsilon(&ledger, delta).unwrap();
                    let upper = epsilon.upper_bound().unwrap_or(0.0);
                    assert!(upper >= epsilon.lower_bound().unwrap_or(0.0), "{what}");
                    for epsilon in [0.0, 5e-324, 1.0, f64::MAX] {
                        let delta = accountant.delta(&ledger, epsilon).unwrap();
                        let upper = delta.upper_bound().unwrap_or(0.0);
                        assert!((0.0..=1.0).contains(&upper), "{what}: {upper}");
                    }
                }
            }
        }
    }
}

#[test]
fn noise_too_large_to_square_costs_next_to_nothing_and_not_less() {
    let ledger = ledger(1, [(Sampling::Full {}, 1e200, 1 << 50)]);
    let (lower, upper) = ends(Pld::default().epsilon(&ledger, 1e-5).unwrap());
    assert_eq!((lower, upper), (0.0, 0.0));
    let (lower, upper) = ends(Pld::default().delta(&ledger, 0.0).unwrap());
    assert!(
        lower <= 1e-192 && upper > 1e-193 && upper < 1e-12,
        "{lower} {upper}"
    );
    let queries = Round::new(Sampling::Full {}, vec![1e200, 2e200, 1e-200]).unwrap();
    assert!((queries.effective_noise_multiplier() / 1e-200 - 1.0).abs() < 1e-12);
}

/// The ε of the ledger is at most that of its rounds without sampling, and at least that of its full
/// rounds alone: both are Gaussians.
fn assert_answered(what: &str, ledger: &Ledger, delta: f64) -> (f64, f64) {
    let records = f64::from(ledger.records_per_unit());
    let mu = |full: bool| {
        (ledger.rounds().iter())
            .filter(|round| !full || round.sampling == Sampling::Full {})
            .map(|round| round.times as f64 * (records / round.noise_multipliers[0]).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let (lower, upper) = ends(Pld::default().epsilon(ledger, delta).unwrap());
    let unsampled = epsilon_of_mu(mu(false), delta).unwrap();
    assert!(
        upper <= unsampled * (1.0 + 1e-6) + 1e-9,
        "{what}: {upper} {unsampled}"
    );
    assert!(lower <= upper, "{what}");
    if mu(true) > 0.0 {
        let full = epsilon_of_mu(mu(true), delta).unwrap();
        assert!(upper >= full * (1.0 - 1e-6), "{what}: {upper} {full}");
    }
    for accountant in [&Rdp as &dyn Accountant, &Tcdp::new(), &Zcdp] {
        let bound = accountant.epsilon(ledger, delta).unwrap().upper_bound();
        assert!(bound.unwrap() >= lower, "{what}: {}", accountant.name());
    }
    for epsilon in [0.1, 1e4] {
        let (lower, upper) = ends(Pld::default().delta(ledger, epsilon).unwrap());
        assert!(
            (0.0..=1.0).contains(&lower) && lower <= upper && upper <= 1.0,
            "{what}"
        );
    }
    (lower, upper)
}

#[test]
fn ledgers_that_took_minutes_are_answered() {
    let noises = |count: i32, least: f64, most: f64| {
        (0..count)
            .map(move |index| least * (most / least).powf(f64::from(index) / f64::from(count)))
    };
    let of = |rate: f64, times: u64| move |noise: f64| (poisson(rate), noise, times);
    let cases = [
        (
            "absurd noises",
            ledger(1, noises(29, 1e-12, 1e6).map(of(0.3, 1 << 30))),
            1e-5,
        ),
        (
            "little and full",
            ledger(
                1,
                [(poisson(0.01), 1.0, 1000), (Sampling::Full {}, 1e-7, 1)],
            ),
            1e-5,
        ),
        (
            "a tiny delta",
            ledger(11, noises(14, 0.4, 20.0).map(of(0.05, 300))),
            2.7e-156,
        ),
        (
            "hundreds of records",
            ledger(261, noises(9, 0.9, 30.0).map(of(0.01, 1000))),
            3e-9,
        ),
        (
            "a thousand records",
            ledger(1000, [(poisson(0.3), 0.8, 100)]),
            1e-5,
        ),
        (
            "records and kinds",
            ledger(39, noises(400, 5.0, 30.0).map(of(0.02, 1))),
            5e-9,
        ),
        (
            "rare and many",
            ledger(1, [(poisson(1e-9), 0.3, 1 << 40)]),
            1e-5,
        ),
        (
            "a few at high rates",
            ledger(1, noises(4, 0.5, 9.0).map(of(0.3, 1))),
            1e-200,
        ),
        (
            "noise beside little",
            ledger(2, noises(271, 0.4, 3000.0).map(of(1e-3, 1))),
            1e-40,
        ),
    ];
    for (what, ledger, delta) in cases {
        let (_, upper) = assert_answered(what, &ledger, delta);
        assert!(upper.is_finite(), "{what}");
    }
}

#[test]
fn tens_of_thousands_of_rates_and_noises_are_answered() {
    // 7919 and 104 729 are primes: the two are shuffled against each other.
    let rounds = (0..20_000_u64).map(|index| {
        let rate = 1e-4 + 1e-2 * ((index * 7919 % 20_000) as f64 / 20_000.0);
        let noise = 0.5 + 20.0 * ((index * 104_729 % 20_000) as f64 / 20_000.0);
        (poisson(rate), noise, 1 + index % 3)
    });
    assert_answered("rates and noises", &ledger(1, rounds), 1e-6);
}

/// A schedule of 300 000 different multipliers, which are taken together by threes: the bracket must hold
/// that of a shorter schedule of the same shape, 3000 multipliers a hundred times each, up to the
/// difference of the shapes.
#[test]
fn hundreds_of_thousands_of_multipliers_cost_what_their_shape_costs() {
    let shape = |steps: u64, times: u64| {
        let noise = move |step: u64| 12.0 * 2_f64.powf(-(step as f64 + 0.5) / steps as f64);
        ledger(
            1,
            (0..steps).map(|step| (poisson(0.004), noise(step), times)),
        )
    };
    let (lower, upper) = ends(Pld::default().epsilon(&shape(300_000, 1), 1e-5).unwrap());
    let (low, high) = ends(Pld::default().epsilon(&shape(3000, 100), 1e-5).unwrap());
    assert!(upper - lower <= 2e-3 * upper, "{lower} {upper}");
    assert!(lower <= high * (1.0 + 1e-5) && upper >= low * (1.0 - 1e-5));
}

#[test]
fn fixed_sizes_of_many_kinds_are_answered() {
    let mut ledger = Ledger::new(Neighbours::ReplaceOne);
    for index in 0..10_000_u64 {
        let sampling = Sampling::FixedSize {
            batch: 100 + index % 7,
            of: 60_000,
        };
        let noise = 1.0 + index as f64 / 1000.0;
        ledger
            .push(Round::new(sampling, vec![noise]).unwrap())
            .unwrap();
    }
    let rdp = Rdp.epsilon(&ledger, 1e-5).unwrap().upper_bound().unwrap();
    let tcdp = Tcdp::new()
        .epsilon(&ledger, 1e-5)
        .unwrap()
        .upper_bound()
        .unwrap();
    let zcdp = Zcdp.epsilon(&ledger, 1e-5).unwrap().upper_bound().unwrap();
    assert!(rdp <= tcdp && tcdp <= 1.3 * rdp, "{rdp} {tcdp} {zcdp}");
    assert!(rdp < 0.1 * zcdp);
}

#[test]
fn calibrations_that_took_minutes_keep_their_budget_or_are_refused() {
    let budget = Budget::new(2.0, 1e-6).unwrap();
    let growing = |steps, growth| Shape::growing_mu(poisson(0.003), steps, growth).unwrap();
    let spent = ledger(
        1,
        (0..3000).map(|index| (poisson(0.001), 2.0 + f64::from(index), 1)),
    );
    let shapes = [
        growing(40_000, 6.0),
        growing(300_000, 2.0),
        Shape::after(&spent).then(poisson(0.002), QueryNoise::Scaled(1.0), 5000),
        Shape::after(&ledger(200, []))
            .then(poisson(0.01), QueryNoise::Scaled(1.0), 1000)
            .followed_by(&growing(50, 2.0)),
    ];
    for (index, shape) in shapes.iter().enumerate() {
        for accountant in [&Pld::default() as &dyn Accountant, &Rdp] {
            match smallest_noise(shape, budget, accountant) {
                Ok(found) => {
                    let upper = found.epsilon.upper_bound().unwrap();
                    assert!(upper <= 2.0 && upper > 1.9, "{index} {upper}");
                }
                Err(AccountError::TooMuchWork { kinds, .. }) => assert!(kinds > 10_000),
                Err(error) => panic!("{index}: {error}"),
            }
        }
    }
    let round = Round::new(poisson(0.002), vec![1.3]).unwrap();
    let steps = most_steps(&spent, &round, budget, &Pld::default()).unwrap();
    let mut whole = spent.clone();
    whole.push(round.times(steps)).unwrap();
    assert!(steps > 0);
    assert!(
        Pld::default()
            .epsilon(&whole, 1e-6)
            .unwrap()
            .upper_bound()
            .unwrap()
            <= 2.0
    );
}
