//! An encoder: embeddings and blocks.

use super::embeddings::text_mask;
use super::{Block, Embeddings, EncoderSizes, RelativeBias};
use crate::adapter::{Kind, Layer, Place};
use crate::error::PretrainedError;
use crate::load::Loader;
use burn::module::Module;
use burn::tensor::{Int, Tensor};

/// What is added to the score of a key that only fills a text up: e to this power is 0.
const HIDDEN: f64 = -1e9;

/// A pre-trained encoder.
#[derive(Module, Debug)]
pub struct Encoder {
    /// Before the first block.
    pub embeddings: Embeddings,
    /// The blocks, first to last.
    pub blocks: Vec<Block>,
    /// The bias of attention by distance, if there is one.
    pub relative: Option<RelativeBias>,
    /// Its sizes.
    #[module(skip)]
    pub sizes: EncoderSizes,
    /// The token between two texts.
    #[module(skip)]
    pub separator: Option<usize>,
}

impl Encoder {
    /// The encoder of a config, with the tensors of a file.
    pub fn load(
        loader: &mut Loader<'_>,
        sizes: EncoderSizes,
        separator: Option<usize>,
    ) -> Result<Self, PretrainedError> {
        let prefix = format!("{}.", sizes.architecture.name());
        loader.weights.strip_prefix(&prefix);
        let embeddings = Embeddings::load(loader, &sizes)?;
        let blocks = (0..sizes.blocks).map(|block| Block::load(loader, &sizes, block));
        let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
        let relative = match sizes.buckets {
            0 => None,
            buckets => Some(RelativeBias::load(loader, buckets, sizes.heads)?),
        };
        Ok(Self {
            embeddings,
            blocks,
            relative,
            sizes,
            separator,
        })
    }

    /// Its layers, under the names of a file without the prefix of a model with a head.
    pub(super) fn layers(&mut self) -> Vec<Layer<'_>> {
        let of = |name: &str, kind| Layer {
            name: name.into(),
            place: Place::Embeddings,
            kind,
        };
        let Embeddings {
            words,
            positions,
            types,
            norm,
        } = &mut self.embeddings;
        let mut layers = vec![
            of(Embeddings::WORDS, Kind::Embedding(words)),
            of(Embeddings::POSITIONS, Kind::Embedding(positions)),
        ];
        layers.extend((types.as_mut()).map(|types| of(Embeddings::TYPES, Kind::Embedding(types))));
        layers.push(of(Embeddings::NORM, Kind::LayerNorm(norm)));
        let relative = self.relative.as_mut();
        layers
            .extend(relative.map(|bias| of(RelativeBias::NAME, Kind::Embedding(&mut bias.table))));
        for (at, block) in self.blocks.iter_mut().enumerate() {
            layers.extend(block.layers(&self.sizes, at));
        }
        layers
    }

    /// The last hidden states.
    ///
    /// Records have one length, filled up with the padding token: were a batch only as long as its longest text, the
    /// rounding of one record's sums would depend on the other records.
    ///
    /// # Shapes
    /// - tokens: `[batch, length]`
    /// - result: `[batch, length, width]`
    pub fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let [batch, length] = tokens.dims();
        let mask = self.mask(&tokens);
        let hidden = (mask - 1.0) * -HIDDEN;
        let mut added = hidden.reshape([batch, 1, 1, length]);
        if let Some(relative) = &self.relative {
            added = added + relative.forward(batch, length, &tokens.device());
        }
        let heads = self.sizes.heads;
        let input = self.embeddings.forward(tokens, &self.sizes, self.separator);
        (self.blocks.iter()).fold(input, |input, block| {
            block.forward(input, heads, added.clone())
        })
    }

    /// 1 where a text is, 0 where it is filled up.
    ///
    /// # Shapes
    /// - tokens and result: `[batch, length]`
    pub fn mask(&self, tokens: &Tensor<2, Int>) -> Tensor<2> {
        text_mask(tokens, self.sizes.padding).float()
    }
}
