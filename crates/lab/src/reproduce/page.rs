//! The page of results in the book: the paper's number beside ours.

use super::charts;
use super::diagnostic::{Diagnostic, Seen, diagnostics};
use super::experiment::{Accountant, Cut, Experiment, Measure, all};
use super::results::{Book, Cell, Key};
use super::sweep;
use anyhow::Result;
use std::fmt::Write;
use std::path::Path;
use tacita_accounting::decimal::up;
use tacita_cli::plot;

const HEAD: &str = "\
# Every table

This page is written by `tacita-lab reproduce` and not edited by hand; [Results](results.md) is its summary. Ours is the \
score on the test set after the last step, mean ± standard deviation over seeds. *Claimed* noise is found as the authors \
did, and the certified ε of the very same runs stands beside it; *certified* noise keeps the paper's ε with proof. Seeds \
are fixed, so these runs are experiments and not private. Cells that were not run are not listed; the last section \
counts them.
";

const GRID_HEAD: &str = "\
The budget is that of a whole grid, all of whose runs are composed. As in the paper, the choice is the one whose best \
checkpoint, looked at every 50 steps and at the end, does best on the test set: *best* is NOT PRIVATE and too good; *last* is the same \
choice after its last step. Where fewer choices ran than the grid has, the best may be among the others.
";

const COVERAGE_HEAD: &str = "
## What was run

Cells with at least one seed, of all there are; every choice of a grid is a cell. Rows without privacy, and presets, whose \
noise is always certified, count in both columns.

| table | data set | noise claimed | noise certified |
|---|---|---|---|
";

/// The page and its pictures.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// In Markdown.
    pub text: String,
    /// Names of files beside the page, and what is in them.
    pub figures: Vec<(String, String)>,
}

/// The page of everything in a folder of results.
pub fn render(folder: &Path) -> Result<Page> {
    let mut page = HEAD.to_string();
    let empty = page.len();
    let mut figures = Vec::new();
    for experiment in all()? {
        let book = Book::open(folder, &experiment.paper, &experiment.table)?;
        let mut cells: Vec<&Cell> = Vec::new();
        for cell in &book.cells {
            if cell.key.set == experiment.set && grid_size(&experiment, &cell.key)?.is_some() {
                cells.push(cell);
            }
        }
        if !cells.is_empty() {
            figures.extend(section(&mut page, &experiment, cells)?);
        }
    }
    for diagnostic in diagnostics()? {
        let seen = diagnostic.seen(folder)?;
        figures.extend(gradients(&mut page, &diagnostic, &seen)?);
    }
    if page.len() == empty {
        page.push_str("\nNothing has been run to its end yet.\n");
    }
    page.push_str(&coverage(folder)?);
    Ok(Page {
        text: page,
        figures,
    })
}

/// A picture as a file beside the page, and its place in it.
fn picture(page: &mut String, name: &str, about: &str, chart: plot::Chart) -> (String, String) {
    let file = format!("figures/{name}.svg");
    page.push_str(&format!("\n![{about}]({file})\n"));
    (file, plot::render(&[chart]))
}

/// A figure of raw gradients.
fn gradients(
    page: &mut String,
    diagnostic: &Diagnostic,
    seen: &[Seen],
) -> Result<Option<(String, String)>> {
    let Some(chart) = charts::of_gradients(diagnostic, seen) else {
        return Ok(None);
    };
    writeln!(page, "\n## {}: {}\n", diagnostic.source, diagnostic.set)?;
    writeln!(
        page,
        "Raw gradients of public records, one seed: NOT PRIVATE. Chosen here: {}. The paper prints a picture and no numbers.",
        diagnostic.chosen.join("; ")
    )?;
    let name = format!("results-{}-{}", diagnostic.paper, diagnostic.figure);
    let figure = picture(page, &name, &diagnostic.source, chart);
    if let Some(differences) = &diagnostic.differences {
        writeln!(page, "\nDifferences: {differences}")?;
    }
    made_by(
        page,
        seen.iter()
            .map(|seen| (&seen.commit, &seen.machine, &seen.date)),
    )?;
    Ok(Some(figure))
}

