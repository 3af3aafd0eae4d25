//! The laboratory's pages in the book say what the program and its results say.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lab(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tacita-lab"));
    let output = command
        .args(arguments)
        .current_dir(repository())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn page(name: &str) -> String {
    fs::read_to_string(repository().join("docs/src/lab").join(name)).unwrap()
}

/// The parts of a page below its headings of the second level.
fn sections(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split("\n## ")
        .skip(1)
        .map(|part| part.split_once('\n').unwrap())
}

fn cells(row: &str) -> Vec<&str> {
    let inside = row.strip_prefix("| ").unwrap().strip_suffix(" |").unwrap();
    inside.split(" | ").map(str::trim).collect()
}

#[test]
fn every_flag_is_in_the_reference() {
    let page = page("commands.md");
    let commands = sections(&page).filter_map(|(heading, below)| {
        let command = heading.strip_prefix("tacita-lab ")?;
        Some((command, below))
    });
    let mut seen = 0;
    for (command, below) in commands {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.push("--help");
        let help = lab(&arguments);
        let flags = |text: &str, start: &str| -> BTreeSet<String> {
            let flags = text.lines().filter_map(|line| line.strip_prefix(start));
            flags
                .map(|flag| flag.split([' ', '`']).next().unwrap().to_string())
                .collect()
        };
        assert_eq!(flags(below, "| `--"), flags(&help, "      --"), "{command}");
        seen += 1;
    }
    assert_eq!(seen, 8, "reproduce, figures, audit and five kinds of bench");
}

/// Seeds 0: nothing is run, the page is written from the stored results.
#[test]
fn the_page_of_all_tables_is_what_the_results_give() {
    let folder = std::env::temp_dir().join(format!("tacita-lab-book-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("tables.md");
    let out = file.to_str().unwrap();
    lab(&["reproduce", "best", "mnist", "--seeds", "0", "--page", out]);
    // Not by `assert_eq`, which would print both.
    let same = fs::read_to_string(&file).unwrap() == page("tables.md");
    fs::remove_dir_all(&folder).unwrap();
    assert!(
        same,
        "write it again: tacita-lab reproduce best mnist --seeds 0"
    );
}

/// (method, ε, kind of noise) of a table, and the scores of the paper and of ours.
type Scores<'a> = BTreeMap<(&'a str, &'a str, &'a str), (f64, f64)>;

/// The tables of scores by their headings.
fn scores(page: &str) -> BTreeMap<&str, Scores<'_>> {
    let mut tables = BTreeMap::new();
    for (heading, below) in sections(page) {
        let mut rows = below.lines().filter(|line| line.starts_with("| "));
        let Some(head) = rows.next().map(cells).filter(|head| head[0] == "method") else {
            continue;
        };
        let column = |name: &str| head.iter().position(|cell| *cell == name);
        let noise = column("noise").unwrap();
        let ours = column("ours").or(column("best (not private)")).unwrap();
        let mut scores = Scores::new();
        for row in rows.map(cells) {
            let mean = |cell: &str| cell.split(' ').next().unwrap().parse::<f64>().ok();
            if let (Some(theirs), Some(ours)) = (mean(row[2]), mean(row[ours])) {
                let noise = row[noise].split(':').next().unwrap();
                scores.insert((row[0], row[1], noise), (theirs, ours));
            }
        }
        tables.insert(heading, scores);
    }
    tables
}

#[test]
fn differences_on_the_page_of_results_are_those_of_the_tables() {
    let (tables, results) = (page("tables.md"), page("results.md"));
    let tables = scores(&tables);
    let mut checked = 0;
    let mut lines = results.lines();
    while let Some(line) = lines.next() {
        let mark = line.strip_suffix(" -->");
        let minus = mark.and_then(|mark| mark.strip_prefix("<!-- ours minus paper: "));
        let over = mark.and_then(|mark| mark.strip_prefix("<!-- ours over paper: "));
        let Some(heading) = minus.or(over) else {
            continue;
        };
        let scores = &tables[heading];
        let budgets = cells(lines.next().unwrap());
        lines.next();
        for row in lines.by_ref().take_while(|line| line.starts_with('|')) {
            let row = cells(row);
            for (budget, cell) in budgets.iter().zip(&row).skip(1) {
                let found = ["claimed", "certified"].map(|noise| {
                    let (theirs, ours) = scores.get(&(row[0], *budget, noise))?;
                    Some(match over {
                        None => (ours - theirs, 0.05),
                        Some(_) => (ours / theirs, 0.005),
                    })
                });
                let found: Vec<(f64, f64)> = found.into_iter().flatten().collect();
                let shown: Vec<f64> = (cell.split(" / "))
                    .filter_map(|number| number.replace('−', "-").parse().ok())
                    .collect();
                let place = format!("{heading}, {}, ε = {budget}: {cell}", row[0]);
                assert_eq!(shown.len(), found.len(), "{place}: {found:?}");
                for (shown, (value, rounding)) in shown.iter().zip(found) {
                    assert!((shown - value).abs() <= rounding + 1e-9, "{place}: {value}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 200, "{checked} numbers");
}
