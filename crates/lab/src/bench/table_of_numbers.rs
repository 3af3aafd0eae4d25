//! A table of random numbers in shards of Parquet.

use anyhow::Result;
use parquet::data_type::{FloatType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use tacita_datasets::random::SplitMix;

/// Rows of a group.
const GROUP: usize = 100_000;

/// Writes so many rows of numbers between 0 and 1 and a class that follows the first, under a name that the folder gets
/// when it is whole.
pub fn write(folder: &Path, rows: usize, columns: usize, shards: usize) -> Result<()> {
    let partial = folder.with_extension("partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir_all(&partial)?;
    let mut random = SplitMix(7);
    let of_shard = rows.div_ceil(shards);
    for shard in 0..shards {
        let rows = of_shard.min(rows.saturating_sub(shard * of_shard));
        let path = partial.join(format!("part-{shard:04}.parquet"));
        write_shard(&path, rows, columns, &mut random)?;
    }
    Ok(fs::rename(partial, folder)?)
}

fn write_shard(path: &Path, rows: usize, columns: usize, random: &mut SplitMix) -> Result<()> {
    let fields: String = (0..columns)
        .map(|column| format!("REQUIRED FLOAT x{column}; "))
        .collect();
    let schema = format!("message rows {{ {fields} REQUIRED INT32 ill; }}");
    let schema = Arc::new(parse_message_type(&schema)?);
    let properties = WriterProperties::builder().set_dictionary_enabled(false);
    let mut file =
        SerializedFileWriter::new(File::create(path)?, schema, Arc::new(properties.build()))?;
    let mut left = rows;
    while left > 0 {
        let rows = left.min(GROUP);
        left -= rows;
        let mut number = || random.below(1 << 24) as f32 / (1 << 24) as f32;
        let numbers: Vec<Vec<f32>> = (0..columns)
            .map(|_| (0..rows).map(|_| number()).collect())
            .collect();
        let classes: Vec<i32> = (numbers[0].iter())
            .map(|x| i32::from(x + number() > 1.0))
            .collect();
        let mut group = file.next_row_group()?;
        for column in &numbers {
            if let Some(mut writer) = group.next_column()? {
                writer
                    .typed::<FloatType>()
                    .write_batch(column, None, None)?;
                writer.close()?;
            }
        }
        if let Some(mut writer) = group.next_column()? {
            writer
                .typed::<Int32Type>()
                .write_batch(&classes, None, None)?;
            writer.close()?;
        }
        group.close()?;
    }
    file.close()?;
    Ok(())
}
