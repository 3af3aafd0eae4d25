//! Records the first of which lie on a disk, if any do, and the others in memory.

use super::{Chunk, Targets};
use crate::disk::DiskRecords;
use anyhow::Result;
use burn::tensor::Device;
use std::iter::once;
use tacita::{ReadRecords, Records, UnreadableRecords};

/// A kind of records.
pub(super) trait PartlyOnDisk: Records + Clone {
    /// Those on a disk, which come first.
    fn disk(&self) -> Option<&DiskRecords>;

    /// Only those in memory.
    fn in_memory(&self) -> Self;

    /// Others in memory that are prepared like these.
    fn of_chunk(&self, chunk: Chunk) -> Result<Self>;

    /// The same with others in memory after them.
    fn with(self, others: &Self) -> Result<Self>;
}

/// The records at the given positions. A set that is all in memory gives itself and the positions.
pub(super) fn read<R: PartlyOnDisk>(
    set: &R,
    indices: &[usize],
    device: &Device,
) -> Result<ReadRecords<R::Batch>, UnreadableRecords> {
    let gathered = set
        .disk()
        .map(|disk| gather(set, disk, indices))
        .transpose()?;
    let (set, indices) = match &gathered {
        Some((part, places)) => (part, places.as_slice()),
        None => (set, indices),
    };
    Ok(ReadRecords {
        batch: set.batch(indices, device),
        weights: indices.iter().map(|index| set.weight(*index)).collect(),
    })
}

/// The same where nobody asks whether they could be read.
pub(super) fn batch<R: PartlyOnDisk>(set: &R, indices: &[usize], device: &Device) -> R::Batch {
    match read(set, indices, device) {
        Ok(read) => read.batch,
        Err(error) => panic!("{error}; `Records::read` returns this as an error"),
    }
}

/// The weight of a record; one that cannot be read counts for nothing.
pub(super) fn weight(disk: &DiskRecords, index: usize, in_memory: &Targets) -> f32 {
    match index.checked_sub(disk.count()) {
        Some(behind) => in_memory.weight(behind),
        None => disk
            .read(&[index])
            .map_or(0.0, |chunk| chunk.targets.weight(0)),
    }
}

/// Some records in memory, and where those at the given positions are among them.
fn gather<R: PartlyOnDisk>(
    set: &R,
    disk: &DiskRecords,
    indices: &[usize],
) -> Result<(R, Vec<usize>), UnreadableRecords> {
    let before = disk.count();
    let first: Vec<usize> = (indices.iter().copied())
        .filter(|index| *index < before)
        .collect();
    let chunk = disk.read(&first)?;
    let all_on_disk = first.len() == indices.len();
    let part = set
        .of_chunk(chunk)
        .and_then(|part| match all_on_disk {
            true => Ok(part),
            false => part.with(&set.in_memory()),
        })
        .map_err(damaged)?;
    let mut next = 0;
    let places = indices.iter().map(|index| match index.checked_sub(before) {
        Some(behind) => first.len() + behind,
        None => {
            next += 1;
            next - 1
        }
    });
    Ok((part, places.collect()))
}

/// All records in order, some at a time and in memory.
pub(super) fn parts<R: PartlyOnDisk>(
    set: &R,
) -> impl Iterator<Item = Result<R, UnreadableRecords>> + '_ {
    let on_disk = set.disk().into_iter().flat_map(DiskRecords::chunks);
    let parts = on_disk.map(|chunk| set.of_chunk(chunk?).map_err(damaged));
    parts.chain(once(Ok(set.in_memory())))
}

/// What was read is none of what was written.
fn damaged(error: anyhow::Error) -> UnreadableRecords {
    UnreadableRecords {
        problem: format!("the index is damaged ({error}); delete its folder, and it is made again"),
    }
}
