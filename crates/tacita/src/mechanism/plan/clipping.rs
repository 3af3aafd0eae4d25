//! How per-sample gradients are clipped.

use crate::sensitivity::clipping::{ClipRule, Grouping, Online, Quantile, Threshold};
use serde::{Deserialize, Serialize};

/// A rule, a grouping and a threshold, chosen independently.
///
/// ```
/// use tacita::Clipping;
///
/// let no_threshold_to_tune = Clipping::auto();
/// let one_norm_per_layer = Clipping::abadi(1.0).per_layer();
/// let learned = Clipping::online();
/// let decaying = Clipping::abadi(1.5).threshold_decay(2.0);
/// assert_eq!(decaying.threshold.scheduled(99, 100), 0.75);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clipping {
    /// The factor as a function of the norm.
    pub rule: ClipRule,
    /// Which parameters are clipped together.
    #[serde(default)]
    pub grouping: Grouping,
    /// The threshold C: the norm a clipped gradient has at most.
    pub threshold: Threshold,
}

impl Clipping {
    fn new(rule: ClipRule, threshold: impl Into<Threshold>) -> Self {
        Self {
            rule,
            grouping: Grouping::Flat,
            threshold: threshold.into(),
        }
    }

    /// AUTO-S: no threshold to tune. Every gradient is scaled to norm at most 1.
    pub fn auto() -> Self {
        Self::new(ClipRule::AUTO, 1.0)
    }

    /// AUTO-V: every gradient is scaled to norm 1.
    pub fn auto_v() -> Self {
        Self::new(ClipRule::Auto { gamma: 0.0 }, 1.0)
    }

    /// Abadi's rule with threshold C.
    pub fn abadi(threshold: f64) -> Self {
        Self::new(ClipRule::Abadi, threshold)
    }

    /// Abadi's rule with the threshold that a share `quantile` of gradients stays below.
    pub fn quantile(quantile: f64) -> Self {
        Self::new(
            ClipRule::Abadi,
            Threshold::Quantile(Quantile::new(quantile)),
        )
    }

    /// Abadi's rule with a threshold learned online (OSO).
    pub fn online() -> Self {
        Self::new(ClipRule::Abadi, Threshold::Online(Online::default()))
    }

    /// The same with one norm per layer.
    #[must_use]
    pub fn per_layer(mut self) -> Self {
        self.grouping = Grouping::PerLayer;
        self
    }

    /// The same with other groups.
    #[must_use]
    pub fn grouping(mut self, grouping: Grouping) -> Self {
        self.grouping = grouping;
        self
    }

    /// The same with another threshold policy.
    #[must_use]
    pub fn threshold(mut self, threshold: impl Into<Threshold>) -> Self {
        self.threshold = threshold.into();
        self
    }

    /// The same with a threshold that ends `ratio` times smaller than it begins.
    #[must_use]
    pub fn threshold_decay(mut self, ratio: f64) -> Self {
        self.threshold = Threshold::Decay {
            initial: self.threshold.scheduled(0, 1),
            ratio,
        };
        self
    }
}
