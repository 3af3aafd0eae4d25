//! `tacita-lab reproduce`: the papers' tables, ours beside theirs.

use crate::reproduce::{
    self, Accountant, Book, Column, Cut, Diagnostic, Experiment, Key, Method, Noise,
};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tacita_accounting::decimal::up;
use tacita_cli::device::DeviceName;
use tacita_cli::files::write_whole;
use tacita_cli::run::PublicFacts;

/// Arguments of `tacita-lab reproduce`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What there is:
  dynamic  table1 (MNIST, Fashion-MNIST), table2 (IMDB), table3 (names), table5 (chest X-rays), figure3 (sweep of ρ)
           figure1 (norms of gradients)
  auto     table1 (MNIST, Fashion-MNIST), figure14 and figure15 (γ or threshold by learning rate)
           figure12 (share of clipped gradients), figure13 (norms of gradients)
  oso      table8 to table13 (MNIST, Fashion-MNIST, AG News): grids whose runs share the budget; drawn, they are
           Figures 6 to 11; figure1 (cosines of sanitised gradients over thresholds)
  best     mnist, fashion-mnist, imdb, names: --preset best

Tables with several budgets are drawn beside the page as well. Figures of gradients look at raw quantities.

What is in the results already is not run again; a run that was stopped is resumed. Seeds are fixed, so these runs \
are NOT PRIVATE: for public data only.

Examples:
  tacita-lab reproduce dynamic table3 --seeds 3
  tacita-lab reproduce dynamic table1 --set MNIST --method vanilla --epsilon 1.2 --accountant pld
  tacita-lab reproduce oso table11 --published --seeds 3 --device cuda
  tacita-lab reproduce oso table11 --cells \"Online, epsilon = 3, seed 0\"
  tacita-lab reproduce auto table1 --quick")]
pub struct Args {
    /// The paper: dynamic, auto or oso; or best
    paper: String,
    /// The table or figure, such as table1
    table: String,
    /// Seeds 0 to N − 1; with 0 only the page is written
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// A fiftieth of the steps, to see that everything works; marked in the results
    #[arg(long)]
    quick: bool,
    /// N steps at most, to see that everything works; marked in the results
    #[arg(long, value_name = "N", conflicts_with = "quick", value_parser = clap::value_parser!(u64).range(1..))]
    steps_limit: Option<u64>,
    /// What the noise is found with
    #[arg(long, value_name = "NAME", default_value = "paper")]
    accountant: Accountant,
    /// Only this data set
    #[arg(long, value_name = "NAME")]
    set: Option<String>,
    /// Only methods whose name contains this
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Only this budget
    #[arg(long, value_name = "E")]
    epsilon: Option<f64>,
    /// Only cells with these fields, as --list shows them: \"MNIST, epsilon = 3, seed 0\"
    #[arg(long, value_name = "FIELDS")]
    cells: Option<String>,
    /// Of each grid only the choice the paper found best; the noise stays that of the whole grid
    #[arg(long)]
    published: bool,
    /// List the cells and what is there of them; run nothing
    #[arg(long)]
    list: bool,
    /// cpu, cuda, cuda:1, ... or wgpu [default: cpu]
    #[arg(long, value_name = "NAME")]
    device: Option<DeviceName>,
    /// Folder to look for public data sets in first
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Folder of the results
    #[arg(long, value_name = "DIR", default_value = "crates/lab/results")]
    results: PathBuf,
    /// Page of the book to write
    #[arg(long, value_name = "FILE", default_value = "docs/src/lab/tables.md")]
    page: PathBuf,
}

/// A line for the terminal; a reader that went away takes nothing from the results.
macro_rules! say {
    ($($words:tt)*) => {{
        let _ = writeln!(std::io::stdout(), $($words)*);
    }};
}

