//! Where tokens stand, and attention to those before.

use super::Cache;
use burn::tensor::{Device, Int, Tensor};
use tacita::ops;

/// Where the tokens of a pass stand.
pub(super) enum Place<'a> {
    /// Row by row in windows of this length, each from position 0.
    Windows { length: usize },
    /// After the positions that a cache has seen.
    After(&'a mut Cache),
}

impl Place<'_> {
    /// The first position, and how many in a row belong together, of rows with so many tokens.
    pub fn positions(&self, tokens: usize) -> (usize, usize) {
        match self {
            Self::Windows { length } => (0, *length),
            Self::After(cache) => (cache.length(), tokens),
        }
    }

    /// The position of each token, `[batch, tokens]`.
    pub fn of_tokens(&self, [batch, tokens]: [usize; 2], device: &Device) -> Tensor<2, Int> {
        let (first, window) = self.positions(tokens);
        let positions = Tensor::<1, Int>::arange(first as i64..(first + window) as i64, device);
        positions
            .reshape([1, 1, window])
            .expand([batch, tokens / window.max(1), window])
            .reshape([batch, tokens])
    }

    /// Causal attention of one block. `turn` is applied to queries and keys, in rows of one window.
    ///
    /// # Shapes
    /// - query and result: `[batch, tokens, heads · width]`
    /// - key, value: `[batch, tokens, key_heads · width]`
    pub fn attend(
        &mut self,
        block: usize,
        heads: usize,
        [query, key, value]: [Tensor<3>; 3],
        turn: impl Fn(Tensor<3>) -> Tensor<3>,
    ) -> Tensor<3> {
        let shape = query.dims();
        let (_, window) = self.positions(shape[1]);
        let rows = |tensor: Tensor<3>| {
            let [batch, tokens, width] = tensor.dims();
            tensor.reshape([batch * (tokens / window.max(1)), window, width])
        };
        let (query, key, value) = (turn(rows(query)), turn(rows(key)), rows(value));
        let [key, value] = match self {
            Self::Windows { .. } => [key, value],
            Self::After(cache) => cache.extend(block, [key, value]),
        };
        ops::causal_attention(query, key, value, heads).reshape(shape)
    }
}
