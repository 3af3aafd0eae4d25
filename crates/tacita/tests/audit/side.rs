//! What is released beside gradients: counts, statistics, scores.

use crate::canaries::{Canaries, device};
use crate::marks::{agrees, of_mean_square, stays_below};
use crate::networks::{Deep, Table};
use crate::policies::{assert_kept, plan};
use crate::run::Audit;
use crate::tally::Planned;
use tacita::clipping::{Quantile, Threshold};
use tacita::{Clipping, Keys, NoiseSchedule, Opening, Plan, Session, SessionOptions};

/// Four groups for 5,000 steps.
#[test]
fn quantile_counts_have_the_planned_noise_and_shift() {
    let quantile = Quantile {
        initial: 1.0,
        learning_rate: 0.01,
        count_noise_std: Some(0.5),
        ..Quantile::new(0.5)
    };
    let clipping = Clipping::abadi(1.0).threshold(Threshold::Quantile(quantile));
    let clipping = clipping.per_layer();
    let canaries = Canaries::half(10);
    let model = Deep::new(canaries.all, 0.0);
    let policy = "few records";
    let audit = Audit {
        model: &model,
        canaries,
        plan: plan(clipping.clone(), NoiseSchedule::Constant, 5, 5000),
        options: SessionOptions::default(),
        has_dropout: false,
    };
    let measured = audit.measure(11);
    assert_kept(policy, &clipping, &measured, 0.5);
}

/// Sums of squares and of signal, in units of the planned noise.
#[derive(Default)]
struct Values {
    squares: f64,
    count: f64,
    along: f64,
    signal: f64,
}

impl Values {
    /// A released sum; `expected` is what it is without noise.
    fn add(&mut self, released: f64, expected: f64, planned: Planned) {
        let noise_std = planned.noise_std();
        self.squares += ((released - expected) / noise_std).powi(2);
        self.count += 1.0;
        self.along += released * expected / noise_std.powi(2);
        self.signal += (expected / noise_std).powi(2);
    }

    fn assert_kept(&self, policy: &str) {
        assert!(self.count >= 20_000.0);
        let noise = (self.squares / self.count).sqrt();
        let z = of_mean_square(noise * noise, self.count);
        agrees(policy, "noise over planned noise", noise, z);
        let shift = self.along / self.signal;
        let z = (shift - 1.0) * self.signal.sqrt();
        agrees(policy, "shift over planned shift", shift, z);
        let variance = 1.0 / self.signal + 0.5 / self.count;
        let z = (shift / noise - 1.0) / variance.sqrt();
        stays_below(policy, "mu over planned mu", shift / noise, z);
    }
}

/// Every other record gives 3 in a coordinate of its own, three times what one may contribute.
#[test]
fn statistics_have_the_planned_noise_and_shift() {
    const RECORDS: usize = 1000;
    let noise_multipliers = (0..20).map(|k| 0.1 + 0.05 * k as f64);
    let plan = Plan::with_noise(4.0, 1e-5)
        .public_record_count(1000)
        .expected_batch(50)
        .steps(1);
    let plan = noise_multipliers.clone().fold(plan, Plan::statistic);
    let mut opening = Opening::in_memory(plan.calibrate().unwrap(), Keys::fixed_seed(12));
    let mut values = Values::default();
    for noise_multiplier in noise_multipliers {
        let record = |k: usize| {
            let mut vector = vec![0.0; RECORDS];
            vector[k] = 3.0;
            vector
        };
        let present = (0..RECORDS).step_by(2).map(record);
        let released = opening.statistic(RECORDS, present).unwrap();
        let planned = Planned {
            sensitivity: 1.0,
            noise_multiplier,
        };
        for (k, value) in released.values.iter().enumerate() {
            values.add(*value, if k % 2 == 0 { 1.0 } else { 0.0 }, planned);
        }
    }
    values.assert_kept("statistics");
}

/// Ten records right of a hundred.
#[test]
fn scores_have_the_planned_noise_and_shift() {
    const SCORES: usize = 200;
    let plan = Plan::with_noise(4.0, 1e-5)
        .public_record_count(20)
        .expected_batch(2)
        .steps(1);
    let plan = (0..SCORES).fold(plan, |plan, _| plan.score(2.0));
    let plan = plan.calibrate().unwrap();
    let (canaries, model) = (Canaries::half(20), Table::new(20));
    let options = SessionOptions::default();
    let planned = Planned {
        sensitivity: 1.0,
        noise_multiplier: 2.0,
    };
    let mut values = Values::default();
    for seed in 0..100 {
        let keys = Keys::fixed_seed(1000 + seed);
        let session = Session::open_in_memory(plan.clone(), keys, &model, &canaries, options);
        let mut session = session.unwrap();
        let round = session.open_round().unwrap();
        let bounded = round.clip(&model, &canaries, &device()).unwrap();
        round.release(bounded).unwrap();
        for _ in 0..SCORES {
            // Ten records are right; each enters one of two cells.
            let right = |record: usize| {
                if record.is_multiple_of(10) {
                    [1.0, 0.0]
                } else {
                    [0.0, 1.0]
                }
            };
            let cells = (0..100).map(|record| right(record).to_vec());
            let score = session.score(2, cells).unwrap();
            values.add(score.values[0], 10.0, planned);
        }
    }
    values.assert_kept("scores");
}
