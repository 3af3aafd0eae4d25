//! Online sensitivity optimisation (Galli et al. 2024).

use crate::common::{Loss, Random, Rows, Weights, device};
use tacita::clipping::{DirectionNoise, Online, Threshold};
use tacita::optim::{LearningRate, OptimizerRule};
use tacita::testkit::clipped_sums_without_noise;
use tacita::{Clipping, Keys, Plan, PrivateModel, Records, Trainer};

const RECORDS: u64 = 3000;

/// Two clusters of records that pull a two-parameter model different ways.
fn records() -> Rows<2> {
    let mut random = Random(5);
    let mut near = |centre: f32| centre + 0.1 * (random.uniform() - 0.5);
    let rows = (0..RECORDS).map(|i| {
        if i % 3 == 0 {
            ([near(1.0), near(0.2)], [near(2.0), 0.0])
        } else {
            ([near(-0.3), near(0.8)], [near(-1.0), 0.0])
        }
    });
    Rows(rows.collect())
}

/// Algorithm 1 with no noise, in f64, by hand: returns (C, ρ) of every step.
fn by_hand(
    steps: usize,
    start: [f64; 2],
    online: Online,
    rate: f64,
    rate_of_rate: f64,
) -> Vec<(f64, f64)> {
    let rows = records().0;
    let (mut weights, mut threshold, mut rate) = (start, online.initial, rate);
    let (mut q_before, mut g_before) = ([0.0; 2], [0.0; 2]);
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
    let mut trace = Vec::new();
    for _ in 0..steps {
        trace.push((threshold, rate));
        let (mut g, mut q) = ([0.0; 2], [0.0; 2]);
        for (x, [y, _]) in &rows {
            let x = x.map(f64::from);
            let error = dot(weights, x) - f64::from(*y);
            let norm = (error * error * dot(x, x)).sqrt();
            for k in 0..2 {
                let gradient = error * x[k];
                g[k] += gradient * (threshold / norm).min(1.0) / RECORDS as f64;
                if norm > threshold {
                    q[k] += gradient / norm / RECORDS as f64;
                }
            }
        }
        for k in 0..2 {
            weights[k] -= rate * g[k];
        }
        threshold *= (online.rate * sign(dot(g, q_before))).exp();
        rate *= (rate_of_rate * sign(dot(g, g_before))).exp();
        (q_before, g_before) = (q, g);
    }
    trace
}

/// All 3000 records take part in every step, so the noise on a mean is a ten-thousandth of C and the
/// signs are those of the exact algorithm.
#[test]
fn threshold_and_rate_follow_equations_20_and_21() {
    let online = Online {
        rate: 0.05,
        ..Online::default()
    };
    // Later the derivative is so close to 0 that noise decides.
    let steps = 20;
    let plan = Plan::with_noise(0.5, 1e-5)
        .public_record_count(RECORDS)
        .expected_batch(RECORDS)
        .steps(steps)
        .clipping(Clipping::online().threshold(Threshold::Online(online)))
        .calibrate()
        .unwrap();
    let policy = LearningRate::Online {
        initial: 0.8,
        rate: 0.03,
        momentum: 0.0,
    };
    let mut seen = Vec::new();
    Trainer::new(plan, OptimizerRule::Sgd, policy)
        .keys(Keys::fixed_seed(3))
        .on_step(|at, _: &Weights| seen.push((at.threshold, at.learning_rate)))
        .fit(
            Weights::new(&[0.5, -0.5], Loss::Square),
            &records(),
            &device(),
        )
        .unwrap();
    let expected = by_hand(steps as usize, [0.5, -0.5], online, 0.8, 0.03);
    for (step, (seen, expected)) in seen.iter().zip(&expected).enumerate() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(
            close(seen.0, expected.0) && close(seen.1, expected.1),
            "step {step}: {seen:?} is not {expected:?}"
        );
    }
    let last = expected[expected.len() - 1];
    assert!(last.0 > 0.2, "the threshold must have moved: {last:?}");
}

