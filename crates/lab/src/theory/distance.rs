//! The distance measure M that automatic clipping contracts, and its inverse (Bu et al. 2023, C.2).

use super::alignment::least_alignment;

/// What the bound depends on beside the number of steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// ξ: the mean length of the noise of a per-sample gradient.
    pub gradient_noise: f64,
    /// γ: the stability constant; 0 is AUTO-V.
    pub gamma: f64,
}

impl Setting {
    /// M(x; r, ξ, γ), eq. C.3: the least progress per step at ‖g‖ = x + ξ/r.
    pub fn distance(&self, x: f64, ratio: f64) -> f64 {
        let norm = x + self.gradient_noise / ratio;
        least_alignment(ratio, self.gamma / norm) * x
    }

    /// Above this M has no value (C.2): 2γ/(r²−1), and infinity for r ≤ 1.
    pub fn largest_distance(&self, ratio: f64) -> f64 {
        if ratio > 1.0 {
            2.0 * self.gamma / (ratio * ratio - 1.0)
        } else {
            f64::INFINITY
        }
    }

    /// M⁻¹(y; r, ξ, γ), eq. C.8 for r ≥ 1; infinite where M never comes as high as y. Below r = 1 there
    /// is no closed form unless γ = 0, and M is inverted by bisection.
    pub fn inverse(&self, y: f64, ratio: f64) -> f64 {
        let (r, xi, gamma) = (ratio, self.gradient_noise, self.gamma);
        if y <= 0.0 {
            return 0.0;
        }
        if r < 1.0 {
            return self.inverse_by_bisection(y, ratio);
        }
        if gamma == 0.0 || y >= self.largest_distance(ratio) {
            return f64::INFINITY;
        }
        let a = xi / r;
        let square = 2.0 * xi * y + 2.0 * gamma * y + y * y;
        // √(a² + square) − a, which cancels for small y, by its conjugate.
        let root = square / ((a * a + square).sqrt() + a);
        let r_square = r * r - 1.0;
        (r_square * a * y + r * gamma * y + gamma * root) / (2.0 * gamma - r_square * y)
    }

    fn inverse_by_bisection(&self, y: f64, ratio: f64) -> f64 {
        if self.gamma == 0.0 {
            return y / least_alignment(ratio, 0.0);
        }
        let mut high = 1.0;
        while self.distance(high, ratio) < y && high < 1e300 {
            high *= 2.0;
        }
        let mut low = 0.0;
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.distance(middle, ratio) < y {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// The slope of M⁻¹ at 0 for r ≥ 1: ((ξ+γ)²r/ξ − ξ/r) / 2γ.
    #[cfg(test)]
    fn slope_at_zero(&self, ratio: f64) -> f64 {
        let (xi, gamma) = (self.gradient_noise, self.gamma);
        ((xi + gamma).powi(2) / xi * ratio - xi / ratio) / (2.0 * gamma)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacita_datasets::random::SplitMix;

    fn uniform(random: &mut SplitMix, low: f64, high: f64) -> f64 {
        low + (high - low) * (random.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn random_settings() -> impl Iterator<Item = (Setting, f64, f64)> {
        let mut random = SplitMix(3);
        (0..500).map(move |_| {
            let setting = Setting {
                gradient_noise: uniform(&mut random, 0.05, 5.0),
                gamma: uniform(&mut random, 0.001, 2.0),
            };
            let ratio = uniform(&mut random, 0.2, 6.0);
            (setting, ratio, uniform(&mut random, 1e-6, 4.0))
        })
    }

    #[test]
    fn inverse_inverts_the_distance() {
        for (setting, ratio, x) in random_settings() {
            let y = setting.distance(x, ratio);
            assert!(y < setting.largest_distance(ratio));
            let back = setting.inverse(y, ratio);
            assert!(
                (back / x - 1.0).abs() < 1e-6,
                "{setting:?} r={ratio}: {x} {back}"
            );
            // M rises.
            assert!(setting.distance(x * 1.001, ratio) > y);
        }
    }

    #[test]
    fn closed_form_and_bisection_meet_at_ratio_one() {
        for (setting, _, y) in random_settings().take(50) {
            let closed = setting.inverse(y, 1.0);
            let searched = setting.inverse_by_bisection(y, 1.0);
            assert!((closed / searched - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn distance_never_reaches_its_end() {
        let setting = Setting {
            gradient_noise: 1.0,
            gamma: 0.1,
        };
        let end = setting.largest_distance(2.0);
        let far = setting.distance(1e7, 2.0);
        assert!(far < end && far > 0.999 * end);
        assert_eq!(setting.inverse(end, 2.0), f64::INFINITY);
    }

    #[test]
    fn slope_at_zero_is_the_papers() {
        for (setting, ratio, _) in random_settings().filter(|(_, ratio, _)| *ratio > 1.0) {
            let y = 1e-9 * setting.gamma * setting.gradient_noise.min(1.0).powi(2);
            let slope = setting.inverse(y, ratio) / y;
            assert!((slope / setting.slope_at_zero(ratio) - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn without_a_stability_constant_ratios_above_one_never_converge() {
        let setting = Setting {
            gradient_noise: 1.0,
            gamma: 0.0,
        };
        assert_eq!(setting.inverse(1e-9, 1.5), f64::INFINITY);
        assert!(setting.inverse(1e-9, 0.9).is_finite());
    }
}
