//! Parquet files of flat columns, read column by column and a few thousand rows at a time.

use super::parquet_column::Column;
use super::rows::{Hint, RawTable, Rows, Sink};
use crate::bad_record::BadRecord;
use crate::preparation::Value;
use anyhow::{Context, Result, bail, ensure};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::file::metadata::ParquetStatisticsPolicy;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::serialized_reader::{ReadOptions, ReadOptionsBuilder};
use parquet::schema::types::{ColumnDescriptor, TypePtr};
use std::fs::File;
use std::path::Path;

/// Rows that are decoded at a time.
const BATCH: usize = 4096;

/// Opens a file.
pub(super) fn open(path: &Path) -> Result<RawTable> {
    ensure!(
        path.as_os_str() != "-",
        "Parquet is not read from standard input, because its end comes first; give the file"
    );
    let file = File::open(path).with_context(|| match path.exists() {
        true => "cannot be read",
        false => "there is no such file",
    })?;
    let reader = guarded(|| {
        SerializedFileReader::new_with_options(file, without_statistics())
            .context("not a Parquet file")
    })?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let roots = schema.root_schema().get_fields();
    if let Some(column) = roots.iter().find(|field| nested(field)) {
        bail!(
            "column `{}` holds lists or groups, not values; leave it out of the file",
            column.name()
        );
    }
    let columns = schema.columns();
    Ok(RawTable {
        header: columns
            .iter()
            .map(|column| column.name().trim().to_string())
            .collect(),
        hints: columns.iter().map(|column| hint(column)).collect(),
        rows: Box::new(ParquetRows(reader)),
    })
}

/// Least and greatest values are private, and nothing here needs them: they are not even read.
fn without_statistics() -> ReadOptions {
    ReadOptionsBuilder::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_size_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .build()
}

fn nested(field: &TypePtr) -> bool {
    let basics = field.get_basic_info();
    let repeated = basics.has_repetition() && basics.repetition() == Repetition::REPEATED;
    field.is_group() || repeated
}

/// What the type of a column says.
fn hint(column: &ColumnDescriptor) -> Hint {
    match (column.logical_type_ref(), column.physical_type()) {
        (Some(LogicalType::Date | LogicalType::Timestamp { .. }), _) => Hint::Dates,
        (Some(LogicalType::Decimal { .. }), _) => Hint::Numbers,
        (_, Physical::BOOLEAN) => Hint::Booleans,
        (_, Physical::INT96) => Hint::Dates,
        (_, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY) => Hint::Texts,
        _ => Hint::Numbers,
    }
}

struct ParquetRows(SerializedFileReader<File>);

impl Rows for ParquetRows {
    fn each(self: Box<Self>, needed: &[bool], sink: &mut Sink<'_>) -> Result<()> {
        let mut line = 0;
        for group in 0..self.0.num_row_groups() {
            self.group(group, needed, &mut line, sink)?;
        }
        Ok(())
    }
}

impl ParquetRows {
    /// The rows of a group, of which only the columns that are needed are decoded.
    fn group(
        &self,
        group: usize,
        needed: &[bool],
        line: &mut u64,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        const UNREADABLE: &str =
            "cannot read on: the file is damaged, or compressed in an unusual way";
        let mut columns = guarded(|| {
            let group = self.0.get_row_group(group).context(UNREADABLE)?;
            let descriptors = self.0.metadata().file_metadata().schema_descr_ptr();
            let columns = needed.iter().enumerate().map(|(at, needed)| {
                let reader = needed.then(|| group.get_column_reader(at)).transpose();
                let reader = reader.context(UNREADABLE)?;
                Ok(reader.map(|reader| Column::new(reader, &descriptors.column(at))))
            });
            columns.collect::<Result<Vec<_>>>()
        })?;
        let rows = self.0.metadata().row_group(group).num_rows();
        let mut left = usize::try_from(rows).context(UNREADABLE)?;
        while left > 0 {
            let batch = left.min(BATCH);
            for column in columns.iter_mut().flatten() {
                let read = guarded(|| column.read(batch).context(UNREADABLE))?;
                ensure!(read == batch, UNREADABLE);
            }
            for at in 0..batch {
                *line += 1;
                let row: Result<Vec<Value<'_>>> = columns
                    .iter()
                    .map(|column| match column {
                        None => Ok(Value::None),
                        Some(column) => column.value(at).map_err(|problem| {
                            let name = column.name();
                            BadRecord::new(format!("column `{name}` {problem}")).into()
                        }),
                    })
                    .collect();
                match row {
                    Ok(row) => sink(*line, Ok(&row))?,
                    Err(error) => sink(*line, Err(error))?,
                }
            }
            left -= batch;
        }
        Ok(())
    }
}

/// The library asserts on some damaged files where it should return an error.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    crate::formats::guarded::guarded("a damaged Parquet file; write it again", read)
}
