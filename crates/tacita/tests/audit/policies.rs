//! Every rule with every threshold, in every grouping, under every noise schedule.

use crate::canaries::Canaries;
use crate::marks::agrees;
use crate::networks::Deep;
use crate::run::{Audit, Measured};
use tacita::clipping::{
    DirectionNoise, Grouping, NamedGroup, Online, OnlineRule, Quantile, Threshold,
};
use tacita::gradient::{NormMethod, Performance};
use tacita::noise::NoiseHardening;
use tacita::{CheckedPlan, Clipping, MicroBatch, NoiseDecay, NoiseSchedule, Plan, SessionOptions};

/// Half of them are in the data set.
const CANARIES: usize = 200;
/// In a few samples dropout leaves nothing of a gradient; the others are 20,000 at least.
const STEPS: u64 = 205;

/// Far less noise than anyone would train with: the less there is, the sharper a shift is seen.
const NOISE: f64 = 0.2;

fn groupings() -> [Grouping; 4] {
    let named = |paths: &[&str], weight| NamedGroup {
        paths: paths.iter().map(|path| path.to_string()).collect(),
        weight,
    };
    [
        Grouping::Flat,
        Grouping::PerLayer,
        Grouping::Weighted(vec![3.0, 1.0, 0.5, 2.0]),
        Grouping::Named(vec![named(&["second", "fourth"], 2.0), named(&[""], 1.0)]),
    ]
}

/// A number for each step, between 0.5 and 1.5.
fn listed() -> Vec<f64> {
    (0..STEPS)
        .map(|t| 0.5 + (t * 7 % 11) as f64 / 10.0)
        .collect()
}

fn schedules() -> [NoiseSchedule; 9] {
    [
        NoiseSchedule::Constant,
        NoiseSchedule::GrowingMu { ratio: 2.0 },
        NoiseSchedule::Table { relative: listed() },
        NoiseSchedule::Decay(NoiseDecay::TimeBased { rate: 0.005 }),
        NoiseSchedule::Decay(NoiseDecay::Exponential { rate: 0.005 }),
        NoiseSchedule::Decay(NoiseDecay::Step {
            factor: 0.8,
            period: 50,
        }),
        NoiseSchedule::Decay(NoiseDecay::Polynomial {
            power: 2.0,
            end: 0.5,
            period: 150,
        }),
        NoiseSchedule::Optimal,
        NoiseSchedule::OptimalForCurvature {
            curvature: listed(),
        },
    ]
}

fn options(number: usize) -> SessionOptions {
    let hardenings = [NoiseHardening::Grid, NoiseHardening::GridAndSumOfFour];
    let cuts = [
        MicroBatch::Automatic,
        MicroBatch::Records(33),
        MicroBatch::Memory(1 << 20),
    ];
    let methods = [
        None,
        Some(NormMethod::Gram),
        Some(NormMethod::Kept),
        Some(NormMethod::Recomputed),
    ];
    SessionOptions {
        hardening: hardenings[number % 2],
        micro_batch: cuts[number % 3],
        performance: Performance {
            norm_method: methods[number % 4],
            ..Performance::default()
        },
        ..SessionOptions::default()
    }
}

/// All records take part in all steps.
pub fn plan(clipping: Clipping, schedule: NoiseSchedule, records: u64, steps: u64) -> CheckedPlan {
    Plan::with_noise(NOISE, 1e-5)
        .public_record_count(records)
        .expected_batch(records)
        .steps(steps)
        .clipping(clipping)
        .noise_schedule(schedule)
        .calibrate()
        .unwrap()
}

/// Which schedule a policy meets in which grouping: each grouping meets each schedule once.
///
/// The first five policies know their threshold in advance, which the last two schedules ask for; the other
/// four learn it.
fn schedule(policy: usize, place: usize) -> usize {
    let any = |k: usize| (k + 2 * place) % 7;
    match (policy, (policy + place) % 5) {
        (5.., _) => any(policy - 2),
        (_, 0) => 7,
        (_, 1) => 8,
        (_, k) => any(k - 2),
    }
}

#[test]
fn each_grouping_meets_each_schedule() {
    for place in 0..4 {
        let mut met: Vec<usize> = (0..9).map(|policy| schedule(policy, place)).collect();
        met.sort_unstable();
        assert_eq!(met, (0..9).collect::<Vec<_>>());
    }
}

