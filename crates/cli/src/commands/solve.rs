//! Searches over an accountant: the least noise and the most steps within a budget.

use anyhow::{Result, ensure};
use tacita_accounting::{AccountError, Accountant, Ledger, Reading};

/// (ε, δ) and the accountant that must confirm it.
pub struct Budget<'a> {
    /// Target ε.
    pub epsilon: f64,
    /// δ.
    pub delta: f64,
    /// Who confirms.
    pub accountant: &'a dyn Accountant,
}

/// Multipliers are searched in this range.
const LEAST_SCALE: f64 = 1e-2;
const MOST_SCALE: f64 = 1e6;
/// Relative distance of the result from a multiplier that fails.
const TOLERANCE: f64 = 1e-6;
/// No more steps than this are tried.
const MOST_STEPS: u64 = 1_000_000_000;

impl Budget<'_> {
    /// The reading of a ledger and its value: the bound if there is one, else the estimate.
    pub fn read(&self, ledger: &Ledger) -> Result<(Reading, f64)> {
        let reading = self.accountant.epsilon(ledger, self.delta)?;
        Ok((reading, value(reading)))
    }

    /// The least scale whose ledger keeps the budget, and its reading. More scale is more noise.
    pub fn least_scale(
        &self,
        build: impl Fn(f64) -> Result<Ledger>,
    ) -> Result<(f64, Ledger, Reading)> {
        let log_excess = |scale: f64| -> Result<f64> {
            let (_, epsilon) = self.read(&build(scale)?)?;
            Ok((epsilon.max(1e-12) / self.epsilon).ln())
        };
        let (mut low, mut high) = (1.0_f64, 1.0_f64);
        let mut at_high = log_excess(high)?;
        let mut at_low = at_high;
        while at_high > 0.0 {
            (low, at_low) = (high, at_high);
            high *= 2.0;
            self.within(high)?;
            at_high = log_excess(high)?;
        }
        while at_low <= 0.0 {
            (high, at_high) = (low, at_low);
            low *= 0.5;
            if low < LEAST_SCALE {
                break;
            }
            at_low = log_excess(low)?;
        }
        // Illinois' false position on (ln scale, ln ε): nearly straight. `high` always keeps the
        // budget, `low` never does.
        let (mut weight_low, mut weight_high) = (at_low, at_high);
        while high / low - 1.0 > TOLERANCE && at_low > 0.0 {
            let (a, b) = (low.ln(), high.ln());
            let share = (weight_low / (weight_low - weight_high)).clamp(1e-3, 1.0 - 1e-3);
            let middle = (a + share * (b - a)).exp();
            let at_middle = log_excess(middle)?;
            if at_middle <= 0.0 {
                (high, weight_high) = (middle, at_middle);
                weight_low *= 0.5;
            } else {
                (low, weight_low) = (middle, at_middle);
                weight_high *= 0.5;
            }
        }
        let ledger = build(high)?;
        let (reading, _) = self.read(&ledger)?;
        Ok((high, ledger, reading))
    }

    fn within(&self, scale: f64) -> Result<()> {
        if scale > MOST_SCALE {
            return Err(AccountError::OutOfReach {
                what: "noise multiplier",
                lowest: LEAST_SCALE,
                highest: MOST_SCALE,
                remedy: "allow a larger epsilon or delta, fewer steps or a smaller rate",
            }
            .into());
        }
        Ok(())
    }

    /// The most steps whose ledger keeps the budget, and its reading.
    pub fn most_steps(
        &self,
        build: impl Fn(u64) -> Result<Ledger>,
    ) -> Result<(u64, Ledger, Reading)> {
        let keeps =
            |steps: u64| -> Result<bool> { Ok(self.read(&build(steps)?)?.1 <= self.epsilon) };
        ensure!(
            keeps(1)?,
            "one step alone costs more than epsilon = {} at delta = {}; use more noise",
            self.epsilon,
            self.delta
        );
        let (mut low, mut high) = (1, 2);
        while keeps(high)? {
            low = high;
            ensure!(
                high < MOST_STEPS,
                "more than {MOST_STEPS} steps keep the budget; use less noise"
            );
            high = (high * 4).min(MOST_STEPS);
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if keeps(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        let ledger = build(low)?;
        let (reading, _) = self.read(&ledger)?;
        Ok((low, ledger, reading))
    }
}

fn value(reading: Reading) -> f64 {
    match reading {
        Reading::UpperBound(value) | Reading::Estimate(value) => value,
        Reading::Bracket { upper, .. } => upper,
    }
}
