use super::*;
use ::parquet::basic::Compression;
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96, Int96Type,
};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// The table of patients, the last age missing if `missing`.
fn file(compression: Compression, missing: bool) -> Vec<u8> {
    let schema = "message table {
        OPTIONAL DOUBLE age; REQUIRED BINARY ward (UTF8); REQUIRED BINARY outcome (UTF8);
    }";
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .build();
    let mut file = Vec::new();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let levels = [1, 1, i16::from(!missing)];
    let ages = [50.0, 25.0, 100.0];
    let ages = &ages[..if missing { 2 } else { 3 }];
    column
        .typed::<DoubleType>()
        .write_batch(ages, Some(&levels), None)
        .unwrap();
    column.close().unwrap();
    for texts in [["north", "south", "north"], ["well", "ill", "ill"]] {
        let mut column = group.next_column().unwrap().unwrap();
        let texts = texts.map(ByteArray::from);
        column
            .typed::<ByteArrayType>()
            .write_batch(&texts, None, None)
            .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    file
}

fn parquet(content: &[u8]) -> Result<Opened> {
    let folder = Folder::new();
    let file = folder.write("patients.parquet", content);
    open(&Source::Parquet { file }, &options(SCHEMA))
}

#[test]
fn a_parquet_file_gives_the_records_of_the_csv_file() {
    let plain = rows(&ready(csv(PATIENTS, &options(SCHEMA))).training);
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::BROTLI(Default::default()),
    ] {
        let data = ready(parquet(&file(compression, false)));
        assert_eq!(rows(&data.training), plain);
    }
}

