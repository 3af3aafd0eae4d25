//! Accounts: one total for all runs on the same records, whatever happens to the runs, the file and the machine.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{command, empty, json, path, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::thread::sleep;
use std::time::Duration;

/// A user with a state folder of their own.
struct User(PathBuf);

/// A run that costs some tenths of ε.
const SMALL: [&str; 12] = [
    "train",
    "--quiet",
    "--model",
    "logistic",
    "--batch",
    "64",
    "--noise",
    "2",
    "--delta",
    "1e-5",
    "--account",
    "digits",
];

impl User {
    fn new(name: &str) -> Self {
        Self(empty("budget", name))
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = command(arguments);
        command.env("XDG_STATE_HOME", self.0.join("state"));
        command
    }

    fn runs(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.runs(arguments);
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    fn refused(&self, arguments: &[&str], wanted: &[&str]) -> String {
        let output = self.runs(arguments);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        for part in wanted {
            assert!(message.contains(part), "{arguments:?}: {part}: {message}");
        }
        message
    }

    fn opened(name: &str, epsilon: &str) -> Self {
        let user = Self::new(name);
        user.ok(&[
            "budget",
            "digits",
            "--open",
            "--epsilon",
            epsilon,
            "--delta",
            "1e-5",
        ]);
        user
    }

    fn out(&self, name: &str) -> PathBuf {
        self.0.join("runs").join(name)
    }

    /// The arguments of a run.
    fn small<'a>(&self, steps: &'a str, out: &'a Path) -> Vec<&'a str> {
        [&SMALL[..], &["--steps", steps, "--out", path(out)]].concat()
    }

    fn standing(&self) -> Value {
        serde_json::from_str(&self.ok(&["budget", "digits", "--json"])).unwrap()
    }

    fn file(&self) -> PathBuf {
        self.0.join("state/tacita/accounts/digits.jsonl")
    }

    fn heads(&self) -> PathBuf {
        self.0.join("state/tacita/heads")
    }
}

/// The value that follows a flag in a message.
fn hint(message: &str, flag: &str) -> String {
    let (_, rest) = message
        .split_once(flag)
        .unwrap_or_else(|| panic!("{flag}: {message}"));
    let value = rest.trim_start().split([' ', ',', '.']).next().unwrap();
    let rest = &rest.trim_start()[value.len()..];
    // A decimal point is not the end of the sentence.
    match rest.strip_prefix('.') {
        Some(decimals) if decimals.starts_with(|c: char| c.is_ascii_digit()) => {
            let end = decimals
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(decimals.len());
            format!("{value}.{}", &decimals[..end])
        }
        _ => value.to_string(),
    }
}

#[test]
fn a_run_is_reserved_and_one_too_many_is_refused_with_what_would_fit() {
    let user = User::opened("too-many", "1");
    let first = user.out("a");
    user.ok(&user.small("20", &first));
    let standing = user.standing();
    assert_eq!(standing["reserved"], 1);
    let account = &json(&first.join("facts.json"))["account"];
    assert_eq!(
        (&account["epsilon"], &account["reserved"]),
        (&Value::from(1.0), &Value::from(1))
    );
    assert_eq!(account["spent_upper"], standing["spent_upper"]);
    assert!(account["if_fixed_beforehand_upper"].as_f64() < account["spent_upper"].as_f64());
    let page = fs::read_to_string(first.join("report.html")).unwrap();
    assert!(page.contains("All runs on these records") && page.contains("now and later"));

    let before = fs::read(user.file()).unwrap();
    let second = user.out("b");
    let long = user.small("100000", &second);
    let message = user.refused(
        &long,
        &["what fits", "Nothing was spent", "ε = 1 at δ = 1e-5"],
    );
    assert!(!second.exists());
    assert_eq!(fs::read(user.file()).unwrap(), before);

    // What it says fits, and not a step more.
    let steps: u64 = hint(&message, "--steps").parse().unwrap();
    let dry = |steps: u64| {
        let steps = steps.to_string();
        let arguments = [&SMALL[..], &["--steps", &steps, "--dry-run"]].concat();
        user.runs(&arguments)
    };
    assert!(dry(steps).status.success());
    let text = text(&dry(steps).stdout);
    assert!(text.contains("which it has room for"), "{text}");
    assert_eq!(dry(steps + 1).status.code(), Some(2));
    let epsilon = hint(&message, "--epsilon");
    let other = [
        "train",
        "--model",
        "logistic",
        "--batch",
        "64",
        "--delta",
        "1e-5",
        "--account",
        "digits",
        "--steps",
        "100000",
        "--dry-run",
        "--epsilon",
        &epsilon,
    ];
    user.ok(&other);
}

#[test]
fn a_killed_run_stays_reserved_and_is_not_reserved_again_when_it_is_resumed() {
    let user = User::opened("killed", "3");
    let out = user.out("a");
    let mut child = user.command(&user.small("4000", &out)).spawn().unwrap();
    // Until it has made steps, or a minute.
    for _ in 0..600 {
        let ledger = tacita::read_ledger_file(&out.join("ledger.jsonl"));
        if ledger.is_ok_and(|ledger| ledger.released.rounds_made() > 0) {
            break;
        }
        sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let reserved = fs::read(user.file()).unwrap();
    assert_eq!(user.standing()["reserved"], 1);
    user.ok(&["resume", "--quiet", path(&out)]);
    assert_eq!(fs::read(user.file()).unwrap(), reserved);
    // Its whole plan, whatever it made of it.
    let ledger = tacita::read_ledger_file(&out.join("ledger.jsonl")).unwrap();
    assert_eq!(ledger.plan.rounds_made(), 4000);
    assert_eq!(ledger.label.account.unwrap().line, 2);
}

#[test]
fn an_account_that_was_put_back_is_refused_by_its_witness_and_by_the_ledgers_of_runs() {
    let user = User::opened("rollback", "3");
    let (first, second, third) = (user.out("a"), user.out("b"), user.out("c"));
    user.ok(&user.small("5", &first));
    let older = fs::read(user.file()).unwrap();
    user.ok(&user.small("5", &second));
    let newer = fs::read(user.file()).unwrap();
    fs::write(user.file(), &older).unwrap();
    for refused in [user.small("5", &third), vec!["budget", "digits"]] {
        user.refused(
            &refused,
            &["is older than a run", "Restore the newest copy"],
        );
    }
    user.refused(
        &["resume", "--quiet", path(&second)],
        &["is older than a run"],
    );
    // The whole state was put back, or the account is used from another machine.
    fs::remove_dir_all(user.0.join("state/tacita/heads")).unwrap();
    user.refused(&user.small("5", &third), &["is older than a run"]);
    user.refused(
        &["resume", "--quiet", path(&second)],
        &["is older than a run"],
    );
    fs::write(user.file(), newer).unwrap();
    user.ok(&user.small("5", &third));
    assert_eq!(user.standing()["reserved"], 3);
    // Another account under the same name is not the one of the run.
    fs::remove_file(user.file()).unwrap();
    user.ok(&[
        "budget",
        "digits",
        "--open",
        "--epsilon",
        "3",
        "--delta",
        "1e-5",
    ]);
    user.refused(&["resume", "--quiet", path(&second)], &["another account"]);
    // Nor is one that is gone.
    fs::remove_file(user.file()).unwrap();
    user.refused(
        &["resume", "--quiet", path(&second)],
        &["--account FILE", "Nothing more"],
    );
}

/// A folder that is taken away in mid-run looks like one that was never used.
#[test]
fn a_run_whose_folder_is_taken_away_stays_reserved() {
    let user = User::opened("taken-away", "8");
    let out = user.out("a");
    let mut arguments = user.small("200000", &out);
    // So many steps fit the total with this much noise.
    let noise = arguments.iter_mut().find(|word| **word == "2");
    *noise.unwrap() = "300";
    arguments.extend(["--checkpoint-every", "1"]);
    let mut child = user.command(&arguments).spawn().unwrap();
    while !out.join("metrics.jsonl").exists() || json_lines(&out.join("metrics.jsonl")) == 0 {
        sleep(Duration::from_millis(20));
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
    }
    // It writes new files while the old ones go.
    while fs::remove_dir_all(&out).is_err() && out.exists() {}
    assert!(!child.wait().unwrap().success());
    assert_eq!(user.standing()["reserved"], 1);
}

fn json_lines(file: &Path) -> usize {
    fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

/// A copy of a run that gave its reservation back would spend what nobody counts.
#[test]
fn a_copy_of_a_run_that_was_given_back_is_refused() {
    let user = User::opened("copy", "3");
    let out = user.out("a");
    user.ok(&user.small("20", &out));
    let run = json(&out.join("run.json"))["id"].clone();
    let mut account = tacita::Account::open(&user.file(), &user.heads(), &[]).unwrap();
    account.give_back(run.as_str().unwrap()).unwrap();
    drop(account);
    user.refused(
        &["resume", "--quiet", path(&out)],
        &["was given back", "Start a new run"],
    );
}

#[test]
fn runs_started_at_once_do_not_overspend() {
    let user = User::opened("at-once", "1");
    let outs: Vec<PathBuf> = (0..4).map(|index| user.out(&index.to_string())).collect();
    // Each takes more than half.
    let children: Vec<_> = (outs.iter())
        .map(|out| user.command(&user.small("700", out)).spawn().unwrap())
        .collect();
    let ended = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap());
    let made = ended.filter(|output| output.status.success()).count();
    assert_eq!(made, 1);
    assert_eq!(user.standing()["reserved"], 1);
    assert_eq!(outs.iter().filter(|out| out.exists()).count(), 1);
}

#[test]
fn a_run_that_fails_before_it_released_anything_gives_its_reservation_back() {
    let user = User::opened("given-back", "3");
    let folder = user.0.join("data");
    fs::create_dir_all(&folder).unwrap();
    let table = folder.join("t.csv");
    let rows: String = (0..40)
        .map(|i| format!("{i},{}\n", ["a", "b"][i % 2]))
        .collect();
    fs::write(&table, format!("x,y\n{rows}")).unwrap();
    // The record cannot be written where a folder has its name.
    let numeric = folder.join("numeric.toml");
    fs::write(&numeric, "[columns.x]\nkind = \"numeric\"\n").unwrap();
    let out = user.out("a");
    fs::create_dir_all(user.out("a.operator.json")).unwrap();
    let arguments = [
        "train",
        "--quiet",
        "--csv",
        path(&table),
        "--label",
        "y",
        "--classes",
        "a,b",
        "--records",
        "200",
        "--noise",
        "4",
        "--delta",
        "1e-3",
        "--steps",
        "3",
        "--estimate-bounds",
        "--schema",
        path(&numeric),
        "--account",
        "digits",
        "--out",
        path(&out),
    ];
    // With bounds to be estimated something is released before: that stays spent.
    user.refused(&arguments, &["what its ledger holds stays spent"]);
    assert_eq!(user.standing()["reserved"], 1);
    let schema = folder.join("s.toml");
    fs::write(&schema, "[columns.x]\nmin = 0\nmax = 40\n").unwrap();
    let out = user.out("b");
    fs::create_dir_all(user.out("b.operator.json")).unwrap();
    let declared = [
        "train",
        "--quiet",
        // A linear model would release means and spreads first.
        "--model",
        "mlp",
        "--csv",
        path(&table),
        "--label",
        "y",
        "--classes",
        "a,b",
        "--records",
        "40",
        "--noise",
        "4",
        "--delta",
        "1e-3",
        "--steps",
        "3",
        "--schema",
        path(&schema),
        "--account",
        "digits",
        "--out",
        path(&out),
    ];
    user.refused(&declared, &[]);
    assert!(!out.exists());
    assert_eq!(user.standing()["reserved"], 1);
}

#[test]
fn searches_are_reserved_once_as_a_whole() {
    let user = User::opened("searches", "6");
    let space = |mode: &str, varied: &str| {
        let file = user.0.join(format!("{mode}.toml"));
        let text = format!(
            "mode = \"{mode}\"\nchoose-by = \"test-set\"\n{varied}\n[settings]\ndata = \"digits\"\nmodel = \"logistic\"\n\
             epsilon = 1.0\ndelta = 1e-5\nbatch = 64\naccount = \"digits\"\n"
        );
        fs::write(&file, text).unwrap();
        file
    };
    let grid = space("grid", "[grid]\nsteps = [2, 3]");
    let random = space("random", "[random]\nsteps = [2, 3]\n[runs]\nmean = 2.0");
    let mut spent = 0.0;
    for (index, (file, kind)) in [(grid, "grid search"), (random, "random search")]
        .iter()
        .enumerate()
    {
        let out = user.0.join(format!("search-{index}"));
        let arguments = ["tune", path(file), "--out", path(&out), "--quiet"];
        user.ok(&arguments);
        let standing = user.standing();
        assert_eq!(standing["reservations"][index]["kind"], *kind);
        assert_eq!(standing["reserved"], index + 1);
        let now = standing["spent_upper"].as_f64().unwrap();
        assert!(now > spent + 0.3, "{standing}");
        spent = now;
        let report = json(&out.join("report.json"));
        assert_eq!(report["account"]["reserved"], index + 1);
        // Looking at it again costs nothing.
        user.ok(&arguments);
        assert_eq!(user.standing(), standing);
    }
    // A search that does not fit begins nothing.
    let large = user.0.join("large.toml");
    let text = fs::read_to_string(user.0.join("grid.toml")).unwrap();
    fs::write(&large, text.replace("epsilon = 1.0", "epsilon = 20.0")).unwrap();
    let out = user.0.join("search-large");
    user.refused(
        &["tune", path(&large), "--out", path(&out)],
        &["not enough left"],
    );
    assert!(!out.join("runs").exists());
}

#[test]
fn what_was_made_without_the_account_can_be_entered_and_what_cannot_be_counted_is_refused() {
    let user = User::opened("entered", "1");
    let out = user.out("a");
    let without: Vec<&str> = user.small("50", &out).into_iter().collect();
    let without: Vec<&str> = without
        .into_iter()
        .filter(|part| !["--account", "digits"].contains(part))
        .collect();
    user.ok(&without);
    let ledger = out.join("ledger.jsonl");
    user.ok(&["budget", "digits", "--enter", path(&ledger)]);
    let standing = user.standing();
    assert_eq!(standing["reservations"][0]["entered"], true);
    assert_eq!(standing["exceeded"], false);
    // Twice is twice: two runs may have the same plan.
    user.ok(&["budget", "digits", "--enter", path(&ledger)]);
    assert_eq!(user.standing()["reserved"], 2);
    let reserved = user.out("b");
    user.ok(&user.small("5", &reserved));
    let ledger = reserved.join("ledger.jsonl");
    user.refused(
        &["budget", "digits", "--enter", path(&ledger)],
        &["not counted twice"],
    );

    let third = user.out("c");
    let seeded = [&user.small("5", &third)[..], &["--seed", "1"]].concat();
    user.refused(&seeded, &["--seed is not private"]);
    user.refused(
        &[
            "budget",
            "digits",
            "--open",
            "--epsilon",
            "9",
            "--delta",
            "1e-5",
        ],
        &["exists already"],
    );
    user.refused(&["budget", "none"], &["--open --epsilon E --delta D"]);
    user.refused(&["budget", "a b"], &["no name for an account"]);
    assert!(user.ok(&["budget"]).starts_with("digits  ε ≤ "));
}

#[test]
fn a_run_folder_names_its_account_and_not_the_path_of_it() {
    let user = User::new("path");
    let hidden = user.0.join("somewhere-hidden");
    let account = hidden.join("trial.jsonl");
    let open = [
        "budget",
        path(&account),
        "--open",
        "--epsilon",
        "3",
        "--delta",
        "1e-5",
    ];
    user.ok(&open);
    let out = user.out("a");
    let arguments: Vec<&str> = (user.small("5", &out).into_iter())
        .map(|part| {
            if part == "digits" {
                path(&account)
            } else {
                part
            }
        })
        .collect();
    user.ok(&arguments);
    for name in common::files(&out) {
        let content = fs::read(out.join(&name)).unwrap();
        assert!(
            !String::from_utf8_lossy(&content).contains("somewhere-hidden"),
            "{name}"
        );
    }
    let config = fs::read_to_string(out.join("config.toml")).unwrap();
    assert!(config.contains("account = \"trial\""), "{config}");
    // The operator's file knows it.
    user.ok(&["resume", "--quiet", path(&out)]);
    fs::remove_file(user.out("a.operator.json")).unwrap();
    user.refused(&["resume", "--quiet", path(&out)], &["--account FILE"]);
    user.ok(&["resume", "--quiet", path(&out), "--account", path(&account)]);
}
