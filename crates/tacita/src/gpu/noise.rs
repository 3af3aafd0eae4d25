//! The noise of [`crate::noise`] drawn by the card: the same stream, key by key and index by index.
//!
//! A thread makes one ChaCha20 block, whose eight numbers become eight normals. Logarithm, sine and
//! cosine are CUDA's in f64, so values agree with the CPU's up to their last roundings, before both
//! are rounded to the same public grid.

// `#[cube]` functions are read by a macro that knows no shorter forms.
#![allow(clippy::too_many_arguments, clippy::assign_op_pattern)]

use super::{cubes, empty, in_order};
use crate::chacha::{CONSTANTS, GROUP, LANES, ROWS};
use burn::backend::Cuda;
use burn::cubecl::{self, prelude::*};
use burn::tensor::Tensor;

/// What the noise of one tensor depends on.
pub(crate) struct Draw {
    pub subkey: [u32; 8],
    pub tensor: u32,
    /// Normals added up for each value.
    pub parts: u32,
    /// Their standard deviation.
    pub scale: f64,
    /// See [`crate::noise`]: adding and subtracting it rounds to the grid.
    pub rounder: f64,
    /// The released value is multiplied by this public number.
    pub factor: f32,
    /// The group the first value belongs to.
    pub first_group: u32,
}

/// `factor · round(values[i] + scale · normal(i))`, if a CUDA card holds the values.
pub(crate) fn add_normals(values: Tensor<1>, draw: &Draw) -> Option<Tensor<1>> {
    let length = values.dims()[0];
    let values = in_order(values)?;
    let noisy = empty(&values, [length]);
    let (count, dim) = cubes(length.div_ceil(GROUP) * LANES);
    let key = draw.subkey;
    add_normals_kernel::launch(
        &noisy.client,
        count,
        dim,
        values.into_buffer_arg(),
        noisy.clone().into_buffer_arg(),
        key[0],
        key[1],
        key[2],
        key[3],
        key[4],
        key[5],
        key[6],
        key[7],
        draw.tensor,
        draw.first_group * LANES as u32,
        draw.scale,
        draw.rounder,
        draw.factor,
        draw.parts,
    );
    Some(Tensor::from_primitive::<Cuda>(noisy))
}

#[cube(launch)]
fn add_normals_kernel(
    values: &[f32],
    noisy: &mut [f32],
    key_0: u32,
    key_1: u32,
    key_2: u32,
    key_3: u32,
    key_4: u32,
    key_5: u32,
    key_6: u32,
    key_7: u32,
    tensor: u32,
    first_block: u32,
    scale: f64,
    rounder: f64,
    factor: f32,
    #[comptime] parts: u32,
) {
    let place = ABSOLUTE_POS;
    // Value `GROUP · group + LANES · row + lane` takes number `row` of block `LANES · group + lane`.
    let first = (place / LANES) * GROUP + place % LANES;
    if first < values.len() {
        let mut key = Array::<u32>::new(8usize);
        key[0] = key_0;
        key[1] = key_1;
        key[2] = key_2;
        key[3] = key_3;
        key[4] = key_4;
        key[5] = key_5;
        key[6] = key_6;
        key[7] = key_7;
        let block = first_block + place as u32;
        let mut sums = Array::<f64>::new(ROWS);
        #[unroll]
        for row in 0..ROWS {
            sums[row] = 0.0f64;
        }
        for part in 0..parts {
            let mut words = Array::<u32>::new(16usize);
            fill_block(&key, block, tensor, part, &mut words);
            #[unroll]
            for pair in 0..4usize {
                let number = join(words[4 * pair], words[4 * pair + 1]);
                let angle = join(words[4 * pair + 2], words[4 * pair + 3]);
                let mut below = 0.5f64;
                // The tail beyond 6.66 standard deviations takes 64 bits more.
                if words[4 * pair + 1] == 0u32 {
                    let mut extension = Array::<u32>::new(16usize);
                    fill_block(&key, block, tensor, part | (1u32 << 31u32), &mut extension);
                    let bits = join(extension[4 * pair], extension[4 * pair + 1]);
                    below = (f64::cast_from(bits) + 0.5f64) * 5.421010862427522e-20f64;
                }
                let uniform = (f64::cast_from(number) + below) * 5.421010862427522e-20f64;
                let radius = (uniform.ln() * -2.0f64).sqrt();
                // Quarter turns from the axis, in [−½, ½).
                let fraction = (angle << 2u64) >> 12u64;
                let turn = (f64::cast_from(fraction) + 0.5f64) * 2.220446049250313e-16f64 - 0.5f64;
                let theta = turn * 1.5707963267948966f64;
                let cos = theta.cos();
                let sin = theta.sin();
                let quarter = words[4 * pair + 3] >> 30u32;
                let mut x = cos;
                let mut y = sin;
                if quarter == 1u32 {
                    x = -sin;
                    y = cos;
                }
                if quarter == 2u32 {
                    x = -cos;
                    y = -sin;
                }
                if quarter == 3u32 {
                    x = sin;
                    y = -cos;
                }
                sums[2 * pair] = sums[2 * pair] + radius * x;
                sums[2 * pair + 1] = sums[2 * pair + 1] + radius * y;
            }
        }
        #[unroll]
        for row in 0..ROWS {
            let index = first + LANES * row;
            if index < values.len() {
                let value = f64::cast_from(values[index]) + scale * sums[row];
                let rounded = (value + rounder) - rounder;
                noisy[index] = f32::cast_from(rounded) * factor;
            }
        }
    }
}

