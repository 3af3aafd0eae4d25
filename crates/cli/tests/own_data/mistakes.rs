//! Tables with mistakes.

use crate::common::{empty, json, path, refused, tacita, text};
use std::fs;

#[test]
fn tables_with_mistakes_are_refused_in_words_and_leave_nothing_behind() {
    let folder = empty("own", "mistakes");
    let file = folder.join("t.csv");
    let out = folder.join("run");
    let schema = folder.join("schema.toml");
    let declared = "[columns.x]\nmin = 0\nmax = 1\n[columns.c]\ncategories = [\"p\", \"q\"]\n";
    fs::write(&schema, declared).unwrap();
    let good = "x,c,y\n0.5,p,a\n0.1,q,b\n";
    let arguments = [
        "train",
        "--csv",
        path(&file),
        "--schema",
        path(&schema),
        "--noise",
        "2",
        "--steps",
        "2",
        "--batch",
        "1",
        "--out",
        path(&out),
    ];
    let usual = ["--label", "y", "--classes", "a,b", "--records", "2"];
    let huge = format!("x,c,y\n0.5,\"{},a\n", "p".repeat(3 << 20));
    let cases: Vec<(Vec<u8>, &[&str], Vec<&str>)> = vec![
        (good.into(), &usual[..4], vec!["--records"]),
        (good.into(), &[], vec!["--label"]),
        (
            good.into(),
            &["--label", "y", "--records", "2"],
            vec!["--classes", "not read from private records"],
        ),
        (
            good.into(),
            &["--label", "why", "--classes", "a,b", "--records", "2"],
            vec!["why"],
        ),
        (
            good.into(),
            &["--label", "y", "--classes", "a", "--records", "2"],
            vec!["only one class", "“a”"],
        ),
        (
            good.into(),
            &["--label", "y", "--classes", "a,a", "--records", "2"],
            vec!["twice"],
        ),
        (
            good.into(),
            &["--label", "y", "--classes", "a,bb", "--records", "2"],
            vec!["line 3", "“b”", "“bb”"],
        ),
        (
            b"x,c,y\n0.5,p,a\n0.1,q,a\n".to_vec(),
            &usual,
            vec!["all records have the class “a”"],
        ),
        (
            b"x,c,y\nNaN,p,a\n0.1,q,b\n".to_vec(),
            &usual,
            vec!["line 2", "`x`", "NaN", "bad_rows"],
        ),
        (
            b"x,c,y\n0.5,p,a\n,q,b\n".to_vec(),
            &usual,
            vec!["line 3", "`x` is empty", "bad_rows"],
        ),
        (
            b"x,c,y\n0.5,p,a\nhalf,q,b\n".to_vec(),
            &usual,
            vec!["line 3", "“half”"],
        ),
        (
            b"x,c,y\n0.5,p,a\n0.1,q\n".to_vec(),
            &usual,
            vec!["line 3", "2 fields", "3"],
        ),
        (
            b"x,c,y\n0.5,p,a\n0.1,q,b,c\n".to_vec(),
            &usual,
            vec!["line 3", "4 fields", "3"],
        ),
        (
            b"x,c,y\n0.5,\xff\xfe,a\n0.1,q,b\n".to_vec(),
            &usual,
            vec!["line 2", "UTF-8"],
        ),
        (
            b"x,c,\xff\n0.5,p,a\n".to_vec(),
            &usual,
            vec!["line 1", "UTF-8"],
        ),
        (
            b"x,c,y\n0.5,r,a\n0.1,q,b\n".to_vec(),
            &usual,
            vec!["line 2", "`c`", "“r”"],
        ),
        (
            b"x,cc,y\n0.5,p,a\n0.1,q,b\n".to_vec(),
            &usual,
            vec!["`c`", "“cc”"],
        ),
        (
            b"x,c,d,y\n0.5,p,1,a\n0.1,q,1,b\n".to_vec(),
            &usual,
            vec!["`d` is not declared", "[declared]"],
        ),
        (b"x;c;y\n0.5;p;a\n".to_vec(), &usual, vec!["delimiter"]),
        (
            b"x,x,y\n0.5,p,a\n".to_vec(),
            &usual,
            vec!["two columns named `x`"],
        ),
        (huge.into_bytes(), &usual, vec!["line 2", "quote"]),
        (b"".to_vec(), &usual, vec!["empty"]),
        (b"x,c,y\n".to_vec(), &usual, vec!["no records"]),
        (vec![0, 159, 146, 150], &usual, vec!["t.csv"]),
    ];
    for (content, extra, wanted) in cases {
        fs::write(&file, content).unwrap();
        refused(&[&arguments[..], extra].concat(), &wanted);
        assert!(!out.exists(), "{wanted:?} left a folder");
    }
    fs::write(&file, good).unwrap();
    let larger = [&arguments[..], &usual, &["--batch"]].concat();
    assert_eq!(tacita(&larger).status.code(), Some(2));
    fs::remove_file(&file).unwrap();
    refused(
        &[&arguments[..], &usual].concat(),
        &["there is no file", "t.csv"],
    );

    // Declared so, bad rows are left out, and how many there were is not said.
    fs::write(&file, "x,c,y\nNaN,p,a\n,q,b\n0.1,q\n0.5,p,a\n0.1,q,b\n").unwrap();
    fs::write(&schema, format!("bad_rows = \"drop\"\n{declared}")).unwrap();
    let output = tacita(&[&arguments[..], &usual].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        json(&out.join("facts.json"))["data"]["public_record_count"],
        2
    );
}
