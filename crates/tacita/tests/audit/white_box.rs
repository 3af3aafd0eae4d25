//! Sealed canaries in gradient space: coins decide who is in, and the released sums of every step say how much of ε
//! an attack finds.
//!
//! Every canary owns coordinates, so along its gradient a step releases its clipped contribution, if it was drawn, and
//! noise. The likelihood ratio of all steps is the best score there is (Neyman & Pearson), so what it measures should be
//! nearly all that is proved. Seeds are fixed; the figures that are demanded were met with room to spare.

use crate::canaries::{Batch, Canaries, Random, device};
use crate::networks::Table;
use crate::oracle::{self, Map};
use burn::tensor::Device;
use tacita::{CheckedPlan, Clipping, Keys, Plan, Records, Session, SessionOptions};
use tacita_accounting::{Accountant, Ledger, Pld};
use tacita_audit::audit::{FALSE_ALARM_RATE, Question, chance_upper, measure};
use tacita_audit::trade_off::Point;
use tacita_audit::trials::Trials;
use tacita_audit::white_box::Evidence;
use tacita_audit::{Coins, Curve, f_dp};

const DELTA: f64 = 1e-5;

/// Where certified curves are read.
const EPSILONS: [f64; 14] = [
    0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.4, 1.8, 2.4, 3.2, 4.0, 5.5, 8.0,
];

/// The canaries that a coin put in.
struct Tossed {
    canaries: Canaries,
    inside: Vec<usize>,
}

impl Records for Tossed {
    type Batch = Batch;

    fn count(&self) -> usize {
        self.inside.len()
    }

    fn batch(&self, indices: &[usize], device: &Device) -> Batch {
        let numbers: Vec<usize> = indices.iter().map(|index| self.inside[*index]).collect();
        self.canaries.batch(&numbers, device)
    }

    fn synthetic(&self, seeds: &[u64], device: &Device) -> Batch {
        self.canaries.synthetic(seeds, device)
    }
}

/// A run, and what an attack makes of it.
struct Seen {
    scores: Vec<f64>,
    coins: Vec<bool>,
}

/// Releases every step of a plan and scores every canary by what it sees.
fn attack(plan: &CheckedPlan, canaries: usize, seed: u64) -> Seen {
    let mut random = Random(seed);
    let coins: Vec<bool> = (0..canaries).map(|_| random.value() < 0.0).collect();
    let inside = (0..canaries).filter(|canary| coins[*canary]).collect();
    let canaries = Canaries::half(canaries);
    let (model, keys) = (Table::new(canaries.all), Keys::fixed_seed(seed));
    let gradients = oracle::gradients(&model, &canaries, &keys, 0);
    let records = Tossed { canaries, inside };
    let options = SessionOptions::default();
    let session = Session::open_in_memory(plan.clone(), keys, &model, &records, options);
    let mut session = session.unwrap();
    let clipping = plan.clipping();
    let map = Map::new(&model, session.parameters(), &clipping.grouping);
    let norms = oracle::norms(&gradients, &map, canaries.all);
    let clipped = oracle::clipped(&gradients, &norms, &map, clipping.rule, &[1.0]);
    let mut evidence = vec![Evidence::default(); canaries.all];
    for step in 0..plan.steps() {
        let round = session.open_round().unwrap();
        let bounded = round.clip(&model, &records, &device()).unwrap();
        let noisy = round.release(bounded).unwrap();
        let mut along = vec![0.0; canaries.all];
        let values = noisy.gradient()[0].to_data();
        let values = values.iter::<f64>().zip(&clipped.values[0]);
        for ((value, expected), owner) in values.zip(&map.owners[0]) {
            along[*owner] += value * plan.expected_batch() * expected;
        }
        let noise = plan.noise_multipliers(step)[0];
        for ((evidence, along), length) in evidence.iter_mut().zip(along).zip(&clipped.lengths) {
            evidence.see(along / length, *length, noise, plan.rate());
        }
    }
    Seen {
        scores: evidence.iter().map(Evidence::score).collect(),
        coins,
    }
}

fn plan(epsilon: f64, records: u64, batch: u64, steps: u64) -> CheckedPlan {
    let plan = Plan::new(tacita::Budget::new(epsilon, DELTA))
        .public_record_count(records)
        .expected_batch(batch)
        .steps(steps)
        .clipping(Clipping::abadi(1.0));
    plan.calibrate().unwrap()
}

