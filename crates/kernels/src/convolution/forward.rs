//! The convolution itself.

use super::Geometry;
use super::block::{block_scratch, samples_per_block, samples_per_share, suits_shifts};
use super::patches::gather;
use super::phases::Phases;
use super::tile::{LANES, Packed, Shifted};
use crate::product::{Destination, Matrix, Workers, multiply};
use pulp::Arch;
use rayon::prelude::*;

/// The convolution of a batch: `[batch, channels_out, height, width]`.
///
/// ```
/// use tacita_kernels::convolution::{Geometry, forward};
/// let geometry = Geometry {
///     batch: 1, channels_in: 1, input: [1, 3], channels_out: 1, output: [1, 2],
///     kernel: [1, 2], stride: [1, 1], padding: [(0, 0), (0, 0)], dilation: [1, 1], groups: 1,
/// };
/// let y = forward(&geometry, &[1.0, 2.0, 3.0], &[1.0, 10.0], Some(&[0.5]));
/// assert_eq!(y, [21.5, 32.5]);
/// ```
///
/// # Panics
/// If the sizes are no convolution or a slice has another length.
pub fn forward(geometry: &Geometry, x: &[f32], weight: &[f32], bias: Option<&[f32]>) -> Vec<f32> {
    geometry.check(Some(x), Some(weight), None);
    geometry.check_bias(bias, geometry.channels_out);
    let mut y = vec![0.0; geometry.batch * geometry.sample_out()];
    let share = samples_per_share(geometry);
    if y.is_empty() {
        return y;
    }
    let size = geometry.sample_in();
    let shares = y.par_chunks_mut(share * geometry.sample_out()).enumerate();
    if suits_shifts(geometry) {
        let plan = Shifts::new(geometry, weight, bias);
        shares.for_each(|(index, y)| plan.run(&x[index * share * size..], y));
    } else {
        shares.for_each(|(index, y)| {
            let samples = y.len() / geometry.sample_out();
            let x = &x[index * share * size..][..samples * size];
            share_forward(geometry, x, weight, bias, y);
        });
    }
    y
}

/// The convolution as a product of the weight with shifts of a padded image.
struct Shifts<'a> {
    geometry: &'a Geometry,
    phases: Phases,
    weights: Vec<Packed>,
    bias: Option<&'a [f32]>,
}

impl<'a> Shifts<'a> {
    fn new(geometry: &'a Geometry, weight: &[f32], bias: Option<&'a [f32]>) -> Self {
        let (channels, patch) = (geometry.channels_out / geometry.groups, geometry.patch());
        let pack = |weight: &[f32]| Packed::new(channels, patch, |row, k| weight[row * patch + k]);
        Self {
            geometry,
            phases: Phases::new(geometry),
            weights: weight.chunks_exact(channels * patch).map(pack).collect(),
            bias,
        }
    }

    fn run(&self, x: &[f32], y: &mut [f32]) {
        let geometry = self.geometry;
        let channels = geometry.channels_out / geometry.groups;
        let pitch = self.phases.run().next_multiple_of(LANES);
        let mut image = self.phases.image();
        let mut products = vec![0.0; channels * pitch];
        let samples = x.chunks_exact(geometry.sample_in());
        for (x, y) in samples.zip(y.chunks_exact_mut(geometry.sample_out())) {
            self.phases.fill(x, &mut image);
            let groups = y.chunks_exact_mut(channels * geometry.positions());
            for (group, (y, left)) in groups.zip(&self.weights).enumerate() {
                Arch::new().dispatch(Shifted {
                    left,
                    offsets: &self.phases.offsets,
                    image: &image[group * self.phases.group..],
                    into: &mut products,
                    pitch,
                });
                let bias = self.bias.map(|bias| &bias[group * channels..]);
                self.keep(&products, pitch, bias, y);
            }
        }
    }

    /// Keeps the places of a run that are outputs, and adds the bias.
    fn keep(&self, products: &[f32], pitch: usize, bias: Option<&[f32]>, y: &mut [f32]) {
        let width = self.geometry.output[1];
        let planes = y.chunks_exact_mut(self.geometry.positions());
        for (channel, (y, products)) in planes.zip(products.chunks_exact(pitch)).enumerate() {
            let bias = bias.map_or(0.0, |bias| bias[channel]);
            for (y, from) in y
                .chunks_exact_mut(width)
                .zip(products.chunks(self.phases.width))
            {
                for (y, &from) in y.iter_mut().zip(from) {
                    *y = from + bias;
                }
            }
        }
    }
}

fn share_forward(
    geometry: &Geometry,
    x: &[f32],
    weight: &[f32],
    bias: Option<&[f32]>,
    y: &mut [f32],
) {
    let (positions, patch, groups) = (geometry.positions(), geometry.patch(), geometry.groups);
    let channels = geometry.channels_out / groups;
    let block = samples_per_block(geometry);
    let direct = block == 1 && geometry.is_pointwise();
    let (mut columns, mut products) = block_scratch(geometry, block);
    for first in (0..y.len() / geometry.sample_out()).step_by(block) {
        let start = first * geometry.sample_out();
        let samples = block.min((y.len() - start) / geometry.sample_out());
        let y = &mut y[start..][..samples * geometry.sample_out()];
        let width = samples * positions;
        let at =
            |sample: usize| &x[(first + sample) * geometry.sample_in()..][..geometry.sample_in()];
        let columns = if direct {
            at(0)
        } else {
            for sample in 0..samples {
                gather(
                    geometry,
                    at(sample),
                    &mut columns[sample * positions..],
                    width,
                );
            }
            &columns[..groups * patch * width]
        };
        let into = if block == 1 { &mut *y } else { &mut products };
        for group in 0..groups {
            multiply(
                &mut into[group * channels * width..],
                width,
                Destination::Replace,
                Matrix::new(
                    &weight[group * channels * patch..][..channels * patch],
                    channels,
                    patch,
                ),
                Matrix::new(
                    &columns[group * patch * width..][..patch * width],
                    patch,
                    width,
                ),
                Workers::One,
            );
        }
        if block == 1 {
            add_bias(y, positions, bias);
        } else {
            apart(&products, positions, samples, bias, y);
        }
    }
}

/// Adds each channel's bias in place.
fn add_bias(y: &mut [f32], positions: usize, bias: Option<&[f32]>) {
    if let Some(bias) = bias {
        for (channel, &bias) in y.chunks_exact_mut(positions).zip(bias) {
            for value in channel {
                *value += bias;
            }
        }
    }
}

/// Takes samples that lie side by side apart, adding the bias.
fn apart(products: &[f32], positions: usize, samples: usize, bias: Option<&[f32]>, y: &mut [f32]) {
    let size = y.len() / samples;
    for (sample, y) in y.chunks_exact_mut(size).enumerate() {
        for (channel, y) in y.chunks_exact_mut(positions).enumerate() {
            let from = &products[(channel * samples + sample) * positions..][..positions];
            let bias = bias.map_or(0.0, |bias| bias[channel]);
            for (y, &from) in y.iter_mut().zip(from) {
                *y = from + bias;
            }
        }
    }
}
