use super::*;

#[test]
fn a_table_is_read_by_its_schema() {
    let data = ready(csv(PATIENTS, &options(SCHEMA)));
    assert_eq!(
        (data.name.as_str(), data.about.origin.as_str()),
        ("table", "table")
    );
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
        (b"age,ward,age\n", "two columns named `age`; rename one"),
        (
            b"age,ward,outcom\n1,north,well\n",
            "no column `outcome`; did you mean “outcom”?",
        ),
        (
            b"age;ward;outcome\n1;north;well\n",
            r#"declare delimiter = ";" in the schema"#,
        ),
        (b"\xe4ge,ward,outcome\n", "line 1: field 1 is not UTF-8"),
    ] {
        let error = error(content);
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

/// What a record is wrong in decides nothing but that the record is left out; the list says where.
#[test]
fn bad_rows_are_left_out_and_listed_without_their_values() {
    for (row, problem, value) in [
        (&b"x,north,well"[..], "column `age` is not a number", "“x”"),
        (b"NaN,north,well", "column `age` is missing", "“NaN”"),
        (b"?,north,well", "column `age` is missing", "“?”"),
        (b"1e400,north,well", "column `age` is not finite", "“1e400”"),
        (b"inf,north,well", "column `age` is not finite", "“inf”"),
        (b",north,well", "column `age` is empty", ""),
        (b",,", "column `age` is empty", ""),
        (
            b"1,nrth,well",
            "column `ward` is not one of the declared categories",
            "“nrth”; did you mean “north”?",
        ),
        (
            b"1,north,dead",
            "the class in `outcome` is not one of the declared classes",
            "“dead”",
        ),
        (b"1,north,", "the class in `outcome` is empty", ""),
        (b"1,north", "2 fields, but the header has 3", ""),
        (b"1,north,well,x", "4 fields, but the header has 3", ""),
        (
            b"1,n\xf6rth,well",
            "field 2 is not UTF-8; save the file as UTF-8, or declare encoding = \"latin-1\"",
            "“n\u{fffd}rth”",
        ),
    ] {
        let content = [
            &b"age,ward,outcome\n5,north,ill\n"[..],
            row,
            b"\n7,south,well\n",
        ]
        .concat();
        let (data, bad) = listed(|options| csv(&content, options), SCHEMA);
        let (values, labels) = rows(&data.training);
        assert_eq!((values.len(), labels), (6, vec![1, 0]));
        let [bad] = bad.as_slice() else {
            panic!("{bad:?}");
        };
        assert_eq!((bad.line, bad.problem.as_str()), (Some(3), problem));
        assert!(bad.file.ends_with("patients.csv"), "{}", bad.file);
        assert!(bad.with_value.contains(value), "{}", bad.with_value);
        // Nothing is said where nobody asked.
        let dropped = ready(csv(&content, &options(SCHEMA)));
        assert_eq!(rows(&dropped.training), rows(&data.training));
    }
}

/// Also where lines end as on Windows, and after empty lines: people look a record up by its line.
#[test]
fn a_record_has_the_number_of_its_own_line() {
    let lines = "age,ward,outcome\n5,north,ill\nx,south,well\n\n\n7,west,well\n\"8\",north,dead";
    for ends in ["\n", "\r\n"] {
        let content = lines.replace('\n', ends);
        let (_, bad) = listed(|options| csv(&content, options), SCHEMA);
        let numbers: Vec<_> = bad.iter().filter_map(|bad| bad.line).collect();
        assert_eq!(numbers, [3, 6, 7], "{ends:?}");
    }
}

#[test]
fn a_huge_field_is_a_bad_record() {
    let open_quote = format!(
        "{PATIENTS}1,\"north,well\n{}",
        "2,south,ill\n".repeat(100_000)
    );
    let (data, bad) = listed(|options| csv(&open_quote, options), SCHEMA);
    assert_eq!(rows(&data.training).1, [0, 1, 1]);
    assert_eq!(bad[0].line, Some(5));
    assert!(bad[0].problem.contains("is a closing quote missing?"));
}

/// One record more or less must not decide whether there is a model.
#[test]
fn one_class_one_record_or_none_is_a_data_set() {
    for (content, labels) in [
        ("age,ward,outcome\n1,north,well\n2,north,well\n", vec![0, 0]),
        ("age,ward,outcome\n1,north,well\n", vec![0]),
        ("age,ward,outcome\n1,north,dead\n", vec![]),
        ("age,ward,outcome\n", vec![]),
    ] {
        assert_eq!(
            rows(&ready(csv(content, &options(SCHEMA))).training).1,
            labels
        );
    }
}

/// Numbers of rows that some programs put first, and marks at the end of every line.
#[test]
fn columns_without_a_name_are_ignored() {
    let content = ",age,ward,outcome,\n0,50,north,well,\n1,25,south,ill,\n2,100,north,ill,\n";
    let plain = rows(&ready(csv(PATIENTS, &options(SCHEMA))).training);
    assert_eq!(rows(&ready(csv(content, &options(SCHEMA))).training), plain);
}

/// 64 MiB in one line, quoted or not, are read over in a buffer of 16.
#[test]
fn a_line_without_end_is_a_bad_record() {
    for mark in ["\"", ""] {
        let long = "x".repeat(64 << 20);
        let content = format!("{PATIENTS}1,{mark}{long}{mark},well\n2,south,ill\n");
        let (data, bad) = listed(|options| csv(&content, options), SCHEMA);
        assert_eq!(rows(&data.training).1, [0, 1, 1, 1]);
        assert_eq!(bad.len(), 1);
        assert_eq!(bad[0].line, Some(5));
    }
    let fields = ",".repeat(1 << 18);
    let (data, bad) = listed(
        |options| csv(format!("{PATIENTS}{fields}\n2,south,ill\n"), options),
        SCHEMA,
    );
    assert_eq!((rows(&data.training).1.len(), bad.len()), (4, 1));
}

/// As spreadsheets of countries with a decimal comma write it: semicolons, Latin-1, euros.
#[test]
fn a_table_of_a_spreadsheet_is_read_as_declared() {
    let schema = r#"
        delimiter = ";"
        encoding = "latin-1"
        [label]
        column = "Ausgang"
        classes = ["gesund", "krank"]
        [columns."Größe"]
        min = 0
        max = 200
        decimal = ","
        [columns.Kosten]
        min = 0
        max = 10000
        decimal = ","
        thousands = "."
        strip = "€"
        [columns.Aufnahme]
        kind = "date"
        format = "%d.%m.%Y"
        min = "2020-01-01"
        max = "2021-01-01"
    "#;
    let text = "Größe;Kosten;Aufnahme;Ausgang\r\n100,0;1.250,00 €;02.07.2020;krank\r\n";
    let latin: Vec<u8> = text
        .chars()
        .map(|letter| if letter == '€' { 0x80 } else { letter as u8 })
        .collect();
    let utf16: Vec<u8> = [0xfeff]
        .into_iter()
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    for content in [latin, utf16, format!("\u{feff}{text}").into_bytes()] {
        let (values, labels) = rows(&ready(csv(content, &options(schema))).training);
        assert_eq!((&values[..2], labels), (&[0.5, 0.125][..], vec![1]));
        assert!((values[2] - 0.5).abs() < 1e-3, "{values:?}");
    }
    // The encoding that is not declared is found where it matters.
    let undeclared = message(csv(
        b"Gr\xf6\xdfe;x\n",
        &options(&schema.replace("encoding = \"latin-1\"", "")),
    ));
    assert!(
        undeclared.contains("encoding = \"latin-1\""),
        "{undeclared}"
    );
}

/// Real headers: quotes, line ends and commas within names; ten thousand columns.
#[test]
fn odd_and_many_columns_are_read() {
    let schema = r#"
        [label]
        column = "y"
        classes = ["0", "1"]
        [columns."a \"quoted\" name"]
        min = 0
        max = 2
        [columns."two\nlines, one comma"]
        min = 0
        max = 2
    "#;
    let content = "\"a \"\"quoted\"\" name\",\"two\nlines, one comma\",y\n1,2,1\n";
    assert_eq!(
        rows(&ready(csv(content, &options(schema))).training).0,
        [0.5, 1.0]
    );
    // Such names are keys that can be pasted, each in one line.
    let folder = Folder::new();
    let file = folder.write("odd.csv", content);
    let fields = crate::fields(&file, &Default::default(), false).unwrap();
    let skeleton = crate::skeleton(&fields, Some("y"));
    let pasted: crate::Schema = toml::from_str(&skeleton).unwrap();
    assert!(
        pasted.columns.contains_key("two\nlines, one comma"),
        "{skeleton}"
    );
    assert!(
        pasted.columns.contains_key("a \"quoted\" name"),
        "{skeleton}"
    );

    let names: Vec<String> = (0..10_000).map(|at| format!("x{at}")).collect();
    let columns: String = names
        .iter()
        .map(|name| format!("[columns.{name}]\nmin = 0\nmax = 2\n"))
        .collect();
    let schema = format!("[label]\ncolumn = \"y\"\nclasses = [\"0\", \"1\"]\n{columns}");
    let row = vec!["1"; 10_001].join(",");
    let content = format!("{},y\n{row}\n{row}\n", names.join(","));
    let (values, labels) = rows(&ready(csv(content, &options(&schema))).training);
    assert_eq!((values.len(), labels), (20_000, vec![1, 1]));
    assert!(values.iter().all(|value| *value == 0.5));
}

/// A missing value of a column without bounds adds nothing to the histogram and becomes the middle.
#[test]
fn missing_values_of_estimated_columns_are_marked() {
    let schema = ESTIMATED.replace(
        "kind = \"numeric\"",
        "kind = \"numeric\"\nmissing = \"indicator\"",
    );
    let mut options = options(&schema);
    options.estimate_bounds = true;
    let lines: String = (0..100)
        .map(|at| {
            format!(
                "{},w,well\n",
                if at == 7 { "NA".into() } else { at.to_string() }
            )
        })
        .collect();
    let Opened::NeedsBounds(table) = csv(format!("age,ward,outcome\n{lines}"), &options).unwrap()
    else {
        panic!("a bound is missing");
    };
    let added: Vec<Vec<f32>> = table.contributions().map(Result::unwrap).collect();
    assert!(added[7].iter().all(|entry| *entry == 0.0));
    let filled = added[8].iter().filter(|entry| **entry > 0.0);
    assert_eq!(filled.count(), 1);
    let sum = histogram(&table);
    let (width, data) = (2 + 4, table.estimated(&sum, 0.1).unwrap());
    let (values, _) = rows(&data.training);
    assert_eq!(values[7 * width..][..2], [0.5, 1.0]);
    assert_eq!(values[64 * width..][..2], [64.0 / 128.0, 0.0]);
}

#[test]
fn long_values_are_cut_in_lists() {
    let content = format!("age,ward,outcome\n{},north,well\n", "9x".repeat(5000));
    let (_, bad) = listed(|options| csv(&content, options), SCHEMA);
    assert!(bad[0].with_value.len() < 400);
}

/// What is released of a table, without noise.
fn histogram(table: &Unbounded) -> Vec<f32> {
    let mut sum = vec![0.0; table.histogram_length()];
    for added in table.contributions() {
        for (total, entry) in sum.iter_mut().zip(added.unwrap()) {
            *total += entry;
        }
    }
    sum
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
    // Everything that is wrong is said at once.
    let two = ESTIMATED.replace("buckets = 4", "kind = \"numeric\"");
    let refused = message(csv(PATIENTS, &options(&two)));
    assert!(
        refused.contains("column `age`: no bounds") && refused.contains("column `ward`: no bounds"),
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
    let sum = histogram(&table);
    let data = table.estimated(&sum, 0.5).unwrap();
    let facts = data.preparation.facts();
    assert_eq!(facts[0].basis, Basis::PrivatelyEstimated);
    // Half octaves: 63 lies below 64, and 0 in the bin of zero.
    assert!(facts[0].what.contains("64]"), "{}", facts[0].what);
    let (values, _) = rows(&data.training);
    assert!((values[5 * 63] - 63.0 / 64.0).abs() < 1e-6);
}

/// What was spent on bounds stays spent, so a run continues where the noise hid them.
#[test]
fn bounds_that_the_noise_hides_are_default_ones_and_that_is_said() {
    let mut options = options(ESTIMATED);
    options.estimate_bounds = true;
    let Opened::NeedsBounds(table) = csv(PATIENTS, &options).unwrap() else {
        panic!("a bound is missing");
    };
    let noise = vec![0.0; table.histogram_length()];
    let data = table.estimated(&noise, 20.0).unwrap();
    assert!(data.preparation.facts()[0].what.contains("[-1, 1]"));
    assert!(
        data.about.caveats[0].contains("column age"),
        "{:?}",
        data.about.caveats
    );
}
