//! The norm of each sample's weight gradient.

use super::Geometry;
use super::block::samples_per_share;
use super::correlation::Correlator;
use super::weight_gradient::{sample_gradient, scratch};
use pulp::Arch;
use rayon::prelude::*;

/// Per sample: the squared norm of the weight's gradient, and the scale of its rounding error.
#[derive(Debug, Clone, PartialEq)]
pub struct Norms {
    /// Squared norms of the gradients as computed in f32, rounded up.
    pub squares: Vec<f32>,
    /// Sum over groups and positions of `‖dy‖ · ‖patch‖`, rounded up: no order of summation errs by
    /// more than a small multiple of the unit roundoff times this.
    pub reach: Vec<f32>,
}

/// The squared norm of each sample's weight gradient, which is formed in scratch and dropped. A sample is `images`
/// consecutive images.
///
/// # Panics
/// If the sizes are no convolution, a slice has another length, or the images are no whole number of samples.
pub fn per_sample_norms(
    geometry: &Geometry,
    x: &[f32],
    output_gradient: &[f32],
    images: usize,
) -> Norms {
    geometry.check(Some(x), None, Some(output_gradient));
    let samples = geometry.batch / images.max(1);
    assert_eq!(geometry.batch, samples * images, "whole samples");
    let mut squares = vec![0.0; samples];
    let mut reach = vec![0.0; samples];
    let share = samples_per_share(geometry).div_ceil(images);
    squares
        .par_chunks_mut(share)
        .zip(reach.par_chunks_mut(share))
        .enumerate()
        .for_each(|(index, (squares, reach))| {
            let mut gradients = Gradients::new(geometry, images);
            let mut lengths = Lengths::new(geometry);
            for (sample, (square, reach)) in squares.iter_mut().zip(reach).enumerate() {
                let first = (index * share + sample) * images;
                let images = first..first + images;
                let squared = gradients.squared(geometry, x, output_gradient, images.clone());
                *square = round_up(squared);
                let reaches = images.map(|image| {
                    let x = &x[image * geometry.sample_in()..][..geometry.sample_in()];
                    let dy = &output_gradient[image * geometry.sample_out()..];
                    lengths.reach(geometry, x, &dy[..geometry.sample_out()])
                });
                *reach = round_up(reaches.sum());
            }
        });
    Norms { squares, reach }
}

/// Where a worker forms its gradients.
enum Gradients {
    Correlated(Box<Correlator>),
    /// Of several images, whose gradients are added before they are squared.
    Added {
        correlator: Box<Correlator>,
        transposed: Vec<f32>,
    },
    Formed {
        columns: Vec<f32>,
        gradient: Vec<f32>,
    },
}

impl Gradients {
    fn new(geometry: &Geometry, images: usize) -> Self {
        if Correlator::suits(geometry) {
            let correlator = Box::new(Correlator::new(geometry));
            return match images {
                1 => Self::Correlated(correlator),
                _ => Self::Added {
                    transposed: vec![0.0; correlator.transposed()],
                    correlator,
                },
            };
        }
        Self::Formed {
            columns: scratch(geometry),
            gradient: vec![0.0; geometry.weights()],
        }
    }

    fn squared(
        &mut self,
        geometry: &Geometry,
        x: &[f32],
        dy: &[f32],
        images: std::ops::Range<usize>,
    ) -> f64 {
        match self {
            Self::Correlated(correlator) => {
                correlator.load(x, dy, images.start, 1.0);
                let mut sum = 0.0;
                correlator.for_each_part(|part| sum += squared(part));
                sum
            }
            Self::Added {
                correlator,
                transposed,
            } => {
                correlator.gradient_of(x, dy, images, 1.0, transposed);
                squared(transposed)
            }
            Self::Formed { columns, gradient } => {
                sample_gradient(geometry, x, dy, images, columns, gradient);
                squared(gradient)
            }
        }
    }
}

/// The sum of squares in f64.
fn squared(values: &[f32]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            sum_in_lanes(values, values, |value, _| {
                f64::from(value) * f64::from(value)
            })
        },
    )
}

