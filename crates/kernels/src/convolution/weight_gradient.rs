//! The derivative with respect to the weight: the batch's sum, a weighted sum, and each sample's own.

use super::Geometry;
use super::block::{samples_per_block, samples_per_share, side_by_side};
use super::correlation::Correlator;
use super::patches::gather;
use crate::product::{Into, Matrix, Workers, multiply};
use rayon::prelude::*;

/// The weight's gradient summed over the batch, in the weight's shape.
///
/// # Panics
/// If the sizes are no convolution or a slice has another length.
pub fn weight_gradient(geometry: &Geometry, x: &[f32], output_gradient: &[f32]) -> Vec<f32> {
    weighted_weight_gradient(geometry, x, output_gradient, &vec![1.0; geometry.batch])
}

/// The sum over samples of `factors[i]` times the weight's gradient of sample `i`.
///
/// A sample whose factor is 0 is not read at all, so that it adds nothing even if it is not finite.
///
/// # Panics
/// If the sizes are no convolution, a slice has another length, or there is not one factor per sample.
pub fn weighted_weight_gradient(
    geometry: &Geometry,
    x: &[f32],
    output_gradient: &[f32],
    factors: &[f32],
) -> Vec<f32> {
    geometry.check(Some(x), None, Some(output_gradient));
    assert_eq!(factors.len(), geometry.batch, "one factor per sample");
    let counted: Vec<usize> = (0..geometry.batch).filter(|&i| factors[i] != 0.0).collect();
    let shares: Vec<Vec<f32>> = counted
        .par_chunks(samples_per_share(geometry))
        .map(|share| share_weight_gradient(geometry, x, output_gradient, factors, share))
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

fn share_weight_gradient(
    geometry: &Geometry,
    x: &[f32],
    dy: &[f32],
    factors: &[f32],
    share: &[usize],
) -> Vec<f32> {
    if Correlator::suits(geometry) && sums_stay_near(geometry) {
        return correlated(geometry, x, dy, factors, share);
    }
    let (positions, rows) = (geometry.positions(), geometry.groups * geometry.patch());
    let (size_in, size_out) = (geometry.sample_in(), geometry.sample_out());
    let block = samples_per_block(geometry);
    let mut sum = vec![0.0; geometry.weights()];
    let mut columns = vec![0.0; rows * block * positions];
    let mut beside = vec![0.0; block * size_out];
    for samples in share.chunks(block) {
        let width = samples.len() * positions;
        for (index, &sample) in samples.iter().enumerate() {
            let x = &x[sample * size_in..][..size_in];
            gather(geometry, x, &mut columns[index * positions..], width);
        }
        let each = samples
            .iter()
            .map(|&sample| (&dy[sample * size_out..][..size_out], factors[sample]));
        side_by_side(&mut beside[..samples.len() * size_out], positions, each);
        group_products(geometry, &columns, &beside, width, &mut sum, Into::Add);
    }
    sum
}

/// Whether adding to the whole gradient once per sample costs little beside computing it.
fn sums_stay_near(geometry: &Geometry) -> bool {
    geometry.weights() <= 1 << 16 || geometry.positions() >= 128
}

fn correlated(
    geometry: &Geometry,
    x: &[f32],
    dy: &[f32],
    factors: &[f32],
    share: &[usize],
) -> Vec<f32> {
    let mut correlator = Correlator::new(geometry);
    let mut sum = vec![0.0; correlator.transposed()];
    for &sample in share {
        correlator.load(x, dy, sample, factors[sample]);
        correlator.gradient(&mut sum, true);
    }
    let mut upright = vec![0.0; geometry.weights()];
    correlator.upright(&sum, &mut upright);
    upright
}

/// `dy · columnsᵀ` of each group.
fn group_products(
    geometry: &Geometry,
    columns: &[f32],
    dy: &[f32],
    width: usize,
    into: &mut [f32],
    mode: Into,
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

/// Each sample's gradient of the weight: `[batch, elements of the weight]`.
///
/// # Panics
/// If the sizes are no convolution or a slice has another length.
pub fn per_sample_weight_gradients(
    geometry: &Geometry,
    x: &[f32],
    output_gradient: &[f32],
) -> Vec<f32> {
    geometry.check(Some(x), None, Some(output_gradient));
    let mut gradients = vec![0.0; geometry.batch * geometry.weights()];
    if gradients.is_empty() {
        return gradients;
    }
    let share = samples_per_share(geometry);
    gradients
        .par_chunks_mut(share * geometry.weights())
        .enumerate()
        .for_each(|(index, gradients)| {
            if Correlator::suits(geometry) {
                let mut correlator = Correlator::new(geometry);
                let mut transposed = vec![0.0; correlator.transposed()];
                for (sample, gradient) in gradients.chunks_exact_mut(geometry.weights()).enumerate()
                {
                    correlator.load(x, output_gradient, index * share + sample, 1.0);
                    correlator.gradient(&mut transposed, false);
                    correlator.upright(&transposed, gradient);
                }
                return;
            }
            let mut columns = scratch(geometry);
            for (sample, gradient) in gradients.chunks_exact_mut(geometry.weights()).enumerate() {
                let sample = index * share + sample;
                sample_gradient(geometry, x, output_gradient, sample, &mut columns, gradient);
            }
        });
    gradients
}

/// Room for one sample's windows.
pub(super) fn scratch(geometry: &Geometry) -> Vec<f32> {
    vec![0.0; geometry.groups * geometry.patch() * geometry.positions()]
}

/// One sample's gradient, written over `gradient`.
pub(super) fn sample_gradient(
    geometry: &Geometry,
    x: &[f32],
    output_gradient: &[f32],
    sample: usize,
    columns: &mut [f32],
    gradient: &mut [f32],
) {
    let positions = geometry.positions();
    let x = &x[sample * geometry.sample_in()..][..geometry.sample_in()];
    let dy = &output_gradient[sample * geometry.sample_out()..][..geometry.sample_out()];
    let columns = if geometry.is_pointwise() {
        x
    } else {
        gather(geometry, x, columns, positions);
        columns
    };
    group_products(geometry, columns, dy, positions, gradient, Into::Replace);
}
