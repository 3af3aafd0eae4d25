//! Where a clipped mean gradient vanishes though the true one does not (Bu et al. 2023, F.1 and F.2).
//!
//! Means over the distribution itself, not over a sample of it.

/// A problem with one parameter θ and data x ~ N(±centre, 1), both signs as likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// F.1: logistic regression of the sign with an intercept, centres ±1. The minimum is at 0.
    Classification,
    /// F.2: the mean of x, centres ±4 (the printed text repeats one sign). The minimum is at 0.
    MeanEstimation,
}

/// How a gradient is scaled, up to the factor R.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Not at all (and not divided by R).
    Regular,
    /// min(1, R/|g|).
    Abadi {
        /// R.
        threshold: f64,
    },
    /// R/(|g| + γ).
    Auto {
        /// γ; 0 is AUTO-V.
        gamma: f64,
    },
}

impl Rule {
    fn apply(self, gradient: f64) -> f64 {
        match self {
            Self::Regular => gradient,
            Self::Abadi { threshold } => (gradient / threshold).clamp(-1.0, 1.0),
            Self::Auto { gamma } => {
                let length = gradient.abs() + gamma;
                if length > 0.0 { gradient / length } else { 0.0 }
            }
        }
    }
}

/// Points of the midpoint rule, and how many standard deviations it covers.
const POINTS: usize = 16_000;
const REACH: f64 = 8.0;

impl Example {
    fn centre(self) -> f64 {
        match self {
            Self::Classification => 1.0,
            Self::MeanEstimation => 4.0,
        }
    }

    /// ∂L/∂θ of one record with class `side`.
    fn gradient(self, theta: f64, x: f64, side: f64) -> f64 {
        match self {
            Self::Classification => -side / (1.0 + (side * (theta + x)).exp()),
            Self::MeanEstimation => theta - x,
        }
    }

    /// The mean scaled gradient at θ.
    pub fn mean(self, theta: f64, rule: Rule) -> f64 {
        let step = 2.0 * REACH / POINTS as f64;
        let over = |side: f64| -> f64 {
            let at = |k: usize| {
                let z = -REACH + (k as f64 + 0.5) * step;
                let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
                density * rule.apply(self.gradient(theta, side * self.centre() + z, side))
            };
            (0..POINTS).map(at).sum::<f64>() * step
        };
        0.5 * (over(1.0) + over(-1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABADI: Rule = Rule::Abadi { threshold: 0.01 };
    const AUTO_V: Rule = Rule::Auto { gamma: 0.0 };

    /// In F.2 the mean of AUTO-V is P(x < θ) − P(x > θ) = Φ(θ−4) + Φ(θ+4) − 1; Φ(−3) and Φ(−5) from
    /// tables.
    #[test]
    fn in_mean_estimation_only_auto_s_keeps_moving() {
        let at = |rule| Example::MeanEstimation.mean(1.0, rule);
        let exact = 1.349_898_031_630_094_6e-3 - 2.866_515_718_791_939e-7;
        assert!((at(AUTO_V) - exact).abs() < 1e-5, "{}", at(AUTO_V));
        assert!(at(ABADI).abs() <= 0.003);
        assert!(at(Rule::Auto { gamma: 0.1 }) >= 0.006);
        assert!((at(Rule::Regular) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn in_balanced_classification_auto_v_never_moves() {
        for theta in [-4.0, -1.0, 0.5, 3.0] {
            let at = |rule| Example::Classification.mean(theta, rule);
            assert!(at(AUTO_V).abs() < 1e-12);
            for rule in [Rule::Regular, Rule::Auto { gamma: 0.01 }] {
                assert!(at(rule) * theta > 0.0);
            }
        }
    }

    /// Both examples are symmetric, so every rule's mean gradient is odd in θ.
    #[test]
    fn means_are_odd() {
        for example in [Example::Classification, Example::MeanEstimation] {
            for rule in [Rule::Regular, ABADI, AUTO_V, Rule::Auto { gamma: 0.1 }] {
                let [here, there] = [0.7, -0.7].map(|theta| example.mean(theta, rule));
                assert!((here + there).abs() < 1e-9);
            }
        }
    }
}
