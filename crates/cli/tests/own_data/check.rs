//! `tacita check`: what is wrong with records, for the operator.

use crate::common::{empty, path, printed, refused};
use std::fs;

#[test]
fn check_lists_bad_records_and_shows_what_they_hold_only_on_request() {
    let folder = empty("own", "check");
    let (file, schema) = (folder.join("t.csv"), folder.join("schema.toml"));
    fs::write(&schema, "[columns.x]\nmin = 0\nmax = 10\n").unwrap();
    fs::write(&file, "x,y\n1,p\nSmith,p\n2,p\n3,Jones\n4,p\n").unwrap();
    let arguments = [
        "check",
        "--csv",
        path(&file),
        "--schema",
        path(&schema),
        "--label",
        "y",
        "--classes",
        "p,q",
        "--records",
        "5",
        "--test-share",
        "0.000001",
    ];
    let said = printed(&arguments);
    assert!(said.starts_with("NOT PRIVATE"), "{said}");
    for part in [
        "2 cannot be used",
        "t.csv, line 3: column `x` is not a number",
        "t.csv, line 5: the class in `y` is not one of the declared classes",
        "To train on: 3 records",
        "p: 3",
        "q: 0",
        "declared: 5",
        "To test on: 0 records",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("Smith") && !said.contains("Jones"), "{said}");
    let shown = printed(&[&arguments[..], &["--show-values"]].concat());
    assert!(
        shown.contains("“Smith”") && shown.contains("“Jones”"),
        "{shown}"
    );
    let few = printed(&[&arguments[..], &["--most", "1"]].concat());
    assert!(few.contains("and 1 more"), "{few}");
    // It leaves nothing behind.
    assert_eq!(crate::common::files(&folder).len(), 2);

    // What is wrong with the file as a whole is an error, here as in training.
    fs::write(&file, "z,y\n1,p\n").unwrap();
    refused(&arguments, &["`x`"]);
    refused(&["check", "--data", "digits"], &["your own data"]);
}
