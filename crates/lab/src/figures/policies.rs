//! Figure 11 of Bu et al. 2023.

use super::{ALL, chart, even, line};
use crate::theory::lazy_regions::{Example, Rule};
use tacita_cli::plot::{Chart, Stroke};

/// F.1 and F.2, and F.2 again where the true gradient is far above the others.
pub fn lazy_regions() -> Vec<Chart> {
    let rules = |gamma: f64| {
        [
            ("regular".to_string(), Rule::Regular, Stroke::Dotted),
            (
                "Abadi, R = 0.01".to_string(),
                Rule::Abadi { threshold: 0.01 },
                Stroke::Solid,
            ),
            (
                "AUTO-V".to_string(),
                Rule::Auto { gamma: 0.0 },
                Stroke::Dashed,
            ),
            (
                format!("AUTO-S, γ = {gamma}"),
                Rule::Auto { gamma },
                Stroke::Solid,
            ),
        ]
    };
    let one = |example: Example, title: &str, gamma: f64, reach: f64, first: usize| {
        let rules = rules(gamma).into_iter().enumerate().skip(first);
        let lines = rules.map(|(index, (name, rule, stroke))| {
            let at = even(-reach, reach, 120);
            line(name, (index, stroke), at, ALL, |theta| {
                example.mean(theta, rule)
            })
        });
        let label = "mean gradient (over R if clipped)";
        chart(title, "θ", label, lines.collect())
    };
    vec![
        one(
            Example::Classification,
            "F.1: balanced classification",
            0.01,
            6.0,
            0,
        ),
        one(
            Example::MeanEstimation,
            "F.2: mean of two Gaussians",
            0.1,
            6.0,
            0,
        ),
        one(
            Example::MeanEstimation,
            "F.2 about the minimum",
            0.1,
            1.5,
            1,
        ),
    ]
}
