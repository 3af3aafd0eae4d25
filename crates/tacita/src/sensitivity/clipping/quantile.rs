//! The threshold that a given share of gradients stays below (Andrew et al. 2021, arXiv:1905.03871).

use crate::sensitivity::gradient::Norms;
use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

/// Moves C towards a quantile of the per-sample gradient norms, from a noisy count released in the
/// same round as the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Quantile {
    /// γ: the share of samples that should not be clipped.
    pub quantile: f64,
    /// C₀.
    #[serde(default = "Quantile::default_initial")]
    pub initial: f64,
    /// η: a step moves ln C by at most about this.
    #[serde(default = "Quantile::default_learning_rate")]
    pub learning_rate: f64,
    /// σ_b: the noise of the count, in records; a twentieth of the expected batch if not given.
    #[serde(default)]
    pub count_noise_std: Option<f64>,
}

impl Quantile {
    fn default_initial() -> f64 {
        0.1
    }

    fn default_learning_rate() -> f64 {
        0.2
    }

    /// Follows quantile γ with the authors' settings: C₀ = 0.1, learning rate 0.2, noise of a
    /// twentieth of the expected batch on the count.
    pub fn new(quantile: f64) -> Self {
        Self {
            quantile,
            initial: Self::default_initial(),
            learning_rate: Self::default_learning_rate(),
            count_noise_std: None,
        }
    }

    /// Each sample counts +½ or −½ rather than 1 or 0, so one of them moves the count by ½ and its
    /// noise multiplier is 2σ_b (the paper's Theorem 1).
    pub fn noise_multiplier(&self, expected_batch: f64) -> f64 {
        2.0 * self.count_noise_std.unwrap_or(expected_batch / 20.0)
    }

    /// What one sample moves the counts of `groups` groups by at most: half of √groups.
    pub(crate) fn sensitivity(groups: usize) -> f64 {
        0.5 * (groups as f64).sqrt()
    }

    /// C ← C exp(−η (b̃ − γ)), where b̃ is the released share of samples below C.
    pub(crate) fn next(&self, threshold: f64, released_count: f64) -> f64 {
        let share = released_count + 0.5;
        threshold * (-self.learning_rate * (share - self.quantile)).exp()
    }
}

/// For each group the number of samples below its threshold, each counted +½ or −½.
pub(crate) fn centred_counts(norms: &Norms, thresholds: Tensor<2>) -> Vec<f64> {
    let upper = norms.upper();
    let [batch, groups] = upper.dims();
    let below = upper.lower_equal(thresholds.expand([batch, groups]));
    // Counted as integers: a sum of halves in f32 is no longer exact from 2²³ samples on.
    let below = below.int().sum_dim(0).into_data();
    let centred = |below: i64| below as f64 - 0.5 * batch as f64;
    below.iter::<i64>().map(centred).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fixed point is the quantile: norms uniform in (0, 1), share below C is C.
    #[test]
    fn threshold_settles_where_the_share_below_it_is_the_quantile() {
        for quantile in [0.1, 0.5, 0.9] {
            let policy = Quantile::new(quantile);
            let mut threshold = policy.initial;
            for _ in 0..300 {
                threshold = policy.next(threshold, threshold.min(1.0) - 0.5);
            }
            assert!((threshold - quantile).abs() < 1e-6, "{threshold}");
        }
    }

    #[test]
    fn count_noise_multiplier_is_twice_its_standard_deviation() {
        let mut policy = Quantile::new(0.5);
        assert_eq!(policy.noise_multiplier(250.0), 25.0);
        policy.count_noise_std = Some(3.0);
        assert_eq!(policy.noise_multiplier(250.0), 6.0);
    }
}
