//! Lazy regions: where a clipped mean gradient vanishes though the true one does not
//! (Bu et al. 2023, F.1 and F.2).

use crate::common::{Loss, Random, Rows, Weights, device};
use tacita::clipping::ClipRule;
use tacita::testkit::clipped_sums_without_noise;
use tacita::{Clipping, PrivateModel, Records};

/// R of the paper.
const R: f64 = 0.01;

/// 10,000 draws from each of N(−c, 1) and N(c, 1), with the sign of the centre.
fn two_gaussians(centre: f32) -> Rows<1> {
    let mut random = Random(11);
    let mut normal = || {
        let (radius, angle) = (random.uniform().max(1e-7), random.uniform());
        (-2.0 * radius.ln()).sqrt() * (std::f32::consts::TAU * angle).cos()
    };
    let rows = (0..20_000).map(|i| {
        let side = if i % 2 == 0 { 1.0 } else { -1.0 };
        ([1.0], [side * centre + normal(), side])
    });
    Rows(rows.collect())
}

/// The mean clipped gradient at θ, over R.
fn mean(records: &Rows<1>, loss: Loss, theta: f32, rule: ClipRule) -> f64 {
    let mut clipping = Clipping::abadi(R);
    clipping.rule = rule;
    let indices: Vec<usize> = (0..records.count()).collect();
    let model = Weights::new(&[theta], loss);
    let sums = clipped_sums_without_noise(&model, &clipping, indices.len(), |model| {
        model.losses(records.batch(&indices, &device()))
    });
    sums.gradient[0][0] / indices.len() as f64 / R
}

/// F.2, mean estimation; the two Gaussians are centred at −4 and 4 (the printed text repeats a sign).
#[test]
fn in_mean_estimation_only_auto_s_keeps_moving() {
    let records = two_gaussians(4.0);
    let at_one = |rule| mean(&records, Loss::Square, 1.0, rule).abs();
    assert!(at_one(ClipRule::Auto { gamma: 0.0 }) <= 0.003);
    assert!(at_one(ClipRule::Abadi) <= 0.003);
    assert!(at_one(ClipRule::Auto { gamma: 0.1 }) >= 0.006);
}

/// F.1, balanced classification: every gradient of AUTO-V has length 1 and half of them each sign.
#[test]
fn in_balanced_classification_auto_v_never_moves() {
    let records = two_gaussians(1.0);
    for theta in [-2.0, -1.0, 0.5, 2.0] {
        let at = |gamma| mean(&records, Loss::Logistic, theta, ClipRule::Auto { gamma });
        assert!(at(0.0).abs() < 1e-5, "AUTO-V at {theta}: {}", at(0.0));
        // Towards the minimum at 0.
        assert!(
            at(0.01) * f64::from(theta.signum()) > 0.005,
            "AUTO-S at {theta}: {}",
            at(0.01)
        );
    }
}
