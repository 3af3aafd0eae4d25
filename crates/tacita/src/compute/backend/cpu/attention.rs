//! Scaled dot-product attention.

use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use tacita_kernels::attention::{self, Sizes};

#[derive(Debug, Clone)]
struct Attention {
    sizes: Sizes,
    inputs: [Values; 3],
    weights: Values,
}

impl Derivative<3> for Attention {
    fn gradients(self, dy: Values, wanted: [bool; 3]) -> [Option<Values>; 3] {
        let inputs = self.inputs.each_ref().map(Values::slice);
        let weights = self.weights.slice();
        let gradients =
            attention::attention_gradients(&self.sizes, inputs, weights, dy.slice()).into_iter();
        let mut gradients = (gradients.zip(&self.inputs))
            .map(|(gradient, input)| Values::new(gradient, input.dims::<3>()));
        wanted.map(|wanted| gradients.next().filter(|_| wanted))
    }
}

/// softmax(QKᵀ / √width) V of each head; with `causal`, of the keys up to a query's own place.
pub(crate) fn attention(
    query: &Tensor<3>,
    key: &Tensor<3>,
    value: &Tensor<3>,
    heads: usize,
    causal: bool,
) -> Option<Tensor<3>> {
    let ([batch, queries, row], [_, keys, key_row]) = (query.dims(), key.dims());
    let width = row / heads;
    let sizes = Sizes {
        batch,
        queries,
        keys,
        heads,
        key_heads: key_row / width,
        causal,
        width,
    };
    let inputs = [Input::of(query)?, Input::of(key)?, Input::of(value)?];
    Some(apply(inputs, |inputs| {
        let [query, key, value] = inputs.each_ref().map(Values::slice);
        let (context, weights) = attention::attention(&sizes, query, key, value);
        let weights = Values::new(weights, [batch, heads, queries, keys]);
        let kept = Attention {
            sizes,
            inputs,
            weights,
        };
        (Values::new(context, [batch, queries, row]), kept)
    }))
}
