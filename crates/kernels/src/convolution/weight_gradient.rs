//! The derivative with respect to the weight: the batch's sum, a weighted sum on a grid, and each
//! sample's own.

use super::Geometry;
use super::block::{samples_per_block, samples_per_share, side_by_side};
use super::correlation::Correlator;
use super::patches::gather;
use crate::exact::{Factor, Grid, Outer, Parts, add_outer};
use crate::product::{Destination, Matrix, Workers, multiply};
use rayon::prelude::*;

/// The weight's gradient summed over the batch, in the weight's shape.
///
/// # Panics
/// If the sizes are no convolution or a slice has another length.
pub fn weight_gradient(geometry: &Geometry, x: &[f32], output_gradient: &[f32]) -> Vec<f32> {
    geometry.check(Some(x), None, Some(output_gradient));
    let samples: Vec<usize> = (0..geometry.batch).collect();
    let shares: Vec<Vec<f32>> = samples
        .par_chunks(samples_per_share(geometry))
        .map(|share| share_weight_gradient(geometry, x, output_gradient, share))
        .collect();
    let mut shares = shares.into_iter();
    let mut sum = shares
        .next()
        .unwrap_or_else(|| vec![0.0; geometry.weights()]);
    for share in shares {
        for (sum, value) in sum.iter_mut().zip(share) {
            *sum += value;
        }
    }
    sum
}

fn share_weight_gradient(geometry: &Geometry, x: &[f32], dy: &[f32], share: &[usize]) -> Vec<f32> {
    let mut sum = vec![0.0; geometry.weights()];
    if correlates(geometry) {
        let mut correlator = Correlator::new(geometry);
        let mut transposed = vec![0.0; correlator.transposed()];
        for &sample in share {
            correlator.load(x, dy, sample, 1.0);
            correlator.add_gradient(&mut transposed);
        }
        correlator.upright(&transposed, &mut sum);
        return sum;
    }
    let mut laid_out = LaidOut::new(geometry, 1);
    for samples in share.chunks(laid_out.block) {
        let width = laid_out.load(x, dy, samples);
        let LaidOut {
            columns, beside, ..
        } = &laid_out;
        group_products(geometry, columns, beside, width, &mut sum, Destination::Add);
    }
    sum
}

/// Adds the steps of `factors[i]` times the weight's gradient of sample `i`, each sample rounded to the
/// grid by itself. A sample is one image, or as many consecutive images as there are for each factor.
///
/// A sample whose factor is 0 is not read at all, so that it adds nothing even if it is not finite.
///
/// # Panics
/// If the sizes are no convolution, a slice has another length, or images are not equally many for every factor.
pub fn add_weight_gradients(
    into: &mut [u32],
    geometry: &Geometry,
    x: &[f32],
    output_gradient: &[f32],
    factors: &[f32],
    grid: Grid,
) {
    geometry.check(Some(x), None, Some(output_gradient));
    let images = images_of_each(geometry, factors.len());
    assert_eq!(into.len(), geometry.weights(), "a sum of the weight's size");
    let counted: Vec<usize> = (0..factors.len()).filter(|&i| factors[i] != 0.0).collect();
    let samples = Samples { images, factors };
    let share = samples_per_share(geometry).div_ceil(images);
    let shares: Vec<Vec<u32>> = counted
        .par_chunks(share)
        .map(|share| share_steps(geometry, x, output_gradient, samples, share, grid))
        .collect();
    for share in shares {
        for (into, steps) in into.iter_mut().zip(share) {
            *into = into.wrapping_add(steps);
        }
    }
}

/// How many images make a sample.
fn images_of_each(geometry: &Geometry, samples: usize) -> usize {
    let images = geometry.batch.checked_div(samples).unwrap_or(1).max(1);
    assert_eq!(
        geometry.batch,
        images * samples,
        "equally many images for every sample"
    );
    images
}

/// Samples of so many consecutive images each, and their factors.
#[derive(Clone, Copy)]
struct Samples<'a> {
    images: usize,
    factors: &'a [f32],
}

impl Samples<'_> {
    fn of(self, sample: usize) -> std::ops::Range<usize> {
        sample * self.images..(sample + 1) * self.images
    }
}

fn share_steps(
    geometry: &Geometry,
    x: &[f32],
    dy: &[f32],
    samples: Samples<'_>,
    share: &[usize],
    grid: Grid,
) -> Vec<u32> {
    let mut sum = vec![0; geometry.weights()];
    if correlates(geometry) {
        let mut correlator = Correlator::new(geometry);
        let mut transposed = vec![0; correlator.transposed()];
        let mut formed = match samples.images {
            1 => Vec::new(),
            _ => vec![0.0; correlator.transposed()],
        };
        for &sample in share {
            let factor = samples.factors[sample];
            if samples.images == 1 {
                correlator.load(x, dy, sample, factor);
                correlator.add_steps(&mut transposed, grid);
                continue;
            }
            correlator.gradient_of(x, dy, samples.of(sample), factor, &mut formed);
            for (steps, value) in transposed.iter_mut().zip(&formed) {
                *steps = steps.wrapping_add(grid.steps(*value));
            }
        }
        correlator.add_upright(&transposed, &mut sum);
        return sum;
    }
    let (patch, channels) = (
        geometry.patch(),
        geometry.channels_out / geometry.groups.max(1),
    );
    let mut laid_out = LaidOut::new(geometry, samples.images);
    for block in share.chunks(laid_out.block / samples.images) {
        let images: Vec<usize> = block
            .iter()
            .flat_map(|&sample| samples.of(sample))
            .collect();
        let pitch = laid_out.load(x, dy, &images);
        let factors: Vec<f32> = block
            .iter()
            .map(|&sample| samples.factors[sample])
            .collect();
        let groups = sum.chunks_exact_mut((channels * patch).max(1));
        for (group, sum) in groups.enumerate() {
            let outer = Outer {
                left: Factor::ByFeature {
                    values: &laid_out.beside[group * channels * pitch..][..channels * pitch],
                    width: channels,
                    pitch,
                },
                right: Factor::ByFeature {
                    values: &laid_out.columns[group * patch * pitch..][..patch * pitch],
                    width: patch,
                    pitch,
                },
                positions: geometry.positions() * samples.images,
                factors: &factors,
            };
            add_outer(sum, outer, grid, Parts::Whole, Workers::One);
        }
    }
    sum
}

