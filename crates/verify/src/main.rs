//! The command `tacita-verify`.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use tacita_verify::{PrivateKey, PublicKey, Standing, Verdict, VerifyError, check, sign, verify};

const USAGE: &str = "\
Checks what a run folder of Tacita claims.

  tacita-verify RUN                                   checks a run folder
  tacita-verify RUN --statement FILE --key PUBLIC     the same, and what was signed about it
  tacita-verify sign RUN --key PRIVATE --out FILE     signs what is found, if all is in order
  tacita-verify new-key PRIVATE PUBLIC                makes a key; neither file may exist

Keys are Ed25519 in PEM files, as OpenSSL has them. Status: 0 if all is in order, 1 if not, 2 for bad usage.
";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&Path> = arguments.iter().map(Path::new).collect();
    let flag = |word: &Path, flag: &str| word == Path::new(flag);
    let done = match words.as_slice() {
        [command, run, key, private, out, file]
            if flag(command, "sign") && flag(key, "--key") && flag(out, "--out") =>
        {
            signed(run, private, file)
        }
        [command, private, public] if flag(command, "new-key") => {
            PrivateKey::create(private, public).map(|_| ExitCode::SUCCESS)
        }
        [run, statement, file, key, public]
            if flag(statement, "--statement") && flag(key, "--key") =>
        {
            checked(run, file, public)
        }
        [run] if !run.to_string_lossy().starts_with('-') => {
            verify(run).map(|verdict| told(&verdict))
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    done.unwrap_or_else(|error| {
        eprintln!("REFUSED  {error}");
        ExitCode::FAILURE
    })
}

fn signed(run: &Path, private: &Path, out: &Path) -> Result<ExitCode, VerifyError> {
    let statement = sign(run, &PrivateKey::read(private)?)?;
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(out);
    let written =
        written.and_then(|mut file| std::io::Write::write_all(&mut file, statement.as_bytes()));
    written.map_err(|source| VerifyError::Io {
        action: "create",
        path: out.into(),
        source,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn checked(run: &Path, statement: &Path, public: &Path) -> Result<ExitCode, VerifyError> {
    let statement = std::fs::read(statement).map_err(|source| VerifyError::Io {
        action: "read",
        path: statement.into(),
        source,
    })?;
    Ok(told(&check(run, &statement, &PublicKey::read(public)?)?))
}

fn told(verdict: &Verdict) -> ExitCode {
    for finding in &verdict.findings {
        println!("{:9} {}", finding.standing.word(), finding.text);
    }
    match verdict.holds() {
        true => {
            println!(
                "\nIn order, as far as a folder can show: see what is {} and {}.",
                Standing::Declared.word(),
                Standing::Claimed.word()
            );
            ExitCode::SUCCESS
        }
        false => {
            println!("\nNOT in order.");
            ExitCode::FAILURE
        }
    }
}
