//! Automatic clipping: the threshold R and the learning rate are one thing
//! (Bu et al. 2023, Theorems 1 and 2, Fact B.1).

use crate::common::{flat, trajectory};
use crate::mechanism::{Images, Net};
use tacita::clipping::Grouping;
use tacita::optim::{Optimizer, OptimizerRule};
use tacita::{Clipping, Keys, Plan, Session, SessionOptions};

const STEPS: u64 = 12;

fn run(
    threshold: f64,
    grouping: &Grouping,
    gamma: f64,
    rule: OptimizerRule,
    learning_rate: f64,
    weight_decay: f64,
) -> Vec<f32> {
    let mut clipping = Clipping::auto()
        .threshold(threshold)
        .grouping(grouping.clone());
    clipping.rule = tacita::clipping::ClipRule::Auto { gamma };
    let plan = Plan::with_noise(2.0, 1e-5)
        .public_record_count(40)
        .expected_batch(20)
        .steps(STEPS)
        .clipping(clipping)
        .calibrate()
        .unwrap();
    let optimizer = Optimizer::from(rule).with_weight_decay(weight_decay);
    let models = trajectory(
        plan,
        optimizer,
        learning_rate,
        Net::new(),
        &Images::random(40, 3),
    );
    models.iter().flat_map(flat).collect()
}

/// A power of two scales floats exactly, so the two trajectories agree to the last bit or nearly so.
const R: f64 = 8.0;

fn assert_same(with_r: &[f32], without: &[f32], what: &str) {
    let start = flat(&Net::new());
    let moved = (with_r[with_r.len() - start.len()..].iter().zip(&start))
        .map(|(end, start)| (end - start).abs())
        .fold(0.0, f32::max);
    assert!(
        moved > 1e-3,
        "{what}: the run must go somewhere, moved {moved}"
    );
    for (a, b) in with_r.iter().zip(without) {
        assert!(
            (a - b).abs() <= 1e-6 * (1.0 + a.abs()),
            "{what}: {a} and {b}"
        );
    }
}

/// Both groupings, AUTO-S and AUTO-V.
fn settings() -> [(Grouping, f64); 4] {
    [
        (Grouping::Flat, 0.01),
        (Grouping::Flat, 0.0),
        (Grouping::PerLayer, 0.01),
        (Grouping::Weighted(vec![1.0, 2.0, 4.0]), 0.01),
    ]
}

#[test]
fn theorem_1_threshold_is_a_factor_of_the_learning_rate() {
    for (grouping, gamma) in settings() {
        for rule in [
            OptimizerRule::Sgd,
            OptimizerRule::heavy_ball(0.9),
            OptimizerRule::nesterov(0.9),
        ] {
            let with_r = run(R, &grouping, gamma, rule, 0.01, 0.1);
            let without = run(1.0, &grouping, gamma, rule, 0.01 * R, 0.1 / R);
            assert_same(&with_r, &without, &format!("{rule:?}, {grouping:?}"));
        }
    }
}

#[test]
fn theorem_2_adaptive_optimisers_do_not_see_the_threshold() {
    // Stability constants are 0, or rescaled with the gradient where the rule needs one.
    let adam = OptimizerRule::Adam {
        beta_1: 0.9,
        beta_2: 0.999,
        epsilon: 0.0,
    };
    let adam_w = |scale: f64| OptimizerRule::AdamW {
        beta_1: 0.9,
        beta_2: 0.999,
        epsilon: 1e-6 * scale,
    };
    let n_adam = OptimizerRule::NAdam {
        beta_1: 0.9,
        beta_2: 0.999,
        epsilon: 0.0,
    };
    let rms_prop = OptimizerRule::RmsProp {
        decay: 0.9,
        epsilon: 0.0,
    };
    let ada_delta = |scale: f64| OptimizerRule::AdaDelta {
        decay: 0.9,
        start: 1e-4,
        epsilon: 1e-6 * scale * scale,
    };
    let ada_grad = OptimizerRule::AdaGrad { epsilon: 0.0 };
    for (grouping, gamma) in settings() {
        // L2 is part of the gradient, so it scales with R.
        let l2 = [
            (adam, adam),
            (n_adam, n_adam),
            (ada_grad, ada_grad),
            (rms_prop, rms_prop),
            (ada_delta(R), ada_delta(1.0)),
        ];
        for (with_rule, rule) in l2 {
            let with_r = run(R, &grouping, gamma, with_rule, 0.02, 0.1);
            let without = run(1.0, &grouping, gamma, rule, 0.02, 0.1 / R);
            assert_same(&with_r, &without, &format!("{rule:?}, {grouping:?}"));
        }
        // AdamW decays weights beside the step, so λ stays as it is. (The paper's statement has λ/R,
        // against its own proof.)
        let with_r = run(R, &grouping, gamma, adam_w(R), 0.02, 0.1);
        let without = run(1.0, &grouping, gamma, adam_w(1.0), 0.02, 0.1);
        assert_same(&with_r, &without, &format!("AdamW, {grouping:?}"));
    }
}

/// Fact B.1: thresholds (9, 12) → (16, 12). The ratio of noise to signal goes from 5/3 to 5/4 in the
/// first layer and from 5/4 to 5/3 in the second, which no learning rate can undo.
#[test]
fn changing_one_layers_threshold_is_no_change_of_the_learning_rate() {
    let ratios = |weights: [f64; 3]| -> Vec<f64> {
        let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let clipping = Clipping::auto_v().threshold(length);
        let plan = Plan::with_noise(20.0, 1e-5)
            .public_record_count(40)
            .expected_batch(40)
            .steps(1)
            .clipping(clipping.grouping(Grouping::Weighted(weights.to_vec())))
            .calibrate()
            .unwrap();
        let (model, images) = (Net::new(), Images::random(40, 3));
        let options = SessionOptions::default();
        let keys = Keys::fixed_seed(1);
        let mut session = Session::open_in_memory(plan, keys, &model, &images, options).unwrap();
        let round = session.open_round().unwrap();
        let bounded = round
            .clip(&model, &images, &crate::common::device())
            .unwrap();
        let noisy = round.release(bounded).unwrap();
        // Noise per unit of multiplier, against each threshold.
        let noise = noisy.noise_std() * 40.0 / 20.0;
        noisy.thresholds().iter().map(|c| noise / c).collect()
    };
    // The third layer's threshold is next to nothing.
    let (before, after) = (ratios([9.0, 12.0, 1e-6]), ratios([16.0, 12.0, 1e-6]));
    for (seen, expected) in [
        (before[0], 5.0 / 3.0),
        (before[1], 5.0 / 4.0),
        (after[0], 5.0 / 4.0),
        (after[1], 5.0 / 3.0),
    ] {
        assert!((seen - expected).abs() < 1e-9, "{seen} is not {expected}");
    }
}
