#![allow(clippy::unwrap_used)]

use super::*;
use crate::preparation::fact::Basis;
use crate::testkit::message;

fn cells(column: &Column, text: &str) -> anyhow::Result<Vec<f32>> {
    let mut cells = Vec::new();
    let read = column.read(Value::Text(text), &MissingValues::default())?;
    column.push(read, &mut cells);
    assert_eq!(cells.len(), column.cells().len());
    Ok(cells)
}

fn numeric(missing: Option<Missing>) -> Column {
    let encoding = Encoding::Numeric {
        min: 0.0,
        max: 10.0,
        basis: Basis::Declared,
    };
    Column {
        missing,
        ..Column::new("x", encoding)
    }
}

#[test]
fn a_missing_number_becomes_what_is_declared() {
    let fill = Missing::Fill { value: 2.0 };
    let (middle, marked) = (
        Missing::Indicator { value: None },
        Missing::Indicator { value: Some(1.0) },
    );
    for text in ["", "NA", "na", "NaN", "nan", "null", "NULL", "?", "n/a"] {
        assert!(cells(&numeric(None), text).is_err());
        assert!(cells(&numeric(Some(Missing::Drop)), text).is_err());
        assert_eq!(cells(&numeric(Some(fill)), text).unwrap(), [0.2]);
        assert_eq!(cells(&numeric(Some(middle)), text).unwrap(), [0.5, 1.0]);
        assert_eq!(cells(&numeric(Some(marked)), text).unwrap(), [0.1, 1.0]);
    }
    assert_eq!(cells(&numeric(Some(marked)), "4").unwrap(), [0.4, 0.0]);
    assert_eq!(cells(&numeric(Some(marked)), "-0").unwrap(), [0.0, 0.0]);
    // What is no number at all is not missing, but wrong.
    for text in ["x", "inf", "-Infinity", "1e400", "1,5", "--", "none"] {
        assert!(cells(&numeric(Some(fill)), text).is_err(), "{text}");
    }
}

#[test]
fn declared_missing_values_take_the_place_of_the_usual_ones() {
    let missing: MissingValues = vec!["-999".to_string(), "unknown".into()].into();
    let column = numeric(Some(Missing::Fill { value: 5.0 }));
    for value in [
        Value::Text("-999"),
        Value::Text("Unknown"),
        Value::Number(-999.0),
        Value::Integer(-999),
        Value::Number(f64::NAN),
        Value::None,
    ] {
        assert_eq!(
            column.read(value, &missing).unwrap(),
            Some(5.0),
            "{value:?}"
        );
    }
    assert!(column.read(Value::Text("NA"), &missing).is_err());
}

#[test]
fn unknown_categories_are_others_and_missing_ones_their_own_if_declared() {
    let categories = vec!["a".to_string(), "?".into()];
    let encoding = |other| Encoding::Categorical {
        categories: categories.clone(),
        other,
    };
    let plain = Column::new("c", encoding(false));
    assert_eq!(cells(&plain, "?").unwrap(), [1.0], "a declared category");
    let refused = message(cells(&plain, "b"));
    assert_eq!(refused, "column `c` is not one of the declared categories");
    assert_eq!(message(cells(&plain, "")), "column `c` is empty");
    let mut other = Column::new("c", encoding(true));
    assert_eq!(cells(&other, "b").unwrap(), [2.0]);
    // A missing value is not a category that was not declared.
    assert!(cells(&other, "NA").is_err());
    other.missing = Some(Missing::Category);
    assert_eq!(
        (cells(&other, "NA").unwrap(), other.width()),
        (vec![3.0], 4)
    );
    other.missing = Some(Missing::Fill { value: 0.0 });
    assert_eq!((cells(&other, "").unwrap(), other.width()), (vec![0.0], 3));
}

#[test]
fn hashed_columns_take_missing_values_as_texts_unless_declared() {
    let mut column = Column::new("h", Encoding::Hashed { buckets: 5 });
    assert!(cells(&column, "").unwrap()[0] < 5.0);
    assert_eq!(column.width(), 5);
    column.missing = Some(Missing::Category);
    assert_eq!(
        (cells(&column, "").unwrap(), column.width()),
        (vec![5.0], 6)
    );
    column.missing = Some(Missing::Drop);
    assert!(cells(&column, "").is_err());
}

#[test]
fn orders_and_booleans_are_numbers_between_0_and_1() {
    let order = ["low", "mid", "high"].map(str::to_string).to_vec();
    let ordinal = Column::new("o", Encoding::Ordinal { order });
    assert_eq!(cells(&ordinal, "mid").unwrap(), [0.5]);
    assert_eq!(cells(&ordinal, "high").unwrap(), [1.0]);
    assert!(cells(&ordinal, "higher").is_err());
    let boolean = Column::new("b", Encoding::Boolean);
    for (text, value) in [
        ("TRUE", 1.0),
        ("Yes", 1.0),
        ("y", 1.0),
        ("1", 1.0),
        ("1.0", 1.0),
        ("0.0", 0.0),
        ("off", 0.0),
        ("F", 0.0),
    ] {
        assert_eq!(cells(&boolean, text).unwrap(), [value], "{text}");
    }
    assert!(cells(&boolean, "2").is_err() && cells(&boolean, "").is_err());
}

#[test]
fn dates_have_a_place_in_their_range_and_in_cycles() {
    let at = |text| seconds(text, None).unwrap();
    let mut column = Column::new(
        "d",
        Encoding::Date {
            min: at("2020-01-01"),
            max: at("2024-01-01"),
            format: None,
            cycles: vec![Cycle::Month],
        },
    );
    let middle = cells(&column, "2022-01-01").unwrap();
    assert!((middle[0] - 731.0 / 1461.0).abs() < 1e-6, "{middle:?}");
    assert_eq!(middle[1..], [0.5, 1.0]);
    assert_eq!(cells(&column, "2030-01-01").unwrap()[0], 1.0);
    assert!(cells(&column, "1.1.2022").is_err());
    column.missing = Some(Missing::Indicator { value: None });
    assert_eq!(cells(&column, "").unwrap(), [0.5, 0.5, 0.5, 1.0]);
    let typed = Value::Moment {
        raw: 1,
        seconds: at("2022-01-01"),
    };
    let read = column.read(typed, &MissingValues::default()).unwrap();
    assert_eq!(read, Some(at("2022-01-01")));
}

/// Records of runs made before there were missing values, orders and dates.
#[test]
fn preparations_of_earlier_versions_are_read() {
    let text = r#"{"columns": [
        {"name": "age", "encoding": {"kind": "numeric", "min": 0.0, "max": 9.0, "basis": "declared"}},
        {"name": "ward", "encoding": {"kind": "categorical", "categories": ["a", "b"]}}]}"#;
    let table: TablePreparation = serde_json::from_str(text).unwrap();
    assert!(table.missing_values.are_usual() && table.columns[0].missing.is_none());
    let again = serde_json::to_string(&table).unwrap();
    assert!(
        !again.contains("missing") && !again.contains("other"),
        "{again}"
    );
}
