//! Figures 5 to 10 of Bu et al. 2023.

use super::{ALL, by_decades, chart, even, line};
use crate::theory::alignment::{alignment, least_alignment};
use crate::theory::convergence::{interpolate, remaining, sgd_bound};
use crate::theory::distance::Setting;
use tacita_cli::plot::{Chart, Stroke};

/// Γ of the paper's pictures of f.
const STABILITIES: [f64; 4] = [0.0, 0.01, 0.1, 1.0];

/// ξ = 1 and γ = 0.01.
const PAPER: Setting = Setting {
    gradient_noise: 1.0,
    gamma: 0.01,
};

/// γ = 1, where the bend of M⁻¹ is easy to see.
const WIDE: Setting = Setting {
    gradient_noise: 1.0,
    gamma: 1.0,
};

/// One chart of a function of Γ and something else.
fn over_stabilities(
    title: &str,
    x_label: &str,
    at: impl Iterator<Item = f64> + Clone,
    f: impl Fn(f64, f64) -> f64,
) -> Chart {
    let lines = STABILITIES.iter().enumerate().map(|(index, gamma)| {
        let name = format!("Γ = {gamma}");
        line(name, (index, Stroke::Solid), at.clone(), ALL, |x| {
            f(x, *gamma)
        })
    });
    chart(title, x_label, "f", lines.collect())
}

/// Figure 9.
pub fn alignment_over_noise() -> Vec<Chart> {
    let at = even(0.01, 4.0, 200);
    vec![
        over_stabilities(
            "f(0.5, S; Γ)",
            "S: noise over gradient",
            at.clone(),
            |s, gamma| alignment(0.5, s, gamma),
        ),
        over_stabilities(
            "least f over the angle",
            "S: noise over gradient",
            at,
            least_alignment,
        ),
    ]
}

/// Figure 10.
pub fn alignment_over_angle() -> Vec<Chart> {
    let over = |title: &str, ratio: f64| {
        let label = "c: cosine between gradient and noise";
        over_stabilities(title, label, even(0.0, 1.0, 200), |c, gamma| {
            alignment(c, ratio, gamma)
        })
    };
    vec![over("f(c, 0.8; Γ)", 0.8), over("f(c, 2; Γ)", 2.0)]
}

/// M⁻¹ and its concave envelope for bounded norms.
pub fn inverse() -> Vec<Chart> {
    let x_label = "x ∝ 1/√T";
    let ratios = [1.2, 1.5, 2.0, 4.0];
    let all = ratios.iter().enumerate().map(|(index, ratio)| {
        let at = even(0.0, 2.0, 400);
        line(
            format!("r = {ratio}"),
            (index, Stroke::Solid),
            at,
            (0.0, 8.0),
            |y| WIDE.inverse(y, *ratio),
        )
    });
    let all = chart("M⁻¹(x; r), ξ = 1, γ = 1", x_label, "M⁻¹", all.collect());
    let mut hulls = vec![line(
        "M⁻¹",
        (0, Stroke::Solid),
        even(0.0, WIDE.largest_distance(2.0), 800),
        (0.0, 8.0),
        |y| WIDE.inverse(y, 2.0),
    )];
    for (index, largest) in [2.0, 4.0, 8.0].into_iter().enumerate() {
        let corners = WIDE.envelope(2.0, largest);
        let end = WIDE.distance(largest, 2.0);
        let name = format!("envelope if no norm exceeds {largest}");
        let at = even(0.0, end * (1.0 - 1e-9), 100);
        hulls.push(line(name, (index + 1, Stroke::Dashed), at, ALL, |y| {
            interpolate(&corners, y)
        }));
    }
    let hulls = chart("M⁻¹(x; 2) and its concave envelopes", x_label, "", hulls);
    vec![all, hulls]
}

