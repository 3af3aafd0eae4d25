//! The utility bounds of general dynamic DP-SGD (Du et al. 2021, Algorithm 3).
//!
//! Step t clips to Cₜ and adds noise of standard deviation σ̃σ̃ₜ to the sum. σ̃ is found from the privacy
//! budget, the relative σ̃ₜ are free; which are best is A.7.

/// One step: what is chosen, and what the bound assumes of the loss there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Cₜ.
    pub threshold: f64,
    /// σ̃ₜ.
    pub relative_noise: f64,
    /// Qₜ: the curvature of the loss; the same Q in every step is (16).
    pub curvature: f64,
    /// E‖gₜ‖² of the mean clipped gradient.
    pub squared_gradient: f64,
    /// ‖∇L(θₜ)‖.
    pub gradient_norm: f64,
    /// Pₜ(Cₜ): the share of gradients that are clipped.
    pub clipped_share: f64,
}

/// What is the same in all steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    /// N.
    pub records: f64,
    /// p.
    pub rate: f64,
    /// μ_tot.
    pub mu: f64,
    /// η.
    pub learning_rate: f64,
    /// L(θ₁) less the least loss.
    pub loss_gap: f64,
    /// G: no gradient is longer.
    pub largest_gradient: f64,
    /// Number of parameters d. Noise in d dimensions has the squared length d σ²; (44) of the paper
    /// leaves d out, which is d = 1 here.
    pub dimensions: f64,
}

/// The four terms of (57), and of (16) where the curvature is constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// (L(θ₁) − L(θ_{T+1})) / ηT.
    pub progress: f64,
    /// (η/T) Σ Qₜ/2 E‖gₜ‖².
    pub sampling: f64,
    /// (1/T) Σ ‖∇L(θₜ)‖ Pₜ(Cₜ) G.
    pub bias: f64,
    /// η/(p²N²) (1/T) Σ Qₜ/2 σ̃²σ̃ₜ² d: D₁ or D₂ with its factor.
    pub noise: f64,
}

impl Bound {
    /// What the mean of ‖∇L‖² is at most.
    pub fn total(&self) -> f64 {
        self.progress + self.sampling + self.bias + self.noise
    }
}

/// σ̃ of Corollary 2, eq. 15: p/μ √(2 Σ Cₜ²/σ̃ₜ²), enough for μ in the limit theorem.
///
/// None where a step would have μₜ = Cₜ/(σ̃σ̃ₜ) above 1: the corollary does not hold there. (It prints
/// this condition without σ̃; its proof has it.)
pub fn sufficient_noise(steps: &[Step], problem: &Problem) -> Option<f64> {
    let scale = problem.rate / problem.mu * (2.0 * squared_ratios(steps)).sqrt();
    let mu = |step: &Step| step.threshold / (scale * step.relative_noise);
    steps.iter().all(|step| mu(step) <= 1.0).then_some(scale)
}

/// Σ Cₜ²/σ̃ₜ².
fn squared_ratios(steps: &[Step]) -> f64 {
    let ratio = |step: &Step| (step.threshold / step.relative_noise).powi(2);
    steps.iter().map(ratio).sum()
}

/// The bound on the mean of ‖∇L(θₜ)‖², with σ̃ of Corollary 2 where that holds.
pub fn bound(steps: &[Step], problem: &Problem) -> Option<Bound> {
    let Problem { learning_rate, .. } = *problem;
    let count = steps.len() as f64;
    let mean = |term: &dyn Fn(&Step) -> f64| steps.iter().map(term).sum::<f64>() / count;
    let variance = sufficient_noise(steps, problem)?.powi(2) * problem.dimensions;
    let noise = mean(&|step| 0.5 * step.curvature * variance * step.relative_noise.powi(2));
    Some(Bound {
        progress: problem.loss_gap / (learning_rate * count),
        sampling: learning_rate * mean(&|step| 0.5 * step.curvature * step.squared_gradient),
        bias: mean(&|step| step.gradient_norm * step.clipped_share * problem.largest_gradient),
        noise: learning_rate / (problem.rate * problem.records).powi(2) * noise,
    })
}

