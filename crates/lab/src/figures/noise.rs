//! The utility bound of Du et al. 2021 and Figure 2 of Galli et al. 2024.

use super::{ALL, by_decades, chart, even, line};
use crate::theory::frontier::{gradient_multiplier, side_multiplier};
use crate::theory::utility::{Bound, Problem, Step, best_relative_noise, bound};
use tacita_accounting::calibrate::{self, Budget};
use tacita_accounting::{AccountError, Sampling};
use tacita_cli::plot::{Chart, Mark, Stroke};

/// The paper's MNIST setting with a synthetic loss: per-sample norms are exponentially distributed about a
/// mean that falls from 2 to 0.5, and the true gradient is a tenth of that.
const PROBLEM: Problem = Problem {
    records: 60_000.0,
    rate: 250.0 / 60_000.0,
    mu: 0.2,
    learning_rate: 0.15,
    loss_gap: 2.3,
    largest_gradient: 10.0,
    dimensions: 26_000.0,
};

const STEPS: u32 = 5000;

/// A run with thresholds and relative noise by the share of steps made; none where Corollary 2 does not
/// hold.
fn run(threshold: impl Fn(f64) -> f64, noise: impl Fn(f64, f64) -> f64) -> Option<Bound> {
    let step = |share: f64| {
        let mean_norm = 2.0 * 4f64.powf(-share);
        let threshold = threshold(share);
        Step {
            threshold,
            relative_noise: noise(share, threshold),
            curvature: 1.0,
            squared_gradient: (0.1 * mean_norm).powi(2),
            gradient_norm: 0.1 * mean_norm,
            clipped_share: (-threshold / mean_norm).exp(),
        }
    };
    let steps: Vec<Step> = even(1.0 / f64::from(STEPS), 1.0, STEPS - 1)
        .map(step)
        .collect();
    bound(&steps, &PROBLEM)
}

/// (16): its terms over a constant threshold, and its noise over the decay of the threshold.
pub fn utility() -> Vec<Chart> {
    let at = even(0.05, 5.0, 99);
    let term = |name: &str, colour: usize, stroke: Stroke, term: &dyn Fn(Bound) -> f64| {
        line(name, (colour, stroke), at.clone(), ALL, |c| {
            run(|_| c, |_, c| c).map_or(f64::NAN, term)
        })
    };
    let terms = vec![
        term("whole bound", 0, Stroke::Solid, &|bound| bound.total()),
        term("bias of clipping", 1, Stroke::Dashed, &|bound| bound.bias),
        term("noise", 2, Stroke::Dashed, &|bound| bound.noise),
        term("progress and sampling", 5, Stroke::Dotted, &|bound| {
            bound.progress + bound.sampling
        }),
    ];
    let left = chart("Bound (16), constant C", "C", "bound on ‖∇L‖²", terms);

    // Cₜ = 2 ρ^(−t/T); noise std of step t up to a factor.
    let by_decay =
        |name: &str, colour: usize, stroke: Stroke, noise: &dyn Fn(f64, f64, f64) -> f64| {
            line(name, (colour, stroke), even(1.0, 8.0, 28), ALL, |rho| {
                let threshold = |share: f64| 2.0 * rho.powf(-share);
                let bound = run(threshold, |share, c| noise(rho, share, c));
                bound.map_or(f64::NAN, |bound| bound.noise)
            })
        };
    let schedules = vec![
        by_decay("constant μ: noise ∝ C", 0, Stroke::Solid, &|_, _, c| c),
        by_decay(
            "growing μ: noise ∝ C ρ^(−t/T)",
            1,
            Stroke::Dashed,
            &|rho, share, c| c * rho.powf(-share),
        ),
        by_decay(
            "optimal: noise ∝ √C (A.7)",
            2,
            Stroke::Solid,
            &|_, _, c| best_relative_noise(c, 1.0),
        ),
    ];
    let title = "Noise term, C from 2 to 2/ρ";
    vec![
        left,
        chart(
            title,
            "ρ: decay of the threshold",
            "noise term of (16)",
            schedules,
        ),
    ]
}

/// Figure 2 of Galli et al. 2024: MNIST, batches of 512, 10 epochs; here with certified noise.
pub fn frontier() -> Result<Vec<Chart>, AccountError> {
    let rate: f64 = 512.0 / 60_000.0;
    let steps = (10.0 / rate).ceil() as u64;
    let title = "Two queries of one round, δ = 10⁻⁵";
    let mut figure = chart(title, "ν_q of the directions", "ν_g", Vec::new());
    for (colour, epsilon) in [3.0, 5.0, 7.0, 9.0].into_iter().enumerate() {
        let budget = Budget::new(epsilon, 1e-5)?;
        let found = calibrate::constant(Sampling::Poisson { rate }, steps, budget)?;
        let round = found.noise_multiplier;
        let at = by_decades(1.02 * round, 8.0, 160);
        let name = format!("ε = {epsilon}: ν = {round:.3}");
        let shown = (0.0, 3.0 * round);
        figure
            .series
            .push(line(name, (colour, Stroke::Solid), at, shown, |side| {
                gradient_multiplier(round, side)
            }));
        let side = side_multiplier(round, 0.01);
        figure.marks.push(Mark {
            at: (side, gradient_multiplier(round, side)),
            label: format!("ε = {epsilon}: ν_q = {side:.2} for 1 % more noise on the gradient"),
        });
    }
    Ok(vec![figure])
}
