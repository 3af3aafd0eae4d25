//! A second upper bound of ε, which shares no code with the accountant: Rényi divergences at whole orders.
//!
//! One round of Poisson sampling with rate q and noise multiplier z has, at a whole order α > 1 and in either
//! direction of adding or removing one record, at most the divergence (Mironov, Talwar & Zhang 2019,
//! arXiv:1908.10530, Theorems 4 and 5, §3.3)
//!
//! ```text
//! D(α) = ln( Σₖ C(α, k) (1 − q)^(α−k) q^k exp(k (k − 1) / (2 z²)) ) / (α − 1),     k = 0 … α.
//! ```
//!
//! Divergences of rounds add up, and at every α, ε = D(α) + ln(1 − 1/α) − ln(α δ) / (α − 1) keeps δ (Canonne,
//! Kamath & Steinke 2020, arXiv:2004.00010, Proposition 12). The bound is loose, typically by a tenth, and simple.
//!
//! # Rounding
//! All terms of the sum are positive. Each logarithm of a term is a sum of at most 262 parts, so its error is below
//! 263 · 2⁻⁵³ < 3 · 10⁻¹⁴ of the sum of their absolute values, with room for the logarithms and products in them;
//! [`SLACK`] takes 10⁻¹² of it, and everything after it is rounded up by the same share.

use serde_json::Value;
use std::collections::BTreeMap;

/// What rounding may take, relative to the sum of absolute values.
const SLACK: f64 = 1e-12;

/// Orders that are looked at: small ones for large ε, large ones for small.
const LARGEST_ORDER: u32 = 256;

/// Kinds of rounds are made alike where there are more: noise is rounded down, rates up, to so many digits in base 2.
const MANY_KINDS: usize = 2_000;
const KEPT_BITS: u32 = 9;

/// A kind of round: the bits of its rate and of its noise multiplier.
type Kind = (u64, u64);

/// An upper bound of ε at δ; none if the plan has rounds that this bound does not treat.
pub(crate) fn epsilon_upper(plan: &Value, delta: f64) -> Option<f64> {
    if plan.get("neighbours")?.as_str()? != "add-or-remove-one"
        || plan.get("records_per_unit").is_some()
    {
        return None;
    }
    let rounds = plan.get("rounds")?.as_array()?;
    let mut kinds: BTreeMap<Kind, f64> = BTreeMap::new();
    let coarse = rounds.len() > MANY_KINDS;
    for round in rounds {
        let (mut rate, mut noise) = (rate(round)?, joint_noise(round)?);
        if coarse {
            (rate, noise) = (rounded_up(rate).min(1.0), rounded_down(noise));
        }
        // Whole numbers below 2⁵³ are exact; more rounds than that cannot be made.
        *kinds.entry((rate.to_bits(), noise.to_bits())).or_default() +=
            crate::ledger::times_of(round)? as f64;
    }
    let orders = (2..=LARGEST_ORDER).filter(|order| *order <= 64 || order % 8 == 0);
    let bounds = orders.map(|order| {
        let total: f64 = (kinds.iter())
            .map(|((rate, noise), times)| {
                times * divergence(f64::from_bits(*rate), f64::from_bits(*noise), order)
            })
            .sum();
        to_epsilon(
            total * (1.0 + kinds.len() as f64 * f64::EPSILON),
            order,
            delta,
        )
    });
    let least = bounds.fold(f64::INFINITY, f64::min);
    (!least.is_nan()).then_some(least.max(0.0))
}

/// The probability of a record to take part; 1 for full batches.
fn rate(round: &Value) -> Option<f64> {
    let sampling = round.get("sampling")?;
    match sampling.get("kind")?.as_str()? {
        "poisson" => sampling
            .get("rate")?
            .as_f64()
            .filter(|rate| *rate > 0.0 && *rate <= 1.0),
        "full" => Some(1.0),
        _ => None,
    }
}

/// The multiplier of one Gaussian that releases as much as all queries of a round: (Σ z⁻²)^(−1/2), rounded down.
fn joint_noise(round: &Value) -> Option<f64> {
    let mut precision = 0.0;
    for noise in round.get("noise_multipliers")?.as_array()? {
        let noise = noise.as_f64().filter(|noise| *noise > 0.0)?;
        precision += 1.0 / (noise * noise);
    }
    let noise = (1.0 - SLACK) / precision.sqrt();
    (noise > 0.0 && noise.is_finite()).then_some(noise)
}

/// A positive number with fewer digits, not below it.
fn rounded_up(value: f64) -> f64 {
    let dropped = 52 - KEPT_BITS;
    let bits = value.to_bits();
    f64::from_bits(((bits >> dropped) + 1) << dropped)
}

/// A positive number with fewer digits, not above it.
fn rounded_down(value: f64) -> f64 {
    let dropped = 52 - KEPT_BITS;
    f64::from_bits((value.to_bits() >> dropped) << dropped)
}

