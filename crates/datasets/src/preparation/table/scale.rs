//! Numbers whose bounds were estimated after they were read.

use super::{Basis, Column, Encoding};
use crate::chunk::Chunk;

/// Fills in the cells of numbers whose bounds have been estimated.
pub(crate) fn scale_estimated(columns: &[Column], part: &mut Chunk) {
    let widths: Vec<usize> = columns.iter().map(|column| column.cells().len()).collect();
    let estimated = |column: &Column| {
        matches!(
            column.encoding,
            Encoding::Numeric {
                basis: Basis::PrivatelyEstimated,
                ..
            }
        )
    };
    let count = columns.iter().filter(|column| estimated(column)).count();
    if count == 0 {
        return;
    }
    let rows = part.values.cells.chunks_exact_mut(widths.iter().sum());
    for (row, numbers) in rows.zip(part.unbounded.chunks_exact(count)) {
        let (mut at, mut numbers) = (0, numbers.iter());
        for (column, width) in columns.iter().zip(&widths) {
            if estimated(column)
                && let Some(number) = numbers.next()
            {
                row[at] = column.scaled(Some(*number).filter(|number| !number.is_nan()));
            }
            at += width;
        }
    }
    part.unbounded = Vec::new();
}