/// Runs `tacita-lab reproduce`.
pub fn run(args: &Args) -> Result<()> {
    args.device.unwrap_or_default().open()?;
    let mut figures = reproduce::diagnostics()?.into_iter();
    let figure = figures.find(|figure| figure.paper == args.paper && figure.figure == args.table);
    let whole = match figure {
        Some(figure) => args.look(&figure)?,
        None => args.make_table()?,
    };
    if !whole {
        say!("Stopped. The same command resumes.");
        return Ok(());
    }
    if args.list {
        return Ok(());
    }
    let above = args.page.parent().unwrap_or(Path::new(""));
    // Of a bare name it is empty.
    let folder = Path::new(".").join(above);
    if !folder.is_dir() {
        say!(
            "No page was written: there is no folder {}; give --page another file",
            above.display()
        );
    } else {
        let page = reproduce::render(&args.results)?;
        for (file, svg) in &page.figures {
            let file = folder.join(file);
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)
                    .with_context(|| format!("cannot make {}", folder.display()))?;
            }
            write_whole(&file, svg.as_bytes())?;
        }
        write_whole(&args.page, page.text.as_bytes())?;
        say!("Written to {}", args.page.display());
    }
    Ok(())
}

/// One seed of one run of a column.
struct Run {
    index: usize,
    seed: u64,
    key: Key,
    name: String,
}

impl Args {
    fn cut(&self) -> Cut {
        Cut {
            quick: self.quick,
            steps_limit: self.steps_limit,
        }
    }

    /// Makes what is missing of a table; false if Ctrl-C came first.
    fn make_table(&self) -> Result<bool> {
        let mut book = Book::open(&self.results, &self.paper, &self.table)?;
        let experiments = reproduce::find(&self.paper, &self.table)?;
        if self.seeds > 0 && !self.list {
            say!("Fixed seeds: NOT PRIVATE. ε is that of the same plan with secret keys.");
        }
        let mut found = false;
        for experiment in experiments {
            for method in &experiment.methods {
                for column in experiment.columns(method, self.accountant, self.cut())? {
                    let runs = self.runs(&experiment, method, &column)?;
                    found |= !runs.is_empty();
                    if !self.make(&experiment, &column, &runs, &mut book)? {
                        return Ok(false);
                    }
                }
            }
        }
        ensure!(
            found || self.seeds == 0,
            "no cell of {} {} is like that; --list shows all",
            self.paper,
            self.table
        );
        Ok(true)
    }

    /// Makes what is missing of a figure of gradients; false if Ctrl-C came first.
    fn look(&self, figure: &Diagnostic) -> Result<bool> {
        ensure!(
            !self.published && self.cells.is_none() && self.epsilon.is_none() && self.set.is_none(),
            "{} {} is a figure of one set and one budget: only --method chooses among its lines",
            self.paper,
            self.table
        );
        let place = (self.data_dir.clone(), self.device);
        let named = self.method.as_deref().unwrap_or_default();
        for line in figure.lines.iter().filter(|line| line.name.contains(named)) {
            let (accountant, cut) = (self.accountant, self.cut());
            let there = figure.find(&self.results, line, accountant, cut)?.is_some();
            let what = format!("{}, {}", figure.set, line.name);
            if there || self.list || self.seeds == 0 {
                say!(
                    "{what}: {}",
                    if there { "there already" } else { "to be run" }
                );
                continue;
            }
            let made = figure.look(&self.results, line, accountant, cut, &place);
            if !made.with_context(|| what.clone())? {
                return Ok(false);
            }
            say!("{what}: looked at, NOT PRIVATE");
        }
        Ok(true)
    }