/// The sum of `term` over pairs, sixteen sums at a time.
#[inline(always)]
pub(super) fn sum_in_lanes<T: Copy>(left: &[T], right: &[T], term: impl Fn(T, T) -> f64) -> f64 {
    let (lefts, left) = left.as_chunks::<16>();
    let (rights, right) = right.as_chunks::<16>();
    let mut sums = [0.0f64; 16];
    for (left, right) in lefts.iter().zip(rights) {
        for lane in 0..16 {
            sums[lane] += term(left[lane], right[lane]);
        }
    }
    let rest = left
        .iter()
        .zip(right)
        .map(|(&left, &right)| term(left, right));
    sums.iter().sum::<f64>() + rest.sum::<f64>()
}

/// An f32 no smaller than `value` and than the exact value `value` was rounded from.
pub(super) fn round_up(value: f64) -> f32 {
    // Sums of non-negative terms in f64: at most 2⁻⁵³ per term, and 2⁻²⁵ is half an f32 step.
    let nearest = value as f32;
    if value == 0.0 {
        nearest
    } else {
        nearest.next_up()
    }
}

/// Lengths of windows and of output gradients, per position.
pub(super) struct Lengths {
    image: Vec<f64>,
    columns: Vec<f64>,
    patches: Vec<f64>,
    outputs: Vec<f64>,
}

impl Lengths {
    pub fn new(geometry: &Geometry) -> Self {
        Self {
            image: vec![0.0; geometry.input[0] * geometry.input[1]],
            columns: vec![0.0; geometry.output[0] * geometry.input[1]],
            patches: vec![0.0; geometry.positions()],
            outputs: vec![0.0; geometry.positions()],
        }
    }

    /// A window's squared length is the sum, over the kernel's rows and then its columns, of squares
    /// summed over channels: `k1 + k2` reads per position, not `channels · k1 · k2`.
    pub fn reach(&mut self, geometry: &Geometry, x: &[f32], dy: &[f32]) -> f64 {
        let per_group = (x.len() / geometry.groups, dy.len() / geometry.groups);
        (0..geometry.groups)
            .map(|group| {
                let x = &x[group * per_group.0..][..per_group.0];
                let dy = &dy[group * per_group.1..][..per_group.1];
                Arch::new().dispatch(
                    #[inline(always)]
                    || {
                        sum_of_squares(&mut self.image, x);
                        sum_of_squares(&mut self.outputs, dy);
                        self.window_sums(geometry);
                        sum_in_lanes(&self.patches, &self.outputs, |patch, output| {
                            (patch * output).sqrt()
                        })
                    },
                )
            })
            .sum()
    }

    /// Sums down the columns, then along the lines.
    #[inline(always)]
    fn window_sums(&mut self, geometry: &Geometry) {
        let (width_in, width) = (geometry.input[1], geometry.output[1]);
        self.patches.fill(0.0);
        self.columns.fill(0.0);
        for offset in 0..geometry.kernel[0] {
            let down = geometry.span(0, offset);
            for row in down.first..down.end {
                let line = (down.start + (row - down.first) * geometry.stride[0]) * width_in;
                let sums = &mut self.columns[row * width_in..][..width_in];
                for (sum, value) in sums.iter_mut().zip(&self.image[line..]) {
                    *sum += value;
                }
            }
        }
        for offset in 0..geometry.kernel[1] {
            let along = geometry.span(1, offset);
            let lines = self.columns.chunks_exact(width_in);
            for (sums, line) in self.patches.chunks_exact_mut(width).zip(lines) {
                let from = line[along.start..].iter().step_by(geometry.stride[1]);
                for (sum, value) in sums[along.first..along.end].iter_mut().zip(from) {
                    *sum += value;
                }
            }
        }
    }
}

/// The squares of several planes, summed over the planes.
#[inline(always)]
fn sum_of_squares(sums: &mut [f64], planes: &[f32]) {
    sums.fill(0.0);
    for plane in planes.chunks_exact(sums.len()) {
        for (sum, &value) in sums.iter_mut().zip(plane) {
            *sum += f64::from(value) * f64::from(value);
        }
    }
}
