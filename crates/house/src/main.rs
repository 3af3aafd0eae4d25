//! `cargo run -p tacita-house`: prints what is wrong with the repository in the current folder.
//! `… -- trusted-base --write` refreshes the numbers on the page of the trusted base.

use anyhow::{Result, bail};
use std::process::ExitCode;
use tacita_house::repository::Repository;
use tacita_house::{
    constants, links, named_tests, order, places, rust_version, trusted_base, words,
};

fn main() -> Result<ExitCode> {
    let repository = Repository::open(std::env::current_dir()?)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => print_problems(&repository),
        ["trusted-base", "--write"] => {
            trusted_base::write(&repository)?;
            Ok(ExitCode::SUCCESS)
        }
        _ => bail!("usage: tacita-house [trusted-base --write], got {arguments:?}"),
    }
}

/// Lists what is wrong.
type Check = fn(&Repository) -> Result<Vec<String>>;

fn print_problems(repository: &Repository) -> Result<ExitCode> {
    let checks: [(&str, Check); 8] = [
        ("module order", order::problems),
        ("trusted base", trusted_base::problems),
        ("links and paths", links::problems),
        ("named tests", named_tests::problems),
        ("constants", constants::problems),
        ("minimum Rust version", rust_version::problems),
        ("words", words::problems),
        ("local paths", places::problems),
    ];
    let mut code = ExitCode::SUCCESS;
    for (name, check) in checks {
        let problems = check(repository)?;
        println!(
            "{name}: {}",
            if problems.is_empty() {
                "fine"
            } else {
                "not so"
            }
        );
        for problem in problems {
            println!("  {problem}");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}
