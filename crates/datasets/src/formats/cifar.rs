//! The binary format of CIFAR-10: a class, then 32 × 32 bytes of each colour, over and over.

use anyhow::{Result, ensure};

/// Bytes of one record.
const RECORD: usize = 1 + 3 * 32 * 32;

/// Appends the records of one batch file.
pub fn append(file: &[u8], pixels: &mut Vec<u8>, labels: &mut Vec<u16>) -> Result<()> {
    let (records, rest) = file.as_chunks::<RECORD>();
    ensure!(
        rest.is_empty() && !records.is_empty(),
        "a CIFAR-10 file holds records of {RECORD} bytes, but this one has {} bytes",
        file.len()
    );
    for record in records {
        labels.push(u16::from(record[0]));
        pixels.extend_from_slice(&record[1..]);
    }
    Ok(())
}
