//! Neighbouring data sets by other ways than tables in CSV: Parquet, JSON lines, bounds that are estimated, accounts,
//! searches, runs that are resumed. No record decides whether a command ends well, what it says, or which files it leaves.

use crate::common::{command, empty, files, path, tacita, text};
use crate::neighbours::{PRIVATE_SCORE, assert_alike};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A row of a Parquet file; what is none is null.
#[derive(Clone, Copy)]
struct Row<'a> {
    age: Option<f64>,
    visits: Option<u64>,
    day: Option<i64>,
    cost: Option<i32>,
    ward: Option<&'a [u8]>,
    outcome: Option<&'a [u8]>,
}

const USUAL: Row<'static> = Row {
    age: Some(40.0),
    visits: Some(3),
    day: Some(1_593_604_800_000),
    cost: Some(5),
    ward: Some(b"north"),
    outcome: Some(b"a"),
};

fn parquet_file(file: &Path, rows: &[Row<'_>]) {
    let schema = "message table {
        OPTIONAL DOUBLE age; OPTIONAL INT64 visits (INTEGER(64,false)); OPTIONAL INT64 day (TIMESTAMP(MILLIS,true));
        OPTIONAL INT32 cost (DECIMAL(1,1)); OPTIONAL BINARY ward (UTF8); OPTIONAL BINARY outcome (UTF8);
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = fs::File::create(file).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    macro_rules! column {
        ($kind:ty, $of:expr) => {{
            let values: Vec<Option<_>> = rows.iter().map($of).collect();
            let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
            let there: Vec<_> = values.into_iter().flatten().collect();
            let mut column = group.next_column().unwrap().unwrap();
            let typed = column.typed::<$kind>();
            typed.write_batch(&there, Some(&levels), None).unwrap();
            column.close().unwrap();
        }};
    }
    let bytes = |bytes: &[u8]| ByteArray::from(bytes.to_vec());
    column!(DoubleType, |row: &Row<'_>| row.age);
    column!(Int64Type, |row: &Row<'_>| row
        .visits
        .map(|value| value as i64));
    column!(Int64Type, |row: &Row<'_>| row.day);
    column!(Int32Type, |row: &Row<'_>| row.cost);
    column!(ByteArrayType, |row: &Row<'_>| row.ward.map(bytes));
    column!(ByteArrayType, |row: &Row<'_>| row.outcome.map(bytes));
    group.close().unwrap();
    writer.close().unwrap();
}

const PARQUET_SCHEMA: &str = "[columns.age]\nmin = 0\nmax = 100\n[columns.visits]\nmin = 0\nmax = 9\n\
    [columns.day]\nkind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2021-01-01\"\ncycles = [\"hour\"]\n\
    [columns.cost]\nmin = 0\nmax = 1\n[columns.ward]\nbuckets = 4\n";

/// What a file of 40 rows of both classes may hold besides, in one record.
fn parquet_files(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let long = vec![b'x'; 3 << 20];
    let row = |at: usize| Row {
        age: Some((at % 10) as f64),
        visits: Some(at as u64 % 7),
        outcome: Some([&b"a"[..], b"b"][at % 2]),
        ..USUAL
    };
    let all: Vec<Row<'_>> = (0..40).map(row).collect();
    let with = |one: Row<'static>| [&all[..], &[one]].concat();
    let first = |one: Row<'static>| [&[one], &all[..]].concat();
    let nothing = Row {
        age: None,
        visits: None,
        day: None,
        cost: None,
        ward: None,
        outcome: None,
    };
    let one_class = |last: &[Row<'static>]| {
        let rows = (0..40).map(|at| Row {
            outcome: Some(b"a"),
            ..row(at)
        });
        rows.chain(last.iter().copied()).collect::<Vec<_>>()
    };
    let other = Row {
        outcome: Some(b"b"),
        ..USUAL
    };
    let mut too_long = all.clone();
    too_long.push(Row {
        ward: Some(&long),
        ..USUAL
    });
    let cases = [
        ("all", all.clone()),
        ("a record more", with(USUAL)),
        ("a record less", all[1..].to_vec()),
        ("nothing but nulls in one", with(nothing)),
        ("nothing but nulls in the first", first(nothing)),
        (
            "no number",
            with(Row {
                age: Some(f64::NAN),
                ..USUAL
            }),
        ),
        (
            "an infinite number",
            first(Row {
                age: Some(f64::INFINITY),
                ..USUAL
            }),
        ),
        (
            "a huge number",
            with(Row {
                age: Some(f64::MAX),
                ..USUAL
            }),
        ),
        (
            "a number of 64 bits without a sign",
            with(Row {
                visits: Some(u64::MAX),
                ..USUAL
            }),
        ),
        (
            "a moment far away",
            first(Row {
                day: Some(i64::MIN),
                ..USUAL
            }),
        ),
        (
            "a decimal of too many digits",
            with(Row {
                cost: Some(i32::MIN),
                ..USUAL
            }),
        ),
        (
            "a text that is not UTF-8",
            with(Row {
                ward: Some(b"\xff"),
                ..USUAL
            }),
        ),
        (
            "a class that is not UTF-8",
            with(Row {
                outcome: Some(b"\xff"),
                ..USUAL
            }),
        ),
        (
            "an empty class",
            with(Row {
                outcome: Some(b""),
                ..USUAL
            }),
        ),
        (
            "a class that was not declared",
            first(Row {
                outcome: Some(b"c"),
                ..USUAL
            }),
        ),
        ("a very long text", too_long),
        ("one class", one_class(&[])),
        ("one record of the other class", one_class(&[other])),
        ("one record", vec![USUAL]),
        ("none", Vec::new()),
    ];
    let write = |(index, (what, rows)): (usize, (&'static str, Vec<Row<'_>>))| {
        let file = folder.join(format!("{index}.parquet"));
        parquet_file(&file, &rows);
        (what, file)
    };
    cases.into_iter().enumerate().map(write).collect()
}

#[test]
fn parquet_files_that_differ_by_a_record_leave_the_same_behind() {
    let folder = empty("neighbour-ways", "parquet");
    let contents = parquet_files(&folder);
    let schema = folder.join("schema.toml");
    fs::write(&schema, PARQUET_SCHEMA).unwrap();
    let arguments = |file: &Path| {
        let fixed = [
            "--schema",
            path(&schema),
            "--label",
            "outcome",
            "--classes",
            "a,b",
        ];
        let all = [&["--parquet", path(file)], &fixed[..], &PRIVATE_SCORE].concat();
        all.iter().map(ToString::to_string).collect()
    };
    assert_alike("parquet-runs", &contents, arguments);
}

/// Lines of tables, the first of them and one in between being odd.
fn json_files(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let line = |at: usize| {
        format!(
            "{{\"x\": {}, \"y\": \"{}\"}}\n",
            at % 10,
            ["a", "b"][at % 2]
        )
    };
    let all: Vec<u8> = (0..40).map(line).collect::<String>().into_bytes();
    let with = |one: &[u8]| [&all[..], one, b"\n"].concat();
    let first = |one: &[u8]| [one, b"\n", &all].concat();
    let cases = [
        ("all", all.clone()),
        ("a record more", with(b"{\"x\": 1, \"y\": \"a\"}")),
        ("an empty object first", first(b"{}")),
        ("not JSON first", first(b"x")),
        ("a byte order mark first", first(b"\xff\xfe")),
        (
            "a byte order mark of the other order first",
            first(b"\xfe\xff\0x"),
        ),
        (
            "other fields first",
            first(b"{\"u\": [1], \"x\": 1, \"y\": \"a\"}"),
        ),
        ("a list", with(b"{\"x\": [1], \"y\": \"a\"}")),
        ("a huge number", with(b"{\"x\": 1e999, \"y\": \"a\"}")),
        ("a number as a class", with(b"{\"x\": 1, \"y\": 7}")),
        ("deep nesting", with(&b"[".repeat(1 << 18))),
        ("not UTF-8", with(b"{\"x\": 1, \"y\": \"\xff\"}")),
        ("a NUL byte", with(b"{\"x\": 1, \"y\": \"a\0\"}")),
        ("none", Vec::new()),
    ];
    let write = |(index, (what, lines)): (usize, (&'static str, Vec<u8>))| {
        let file = folder.join(format!("{index}.jsonl"));
        fs::write(&file, lines).unwrap();
        (what, file)
    };
    cases.into_iter().enumerate().map(write).collect()
}

#[test]
fn tables_in_json_lines_that_differ_by_a_record_leave_the_same_behind() {
    let folder = empty("neighbour-ways", "json");
    let contents = json_files(&folder);
    let schema = folder.join("schema.toml");
    fs::write(&schema, "[columns.x]\nmin = 0\nmax = 10\n").unwrap();
    let arguments = |file: &Path| {
        let fixed = [
            "--schema",
            path(&schema),
            "--label",
            "y",
            "--classes",
            "a,b",
        ];
        let all = [&["--jsonl", path(file)], &fixed[..], &PRIVATE_SCORE].concat();
        all.iter().map(ToString::to_string).collect()
    };
    assert_alike("json-runs", &contents, arguments);
}

/// How a command ended, and the files it left, without what was released.
#[derive(Debug, PartialEq)]
struct Outline {
    status: Option<i32>,
    files: BTreeSet<String>,
    ledger_lines: usize,
}

fn outline(arguments: &[&str], out: &Path, state: &Path) -> Outline {
    let mut command = command(arguments);
    let output = command.env("XDG_STATE_HOME", state).output().unwrap();
    let said = text(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    let ledger = fs::read_to_string(out.join("ledger.jsonl")).unwrap_or_default();
    Outline {
        status: output.status.code(),
        files: files(out),
        ledger_lines: ledger.lines().count(),
    }
}

fn assert_all_equal(outlines: Vec<(&str, Outline)>) {
    let (_, first) = &outlines[0];
    for (what, outline) in &outlines {
        assert_eq!(first, outline, "{what}");
    }
}

const FEW: [&str; 8] = [
    "--label",
    "outcome",
    "--classes",
    "a,b",
    "--steps",
    "2",
    "--batch",
    "20",
];

/// Bounds that are estimated, columns that are standardised, a private score, and an account that pays for all of it.
#[test]
fn bounds_standards_scores_and_accounts_end_alike_on_neighbours() {
    let folder = empty("neighbour-ways", "statistics");
    let schema = folder.join("schema.toml");
    let pending = PARQUET_SCHEMA.replace(
        "[columns.age]\nmin = 0\nmax = 100\n",
        "[columns.age]\nkind = \"numeric\"\n",
    );
    fs::write(&schema, format!("records = 2000\n{pending}")).unwrap();
    let state = folder.join("state");
    let mut outlines = Vec::new();
    for (index, (what, file)) in parquet_files(&folder).into_iter().enumerate() {
        let account = folder.join(format!("account-{index}.jsonl"));
        let opened = [
            "budget",
            path(&account),
            "--open",
            "--epsilon",
            "9",
            "--delta",
            "1e-5",
        ];
        let opened = command(&opened)
            .env("XDG_STATE_HOME", &state)
            .output()
            .unwrap();
        assert!(opened.status.success(), "{}", text(&opened.stderr));
        let out = folder.join(format!("run-{index}"));
        let data = ["train", "--parquet", path(&file), "--schema", path(&schema)];
        let rest = [
            "--estimate-bounds",
            "--noise",
            "4",
            "--delta",
            "1e-6",
            "--account",
            path(&account),
        ];
        let arguments = [
            &data[..],
            &FEW,
            &rest,
            &PRIVATE_SCORE,
            &["--out", path(&out)],
        ]
        .concat();
        outlines.push((what, outline(&arguments, &out, &state)));
        assert_eq!(
            fs::read_to_string(&account).unwrap().lines().count(),
            2,
            "{what}"
        );
    }
    assert_all_equal(outlines);
}

/// A run that died after its statistics is resumed on data that differ by a record.
#[test]
fn resumed_runs_end_alike_on_neighbours() {
    let folder = empty("neighbour-ways", "resumed");
    let schema = folder.join("schema.toml");
    fs::write(&schema, format!("records = 40\n{PARQUET_SCHEMA}")).unwrap();
    let contents = parquet_files(&folder);
    let begun = folder.join("begun");
    let data = [
        "train",
        "--parquet",
        path(&contents[0].1),
        "--schema",
        path(&schema),
    ];
    let rest = ["--noise", "4", "--delta", "1e-3", "--quiet"];
    let made = tacita(
        &[
            &data[..],
            &FEW,
            &rest,
            &PRIVATE_SCORE,
            &["--out", path(&begun)],
        ]
        .concat(),
    );
    assert!(made.status.success(), "{}", text(&made.stderr));
    let ledger = fs::read_to_string(begun.join("ledger.jsonl")).unwrap();
    // The plan, the record and the round of the statistics.
    let lines: Vec<&str> = ledger.lines().take(3).collect();
    let mut outlines = Vec::new();
    for (index, (what, file)) in contents.iter().enumerate() {
        let out = folder.join(format!("run-{index}"));
        fs::create_dir(&out).unwrap();
        for kept in ["run.json", "config.toml"] {
            fs::copy(begun.join(kept), out.join(kept)).unwrap();
        }
        fs::write(out.join("ledger.jsonl"), lines.join("\n") + "\n").unwrap();
        let arguments = ["resume", path(&out), "--data", path(file)];
        outlines.push((*what, outline(&arguments, &out, &folder)));
    }
    assert_all_equal(outlines);
}

/// The best of a grid by a private score.
#[test]
fn searches_end_alike_on_neighbours() {
    let folder = empty("neighbour-ways", "searches");
    let schema = folder.join("schema.toml");
    fs::write(&schema, format!("records = 40\n{PARQUET_SCHEMA}")).unwrap();
    let mut outlines = Vec::new();
    for (index, (what, file)) in parquet_files(&folder).into_iter().enumerate() {
        let (space, out) = (
            folder.join(format!("{index}.toml")),
            folder.join(format!("{index}")),
        );
        let text = format!(
            "mode = \"grid\"\nchoose-by = \"noisy-count\"\n[settings]\nparquet = {file:?}\nschema = {schema:?}\n\
             label = \"outcome\"\nclasses = [\"a\", \"b\"]\nepsilon = 4.0\ndelta = 1e-3\nbatch = 20\ntest-share = 0.3\n\
             score-noise = 20.0\n[grid]\nsteps = [2, 3]\n"
        );
        fs::write(&space, text).unwrap();
        let arguments = ["tune", path(&space), "--out", path(&out)];
        outlines.push((what, outline(&arguments, &out, &folder)));
    }
    assert_all_equal(outlines);
}
