//! The beginning of a schema.

use crate::common::{empty, path, printed, refused, tacita, text};
use std::fs;

const PATIENTS: &str = "patient_id,age,\"ward, floor\",date,y\n1,47,north,2024-05-01,ill\n2,51,south,2024-06-01,well\n3,,north,2024-07-01,ill\n";

#[test]
fn a_skeleton_says_nothing_of_the_values() {
    let folder = empty("own-schema", "skeleton");
    let file = folder.join("p.csv");
    fs::write(&file, PATIENTS).unwrap();
    let said = printed(&["schema", path(&file), "--label", "y"]);
    for part in [
        "column = \"y\"",
        "[columns.patient_id]\nkind = \"ignored\"",
        "[columns.age]\n# min",
        "[columns.\"ward, floor\"]",
        "[columns.date]",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for value in ["47", "north", "2024", "well"] {
        assert!(!said.contains(value), "{value}: {said}");
    }
    // The same whatever the values are.
    fs::write(&file, PATIENTS.replace("north", "west").replace("47", "-1")).unwrap();
    assert_eq!(printed(&["schema", path(&file), "--label", "y"]), said);
    fs::write(&file, PATIENTS.lines().next().unwrap()).unwrap();
    assert_eq!(printed(&["schema", path(&file), "--label", "y"]), said);
    refused(&["schema", path(&file), "--label", "z"], &["no column `z`"]);
    refused(&["schema", path(&folder)], &["is a folder", "image ="]);
    refused(&["schema", "/nonexistent.csv"], &["there is no file"]);

    // What is not filled in is asked for, so that nothing is declared by accident.
    let schema = folder.join("s.toml");
    printed(&[
        "schema",
        path(&file),
        "--label",
        "y",
        "--out",
        path(&schema),
    ]);
    assert_eq!(fs::read_to_string(&schema).unwrap(), said);
    refused(
        &["schema", path(&file), "--out", path(&schema)],
        &["s.toml exists already"],
    );
    let train = [
        "train",
        "--csv",
        path(&file),
        "--schema",
        path(&schema),
        "--records",
        "9",
    ];
    refused(
        &[&train[..], &["--classes", "ill,well"]].concat(),
        &["column `age`", "declare"],
    );
}

#[test]
fn values_are_looked_at_only_if_asked_for_and_that_is_said() {
    let folder = empty("own-schema", "looked");
    let file = folder.join("p.csv");
    fs::write(&file, PATIENTS).unwrap();
    let output = tacita(&["schema", path(&file), "--label", "y", "--look-at-values"]);
    assert!(output.status.success());
    let (said, told) = (text(&output.stdout), text(&output.stderr));
    assert!(
        told.starts_with("NOT PRIVATE: looked at all values of 5 columns"),
        "{told}"
    );
    assert!(said.starts_with("# NOT PRIVATE"), "{said}");
    for part in [
        "classes = [\"ill\", \"well\"]",
        "min = 47\nmax = 51\n# 1 values are missing",
        "categories = [\"north\", \"south\"]",
        "kind = \"date\"\nmin = \"2024-05-01\"\nmax = \"2024-07-01\"",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // It can be trained on as it is.
    let schema = folder.join("s.toml");
    fs::write(&schema, &said).unwrap();
    let train = [
        "train",
        "--csv",
        path(&file),
        "--schema",
        path(&schema),
        "--records",
        "9",
        "--quiet",
    ];
    let rest = ["--noise", "4", "--steps", "2", "--out"];
    printed(&[&train[..], &rest, &[path(&folder.join("run"))]].concat());
}

/// Two tables of one name would be no TOML.
#[test]
fn a_header_with_a_name_twice_is_refused() {
    let folder = empty("own", "skeleton-twice");
    let file = folder.join("t.csv");
    fs::write(&file, "a,b,a\n1,2,3\n").unwrap();
    let expected = ["t.csv", "two columns named `a`", "rename one"];
    refused(&["schema", path(&file)], &expected);
}
