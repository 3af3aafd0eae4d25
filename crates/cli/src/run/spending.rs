//! ε of the steps made so far, for the progress bar.

use crate::plot::prefixes;
use anyhow::Result;
use tacita::CheckedPlan;
use tacita_accounting::{Accountant, Pld};

/// Steps at which the accountant is asked; between them the figure is interpolated.
const POINTS: u64 = 20;
/// The same where every step has noise of its own, which takes the accountant longer.
const FEW_POINTS: u64 = 6;
/// How exactly: enough for two digits.
const RELATIVE_WIDTH: f64 = 1e-2;

/// ε of prefixes of a plan, computed before the first step.
///
/// An estimate (≈) and no guarantee: it is interpolated, and whoever stops early because of what was
/// seen may have learned more. The guarantee is that of the whole plan.
#[derive(Debug)]
pub struct Spending {
    /// Steps made and ε, both growing.
    points: Vec<(f64, f64)>,
}

impl Spending {
    /// Asks the accountant.
    pub fn forecast(plan: &CheckedPlan) -> Result<Self> {
        let accountant = Pld::default().with_relative_width(RELATIVE_WIDTH);
        let steps = plan.steps();
        let many = plan.ledger().rounds().len() > 50;
        let asked = if many { FEW_POINTS } else { POINTS };
        let mut points = vec![(0.0, 0.0)];
        for made in prefixes(steps, asked) {
            let rounds = plan.statistics() + made;
            let reading = accountant.epsilon(&plan.ledger().prefix(rounds), plan.delta())?;
            let whole = plan.epsilon().upper_bound().unwrap_or(f64::INFINITY);
            if let Some(epsilon) = reading.upper_bound() {
                points.push((made as f64, epsilon.min(whole)));
            }
        }
        Ok(Self { points })
    }

    /// ε after so many steps, roughly.
    pub fn at(&self, step: u64) -> f64 {
        let step = step as f64;
        let after = self.points.partition_point(|(made, _)| *made < step);
        match (
            self.points.get(after.wrapping_sub(1)),
            self.points.get(after),
        ) {
            (Some((x0, y0)), Some((x1, y1))) => y0 + (y1 - y0) * (step - x0) / (x1 - x0),
            (Some((_, last)), None) => *last,
            (None, first) => first.map_or(0.0, |(_, epsilon)| *epsilon),
        }
    }
}

/// Roughly the ε of the first rounds of a plan.
pub fn of_prefix(plan: &CheckedPlan, rounds: u64) -> Result<Option<f64>> {
    if rounds == 0 {
        return Ok(Some(0.0));
    }
    let accountant = Pld::default().with_relative_width(RELATIVE_WIDTH);
    let reading = accountant.epsilon(&plan.ledger().prefix(rounds), plan.delta())?;
    Ok(reading.upper_bound())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tacita::{Budget, Plan};

    #[test]
    fn forecast_starts_at_nothing_grows_and_ends_near_the_budget() {
        for steps in [1, 7, 300] {
            let plan = Plan::new(Budget::new(3.0, 1e-5))
                .public_record_count(1000)
                .expected_batch(50)
                .steps(steps)
                .calibrate()
                .unwrap();
            let spending = Spending::forecast(&plan).unwrap();
            let figures: Vec<f64> = (0..=steps).map(|step| spending.at(step)).collect();
            assert_eq!(figures[0], 0.0);
            assert!(figures.is_sorted());
            assert!((figures[steps as usize] - 3.0).abs() < 0.05, "{figures:?}");
        }
    }
}
