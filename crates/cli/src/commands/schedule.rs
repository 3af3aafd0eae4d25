//! Shapes of a noise schedule and the side queries that share its rounds.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use tacita_accounting::{Ledger, Round, Sampling};

/// Relative noise of the steps; one scale factor makes it a schedule.
pub enum Shape {
    /// The same noise in every step.
    Constant {
        /// Number of steps.
        steps: u64,
    },
    /// μ grows by `growth` over the run: the multiplier of step t = 1..T is `growth`^(−t/T).
    GrowingMu {
        /// ρ.
        growth: f64,
        /// T.
        steps: u64,
    },
    /// Any table.
    Table(Vec<f64>),
}

impl Shape {
    /// A growing-μ shape, checked.
    pub fn growing_mu(growth: f64, steps: u64) -> Result<Self> {
        ensure!(
            growth > 0.0 && growth.is_finite(),
            "--growing-mu must be a finite number above 0, got {growth}"
        );
        Ok(Self::GrowingMu { growth, steps })
    }

    /// A table from a file with a JSON array of numbers.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        let table: Vec<f64> = serde_json::from_str(&text)
            .with_context(|| format!("{name} is not a JSON array of numbers"))?;
        ensure!(
            !table.is_empty(),
            "{name} is empty; give one relative multiplier per step"
        );
        for &relative in &table {
            ensure!(
                relative > 0.0 && relative.is_finite(),
                "{name}: relative multipliers must be finite numbers above 0, got {relative}"
            );
        }
        Ok(Self::Table(table))
    }

    /// Number of steps.
    pub fn steps(&self) -> u64 {
        match self {
            Self::Constant { steps } | Self::GrowingMu { steps, .. } => *steps,
            Self::Table(table) => table.len() as u64,
        }
    }

    /// The name of the schedule in a chart.
    pub fn name(&self) -> String {
        match self {
            Self::Constant { .. } => "constant".to_string(),
            Self::GrowingMu { growth, .. } => format!("growing μ, ρ = {growth}"),
            Self::Table(_) => "table".to_string(),
        }
    }

    /// What the multiplier `scale` means for this shape.
    pub fn describe(&self, scale: f64) -> String {
        match self {
            Self::Constant { .. } => String::new(),
            Self::GrowingMu { growth, steps } => format!(
                " = 1/μ₀ of growing μ with ρ = {growth}: from {:.5} in step 1 to {:.5} in step {steps}",
                scale * growth.powf(-(*steps as f64).recip()),
                scale / growth
            ),
            Self::Table(_) => " times the table".to_string(),
        }
    }

    /// The rounds of `spent` and then those of this shape at `scale`.
    pub fn ledger(&self, spent: &Ledger, rate: f64, scale: f64, side: SideQuery) -> Result<Ledger> {
        let mut ledger = spent.clone();
        let mut push = |relative: f64, times: u64| -> Result<()> {
            let queries = side.queries(scale * relative);
            let round = Round::new(Sampling::Poisson { rate }, queries)?;
            Ok(ledger.push(round.times(times))?)
        };
        match self {
            Self::Constant { steps } => push(1.0, *steps)?,
            Self::GrowingMu { growth, steps } => {
                for t in 1..=*steps {
                    push(growth.powf(-(t as f64) / *steps as f64), 1)?;
                }
            }
            Self::Table(table) => {
                for &relative in table {
                    push(relative, 1)?;
                }
            }
        }
        Ok(ledger)
    }
}

/// A second query on the same draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SideQuery {
    /// The gradient alone.
    None,
    /// The gradient gets `1 + increase` times the noise it would need alone, and the side query
    /// what that frees: ν_g = (1+r)ν and ν_q = ν(1 − (1+r)⁻²)^(−1/2), so ν_g⁻² + ν_q⁻² = ν⁻².
    Increase(f64),
    /// A side query of this multiplier.
    Noise(f64),
}

impl SideQuery {
    /// Checked [`SideQuery::Increase`].
    pub fn increase(increase: f64) -> Result<Self> {
        ensure!(
            increase > 0.0 && increase.is_finite(),
            "--side-query-increase must be a finite number above 0, got {increase}"
        );
        Ok(Self::Increase(increase))
    }

    /// Checked [`SideQuery::Noise`].
    pub fn noise(noise_multiplier: f64) -> Result<Self> {
        ensure!(
            noise_multiplier > 0.0 && noise_multiplier.is_finite(),
            "--side-query-noise must be a finite number above 0, got {noise_multiplier}"
        );
        Ok(Self::Noise(noise_multiplier))
    }

    /// Multipliers of the gradient and of the side query.
    pub fn queries(self, scale: f64) -> Vec<f64> {
        match self {
            Self::None => vec![scale],
            Self::Increase(increase) => {
                let gradient = 1.0 + increase;
                let side = (1.0 - (gradient * gradient).recip()).sqrt().recip();
                vec![scale * gradient, scale * side]
            }
            Self::Noise(noise_multiplier) => vec![scale, noise_multiplier],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_percent_more_gradient_noise_pays_for_a_side_query_of_seven_times() {
        // ν_q/ν at +1 %: mpmath 1.4.1, (1 − 1.01⁻²)^(−1/2).
        let queries = SideQuery::Increase(0.01).queries(1.0);
        assert!((queries[1] - 7.123_990_720_171_842_5).abs() < 1e-12);
        let joint = (queries[0].powi(-2) + queries[1].powi(-2)).powf(-0.5);
        assert!((joint - 1.0).abs() < 1e-14);
    }
}
