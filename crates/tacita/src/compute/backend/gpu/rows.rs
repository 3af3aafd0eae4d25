//! Embeddings: the squared norm of a scatter by integers, and the scatter of an ordinary backward pass.

#![allow(clippy::assign_op_pattern)]

use super::{cubes, empty, in_order, input};
use crate::compute::backend::graph::{Derivative, apply};
use burn::backend::Cuda;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::cubecl::{self, prelude::*};
use burn::tensor::{DType, Int, Tensor, module};
use burn_cubecl::kernel::into_contiguous;

/// Rows and their vectors, on the GPU.
#[derive(Debug)]
pub(crate) struct GpuRows {
    /// `[batch, positions]`
    rows: IntTensor<Cuda>,
    /// `[batch, positions, width]`
    right: FloatTensor<Cuda>,
}

/// In order, as 32-bit integers.
pub(super) fn indices<const D: usize>(rows: Tensor<D, Int>) -> Option<IntTensor<Cuda>> {
    let rows = match rows.dtype() {
        DType::I32 => rows,
        _ => rows.cast(DType::I32),
    };
    rows.try_into_primitive::<Cuda>().ok().map(into_contiguous)
}

impl GpuRows {
    /// Of tensors that a GPU holds.
    pub fn new(rows: &Tensor<2, Int>, right: &Tensor<3>) -> Option<Self> {
        let right = in_order(right.clone())?;
        let rows = indices(rows.clone())?;
        Some(Self { rows, right })
    }

    fn dims(&self) -> [usize; 3] {
        self.right.meta.shape().dims()
    }

    pub fn width(&self) -> usize {
        self.dims()[2]
    }

    pub fn positions(&self) -> usize {
        self.dims()[1]
    }

    pub fn bytes(&self) -> usize {
        let [batch, positions, width] = self.dims();
        4 * batch * positions * (width + 1)
    }

    /// Both as tensors: `[batch, positions]` and `[batch, positions, width]`.
    pub fn tensors(&self) -> (Tensor<2, Int>, Tensor<3>) {
        (
            Tensor::from_primitive::<Cuda>(self.rows.clone()),
            Tensor::from_primitive::<Cuda>(self.right.clone()),
        )
    }

    /// Only the given samples.
    pub fn select(&self, samples: &Tensor<1, Int>) -> Self {
        let (rows, right) = self.tensors();
        let rows = rows.select(0, samples.clone());
        let right = right.select(0, samples.clone());
        // A selection is new and in order.
        Self {
            rows: indices(rows).unwrap_or_else(|| self.rows.clone()),
            right: in_order(right).unwrap_or_else(|| self.right.clone()),
        }
    }

    /// Σ over distinct rows of (Σ of their vectors)², by sample and column: `[batch, width]`.
    ///
    /// Sums are in f64, so each entry has the error of one rounding.
    pub fn squares(&self) -> Tensor<2> {
        let [batch, positions, width] = self.dims();
        let squares = empty(&self.right, [batch, width]);
        let (count, dim) = cubes(batch * width);
        squares_kernel::launch(
            &self.right.client,
            count,
            dim,
            self.rows.clone().into_buffer_arg(),
            self.right.clone().into_buffer_arg(),
            squares.clone().into_buffer_arg(),
            positions as u32,
            width as u32,
        );
        Tensor::from_primitive::<Cuda>(squares)
    }

    /// Σₜ ‖right_{i,t}‖, which does not cancel as equal rows may. `[batch]`
    pub fn reach(&self) -> Tensor<1> {
        let right: Tensor<3> = Tensor::from_primitive::<Cuda>(self.right.clone());
        let [batch, positions, _] = self.dims();
        let lengths = right.square().sum_dim(2).sqrt();
        let reach = lengths.reshape([batch, positions]).sum_dim(1);
        reach.reshape([batch])
    }

    /// Σᵢ gᵢ as an ordinary backward pass adds it up, `[table, width]`. Not for clipped sums: floats are
    /// added in whatever order the threads come.
    pub(super) fn plain_sum(&self, table: usize) -> Option<FloatTensor<Cuda>> {
        let [batch, positions, width] = self.dims();
        let (_, right) = self.tensors();
        let sum = in_order(Tensor::<2>::zeros([table, width], &right.device()))?;
        let (count, dim) = cubes(batch * positions * width);
        scatter_kernel::launch(
            &self.right.client,
            count,
            dim,
            self.rows.clone().into_buffer_arg(),
            self.right.clone().into_buffer_arg(),
            sum.clone().into_buffer_arg(),
            width as u32,
            table as u32,
        );
        Some(sum)
    }
}

/// The rows of an embedding, whose gradient is a scatter by the whole GPU.
#[derive(Debug, Clone)]
struct Embedded {
    rows: Tensor<2, Int>,
    table: usize,
}

impl Derivative<Cuda, 1> for Embedded {
    fn gradients(self, dy: FloatTensor<Cuda>, _: [bool; 1]) -> [Option<FloatTensor<Cuda>>; 1] {
        let Self { rows, table } = self;
        let right: Tensor<3> = Tensor::from_primitive::<Cuda>(dy);
        [GpuRows::new(&rows, &right).and_then(|rows| rows.plain_sum(table))]
    }
}

/// The rows of `weight` named by `rows`, if a CUDA GPU holds both.
pub(crate) fn embedding(weight: &Tensor<2>, rows: &Tensor<2, Int>) -> Option<Tensor<3>> {
    let table = weight.dims()[0];
    let input = input(weight)?;
    indices(rows.clone())?;
    let rows = rows.clone();
    Some(apply([input], |[weight]| {
        let weight: Tensor<2> = Tensor::from_primitive::<Cuda>(weight);
        let chosen = in_order(module::embedding(weight, rows.clone()));
        let chosen = chosen.unwrap_or_else(|| unreachable!("the table is on the GPU"));
        (chosen, Embedded { rows, table })
    }))
}

#[cube(launch)]
fn squares_kernel(rows: &[i32], right: &[f32], squares: &mut [f32], positions: u32, width: u32) {
    let place = ABSOLUTE_POS as u32;
    if ABSOLUTE_POS < squares.len() {
        let sample = place / width;
        let column = place % width;
        let first = sample * positions;
        let mut square = 0.0f64;
        for t in 0..positions {
            let row = rows[(first + t) as usize];
            let mut seen = false;
            for s in 0..t {
                if rows[(first + s) as usize] == row {
                    seen = true;
                }
            }
            if !seen {
                let mut sum = 0.0f64;
                for s in t..positions {
                    if rows[(first + s) as usize] == row {
                        sum = sum + f64::cast_from(right[((first + s) * width + column) as usize]);
                    }
                }
                square = square + sum * sum;
            }
        }
        squares[ABSOLUTE_POS] = f32::cast_from(square);
    }
}

#[cube(launch)]
fn scatter_kernel(rows: &[i32], right: &[f32], sum: &mut [Atomic<f32>], width: u32, table: u32) {
    if ABSOLUTE_POS < right.len() {
        let place = ABSOLUTE_POS as u32;
        let position = place / width;
        let column = place % width;
        let row = rows[position as usize] as u32;
        // A row outside the table, which a GPU does not refuse, adds nothing.
        if row < table {
            sum[(row * width + column) as usize].fetch_add(right[ABSOLUTE_POS]);
        }
    }
}
