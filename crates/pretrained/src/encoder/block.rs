//! One block: attention and a feed-forward part, each added to its input and normalised.

use super::EncoderSizes;
use super::architecture::Part;
use crate::adapter::{Kind, Layer, Place, Projection};
use crate::error::PretrainedError;
use crate::layout::Layout;
use crate::load::Loader;
use burn::module::Module;
use burn::tensor::Tensor;
use tacita::layers::LayerNorm;
use tacita::ops;

/// A block of an encoder.
#[derive(Module, Debug)]
pub struct Block {
    /// Maps the input to queries.
    pub query: Projection,
    /// Maps the input to keys.
    pub key: Projection,
    /// Maps the input to values.
    pub value: Projection,
    /// Maps what was attended to.
    pub output: Projection,
    /// After attention.
    pub attention_norm: LayerNorm,
    /// Maps to the width of the feed-forward part.
    pub inner: Projection,
    /// Maps back.
    pub outer: Projection,
    /// After the feed-forward part.
    pub feed_forward_norm: LayerNorm,
}

impl Block {
    pub(super) fn load(
        loader: &mut Loader<'_>,
        sizes: &EncoderSizes,
        block: usize,
    ) -> Result<Self, PretrainedError> {
        let (width, wide) = (sizes.width, sizes.feed_forward);
        let name = |part| sizes.architecture.part(block, part);
        let mut linear =
            |part, shape| loader.projection(&name(part), shape, true, Layout::OutputFirst);
        let [query, key, value, output] = [Part::Query, Part::Key, Part::Value, Part::Output]
            .map(|part| linear(part, [width, width]));
        let (inner, outer) = (
            linear(Part::Inner, [width, wide])?,
            linear(Part::Outer, [wide, width])?,
        );
        let mut norm = |part| loader.layer_norm(&name(part), width, sizes.epsilon);
        Ok(Self {
            query: query?,
            key: key?,
            value: value?,
            output: output?,
            attention_norm: norm(Part::AttentionNorm)?,
            inner,
            outer,
            feed_forward_norm: norm(Part::FeedForwardNorm)?,
        })
    }

    /// Its layers, under the names of a file.
    pub(super) fn layers(&mut self, sizes: &EncoderSizes, block: usize) -> Vec<Layer<'_>> {
        let projection = |part, layer| (part, Kind::Projection(layer, Layout::OutputFirst));
        let kinds = [
            projection(Part::Query, &mut self.query),
            projection(Part::Key, &mut self.key),
            projection(Part::Value, &mut self.value),
            projection(Part::Output, &mut self.output),
            (
                Part::AttentionNorm,
                Kind::LayerNorm(&mut self.attention_norm),
            ),
            projection(Part::Inner, &mut self.inner),
            projection(Part::Outer, &mut self.outer),
            (
                Part::FeedForwardNorm,
                Kind::LayerNorm(&mut self.feed_forward_norm),
            ),
        ];
        let layer = |(part, kind)| Layer {
            name: sizes.architecture.part(block, part),
            place: Place::Block(block),
            kind,
        };
        kinds.into_iter().map(layer).collect()
    }

    /// Applies the block.
    ///
    /// # Shapes
    /// - input and output: `[batch, length, width]`
    /// - added to scores: as in [`ops::attention_with`]
    pub(super) fn forward(&self, input: Tensor<3>, heads: usize, added: Tensor<4>) -> Tensor<3> {
        let attended = ops::attention_with(
            self.query.forward(input.clone()),
            self.key.forward(input.clone()),
            self.value.forward(input.clone()),
            heads,
            Some(added),
        );
        let input = self
            .attention_norm
            .forward(input + self.output.forward(attended));
        let inner = ops::gelu(self.inner.forward(input.clone()));
        self.feed_forward_norm
            .forward(input + self.outer.forward(inner))
    }
}
