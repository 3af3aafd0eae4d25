//! Diagnostics: right against a per-sample loop, without influence on the run, and loudly not private.

use crate::common::{device, flat, rough, samples};
use crate::mechanism::{Images, Net};
use tacita::optim::OptimizerRule;
use tacita::testkit::per_sample_loop;
use tacita::{
    CheckedPlan, Clipping, Diagnosis, Keys, Opening, Plan, PrivateModel, Probe, Records,
    TrainError, Trained, Trainer,
};

const RECORDS: usize = 30;

/// A declared count far from the real one makes noise as small as the test likes.
fn plan(clipping: Clipping, expected_batch: u64) -> CheckedPlan {
    Plan::with_noise(2.0, 1e-5)
        .public_record_count(2 * expected_batch)
        .expected_batch(expected_batch)
        .steps(5)
        .clipping(clipping)
        .calibrate()
        .unwrap()
}

fn probe(thresholds: &[f64]) -> Probe {
    Probe {
        every: 2,
        records: RECORDS - 3,
        thresholds: thresholds.to_vec(),
    }
}

fn trainer<'a>(plan: CheckedPlan) -> Trainer<'a, Net> {
    Trainer::new(plan, OptimizerRule::heavy_ball(0.9), 0.1)
}

fn diagnosed(plan: CheckedPlan, keys: Keys, thresholds: &[f64]) -> (Trained<Net>, Vec<Diagnosis>) {
    let mut seen = Vec::new();
    let trained = trainer(plan)
        .keys(keys)
        .diagnose_without_privacy(probe(thresholds), |diagnosis| seen.push(diagnosis.clone()))
        .fit(Net::new(), &Images::random(RECORDS, 5), &device())
        .unwrap();
    (trained, seen)
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[test]
fn first_look_equals_the_per_sample_loop() {
    let images = Images::random(RECORDS, 5);
    let count = RECORDS - 3;
    let indices: Vec<usize> = (0..count).collect();
    let batch = images.batch(&indices, &device());
    let oracle = per_sample_loop(&Net::new(), count, |model, range| {
        model.losses(samples(&batch, range))
    });
    let gradients: Vec<Vec<f64>> = (oracle.iter())
        .map(|by_parameter| {
            by_parameter
                .iter()
                .flatten()
                .map(|v| f64::from(*v))
                .collect()
        })
        .collect();
    let norms: Vec<f64> = gradients.iter().map(|g| length(g)).collect();
    let mean = |factor: &dyn Fn(f64) -> f64| -> Vec<f64> {
        let mut mean = vec![0.0; gradients[0].len()];
        for (gradient, norm) in gradients.iter().zip(&norms) {
            for (sum, value) in mean.iter_mut().zip(gradient) {
                *sum += factor(*norm) * value / count as f64;
            }
        }
        mean
    };
    let true_mean = mean(&|_| 1.0);
    let mut sorted = norms.clone();
    sorted.sort_by(f64::total_cmp);
    // One threshold that clips about half, one that clips all, one that clips none.
    let thresholds = [
        0.5 * (sorted[12] + sorted[13]),
        0.5 * sorted[0],
        2.0 * sorted[count - 1],
    ];
    // Noise of 2C / 10⁹ turns nothing that f32 can see.
    let plan = plan(Clipping::abadi(thresholds[0]), 1_000_000_000);
    let (_, seen) = diagnosed(plan, Keys::fixed_seed(1), &thresholds);

    assert_eq!(seen.iter().map(|d| d.step).collect::<Vec<_>>(), [0, 2, 4]);
    let first = &seen[0];
    let tolerance = 1e-5 + 8.0 * rough();
    for (seen, truth) in first.norms.iter().zip(&norms) {
        assert!((seen / truth - 1.0).abs() < tolerance);
    }
    assert_eq!(first.norms.len(), count);
    assert!((first.mean_norm / length(&true_mean) - 1.0).abs() < tolerance);
    assert_eq!(first.now, first.compared[0]);
    for (seen, c) in first.compared.iter().zip(thresholds) {
        let above = norms.iter().filter(|norm| **norm > c).count();
        assert_eq!(seen.clip_fraction, above as f64 / count as f64);
        let clipped = mean(&|norm| (c / norm).min(1.0));
        let difference: Vec<f64> = clipped.iter().zip(&true_mean).map(|(a, b)| a - b).collect();
        assert!((seen.bias - length(&difference)).abs() < tolerance * length(&true_mean));
        let inner: f64 = clipped.iter().zip(&true_mean).map(|(a, b)| a * b).sum();
        let cosine = inner / (length(&clipped) * length(&true_mean));
        assert!(
            (seen.cosine - cosine).abs() < tolerance,
            "{} {cosine}",
            seen.cosine
        );
    }
    assert_eq!(first.compared[1].clip_fraction, 1.0);
    assert_eq!(first.compared[2].clip_fraction, 0.0);
}

/// Figure 1 of Galli et al. 2024: little is left of the gradient where C is large, because noise grows
/// with it and the gradient does not.
#[test]
fn cosine_falls_where_the_threshold_is_far_above_the_norms() {
    let (_, seen) = diagnosed(
        plan(Clipping::abadi(1.0), 500),
        Keys::fixed_seed(1),
        &[1.0, 1e4],
    );
    let [near, far] = [seen[0].compared[0], seen[0].compared[1]];
    assert!(
        near.cosine > 0.5 && far.cosine.abs() < 0.2,
        "{near:?} {far:?}"
    );
    assert!(near.bias > far.bias);
}

#[test]
fn model_is_the_one_without_diagnostics_bit_for_bit() {
    for clipping in [
        Clipping::auto().per_layer(),
        Clipping::online(),
        Clipping::quantile(0.5),
    ] {
        let plan = plan(clipping, 15);
        let (with, seen) = diagnosed(plan.clone(), Keys::fixed_seed(3), &[0.5]);
        let without = trainer(plan)
            .keys(Keys::fixed_seed(3))
            .fit(Net::new(), &Images::random(RECORDS, 5), &device())
            .unwrap();
        assert_eq!(seen.len(), 3);
        assert_eq!(flat(&with.model), flat(&without.model));
    }
}

#[test]
fn secret_keys_do_not_make_a_diagnosed_run_private() {
    let folder = std::env::temp_dir().join(format!("tacita-diagnosed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let ledger = folder.join("ledger.jsonl");
    let plan = plan(Clipping::auto(), 15);
    let images = Images::random(RECORDS, 5);
    let run = |plan: CheckedPlan| {
        let mut looks = 0;
        let trained = trainer(plan)
            .ledger(&ledger)
            .diagnose_without_privacy(probe(&[]), |_| looks += 1)
            .fit(Net::new(), &images, &device())
            .unwrap();
        (trained, looks)
    };
    let (trained, looks) = run(plan.clone());
    assert_eq!(looks, 3);
    assert!(!trained.report.private);
    let text = trained.report.to_string();
    assert!(
        text.starts_with("NOT PRIVATE: diagnostics showed raw gradients"),
        "{text}"
    );
    assert!(!text.contains("fixed seed"));
    assert!(!tacita::read_ledger_file(&ledger).unwrap().private);
    std::fs::remove_dir_all(&folder).unwrap();

    // Without them the same call is private.
    let quiet = trainer(plan).fit(Net::new(), &images, &device()).unwrap();
    assert!(quiet.report.private && quiet.report.to_string().starts_with("Privacy:"));
}

#[test]
fn a_run_opened_as_private_shows_nothing() {
    let images = Images::random(RECORDS, 5);
    let mut looks = 0;
    let mut fit = |keys: Keys| {
        let plan = plan(Clipping::auto(), 15);
        let opening = Opening::in_memory(plan.clone(), keys);
        trainer(plan)
            .diagnose_without_privacy(probe(&[]), |_| looks += 1)
            .fit_opened(opening, Net::new(), &images, &device())
    };
    let refused = fit(Keys::from_os().unwrap()).unwrap_err();
    assert!(matches!(refused, TrainError::OpenedAsPrivate), "{refused}");
    let seeded = fit(Keys::fixed_seed(1)).unwrap().report;
    assert_eq!(seeded.not_private_because.len(), 2);
    let marked = fit(Keys::from_os().unwrap().for_diagnostics()).unwrap();
    assert_eq!(marked.report.not_private_because.len(), 1);
    assert_eq!(looks, 6);
}

#[test]
fn a_probe_of_nothing_is_refused() {
    let with = |probe: Probe| {
        trainer(plan(Clipping::auto(), 15))
            .diagnose_without_privacy(probe, |_| ())
            .fit(Net::new(), &Images::random(RECORDS, 5), &device())
            .unwrap_err()
    };
    let cases = [
        Probe {
            every: 0,
            ..probe(&[])
        },
        Probe {
            records: 0,
            ..probe(&[])
        },
        probe(&[1.0, -2.0]),
        probe(&[f64::NAN]),
    ];
    for case in cases {
        assert!(matches!(with(case), TrainError::Probe { .. }));
    }
}
