//! The privacy curve and the budget spent over the steps, for one or several schedules.

use super::chart::{Chart, Series, Stroke};
use super::prefixes::prefixes;
use super::svg::render;
use anyhow::{Context, Result};
use std::path::Path;
use tacita_accounting::{AccountError, Accountant, Gdp, Ledger, Pld, Rdp, Reading, SharedWork};

/// Relative width of the bracket: a line on paper is no thinner.
const WIDTH: f64 = 5e-3;
/// Points of each line.
const POINTS: u64 = 24;
/// Rounds that are copied for the points of all ledgers: with more kinds of rounds there are fewer points.
const MOST_ROUNDS: u64 = 2_500_000;
const FEWEST_POINTS: u64 = 4;

/// Draws `ledgers` (with their names): δ over ε, and ε at `delta` over the steps.
pub fn spent(path: &Path, ledgers: &[(String, Ledger)], delta: f64) -> Result<()> {
    let points = points(ledgers);
    let work = work_of(ledgers, points);
    let mut curve = Chart::privacy_curve();
    let mut spending = Chart::new(format!("Budget spent, δ = {delta:e}"), "steps", "ε");
    for (colour, (name, ledger)) in ledgers.iter().enumerate() {
        let known: Vec<Known> = accountants()
            .into_iter()
            .filter(|known| known.accountant.supports(ledger).is_ok())
            .collect();
        // One range of ε for all lines of a schedule.
        let mut end: f64 = 0.0;
        for known in &known {
            end = end.max(1.3 * top(work.epsilon(&*known.accountant, ledger, delta)?));
        }
        for known in &known {
            let series = |points: Vec<(f64, Reading)>| Series {
                name: if ledgers.len() > 1 {
                    format!("{name}: {}", known.label)
                } else {
                    known.label.to_string()
                },
                // One schedule: a colour per accountant. Several: a colour per schedule.
                colour: if ledgers.len() > 1 {
                    colour
                } else {
                    known.stroke as usize
                },
                stroke: known.stroke,
                points: points.iter().map(|(x, y)| (*x, top(*y))).collect(),
                lower: (points.iter())
                    .filter_map(|(x, y)| Some((*x, bottom(*y)?)))
                    .collect(),
            };
            let accountant = known.accountant.as_ref();
            curve
                .series
                .push(series(deltas(&work, accountant, ledger, end)?));
            spending
                .series
                .push(series(of_prefixes(ledger, points, |prefix| {
                    work.epsilon(accountant, prefix, delta)
                })?));
        }
    }
    let svg = render(&[curve, spending]);
    std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))
}

/// An accountant and how its line looks.
struct Known {
    accountant: Box<dyn Accountant>,
    label: &'static str,
    stroke: Stroke,
}

fn accountants() -> [Known; 3] {
    let known = |accountant, label, stroke| Known {
        accountant,
        label,
        stroke,
    };
    [
        known(
            Box::new(Pld::default().with_relative_width(WIDTH)),
            "certified bracket (pld)",
            Stroke::Solid,
        ),
        known(Box::new(Rdp), "upper bound (rdp)", Stroke::Dashed),
        known(
            Box::new(Gdp),
            "limit theorem (gdp), no guarantee",
            Stroke::Dotted,
        ),
    ]
}

/// Points of each line over the steps.
fn points(ledgers: &[(String, Ledger)]) -> u64 {
    let kinds = ledgers.iter().map(|(_, ledger)| ledger.rounds().len());
    let kinds = kinds.sum::<usize>().max(1) as u64;
    (MOST_ROUNDS / kinds).clamp(FEWEST_POINTS, POINTS)
}

/// The work of all lines of all ledgers together.
fn work_of(ledgers: &[(String, Ledger)], points: u64) -> SharedWork {
    let known = accountants();
    let lines = (ledgers.iter()).flat_map(|(_, ledger)| {
        // The range of ε, δ over it, and ε of each prefix.
        let readings = 2 + points.min(ledger.rounds_made());
        (0..readings).flat_map(|_| known.iter().map(|known| known.accountant.as_ref()))
    });
    SharedWork::among(lines)
}

/// ε at `delta` of `points` growing prefixes, and of nothing.
pub fn over_steps(
    accountant: &dyn Accountant,
    ledger: &Ledger,
    delta: f64,
    points: u64,
) -> Result<Vec<(f64, Reading)>, AccountError> {
    of_prefixes(ledger, points, |prefix| accountant.epsilon(prefix, delta))
}

fn of_prefixes(
    ledger: &Ledger,
    points: u64,
    epsilon: impl Fn(&Ledger) -> Result<Reading, AccountError>,
) -> Result<Vec<(f64, Reading)>, AccountError> {
    let mut readings = vec![(0.0, Reading::UpperBound(0.0))];
    for made in prefixes(ledger.rounds_made(), points) {
        readings.push((made as f64, epsilon(&ledger.prefix(made))?));
    }
    Ok(readings)
}

/// δ over ε, up to `end`.
fn deltas(
    work: &SharedWork,
    accountant: &dyn Accountant,
    ledger: &Ledger,
    end: f64,
) -> Result<Vec<(f64, Reading)>, AccountError> {
    let epsilons: Vec<f64> = (1..=POINTS)
        .map(|index| end * index as f64 / POINTS as f64)
        .collect();
    let deltas = work.deltas(accountant, ledger, &epsilons)?;
    Ok(epsilons.into_iter().zip(deltas).collect())
}

/// The end of a reading that a line is drawn through.
pub fn top(reading: Reading) -> f64 {
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