    /// The runs of a column that are asked for.
    fn runs(&self, experiment: &Experiment, method: &Method, column: &Column) -> Result<Vec<Run>> {
        let other = |wanted: &Option<String>, is: bool| wanted.is_some() && !is;
        let named = self.method.as_deref().unwrap_or_default();
        if other(&self.set, self.set.as_ref() == Some(&experiment.set))
            || !method.name.contains(named)
            || (self.epsilon.is_some() && self.epsilon != column.epsilon)
        {
            return Ok(Vec::new());
        }
        let mut runs = Vec::new();
        for index in 0..column.runs.len() {
            if self.published && column.is_grid && column.published != Some(index) {
                continue;
            }
            let key = Key::new(
                experiment,
                method,
                column,
                index,
                self.accountant,
                self.cut(),
            )?;
            for seed in 0..self.seeds {
                let name = format!("{}, seed {seed}", key.name());
                if self
                    .cells
                    .as_ref()
                    .is_none_or(|cells| has_fields(&name, cells))
                {
                    runs.push(Run {
                        index,
                        seed,
                        key: key.clone(),
                        name,
                    });
                }
            }
        }
        Ok(runs)
    }

    /// Makes what is missing of a column; false if Ctrl-C came first.
    fn make(
        &self,
        experiment: &Experiment,
        column: &Column,
        runs: &[Run],
        book: &mut Book,
    ) -> Result<bool> {
        let mut noise: Option<Noise> = None;
        for Run {
            index,
            seed,
            key,
            name,
        } in runs
        {
            if let Some(trial) = book.trial(key, *seed) {
                say!("{name}: {:.2} (there already)", trial.value);
                continue;
            }
            if self.list {
                say!("{name}: to be run");
                continue;
            }
            let noise = match &mut noise {
                Some(noise) => noise,
                none => none.insert(
                    self.noise(experiment, column)
                        .with_context(|| name.clone())?,
                ),
            };
            let file = format!("{}-{seed}", key.settings);
            let place = self.results.join("unfinished").join(file);
            let measured =
                reproduce::measure(column, noise, *index, *seed, experiment.measure, &place);
            let Some(trial) = measured.with_context(|| name.clone())? else {
                return Ok(false);
            };
            let paper = (column.paper_value).map_or("none".into(), |value| format!("{value:.2}"));
            let best = (trial.best).map_or(String::new(), |best| {
                format!(", best checkpoint {best:.2} (not private)")
            });
            let certified = match trial.epsilon_certified {
                Some(epsilon) => format!("certified ε ≤ {}", up(epsilon, 5)),
                None => "NOT PRIVATE".into(),
            };
            say!(
                "{name}: {:.2}{best} (paper {paper}), {certified}, {} s",
                trial.value,
                trial.seconds
            );
            book.add(key, column.paper_value, trial)?;
            let _ = fs::remove_dir_all(&place);
        }
        Ok(true)
    }

    fn noise(&self, experiment: &Experiment, column: &Column) -> Result<Noise> {
        let look = || {
            let mut settings = experiment.common_settings()?;
            settings.data_dir.clone_from(&self.data_dir);
            PublicFacts::read(&settings, true)
        };
        let mut noise = Noise::find(column, self.accountant, look)?;
        for settings in &mut noise.settings {
            settings.data_dir.clone_from(&self.data_dir);
            settings.device = self.device;
        }
        Ok(noise)
    }
}

/// Whether each field is one of the name's; spaces do not count, and `epsilon` is ε.
fn has_fields(name: &str, fields: &str) -> bool {
    let plain = |field: &str| field.replace(' ', "").replace("epsilon", "ε");
    let known: Vec<String> = name.split(',').map(plain).collect();
    fields
        .split(',')
        .map(plain)
        .all(|field| known.contains(&field))
}

#[cfg(test)]
mod tests {
    use super::has_fields;

    #[test]
    fn cells_are_named_by_whole_fields() {
        let name = "MNIST, Online, learning-rate = 0.3162, ε = 3, seed 1";
        for fields in [
            "Online",
            "epsilon=3, seed 1",
            "learning-rate = 0.3162,MNIST",
        ] {
            assert!(has_fields(name, fields), "{fields}");
        }
        for fields in ["seed 10", "epsilon = 30", "On", "MNIST, seed 2"] {
            assert!(!has_fields(name, fields), "{fields}");
        }
    }
}