/// How much of every table has been run.
fn coverage(folder: &Path) -> Result<String> {
    let mut text = COVERAGE_HEAD.to_string();
    for experiment in all()? {
        let book = Book::open(folder, &experiment.paper, &experiment.table)?;
        let mut counts = Vec::new();
        for accountant in [Accountant::Paper, Accountant::Pld] {
            let (mut run, mut all) = (0, 0);
            for method in &experiment.methods {
                for column in experiment.columns(method, accountant, Cut::default())? {
                    for index in 0..column.runs.len() {
                        let cut = Cut::default();
                        let key = Key::new(&experiment, method, &column, index, accountant, cut)?;
                        all += 1;
                        run += usize::from(book.cells.iter().any(|cell| cell.key == key));
                    }
                }
            }
            counts.push(format!("{run} of {all}"));
        }
        let (paper, table) = (&experiment.paper, &experiment.table);
        let [claimed, certified] = [&counts[0], &counts[1]];
        writeln!(
            text,
            "| {paper} {table} | {} | {claimed} | {certified} |",
            experiment.set
        )?;
    }
    for diagnostic in diagnostics()? {
        let seen = diagnostic.seen(folder)?;
        let count = |accountant| {
            let made = seen.iter().filter(|seen| seen.cut().is_none());
            let made = made.filter(|seen| seen.accountant == accountant).count();
            format!("{made} of {}", diagnostic.lines.len())
        };
        writeln!(
            text,
            "| {} {} | {} | {} | {} |",
            diagnostic.paper,
            diagnostic.figure,
            diagnostic.set,
            count(Accountant::Paper),
            count(Accountant::Pld)
        )?;
    }
    Ok(text)
}

/// How many choices the cell's grid has; none if the experiment has other settings by now.
fn grid_size(experiment: &Experiment, key: &Key) -> Result<Option<usize>> {
    let methods = experiment.methods.iter();
    for method in methods.filter(|method| method.name == key.method) {
        let (accountant, cut) = (key.accountant, key.cut());
        for column in experiment.columns(method, accountant, cut)? {
            for run in (0..column.runs.len()).filter(|_| column.epsilon == key.epsilon) {
                if Key::new(experiment, method, &column, run, accountant, cut)? == *key {
                    return Ok(Some(column.runs.len()));
                }
            }
        }
    }
    Ok(None)
}

fn section(
    page: &mut String,
    experiment: &Experiment,
    mut cells: Vec<&Cell>,
) -> Result<Option<(String, String)>> {
    writeln!(page, "\n## {}: {}\n", experiment.source, experiment.set)?;
    let number = match experiment.measure {
        Measure::Accuracy => "Accuracy in percent.",
        Measure::SquaredError => "Mean squared error × 100: smaller is better.",
    };
    writeln!(
        page,
        "{number} Chosen here: {}.\n",
        experiment.chosen.join("; ")
    )?;
    let row = |cell: &Cell| {
        let methods = experiment.methods.iter();
        methods
            .take_while(|method| method.name != cell.key.method)
            .count()
    };
    cells.sort_by(|a, b| {
        let order = |cell: &Cell| {
            let whole = cell.key.cut().is_none();
            (!whole, row(cell), cell.key.accountant)
        };
        let epsilon = |cell: &Cell| cell.key.epsilon.unwrap_or(f64::INFINITY);
        order(a)
            .cmp(&order(b))
            .then(epsilon(a).total_cmp(&epsilon(b)))
    });
    if experiment.has_grids() {
        cells = best_of_grids(page, experiment, &cells)?;
    } else if experiment.is_sweep() {
        sweep::squares(page, experiment, &cells)?;
    } else {
        plain_table(page, &cells)?;
    }
    if let Some(differences) = &experiment.differences {
        writeln!(page, "\nDifferences: {differences}")?;
    }
    let trials = cells.iter().flat_map(|cell| &cell.trials);
    made_by(
        page,
        trials.map(|trial| (&trial.commit, &trial.machine, &trial.date)),
    )?;
    Ok(charts::of_table(experiment, &cells).map(|chart| {
        let set = experiment
            .set
            .to_lowercase()
            .replace(", ", "-")
            .replace('\'', "")
            .replace(' ', "-");
        let (paper, table) = (&experiment.paper, &experiment.table);
        let name = match paper.as_str() {
            "best" => format!("results-best-{table}"),
            _ => format!("results-{paper}-{table}-{set}"),
        };
        picture(page, &name, &chart.title.clone(), chart)
    }))
}

