//! XXᵀ for one X, on and below the diagonal.
//!
//! A product that packs its factors spends more time packing than multiplying where X has some hundred
//! rows, and computes both halves. Here tiles of inner products read the rows as they lie.

use pulp::Simd;

/// Rows and columns of a tile: its sums and both sides' values fill the vector registers.
const TILE: usize = 4;

/// Fills `into` (`[rows, rows]`) with inner products of rows, on and below the diagonal; what stands
/// above it is left.
pub(crate) fn gram(into: &mut [f32], values: &[f32], width: usize) {
    pulp::Arch::new().dispatch(Gram {
        into,
        values,
        width,
    });
}

struct Gram<'a> {
    into: &'a mut [f32],
    values: &'a [f32],
    width: usize,
}

impl pulp::WithSimd for Gram<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            into,
            values,
            width,
        } = self;
        let count = values.len() / width;
        // Beyond the last row it stands again, and is computed in vain.
        let rows = |first: usize| -> [&[f32]; TILE] {
            std::array::from_fn(|row| &values[(first + row).min(count - 1) * width..][..width])
        };
        for below in (0..count).step_by(TILE) {
            let left = rows(below);
            for first in (0..=below).step_by(TILE) {
                let products = tile(simd, left, rows(first));
                for (row, products) in (below..count).zip(products) {
                    let end = (first + TILE).min(row + 1);
                    let into = &mut into[row * count + first..row * count + end];
                    into.copy_from_slice(&products[..end - first]);
                }
            }
        }
    }
}

/// Inner products of each left with each right row.
#[inline(always)]
fn tile<S: Simd>(simd: S, left: [&[f32]; TILE], right: [&[f32]; TILE]) -> [[f32; TILE]; TILE] {
    let (left, right) = (left.map(S::as_simd_f32s), right.map(S::as_simd_f32s));
    let count = left[0].0.len();
    let (a, b) = (
        left.map(|row| &row.0[..count]),
        right.map(|row| &row.0[..count]),
    );
    let mut sums = [[simd.splat_f32s(0.0); TILE]; TILE];
    let mut add = |a: [S::f32s; TILE], b: [S::f32s; TILE]| {
        for (sums, a) in sums.iter_mut().zip(a) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = simd.mul_add_e_f32s(a, b, *sum);
            }
        }
    };
    for at in 0..count {
        add(a.map(|row| row[at]), b.map(|row| row[at]));
    }
    if !left[0].1.is_empty() {
        add(
            left.map(|row| simd.partial_load_f32s(row.1)),
            right.map(|row| simd.partial_load_f32s(row.1)),
        );
    }
    // By loops: a closure given to `map` may be compiled on its own, for lesser vectors.
    let mut products = [[0.0; TILE]; TILE];
    for (products, sums) in products.iter_mut().zip(sums) {
        for (product, sum) in products.iter_mut().zip(sums) {
            *product = simd.reduce_sum_f32s(sum);
        }
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::values;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn entries_are_inner_products(rows in 1usize..20, width in 1usize..80, seed: u64) {
            let x = values(rows * width, seed);
            let mut seen = vec![0.0; rows * rows];
            gram(&mut seen, &x, width);
            for (i, j) in (0..rows).flat_map(|i| (0..rows).map(move |j| (i, j))) {
                if j > i {
                    prop_assert_eq!(seen[i * rows + j], 0.0);
                    continue;
                }
                let pairs = x[i * width..][..width].iter().zip(&x[j * width..][..width]);
                let exact: f64 = pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                prop_assert!((f64::from(seen[i * rows + j]) - exact).abs() <= 1e-5);
            }
        }
    }
}
