//! Tables with mistakes: of the file, which are refused, and of single records, which are not.

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
    let cases: Vec<(Vec<u8>, &[&str], Vec<&str>)> = vec![
        (
            good.into(),
            &usual[..4],
            vec!["--records", "nothing was spent"],
        ),
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
            b"x,c,\xff\n0.5,p,a\n".to_vec(),
            &usual,
            vec!["line 1", "UTF-8", "nothing was spent"],
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
        (b"".to_vec(), &usual, vec!["empty"]),
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

    // A rule that no private run can keep is refused, whatever the records; the other is what is done anyway.
    fs::write(&file, "x,c,y\nNaN,p,a\n,q,b\n0.1,q\n0.5,p,a\n0.1,q,b\n").unwrap();
    fs::write(&schema, format!("bad-rows = \"error\"\n{declared}")).unwrap();
    refused(
        &[&arguments[..], &usual].concat(),
        &["bad-rows", "tacita check", "Nothing was spent"],
    );
    assert!(!out.exists());
    fs::write(&schema, format!("bad-rows = \"drop\"\n{declared}")).unwrap();
    let output = tacita(&[&arguments[..], &usual].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        json(&out.join("facts.json"))["data"]["public_record_count"],
        2
    );
}

/// An estimate that shows nothing is spent all the same; the run continues with default bounds. Noise alone passes the
/// threshold of one of 241 bins in about one run of ten, so four runs all do in one of ten thousand; seeds are fixed.
#[test]
fn bounds_that_noise_hides_do_not_end_a_run() {
    let folder = empty("own", "hidden");
    let (file, schema) = (folder.join("t.csv"), folder.join("s.toml"));
    fs::write(&file, "x,y\n5,a\n7,b\n").unwrap();
    fs::write(&schema, "[columns.x]\nkind = \"numeric\"\n").unwrap();
    let fixed = "--label y --classes a,b --records 200 --estimate-bounds --noise 2 --steps 2 --batch 10 --quiet";
    let fixed: Vec<&str> = fixed.split(' ').collect();
    let mut hidden = 0;
    for seed in ["1", "2", "3", "4"] {
        let out = folder.join(format!("run-{seed}"));
        let data = ["train", "--csv", path(&file), "--schema", path(&schema)];
        let rest = ["--seed", seed, "--out", path(&out)];
        let output = tacita(&[&data[..], &fixed, &rest].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let facts = json(&out.join("facts.json")).to_string();
        let said = facts.contains("the noise hid where the values of column x lie");
        assert_eq!(said, facts.contains("[-1, 1]"), "{facts}");
        hidden += u32::from(said);
        let resumed = tacita(&["resume", "--quiet", path(&out)]);
        assert!(resumed.status.success(), "{}", text(&resumed.stderr));
    }
    assert!(hidden > 0);
}
