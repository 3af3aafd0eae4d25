//! How one record lies in the file of an index: values, then numbers without bounds, then the target and its weight.

use crate::chunk::{Chunk, Values};
use crate::target::TargetKind;
use crate::targets::Targets;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

/// What the values of a record are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// Levels of pixels.
    Bytes,
    /// Numbers of tokens.
    Tokens,
    /// Cells of a row.
    Cells,
    /// Cells of a row, not equally many in each record.
    SomeCells,
}

/// The form of all records of a file. Numbers are in little-endian order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Form {
    unit: Unit,
    /// Values of each record, if they are equally many.
    values: usize,
    /// Numbers without bounds.
    unbounded: usize,
    target: TargetKind,
    /// Labels of each record.
    outputs: usize,
    weighted: bool,
}

impl Unit {
    /// Whether records are not equally long.
    pub fn varies(self) -> bool {
        self == Self::SomeCells
    }

    fn size(self) -> usize {
        match self {
            Self::Bytes => 1,
            Self::Tokens => 2,
            Self::Cells | Self::SomeCells => 4,
        }
    }
}

impl Form {
    /// That of the records of a chunk; none if there are none.
    pub fn of(unit: Unit, chunk: &Chunk) -> Option<Self> {
        let count = chunk.targets.len();
        if count == 0 {
            return None;
        }
        let Values {
            bytes,
            tokens,
            cells,
            ..
        } = &chunk.values;
        let values = match unit {
            Unit::Bytes => bytes.len() / count,
            Unit::Tokens => tokens.len() / count,
            Unit::Cells => cells.len() / count,
            Unit::SomeCells => 0,
        };
        Some(Self {
            unit,
            values,
            unbounded: chunk.unbounded.len() / count,
            target: chunk.targets.kind(),
            outputs: chunk.targets.outputs(),
            weighted: chunk.targets.are_weighted(),
        })
    }

    /// Bytes of each record, if they are equally long.
    pub fn size(&self) -> Option<usize> {
        (!self.unit.varies()).then(|| self.values * self.unit.size() + self.tail())
    }

    /// Bytes after the values.
    fn tail(&self) -> usize {
        let target = match self.target {
            TargetKind::Class => 2,
            TargetKind::Number => 4,
            TargetKind::Labels => self.outputs,
        };
        8 * self.unbounded + target + if self.weighted { 4 } else { 0 }
    }

    /// Appends the record at a position of a chunk.
    pub fn write(&self, chunk: &Chunk, at: usize, bytes: &mut Vec<u8>) {
        let values = &chunk.values;
        let place = at * self.values..(at + 1) * self.values;
        match self.unit {
            Unit::Bytes => bytes.extend_from_slice(&values.bytes[place]),
            Unit::Tokens => {
                bytes.extend(values.tokens[place].iter().flat_map(|v| v.to_le_bytes()));
            }
            Unit::Cells => bytes.extend(values.cells[place].iter().flat_map(|v| v.to_le_bytes())),
            Unit::SomeCells => {
                let start = at.checked_sub(1).map_or(0, |before| values.ends[before]);
                let cells = &values.cells[start..values.ends[at]];
                bytes.extend(cells.iter().flat_map(|v| v.to_le_bytes()));
            }
        }
        let unbounded = &chunk.unbounded[at * self.unbounded..(at + 1) * self.unbounded];
        bytes.extend(unbounded.iter().flat_map(|v| v.to_le_bytes()));
        chunk.targets.write(at, bytes);
    }

    /// Appends the record of these bytes to a chunk.
    pub fn read(&self, bytes: &[u8], chunk: &mut Chunk) -> Result<()> {
        const DAMAGED: &str = "a record of the index has another length than it should";
        let values = bytes.len().checked_sub(self.tail()).context(DAMAGED)?;
        let whole = match self.size() {
            Some(size) => bytes.len() == size,
            None => values.is_multiple_of(self.unit.size()),
        };
        ensure!(whole, DAMAGED);
        let (head, tail) = bytes.split_at(values);
        let (unbounded, target) = tail.split_at(8 * self.unbounded);
        let kept = &mut chunk.values;
        match self.unit {
            Unit::Bytes => kept.bytes.extend_from_slice(head),
            Unit::Tokens => kept
                .tokens
                .extend(numbers(head).map(|bytes| u16::from_le_bytes(*bytes))),
            Unit::Cells | Unit::SomeCells => kept
                .cells
                .extend(numbers(head).map(|bytes| f32::from_le_bytes(*bytes))),
        }
        if self.unit.varies() {
            kept.ends.push(kept.cells.len());
        }
        chunk
            .unbounded
            .extend(numbers(unbounded).map(|bytes| f64::from_le_bytes(*bytes)));
        chunk.targets.read(target, self.weighted)
    }

    /// Whether targets are of the kind that is kept.
    pub fn fits(&self, targets: &Targets) -> bool {
        targets.kind() == self.target && targets.outputs() == self.outputs
    }
}

fn numbers<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = &[u8; N]> {
    bytes.as_chunks::<N>().0.iter()
}
