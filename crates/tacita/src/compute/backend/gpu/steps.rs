//! Contributions rounded to the grid and added as integers.
//!
//! A contribution is the product with its factor, in f32, in multiples of the grid's spacing, rounded to the
//! nearest: one rounding of the product, and dividing by a power of two rounds nothing.

#![allow(clippy::assign_op_pattern, clippy::too_many_arguments)]

use super::cube::largest_in_cube;
use super::rows::indices;
use super::{THREADS, cubes, empty, in_order};
use burn::backend::Cuda;
use burn::backend::tensor::IntTensor;
use burn::cubecl::{self, prelude::*};
use burn::tensor::{DType, Int, Tensor};
use tacita_kernels::exact::{Grid, Sum};

/// Steps that one record may take in a coordinate.
const MOST_STEPS: f32 = Grid::MOST_STEPS as f32;

/// Records whose steps fit 32 bits.
const RECORDS: usize = Sum::MOST_SHORT_RECORDS;

/// Rows that one thread adds up: few enough for 32 bits, and for many threads.
const STRETCH: usize = 128;

/// Values of tables that are added up at a time.
const TABLES: usize = 1 << 27;

/// The steps of some records on the GPU: in 32 bits if there are few enough of them.
#[derive(Debug)]
pub(crate) struct GpuSteps {
    steps: Tensor<1, Int>,
    records: usize,
}

impl GpuSteps {
    /// From parts `[parts, elements]` of at most [`RECORDS`] records each.
    fn of_parts(parts: Tensor<2, Int>, records: usize) -> Self {
        let [count, elements] = parts.dims();
        let parts = match records <= RECORDS {
            true => parts,
            false => parts.cast(DType::I64),
        };
        let sum = match count {
            1 => parts,
            _ => parts.sum_dim(0),
        };
        Self {
            steps: sum.reshape([elements]),
            records,
        }
    }

    /// With those of other records.
    pub fn plus(self, other: Self) -> Self {
        let records = self.records + other.records;
        let wide = |steps: Tensor<1, Int>| match records <= RECORDS {
            true => steps,
            false => steps.cast(DType::I64),
        };
        Self {
            steps: wide(self.steps) + wide(other.steps),
            records,
        }
    }

    /// Moved to the host.
    pub fn into_sum(self, grid: Grid) -> Sum {
        let data = self.steps.into_data();
        let elements = data.num_elements();
        let sum = match self.records <= RECORDS {
            true => {
                let steps: Vec<i32> = data.convert::<i32>().try_into_vec().unwrap_or_default();
                let steps = steps.into_iter().map(|steps| steps as u32).collect();
                Sum::from_steps(grid, steps, self.records)
            }
            false => {
                let steps = data.convert::<i64>().try_into_vec().unwrap_or_default();
                Some(Sum::from_long_steps(grid, steps))
            }
        };
        // Values that cannot be read would release noise alone.
        sum.filter(|sum| sum.len() == elements)
            .unwrap_or_else(|| Sum::zeros(grid, elements))
    }
}

/// 32-bit integers that are not yet set, where floats lie.
fn empty_steps<const D: usize>(like: &IntTensor<Cuda>, dims: [usize; D]) -> IntTensor<Cuda> {
    IntTensor::<Cuda> {
        dtype: DType::I32,
        ..empty(like, dims)
    }
}

/// Σᵢ cᵢ rowᵢ in steps, if a CUDA GPU holds the rows.
///
/// # Guarantee
/// No step of a record is beyond ±[`Grid::MOST_STEPS`]: a longer one, or one that is not a number, adds
/// nothing. Checked by `steps_on_the_gpu_are_those_of_the_host`.
pub(crate) fn formed_steps(rows: &Tensor<2>, factors: &Tensor<1>, grid: Grid) -> Option<GpuSteps> {
    let [count, elements] = rows.dims();
    let (rows, factors) = (in_order(rows.clone())?, in_order(factors.clone())?);
    let stretches = count.div_ceil(STRETCH).max(1);
    let parts = empty_steps(&rows, [stretches, elements]);
    let (cubes, dim) = cubes(stretches * elements);
    formed_kernel::launch(
        &parts.client,
        cubes,
        dim,
        rows.into_buffer_arg(),
        factors.into_buffer_arg(),
        parts.clone().into_buffer_arg(),
        count as u32,
        elements as u32,
        (1.0 / grid.spacing()) as f32,
        MOST_STEPS,
    );
    let parts: Tensor<2, Int> = Tensor::from_primitive::<Cuda>(parts);
    Some(GpuSteps::of_parts(parts, count))
}