/// D(α) of one round, rounded up.
fn divergence(rate: f64, noise: f64, order: u32) -> f64 {
    let alpha = f64::from(order);
    let half_precision = 0.5 / (noise * noise);
    if rate >= 1.0 {
        return alpha * half_precision * (1.0 + SLACK);
    }
    let (taken, left) = (rate.ln(), (-rate).ln_1p());
    let mut choose = 0.0_f64;
    let terms: Vec<f64> = (0..=order)
        .map(|k| {
            let k = f64::from(k);
            if k > 0.0 {
                choose += ((alpha - k + 1.0) / k).ln();
            }
            let parts = [
                choose,
                (alpha - k) * left,
                k * taken,
                k * (k - 1.0) * half_precision,
            ];
            // C(α, k) is a product of factors above and below 1, whose logarithms are no longer than α ln 2 together
            // with their rising half.
            let size: f64 = parts.iter().map(|part| part.abs()).sum::<f64>() + 2.0 * alpha;
            parts.iter().sum::<f64>() + SLACK * size
        })
        .collect();
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
    let moment = largest + sum.ln();
    (moment + SLACK * (moment.abs() + f64::from(order))) / (alpha - 1.0)
}

/// ε at δ from a divergence of order α, rounded up.
fn to_epsilon(divergence: f64, order: u32, delta: f64) -> f64 {
    let alpha = f64::from(order);
    let parts = [
        divergence,
        (-1.0 / alpha).ln_1p(),
        -(alpha.ln() + delta.ln()) / (alpha - 1.0),
    ];
    let size: f64 = parts.iter().map(|part| part.abs()).sum();
    parts.iter().sum::<f64>() + SLACK * size
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn plan(rate: f64, noise: f64, times: u64) -> Value {
        json!({"neighbours": "add-or-remove-one", "rounds": [
            {"sampling": {"kind": "poisson", "rate": rate}, "noise_multipliers": [noise], "times": times}]})
    }

    /// dp-accounting 0.6.0: `RdpAccountant([2, …, 64, 72, …, 256])` composed with
    /// `PoissonSampledDpEvent(q, GaussianDpEvent(z))`, `get_epsilon(1e-5)`.
    #[test]
    fn agrees_with_another_implementation() {
        for (rate, noise, times, theirs) in GOLDEN {
            let ours = epsilon_upper(&plan(rate, noise, times), 1e-5).unwrap_or(f64::NAN);
            assert!((ours / theirs - 1.0).abs() < 1e-6, "{ours} and {theirs}");
        }
    }

    const GOLDEN: [(f64, f64, u64, f64); 5] = [
        (0.01, 1.0, 1_000, 2.107_753_075_451_574_5),
        (0.1, 2.0, 50, 1.849_223_349_693_915),
        (0.004, 0.7, 5_000, 4.432_326_165_556_479),
        (1.0, 3.0, 4, 2.991_886_945_623_311_3),
        (0.5, 8.0, 300, 5.234_680_917_665_297_5),
    ];

    /// ∫ p^α q^(1−α) by the trapezium rule, which converges faster than any power for such integrands.
    #[test]
    fn a_divergence_is_its_integral() {
        for (rate, noise, order) in [
            (0.01, 1.0, 2),
            (0.1, 0.8, 5),
            (0.5, 2.0, 16),
            (0.001, 0.7, 8),
        ] {
            let normal = |x: f64, mean: f64| (-(x - mean).powi(2) / (2.0 * noise * noise)).exp();
            let step = noise / 200.0;
            let sum: f64 = (-20_000..40_000)
                .map(|i| {
                    let x = f64::from(i) * step;
                    let ratio = (1.0 - rate) + rate * normal(x, 1.0) / normal(x, 0.0);
                    let density = normal(x, 0.0) / (noise * (2.0 * std::f64::consts::PI).sqrt());
                    if density > 0.0 {
                        density * ratio.powi(order) * step
                    } else {
                        0.0
                    }
                })
                .sum();
            let integral = sum.ln() / f64::from(order - 1);
            let ours = divergence(rate, noise, order as u32);
            assert!(ours >= integral * (1.0 - 1e-9), "{ours} below {integral}");
            assert!(
                ours <= integral * (1.0 + 1e-6),
                "{ours} far above {integral}"
            );
        }
    }

    #[test]
    fn coarser_kinds_cost_more_and_little_more() {
        let kinds = |count: u64| -> Value {
            let rounds: Vec<Value> = (0..count)
                .map(|i| {
                    json!({"sampling": {"kind": "poisson", "rate": 0.01},
                        "noise_multipliers": [1.0 + i as f64 / count as f64]})
                })
                .collect();
            json!({"neighbours": "add-or-remove-one", "rounds": rounds})
        };
        let fine = epsilon_upper(&kinds(1_999), 1e-5).unwrap_or(f64::NAN);
        let coarse = epsilon_upper(&kinds(2_001), 1e-5).unwrap_or(f64::NAN);
        assert!(coarse > fine && coarse < 1.01 * fine, "{coarse} and {fine}");
    }

    #[test]
    fn what_it_does_not_treat_it_does_not_bound() {
        let mut of_units = plan(0.1, 1.0, 1);
        of_units["records_per_unit"] = json!(2);
        assert_eq!(epsilon_upper(&of_units, 1e-5), None);
        let partition = json!({"neighbours": "add-or-remove-one", "rounds": [
            {"sampling": {"kind": "partition", "batches": 3}, "noise_multipliers": [1.0]}]});
        assert_eq!(epsilon_upper(&partition, 1e-5), None);
    }
}