/// The relative noise that makes the last term least: √Cₜ / Qₜ^¼ (A.7 eq. 55; A.8 eq. 61).
pub fn best_relative_noise(threshold: f64, curvature: f64) -> f64 {
    threshold.sqrt() / curvature.powf(0.25)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tacita_accounting::{Gdp, Ledger, Neighbours, Round, Sampling};
    use tacita_datasets::random::SplitMix;

    fn uniform(random: &mut SplitMix, low: f64, high: f64) -> f64 {
        low + (high - low) * (random.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn random_steps(random: &mut SplitMix, count: usize) -> Vec<Step> {
        let step = |_| Step {
            threshold: uniform(random, 0.2, 3.0),
            relative_noise: uniform(random, 0.3, 3.0),
            curvature: uniform(random, 0.1, 9.0),
            squared_gradient: 1.0,
            gradient_norm: 1.0,
            clipped_share: 0.5,
        };
        (0..count).map(step).collect()
    }

    /// A budget so small that every step keeps the condition of Corollary 2.
    const PROBLEM: Problem = Problem {
        records: 60_000.0,
        rate: 0.004,
        mu: 1e-3,
        learning_rate: 0.15,
        loss_gap: 2.0,
        largest_gradient: 10.0,
        dimensions: 1.0,
    };

    /// μ of the limit theorem at the noise of Corollary 2, by the accountant.
    fn mu_of_limit(steps: &[Step], problem: &Problem) -> f64 {
        let scale = sufficient_noise(steps, problem).unwrap();
        let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
        for step in steps {
            let sampling = Sampling::Poisson { rate: problem.rate };
            let multiplier = scale * step.relative_noise / step.threshold;
            let round = Round::new(sampling, vec![multiplier]).unwrap();
            ledger.push(round).unwrap();
        }
        Gdp.mu(&ledger).unwrap().mu
    }

    /// Corollary 2 keeps μ up to the edge of its condition, and for small μₜ costs √2 more noise than
    /// the sum it bounds.
    #[test]
    fn sufficient_noise_is_enough_and_in_the_limit_too_much_by_root_two() {
        let mut random = SplitMix(5);
        for _ in 0..20 {
            let steps = random_steps(&mut random, 200);
            let ratios = steps
                .iter()
                .map(|step| step.threshold / step.relative_noise);
            let largest = ratios.fold(0.0, f64::max);
            let edge = PROBLEM.rate * (2.0 * squared_ratios(&steps)).sqrt() / largest;
            let with = |mu| Problem { mu, ..PROBLEM };
            let seen = mu_of_limit(&steps, &with(edge * (1.0 - 1e-12)));
            assert!(seen <= edge && seen > 0.5 * edge, "{seen} {edge}");
            assert_eq!(sufficient_noise(&steps, &with(1.01 * edge)), None);
            let ratio = 1e-4 / mu_of_limit(&steps, &with(1e-4));
            assert!((ratio - 2f64.sqrt()).abs() < 1e-3, "{ratio}");
        }
    }

    /// A.7 and A.8: no other allocation has less noise in the bound; the minimum is
    /// (Σ Cₜ √Qₜ)² by Cauchy and Schwarz.
    #[test]
    fn best_allocation_has_the_least_noise_term() {
        let mut random = SplitMix(6);
        for _ in 0..200 {
            let others = random_steps(&mut random, 30);
            let best: Vec<Step> = others
                .iter()
                .map(|step| Step {
                    relative_noise: best_relative_noise(step.threshold, step.curvature),
                    ..*step
                })
                .collect();
            let least = bound(&best, &PROBLEM).unwrap().noise;
            assert!(bound(&others, &PROBLEM).unwrap().noise > least);
            let sum: f64 = best.iter().map(|s| s.threshold * s.curvature.sqrt()).sum();
            let factor = PROBLEM.learning_rate / (PROBLEM.records * PROBLEM.mu).powi(2) / 30.0;
            assert!((factor * sum * sum / least - 1.0).abs() < 1e-12);
        }
    }

    /// Section 5 prints the curvature's exponent with the other sign, which is worse than no exponent.
    #[test]
    fn the_exponent_printed_in_section_5_is_not_the_best() {
        let steps = random_steps(&mut SplitMix(7), 30);
        let with = |noise: &dyn Fn(&Step) -> f64| {
            let steps: Vec<Step> = (steps.iter())
                .map(|step| Step {
                    relative_noise: noise(step),
                    ..*step
                })
                .collect();
            bound(&steps, &PROBLEM).unwrap().noise
        };
        let printed = with(&|s| s.threshold.sqrt() * s.curvature.powf(0.25));
        let without = with(&|s| s.threshold.sqrt());
        let best = with(&|s| best_relative_noise(s.threshold, s.curvature));
        assert!(best < without && without < printed);
    }

    /// The rate of Theorem 1: ηT = Nμ, η = 1/Nμ.
    #[test]
    fn all_terms_but_the_bias_fall_as_one_over_records_times_mu() {
        let at = |records: f64| {
            let scale = records * 0.5;
            let problem = Problem {
                mu: 0.5,
                records,
                learning_rate: 1.0 / scale,
                ..PROBLEM
            };
            let step = random_steps(&mut SplitMix(8), 1)[0];
            let bound = bound(&vec![step; (scale * scale) as usize], &problem).unwrap();
            (bound.total() - bound.bias, bound.bias)
        };
        let ((first, bias), (second, same)) = (at(200.0), at(800.0));
        assert!((first / second - 4.0).abs() < 1e-9);
        assert!((bias / same - 1.0).abs() < 1e-9);
    }
}
