//! How a released gradient moves a parameter.

use super::{OptimizerState, kernel};
use crate::compute::flat::{from_vec, to_vec};
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

/// An optimiser in its textbook form, g being the released gradient of step t = 1, 2, … and η the
/// learning rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule", deny_unknown_fields)]
pub enum OptimizerRule {
    /// w ← w − ηg.
    Sgd,
    /// m ← βm + g; w ← w − ηm (Polyak 1964).
    HeavyBall {
        /// β.
        momentum: f64,
    },
    /// m ← βm + g; w ← w − η(g + βm) (Nesterov 1983, in the form of Sutskever et al. 2013).
    Nesterov {
        /// β.
        momentum: f64,
    },
    /// w ← w − η m̂ / (√v̂ + ε) (Kingma & Ba 2015); weight decay as L2.
    Adam {
        /// β₁.
        beta_1: f64,
        /// β₂.
        beta_2: f64,
        /// The stability constant ε.
        epsilon: f64,
    },
    /// Adam with weights that decay beside the step (Loshchilov & Hutter 2019).
    AdamW {
        /// β₁.
        beta_1: f64,
        /// β₂.
        beta_2: f64,
        /// The stability constant ε.
        epsilon: f64,
    },
    /// Adam with Nesterov's look-ahead (Dozat 2016).
    NAdam {
        /// β₁.
        beta_1: f64,
        /// β₂.
        beta_2: f64,
        /// The stability constant ε.
        epsilon: f64,
    },
    /// w ← w − ηg / (√Σg² + ε) (Duchi et al. 2011).
    AdaGrad {
        /// The stability constant ε.
        epsilon: f64,
    },
    /// w ← w − ηg / (√v + ε), v being the running mean of g² (Tieleman & Hinton 2012).
    RmsProp {
        /// How much of the running mean is kept.
        decay: f64,
        /// The stability constant ε.
        epsilon: f64,
    },
    /// w ← w − η √(u + ε₀) / √(v + ε) g, u being the running mean of squared updates (Zeiler 2012).
    AdaDelta {
        /// How much of the running means is kept.
        decay: f64,
        /// ε₀: what the updates start from.
        start: f64,
        /// The stability constant ε.
        epsilon: f64,
    },
    /// Adam without its second moment (Mohapatra et al. 2022, arXiv:2111.04906): what √v̂ converges to
    /// under much noise is the noise's known standard deviation, so w ← w − η m̂ / (noise std + ε).
    /// Their η is 0.001.
    AdamWithoutSecondMoment {
        /// β₁.
        beta_1: f64,
        /// The stability constant ε.
        epsilon: f64,
    },
}

impl OptimizerRule {
    /// Momentum β.
    pub fn heavy_ball(momentum: f64) -> Self {
        Self::HeavyBall { momentum }
    }

    /// Nesterov's momentum β.
    pub fn nesterov(momentum: f64) -> Self {
        Self::Nesterov { momentum }
    }

    /// β of momentum, 0 without one.
    pub fn momentum(self) -> f64 {
        match self {
            Self::HeavyBall { momentum } | Self::Nesterov { momentum } => momentum,
            _ => 0.0,
        }
    }

    /// Whether it scales each coordinate by what it saw of it, so that usual learning rates are small.
    pub fn is_adaptive(self) -> bool {
        !matches!(
            self,
            Self::Sgd | Self::HeavyBall { .. } | Self::Nesterov { .. }
        )
    }

    /// Adam with β₁ = 0.9, β₂ = 0.999, ε = 1e-8.
    pub fn adam() -> Self {
        Self::Adam {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
        }
    }

    /// AdamW with the constants of Adam.
    pub fn adam_w() -> Self {
        Self::AdamW {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
        }
    }

    /// NAdam with the constants of Adam.
    pub fn n_adam() -> Self {
        Self::NAdam {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
        }
    }

    /// AdaGrad with ε = 1e-10.
    pub fn ada_grad() -> Self {
        Self::AdaGrad { epsilon: 1e-10 }
    }

