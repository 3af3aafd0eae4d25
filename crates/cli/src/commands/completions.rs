//! `tacita completions`: completions of commands and flags for a shell.

use clap::Command;
use clap_complete::Shell;
use std::io::Write;

/// Arguments of `tacita completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tacita completions bash > ~/.local/share/bash-completion/completions/tacita
  tacita completions zsh > ~/.zfunc/_tacita
  tacita completions fish > ~/.config/fish/completions/tacita.fish")]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs `tacita completions`.
pub fn run(args: &Args, mut command: Command) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "tacita", &mut script);
    // A reader that went away wants no more.
    let _ = std::io::stdout().write_all(&script);
}