#[cube]
fn join(low: u32, high: u32) -> u64 {
    u64::cast_from(low) | (u64::cast_from(high) << 32u64)
}

/// The words of a ChaCha20 block (RFC 8439, §2.3).
#[cube]
fn fill_block(key: &Array<u32>, block: u32, tensor: u32, part: u32, words: &mut Array<u32>) {
    words[0] = comptime!(CONSTANTS[0]).runtime();
    words[1] = comptime!(CONSTANTS[1]).runtime();
    words[2] = comptime!(CONSTANTS[2]).runtime();
    words[3] = comptime!(CONSTANTS[3]).runtime();
    #[unroll]
    for word in 0..8usize {
        words[4 + word] = key[word];
    }
    words[12] = block;
    words[13] = 0u32;
    words[14] = tensor;
    words[15] = part;
    for _ in 0..10u32 {
        quarter_round(words, 0usize, 4usize, 8usize, 12usize);
        quarter_round(words, 1usize, 5usize, 9usize, 13usize);
        quarter_round(words, 2usize, 6usize, 10usize, 14usize);
        quarter_round(words, 3usize, 7usize, 11usize, 15usize);
        quarter_round(words, 0usize, 5usize, 10usize, 15usize);
        quarter_round(words, 1usize, 6usize, 11usize, 12usize);
        quarter_round(words, 2usize, 7usize, 8usize, 13usize);
        quarter_round(words, 3usize, 4usize, 9usize, 14usize);
    }
    words[0] = words[0] + comptime!(CONSTANTS[0]).runtime();
    words[1] = words[1] + comptime!(CONSTANTS[1]).runtime();
    words[2] = words[2] + comptime!(CONSTANTS[2]).runtime();
    words[3] = words[3] + comptime!(CONSTANTS[3]).runtime();
    #[unroll]
    for word in 0..8usize {
        words[4 + word] = words[4 + word] + key[word];
    }
    words[12] = words[12] + block;
    words[14] = words[14] + tensor;
    words[15] = words[15] + part;
}

#[cube]
fn quarter_round(
    words: &mut Array<u32>,
    #[comptime] a: usize,
    #[comptime] b: usize,
    #[comptime] c: usize,
    #[comptime] d: usize,
) {
    words[a] = words[a] + words[b];
    words[d] = rotate_left(words[d] ^ words[a], 16u32);
    words[c] = words[c] + words[d];
    words[b] = rotate_left(words[b] ^ words[c], 12u32);
    words[a] = words[a] + words[b];
    words[d] = rotate_left(words[d] ^ words[a], 8u32);
    words[c] = words[c] + words[d];
    words[b] = rotate_left(words[b] ^ words[c], 7u32);
}

#[cube]
fn rotate_left(word: u32, #[comptime] bits: u32) -> u32 {
    (word << bits) | (word >> (32u32 - bits))
}
