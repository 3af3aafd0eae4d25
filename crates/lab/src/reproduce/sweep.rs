//! A sweep of two settings as a square: one down, the other across.

use super::experiment::{Cut, Experiment};
use super::page::{certified, marked, noise, spread};
use super::results::Cell;
use anyhow::{Context, Result};
use std::fmt::Write;

/// A square for each method, budget and way its noise was found, whose cells are neighbours.
pub fn squares(page: &mut String, experiment: &Experiment, cells: &[&Cell]) -> Result<()> {
    let same = |a: &Cell, b: &Cell| {
        let square = |cell: &Cell| (cell.key.accountant, cell.key.cut(), cell.key.epsilon);
        a.key.method == b.key.method && square(a) == square(b)
    };
    for cells in cells.chunk_by(|a, b| same(a, b)) {
        let key = &cells[0].key;
        let epsilon = (key.epsilon).map_or(String::new(), |epsilon| format!(" at ε = {epsilon}"));
        let mut seeds: Vec<usize> = cells.iter().map(|cell| cell.trials.len()).collect();
        seeds.sort();
        seeds.dedup();
        let seeds: Vec<String> = seeds.iter().map(usize::to_string).collect();
        writeln!(
            page,
            "{}{}{epsilon}: noise {}, certified ε {}, {} steps, seeds: {}.\n",
            key.method,
            marked(key.cut()),
            noise(key),
            certified(cells),
            cells[0].trials[0].steps,
            seeds.join(" or "),
        )?;
        square(page, experiment, cells)?;
    }
    Ok(())
}

fn square(page: &mut String, experiment: &Experiment, cells: &[&Cell]) -> Result<()> {
    let key = &cells[0].key;
    let mut methods = experiment.methods.iter();
    let method = methods.find(|method| method.name == key.method);
    let method = method.context("a cell of no method")?;
    let columns = experiment.columns(method, key.accountant, Cut::default())?;
    let choices = columns[0].runs.iter().map(|run| run.name.as_str());
    let [down, across] = axes(choices).context("a sweep has two settings")?;
    let heads: Vec<String> = across.values.iter().map(|value| short(value)).collect();
    writeln!(
        page,
        "| {} ↓ {} → | {} |\n|---|{}",
        down.name,
        across.name,
        heads.join(" | "),
        "---|".repeat(heads.len())
    )?;
    for row in &down.values {
        let numbers = across.values.iter().map(|column| {
            let choice = format!("{} = {row}, {} = {column}", down.name, across.name);
            let mut cells = cells.iter();
            let cell = cells.find(|cell| cell.key.choice.as_deref() == Some(&choice));
            cell.map_or_else(|| "–".into(), |cell| spread((cell.value, cell.spread)))
        });
        let numbers: Vec<String> = numbers.collect();
        writeln!(page, "| {} | {} |", short(row), numbers.join(" | "))?;
    }
    writeln!(page)?;
    Ok(())
}

/// A setting and its values, in the order of the sweep.
struct Axis<'a> {
    name: &'a str,
    values: Vec<&'a str>,
}

/// The two settings of choices such as `growing-mu = 2.5, threshold-decay = 10.0`.
fn axes<'a>(choices: impl Iterator<Item = &'a str>) -> Option<[Axis<'a>; 2]> {
    let mut axes: Option<[Axis; 2]> = None;
    for choice in choices {
        let (down, across) = choice.split_once(", ")?;
        let parts = [down.split_once(" = ")?, across.split_once(" = ")?];
        let axes = axes.get_or_insert_with(|| {
            parts.map(|(name, _)| Axis {
                name,
                values: Vec::new(),
            })
        });
        for (axis, (_, value)) in axes.iter_mut().zip(parts) {
            if !axis.values.contains(&value) {
                axis.values.push(value);
            }
        }
    }
    axes
}

/// A number with at most four decimals; any other value as it is.
fn short(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) => ((number * 1e4).round() / 1e4).to_string(),
        Err(_) => value.into(),
    }
}