/// Figures 5 and 6: one line for each r, and the least of them.
pub fn envelope() -> Vec<Chart> {
    let automatic_v = Setting {
        gamma: 0.0,
        ..PAPER
    };
    let one = |setting: Setting, title: &str, ratios: &[f64], end: f64, shown: f64| {
        let at = even(0.0, end, 240);
        let mut lines: Vec<_> = ratios
            .iter()
            .enumerate()
            .map(|(index, ratio)| {
                let name = format!("r = {ratio}");
                line(
                    name,
                    (index, Stroke::Solid),
                    at.clone(),
                    (0.0, shown),
                    |x| setting.bound_at(x, *ratio),
                )
            })
            .collect();
        let at = even(end / 240.0, end, 120);
        lines.push(line(
            "least over all r",
            (5, Stroke::Dashed),
            at,
            (0.0, shown),
            |x| setting.bound(x),
        ));
        chart(title, "x ∝ 1/√T", "bound on the gradient norm", lines)
    };
    vec![
        one(
            automatic_v,
            "AUTO-V, ξ = 1",
            &[0.3, 0.5, 0.7, 0.9],
            2.0,
            5.0,
        ),
        one(
            PAPER,
            "AUTO-S, ξ = 1, γ = 0.01",
            &[0.5, 0.9, 1.2, 2.0, 4.0],
            0.02,
            3.0,
        ),
    ]
}

/// Figure 7: x = 10.
pub fn settings() -> Vec<Chart> {
    let label = "bound on the gradient norm";
    let over_noise = line(
        "γ = 0.01",
        (0, Stroke::Solid),
        even(0.05, 10.0, 80),
        ALL,
        |xi| {
            let setting = Setting {
                gradient_noise: xi,
                ..PAPER
            };
            setting.bound(10.0)
        },
    );
    let over_gamma = line(
        "ξ = 1",
        (0, Stroke::Solid),
        by_decades(1e-3, 1e3, 80),
        ALL,
        |gamma| Setting { gamma, ..PAPER }.bound(10.0),
    );
    let mut right = chart("x = 10, over γ", "γ", label, vec![over_gamma]);
    right.log_x = true;
    vec![chart("x = 10, over ξ", "ξ", label, vec![over_noise]), right]
}

/// Figure 8, with what the proof gives for bounded norms beside it.
pub fn rate() -> Vec<Chart> {
    let at = by_decades(1e2, 1e14, 96);
    // (L₀ − L*) L = 1; noise as long as the batch; norms up to 2.
    let (difficulty, noise_to_batch, batch, largest) = (1.0, 1.0, 100.0, 2.0);
    let x = move |steps: f64| remaining(steps, difficulty, noise_to_batch);
    let setting = Setting {
        gamma: 0.1,
        ..PAPER
    };
    let mut lines = vec![
        line(
            "SGD without privacy",
            (5, Stroke::Solid),
            at.clone(),
            ALL,
            |steps| sgd_bound(steps, difficulty, setting.gradient_noise, batch),
        ),
        line(
            "AUTO-S, least over r: T^(−1/4)",
            (0, Stroke::Solid),
            at.clone(),
            ALL,
            |steps| setting.bound(x(steps)),
        ),
        line(
            "AUTO-S with the envelope, norms ≤ 2: T^(−1/6)",
            (1, Stroke::Dashed),
            by_decades(1e2, 1e14, 48),
            (0.0, largest),
            |steps| setting.proved_bound(x(steps), largest),
        ),
    ];
    for (index, ratio) in [2.0, 10.0].into_iter().enumerate() {
        let name = format!("AUTO-S, r = {ratio}");
        lines.push(line(
            name,
            (2 + index, Stroke::Dotted),
            at.clone(),
            (0.0, 10.0),
            |steps| setting.bound_at(x(steps), ratio),
        ));
    }
    let mut chart = chart(
        "ξ = 1, γ = 0.1",
        "steps T",
        "bound on the gradient norm",
        lines,
    );
    (chart.log_x, chart.log_y) = (true, true);
    vec![chart]
}
