//! Schedules that a user may ask for.

use anyhow::{Context, Result, ensure};
use std::path::Path;
use tacita_accounting::calibrate::{QueryNoise, Shape};
use tacita_accounting::{Ledger, Sampling};

/// Relative noise of the steps; the scale is what calibration finds.
pub enum Schedule {
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

impl Schedule {
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

    /// What the multiplier `scale` means for this schedule.
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

    /// The schedule after the rounds of `spent`, up to its scale.
    pub fn shape(&self, spent: &Ledger, sampling: Sampling) -> Result<Shape> {
        let shape = Shape::after(spent);
        let step =
            |shape: Shape, relative: f64| shape.then(sampling, QueryNoise::Scaled(relative), 1);
        Ok(match self {
            Self::Constant { steps } => shape.then(sampling, QueryNoise::Scaled(1.0), *steps),
            Self::GrowingMu { growth, steps } => {
                let growing = Shape::growing_mu(sampling, *steps, *growth);
                shape.followed_by(&growing.context("--growing-mu")?)
            }
            Self::Table(table) => table.iter().copied().fold(shape, step),
        })
    }
}
