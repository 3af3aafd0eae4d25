//! The derivative with respect to the input, which is also a transposed convolution.

use super::Geometry;
use super::block::{
    block_scratch, samples_per_block, samples_per_share, side_by_side, suits_transposed_shifts,
};
use super::patches::scatter;
use super::transposed_phases::TransposedPhases;
use crate::product::{Destination, Matrix, Workers, multiply};
use rayon::prelude::*;

/// The input's gradient: `[batch, channels_in, height, width]`, plus `bias` per input channel.
///
/// A transposed convolution's forward pass is this function with `bias`, its input taking the place of
/// the output gradient.
///
/// # Panics
/// If the sizes are no convolution or a slice has another length.
pub fn input_gradient(
    geometry: &Geometry,
    weight: &[f32],
    output_gradient: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    geometry.check(None, Some(weight), Some(output_gradient));
    geometry.check_bias(bias, geometry.channels_in);
    let mut dx = vec![0.0; geometry.batch * geometry.sample_in()];
    if dx.is_empty() {
        return dx;
    }
    let share = samples_per_share(geometry);
    let shifts = suits_transposed_shifts(geometry).then(|| TransposedPhases::new(geometry, weight));
    dx.par_chunks_mut(share * geometry.sample_in())
        .enumerate()
        .for_each(|(index, dx)| {
            if let Some(bias) = bias {
                let plane = geometry.input[0] * geometry.input[1];
                for (channel, &bias) in dx.chunks_exact_mut(plane).zip(bias.iter().cycle()) {
                    channel.fill(bias);
                }
            }
            let samples = dx.len() / geometry.sample_in();
            let size = geometry.sample_out();
            let dy = &output_gradient[index * share * size..][..samples * size];
            match &shifts {
                Some(shifts) => shifts.run(dy, dx),
                None => share_input_gradient(geometry, weight, dy, dx),
            }
        });
    dx
}

fn share_input_gradient(geometry: &Geometry, weight: &[f32], dy: &[f32], dx: &mut [f32]) {
    let (positions, patch, groups) = (geometry.positions(), geometry.patch(), geometry.groups);
    let channels = geometry.channels_out / groups;
    let block = samples_per_block(geometry);
    let direct = block == 1 && geometry.is_pointwise();
    let (mut columns, mut beside) = block_scratch(geometry, block);
    let (size_in, size_out) = (geometry.sample_in(), geometry.sample_out());
    for (index, dx) in dx.chunks_mut(block * size_in).enumerate() {
        let samples = dx.len() / size_in;
        let width = samples * positions;
        let dy = &dy[index * block * size_out..][..samples * size_out];
        let dy = if block == 1 {
            dy
        } else {
            let each = (0..samples).map(|s| (&dy[s * size_out..][..size_out], 1.0));
            side_by_side(&mut beside[..samples * size_out], positions, each);
            &beside[..samples * size_out]
        };
        for group in 0..groups {
            let weight = &weight[group * channels * patch..][..channels * patch];
            let (into, mode) = match direct {
                true => (&mut *dx, Destination::Add),
                false => (&mut columns[..], Destination::Replace),
            };
            multiply(
                &mut into[group * patch * width..],
                width,
                mode,
                Matrix::new(weight, channels, patch).transposed(),
                Matrix::new(
                    &dy[group * channels * width..][..channels * width],
                    channels,
                    width,
                ),
                Workers::One,
            );
        }
        if !direct {
            for (sample, dx) in dx.chunks_exact_mut(size_in).enumerate() {
                scatter(geometry, &columns[sample * positions..], width, dx);
            }
        }
    }
}
