//! Mechanisms of known ε: bounds are not above the truth more often than they may be, and not far below it.
//!
//! Seeds are fixed, so a test passes always or never. Where a share of false bounds is compared with what is allowed,
//! the limit is exceeded by a correct program for at most one of a million seeds (binomial tails).
#![allow(clippy::unwrap_used, missing_docs)]

use tacita_accounting::epsilon_of_mu;
use tacita_audit::audit::{FALSE_ALARM_RATE, Question, chance_upper, measure};
use tacita_audit::trials::Trials;
use tacita_audit::white_box::Evidence;
use tacita_audit::{Coins, Curve, f_dp};

/// SplitMix64 and Box–Muller: simulation only.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
    fn coin(&mut self) -> bool {
        self.next() >> 63 == 1
    }
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

const DELTA: f64 = 1e-5;
const QUESTION: Question = Question {
    delta: DELTA,
    confidence: 0.95,
};

/// Canaries whose coins are told through randomised response: exactly (ε, 0).
fn randomised_response(
    random: &mut Random,
    canaries: usize,
    epsilon: f64,
) -> (Vec<f64>, Vec<bool>) {
    let coins: Vec<bool> = (0..canaries).map(|_| random.coin()).collect();
    let honest = epsilon.exp() / (1.0 + epsilon.exp());
    let scores = coins
        .iter()
        .map(|coin| f64::from(u8::from((random.uniform() < honest) == *coin)))
        .collect();
    (scores, coins)
}

/// Canaries with a coordinate each of a Gaussian mechanism: exactly μ-GDP.
fn gaussian(random: &mut Random, canaries: usize, mu: f64) -> (Vec<f64>, Vec<bool>) {
    let coins: Vec<bool> = (0..canaries).map(|_| random.coin()).collect();
    let scores = coins
        .iter()
        .map(|coin| mu * f64::from(u8::from(*coin)) + random.normal())
        .collect();
    (scores, coins)
}

/// P[Bin(400, 0.05) > 46] < 1e-6 (scipy 1.14.1: 1.6e-07).
const RUNS: usize = 400;
const MOST_WRONG: usize = 46;

#[test]
fn bounds_exceed_the_truth_no_more_often_than_allowed() {
    let mut random = Random(1);
    for (canaries, epsilon) in [(60, 0.5), (200, 2.0), (200, 6.0)] {
        let mut wrong = 0;
        for _ in 0..RUNS {
            let (scores, coins) = randomised_response(&mut random, canaries, epsilon);
            let coins = Coins::new(&scores, &coins).unwrap();
            wrong += usize::from(measure(&coins, &QUESTION).epsilon_lower > epsilon);
        }
        assert!(wrong <= MOST_WRONG, "ε = {epsilon}: {wrong} of {RUNS}");
    }
    // A Gaussian, whose ε at this δ no guess of single coins reaches.
    let mu = 1.0;
    let epsilon = epsilon_of_mu(mu, DELTA).unwrap();
    let wrong = (0..RUNS).filter(|_| {
        let (scores, coins) = gaussian(&mut random, 200, mu);
        let coins = Coins::new(&scores, &coins).unwrap();
        measure(&coins, &QUESTION).epsilon_lower > epsilon
    });
    assert!(wrong.count() <= MOST_WRONG);
}

#[test]
fn the_largest_gaussian_refuted_is_the_true_one_no_more_often_than_allowed() {
    let mut random = Random(2);
    for (canaries, mu) in [(100, 0.5), (300, 1.5)] {
        let wrong = (0..RUNS).filter(|_| {
            let (scores, coins) = gaussian(&mut random, canaries, mu);
            let guesses = Coins::new(&scores, &coins)
                .unwrap()
                .guess(canaries as u64 / 2);
            f_dp::refutes(guesses, &Curve::gaussian(mu).unwrap(), 0.05)
        });
        assert!(wrong.count() <= MOST_WRONG, "μ = {mu}");
    }
}

#[test]
fn limits_of_independent_trials_hold_as_often_as_stated() {
    let mut random = Random(3);
    for (trials, mu) in [(50, 0.3), (400, 1.0), (400, 3.0)] {
        let epsilon = epsilon_of_mu(mu, DELTA).unwrap();
        let (mut of_mu, mut of_epsilon) = (0, 0);
        for _ in 0..RUNS {
            let (scores, coins) = gaussian(&mut random, trials, mu);
            let trials = Trials::above(0.5 * mu, &scores, &coins);
            of_mu += usize::from(trials.mu_lower(0.05) > mu);
            of_epsilon += usize::from(trials.epsilon_lower(DELTA, 0.05) > epsilon);
        }
        assert!(of_mu <= MOST_WRONG && of_epsilon <= MOST_WRONG, "μ = {mu}");
    }
}

