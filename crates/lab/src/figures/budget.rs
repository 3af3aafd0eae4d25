//! How growing μ spends its budget: Figures 2 and 4 of Du et al. 2021, whose pictures print no numbers.

use super::{chart, line};
use tacita_accounting::calibrate::{Budget, Shape, estimated_noise, smallest_noise};
use tacita_accounting::{AccountError, Accountant, Gdp, Pld, Rdp, Sampling};
use tacita_cli::plot::{Chart, Series, Stroke, over_steps, top};

/// MNIST in the paper: batches of 250 of 60,000 records, 5,000 steps, δ = 1/(10 n).
const SAMPLING: Sampling = Sampling::Poisson {
    rate: 250.0 / 60_000.0,
};
const STEPS: u64 = 5000;
const DELTA: f64 = 1.0 / 600_000.0;
/// A line on paper is no thinner.
const WIDTH: f64 = 5e-3;
/// Points of each line.
const POINTS: u64 = 12;

/// Figure 2: ε spent over the steps for several ρ, each with noise certified to end at ε = 1.2.
pub fn consumption() -> Result<Vec<Chart>, AccountError> {
    consumption_of(STEPS)
}

fn consumption_of(steps: u64) -> Result<Vec<Chart>, AccountError> {
    let budget = Budget::new(1.2, DELTA)?;
    let accountant = Pld::default().with_relative_width(WIDTH);
    let mut lines = Vec::new();
    for (colour, ratio) in [1.0, 1.25, 2.0, 5.0, 10.0].into_iter().enumerate() {
        let shape = Shape::growing_mu(SAMPLING, steps, ratio)?;
        let ledger = smallest_noise(&shape, budget, &accountant)?.ledger;
        let stroke = if colour == 0 {
            Stroke::Solid
        } else {
            Stroke::Dashed
        };
        let name = match colour {
            0 => "ρ = 1: constant noise".to_string(),
            _ => format!("ρ = {ratio}"),
        };
        let points = over_steps(&accountant, &ledger, DELTA, POINTS)?;
        lines.push(Series {
            points: points.into_iter().map(|(x, y)| (x, top(y))).collect(),
            ..line(name, (colour, stroke), [], super::ALL, |x| x)
        });
    }
    let title = "Budget spent by growing μ, certified ≤ 1.2";
    Ok(vec![chart(title, "steps", "ε", lines)])
}

/// Figure 4: what three accountants say of dynamic DP-SGD, ρ = 2, with the paper's noise for two budgets.
pub fn bounds() -> Result<Vec<Chart>, AccountError> {
    bounds_of(STEPS)
}

fn bounds_of(steps: u64) -> Result<Vec<Chart>, AccountError> {
    let shape = Shape::growing_mu(SAMPLING, steps, 2.0)?;
    let certified = Pld::default().with_relative_width(WIDTH);
    let accountants: [(&dyn Accountant, &str, Stroke); 3] = [
        (&Rdp, "upper bound (rdp)", Stroke::Dashed),
        (&certified, "certified (pld, upper end)", Stroke::Solid),
        (&Gdp, "limit theorem (gdp), no guarantee", Stroke::Dotted),
    ];
    let mut charts = Vec::new();
    for epsilon in [0.4, 2.0] {
        let found = estimated_noise(&shape, Budget::new(epsilon, DELTA)?, &Gdp)?;
        let mut lines = Vec::new();
        for (colour, (accountant, name, stroke)) in accountants.into_iter().enumerate() {
            let points = over_steps(accountant, &found.ledger, DELTA, POINTS)?;
            lines.push(Series {
                points: points.into_iter().map(|(x, y)| (x, top(y))).collect(),
                ..line(name, (colour, stroke), [], super::ALL, |x| x)
            });
        }
        let title = format!("Dynamic DP-SGD said to cost ε = {epsilon}");
        charts.push(chart(&title, "steps", "ε", lines));
    }
    Ok(charts)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Few of the paper's steps, to be quick; what is claimed holds for any number of them.
    const FEW: u64 = 200;

    /// The paper's claims: every line ends within the budget, and growing μ spends less at half time.
    #[test]
    fn growing_mu_spends_late_and_keeps_the_budget() {
        let lines = consumption_of(FEW).unwrap().remove(0).series;
        let at = |series: &Series, steps: f64| {
            let found = series.points.iter().find(|(x, _)| *x >= steps);
            found.unwrap().1
        };
        for pair in lines.windows(2) {
            assert!(at(&pair[1], 100.0) < at(&pair[0], 100.0));
        }
        for series in &lines {
            let end = at(series, FEW as f64);
            assert!((1.18..=1.2001).contains(&end), "{}: {end}", series.name);
        }
    }

    /// The paper takes the limit theorem for a lower bound of the truth; the certified curve lies above it
    /// and below that of Rényi divergences.
    #[test]
    fn the_certified_curve_lies_between_the_others() {
        for chart in bounds_of(FEW).unwrap() {
            let end = |index: usize| chart.series[index].points.last().unwrap().1;
            assert!(end(2) < end(1) && end(1) < end(0), "{}", chart.title);
        }
    }
}