/// Which source made the results, where and when.
fn made_by<'a>(
    page: &mut String,
    makers: impl Iterator<Item = (&'a Option<String>, &'a String, &'a String)>,
) -> Result<()> {
    let mut made: Vec<String> = makers
        .map(|(commit, machine, date)| {
            let commit = commit.as_deref().unwrap_or("unknown");
            format!("commit {commit} on {machine}, {date}")
        })
        .collect();
    made.sort();
    made.dedup();
    writeln!(page, "\nMade by: {}.", made.join("; "))?;
    Ok(())
}

fn plain_table(page: &mut String, cells: &[&Cell]) -> Result<()> {
    writeln!(
        page,
        "| method | ε of the paper | paper | ours | seeds | steps | noise | certified ε |\n|---|---|---|---|---|---|---|---|"
    )?;
    for cell in cells {
        writeln!(
            page,
            "| {}{} | {} | {} | {} | {} | {} | {} | {} |",
            cell.key.method,
            marked(cell.key.cut()),
            shown(cell.key.epsilon, |epsilon| epsilon.to_string()),
            shown(cell.paper_value, |value| format!("{value:.2}")),
            spread((cell.value, cell.spread)),
            cell.trials.len(),
            cell.trials[0].steps,
            noise(&cell.key),
            certified(&[cell]),
        )?;
    }
    Ok(())
}

/// One row for each grid: the best of its choices that ran. Gives those.
fn best_of_grids<'a>(
    page: &mut String,
    experiment: &Experiment,
    cells: &[&'a Cell],
) -> Result<Vec<&'a Cell>> {
    let mut all_best = Vec::new();
    writeln!(page, "{GRID_HEAD}")?;
    writeln!(
        page,
        "| method | ε of the paper | paper | best (not private) | last | choice | choices run | seeds | noise \
         | ε by moments | certified ε |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )?;
    let same_grid = |a: &Cell, b: &Cell| {
        let grid = |cell: &Cell| {
            let key = cell.key.clone();
            (key.method.clone(), key.epsilon, key.accountant, key.cut())
        };
        grid(a) == grid(b)
    };
    for grid in cells.chunk_by(|a, b| same_grid(a, b)) {
        let Some(best) = grid.iter().copied().reduce(|a, b| {
            let better = experiment.measure.better(b.best().0, a.best().0);
            if better { b } else { a }
        }) else {
            continue;
        };
        all_best.push(best);
        let claimed = best.trials.iter().find_map(|trial| trial.epsilon_claimed);
        writeln!(
            page,
            "| {}{} | {} | {} | {} | {} | {} | {} of {} | {} | {} | {} | {} |",
            best.key.method,
            marked(best.key.cut()),
            shown(best.key.epsilon, |epsilon| epsilon.to_string()),
            shown(best.paper_value, |value| format!("{value:.2}")),
            spread(best.best()),
            spread((best.value, best.spread)),
            best.key.choice.as_deref().unwrap_or_default(),
            grid.len(),
            grid_size(experiment, &best.key)?.unwrap_or(0),
            best.trials.len(),
            noise(&best.key),
            shown(claimed, |epsilon| format!("≈ {epsilon:.3}")),
            certified(&[best]),
        )?;
    }
    Ok(all_best)
}

/// What is no result says so.
pub fn marked(cut: Cut) -> String {
    match (cut.quick, cut.steps_limit) {
        (false, None) => String::new(),
        (_, Some(limit)) => format!(" (LIMITED TO {limit} STEPS: no result)"),
        (true, None) => " (QUICK: no result)".into(),
    }
}

fn shown(value: Option<f64>, words: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "–".into(), words)
}

/// Mean and standard deviation, if there is one.
pub fn spread((mean, spread): (f64, Option<f64>)) -> String {
    let spread = spread.map_or(String::new(), |spread| format!(" ± {spread:.2}"));
    format!("{mean:.2}{spread}")
}

/// What the noise was found with.
pub fn noise(key: &Key) -> &'static str {
    match (key.epsilon, key.accountant) {
        (None, _) => "none: NOT PRIVATE",
        (_, Accountant::Pld) => "certified",
        (_, Accountant::Paper) => "claimed",
    }
}

/// The certified ε of the cells; the largest, where they differ.
pub fn certified(cells: &[&Cell]) -> String {
    let trials = cells.iter().flat_map(|cell| &cell.trials);
    let certified = trials
        .filter_map(|trial| trial.epsilon_certified)
        .reduce(f64::max);
    shown(certified, |epsilon| format!("≤ {}", up(epsilon, 5)))
}
