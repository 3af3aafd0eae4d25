//! `tacita reproduce`: the papers' tables, ours beside theirs.

use crate::report::number::up;
use crate::reproduce::{self, Accountant, Book, Key};
use crate::run::{self, Output, Settings};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// Arguments of `tacita reproduce`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tables: dynamic table1 (MNIST and Fashion-MNIST), table2 (IMDB), table3 (names); auto table1 (MNIST and \
Fashion-MNIST). What is in the results already is not run again; a run that was stopped is taken up. Seeds are \
fixed, so these runs are NOT PRIVATE: for public data only.

Examples:
  tacita reproduce dynamic table3 --seeds 3
  tacita reproduce dynamic table1 --set MNIST --method vanilla --epsilon 1.2 --accountant pld
  tacita reproduce auto table1 --quick")]
pub struct Args {
    /// The paper: dynamic or auto
    paper: String,
    /// The table, such as table1
    table: String,
    /// Seeds 0 to N − 1
    #[arg(long, value_name = "N", default_value_t = 3)]
    seeds: u64,
    /// A fiftieth of the steps, to see that everything works; marked in the results
    #[arg(long)]
    quick: bool,
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
    /// Folder to look for public data sets in first
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Folder of the results
    #[arg(long, value_name = "DIR", default_value = "results")]
    results: PathBuf,
    /// Page of the book to write
    #[arg(long, value_name = "FILE", default_value = "docs/src/results.md")]
    page: PathBuf,
}

/// Runs `tacita reproduce`.
pub fn run(args: &Args) -> Result<()> {
    let mut book = Book::open(&args.results, &args.paper, &args.table)?;
    let output = Output { quiet: true };
    for experiment in reproduce::find(&args.paper, &args.table)? {
        if (args.set.as_ref()).is_some_and(|set| *set != experiment.set) {
            continue;
        }
        for method in &experiment.methods {
            if (args.method.as_ref()).is_some_and(|part| !method.name.contains(part.as_str())) {
                continue;
            }
            for (epsilon, paper_value) in experiment.epsilons.iter().zip(&method.paper) {
                if args.epsilon.is_some_and(|wanted| wanted != *epsilon) {
                    continue;
                }
                let settings =
                    experiment.settings(method, *epsilon, args.accountant, args.quick)?;
                let key = Key::new(
                    &experiment,
                    method,
                    *epsilon,
                    args.accountant,
                    args.quick,
                    &settings,
                )?;
                let settings = Settings {
                    data_dir: args.data_dir.clone(),
                    ..settings
                };
                for seed in 0..args.seeds {
                    let name = format!(
                        "{}, {}, ε = {epsilon}, seed {seed}",
                        experiment.set, method.name
                    );
                    if let Some(trial) = book.trial(&key, seed) {
                        println!("{name}: {:.2} % (there already)", trial.value);
                        continue;
                    }
                    let place = args
                        .results
                        .join("unfinished")
                        .join(format!("{}-{seed}", key.settings));
                    let measured = reproduce::measure(&settings, seed, &place, output);
                    let Some(trial) = measured.with_context(|| name.clone())? else {
                        println!("Stopped. The same command goes on.");
                        return Ok(());
                    };
                    println!(
                        "{name}: {:.2} % (paper {paper_value:.2}), certified ε ≤ {}, {} s",
                        trial.value,
                        up(trial.epsilon_certified, 5),
                        trial.seconds
                    );
                    book.add(&key, *paper_value, trial)?;
                    let _ = fs::remove_dir_all(&place);
                }
            }
        }
    }
    let folder = args.page.parent().filter(|folder| folder.is_dir());
    if folder.is_some() {
        let page = reproduce::render(&args.results)?;
        run::write_whole(&args.page, page.as_bytes())?;
        println!("Written to {}", args.page.display());
    }
    Ok(())
}
