//! The privacy curve and the budget spent over the steps, for one or several schedules.

use super::chart::{Chart, Series, Stroke};
use super::svg::render;
use anyhow::{Context, Result};
use std::path::Path;
use tacita_accounting::{AccountError, Accountant, Gdp, Ledger, Pld, Rdp, Reading};

/// Points of each line.
const POINTS: u64 = 24;

/// Draws `ledgers` (with their names): δ over ε, and ε at `delta` over the steps.
pub fn spent(path: &Path, ledgers: &[(String, Ledger)], delta: f64) -> Result<()> {
    let mut curve = Chart {
        title: "Privacy curve".to_string(),
        x_label: "ε".to_string(),
        y_label: "δ".to_string(),
        log_y: true,
        series: Vec::new(),
    };
    let mut spending = Chart {
        title: format!("Budget spent, δ = {delta}"),
        x_label: "steps".to_string(),
        y_label: "ε".to_string(),
        log_y: false,
        series: Vec::new(),
    };
    for (colour, (name, ledger)) in ledgers.iter().enumerate() {
        let named = |what: &str| {
            if ledgers.len() > 1 {
                format!("{name}: {what}")
            } else {
                what.to_string()
            }
        };
        for (accountant, what, stroke) in accountants() {
            let series = |points: Vec<(f64, Reading)>| Series {
                name: named(what),
                // One schedule: a colour per accountant. Several: a colour per schedule.
                colour: if ledgers.len() > 1 {
                    colour
                } else {
                    stroke as usize
                },
                stroke,
                points: points
                    .iter()
                    .map(|(x, reading)| (*x, top(*reading)))
                    .collect(),
                lower: points
                    .iter()
                    .filter_map(|(x, reading)| Some((*x, bottom(*reading)?)))
                    .collect(),
            };
            if accountant.supports(ledger).is_err() {
                continue;
            }
            curve
                .series
                .push(series(deltas(accountant.as_ref(), ledger, delta)?));
            spending
                .series
                .push(series(epsilons(accountant.as_ref(), ledger, delta)?));
        }
    }
    let svg = render(&[curve, spending]);
    std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))
}

fn accountants() -> [(Box<dyn Accountant>, &'static str, Stroke); 3] {
    [
        (
            Box::new(Pld::default()),
            "certified bracket (pld)",
            Stroke::Solid,
        ),
        (Box::new(Rdp), "upper bound (rdp)", Stroke::Dashed),
        (
            Box::new(Gdp),
            "limit theorem (gdp), no guarantee",
            Stroke::Dotted,
        ),
    ]
}

/// ε at `delta` of growing prefixes.
fn epsilons(
    accountant: &dyn Accountant,
    ledger: &Ledger,
    delta: f64,
) -> Result<Vec<(f64, Reading)>, AccountError> {
    let mut points = vec![(0.0, Reading::UpperBound(0.0))];
    let steps = ledger.steps();
    for index in 1..=POINTS.min(steps) {
        let made = (u128::from(steps) * u128::from(index) / u128::from(POINTS.min(steps))) as u64;
        let reading = accountant.epsilon(&ledger.prefix(made), delta)?;
        points.push((made as f64, reading));
    }
    Ok(points)
}

/// δ over ε, from 0 to one and a half times the ε at `delta`.
fn deltas(
    accountant: &dyn Accountant,
    ledger: &Ledger,
    delta: f64,
) -> Result<Vec<(f64, Reading)>, AccountError> {
    let end = 1.5 * top(accountant.epsilon(ledger, delta)?);
    (0..=POINTS)
        .map(|index| {
            let epsilon = end * index as f64 / POINTS as f64;
            Ok((epsilon, accountant.delta(ledger, epsilon)?))
        })
        .collect()
}

fn top(reading: Reading) -> f64 {
    match reading {
        Reading::UpperBound(value) | Reading::Estimate(value) => value,
        Reading::Bracket { upper, .. } => upper,
    }
}

fn bottom(reading: Reading) -> Option<f64> {
    match reading {
        Reading::Bracket { lower, .. } => Some(lower),
        _ => None,
    }
}
