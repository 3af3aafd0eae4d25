//! Noise is found for schedules of many kinds of rounds, and what cannot be had is refused at once.

#![allow(clippy::unwrap_used)]

use std::cell::Cell;
use tacita_accounting::calibrate::{Budget, QueryNoise, Shape, smallest_noise};
use tacita_accounting::{
    AccountError, Accountant, Ledger, Neighbours, Pld, Rdp, Reading, Round, Sampling, epsilon_of_mu,
};

const DELTA: f64 = 2.6e-5;

/// Three sampling rates, three growing-μ schedules each: 540 kinds of rounds in one ledger.
fn grid_of_schedules() -> Shape {
    let mut grid = Shape::new();
    for rate in [0.0335, 0.067, 0.134] {
        for growth in [1.5, 2.5, 5.0] {
            let sampling = Sampling::Poisson { rate };
            let run = Shape::growing_mu(sampling, 60, growth).unwrap();
            grid = grid.followed_by(&run);
        }
    }
    grid
}

fn ends(reading: Reading) -> (f64, f64) {
    match reading {
        Reading::Bracket { lower, upper } => (lower, upper),
        other => panic!("no bracket: {other:?}"),
    }
}

/// The certified accountant, counting what it is asked.
#[derive(Default)]
struct Counted(Cell<u32>);

impl Accountant for Counted {
    fn name(&self) -> &'static str {
        Pld::default().name()
    }

    fn supports(&self, ledger: &Ledger) -> Result<(), AccountError> {
        Pld::default().supports(ledger)
    }

    fn epsilon(&self, ledger: &Ledger, delta: f64) -> Result<Reading, AccountError> {
        self.0.set(self.0.get() + 1);
        Pld::default().epsilon(ledger, delta)
    }

    fn delta(&self, ledger: &Ledger, epsilon: f64) -> Result<Reading, AccountError> {
        Pld::default().delta(ledger, epsilon)
    }
}

/// The least noisy of many rounds decide the high moments of the loss; a window chosen without
/// them was far too short, and the upper end infinite.
#[test]
fn many_kinds_of_rounds_have_a_narrow_bracket_below_the_renyi_bound() {
    for scale in [5.0, 8.0, 11.0] {
        let ledger = grid_of_schedules().ledger(scale).unwrap();
        let (lower, upper) = ends(Pld::default().epsilon(&ledger, DELTA).unwrap());
        let renyi = Rdp.epsilon(&ledger, DELTA).unwrap().upper_bound().unwrap();
        assert!(upper < renyi, "{scale}: {upper} {renyi}");
        assert!(upper - lower <= 1e-4 * upper, "{scale}: {lower} {upper}");
        let (delta_lower, delta_upper) = ends(Pld::default().delta(&ledger, upper).unwrap());
        assert!(delta_lower <= DELTA, "{scale}: {delta_lower}");
        assert!(delta_upper < 1.001 * DELTA, "{scale}: {delta_upper}");
    }
}

/// Losses in the millions are not composed.
#[test]
fn renyi_bound_is_given_where_there_is_hardly_any_noise() {
    let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    let sampling = Sampling::Poisson { rate: 0.03 };
    ledger
        .push(Round::new(sampling, vec![3e-4]).unwrap())
        .unwrap();
    let (lower, upper) = ends(Pld::default().epsilon(&ledger, DELTA).unwrap());
    let renyi = Rdp.epsilon(&ledger, DELTA).unwrap().upper_bound().unwrap();
    assert_eq!((lower, upper), (0.0, renyi));
    assert!(upper.is_finite());
}

/// Beside a Gaussian of exactly known cost, rounds of noise up to 1e60 add at most what the bracket
/// is wide, and never less than nothing.
#[test]
fn rounds_of_enormous_noise_cost_next_to_nothing() {
    let exact = epsilon_of_mu(2.0, DELTA).unwrap();
    for noise in [1e5, 1e9, 1e60] {
        let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
        ledger
            .push(Round::new(Sampling::Full {}, vec![0.5]).unwrap())
            .unwrap();
        let sampling = Sampling::Poisson { rate: 0.1 };
        ledger
            .push(Round::new(sampling, vec![noise]).unwrap().times(20))
            .unwrap();
        let (lower, upper) = ends(Pld::default().epsilon(&ledger, DELTA).unwrap());
        assert!(lower <= exact * (1.0 + 1e-9), "{noise}: {lower} {exact}");
        assert!(upper >= exact * (1.0 - 1e-9), "{noise}: {upper} {exact}");
        assert!(upper - lower <= 1e-4 * upper, "{noise}: {lower} {upper}");
    }
}

#[test]
fn noise_of_a_grid_of_schedules_uses_the_whole_budget() {
    let budget = Budget::new(3.0, DELTA).unwrap();
    let accountant = Counted::default();
    let found = smallest_noise(&grid_of_schedules(), budget, &accountant).unwrap();
    let (_, upper) = ends(found.epsilon);
    assert!(upper <= 3.0 && upper > 2.999, "{upper}");
    assert!(accountant.0.get() <= 10, "{}", accountant.0.get());
}

#[test]
fn fixed_queries_over_the_budget_are_refused_before_any_search() {
    let sampling = Sampling::Poisson { rate: 0.1 };
    let count = QueryNoise::Fixed(0.8);
    let run = Shape::constant(sampling, 10).then(Sampling::Full {}, count, 1);
    let both = run.clone().followed_by(&run);
    let accountant = Counted::default();
    let refusal = smallest_noise(&both, Budget::new(3.0, 8e-4).unwrap(), &accountant);
    let message = refusal.unwrap_err().to_string();
    assert!(message.contains("alone cost ε ≈"), "{message}");
    assert_eq!(accountant.0.get(), 1);
    // So are queries that share a round with scaled ones, and what was spent before.
    let beside = Shape::constant(sampling, 100).with_side_query(0.5);
    let mut spent = Ledger::new(Neighbours::AddOrRemoveOne);
    spent
        .push(Round::new(Sampling::Full {}, vec![0.8]).unwrap())
        .unwrap();
    let after = Shape::after(&spent).then(sampling, QueryNoise::Scaled(1.0), 10);
    for shape in [beside, after] {
        let refusal = smallest_noise(&shape, Budget::new(1.0, 1e-5).unwrap(), &Pld::default());
        let message = refusal.unwrap_err().to_string();
        assert!(message.contains("alone cost ε ≈"), "{message}");
    }
}

/// The search begins where the least noisy round has ordinary noise, however far the schedule falls.
#[test]
fn extreme_schedules_end_in_an_answer_or_an_error() {
    let sampling = Sampling::Poisson { rate: 0.0335 };
    let budget = Budget::new(3.0, DELTA).unwrap();
    for (growth, steps, reached) in [
        (1e6, 4, true),
        (1e6, 60, true),
        (1e60, 4, false),
        (1e60, 60, false),
        (1e-60, 60, true),
        (1e-6, 4, true),
    ] {
        let shape = Shape::growing_mu(sampling, steps, growth).unwrap();
        let accountant = Counted::default();
        let found = smallest_noise(&shape, budget, &accountant);
        assert!(accountant.0.get() <= 12, "{growth}: {}", accountant.0.get());
        match found {
            Ok(found) => {
                let (lower, upper) = ends(found.epsilon);
                assert!(
                    reached && upper <= 3.0 && lower > 2.99,
                    "{growth}: {lower} {upper}"
                );
            }
            Err(error) => assert!(!reached, "{growth}: {error}"),
        }
    }
}