/// A plan with this much more noise.
fn noisier(plan: &Ledger, more: f64) -> Ledger {
    let mut ledger = Ledger::new(plan.neighbours());
    for round in plan.rounds() {
        let mut round = round.clone();
        round.noise_multipliers.iter_mut().for_each(|z| *z *= more);
        ledger.push(round).unwrap();
    }
    ledger
}

/// Its certified curve.
fn curve(plan: &Ledger, more: f64) -> Curve {
    let ledger = noisier(plan, more);
    // One by one: a curve of many points is wider about ε = 0, which is where these attacks are.
    let points = EPSILONS.map(|epsilon| Point {
        epsilon,
        delta: Pld::default()
            .delta(&ledger, epsilon)
            .unwrap()
            .upper_bound()
            .unwrap(),
    });
    Curve::of(&points)
}

/// Every record takes part in every step: the curve is that of a Gaussian, and all trials are independent.
#[test]
fn the_sums_of_full_batches_betray_most_of_the_proved_epsilon() {
    let plan = plan(4.0, 1000, 1000, 4);
    let proved = plan.epsilon().upper_bound().unwrap();
    let seen = attack(&plan, 2000, 31);
    // "In" where it is likelier.
    let trials = Trials::above(0.0, &seen.scores, &seen.coins);
    let measured = f_dp::gaussian_epsilon(trials.mu_lower(0.05), DELTA).unwrap();
    println!("full batch: proved {proved:.3}, measured {measured:.3}");
    assert!(measured > 0.7 * proved, "{measured} of {proved}");
    assert!(measured <= proved, "{measured} above {proved}");
}

/// Poisson sampling, against curves of the same plan with more noise: the least noise that is refuted says how much ε
/// there is at least, if the curve has the shape of the plan's.
#[test]
fn the_sums_of_sampled_steps_betray_most_of_the_proved_epsilon() {
    let plan = plan(4.0, 2000, 1000, 10);
    let proved = plan.epsilon().upper_bound().unwrap();
    let seen = attack(&plan, 4000, 32);
    let trials = Trials::above(0.0, &seen.scores, &seen.coins);
    let refuted = |more: f64| trials.refutes(&curve(plan.ledger(), more), 0.05);
    assert!(!refuted(1.0), "the plan's own curve is refuted");
    let (mut low, mut high) = (1.0, 3.0);
    assert!(refuted(high));
    for _ in 0..8 {
        let middle = 0.5 * (low + high);
        if refuted(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    let noisier = Pld::default().epsilon(&noisier(plan.ledger(), high), DELTA);
    let measured = noisier.unwrap().lower_bound().unwrap();
    println!("Poisson: proved {proved:.3}, measured {measured:.3} (noise × {high:.3} refuted)");
    assert!(measured > 0.7 * proved, "{measured} of {proved}");
}

/// A false alarm in these ten runs has probability below 1e-5 for any seed; a false bound in more than six of them,
/// below 1e-6 (binomial).
#[test]
fn honest_runs_raise_no_alarm_and_their_bounds_hold() {
    let plan = plan(4.0, 200, 40, 8);
    let proved = plan.epsilon().upper_bound().unwrap();
    let certified = curve(plan.ledger(), 1.0);
    let mut wrong = 0;
    for seed in 0..10 {
        let seen = attack(&plan, 400, 100 + seed);
        let coins = Coins::new(&seen.scores, &seen.coins).unwrap();
        assert!(chance_upper(&coins, &certified) > FALSE_ALARM_RATE);
        let trials = Trials::above(0.0, &seen.scores, &seen.coins);
        assert!(!trials.refutes(&certified, FALSE_ALARM_RATE));
        let question = Question {
            delta: DELTA,
            confidence: 0.95,
        };
        wrong += usize::from(measure(&coins, &question).epsilon_lower > proved);
    }
    assert!(wrong <= 6, "{wrong} of 10 bounds exceed what is proved");
}

/// A run beside the curve of a plan with twice the noise: as if half of the noise were missing.
#[test]
fn half_of_the_noise_missing_raises_an_alarm() {
    let plan = plan(10.0, 1000, 1000, 4);
    let claimed = curve(plan.ledger(), 2.0);
    let seen = attack(&plan, 1000, 33);
    let trials = Trials::above(0.0, &seen.scores, &seen.coins);
    assert!(trials.refutes(&claimed, FALSE_ALARM_RATE), "{trials:?}");
}
