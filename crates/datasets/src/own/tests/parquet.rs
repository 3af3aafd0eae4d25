use super::*;
use ::parquet::basic::Compression;
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
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
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        let data = ready(parquet(&file(compression, false)));
        assert_eq!(rows(&data.training), plain);
    }
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
