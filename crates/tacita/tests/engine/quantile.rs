//! Thresholds that follow a quantile (Andrew et al. 2021).

use crate::common::{Loss, Rows, Weights, device};
use tacita::clipping::{Grouping, Quantile, Threshold};
use tacita::{Clipping, Keys, Plan, Session, SessionOptions};

/// Gradients whose norms are k/1000, k = 1..1000, wherever the model is.
fn records() -> Rows<1> {
    Rows(
        (1..=1000)
            .map(|k| ([k as f32 / 1000.0], [0.0; 2]))
            .collect(),
    )
}

#[test]
fn threshold_converges_to_the_target_quantile() {
    for quantile in [0.2, 0.5, 0.9] {
        let plan = Plan::with_noise(2.0, 1e-5)
            .public_record_count(1000)
            .expected_batch(500)
            .steps(150)
            .clipping(Clipping::quantile(quantile))
            .calibrate()
            .unwrap();
        let (model, records) = (Weights::new(&[0.5], Loss::Output), records());
        let (keys, options) = (Keys::fixed_seed(1), SessionOptions::default());
        let mut session = Session::open_in_memory(plan, keys, &model, &records, options).unwrap();
        let mut last = Vec::new();
        for step in 0..150 {
            let round = session.open_round().unwrap();
            let bounded = round.clip(&model, &records, &device()).unwrap();
            round.release(bounded).unwrap();
            if step >= 100 {
                last.push(session.thresholds()[0]);
            }
        }
        // Noise of 25 records on a count of 500 moves C by about 1 % a step and averages out.
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        assert!((mean - quantile).abs() < 0.04, "{mean} is not {quantile}");
    }
}

#[test]
fn the_counts_cost_is_in_the_ledger() {
    let policy = Quantile {
        count_noise_std: Some(5.0),
        ..Quantile::new(0.5)
    };
    let plan = |clipping: Clipping| {
        Plan::with_noise(1.0, 1e-5)
            .public_record_count(1000)
            .expected_batch(100)
            .steps(20)
            .clipping(clipping)
            .calibrate()
            .unwrap()
    };
    let with_count = plan(Clipping::quantile(0.5).threshold(Threshold::Quantile(policy)));
    assert_eq!(with_count.noise_multipliers(3), [1.0, 10.0]);
    let without = plan(Clipping::abadi(1.0));
    let epsilon = |plan: &tacita::CheckedPlan| plan.epsilon().lower_bound().unwrap();
    assert!(epsilon(&with_count) > without.epsilon().upper_bound().unwrap());
}

/// Each group has a threshold of its own.
#[test]
fn groups_follow_their_own_quantiles() {
    use crate::mechanism::{Images, Net};
    let plan = Plan::with_noise(2.0, 1e-5)
        .public_record_count(400)
        .expected_batch(400)
        .steps(80)
        .clipping(Clipping::quantile(0.5).grouping(Grouping::PerLayer))
        .calibrate()
        .unwrap();
    let (model, images) = (Net::new(), Images::random(400, 9));
    let (keys, options) = (Keys::fixed_seed(1), SessionOptions::default());
    let mut session = Session::open_in_memory(plan, keys, &model, &images, options).unwrap();
    let mut below = vec![0.0; 3];
    for step in 0..80 {
        let round = session.open_round().unwrap();
        let bounded = round.clip(&model, &images, &device()).unwrap();
        let noisy = round.release(bounded).unwrap();
        if step >= 50 {
            let shares = noisy.shares_below_threshold().unwrap();
            below
                .iter_mut()
                .zip(shares)
                .for_each(|(sum, share)| *sum += share / 30.0);
        }
    }
    let thresholds = session.thresholds();
    assert!(
        thresholds
            .iter()
            .any(|c| (c / thresholds[0] - 1.0).abs() > 0.1)
    );
    for share in below {
        assert!((share - 0.5).abs() < 0.08, "{share}");
    }
}
