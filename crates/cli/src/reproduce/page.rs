//! The page of results in the book: the paper's number beside ours.

use super::experiment::{Accountant, Experiment, all};
use super::results::{Book, Cell};
use crate::report::number::up;
use anyhow::Result;
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Results

Made by `tacita reproduce`; not edited by hand. Ours is the accuracy on the test set after the last step, mean ± \
standard deviation over seeds. *Claimed* noise is found as the authors did, and the certified ε of the very same runs \
stands beside it; *certified* noise keeps the paper's ε with proof. Seeds are fixed, so these runs are experiments and \
not private. Cells that were not run are not listed.
";

/// The page of everything in a folder of results.
pub fn render(folder: &Path) -> Result<String> {
    let mut page = HEAD.to_string();
    let empty = page.len();
    for experiment in all()? {
        let book = Book::open(folder, &experiment.paper, &experiment.table)?;
        let cells: Vec<&Cell> = (book.cells.iter())
            .filter(|cell| cell.key.set == experiment.set && is_current(&experiment, cell))
            .collect();
        if !cells.is_empty() {
            section(&mut page, &experiment, cells)?;
        }
    }
    if page.len() == empty {
        page.push_str("\nNothing has been run to its end yet.\n");
    }
    Ok(page)
}

/// Whether a cell was made with the settings the experiment has now.
fn is_current(experiment: &Experiment, cell: &Cell) -> bool {
    let key = &cell.key;
    let method = experiment
        .methods
        .iter()
        .find(|method| method.name == key.method);
    method.is_some_and(|method| {
        let settings = experiment.settings(method, key.epsilon, key.accountant, key.quick);
        let now = settings.and_then(|settings| {
            super::Key::new(
                experiment,
                method,
                key.epsilon,
                key.accountant,
                key.quick,
                &settings,
            )
        });
        now.is_ok_and(|now| now == *key)
    })
}

fn section(page: &mut String, experiment: &Experiment, mut cells: Vec<&Cell>) -> Result<()> {
    writeln!(page, "\n## {}: {}\n", experiment.source, experiment.set)?;
    writeln!(page, "Chosen here: {}.\n", experiment.chosen.join("; "))?;
    writeln!(
        page,
        "| method | ε of the paper | paper | ours | seeds | steps | noise | certified ε |"
    )?;
    writeln!(page, "|---|---|---|---|---|---|---|---|")?;
    let row = |cell: &Cell| {
        let methods = experiment.methods.iter();
        methods
            .take_while(|method| method.name != cell.key.method)
            .count()
    };
    cells.sort_by(|a, b| {
        let order = |cell: &Cell| (cell.key.quick, row(cell), cell.key.accountant);
        order(a)
            .cmp(&order(b))
            .then(a.key.epsilon.total_cmp(&b.key.epsilon))
    });
    for cell in &cells {
        let Cell {
            key,
            paper_value,
            value,
            spread,
            trials,
        } = cell;
        let spread = spread.map_or(String::new(), |spread| format!(" ± {spread:.2}"));
        let noise = match key.accountant {
            Accountant::Pld => "certified",
            Accountant::Paper => "claimed",
        };
        let quick = if key.quick { " (QUICK: no result)" } else { "" };
        let certified = trials
            .iter()
            .map(|trial| trial.epsilon_certified)
            .fold(0.0, f64::max);
        writeln!(
            page,
            "| {}{quick} | {} | {paper_value:.2} | {value:.2}{spread} | {} | {} | {noise} | ≤ {} |",
            key.method,
            key.epsilon,
            trials.len(),
            trials[0].steps,
            up(certified, 5)
        )?;
    }
    let mut made: Vec<String> = (cells.iter())
        .flat_map(|cell| &cell.trials)
        .map(|trial| {
            let commit = trial.commit.as_deref().unwrap_or("unknown");
            format!("commit {commit} on {}, {}", trial.machine, trial.date)
        })
        .collect();
    made.sort();
    made.dedup();
    writeln!(page, "\nMade by: {}.", made.join("; "))?;
    Ok(())
}