    /// RMSProp with decay 0.99, ε = 1e-8.
    pub fn rms_prop() -> Self {
        Self::RmsProp {
            decay: 0.99,
            epsilon: 1e-8,
        }
    }

    /// AdaDelta with decay 0.9, ε = ε₀ = 1e-6.
    pub fn ada_delta() -> Self {
        Self::AdaDelta {
            decay: 0.9,
            start: 1e-6,
            epsilon: 1e-6,
        }
    }

    /// AdamWOSM with β₁ = 0.9, ε = 1e-8.
    pub fn adam_without_second_moment() -> Self {
        Self::AdamWithoutSecondMoment {
            beta_1: 0.9,
            epsilon: 1e-8,
        }
    }
}

/// A rule with its state.
pub(super) struct Update {
    pub rule: OptimizerRule,
    /// t: steps made, counting the one at hand.
    time: i32,
    noise_std: f64,
    /// Vectors of each parameter: first moment, second moment as the rule needs them.
    memory: Vec<Vec<Tensor<1>>>,
}

impl Update {
    pub fn new(rule: OptimizerRule) -> Self {
        Self {
            rule,
            time: 0,
            noise_std: f64::NAN,
            memory: Vec::new(),
        }
    }

    /// Begins a step whose gradient has noise of this standard deviation.
    pub fn begin(&mut self, noise_std: f64) {
        self.time += 1;
        self.noise_std = noise_std;
    }

    pub fn state(&self) -> OptimizerState {
        OptimizerState {
            rule: self.rule,
            time: self.time,
            memory: (self.memory.iter())
                .map(|tensors| tensors.iter().map(to_vec).collect())
                .collect(),
        }
    }

    pub fn restore(&mut self, state: &OptimizerState, device: &Device) -> bool {
        if state.rule != self.rule {
            return false;
        }
        let tensor = |values: &Vec<f32>| from_vec(values, device);
        self.time = state.time;
        self.memory = (state.memory.iter())
            .map(|vectors| vectors.iter().map(tensor).collect())
            .collect();
        true
    }

    /// The parameter after the step.
    pub fn apply(
        &mut self,
        index: usize,
        mut weights: Tensor<1>,
        gradient: Tensor<1>,
        learning_rate: f64,
        weight_decay: f64,
    ) -> Tensor<1> {
        if self.memory.len() <= index {
            self.memory.resize(index + 1, Vec::new());
        }
        let decoupled = matches!(self.rule, OptimizerRule::AdamW { .. });
        let rates = [learning_rate, weight_decay];
        let memory = &mut self.memory[index];
        let at = (self.rule, self.time);
        if kernel::step(at, decoupled, memory, &mut weights, &gradient, rates) {
            return weights;
        }
        let (gradient, kept) = match (weight_decay, decoupled) {
            (0.0, _) => (gradient, weights),
            (decay, false) => (gradient + weights.clone() * decay, weights),
            (decay, true) => (
                gradient,
                weights.clone() - weights * (learning_rate * decay),
            ),
        };
        let (rule, time, noise_std) = (self.rule, self.time, self.noise_std);
        let memory = &mut self.memory[index];
        let update = update(rule, time, noise_std, memory, gradient);
        kept - update * learning_rate
    }
}

/// Takes vector `slot` out of a parameter's memory: zeros at first, on the device of `like`.
fn take(memory: &mut Vec<Tensor<1>>, slot: usize, like: &Tensor<1>) -> Tensor<1> {
    while memory.len() <= slot {
        memory.push(like.zeros_like());
    }
    let device = like.device();
    let vector = std::mem::replace(&mut memory[slot], Tensor::empty([0], &device));
    vector.to_device(&device)
}

/// A running mean in `slot`: kept · old + (1 − kept) · new.
fn running_mean(memory: &mut Vec<Tensor<1>>, slot: usize, kept: f64, new: Tensor<1>) -> Tensor<1> {
    let old = take(memory, slot, &new);
    memory[slot] = old * kept + new * (1.0 - kept);
    memory[slot].clone()
}

