//! What goes into the first block: a vector for each token, its position and its type.

use super::{Architecture, EncoderSizes};
use crate::error::PretrainedError;
use crate::load::Loader;
use burn::module::Module;
use burn::tensor::{Int, Tensor};
use tacita::layers::{Embedding, LayerNorm};

/// Embeddings of tokens, positions and types, added and normalised.
#[derive(Module, Debug)]
pub struct Embeddings {
    /// `[vocabulary, width]`
    pub words: Embedding,
    /// `[positions, width]`
    pub positions: Embedding,
    /// `[types, width]`
    pub types: Option<Embedding>,
    /// Over their sum.
    pub norm: LayerNorm,
}

impl Embeddings {
    pub(super) const WORDS: &str = "embeddings.word_embeddings";
    pub(super) const POSITIONS: &str = "embeddings.position_embeddings";
    pub(super) const TYPES: &str = "embeddings.token_type_embeddings";
    pub(super) const NORM: &str = "embeddings.LayerNorm";

    pub(super) fn load(
        loader: &mut Loader<'_>,
        sizes: &EncoderSizes,
    ) -> Result<Self, PretrainedError> {
        let width = sizes.width;
        Ok(Self {
            words: loader.embedding(Self::WORDS, sizes.vocabulary, width)?,
            positions: loader.embedding(Self::POSITIONS, sizes.positions, width)?,
            types: match sizes.types {
                0 => None,
                types => Some(loader.embedding(Self::TYPES, types, width)?),
            },
            norm: loader.layer_norm(Self::NORM, width, sizes.epsilon)?,
        })
    }

    /// The input of the first block.
    ///
    /// # Shapes
    /// - tokens: `[batch, length]`
    /// - result: `[batch, length, width]`
    pub(super) fn forward(
        &self,
        tokens: Tensor<2, Int>,
        sizes: &EncoderSizes,
        separator: Option<usize>,
    ) -> Tensor<3> {
        let mut sum =
            self.words.forward(tokens.clone()) + self.positions.forward(positions(&tokens, sizes));
        if let Some(types) = &self.types {
            sum = sum + types.forward(token_types(&tokens, sizes, separator));
        }
        self.norm.forward(sum)
    }
}

/// 1 where a text is, 0 where it is filled up.
pub(super) fn text_mask(tokens: &Tensor<2, Int>, padding: usize) -> Tensor<2, Int> {
    tokens.clone().not_equal_elem(padding as i64).int()
}

/// The row of the table of positions for each token.
fn positions(tokens: &Tensor<2, Int>, sizes: &EncoderSizes) -> Tensor<2, Int> {
    let [batch, length] = tokens.dims();
    if sizes.architecture.positions_begin_after_padding() {
        let mask = text_mask(tokens, sizes.padding);
        return mask.clone().cumsum(1) * mask + sizes.padding as i64;
    }
    // A row for each record, so that each record's use of the table is its own.
    Tensor::<1, Int>::arange(0..length as i64, &tokens.device())
        .reshape([1, length])
        .expand([batch, length])
}

/// The type of each token: that of the second text of a pair is 1. It begins after the first separator.
fn token_types(
    tokens: &Tensor<2, Int>,
    sizes: &EncoderSizes,
    separator: Option<usize>,
) -> Tensor<2, Int> {
    match separator {
        Some(separator) if sizes.types > 1 && sizes.architecture == Architecture::Bert => {
            let separators = tokens.clone().equal_elem(separator as i64).int();
            let before = separators.clone().cumsum(1) - separators;
            before.clamp(0, 1) * text_mask(tokens, sizes.padding)
        }
        _ => tokens.zeros_like(),
    }
}
