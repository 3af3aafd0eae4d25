//! `tacita check`: what is wrong with records, for the operator's eyes only.

use crate::run::Settings;
use anyhow::{Result, ensure};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tacita::Units;
use tacita_accounting::decimal::count;
use tacita_datasets::{self as datasets, BadRecords, Listed, Opened, Source};

/// Arguments of `tacita check`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
NOT PRIVATE: what it prints depends on single records. It is for the screen of whoever may see them, and for \
nobody else; settings chosen by it are not covered by any guarantee.

`tacita train` never refuses because of a record: one that cannot be used is left out, and nothing is said. So \
look first. The arguments are those of `tacita train`; settings that are not about the data are ignored.

Examples:
  tacita check --csv patients.csv --label outcome --schema patients.toml --records 5000
  tacita check run.toml --show-values"
)]
pub struct Args {
    /// Settings in TOML, with the names of the flags; flags take precedence
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// Also print what bad records hold, where they are bad
    #[arg(long)]
    show_values: bool,
    /// List at most so many bad records
    #[arg(long, value_name = "N", default_value_t = 20)]
    most: usize,
}

/// How many times too large or too small a declared number of records may be before it is said.
const FAR: f64 = 1.5;

/// Runs `tacita check`. Its status does not depend on the records either: only what is wrong with a file as
/// a whole is an error.
pub fn run(args: &Args) -> Result<()> {
    let settings = match &args.file {
        Some(path) => args.settings.clone().over(Settings::read(path)?),
        None => args.settings.clone(),
    };
    let source = settings.source()?;
    ensure!(
        !matches!(source, Source::Builtin(_)),
        "there is nothing to check in a public data set; give your own data with --csv, --parquet, --jsonl or --images"
    );
    let list = Arc::new(Mutex::new(Vec::new()));
    let mut options = settings.options(true)?;
    options.bad_records = BadRecords::List(list.clone());
    // An index holds only the records that can be used.
    if let Some(on_disk) = &mut options.on_disk {
        on_disk.again = true;
    }
    let opened = datasets::open(&source, &options)?;
    let mut bad = list.lock().unwrap_or_else(PoisonError::into_inner).clone();
    bad.sort();

    println!(
        "NOT PRIVATE: this depends on single records. It is for your screen only; neither publish it nor choose \
         settings by it.\n"
    );
    print!("{}", listed(&bad, args));
    print!("{}", counted(&opened)?);
    println!("\nNothing was trained and nothing was spent.");
    Ok(())
}

/// The records that would be left out.
fn listed(bad: &[Listed], args: &Args) -> String {
    if bad.is_empty() {
        return "Every record can be used.\n".into();
    }
    let mut text = format!(
        "{} cannot be used and would be left out:\n",
        count(bad.len() as u64)
    );
    for bad in bad.iter().take(args.most) {
        let line = bad
            .line
            .map_or_else(String::new, |line| format!(", line {line}"));
        let problem = match args.show_values {
            true => &bad.with_value,
            false => &bad.problem,
        };
        text += &format!("  {}{line}: {problem}\n", bad.file);
    }
    if bad.len() > args.most {
        let more = count((bad.len() - args.most) as u64);
        text += &format!("  and {more} more; --most N lists them\n");
    }
    if !args.show_values {
        text += "  What they hold is shown with --show-values.\n";
    }
    text
}

/// How many records of each class there are.
fn counted(opened: &Opened) -> Result<String> {
    let (classes, declared, (training, test), people) = match opened {
        Opened::Ready(data) => {
            let test = data.test.as_ref().map(|test| test.records.targets());
            let targets = (data.training.targets()?, test.transpose()?);
            (
                data.classes(),
                data.public_count,
                targets,
                data.training.people(),
            )
        }
        Opened::NeedsBounds(table) => (
            table.classes(),
            table.public_count(),
            table.targets()?,
            table.people(),
        ),
    };
    let (training, test) = (training.classes(), test.as_ref().map(|test| test.classes()));
    let mut text = part("To train on", training, classes);
    text += &people.map_or_else(String::new, of_people);
    let there = people.map_or(training.len(), Units::count);
    text += &match declared {
        Some(declared) => {
            let note = far(declared, there as u64);
            format!("  declared: {}{note}\n", count(declared))
        }
        None if people.is_some() => {
            "  no number is declared; --persons N is needed to train\n".to_string()
        }
        None => "  no number is declared; --records N is needed to train\n".to_string(),
    };
    if let Some(test) = test {
        text += &part("To test on", test, classes);
    }
    Ok(text)
}

/// How many people there are, and how many records they have.
fn of_people(people: &Units) -> String {
    let mut sizes: Vec<usize> = (0..people.count())
        .map(|person| people.records(person).len())
        .collect();
    sizes.sort_unstable();
    let (Some(most), Some(middle)) = (sizes.last(), sizes.get(sizes.len() / 2)) else {
        return "  nobody: no record says whose it is\n".into();
    };
    format!(
        "  of {} people, who have {middle} records in the middle and {most} at most\n",
        count(sizes.len() as u64)
    )
}

/// What to say if the declared number is far from the true one.
fn far(declared: u64, found: u64) -> &'static str {
    let (declared, found) = (declared.max(1) as f64, found.max(1) as f64);
    match declared / found {
        ratio if ratio > FAR => ", far more than there are: batches will be smaller than planned",
        ratio if ratio < 1.0 / FAR => {
            ", far fewer than there are: batches will be larger than planned"
        }
        _ => "",
    }
}

fn part(name: &str, labels: &[u16], classes: &[String]) -> String {
    let mut text = format!("\n{name}: {} records\n", count(labels.len() as u64));
    for (number, class) in classes.iter().enumerate() {
        let of_class = labels.iter().filter(|label| usize::from(**label) == number);
        text += &format!("  {class}: {}\n", count(of_class.count() as u64));
    }
    text
}
