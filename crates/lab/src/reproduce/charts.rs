//! Results as charts: scores over ε beside the paper's, and gradients over the steps.

use super::diagnostic::{Diagnostic, Draw, Seen};
use super::experiment::{Accountant, Cut, Experiment, Measure};
use super::results::Cell;
use tacita_cli::plot::{Chart, Series, Stroke};

fn chart(title: String, x_label: &str, y_label: &str) -> Chart {
    Chart {
        from_zero: false,
        ..Chart::new(title, x_label, y_label)
    }
}

/// One line through a method's scores, for each way its noise was found, and one through the paper's;
/// a method without privacy is level. `shown` are the cells of the table, each the best of its grid. None
/// if no method of ours has two budgets: that is no line.
pub fn of_table(experiment: &Experiment, shown: &[&Cell]) -> Option<Chart> {
    if experiment.epsilons.len() < 2 {
        return None;
    }
    let title = format!(
        "{} {}, {}",
        experiment.paper, experiment.table, experiment.set
    );
    let y_label = match experiment.measure {
        Measure::Accuracy => "accuracy in percent",
        Measure::SquaredError => "mean squared error × 100",
    };
    let mut chart = chart(title, "ε", y_label);
    let whole = || shown.iter().filter(|cell| cell.key.cut().is_none());
    let value = |cell: &Cell| match experiment.has_grids() {
        true => cell.best().0,
        false => cell.value,
    };
    let ends = [experiment.epsilons.first()?, experiment.epsilons.last()?];
    let mut lines_of_ours = 0;
    for (colour, method) in experiment.methods.iter().enumerate() {
        let ours = |accountant: Option<Accountant>| -> Vec<(f64, f64)> {
            let cells = whole().filter(|cell| cell.key.method == method.name);
            let cells = cells.filter(|cell| accountant.is_none_or(|a| cell.key.accountant == a));
            match method.accountant {
                Some(_) => cells
                    .filter_map(|cell| Some((cell.key.epsilon?, value(cell))))
                    .collect(),
                None => cells
                    .flat_map(|cell| ends.map(|end| (*end, value(cell))))
                    .collect(),
            }
        };
        let mut add = |name: String, stroke: Stroke, mut points: Vec<(f64, f64)>| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            if points.len() > 1 {
                chart.series.push(Series {
                    name,
                    colour,
                    stroke,
                    points,
                    lower: Vec::new(),
                });
            }
        };
        let name = &method.name;
        if method.accountant.is_none() {
            add(format!("{name}: NOT PRIVATE"), Stroke::Solid, ours(None));
            continue;
        }
        for accountant in [Accountant::Pld, Accountant::Paper] {
            let points = ours(Some(accountant));
            lines_of_ours += usize::from(points.len() > 1);
            match accountant {
                Accountant::Pld => add(format!("{name}: ours, certified"), Stroke::Solid, points),
                Accountant::Paper => add(format!("{name}: ours, claimed"), Stroke::Dashed, points),
            }
        }
        if !ours(None).is_empty() {
            let printed = experiment.epsilons.iter().zip(&method.paper);
            let printed = printed.filter(|(_, value)| value.is_finite());
            let points = printed.map(|(epsilon, value)| (*epsilon, *value)).collect();
            add(format!("{name}: paper"), Stroke::Dotted, points);
        }
    }
    (lines_of_ours > 0).then_some(chart)
}

/// The lines that were made; of shortened runs only if there are no whole ones, and then it says so.
pub fn of_gradients(diagnostic: &Diagnostic, seen: &[Seen]) -> Option<Chart> {
    let cut = (seen.iter().map(Seen::cut))
        .find(|cut| cut.is_none())
        .or_else(|| seen.first().map(Seen::cut))?;
    let shown: Vec<&Seen> = seen.iter().filter(|seen| seen.cut() == cut).collect();
    let (x_label, y_label) = match diagnostic.draw {
        Draw::Norms => ("steps", "mean norm of gradients"),
        Draw::Clipped => ("steps", "clipped gradients in percent"),
        Draw::Cosines => ("threshold C", "cosine with the true gradient"),
    };
    let mark = if cut.is_none() { "" } else { ": NO RESULT" };
    let title = format!(
        "{} {}{mark} (NOT PRIVATE)",
        diagnostic.paper, diagnostic.figure
    );
    let mut chart = chart(title, x_label, y_label);
    chart.log_x = diagnostic.draw == Draw::Cosines;
    chart.from_zero = true;
    for seen in shown {
        lines(&mut chart, diagnostic, seen, cut);
    }
    (!chart.series.is_empty()).then_some(chart)
}

fn lines(chart: &mut Chart, diagnostic: &Diagnostic, seen: &Seen, cut: Cut) {
    let found = match seen.accountant {
        Accountant::Pld => "certified noise",
        Accountant::Paper => "claimed noise",
    };
    let mut add = |name: String, points: Vec<(f64, f64)>| {
        let colour = chart.series.len();
        chart.series.push(Series {
            name,
            colour,
            stroke: Stroke::Solid,
            points,
            lower: Vec::new(),
        });
    };
    let over_steps = |value: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
        let looks = seen.looks.iter().enumerate();
        looks
            .map(|(index, look)| (look.step as f64, value(index)))
            .collect()
    };
    let name = format!("{}, {found}", seen.line);
    match diagnostic.draw {
        Draw::Norms => add(name, over_steps(&|index| seen.looks[index].mean_of_norms)),
        Draw::Clipped => add(
            name,
            over_steps(&|index| 100.0 * seen.looks[index].clip_fraction),
        ),
        Draw::Cosines => {
            let wanted = |step: u64| !cut.is_none() || diagnostic.at.contains(&step);
            for look in seen.looks.iter().filter(|look| wanted(look.step)) {
                add(format!("{name}, step {}", look.step), look.cosines.clone());
            }
        }
    }
}
