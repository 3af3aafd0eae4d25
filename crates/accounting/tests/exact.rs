//! The accountant against closed forms: single rounds and full batches.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use tacita_accounting::{Accountant, Ledger, Neighbours, Pld, Reading, Round, Sampling};

fn normal_below(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// ln Φ(x), also where Φ underflows.
fn log_normal_below(x: f64) -> f64 {
    if x > -30.0 {
        return normal_below(x).ln();
    }
    let y = (x * x).recip();
    let series = 1.0 - y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y)));
    -0.5 * x * x - (-x * std::f64::consts::TAU.sqrt()).ln() + series.ln()
}

/// δ of one Gaussian of signal-to-noise μ at ε (Balle & Wang 2018, Theorem 8), without the
/// cancellation of its two terms for ε far above μ: only used where that does not matter.
fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    normal_below(mu / 2.0 - epsilon / mu)
        - (epsilon + log_normal_below(-mu / 2.0 - epsilon / mu)).exp()
}

fn ledger(sampling: Sampling, noise: f64, times: u64) -> Ledger {
    let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    ledger
        .push(Round::new(sampling, vec![noise]).unwrap().times(times))
        .unwrap();
    ledger
}

fn ends(reading: Reading) -> (f64, f64) {
    match reading {
        Reading::Bracket { lower, upper } => (lower, upper),
        other => panic!("not a bracket: {other:?}"),
    }
}

#[test]
fn full_batches_match_the_analytic_gaussian() {
    for (noise, times) in [
        (0.3, 1),
        (1.0, 1),
        (5.0, 10),
        (50.0, 1000),
        (100.0, 1),
        (20.0, 10_000_000),
        (0.3, 10_000_000),
    ] {
        let full = ledger(Sampling::Full {}, noise, times);
        let mu = (times as f64).sqrt() / noise;
        for delta in [1e-2, 1e-5, 1e-9, 1e-13] {
            let (lower, upper) = ends(Pld::default().epsilon(&full, delta).unwrap());
            if gaussian_delta(mu, 0.0) <= delta {
                assert_eq!(upper, 0.0);
                continue;
            }
            // The closed form rounds where ε ≫ 1; so does the comparison.
            let slack = 1e-9 * mu * mu;
            assert!(
                gaussian_delta(mu, lower - slack) >= delta,
                "{noise} {times} {delta}: {lower}"
            );
            assert!(
                gaussian_delta(mu, upper + slack) <= delta,
                "{noise} {times} {delta}: {upper}"
            );
            assert!(
                upper - lower <= 1e-4 * upper,
                "{noise} {times} {delta}: [{lower}, {upper}]"
            );
        }
    }
}

#[test]
fn rate_one_equals_full() {
    let full = ledger(Sampling::Full {}, 2.0, 7);
    let sampled = ledger(Sampling::Poisson { rate: 1.0 }, 2.0, 7);
    let read = |ledger: &Ledger| Pld::default().epsilon(ledger, 1e-6).unwrap();
    assert_eq!(read(&full), read(&sampled));
}

#[test]
fn full_batches_are_allowed_under_replace_one() {
    let mut replaced = Ledger::new(Neighbours::ReplaceOne);
    replaced
        .push(Round::new(Sampling::Full {}, vec![2.0]).unwrap().times(7))
        .unwrap();
    let added = ledger(Sampling::Full {}, 2.0, 7);
    let read = |ledger: &Ledger| Pld::default().epsilon(ledger, 1e-6).unwrap();
    assert_eq!(read(&replaced), read(&added));
}

/// δ of one sampled round at ε, both directions: q·δ₁ on a moved axis for remove, and
/// E_Q(1 − e^ε R)₊ in closed form for add.
fn sampled_delta(rate: f64, noise: f64, epsilon: f64) -> f64 {
    let mu = 1.0 / noise;
    let moved = (epsilon.exp_m1() / rate).ln_1p();
    let remove = rate * gaussian_delta(mu, moved);
    // 1 > e^ε (1 − q + q e^a)  ⇔  x < cut.
    let room = (-epsilon).exp_m1() / rate + 1.0;
    let add = if room > 0.0 {
        let cut = noise * noise * room.ln() + 0.5;
        let outside = normal_below(cut / noise);
        let inside = normal_below((cut - 1.0) / noise);
        outside - epsilon.exp() * ((1.0 - rate) * outside + rate * inside)
    } else {
        0.0
    };
    remove.max(add)
}

#[test]
fn one_sampled_round_matches_the_closed_form() {
    for rate in [1e-4, 0.01, 0.9] {
        for noise in [0.4, 3.0] {
            let once = ledger(Sampling::Poisson { rate }, noise, 1);
            for epsilon in [0.0, 0.01, 0.3, 2.0] {
                let exact = sampled_delta(rate, noise, epsilon);
                if exact < 1e-13 {
                    continue; // the closed form cancels
                }
                let accountant = Pld::default().with_relative_width(8e-3);
                let (lower, upper) = ends(accountant.delta(&once, epsilon).unwrap());
                let error = 1e-15 / exact + 1e-10;
                assert!(
                    lower <= exact * (1.0 + error),
                    "{rate} {noise} {epsilon}: {lower} {exact}"
                );
                assert!(
                    upper >= exact * (1.0 - error),
                    "{rate} {noise} {epsilon}: {upper} {exact}"
                );
                // Rounding of the transform limits small δ where mostly nothing happens.
                assert!(
                    upper - lower <= (1e-2 * upper).max(3e-11),
                    "{rate} {noise} {epsilon}: [{lower}, {upper}]"
                );
            }
        }
    }
}

#[test]
fn epsilon_is_zero_once_delta_exceeds_the_total_variation() {
    let once = ledger(Sampling::Poisson { rate: 0.01 }, 1.0, 1);
    let variation = sampled_delta(0.01, 1.0, 0.0);
    let (_, upper) = ends(Pld::default().epsilon(&once, 1.001 * variation).unwrap());
    assert_eq!(upper, 0.0);
    let (lower, upper) = ends(Pld::default().epsilon(&once, 0.9 * variation).unwrap());
    assert!(0.0 < lower && lower <= upper && upper < 0.1);
}
