use super::*;

#[test]
fn a_table_is_read_by_its_schema() {
    let data = ready(csv(PATIENTS, &options(SCHEMA)));
    assert_eq!(data.name, "patients");
    assert_eq!(data.classes(), ["well", "ill"]);
    let (values, labels) = rows(&data.training);
    assert_eq!(values, [0.5, 1.0, 0.0, 0.25, 0.0, 1.0, 1.0, 1.0, 0.0]);
    assert_eq!(labels, [0, 1, 1]);
    assert!(data.test.is_none() && data.public_count.is_none());
    assert!(
        data.preparation
            .facts()
            .iter()
            .all(|fact| fact.basis == Basis::Declared)
    );
}

#[test]
fn marks_quotes_spaces_and_compression_do_not_matter() {
    let plain = rows(&ready(csv(PATIENTS, &options(SCHEMA))).training);
    let odd = "\u{feff}age, ward ,\"outcome\"\r\n 50,\"north\",well\r\n\r\n25,south, ill\r\n1e2,north,ill";
    assert_eq!(rows(&ready(csv(odd, &options(SCHEMA))).training), plain);
    let semicolons = PATIENTS.replace(',', ";");
    let declared = options(&format!("delimiter = \";\"\n{SCHEMA}"));
    assert_eq!(rows(&ready(csv(semicolons, &declared)).training), plain);
    let folder = Folder::new();
    let file = folder.write("p.tsv", PATIENTS.replace(',', "\t"));
    let data = ready(open(&Source::Csv { file }, &options(SCHEMA)));
    assert_eq!(rows(&data.training), plain);
}

/// File, line, value and remedy are named.
#[test]
fn errors_of_the_file_are_clear() {
    let error = |content: &[u8]| message(csv(content, &options(SCHEMA)));
    let missing = message(open(
        &Source::Csv {
            file: "no/such.csv".into(),
        },
        &options(SCHEMA),
    ));
    assert!(
        missing.contains("there is no file no/such.csv"),
        "{missing}"
    );
    for (content, expected) in [
        (&b""[..], "patients.csv: the file is empty"),
        (b"age,ward,outcome\n", "there are no records to train on"),
        (b"age,ward,age\n", "two columns named `age`; rename one"),
        (b"age,,outcome\n", "column 2 has no name in the header"),
        (
            b"age,ward,outcom\n1,north,well\n",
            "no column `outcome`; did you mean “outcom”?",
        ),
        (
            b"age;ward;outcome\n1;north;well\n",
            "declare delimiter = ';' in the schema",
        ),
        (
            b"\xff\xfe,ward,outcome\n",
            "is not UTF-8; save the file as UTF-8",
        ),
        (
            b"age,ward,outcome\n1,north,well\n2,north,well\n",
            "all records have the class “well”",
        ),
    ] {
        let error = error(content);
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

#[test]
fn errors_of_a_row_name_its_line_and_the_remedy() {
    for (row, expected) in [
        (
            &b"x,north,well"[..],
            "line 3: column `age`: “x” is not a number; mend it, or declare bad_rows = \"drop\"",
        ),
        (b"NaN,north,well", "column `age`: “NaN” is not finite"),
        (b"inf,north,well", "“inf” is not finite"),
        (b",north,well", "column `age` is empty"),
        (b",,", "column `age` is empty"),
        (
            b"1,nrth,well",
            "“nrth” is not one of the declared categories; did you mean “north”?",
        ),
        (
            b"1,north,dead",
            "“dead” in `outcome` is not one of the declared classes",
        ),
        (b"1,north,", "the class in `outcome` is empty"),
        (b"1,north", "line 3: 2 fields, but the header has 3"),
        (b"1,north,well,x", "line 3: 4 fields, but the header has 3"),
        (b"1,n\xf6rth,well", "line 3: “n\u{fffd}rth” is not UTF-8"),
    ] {
        let content = [
            &b"age,ward,outcome\n5,north,ill\n"[..],
            row,
            b"\n7,south,well\n",
        ]
        .concat();
        let error = message(csv(&content, &options(SCHEMA)));
        assert!(error.contains(expected), "{error}\n{expected}");
        assert!(error.contains("patients.csv"), "{error}");

        let drop = options(&format!("bad_rows = \"drop\"\n{SCHEMA}"));
        let (values, labels) = rows(&ready(csv(&content, &drop)).training);
        assert_eq!((values.len(), labels), (6, vec![1, 0]));
    }
}

#[test]
fn a_huge_field_is_an_error_even_where_bad_rows_are_dropped() {
    let open_quote = format!(
        "{PATIENTS}1,\"north,well\n{}",
        "2,south,ill\n".repeat(100_000)
    );
    let drop = options(&format!("bad_rows = \"drop\"\n{SCHEMA}"));
    let error = message(csv(open_quote, &drop));
    assert!(
        error.contains("line 5: a field of") && error.contains("is a closing quote missing?"),
        "{error}"
    );
}

#[test]
fn long_values_are_cut_in_messages() {
    let content = format!("age,ward,outcome\n{},north,well\n", "9x".repeat(5000));
    assert!(message(csv(content, &options(SCHEMA))).len() < 400);
}

const ESTIMATED: &str = r#"
records = 1000
[label]
column = "outcome"
classes = ["well", "ill"]
[columns.age]
kind = "numeric"
[columns.ward]
buckets = 4
"#;

#[test]
fn undeclared_bounds_are_estimated_only_on_demand() {
    let refused = message(csv(PATIENTS, &options(ESTIMATED)));
    assert!(
        refused.contains("column `age`: no bounds are declared: add `min` and `max`"),
        "{refused}"
    );

    let lines: String = (0..1000)
        .map(|at| format!("{},w{},{}\n", at % 64, at % 7, ["well", "ill"][at % 2]))
        .collect();
    let mut options = options(ESTIMATED);
    options.estimate_bounds = true;
    let Opened::NeedsBounds(table) = csv(format!("age,ward,outcome\n{lines}"), &options).unwrap()
    else {
        panic!("a bound is missing");
    };
    assert_eq!(table.undeclared().collect::<Vec<_>>(), ["age"]);
    assert_eq!(table.public_count(), Some(1000));
    let mut sum = vec![0.0; table.histogram_length()];
    for index in 0..table.count() {
        for (total, entry) in sum.iter_mut().zip(table.contributions(index)) {
            *total += entry;
        }
    }
    let data = table.estimated(&sum, 0.5).unwrap();
    let facts = data.preparation.facts();
    assert_eq!(facts[0].basis, Basis::PrivatelyEstimated);
    // Half octaves: 63 lies below 64, and 0 in the bin of zero.
    assert!(facts[0].what.contains("64]"), "{}", facts[0].what);
    let (values, _) = rows(&data.training);
    assert!((values[5 * 63] - 63.0 / 64.0).abs() < 1e-6);
}
