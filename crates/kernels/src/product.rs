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
pub enum Into {
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
/// # Panics
/// If the inner sizes differ or the destination is too small.
#[allow(unsafe_code)]
pub fn multiply(
    into: &mut [f32],
    row_stride: usize,
    mode: Into,
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
    let read = mode == Into::Add;
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
            let mode = if add { Into::Add } else { Into::Replace };
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
