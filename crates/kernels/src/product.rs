//! Matrix products.

/// A matrix in a slice, by rows or (transposed) by columns.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Rows one after the other.
    ///
    /// # Panics
    /// If there are not exactly `rows · columns` values.
    pub fn new(values: &'a [f32], rows: usize, columns: usize) -> Self {
        assert_eq!(
            values.len(),
            rows * columns,
            "a matrix of {rows} × {columns}"
        );
        Self::spaced(values, rows, columns, columns)
    }

    /// Rows that begin `row_stride` values apart.
    ///
    /// # Panics
    /// If the last row does not fit, or rows overlap.
    pub fn spaced(values: &'a [f32], rows: usize, columns: usize, row_stride: usize) -> Self {
        assert!(
            row_stride >= columns,
            "rows of {columns} every {row_stride}"
        );
        let needed = if rows == 0 {
            0
        } else {
            (rows - 1) * row_stride + columns
        };
        assert!(
            values.len() >= needed,
            "{} values for {rows} rows",
            values.len()
        );
        Self {
            values,
            rows,
            columns,
            row_stride,
            column_stride: 1,
        }
    }

    /// Some of the columns.
    fn columns(self, columns: std::ops::Range<usize>) -> Self {
        let first = (columns.start * self.column_stride).min(self.values.len());
        Self {
            values: &self.values[first..],
            columns: columns.len(),
            ..self
        }
    }

    /// Some of the rows.
    fn rows(self, rows: std::ops::Range<usize>) -> Self {
        self.transposed().columns(rows).transposed()
    }

    /// The same values row by row, with zeros up to a larger size.
    fn padded(self, rows: usize, columns: usize) -> Vec<f32> {
        let mut padded = vec![0.0; rows * columns];
        for (row, into) in padded.chunks_exact_mut(columns).enumerate().take(self.rows) {
            for (column, into) in into.iter_mut().enumerate().take(self.columns) {
                *into = self.values[row * self.row_stride + column * self.column_stride];
            }
        }
        padded
    }

    /// The transposed matrix, without moving anything.
    pub fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// What a product does with what lies at its destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// Overwrites it (it is not read).
    Replace,
    /// Adds to it.
    Add,
}

/// Who computes a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workers {
    /// The calling thread, which is often one of many.
    One,
    /// All threads of the pool.
    All,
}

/// `into` (rows one after the other, `row_stride` apart) becomes `left · right`.
///
/// # Guarantee
/// An entry has the same bits whatever the other rows and columns are, and however many: it depends on its
/// row of `left`, its column of `right` and the inner size alone. A record's activations and gradients
/// are then its own, to the last bit. Checked by `an_entry_does_not_depend_on_its_neighbours`.
///
/// # Panics
/// If the inner sizes differ or the destination is too small.
pub fn multiply(
    into: &mut [f32],
    row_stride: usize,
    mode: Destination,
    left: Matrix<'_>,
    right: Matrix<'_>,
    workers: Workers,
) {
    let (rows, inner, columns) = (left.rows, left.columns, right.columns);
    if inner <= LEAST_INNER || rows == 1 || columns == 1 || rows * columns <= SMALL {
        return multiply_padded(into, row_stride, mode, left, right);
    }
    let part = inner.div_ceil(inner.div_ceil(PART));
    let mut mode = mode;
    for first in (0..inner).step_by(part) {
        let inner = first..inner.min(first + part);
        let (left, right) = (left.columns(inner.clone()), right.rows(inner));
        multiply_part(into, row_stride, mode, left, right, workers);
        mode = Destination::Add;
    }
}

/// `gemm` sums an entry from its first to its last product, as long as the inner size is within this…
const PART: usize = 512;
/// … and above this, the product has more entries than this, and neither side is one vector. It takes other
/// ways, which sum in another order, for products that are smaller: those are padded with zeros. (Read in
/// the source of version 0.19.0, which the manifest pins.)
const LEAST_INNER: usize = 2;
const SMALL: usize = 256;

fn multiply_padded(
    into: &mut [f32],
    row_stride: usize,
    mode: Destination,
    left: Matrix<'_>,
    right: Matrix<'_>,
) {
    let (rows, columns) = (left.rows, right.columns);
    assert_eq!(left.columns, right.rows, "inner sizes of a product");
    if rows == 0 || columns == 0 {
        return;
    }
    let inner = left.columns.max(LEAST_INNER + 1);
    let wide = columns.max(2);
    let high = rows.max(SMALL / wide + 1).max(2);
    let (left, right) = (left.padded(high, inner), right.padded(inner, wide));
    let (left, right) = (
        Matrix::new(&left, high, inner),
        Matrix::new(&right, inner, wide),
    );
    let mut product = vec![0.0; high * wide];
    // What is there goes along: added at the end, it would be added in another order.
    for (padded, into) in product
        .chunks_exact_mut(wide)
        .zip(into.chunks(row_stride))
        .take(rows)
    {
        padded[..columns].copy_from_slice(&into[..columns]);
    }
    multiply(&mut product, wide, mode, left, right, Workers::One);
    for (padded, into) in product
        .chunks_exact(wide)
        .zip(into.chunks_mut(row_stride))
        .take(rows)
    {
        into[..columns].copy_from_slice(&padded[..columns]);
    }
}

