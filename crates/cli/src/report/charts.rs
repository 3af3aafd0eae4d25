//! The charts of a report.

use super::check::rounds_of_phases;
use super::facts::{Evaluation, Facts, PhaseKind, Trace};
use super::figures::{Figures, Spent};
use crate::plot::{Chart, Mark, Series, Stroke};
use tacita_accounting::Reading;
use tacita_accounting::decimal::{exact, up};

/// A chart and what to know when reading it.
pub struct Explained {
    /// The chart.
    pub chart: Chart,
    /// One or two sentences.
    pub note: String,
}

/// Every chart over the steps this run has something to show on.
pub fn charts(facts: &Facts, figures: &Figures) -> Vec<Explained> {
    let mut charts = Vec::new();
    if !figures.spending.is_empty() {
        charts.push(spending(figures));
    }
    charts.extend(accuracy(facts));
    let steps = training_steps(facts);
    charts.push(Explained {
        chart: traces("Clipping threshold", &facts.thresholds, steps),
        note: "The norm that one record's gradient has at most in a step.".to_string(),
    });
    let rate = std::slice::from_ref(&facts.learning_rate);
    charts.push(Explained {
        chart: traces("Learning rate", rate, steps),
        note: "Applied to noisy sums only, so it costs no privacy.".to_string(),
    });
    charts.extend(noise(facts));
    charts
}

fn training_steps(facts: &Facts) -> u64 {
    let training = (facts.phases.iter()).find(|phase| phase.kind == PhaseKind::Training);
    training.map_or(0, |phase| phase.rounds)
}

fn series(name: impl Into<String>, style: (usize, Stroke), points: Vec<(f64, f64)>) -> Series {
    Series {
        name: name.into(),
        colour: style.0,
        stroke: style.1,
        points,
        lower: Vec::new(),
    }
}

fn spending(figures: &Figures) -> Explained {
    let line = |value: fn(&Spent) -> Option<f64>| {
        let made = figures.spending.iter();
        let points = made.filter_map(|spent| Some((spent.rounds as f64, value(spent)?)));
        let points: Vec<(f64, f64)> = points.collect();
        // Nothing released, nothing spent.
        std::iter::once((0.0, 0.0)).chain(points).collect()
    };
    let mut lines = vec![series(
        "certified bound",
        (0, Stroke::Solid),
        line(|spent| spent.certified),
    )];
    for other in &figures.comparison {
        match (other.accountant, other.epsilon) {
            ("rdp", Some(_)) => lines.push(series(
                "RDP upper bound",
                (1, Stroke::Dashed),
                line(|spent| spent.rdp),
            )),
            ("gdp", Some(reading)) => {
                let name = match reading {
                    Reading::Estimate(_) => "CLT estimate, no guarantee",
                    _ => "GDP upper bound",
                };
                lines.push(series(name, (2, Stroke::Dotted), line(|spent| spent.clt)));
            }
            _ => {}
        }
    }
    let end = figures.spending.last();
    let marks = end
        .zip(figures.certified.upper)
        .map(|(spent, upper)| Mark {
            at: (spent.rounds as f64, upper),
            label: format!("this plan: ε ≤ {}", up(upper, 5)),
        })
        .into_iter()
        .collect();
    Explained {
        chart: Chart {
            series: lines,
            marks,
            ..Chart::new("Budget over the run", "rounds", "ε")
        },
        note: format!(
            "ε at δ = {} of a plan that ends after so many rounds. Only its right end, the whole plan, is \
             this run's guarantee.",
            exact(figures.delta)
        ),
    }
}

/// δ over ε.
pub fn curve(figures: &Figures) -> Explained {
    let points = figures.curve.iter();
    let points = points.map(|point| (point.epsilon, point.delta_upper));
    let marks = (figures.certified.upper.into_iter())
        .map(|upper| Mark {
            at: (upper, figures.delta),
            label: format!("ε ≤ {} at δ = {}", up(upper, 5), exact(figures.delta)),
        })
        .collect();
    Explained {
        chart: Chart {
            series: vec![series(
                "certified bound",
                (0, Stroke::Solid),
                points.collect(),
            )],
            marks,
            ..Chart::privacy_curve()
        },
        note: "The plan keeps every pair (ε, δ) on or above the line at once, not only the one quoted."
            .to_string(),
    }
}

fn traces(title: &str, traces: &[Trace], steps: u64) -> Chart {
    let lines = (traces.iter().enumerate())
        .map(|(index, trace)| {
            let mut points: Vec<(f64, f64)> =
                (trace.points.iter()).map(|&(x, y)| (x as f64, y)).collect();
            // The last value holds to the end.
            if let Some(&(last, value)) = points.last()
                && last < steps as f64
            {
                points.push((steps as f64, value));
            }
            let stroke = [Stroke::Solid, Stroke::Dashed, Stroke::Dotted][index % 3];
            series(trace.name.clone(), (index, stroke), points)
        })
        .collect();
    Chart {
        series: lines,
        ..Chart::new(title, "step", title.to_lowercase())
    }
}

/// The noise schedule of training, if the noise changes.
fn noise(facts: &Facts) -> Option<Explained> {
    let phases = facts.phases.iter().zip(rounds_of_phases(facts));
    let (phase, rounds) = (phases.into_iter()).find(|(p, _)| p.kind == PhaseKind::Training)?;
    if rounds.len() < 2 {
        return None;
    }
    let lines = (phase.queries.iter().enumerate())
        .map(|(query, name)| {
            let mut at = 0.0;
            let mut points = Vec::new();
            for round in &rounds {
                let Some(&multiplier) = round.noise_multipliers.get(query) else {
                    continue;
                };
                // A level per stretch of equal rounds: stairs.
                points.push((at, multiplier));
                at += round.times as f64;
                points.push((at, multiplier));
            }
            series(name.clone(), (query, Stroke::Solid), points)
        })
        .collect();
    Some(Explained {
        chart: Chart {
            series: lines,
            ..Chart::new("Noise multiplier", "step", "noise multiplier")
        },
        note: "Noise standard deviation over sensitivity, fixed before the first step.".to_string(),
    })
}

/// Accuracy during training, if its records are public.
fn accuracy(facts: &Facts) -> Option<Explained> {
    let Some(Evaluation::PublicTest { on, over_steps, .. }) = &facts.evaluation else {
        return None;
    };
    if over_steps.len() < 2 {
        return None;
    }
    let points = over_steps.iter().map(|&(x, y)| (x as f64, 100.0 * y));
    Some(Explained {
        chart: Chart {
            series: vec![series(
                "public test records",
                (3, Stroke::Solid),
                points.collect(),
            )],
            ..Chart::new("Accuracy", "step", "right answers, %")
        },
        note: format!("On {on}."),
    })
}
