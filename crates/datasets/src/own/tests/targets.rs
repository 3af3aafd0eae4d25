//! Numbers, labels and weights: what is read, what becomes of it, and what is left out.

use super::*;
use crate::records::Targets;
use crate::target::Truth;
use crate::{LabelSchema, NumberLoss, Schema, Target, TargetKind};

fn label(text: &str) -> LabelSchema {
    let schema: Schema = toml::from_str(&format!("[label]\n{text}")).unwrap();
    schema.label
}

#[test]
fn numbers_are_clamped_and_scaled() {
    let target = label("column = \"y\"\nmin = -10\nmax = 30\nloss = \"huber\"")
        .target()
        .unwrap();
    let fields = ["y".to_string()];
    for (value, scaled) in [
        ("-10", 0.0),
        (" 10 ", 0.5),
        ("30", 1.0),
        ("1e9", 1.0),
        ("-1e9", 0.0),
        ("0", 0.25),
    ] {
        assert_eq!(
            target.read(&[value], &fields).unwrap(),
            Truth::Number(scaled),
            "{value}"
        );
    }
    for bad in ["", "ten", "nan", "inf"] {
        let error = target.read(&[bad], &fields).unwrap_err();
        assert!(error.is::<crate::bad_record::BadRecord>());
        assert!(
            bad.is_empty() || !error.to_string().contains("ten"),
            "{error}"
        );
    }
    let Target::Number(number) = target else {
        panic!("a number")
    };
    assert_eq!(number.loss, NumberLoss::Huber);
    assert_eq!(number.unscaled(0.5), 10.0);
}

#[test]
fn labels_are_read_from_columns_and_from_lists() {
    let declared = label("columns = [\"a\", \"b\"]");
    let columns = declared.target().unwrap();
    let fields = declared.fields("column").unwrap();
    assert_eq!(fields, ["a", "b"]);
    assert_eq!(
        columns.read(&["1", " No"], &fields).unwrap(),
        Truth::Labels(vec![1, 0])
    );
    assert!(columns.read(&["1", "maybe"], &fields).is_err());
    let listed = label("column = \"y\"\nseparator = \";\"\nclasses = [\"a\", \"b\"]")
        .target()
        .unwrap();
    let fields = ["y".to_string()];
    for (value, set) in [
        ("a;b", [1, 1]),
        ("", [0, 0]),
        (" b ;", [0, 1]),
        ("a;a", [1, 0]),
    ] {
        assert_eq!(
            listed.read(&[value], &fields).unwrap(),
            Truth::Labels(set.to_vec()),
            "{value}"
        );
    }
    assert!(listed.read(&["a;c"], &fields).is_err());
    assert_eq!(
        (columns.kind(), listed.kind()),
        (TargetKind::Labels, TargetKind::Labels)
    );
}

#[test]
fn weights_lie_between_nothing_and_one() {
    let schema = "column = \"y\"\nclasses = [\"a\", \"b\"]\nclass-weights = [1.0, 4.0]\nweight = \"w\"\nweight-max = 10";
    let label = label(schema);
    let weighting = label.weighting().unwrap();
    let of = |class, weight| weighting.of(&Truth::Class(class), Some(weight)).unwrap();
    assert_eq!(of(1, "10"), 1.0);
    assert_eq!(of(1, "1000"), 1.0);
    assert_eq!(of(0, "5"), 0.125);
    assert_eq!(of(1, "0"), 0.0);
    for bad in ["", "-1", "nan", "much"] {
        assert!(weighting.of(&Truth::Class(0), Some(bad)).is_err(), "{bad}");
    }
}

/// A table in JSON lines may list labels as JSON does.
#[test]
fn labels_of_a_table_in_json_lines_may_be_a_list() {
    let schema = "[label]\ncolumn = \"y\"\nkind = \"labels\"\nclasses = [\"a\", \"b\"]\n[columns.x]\nmin = 0\nmax = 4\n";
    let lines = "{\"x\": 1, \"y\": [\"b\"]}\n{\"x\": 2, \"y\": \"a|b\"}\n{\"x\": 3, \"y\": []}\n\
                 {\"x\": 3, \"y\": [\"c\"]}\n{\"x\": 3, \"y\": [\"a|b\"]}\n{\"x\": 3, \"y\": [1]}\n{\"x\": [1], \"y\": []}\n";
    let folder = Folder::new();
    let file = folder.write("t.jsonl", lines);
    let (data, bad) = listed(
        |options| open(&Source::JsonTable { file: file.clone() }, options),
        schema,
    );
    let bad: Vec<_> = bad.iter().filter_map(|bad| bad.line).collect();
    assert_eq!(bad, [4, 5, 6, 7]);
    let target = options(schema).schema.label.target().unwrap();
    let mut wanted = Targets::of(&target);
    for set in [[0, 1], [1, 1], [0, 0]] {
        wanted.push(Truth::Labels(set.to_vec()), None).unwrap();
    }
    assert_eq!(*data.training.targets().unwrap(), wanted);
}
