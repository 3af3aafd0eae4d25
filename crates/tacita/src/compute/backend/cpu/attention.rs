//! Scaled dot-product attention.

use super::convolution::optional;
use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use tacita_kernels::attention::{self, Added, Sizes};

#[derive(Debug, Clone)]
struct Attention {
    sizes: Sizes,
    inputs: [Values; 3],
    weights: Values,
    added: Option<[usize; 4]>,
}

impl Derivative<4> for Attention {
    fn gradients(self, dy: Values, wanted: [bool; 4]) -> [Option<Values>; 4] {
        let inputs = self.inputs.each_ref().map(Values::slice);
        let weights = self.weights.slice();
        let full: [usize; 4] = self.weights.dims();
        let by_added = self.added.filter(|_| wanted[3]);
        let mut by_scores = match by_added {
            Some(_) => vec![0.0; weights.len()],
            None => Vec::new(),
        };
        let sizes = &self.sizes;
        let gradients =
            attention::attention_gradients_with(sizes, inputs, weights, dy.slice(), &mut by_scores);
        let mut gradients = (gradients.into_iter().zip(&self.inputs))
            .map(|(gradient, input)| Values::new(gradient, input.dims::<3>()));
        let [query, key, value] =
            [wanted[0], wanted[1], wanted[2]].map(|wanted| gradients.next().filter(|_| wanted));
        let added = by_added.map(|shape| Values::new(summed(&by_scores, full, shape), shape));
        [query, key, value, added]
    }
}

/// Values summed over the dimensions that have size 1 in `shape`.
fn summed(values: &[f32], full: [usize; 4], shape: [usize; 4]) -> Vec<f32> {
    if full == shape {
        return values.to_vec();
    }
    let mut sums = vec![0.0; shape.iter().product()];
    let at = |index: usize, dimension: usize| match shape[dimension] {
        1 => 0,
        _ => index,
    };
    for (row, values) in values.chunks_exact(full[3].max(1)).enumerate() {
        let (query, head) = (row % full[2], row / full[2] % full[1]);
        let sample = row / full[2] / full[1];
        let into = (at(sample, 0) * shape[1] + at(head, 1)) * shape[2] + at(query, 2);
        let sums = &mut sums[into * full[3]..][..full[3]];
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += value;
        }
    }
    sums
}

/// softmax(QKᵀ / √width + added) V of each head; with `causal`, of the keys up to a query's own place.
pub(crate) fn attention(
    query: &Tensor<3>,
    key: &Tensor<3>,
    value: &Tensor<3>,
    heads: usize,
    added: Option<&Tensor<4>>,
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
    let shape = added.map(|added| added.dims());
    if shape.is_some_and(|shape| shape[3] != keys) {
        return None;
    }
    let inputs = [
        Input::of(query)?,
        Input::of(key)?,
        Input::of(value)?,
        optional(added)?,
    ];
    Some(apply(inputs, |[query, key, value, given]| {
        let inputs = [query, key, value];
        let [query, key, value] = inputs.each_ref().map(Values::slice);
        let added = shape.map(|shape| Added::new(given.slice(), shape));
        let (context, weights) = attention::attention_with(&sizes, query, key, value, added);
        let weights = Values::new(weights, [batch, heads, queries, keys]);
        let kept = Attention {
            sizes,
            inputs,
            weights,
            added: shape,
        };
        (Values::new(context, [batch, queries, row]), kept)
    }))
}
