//! Parquet files, row by row.

use super::table::{RawRow, RawTable};
use crate::bad_record::BadRecord;
use anyhow::{Context, Result, bail};
use parquet::basic::Repetition;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::types::TypePtr;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Opens a file of flat columns.
pub(super) fn open(path: &Path) -> Result<RawTable> {
    let file = File::open(path).with_context(|| match path.exists() {
        true => "cannot be read",
        false => "there is no such file",
    })?;
    let reader = guarded(|| SerializedFileReader::new(file).context("not a Parquet file"))?;
    let header = reader
        .metadata()
        .file_metadata()
        .schema()
        .get_fields()
        .iter()
        .map(|field| field.name().to_string())
        .collect();
    let columns = reader.metadata().file_metadata().schema().get_fields();
    let nested = |field: &TypePtr| {
        let basics = field.get_basic_info();
        let repeated = basics.has_repetition() && basics.repetition() == Repetition::REPEATED;
        field.is_group() || repeated
    };
    if let Some(column) = columns.iter().find(|field| nested(field)) {
        bail!(
            "column `{}` holds lists or groups, not values; leave it out of the file",
            column.name()
        );
    }
    // Group by group: the iterator over the whole file panics where a group cannot be opened.
    let groups = 0..reader.num_row_groups();
    let rows = groups
        .flat_map(move |group| match guarded(|| rows(&reader, group)) {
            Ok(rows) => rows.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
        .enumerate()
        .map(|(at, row)| {
            Ok(RawRow {
                line: at as u64 + 1,
                fields: fields(&row?),
            })
        });
    Ok(RawTable {
        header,
        rows: Box::new(rows),
    })
}

/// The library asserts on some damaged files where it should return an error.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| bail!("a damaged Parquet file; write it again"))
}

fn rows(reader: &SerializedFileReader<File>, group: usize) -> Result<Vec<Row>> {
    let unreadable =
        "cannot read on (columns may be uncompressed or compressed with Snappy, no other way)";
    let group = reader.get_row_group(group).context(unreadable)?;
    let rows = group.get_row_iter(None).context(unreadable)?;
    rows.collect::<Result<_, _>>().context(unreadable)
}

fn fields(row: &Row) -> Result<Vec<String>> {
    row.get_column_iter()
        .map(|(name, field)| {
            let problem = || BadRecord::new(format!("column `{name}` is not UTF-8"));
            Ok(text(field).ok_or_else(problem)?)
        })
        .collect()
}

/// A value as a CSV file would hold it.
fn text(field: &Field) -> Option<String> {
    Some(match field {
        Field::Null => String::new(),
        Field::Str(text) => text.trim().to_string(),
        Field::Bool(value) => value.to_string(),
        Field::Byte(value) => value.to_string(),
        Field::Short(value) => value.to_string(),
        Field::Int(value) | Field::Date(value) | Field::TimeMillis(value) => value.to_string(),
        Field::Long(value)
        | Field::TimeMicros(value)
        | Field::TimestampMillis(value)
        | Field::TimestampMicros(value) => value.to_string(),
        Field::UByte(value) => value.to_string(),
        Field::UShort(value) => value.to_string(),
        Field::UInt(value) => value.to_string(),
        Field::ULong(value) => value.to_string(),
        Field::Float16(value) => value.to_f32().to_string(),
        Field::Float(value) => value.to_string(),
        Field::Double(value) => value.to_string(),
        Field::Bytes(bytes) => std::str::from_utf8(bytes.data()).ok()?.trim().to_string(),
        Field::Decimal(_) => field.to_string(),
        _ => return None,
    })
}
