//! How small the gradient gets: Theorems 4, 6 and 9 of Bu et al. 2023.
//!
//! Theorem 6 bounds minₜ E‖gₜ‖ by ξ/r + F(x) with x = 4/√T · √((L₀−L*) L (1 + σ²d/B²)) and F the upper
//! concave envelope of M⁻¹. M is bounded for r > 1 ([`Setting::largest_distance`]), so M⁻¹ rises to
//! infinity at a finite argument and *its envelope on the whole axis is infinite*: Jensen's inequality
//! (C.5 to C.7) says nothing without a bound on the gradient norms. The paper continues with M⁻¹ itself
//! and finds T^(−1/4). We give both: [`Setting::bound`] with M⁻¹, as the paper's figures have it, and
//! [`Setting::proved_bound`] with the envelope for norms up to a given one, whose rate is T^(−1/6).

use super::distance::Setting;
use super::minimum::minimum;

/// x of Theorem 6: what T steps leave to do. `difficulty` is (L₀ − L*) L.
pub fn remaining(steps: f64, difficulty: f64, noise_to_batch: f64) -> f64 {
    4.0 / steps.sqrt() * (difficulty * (1.0 + noise_to_batch)).sqrt()
}

/// Theorem 9: minₜ E‖gₜ‖ of SGD without privacy.
pub fn sgd_bound(steps: f64, difficulty: f64, gradient_noise: f64, batch: f64) -> f64 {
    (2.0 * difficulty + gradient_noise.powi(2) / batch).sqrt() / steps.powf(0.25)
}

/// Points of the graph of M⁻¹ that an envelope is made of.
const ENVELOPE_POINTS: usize = 400;

impl Setting {
    /// ξ/r + M⁻¹(x), the bound for one r.
    pub fn bound_at(&self, x: f64, ratio: f64) -> f64 {
        self.gradient_noise / ratio + self.inverse(x, ratio)
    }

    /// The least of them over r: G of Theorem 4 as the paper draws it.
    pub fn bound(&self, x: f64) -> f64 {
        self.least_over_ratios(x, |ratio| self.bound_at(x, ratio))
    }

    /// The least over r with the envelope in the place of M⁻¹: what the proof gives if no gradient is
    /// longer than `largest`.
    pub fn proved_bound(&self, x: f64, largest: f64) -> f64 {
        self.least_over_ratios(x, |ratio| {
            self.gradient_noise / ratio + interpolate(&self.envelope(ratio, largest), x)
        })
    }

    fn least_over_ratios(&self, x: f64, bound: impl Fn(f64) -> f64) -> f64 {
        // 2γ/(r²−1) > x: the ratios above 1 at which M reaches x.
        let end = 0.5 * (2.0 * self.gamma / x).ln_1p() * (1.0 - 1e-9);
        let above = match self.gamma {
            0.0 => f64::INFINITY,
            _ => minimum(0.0, end, |log| bound(log.exp())).1,
        };
        // Below ratio 1 the bound is more than ξ.
        if above <= self.gradient_noise {
            return above;
        }
        above.min(minimum(-3.0, 0.0, |log| bound(log.exp())).1)
    }

    /// The upper concave envelope of M⁻¹ for gradient norms up to `largest`, as corners (y, M⁻¹).
    pub fn envelope(&self, ratio: f64, largest: f64) -> Vec<(f64, f64)> {
        // Even in ln x over seven decades: M bends where x is about ξ/r.
        let at = |k: usize| largest * 10f64.powf(-7.0 * (1.0 - k as f64 / ENVELOPE_POINTS as f64));
        let graph = (0..=ENVELOPE_POINTS).map(at);
        let graph = graph.map(|x| (self.distance(x, ratio), x));
        concave_envelope(std::iter::once((0.0, 0.0)).chain(graph))
    }
}

/// The corners of the least concave function above points whose arguments rise.
pub fn concave_envelope(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        while let [.., (x0, y0), (x1, y1)] = corners[..] {
            if (y1 - y0) * (x - x1) > (y - y1) * (x1 - x0) {
                break;
            }
            corners.pop();
        }
        corners.push((x, y));
    }
    corners
}

