//! How well a scaled noisy gradient agrees with the true one (Bu et al. 2023, C.3, C.4 and E.1).

use super::minimum::minimum;

/// f(c, S; Γ), eq. C.10: what a gradient g + Δ and its mirror image g − Δ, each scaled to length about
/// 1, contribute along g. c is the cosine between g and Δ, S = ‖Δ‖/‖g‖, Γ = γ/‖g‖.
pub fn alignment(cosine: f64, noise_ratio: f64, stability: f64) -> f64 {
    let (c, s) = (cosine, noise_ratio);
    let part = |c: f64| {
        // Rounding can make the square of 1 − S negative at |c| = 1.
        let length = (s * s + 2.0 * s * c + 1.0).max(0.0).sqrt() + stability;
        // Both vanish at c = −1, S = 1, Γ = 0; along c the quotient tends to 0.
        if length > 0.0 {
            (1.0 + s * c) / length
        } else {
            0.0
        }
    };
    part(c) + part(-c)
}

/// The least f over 0 < c ≤ 1. For S ≥ 1 and Γ > 0 it is f(1, S; Γ) = Γ/(S+Γ−1) − Γ/(S+Γ+1)
/// (Theorem 8.3); for S > 1 and Γ = 0 it is 0 (Theorem 8.2).
pub fn least_alignment(noise_ratio: f64, stability: f64) -> f64 {
    let (s, g) = (noise_ratio, stability);
    if s > 1.0 || (s == 1.0 && g > 0.0) {
        g / (s + g - 1.0) - g / (s + g + 1.0)
    } else {
        minimum(0.0, 1.0, |c| alignment(c, s, g)).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacita_datasets::random::SplitMix;

    fn uniform(random: &mut SplitMix, low: f64, high: f64) -> f64 {
        low + (high - low) * (random.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Theorem 7.1 and 7.3.
    #[test]
    fn alignment_falls_with_noise_and_above_ratio_one_with_the_cosine() {
        let mut random = SplitMix(1);
        for _ in 0..20_000 {
            let c = uniform(&mut random, 0.01, 0.99);
            let g = uniform(&mut random, 0.001, 3.0);
            let s = uniform(&mut random, 0.01, 5.0);
            assert!(
                alignment(c, s + 1e-3, g) < alignment(c, s, g),
                "{c} {s} {g}"
            );
            let s = uniform(&mut random, 1.01, 5.0);
            assert!(
                alignment(c + 1e-3, s, g) < alignment(c, s, g),
                "{c} {s} {g}"
            );
        }
    }

    /// Below ratio 1 the cosine may help: the third statement really needs S > 1.
    #[test]
    fn below_ratio_one_alignment_is_not_monotone_in_the_cosine() {
        assert!(alignment(1.0, 0.8, 0.0) > alignment(0.8, 0.8, 0.0));
    }

    /// Theorem 7.2 and Theorem 8, against brute force over c.
    #[test]
    fn least_alignment_is_the_brute_force_minimum() {
        let mut random = SplitMix(2);
        for _ in 0..300 {
            let s = uniform(&mut random, 0.01, 4.0);
            let g = uniform(&mut random, 0.0, 2.0);
            let brute = (1..=4000).map(|k| alignment(f64::from(k) / 4000.0, s, g));
            let brute = brute.fold(f64::INFINITY, f64::min);
            let least = least_alignment(s, g);
            assert!(
                least <= brute + 1e-12 && brute < least + 1e-4,
                "{s} {g}: {least} {brute}"
            );
            assert!(least_alignment(s + 1e-3, g) < least);
            // Statements 1 and 2.
            let bare = least_alignment(s, 0.0);
            assert!(if s < 1.0 { bare > 0.0 } else { bare == 0.0 });
        }
    }
}
