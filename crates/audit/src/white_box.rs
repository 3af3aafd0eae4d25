//! The best score of a canary for someone who sees the noisy sums of every step.

/// The score of a canary: the logarithm of how much likelier the released values are with it than without.
///
/// A canary of gradient space adds a known vector to the sums of the steps that draw it: a direction in which no other
/// record has a gradient, as long as the clipping allows. Along that direction a step releases normal noise, shifted by
/// the canary if it was drawn. By the lemma of Neyman & Pearson no attack does better than this score.
///
/// ```
/// use tacita_audit::white_box::Evidence;
///
/// let mut evidence = Evidence::default();
/// // Two full-batch steps: the canary adds 1, and the noise has standard deviation 2.
/// evidence.see(1.4, 1.0, 2.0, 1.0);
/// evidence.see(0.2, 1.0, 2.0, 1.0);
/// assert!((evidence.score() - (1.6 - 1.0) / 4.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evidence(f64);

impl Evidence {
    /// Takes in a step: what it released along the canary's direction (all that others add taken away), how long the
    /// canary's own contribution is, the standard deviation of the noise, and the probability of being drawn.
    pub fn see(&mut self, released: f64, contribution: f64, noise_std: f64, rate: f64) {
        let (value, shift) = (released / noise_std, contribution / noise_std);
        let drawn = rate.ln() + shift * value - 0.5 * shift * shift;
        if rate >= 1.0 {
            self.0 += drawn;
            return;
        }
        let not_drawn = (-rate).ln_1p();
        let (more, less) = if drawn > not_drawn {
            (drawn, not_drawn)
        } else {
            (not_drawn, drawn)
        };
        self.0 += more + (less - more).exp().ln_1p();
    }

    /// The score: positive where "in" is likelier.
    pub fn score(&self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sampled_step_is_a_mixture() {
        let density = |x: f64, mean: f64| (-(x - mean).powi(2) / 8.0).exp();
        for released in [-30.0, -1.0, 0.0, 0.7, 3.0, 40.0] {
            let mut evidence = Evidence::default();
            evidence.see(released, 1.5, 2.0, 0.1);
            let without = density(released, 0.0);
            let with = 0.9 * without + 0.1 * density(released, 1.5);
            let expected = (with / without).ln();
            assert!((evidence.score() - expected).abs() < 1e-9, "{released}");
        }
    }
}