/// The value between corners; infinite beyond the last.
pub fn interpolate(corners: &[(f64, f64)], x: f64) -> f64 {
    let after = corners.partition_point(|corner| corner.0 < x);
    match (corners.get(after.saturating_sub(1)), corners.get(after)) {
        (Some(&(x0, y0)), Some(&(x1, y1))) if x1 > x0 => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (_, Some(corner)) => corner.1,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Setting = Setting {
        gradient_noise: 1.0,
        gamma: 0.01,
    };

    #[test]
    fn envelope_is_concave_and_dominates() {
        for (setting, ratio) in [
            (PAPER, 1.5),
            (PAPER, 4.0),
            (
                Setting {
                    gradient_noise: 0.3,
                    gamma: 1.0,
                },
                1.2,
            ),
            (
                Setting {
                    gradient_noise: 2.0,
                    gamma: 0.1,
                },
                0.7,
            ),
        ] {
            let envelope = setting.envelope(ratio, 5.0);
            let slopes: Vec<f64> = envelope
                .windows(2)
                .map(|w| (w[1].1 - w[0].1) / (w[1].0 - w[0].0))
                .collect();
            assert!(
                slopes.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-9)),
                "{slopes:?}"
            );
            let end = setting.distance(5.0, ratio);
            for k in 1..100 {
                let y = end * f64::from(k) / 100.0;
                let (above, value) = (interpolate(&envelope, y), setting.inverse(y, ratio));
                // Between corners the hull of sampled points lies below the hull of all of them.
                assert!(above >= value * (1.0 - 1e-3), "r={ratio}: {above} {value}");
            }
            assert_eq!(interpolate(&envelope, 2.0 * end), f64::INFINITY);
        }
    }

    /// The larger the norms allowed, the higher the envelope, without limit.
    #[test]
    fn envelope_grows_without_limit_with_the_largest_norm() {
        let y = 0.1 * PAPER.largest_distance(2.0);
        let at = |largest| interpolate(&PAPER.envelope(2.0, largest), y);
        assert!(at(100.0) > 5.0 * at(10.0) && at(10.0) > at(1.0));
        assert!((at(1e4) / at(1e3) - 10.0).abs() < 0.5);
    }

    fn rate(bound: impl Fn(f64) -> f64, x: f64) -> f64 {
        (bound(x) / bound(x / 10.0)).log10()
    }

    /// √x, so T^(−1/4): the second part of Theorem 4.
    #[test]
    fn bound_falls_as_the_fourth_root_of_steps() {
        for setting in [
            PAPER,
            Setting {
                gradient_noise: 0.5,
                gamma: 1.0,
            },
        ] {
            let rate = rate(|x| setting.bound(x), 1e-8);
            assert!((rate - 0.5).abs() < 0.01, "{rate}");
        }
    }

    /// With the envelope that the proof needs it is x^(1/3), so T^(−1/6).
    #[test]
    fn proved_bound_falls_as_the_sixth_root_of_steps() {
        let setting = Setting {
            gradient_noise: 1.0,
            gamma: 0.1,
        };
        let rate = rate(|x| setting.proved_bound(x, 2.0), 1e-7);
        assert!((rate - 1.0 / 3.0).abs() < 0.01, "{rate}");
        for x in [1e-6, 1e-3, 0.1] {
            assert!(setting.proved_bound(x, 2.0) >= setting.bound(x) * (1.0 - 1e-3));
        }
    }

    /// AUTO-V does not come below ξ; AUTO-S does.
    #[test]
    fn only_a_stability_constant_brings_the_bound_below_the_gradient_noise() {
        let without = Setting {
            gamma: 0.0,
            ..PAPER
        };
        assert!(without.bound(1e-9) >= 1.0);
        assert!(PAPER.bound(1e-5) < 0.5);
    }

    #[test]
    fn sgd_falls_as_the_fourth_root_of_steps() {
        let ratio = sgd_bound(1e4, 1.0, 1.0, 10.0) / sgd_bound(16e4, 1.0, 1.0, 10.0);
        assert!((ratio - 2.0).abs() < 1e-12);
        assert_eq!(remaining(16.0, 1.0, 3.0), 2.0);
    }
}
