//! How a batch is cut: shares for the workers, and in each share blocks of samples that one product
//! takes together.

use super::Geometry;

/// Columns a product should have before its fixed costs no longer show.
const COLUMNS: usize = 256;

/// Samples that share one product.
pub(super) fn samples_per_block(geometry: &Geometry) -> usize {
    COLUMNS
        .div_ceil(geometry.positions())
        .min(samples_per_share(geometry))
}

/// A worker's room for the windows of a block of samples, and for their products side by side; empty
/// where nothing has to be laid out.
pub(super) fn block_scratch(geometry: &Geometry, block: usize) -> (Vec<f32>, Vec<f32>) {
    let windows = geometry.groups * geometry.patch() * geometry.positions();
    let (windows, products) = match block {
        1 if geometry.is_pointwise() => (0, 0),
        1 => (windows, 0),
        _ => (windows * block, geometry.sample_out() * block),
    };
    (vec![0.0; windows], vec![0.0; products])
}

/// Samples of one worker's share. One share per thread, so that sums depend on the number of threads
/// but not on how they were scheduled.
pub(super) fn samples_per_share(geometry: &Geometry) -> usize {
    geometry.batch.div_ceil(rayon::current_num_threads()).max(1)
}

/// Lays samples `[channels, positions]` side by side: `[channels, samples · positions]`, each value
/// times its sample's factor.
pub(super) fn side_by_side<'a>(
    into: &mut [f32],
    positions: usize,
    samples: impl ExactSizeIterator<Item = (&'a [f32], f32)>,
) {
    let columns = samples.len() * positions;
    for (index, (sample, factor)) in samples.enumerate() {
        for (into, from) in into
            .chunks_exact_mut(columns)
            .zip(sample.chunks_exact(positions))
        {
            let into = &mut into[index * positions..][..positions];
            for (into, &from) in into.iter_mut().zip(from) {
                *into = factor * from;
            }
        }
    }
}

/// Weights of a group that stay in the second cache beside the image while strips of it pass.
const NEAR_WEIGHTS: usize = 1 << 15;

/// Whether shifts of the padded image beat laid-out windows: not if half of a run is padding, nor if
/// the weight has to come from afar for every strip.
pub(super) fn suits_shifts(geometry: &Geometry) -> bool {
    let run = super::phases::Phases::new(geometry).run();
    geometry.positions() * 2 > run && geometry.weights() / geometry.groups <= NEAR_WEIGHTS
}

/// The same question for the input's gradient.
pub(super) fn suits_transposed_shifts(geometry: &Geometry) -> bool {
    super::transposed_phases::TransposedPhases::suits(geometry)
        && geometry.weights() / geometry.groups <= NEAR_WEIGHTS
}