/// One row of every type that a table has, as Spark, pandas and others write them.
#[test]
fn every_type_of_a_column_is_read() {
    let schema = "message table {
        REQUIRED BOOLEAN b; REQUIRED INT32 i8 (INTEGER(8,true)); REQUIRED INT32 u32 (INTEGER(32,false));
        REQUIRED INT64 i64; REQUIRED INT64 u64 (INTEGER(64,false)); REQUIRED FLOAT f; REQUIRED INT32 day (DATE);
        REQUIRED INT64 ms (TIMESTAMP(MILLIS,true)); REQUIRED INT64 us (TIMESTAMP(MICROS,false));
        REQUIRED INT64 ns (TIMESTAMP(NANOS,false)); REQUIRED INT96 old;
        REQUIRED INT32 d32 (DECIMAL(9,2)); REQUIRED INT64 d64 (DECIMAL(18,3));
        REQUIRED FIXED_LEN_BYTE_ARRAY(4) dfix (DECIMAL(9,1)); REQUIRED FIXED_LEN_BYTE_ARRAY(16) uuid (UUID);
        REQUIRED BINARY raw; REQUIRED BINARY label (UTF8);
    }";
    // 1 July 2020 at noon.
    const SECONDS: i64 = 1_593_604_800;
    let mut file = Vec::new();
    let message_type = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(&mut file, message_type, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    macro_rules! column {
        ($kind:ty, $value:expr) => {{
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<$kind>()
                .write_batch(&[$value], None, None)
                .unwrap();
            column.close().unwrap();
        }};
    }
    column!(BoolType, true);
    column!(Int32Type, -7);
    column!(Int32Type, u32::MAX as i32);
    column!(Int64Type, 1 << 40);
    column!(Int64Type, u64::MAX as i64);
    column!(FloatType, 0.1);
    column!(Int32Type, (SECONDS / 86_400) as i32);
    column!(Int64Type, SECONDS * 1_000);
    column!(Int64Type, SECONDS * 1_000_000);
    column!(Int64Type, SECONDS * 1_000_000_000);
    let mut old = Int96::new();
    old.set_data(0, 0, (2_440_588 + SECONDS / 86_400) as u32);
    column!(Int96Type, old);
    column!(Int32Type, -1234);
    column!(Int64Type, 1_234_567);
    column!(
        FixedLenByteArrayType,
        ByteArray::from(vec![255, 255, 255, 246]).into()
    );
    column!(FixedLenByteArrayType, ByteArray::from(vec![171; 16]).into());
    column!(ByteArrayType, ByteArray::from(vec![255, 254]));
    column!(ByteArrayType, ByteArray::from("yes"));
    group.close().unwrap();
    writer.close().unwrap();
    let dates = ["day", "ms", "us", "ns", "old"];
    let columns: String = (dates.iter())
        .map(|name| {
            format!(
                "[columns.{name}]\nkind = \"date\"\nmin = \"2020-01-01\"\nmax = \"2021-01-01\"\n"
            )
        })
        .collect();
    let schema = format!(
        "[label]\ncolumn = \"label\"\nclasses = [\"yes\", \"no\"]\n{columns}\
         [columns.b]\nkind = \"boolean\"\n[columns.i8]\nmin = -10\nmax = 0\n\
         [columns.u32]\nmin = 0\nmax = 4294967295\n[columns.i64]\nmin = 0\nmax = 1099511627776\n\
         [columns.u64]\nmin = 0\nmax = 18446744073709551615.0\n[columns.f]\nmin = 0\nmax = 1\n\
         [columns.d32]\nmin = -24.68\nmax = 0\n[columns.d64]\nmin = 0\nmax = 1234.567\n\
         [columns.dfix]\nmin = -2\nmax = 0\n\
         [columns.uuid]\ncategories = [\"abababab-abab-abab-abab-abababababab\", \"x\"]\n\
         [columns.raw]\nkind = \"ignored\"\n"
    );
    let folder = Folder::new();
    let source = Source::Parquet {
        file: folder.write("types.parquet", &file),
    };
    let (data, bad) = listed(|options| open(&source, options), &schema);
    assert_eq!(bad, []);
    let (values, _) = rows(&data.training);
    let (half, day) = (182.0 / 366.0, 182.5 / 366.0);
    let expected = [
        1.0, 0.3, 1.0, 1.0, 1.0, 0.1, half, day, day, day, half, 0.5, 1.0, 0.5, 1.0, 0.0,
    ];
    for (at, (value, expected)) in values.iter().zip(expected).enumerate() {
        assert!(
            (value - expected).abs() < 1e-6,
            "value {at} is {value}, not {expected}"
        );
    }
    assert_eq!(values.len(), expected.len());

    // What the types say is in the beginning of a schema; nothing of the values is.
    let fields = crate::fields(
        &folder.path().join("types.parquet"),
        &Default::default(),
        false,
    );
    let text = crate::skeleton(&fields.unwrap(), Some("label"));
    for part in [
        "[columns.b]\nkind = \"boolean\"",
        "[columns.day]\nkind = \"date\"",
        "[columns.uuid]\nkind = \"ignored\"",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("2020") && !text.contains("yes"), "{text}");
    toml::from_str::<crate::Schema>(&text).unwrap();
}

/// Twenty thousand rows in groups of one thousand and batches of four thousand, a third of the ages missing.
#[test]
fn groups_batches_and_missing_values_keep_their_rows() {
    let schema = "message table { OPTIONAL INT64 age; REQUIRED BINARY ward (UTF8); REQUIRED BINARY outcome (UTF8); }";
    let mut file = Vec::new();
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::default()).unwrap();
    let mut csv_rows = String::from("age,ward,outcome\n");
    for sizes in [1000, 1, 9000, 10_000] {
        let mut group = writer.next_row_group().unwrap();
        let levels: Vec<i16> = (0..sizes).map(|at| i16::from(at % 3 != 0)).collect();
        let ages: Vec<i64> = (0..sizes)
            .filter(|at| at % 3 != 0)
            .map(|at| at % 100)
            .collect();
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<Int64Type>()
            .write_batch(&ages, Some(&levels), None)
            .unwrap();
        column.close().unwrap();
        let ward = |at: i64| ["north", "south"][usize::from(at % 5 == 0)];
        let outcome = |at: i64| ["well", "ill"][usize::from(at % 7 == 0)];
        for texts in [&ward as &dyn Fn(i64) -> &'static str, &outcome] {
            let texts: Vec<ByteArray> = (0..sizes).map(|at| ByteArray::from(texts(at))).collect();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<ByteArrayType>()
                .write_batch(&texts, None, None)
                .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        for at in 0..sizes {
            let age = if at % 3 == 0 {
                String::new()
            } else {
                (at % 100).to_string()
            };
            csv_rows += &format!("{age},{},{}\n", ward(at), outcome(at));
        }
    }
    writer.close().unwrap();
    let schema = SCHEMA.replace("max = 100", "max = 100\nmissing = \"indicator\"\nfill = 1");
    let folder = Folder::new();
    let source = Source::Parquet {
        file: folder.write("groups.parquet", &file),
    };
    // The split by a hash of every field is the same too.
    let mut options = options(&schema);
    options.test = TestChoice::Share {
        share: 0.25,
        public: true,
    };
    let (one, other) = (
        ready(open(&source, &options)),
        ready(csv(csv_rows, &options)),
    );
    assert_eq!(
        one.training.count() + one.test.as_ref().unwrap().records.count(),
        20_001
    );
    assert_eq!(rows(&one.training), rows(&other.training));
}