/// What the learning rate multiplies.
fn update(
    rule: OptimizerRule,
    time: i32,
    noise_std: f64,
    memory: &mut Vec<Tensor<1>>,
    gradient: Tensor<1>,
) -> Tensor<1> {
    match rule {
        OptimizerRule::Sgd => gradient,
        OptimizerRule::HeavyBall { momentum } => {
            let old = take(memory, 0, &gradient);
            memory[0] = old * momentum + gradient;
            memory[0].clone()
        }
        OptimizerRule::Nesterov { momentum } => {
            let old = take(memory, 0, &gradient);
            memory[0] = old * momentum + gradient.clone();
            gradient + memory[0].clone() * momentum
        }
        OptimizerRule::Adam {
            beta_1,
            beta_2,
            epsilon,
        }
        | OptimizerRule::AdamW {
            beta_1,
            beta_2,
            epsilon,
        } => {
            let first = running_mean(memory, 0, beta_1, gradient.clone());
            let second = running_mean(memory, 1, beta_2, gradient.square());
            let (first_scale, second_scale) = (1.0 - beta_1.powi(time), 1.0 - beta_2.powi(time));
            (first / first_scale) / ((second / second_scale).sqrt() + epsilon)
        }
        OptimizerRule::NAdam {
            beta_1,
            beta_2,
            epsilon,
        } => {
            let first = running_mean(memory, 0, beta_1, gradient.clone());
            let second = running_mean(memory, 1, beta_2, gradient.clone().square());
            let second_scale = 1.0 - beta_2.powi(time);
            let ahead = first * (beta_1 / (1.0 - beta_1.powi(time + 1)))
                + gradient * ((1.0 - beta_1) / (1.0 - beta_1.powi(time)));
            ahead / ((second / second_scale).sqrt() + epsilon)
        }
        OptimizerRule::AdaGrad { epsilon } => {
            let old = take(memory, 0, &gradient);
            memory[0] = old + gradient.clone().square();
            gradient / (memory[0].clone().sqrt() + epsilon)
        }
        OptimizerRule::RmsProp { decay, epsilon } => {
            let second = running_mean(memory, 0, decay, gradient.clone().square());
            gradient / (second.sqrt() + epsilon)
        }
        OptimizerRule::AdaDelta {
            decay,
            start,
            epsilon,
        } => {
            let second = running_mean(memory, 0, decay, gradient.clone().square());
            let updates = take(memory, 1, &gradient);
            let update = gradient * (updates.clone() + start).sqrt() / (second + epsilon).sqrt();
            memory[1] = updates * decay + update.clone().square() * (1.0 - decay);
            update
        }
        OptimizerRule::AdamWithoutSecondMoment { beta_1, epsilon } => {
            let first = running_mean(memory, 0, beta_1, gradient);
            first / ((1.0 - beta_1.powi(time)) * (noise_std + epsilon))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rule: OptimizerRule, gradients: &[f64], weight_decay: f64) -> Vec<f64> {
        let mut update = Update::new(rule);
        let device = crate::training::testkit::device();
        let mut weights = Tensor::<1>::from_floats([1.0], &device);
        gradients
            .iter()
            .map(|gradient| {
                update.begin(0.5);
                let gradient = Tensor::from_floats([*gradient as f32], &device);
                weights = update.apply(0, weights.clone(), gradient, 0.1, weight_decay);
                weights.to_data().iter::<f64>().next().unwrap_or(f64::NAN)
            })
            .collect()
    }

    fn assert_close(seen: &[f64], expected: &[f64]) {
        for (seen, expected) in seen.iter().zip(expected) {
            assert!((seen - expected).abs() < 1e-5, "{seen} is not {expected}");
        }
    }

    /// Two steps with gradients 2 and −1, learning rate 0.1, from weight 1, by hand.
    #[test]
    fn rules_are_their_textbook_forms() {
        let seen = |rule| run(rule, &[2.0, -1.0], 0.0);
        assert_close(&seen(OptimizerRule::Sgd), &[0.8, 0.9]);
        assert_close(&seen(OptimizerRule::heavy_ball(0.5)), &[0.8, 0.8]);
        // m = 2: 1 − 0.1 (2 + 1) = 0.7; m = 0: 0.7 − 0.1 (−1 + 0) = 0.8.
        assert_close(&seen(OptimizerRule::nesterov(0.5)), &[0.7, 0.8]);
        // m̂ = 2, v̂ = 4: −0.1; m = 0.9·0.2 − 0.1 = 0.08, m̂ = 0.08/0.19; v̂ = (0.999·0.004 + 0.001)/0.001999.
        let second = 0.9 - 0.1 * (0.08 / 0.19) / (0.004996f64 / 0.001999).sqrt();
        assert_close(&seen(OptimizerRule::adam()), &[0.9, second]);
        assert_close(&seen(OptimizerRule::adam_w()), &[0.9, second]);
        // 0.1 · 2 / 2, then 0.1 · 1 / √5.
        assert_close(
            &seen(OptimizerRule::ada_grad()),
            &[0.9, 0.9 + 0.1 / 5f64.sqrt()],
        );
        let second = (0.99f64 * 0.04 + 0.01).sqrt();
        assert_close(&seen(OptimizerRule::rms_prop()), &[0.0, 0.1 / second]);
        // m̂ / 0.5.
        let second = 0.6 - 0.1 * (0.08 / 0.19) / 0.5;
        assert_close(
            &seen(OptimizerRule::adam_without_second_moment()),
            &[0.6, second],
        );
        // First step of NAdam: (0.9·0.2/0.19 + 0.1·2/0.1) / 2.
        let first = 1.0 - 0.1 * (0.9 * 0.2 / 0.19 + 2.0) / 2.0;
        assert_close(&seen(OptimizerRule::n_adam())[..1], &[first]);
        // First step of AdaDelta: 2 √1e-6 / √(0.4 + 1e-6).
        let first = 1.0 - 0.1 * 2.0 * 1e-3 / 0.400001f64.sqrt();
        assert_close(&seen(OptimizerRule::ada_delta())[..1], &[first]);
    }

    #[test]
    fn weight_decay_is_added_to_the_gradient_except_in_adam_w() {
        assert_close(&run(OptimizerRule::Sgd, &[2.0], 0.5), &[1.0 - 0.1 * 2.5]);
        // Adam's first step has length η whatever the gradient; AdamW decays by ηλw beside it.
        assert_close(&run(OptimizerRule::adam(), &[2.0], 0.5), &[0.9]);
        assert_close(&run(OptimizerRule::adam_w(), &[2.0], 0.5), &[0.9 - 0.05]);
    }

    #[test]
    fn a_restored_state_goes_on_as_if_nothing_had_happened() {
        for rule in [
            OptimizerRule::heavy_ball(0.9),
            OptimizerRule::adam(),
            OptimizerRule::ada_delta(),
        ] {
            let device = crate::training::testkit::device();
            let gradient = |value: f32| Tensor::<1>::from_floats([value, -value], &device);
            let weights = gradient(1.0);
            let mut unbroken = Update::new(rule);
            unbroken.begin(1.0);
            let weights = unbroken.apply(0, weights, gradient(0.3), 0.1, 0.0);
            let mut resumed = Update::new(rule);
            assert!(resumed.restore(&unbroken.state(), &device));
            let next = |mut update: Update| {
                update.begin(1.0);
                let moved = update.apply(0, weights.clone(), gradient(0.7), 0.1, 0.0);
                moved.to_data()
            };
            assert_eq!(next(unbroken), next(resumed));
        }
        assert!(!Update::new(OptimizerRule::Sgd).restore(
            &Update::new(OptimizerRule::adam()).state(),
            &crate::training::testkit::device()
        ));
    }
}
