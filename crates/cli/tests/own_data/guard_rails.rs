//! What is refused or warned of before anything is spent, from public numbers and names alone.

use crate::common::{empty, json, path, printed, refused, tacita, text};
use std::fs;
use std::path::PathBuf;

fn given(name: &str, columns: &str) -> (PathBuf, Vec<String>) {
    let folder = empty("own-guard", name);
    let (csv, schema) = (folder.join("t.csv"), folder.join("s.toml"));
    fs::write(&csv, "x,email,y\n1,e,a\n2,f,b\n").unwrap();
    fs::write(
        &schema,
        format!("{columns}[columns.email]\nkind = \"ignored\"\n"),
    )
    .unwrap();
    let out = folder.join("run");
    let arguments = [
        "train",
        "--csv",
        path(&csv),
        "--schema",
        path(&schema),
        "--label",
        "y",
        "--classes",
        "a,b",
        "--noise",
        "4",
        "--steps",
        "2",
        "--batch",
        "10",
        "--out",
        path(&out),
    ];
    (folder.clone(), arguments.map(str::to_string).to_vec())
}

fn with<'a>(arguments: &'a [String], extra: &[&'a str]) -> Vec<&'a str> {
    let own = arguments.iter().map(String::as_str);
    own.chain(extra.iter().copied()).collect()
}

const BOUNDED: &str = "[columns.x]\nmin = 0\nmax = 10\n";
const UNBOUNDED: &str = "[columns.x]\nkind = \"numeric\"\n";

#[test]
fn a_delta_that_promises_nothing_is_refused_unless_insisted_on() {
    let (folder, arguments) = given("delta", BOUNDED);
    let large = ["--records", "100", "--delta", "0.01"];
    for dry in [&[][..], &["--dry-run"]] {
        let all = with(&arguments, &[&large[..], dry].concat());
        refused(
            &all,
            &[
                "1 / 100 records",
                "--allow-large-delta",
                "Nothing was spent",
            ],
        );
    }
    let out = folder.join("run");
    assert!(!out.exists());
    printed(&with(
        &arguments,
        &[&large[..], &["--allow-large-delta", "--quiet"]].concat(),
    ));
    let caveats = json(&out.join("report.json"))["caveats"].to_string();
    assert!(
        caveats.contains("δ is not below 1 / 100 records"),
        "{caveats}"
    );
    printed(&["resume", path(&out), "--quiet"]);
    // Below it nothing is said.
    fs::remove_dir_all(&out).unwrap();
    printed(&with(
        &arguments,
        &["--records", "100", "--delta", "0.009", "--quiet"],
    ));
    let caveats = json(&out.join("report.json"))["caveats"].to_string();
    assert!(!caveats.contains("is not below 1 /"), "{caveats}");
}

#[test]
fn an_estimate_of_bounds_that_cannot_succeed_is_refused_before_it_is_paid_for() {
    let (folder, arguments) = given("bounds", UNBOUNDED);
    for dry in [&[][..], &["--dry-run"]] {
        let few = [&["--estimate-bounds", "--records", "50"][..], dry].concat();
        refused(
            &with(&arguments, &few),
            &[
                "cannot succeed",
                "more than 67 records, and 50",
                "Nothing was spent",
            ],
        );
    }
    let some = with(
        &arguments,
        &["--estimate-bounds", "--records", "200", "--dry-run"],
    );
    assert!(printed(&some).contains("warning     the noise will perhaps hide"));
    let many = with(
        &arguments,
        &["--estimate-bounds", "--records", "2000", "--dry-run"],
    );
    assert!(!printed(&many).contains("warning"));
    let (_, bounded) = given("bounded", BOUNDED);
    for dry in [&[][..], &["--dry-run"]] {
        let none = [&["--estimate-bounds", "--records", "5000"][..], dry].concat();
        refused(
            &with(&bounded, &none),
            &["nothing to estimate", "Nothing was spent"],
        );
    }
    assert!(!folder.join("run").exists());
}

#[test]
fn a_dry_run_finds_files_that_are_missing_and_models_that_fit_nowhere() {
    let (folder, arguments) = given("dry", BOUNDED);
    let dry = ["--records", "100", "--dry-run"];
    printed(&with(&arguments, &dry));
    let gone = folder.join("gone.csv");
    let test = [&dry[..], &["--public-test", "--test", path(&gone)]].concat();
    refused(&with(&arguments, &test), &["there is no file", "gone.csv"]);
    let huge = [&dry[..], &["--model", "mlp", "--hidden", "2000000000"]].concat();
    refused(
        &with(&arguments, &huge),
        &["parameters", "GiB", "--hidden", "Nothing was spent"],
    );
    fs::remove_file(folder.join("t.csv")).unwrap();
    refused(&with(&arguments, &dry), &["there is no file", "t.csv"]);
    fs::create_dir(folder.join("t.csv")).unwrap();
    refused(
        &with(&arguments, &dry),
        &["there is no CSV file in the folder"],
    );
}

/// The names are public, and the values decide nothing.
#[test]
fn columns_named_like_identifiers_are_warned_of_by_their_names_alone() {
    let warned = |columns: &str, name: &str| {
        let (folder, arguments) = given(name, BOUNDED);
        let schema = folder.join("s.toml");
        fs::write(&schema, columns).unwrap();
        let output = tacita(&with(&arguments, &["--records", "100"]));
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let used = warned(&format!("{BOUNDED}[columns.email]\nbuckets = 4\n"), "email");
    assert!(
        used.contains("warning     column `email` is named like an identifier"),
        "{used}"
    );
    let ignored = warned(
        &format!("{BOUNDED}[columns.email]\nkind = \"ignored\"\n"),
        "no-email",
    );
    assert!(!ignored.contains("warning"), "{ignored}");
}

/// Only the check says it: the run itself is the same.
#[test]
fn a_declared_number_far_from_the_true_one_is_told_by_the_check_alone() {
    let (_, arguments) = given("far", BOUNDED);
    let check: Vec<&str> = ["check"]
        .into_iter()
        .chain(with(&arguments[1..15], &[]))
        .collect();
    let check: Vec<&str> = check
        .into_iter()
        .filter(|argument| *argument != "--out")
        .collect();
    let far = printed(&[&check[..], &["--records", "200"]].concat());
    assert!(
        far.contains("declared: 200, far more than there are"),
        "{far}"
    );
    let near = printed(&[&check[..], &["--records", "2"]].concat());
    assert!(!near.contains("far"), "{near}");
    let output = tacita(&with(&arguments, &["--records", "200"]));
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success() && !said.contains("far more"),
        "{said}"
    );
}

/// The example of the README must not declare private patients public.
#[test]
fn the_first_example_on_own_data_declares_nobody_public() {
    let readme = include_str!("../../../../README.md");
    let section = readme.split("## Your own data").nth(1).unwrap();
    let example = section.split("```").nth(1).unwrap();
    assert!(example.contains("patients.csv") && example.contains("--score-noise"));
    assert!(!example.contains("--public-test"));
}

/// Defaults follow from the budget and the length, so a mistake there must not be told as one of a default.
#[test]
fn a_budget_or_a_length_without_sense_is_named() {
    let folder = empty("own-guard", "sense");
    let (csv, schema) = (folder.join("t.csv"), folder.join("s.toml"));
    fs::write(&csv, "x,y\n1,a\n2,b\n").unwrap();
    let declared = format!("{BOUNDED}[label]\ncolumn = \"y\"\nclasses = [\"a\", \"b\"]\n");
    fs::write(&schema, declared).unwrap();
    let given = [
        "train",
        "--csv",
        path(&csv),
        "--schema",
        path(&schema),
        "--records",
        "300",
    ];
    for (flag, value, expected) in [
        ("--epsilon", "0", "epsilon must be"),
        ("--epsilon", "-1", "epsilon must be"),
        ("--epsilon", "nan", "epsilon must be"),
        ("--delta", "0", "delta"),
        ("--epochs", "0", "epochs"),
        ("--test-share", "1.5", "share"),
    ] {
        for dry in [&[][..], &["--dry-run"]] {
            let output = tacita(&[&given[..], &[flag, value], dry].concat());
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(
                said.contains(expected)
                    && !said.contains("--standardise")
                    && !said.contains("--learning-rate"),
                "{flag} {value}: {said}"
            );
        }
    }
}