/// Equation 12: the derivative of the next loss in the threshold, with the unclipped gradient at the
/// next point, by finite differences.
#[test]
fn derivative_of_the_next_loss_in_the_threshold_is_equation_12() {
    let records = records();
    let indices: Vec<usize> = (0..RECORDS as usize).collect();
    let rate = 0.7;
    let batch = || records.batch(&indices, &device());
    let sums = |weights: &[f32], threshold: f64| {
        let online = Online {
            initial: threshold,
            ..Online::default()
        };
        let clipping = Clipping::online().threshold(Threshold::Online(online));
        let model = Weights::new(weights, Loss::Square);
        clipped_sums_without_noise(&model, &clipping, indices.len(), |m| m.losses(batch()))
    };
    let start = [0.5f32, -0.5];
    let next = |threshold: f64| -> [f64; 2] {
        let gradient = &sums(&start, threshold).gradient[0];
        [0, 1].map(|k| f64::from(start[k]) - rate * gradient[k] / RECORDS as f64)
    };
    // The mean loss in f64, so that differences keep their digits.
    let loss = |weights: [f64; 2]| -> f64 {
        let error = |(x, [y, _]): &([f32; 2], [f32; 2])| {
            weights[0] * f64::from(x[0]) + weights[1] * f64::from(x[1]) - f64::from(*y)
        };
        records
            .0
            .iter()
            .map(|row| 0.5 * error(row).powi(2))
            .sum::<f64>()
            / RECORDS as f64
    };
    // Thresholds that clip all, some and few of the records.
    for threshold in [0.3, 0.75, 1.2] {
        let step = 1e-3 * threshold;
        let difference =
            (loss(next(threshold + step)) - loss(next(threshold - step))) / (2.0 * step);
        let directions = sums(&start, threshold).directions.unwrap();
        let there = next(threshold).map(|w| w as f32);
        // A threshold above every norm leaves the gradient unclipped.
        let gradient = &sums(&there, 1e3).gradient[0];
        let product: f64 = (directions[0].iter().zip(gradient))
            .map(|(q, g)| q * g)
            .sum();
        let derivative = -rate * product / (RECORDS as f64).powi(2);
        assert!(
            (difference - derivative).abs() < 0.02 * derivative.abs() + 1e-4,
            "C = {threshold}: {difference} is not {derivative}"
        );
    }
}

#[test]
fn both_queries_of_a_round_cost_what_one_of_the_planned_noise_would() {
    let cases = [
        (
            DirectionNoise::GradientIncrease(0.01),
            [1.01 * 2.0, 7.123_990_720_171_842 * 2.0],
        ),
        (DirectionNoise::Multiplier(9.0), [2.0, 9.0]),
    ];
    for (noise, expected) in cases {
        let online = Online {
            noise,
            ..Online::default()
        };
        let plan = Plan::with_noise(2.0, 1e-5)
            .public_record_count(1000)
            .expected_batch(10)
            .steps(5)
            .clipping(Clipping::online().threshold(Threshold::Online(online)))
            .calibrate()
            .unwrap();
        let multipliers = plan.noise_multipliers(0);
        for (seen, expected) in multipliers.iter().zip(expected) {
            assert!((seen / expected - 1.0).abs() < 1e-12);
        }
        let effective = plan.ledger().rounds()[0].effective_noise_multiplier();
        let by_hand = (expected[0].powi(-2) + expected[1].powi(-2)).powf(-0.5);
        assert!((effective / by_hand - 1.0).abs() < 1e-12);
    }
}

/// What is published about C and the rate is a function of released values: recomputing it from them
/// gives the same.
#[test]
fn threshold_is_post_processing_of_released_values() {
    let plan = Plan::with_noise(2.0, 1e-5)
        .public_record_count(RECORDS)
        .expected_batch(30)
        .steps(30)
        .clipping(Clipping::online())
        .calibrate()
        .unwrap();
    let (model, records) = (Weights::new(&[0.5, -0.5], Loss::Square), records());
    let options = tacita::SessionOptions::default();
    let keys = Keys::fixed_seed(3);
    let mut session =
        tacita::Session::open_in_memory(plan, keys, &model, &records, options).unwrap();
    let mut threshold = 0.1;
    let mut before: Option<Vec<f32>> = None;
    for _ in 0..30 {
        assert!((session.thresholds()[0] / threshold - 1.0).abs() < 1e-12);
        let round = session.open_round().unwrap();
        let bounded = round.clip(&model, &records, &device()).unwrap();
        let noisy = round.release(bounded).unwrap();
        let read = |gradients: burn::optim::GradientsParams| -> Vec<f32> {
            let id = model.linear.weight.id;
            gradients
                .get::<2>(id)
                .unwrap()
                .into_data()
                .iter::<f32>()
                .collect()
        };
        let (g, q) = (
            read(noisy.gradients(&model)),
            read(noisy.directions(&model).unwrap()),
        );
        if let Some(before) = &before {
            let inner: f32 = g.iter().zip(before).map(|(g, q)| g * q).sum();
            threshold *= (2.5e-3 * f64::from(inner.signum())).exp();
        }
        before = Some(q);
    }
}
