//! Bounds on attackers, against the Gaussian, where the truth is known.

use crate::report::figures::CurvePoint;
use crate::report::odds;

/// Φ by Simpson's rule; good to 1e-12 for moderate arguments.
fn normal(x: f64) -> f64 {
    let parts = 4000;
    let step = x / f64::from(parts);
    let density = |t: f64| (-0.5 * t * t).exp();
    let weighted = (0..=parts).map(|i| {
        let weight = if i == 0 || i == parts {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        };
        weight * density(f64::from(i) * step)
    });
    0.5 + weighted.sum::<f64>() * step / 3.0 / std::f64::consts::TAU.sqrt()
}

/// The exact curve of a Gaussian of sensitivity over noise μ (Balle & Wang 2018, Theorem 8).
fn gaussian_curve(mu: f64) -> Vec<CurvePoint> {
    (0..=200)
        .map(|index| {
            let epsilon = f64::from(index) * 0.05;
            let delta =
                normal(0.5 * mu - epsilon / mu) - epsilon.exp() * normal(-0.5 * mu - epsilon / mu);
            CurvePoint {
                epsilon,
                delta_upper: delta.max(0.0) + 1e-11,
                delta_lower: 0.0,
            }
        })
        .collect()
}

#[test]
fn bounds_on_attacks_hold_for_the_gaussian_and_are_close() {
    for mu in [0.3, 1.0, 2.0] {
        let curve = gaussian_curve(mu);
        // The best test has threshold t: false alarms Φ(−t), power Φ(μ − t).
        for threshold in [0.5, 1.0, 2.0, 3.0] {
            let bound = odds::attack(&curve, normal(-threshold)).found_upper;
            let exact = normal(mu - threshold);
            assert!(bound >= exact, "μ = {mu}: {bound} < {exact}");
            assert!(
                bound <= exact + 0.02,
                "μ = {mu}: {bound} is far above {exact}"
            );
        }
        // Equal odds: the best guess is right with probability Φ(μ/2).
        let guess = odds::coin_guess_upper(&curve);
        assert!((guess - normal(0.5 * mu)).abs() < 1e-9);
        // The loss is N(μ²/2, μ²): beyond the exponent it goes at most with probability δ.
        let delta = 1e-4;
        let exponent = odds::odds_exponent(&curve, delta).unwrap();
        let beyond = normal(0.5 * mu - exponent / mu);
        assert!(beyond <= delta, "μ = {mu}: {beyond:e}");
        assert!(
            beyond >= 0.1 * delta,
            "μ = {mu}: {beyond:e} is needlessly small"
        );
    }
}

/// Of a search one point is known. What is made of it lies above the truth, wherever on the curve it is.
#[test]
fn one_point_of_a_curve_bounds_the_rest() {
    for mu in [0.3, 1.0, 2.0] {
        let exact = gaussian_curve(mu);
        for point in exact.iter().step_by(20) {
            let bound = odds::curve_through(point.epsilon, point.delta_upper);
            assert!(odds::coin_guess_upper(&bound) >= odds::coin_guess_upper(&exact));
            assert!(odds::coin_guess_upper(&bound) <= 1.0);
            for false_alarms in [0.001, 0.1] {
                let found = |curve| odds::attack(curve, false_alarms).found_upper;
                assert!(found(&bound) >= found(&exact));
            }
        }
        // At ε = 0 it is the curve's own.
        let first = odds::curve_through(0.0, exact[0].delta_upper);
        assert!((first[0].delta_upper - exact[0].delta_upper).abs() < 1e-11);
    }
}

#[test]
fn beliefs_move_by_the_odds_factor() {
    let after = odds::posterior_upper(0.1, 9.0_f64.ln());
    assert!((after - 0.5).abs() < 1e-9);
    assert!(odds::posterior_upper(0.5, 5000.0) <= 1.0);
}