/// One in a million each: an alarm in 1,200 honest runs has probability below 1.2e-3 for any seed.
#[test]
fn honest_mechanisms_raise_no_alarm() {
    let mut random = Random(4);
    let mu = 0.9;
    let curve = Curve::gaussian(mu).unwrap();
    for _ in 0..1200 {
        let (scores, coins) = gaussian(&mut random, 120, mu);
        let coins = Coins::new(&scores, &coins).unwrap();
        assert!(chance_upper(&coins, &curve) > FALSE_ALARM_RATE);
    }
}

/// Power. Independent trials find half of the noise missing with 1,000 canaries; one run finds all of it missing where ε is
/// small.
#[test]
fn noise_that_is_missing_raises_an_alarm() {
    let mut random = Random(5);
    let mu = 0.96; // ε = 4 at δ = 1e-5
    let curve = Curve::gaussian(mu).unwrap();
    let alarms = |random: &mut Random, real: f64| {
        let runs = (0..20).filter(|_| {
            let (scores, coins) = gaussian(random, 1000, real);
            Trials::above(0.5 * real, &scores, &coins).refutes(&curve, FALSE_ALARM_RATE)
        });
        runs.count()
    };
    assert_eq!(
        (alarms(&mut random, 2.0 * mu), alarms(&mut random, mu)),
        (20, 0)
    );
    // ε = 1 at δ = 1e-5.
    let curve = Curve::gaussian(0.27).unwrap();
    let (scores, coins) = gaussian(&mut random, 400, 40.0);
    let coins = Coins::new(&scores, &coins).unwrap();
    assert!(chance_upper(&coins, &curve) <= FALSE_ALARM_RATE);
}

/// Power of every method, for whoever wonders what to expect, with 4,000 canaries. Randomised response: within a tenth of
/// ε = 2. Gaussian of ε = 4: 0.85 of it through independent trials, 0.4 through (ε, δ).
#[test]
fn bounds_are_as_near_as_the_documents_say() {
    let mut random = Random(6);
    let (scores, coins) = randomised_response(&mut random, 4000, 2.0);
    let coins = Coins::new(&scores, &coins).unwrap();
    let measured = measure(&coins, &QUESTION);
    assert!(measured.epsilon_lower > 1.8, "{measured:?}");

    let mu = 0.96;
    let proved = epsilon_of_mu(mu, DELTA).unwrap();
    let (scores, coins) = gaussian(&mut random, 4000, mu);
    let trials = Trials::above(0.5 * mu, &scores, &coins);
    let by_trials = epsilon_of_mu(trials.mu_lower(0.05), DELTA).unwrap() / proved;
    let coins = Coins::new(&scores, &coins).unwrap();
    let by_point = measure(&coins, &QUESTION).epsilon_lower / proved;
    println!("trials {by_trials:.3}, (ε, δ) {by_point:.3}");
    assert!(by_trials > 0.8 && by_point > 0.35);
}

/// Poisson sampling: the likelihood ratio of all steps is a score whose curve is that of the plan.
#[test]
fn evidence_of_sampled_steps_tells_members_from_others() {
    let mut random = Random(7);
    let (rate, noise, steps) = (0.2, 1.0, 40);
    let coins: Vec<bool> = (0..1000).map(|_| random.coin()).collect();
    let scores: Vec<f64> = coins
        .iter()
        .map(|coin| {
            let mut evidence = Evidence::default();
            for _ in 0..steps {
                let drawn = *coin && random.uniform() < rate;
                let released = f64::from(u8::from(drawn)) + noise * random.normal();
                evidence.see(released, 1.0, noise, rate);
            }
            evidence.score()
        })
        .collect();
    let mu = Trials::above(0.0, &scores, &coins).mu_lower(0.05);
    // The limit theorem: μ² = steps · rate² (e − 1).
    let limit = (steps as f64 * rate * rate * 1_f64.exp_m1()).sqrt();
    assert!(mu > 0.7 * limit && mu < 1.1 * limit, "{mu} {limit}");
}