/// Whether each sample's gradient is made by itself and then added: adding to the whole gradient once per
/// sample must cost little beside computing it.
fn correlates(geometry: &Geometry) -> bool {
    Correlator::suits(geometry) && (geometry.weights() <= 1 << 16 || geometry.positions() >= 128)
}

/// Windows and output gradients of a block of images, side by side.
struct LaidOut<'a> {
    geometry: &'a Geometry,
    /// Images at a time, those of a sample together.
    block: usize,
    columns: Vec<f32>,
    beside: Vec<f32>,
}

impl<'a> LaidOut<'a> {
    fn new(geometry: &'a Geometry, images: usize) -> Self {
        let block = (samples_per_block(geometry) / images).max(1) * images;
        let windows = geometry.groups * geometry.patch() * geometry.positions();
        Self {
            geometry,
            block,
            columns: vec![0.0; windows * block],
            beside: vec![0.0; geometry.sample_out() * block],
        }
    }

    /// Lays images out; returns how many positions they have together.
    fn load(&mut self, x: &[f32], dy: &[f32], samples: &[usize]) -> usize {
        let geometry = self.geometry;
        let positions = geometry.positions();
        let (size_in, size_out) = (geometry.sample_in(), geometry.sample_out());
        let width = samples.len() * positions;
        for (index, &sample) in samples.iter().enumerate() {
            let x = &x[sample * size_in..][..size_in];
            gather(geometry, x, &mut self.columns[index * positions..], width);
        }
        let each = samples
            .iter()
            .map(|&sample| (&dy[sample * size_out..][..size_out], 1.0));
        let beside = &mut self.beside[..samples.len() * size_out];
        side_by_side(beside, positions, each);
        width
    }
}

/// `dy · columnsᵀ` of each group.
fn group_products(
    geometry: &Geometry,
    columns: &[f32],
    dy: &[f32],
    width: usize,
    into: &mut [f32],
    mode: Destination,
) {
    let patch = geometry.patch();
    let channels = geometry.channels_out / geometry.groups;
    for group in 0..geometry.groups {
        multiply(
            &mut into[group * channels * patch..],
            patch,
            mode,
            Matrix::new(
                &dy[group * channels * width..][..channels * width],
                channels,
                width,
            ),
            Matrix::new(
                &columns[group * patch * width..][..patch * width],
                patch,
                width,
            )
            .transposed(),
            Workers::One,
        );
    }
}

/// Each sample's gradient of the weight: `[samples, elements of the weight]`. A sample is `images` consecutive
/// images.
///
/// # Panics
/// If the sizes are no convolution, a slice has another length, or the images are no whole number of samples.
pub fn per_sample_weight_gradients(
    geometry: &Geometry,
    x: &[f32],
    output_gradient: &[f32],
    images: usize,
) -> Vec<f32> {
    geometry.check(Some(x), None, Some(output_gradient));
    let samples = geometry.batch / images.max(1);
    assert_eq!(geometry.batch, samples * images, "whole samples");
    let mut gradients = vec![0.0; samples * geometry.weights()];
    if gradients.is_empty() {
        return gradients;
    }
    let share = samples_per_share(geometry).div_ceil(images);
    gradients
        .par_chunks_mut(share * geometry.weights())
        .enumerate()
        .for_each(|(index, gradients)| {
            let each = gradients.chunks_exact_mut(geometry.weights()).enumerate();
            let images_of = |sample: usize| {
                let sample = index * share + sample;
                sample * images..(sample + 1) * images
            };
            if Correlator::suits(geometry) {
                let mut correlator = Correlator::new(geometry);
                let mut transposed = vec![0.0; correlator.transposed()];
                for (sample, gradient) in each {
                    let images = images_of(sample);
                    correlator.gradient_of(x, output_gradient, images, 1.0, &mut transposed);
                    correlator.upright(&transposed, gradient);
                }
                return;
            }
            let mut columns = scratch(geometry);
            for (sample, gradient) in each {
                let images = images_of(sample);
                sample_gradient(geometry, x, output_gradient, images, &mut columns, gradient);
            }
        });
    gradients
}

/// Room for one sample's windows.
pub(super) fn scratch(geometry: &Geometry) -> Vec<f32> {
    vec![0.0; geometry.groups * geometry.patch() * geometry.positions()]
}

/// The gradient of a sample, the sum over some images, written over `gradient`.
pub(super) fn sample_gradient(
    geometry: &Geometry,
    x: &[f32],
    output_gradient: &[f32],
    images: std::ops::Range<usize>,
    columns: &mut [f32],
    gradient: &mut [f32],
) {
    let positions = geometry.positions();
    let mut mode = Destination::Replace;
    for image in images {
        let x = &x[image * geometry.sample_in()..][..geometry.sample_in()];
        let dy = &output_gradient[image * geometry.sample_out()..][..geometry.sample_out()];
        let columns: &[f32] = if geometry.is_pointwise() {
            x
        } else {
            gather(geometry, x, columns, positions);
            columns
        };
        group_products(geometry, columns, dy, positions, gradient, mode);
        mode = Destination::Add;
    }
}