/// One call of `gemm`.
#[allow(unsafe_code)]
fn multiply_part(
    into: &mut [f32],
    row_stride: usize,
    mode: Destination,
    left: Matrix<'_>,
    right: Matrix<'_>,
    workers: Workers,
) {
    let (rows, inner, columns) = (left.rows, left.columns, right.columns);
    assert_eq!(inner, right.rows, "inner sizes of a product");
    assert!(
        row_stride >= columns,
        "rows of {columns} every {row_stride}"
    );
    if rows == 0 || columns == 0 {
        return;
    }
    assert!(
        into.len() >= (rows - 1) * row_stride + columns,
        "{} values for a product of {rows} × {columns}",
        into.len()
    );
    let read = mode == Destination::Add;
    let parallelism = match workers {
        Workers::One => gemm::Parallelism::None,
        Workers::All => gemm::Parallelism::Rayon(0),
    };
    // SAFETY: the destination holds the last element of the last row (asserted above), both factors
    // hold theirs (asserted when they were made; transposing swaps sizes together with strides), and
    // the borrow of `into` is exclusive, so nothing aliases it.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            inner,
            into.as_mut_ptr(),
            1,
            row_stride as isize,
            read,
            left.values.as_ptr(),
            left.column_stride as isize,
            left.row_stride as isize,
            right.values.as_ptr(),
            right.column_stride as isize,
            right.row_stride as isize,
            if read { 1.0 } else { 0.0 },
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_loop(left: Matrix<'_>, right: Matrix<'_>, row: usize, column: usize) -> f64 {
        let at = |m: Matrix<'_>, r: usize, c: usize| {
            f64::from(m.values[r * m.row_stride + c * m.column_stride])
        };
        (0..left.columns)
            .map(|k| at(left, row, k) * at(right, k, column))
            .sum()
    }

    proptest! {
        #[test]
        fn an_entry_does_not_depend_on_its_neighbours(
            rows in 1usize..90, inner in prop_oneof![1usize..40, 500usize..1200],
            columns in prop_oneof![1usize..4, 1usize..90], first in 0usize..90, count in 1usize..90,
            across: bool, turned: bool, add: bool, seed: u64,
        ) {
            let left = crate::testkit::values(rows * inner, seed);
            let right = crate::testkit::values(inner * columns, !seed);
            let right = match turned {
                false => Matrix::new(&right, inner, columns),
                true => Matrix::new(&right, columns, inner).transposed(),
            };
            let left = Matrix::new(&left, rows, inner);
            let product = |left: Matrix<'_>, right: Matrix<'_>, workers| {
                let mut into = vec![0.3; left.rows * right.columns];
                let mode = if add { Destination::Add } else { Destination::Replace };
                multiply(&mut into, right.columns, mode, left, right, workers);
                into
            };
            let all = product(left, right, Workers::All);
            // Some of the rows, or some of the columns, by themselves.
            if across {
                let first = first % columns;
                let some = first..columns.min(first + count);
                let part = product(left, right.columns(some.clone()), Workers::One);
                for (row, part) in part.chunks(some.len()).enumerate() {
                    prop_assert_eq!(part, &all[row * columns..][some.clone()]);
                }
            } else {
                let first = first % rows;
                let some = first..rows.min(first + count);
                let part = product(left.rows(some.clone()), right, Workers::One);
                prop_assert_eq!(&part[..], &all[some.start * columns..some.end * columns]);
            }
        }

        #[test]
        fn a_product_is_the_sum_of_products(
            rows in 1usize..20, inner in 0usize..20, columns in 1usize..40, gap in 0usize..3,
            transposed: bool, add: bool, seed: u64,
        ) {
            let mut state = seed;
            let mut values = |count: usize| -> Vec<f32> {
                (0..count).map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 40) as f32 / 8_388_608.0 - 1.0
                }).collect()
            };
            let left = values(rows * inner);
            let right = values(inner * columns);
            let left = Matrix::new(&left, rows, inner);
            let right = if transposed {
                Matrix::new(&right, columns, inner).transposed()
            } else {
                Matrix::new(&right, inner, columns)
            };
            let stride = columns + gap;
            let before = values(rows * stride);
            let mut into = before.clone();
            let mode = if add { Destination::Add } else { Destination::Replace };
            multiply(&mut into, stride, mode, left, right, Workers::One);
            for row in 0..rows {
                for column in 0..stride {
                    let at = row * stride + column;
                    let expected = match column < columns {
                        false => f64::from(before[at]),
                        true => by_loop(left, right, row, column)
                            + if add { f64::from(before[at]) } else { 0.0 },
                    };
                    prop_assert!((f64::from(into[at]) - expected).abs() <= 1e-5 * (1.0 + inner as f64));
                }
            }
        }
    }
}