#[test]
fn errors_of_parquet_files_are_clear() {
    let folder = Folder::new();
    let missing = folder.write("patients.parquet", file(Compression::SNAPPY, true));
    let source = Source::Parquet { file: missing };
    let (data, bad) = listed(|options| open(&source, options), SCHEMA);
    assert_eq!(data.training.count(), 2);
    assert_eq!(
        (bad[0].line, bad[0].problem.as_str()),
        (Some(3), "column `age` is empty")
    );
    let error = message(parquet(b"age,ward,outcome"));
    assert!(
        error.contains("patients.parquet: not a Parquet file"),
        "{error}"
    );
    let missing = Source::Parquet {
        file: "no/such.parquet".into(),
    };
    let error = message(open(&missing, &options(SCHEMA)));
    assert!(
        error.contains("no/such.parquet: there is no such file"),
        "{error}"
    );
}

/// Each byte of a file changed, one at a time: whatever is read, nothing panics.
#[test]
fn damaged_parquet_files_never_panic() {
    let file = file(Compression::SNAPPY, false);
    for at in 0..file.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = file.clone();
            damaged[at] ^= change;
            let _ = parquet(&damaged);
        }
        let _ = parquet(&file[..at]);
    }
}

/// A number that needs 64 bits without a sign is one record's doing: the others are read as they are without it.
#[test]
fn a_huge_number_does_not_decide_how_others_are_read() {
    let ages = |numbers: &[u64]| {
        let schema = "message table { REQUIRED INT64 age (INTEGER(64,false)); REQUIRED BINARY outcome (UTF8); }";
        let mut file = Vec::new();
        let message_type = Arc::new(parse_message_type(schema).unwrap());
        let mut writer =
            SerializedFileWriter::new(&mut file, message_type, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let signed: Vec<i64> = numbers.iter().map(|number| *number as i64).collect();
        let mut column = group.next_column().unwrap().unwrap();
        (column.typed::<Int64Type>().write_batch(&signed, None, None)).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let classes = vec![ByteArray::from("well"); numbers.len()];
        (column
            .typed::<ByteArrayType>()
            .write_batch(&classes, None, None))
        .unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let folder = Folder::new();
        let source = Source::Parquet {
            file: folder.write("ages.parquet", &file),
        };
        // Written as a number, so that it is the number 99 in a file of numbers, and another text than 99.
        let schema = "missing-values = [\"99.0\"]\n[label]\ncolumn = \"outcome\"\nclasses = [\"well\", \"ill\"]\n\
                      [columns.age]\nmin = 0\nmax = 100\nfill = 0\n";
        rows(&ready(open(&source, &options(schema))).training).0
    };
    assert_eq!(ages(&[99, 50]), [0.0, 0.5]);
    assert_eq!(ages(&[99, 50, u64::MAX]), [0.0, 0.5, 1.0]);
}
