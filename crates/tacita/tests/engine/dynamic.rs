//! Dynamic DP-SGD (Du et al. 2021).

use crate::common::{flat, trajectory};
use crate::mechanism::{Images, Net};
use tacita::optim::OptimizerRule;
use tacita::{Budget, Clipping, NoiseDecay, NoiseSchedule, PaperAccountant, Plan};

#[test]
fn ratios_of_one_are_vanilla_dp_sgd_bit_for_bit() {
    let run = |clipping: Clipping, schedule: NoiseSchedule| {
        let plan = Plan::new(Budget::new(5.0, 1e-5))
            .public_record_count(40)
            .expected_batch(10)
            .steps(8)
            .clipping(clipping)
            .noise_schedule(schedule)
            .calibrate()
            .unwrap();
        let models = trajectory(
            plan,
            OptimizerRule::Sgd.into(),
            0.1,
            Net::new(),
            &Images::random(40, 3),
        );
        models.iter().flat_map(flat).collect::<Vec<f32>>()
    };
    let vanilla = run(Clipping::abadi(1.5), NoiseSchedule::Constant);
    let dynamic = run(
        Clipping::abadi(1.5).threshold_decay(1.0),
        NoiseSchedule::GrowingMu { ratio: 1.0 },
    );
    assert_eq!(vanilla, dynamic);
    let decaying = run(
        Clipping::abadi(1.5).threshold_decay(2.0),
        NoiseSchedule::GrowingMu { ratio: 2.0 },
    );
    assert_ne!(vanilla, decaying);
}

fn paper_plan(epsilon: f64, ratio: f64, steps: u64) -> Plan {
    Plan::as_in_paper(
        Budget::new(epsilon, 1.0 / 600_000.0),
        PaperAccountant::CentralLimit,
    )
    .public_record_count(60_000)
    .expected_batch(250)
    .steps(steps)
    .clipping(Clipping::abadi(1.5).threshold_decay(ratio))
    .noise_schedule(NoiseSchedule::GrowingMu { ratio })
}

/// Reference values made with mpmath for the paper's MNIST setting (T = 5000, p = 250/60000,
/// δ = 1/600000), where steps are counted 0..T−1: its μ₀ is the μ of the first step.
#[test]
fn first_step_of_algorithm_1_is_the_reference() {
    for (epsilon, ratio, reference) in [
        (0.4, 1.0, 0.341_534_970_935_166_9),
        (0.4, 2.0, 0.231_142_054_990_605_35),
        (0.4, 0.5, 0.462_220_028_237_631_1),
    ] {
        let plan = paper_plan(epsilon, ratio, 5000).calibrate().unwrap();
        let first = 1.0 / plan.noise_multipliers(0)[0];
        assert!(
            (first / reference - 1.0).abs() < 1e-6,
            "{first} is not {reference}"
        );
        // The claim is not the truth: the certified bracket lies above it.
        assert_eq!(plan.claim().unwrap().epsilon, epsilon);
        assert!(plan.epsilon().lower_bound().unwrap() > epsilon);
    }
}

#[test]
fn certified_calibration_keeps_the_budget_and_costs_more_noise_than_the_claim() {
    let budget = Budget::new(1.2, 1.0 / 600_000.0);
    let certified = Plan::new(budget)
        .public_record_count(60_000)
        .expected_batch(250)
        .steps(500)
        .clipping(Clipping::abadi(1.5).threshold_decay(2.0))
        .noise_schedule(NoiseSchedule::GrowingMu { ratio: 2.0 })
        .calibrate()
        .unwrap();
    assert!(certified.epsilon().upper_bound().unwrap() <= 1.2);
    let claimed = paper_plan(1.2, 2.0, 500).calibrate().unwrap();
    for step in [0, 250, 499] {
        let ratio = certified.noise_multipliers(step)[0] / claimed.noise_multipliers(step)[0];
        assert!(ratio > 1.0, "{ratio}");
    }
    // Noise falls with the threshold: its multiplier by 2 over the run.
    let ends = [0, 499].map(|step| certified.noise_multipliers(step)[0]);
    assert!((ends[0] / ends[1] - 2f64.powf(499.0 / 500.0)).abs() < 1e-12);
}

/// The baselines: each has noise that decays by epoch, calibrated both ways.
#[test]
fn baselines_calibrate_as_their_authors_did_and_certified() {
    let decays = [
        NoiseDecay::TimeBased { rate: 0.05 },
        NoiseDecay::Exponential { rate: 0.05 },
        NoiseDecay::Step {
            factor: 0.8,
            period: 2,
        },
        NoiseDecay::Polynomial {
            power: 2.0,
            end: 0.5,
            period: 4,
        },
    ];
    let budget = Budget::new(2.0, 1e-5);
    let run = |plan: Plan, decay: NoiseDecay| {
        plan.public_record_count(10_000)
            .expected_batch(100)
            .epochs(5.0)
            .clipping(Clipping::abadi(1.0))
            .noise_schedule(NoiseSchedule::Decay(decay))
            .calibrate()
            .unwrap()
    };
    for decay in decays {
        let certified = run(Plan::new(budget), decay);
        assert!(certified.epsilon().upper_bound().unwrap() <= 2.0);
        let zcdp = PaperAccountant::ZeroConcentrated;
        let zcdp = run(Plan::as_in_paper(budget, zcdp), decay);
        // Their accountant knows no amplification by sampling, so it asks for far more noise.
        assert!(zcdp.noise_multipliers(0)[0] > 2.0 * certified.noise_multipliers(0)[0]);
        assert!(zcdp.epsilon().upper_bound().unwrap() < 2.0);
        let tcdp = PaperAccountant::TruncatedConcentrated;
        let tcdp = run(Plan::as_in_paper(budget, tcdp), decay);
        assert!(tcdp.noise_multipliers(0)[0] > certified.noise_multipliers(0)[0]);
    }
}