/// The steps of vectors that are added to rows of a table, `[table · width]`, if a CUDA GPU holds them.
///
/// # Guarantee
/// A record one of whose vectors has a step beyond ±[`Grid::MOST_STEPS`], or one that is not a number, adds
/// nothing at all. Checked by `scattered_steps_on_the_gpu_are_those_of_the_host`.
pub(crate) fn scattered_steps(
    rows: &Tensor<2, Int>,
    vectors: &Tensor<3>,
    factors: &Tensor<1>,
    grid: Grid,
    table: usize,
) -> Option<GpuSteps> {
    let [batch, positions, width] = vectors.dims();
    let device = vectors.device();
    let elements = table * width;
    let inverse = (1.0 / grid.spacing()) as f32;
    let at_a_time = RECORDS * (TABLES / elements.max(1)).max(1);
    let mut sum: Option<GpuSteps> = None;
    for first in (0..batch).step_by(at_a_time) {
        let count = at_a_time.min(batch - first);
        let rows = indices(rows.clone().narrow(0, first, count))?;
        let vectors = in_order(vectors.clone().narrow(0, first, count))?;
        let factors = in_order(factors.clone().narrow(0, first, count))?;
        let short = empty(&factors, [count]);
        short_kernel::launch(
            &short.client,
            CubeCount::Static(count as u32, 1, 1),
            CubeDim::new_1d(THREADS),
            vectors.clone().into_buffer_arg(),
            factors.into_buffer_arg(),
            short.clone().into_buffer_arg(),
            (positions * width) as u32,
            inverse,
            MOST_STEPS,
        );
        let groups = count.div_ceil(RECORDS);
        let zeros = Tensor::<2, Int>::zeros([groups, elements], &device);
        let tables = indices(zeros)?;
        let (cubes, dim) = cubes(count * positions * width);
        scatter_kernel::launch(
            &tables.client,
            cubes,
            dim,
            rows.into_buffer_arg(),
            vectors.into_buffer_arg(),
            short.into_buffer_arg(),
            tables.clone().into_buffer_arg(),
            positions as u32,
            width as u32,
            table as u32,
            inverse,
            MOST_STEPS,
        );
        let tables: Tensor<2, Int> = Tensor::from_primitive::<Cuda>(tables);
        let part = GpuSteps::of_parts(tables, count);
        sum = Some(match sum {
            Some(sum) => sum.plus(part),
            None => part,
        });
    }
    sum
}

#[cube(launch)]
fn formed_kernel(
    rows: &[f32],
    factors: &[f32],
    parts: &mut [i32],
    count: u32,
    length: u32,
    inverse: f32,
    most: f32,
) {
    if ABSOLUTE_POS < parts.len() {
        let place = ABSOLUTE_POS as u32;
        let column = place % length;
        let first = (place / length) * comptime!(STRETCH as u32);
        let last = u32::min(first + comptime!(STRETCH as u32), count);
        let mut sum = 0i32;
        let mut row = first;
        while row < last {
            let value = rows[row as usize * length as usize + column as usize];
            let step = (value * factors[row as usize] * inverse).round();
            // No comparison holds for NaN.
            if step <= most {
                if step >= -most {
                    sum = sum + i32::cast_from(step);
                }
            }
            row += 1u32;
        }
        parts[ABSOLUTE_POS] = sum;
    }
}

/// The factor of each record, or 0 if one of its steps is too long or not a number.
#[cube(launch)]
fn short_kernel(
    vectors: &[f32],
    factors: &[f32],
    short: &mut [f32],
    length: u32,
    inverse: f32,
    most: f32,
) {
    let factor = factors[CUBE_POS_X as usize];
    let first = CUBE_POS_X as usize * length as usize;
    let mut long = 0.0f32;
    let mut index = UNIT_POS;
    while index < length {
        let step = (vectors[first + index as usize] * factor * inverse).round();
        // No comparison holds for NaN.
        let not_above = select(step <= most, 0.0f32, 1.0f32);
        let not_below = select(step >= -most, 0.0f32, 1.0f32);
        long = f32::max(long, f32::max(not_above, not_below));
        index += comptime!(THREADS);
    }
    let long = largest_in_cube(long);
    if UNIT_POS == 0 {
        short[CUBE_POS_X as usize] = select(long > 0.0f32, 0.0f32, factor);
    }
}

#[cube(launch)]
fn scatter_kernel(
    rows: &[i32],
    vectors: &[f32],
    short: &[f32],
    tables: &mut [Atomic<i32>],
    positions: u32,
    width: u32,
    table: u32,
    inverse: f32,
    most: f32,
) {
    if ABSOLUTE_POS < vectors.len() {
        let place = ABSOLUTE_POS as u32;
        let position = place / width;
        let column = place % width;
        let record = position / positions;
        let group = record / comptime!(RECORDS as u32);
        let row = rows[position as usize] as u32;
        let step = (vectors[ABSOLUTE_POS] * short[record as usize] * inverse).round();
        // A row outside the table adds nothing, and neither does infinity times the factor 0.
        if row < table {
            if step <= most {
                if step >= -most {
                    let at = (group * table + row) as usize * width as usize + column as usize;
                    tables[at].fetch_add(i32::cast_from(step));
                }
            }
        }
    }
}
