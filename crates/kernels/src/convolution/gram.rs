//! Norms of sample gradients from inner products between positions, without the gradients.
//!
//! With `g = Σ_p dy_p · patch_pᵀ`, `‖g‖² = Σ_{p,q} ⟨dy_p, dy_q⟩ · ⟨patch_p, patch_q⟩` (the ghost norm of
//! Bu, Mao & Xu 2022, arXiv:2205.10683): `T²(d + m)` multiplications instead of `T·d·m`.

use super::Geometry;
use super::block::samples_per_share;
use super::norms::{Lengths, Norms, round_up, sum_in_lanes};
use super::patches::gather;
use super::weight_gradient::scratch;
use crate::product::{Destination, Matrix, Workers, multiply};
use pulp::Arch;
use rayon::prelude::*;

/// The squared norm of each sample's weight gradient by inner products between positions.
///
/// The terms cancel, so here the rounding error of a square is relative to `reach²`: with unit roundoff
/// u = 2⁻²⁴, `patch` values per window and `m` channels of a group, |square − ‖g‖²| ≤ 2(patch + m)·u·reach²
/// to first order. Add that before relying on the square as an upper bound.
///
/// # Panics
/// If the sizes are no convolution or a slice has another length.
pub fn gram_norms(geometry: &Geometry, x: &[f32], output_gradient: &[f32]) -> Norms {
    geometry.check(Some(x), None, Some(output_gradient));
    let mut squares = vec![0.0; geometry.batch];
    let mut reach = vec![0.0; geometry.batch];
    let share = samples_per_share(geometry);
    let (size_in, size_out) = (geometry.sample_in(), geometry.sample_out());
    squares
        .par_chunks_mut(share)
        .zip(reach.par_chunks_mut(share))
        .enumerate()
        .for_each(|(index, (squares, reach))| {
            let mut columns = scratch(geometry);
            let mut lengths = Lengths::new(geometry);
            let mut grams = [(); 2].map(|()| vec![0.0; geometry.positions().pow(2)]);
            let x = x[index * share * size_in..].chunks_exact(size_in);
            let dy = output_gradient[index * share * size_out..].chunks_exact(size_out);
            for ((square, reach), (x, dy)) in squares.iter_mut().zip(reach).zip(x.zip(dy)) {
                gather(geometry, x, &mut columns, geometry.positions());
                *square = round_up(sample_square(geometry, &columns, dy, &mut grams));
                *reach = round_up(lengths.reach(geometry, x, dy));
            }
        });
    Norms { squares, reach }
}

fn sample_square(
    geometry: &Geometry,
    columns: &[f32],
    dy: &[f32],
    [windows, outputs]: &mut [Vec<f32>; 2],
) -> f64 {
    let groups = geometry.groups;
    let columns = columns.chunks_exact(columns.len() / groups);
    let sum: f64 = columns
        .zip(dy.chunks_exact(dy.len() / groups))
        .map(|(columns, dy)| {
            inner_products(columns, geometry.positions(), windows);
            inner_products(dy, geometry.positions(), outputs);
            inner_product(windows, outputs)
        })
        .sum();
    // A square below zero is rounding; a NaN stays one.
    if sum < 0.0 { 0.0 } else { sum }
}

/// All inner products between the columns of a matrix.
fn inner_products(matrix: &[f32], columns: usize, into: &mut [f32]) {
    let matrix = Matrix::new(matrix, matrix.len() / columns, columns);
    let mode = Destination::Replace;
    multiply(
        into,
        columns,
        mode,
        matrix.transposed(),
        matrix,
        Workers::One,
    );
}

fn inner_product(left: &[f32], right: &[f32]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            sum_in_lanes(left, right, |left, right| {
                f64::from(left) * f64::from(right)
            })
        },
    )
}
