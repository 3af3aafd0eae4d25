//! A learned bias of attention by distance (Raffel et al. 2020, arXiv:1910.10683, §2.1), as MPNet has it.

use crate::error::PretrainedError;
use crate::load::Loader;
use burn::module::Module;
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::layers::Embedding;

/// Distances from here on share a bucket.
const FARTHEST: f32 = 128.0;

/// A bias for each bucket of distances and each head, the same in every block.
#[derive(Module, Debug)]
pub struct RelativeBias {
    /// `[buckets, heads]`
    pub table: Embedding,
}

impl RelativeBias {
    /// The name of its tensor.
    pub(super) const NAME: &str = "encoder.relative_attention_bias";

    /// The table of a file.
    pub(super) fn load(
        loader: &mut Loader<'_>,
        buckets: usize,
        heads: usize,
    ) -> Result<Self, PretrainedError> {
        let table = loader.embedding(Self::NAME, buckets, heads)?;
        Ok(Self { table })
    }

    /// What is added to the scores.
    ///
    /// # Shapes
    /// - result: `[batch or 1, heads, length, length]`; one for the whole batch only where the table is frozen, since
    ///   each sample's use of it must be its own
    pub fn forward(&self, batch: usize, length: usize, device: &Device) -> Tensor<4> {
        let [buckets, heads] = self.table.weight.lazy_shape().dims();
        let of_pairs = pairs(length, buckets);
        let shape = [1, length * length];
        let of_pairs = Tensor::<2, Int>::from_data(TensorData::new(of_pairs, shape), device);
        let samples = match self.table.weight.is_require_grad() {
            true => batch,
            false => 1,
        };
        let of_pairs = of_pairs.expand([samples, length * length]);
        let bias = self.table.forward(of_pairs);
        let bias = bias.swap_dims(1, 2);
        bias.reshape([samples, heads, length, length])
    }
}

/// The bucket of each pair of positions, those of the first query first.
fn pairs(length: usize, buckets: usize) -> Vec<i32> {
    let place = |position: usize| position as i64;
    (0..length)
        .flat_map(|query| (0..length).map(move |key| place(key) - place(query)))
        .map(|distance| bucket(distance, buckets) as i32)
        .collect()
}

/// Half of the buckets for keys before the query, half for those after; in each half one for every short distance, and
/// then wider ones by the logarithm.
fn bucket(distance: i64, buckets: usize) -> usize {
    let half = buckets / 2;
    let short = (half / 2).max(1);
    let (after, far) = (
        usize::from(distance > 0) * half,
        distance.unsigned_abs() as usize,
    );
    let within = if far < short {
        far
    } else {
        let octaves = (far as f32 / short as f32).ln() / (FARTHEST / short as f32).ln();
        let wide = short + (octaves * half.saturating_sub(short) as f32) as usize;
        wide.min(half.saturating_sub(1))
    };
    after + within
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `MPNetEncoder.relative_position_bucket` of transformers 5.23.0, for 32 buckets.
    #[test]
    fn buckets_are_those_of_transformers() {
        let distances = [
            -300, -128, -127, -64, -20, -16, -9, -8, -7, -1, 0, 1, 7, 8, 11, 12, 40, 127, 500,
        ];
        let seen: Vec<usize> = distances.map(|distance| bucket(distance, 32)).to_vec();
        assert_eq!(
            seen,
            [
                15, 15, 15, 14, 10, 10, 8, 8, 7, 1, 0, 17, 23, 24, 24, 25, 28, 31, 31
            ]
        );
    }
}