/// Audits a rule and threshold in all groupings. Its number among the policies decides which noise schedules,
/// hardenings, micro-batches and ways to the norm it meets.
fn audit(name: &str, number: usize, clipping: Clipping, reach: f64) {
    for (place, grouping) in groupings().into_iter().enumerate() {
        let schedule = schedules()[schedule(number, place)].clone();
        let policy = short(&format!("{name}, {grouping:?}, {schedule:?}"));
        let clipping = clipping.clone().grouping(grouping);
        let canaries = Canaries::half(CANARIES);
        let has_dropout = place % 2 == 1;
        let model = Deep::new(CANARIES, if has_dropout { 0.2 } else { 0.0 });
        let audit = Audit {
            model: &model,
            canaries,
            plan: plan(clipping.clone(), schedule, canaries.present as u64, STEPS),
            options: options(number + place),
            has_dropout,
        };
        let measured = audit.measure((100 * number + place) as u64);
        assert_kept(&policy, &clipping, &measured, reach);
    }
}

/// Names fit a line.
pub fn short(name: &str) -> String {
    name.chars().take(120).collect()
}

/// Every query has the planned noise and moves by the planned shift.
pub fn assert_kept(policy: &str, clipping: &Clipping, measured: &Measured, reach: f64) {
    println!("{policy}: gradient: {}", measured.gradient.figures());
    measured.gradient.assert_reach(policy, reach);
    measured.gradient.assert_noise(policy);
    measured.gradient.assert_shift(policy);
    match clipping.threshold {
        Threshold::Online(_) => {
            let policy = format!("directions of {policy}");
            println!("{policy}: {}", measured.directions.figures());
            measured.directions.assert_reach(&policy, reach);
            measured.directions.assert_noise(&policy);
            measured.directions.assert_shift(&policy);
        }
        Threshold::Quantile(_) => {
            let policy = format!("counts of {policy}");
            measured.counts.assert_noise(&policy);
            let shift = measured.count_shift.along / measured.count_shift.squares;
            let z = (shift - 1.0) * measured.count_shift.squares.sqrt();
            agrees(&policy, "shift over planned shift", shift, z);
        }
        _ => {}
    }
}

#[test]
fn automatic_clipping_keeps_its_plan() {
    audit("AUTO-S", 0, Clipping::auto(), 0.98);
}

#[test]
fn automatic_clipping_without_stability_constant_keeps_its_plan() {
    audit("AUTO-V", 1, Clipping::auto_v().threshold(0.3), 0.98);
}

#[test]
fn abadi_clipping_keeps_its_plan() {
    audit("Abadi", 2, Clipping::abadi(1.5), 0.98);
}

#[test]
fn decaying_thresholds_keep_their_plan() {
    let clipping = Clipping::abadi(2.0).threshold_decay(3.0);
    audit("decaying threshold", 3, clipping, 0.98);
}

#[test]
fn listed_thresholds_keep_their_plan() {
    let threshold = Threshold::Table { values: listed() };
    let clipping = Clipping::abadi(1.0).threshold(threshold);
    audit("listed thresholds", 4, clipping, 0.98);
}

/// The median is learned, so that half of the records come to be shorter than the threshold.
#[test]
fn quantile_thresholds_keep_their_plan() {
    let quantile = Quantile {
        initial: 1.0,
        learning_rate: 0.1,
        count_noise_std: Some(2.0),
        ..Quantile::new(0.5)
    };
    let clipping = Clipping::abadi(1.0).threshold(Threshold::Quantile(quantile));
    audit("quantile threshold", 5, clipping, 0.5);
}

#[test]
fn online_thresholds_keep_their_plan() {
    let rules = [
        (OnlineRule::SignExponential, DirectionNoise::Multiplier(0.3)),
        (
            OnlineRule::ScaleInvariant,
            DirectionNoise::GradientIncrease(0.3),
        ),
        (OnlineRule::Additive, DirectionNoise::Multiplier(0.5)),
    ];
    for (number, (rule, noise)) in rules.into_iter().enumerate() {
        let online = Online {
            initial: 1.0,
            rate: 0.01,
            rule,
            noise,
        };
        let clipping = Clipping::abadi(1.0).threshold(Threshold::Online(online));
        audit(
            &format!("online threshold, {rule:?}"),
            6 + number,
            clipping,
            0.9,
        );
    }
}
