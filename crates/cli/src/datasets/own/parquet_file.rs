//! Parquet files, row by row.

use super::table::{RawRow, RawTable};
use anyhow::{Context, Result};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::File;
use std::path::Path;

/// Opens a file of flat columns.
pub(super) fn open(path: &Path) -> Result<RawTable> {
    let file = File::open(path).with_context(|| match path.exists() {
        true => "cannot be read",
        false => "there is no such file",
    })?;
    let reader = SerializedFileReader::new(file).context("not a Parquet file")?;
    let header = reader
        .metadata()
        .file_metadata()
        .schema()
        .get_fields()
        .iter()
        .map(|field| field.name().to_string())
        .collect();
    let rows = parquet::record::reader::RowIter::from_file_into(Box::new(reader))
        .enumerate()
        .map(|(at, row)| {
            let row = row.context(
                "cannot read on (columns may be uncompressed or compressed with Snappy, no other way)",
            )?;
            Ok(RawRow {
                line: at as u64 + 1,
                fields: fields(&row),
            })
        });
    Ok(RawTable {
        header,
        rows: Box::new(rows),
    })
}

fn fields(row: &Row) -> Result<Vec<String>> {
    row.get_column_iter()
        .map(|(name, field)| {
            text(field)
                .with_context(|| format!("column `{name}` holds lists or groups, not values"))
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
