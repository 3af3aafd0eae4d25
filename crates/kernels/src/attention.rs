//! Scaled dot-product attention of several heads, as they lie in the sequences.
use crate::approximate::exp_flushed;
use crate::product::{Destination, Matrix, Workers, multiply};
use crate::vector::{largest, total, vectorised};
use rayon::prelude::*;

/// Sizes of an attention.
///
/// Queries are `[batch, queries, heads · width]`, keys and values `[batch, keys, key_heads · width]`: as many
/// neighbouring heads of the queries as need be share one head of keys and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Samples.
    pub batch: usize,
    /// Positions that attend.
    pub queries: usize,
    /// Positions attended to.
    pub keys: usize,
    /// Heads of the queries, side by side.
    pub heads: usize,
    /// Heads of keys and values; a divisor of the heads of the queries.
    pub key_heads: usize,
    /// Whether a query attends to no key after its own. The last query has the place of the last key.
    pub causal: bool,
    /// Values of a head in each position.
    pub width: usize,
}

impl Sizes {
    /// Values of a query's position.
    fn row(&self) -> usize {
        self.heads * self.width
    }

    /// Values of a key's position.
    fn key_row(&self) -> usize {
        self.key_heads * self.width
    }

    /// The head of keys and values that a head of the queries attends to.
    fn key_head(&self, head: usize) -> usize {
        head / (self.heads / self.key_heads)
    }

    /// Keys that a query attends to.
    fn visible(&self, query: usize) -> usize {
        match self.causal {
            true => self.keys - self.queries + query + 1,
            false => self.keys,
        }
    }

    /// Weights of a sample.
    fn weights(&self) -> usize {
        self.heads * self.queries * self.keys
    }

    fn scale(&self) -> f32 {
        1.0 / (self.width as f32).sqrt()
    }

    fn is_empty(&self) -> bool {
        self.batch * self.queries * self.keys * self.row() == 0
    }

    fn check(&self, query: &[f32], key: &[f32], value: &[f32]) {
        assert!(
            self.key_heads > 0 && self.heads.is_multiple_of(self.key_heads),
            "heads of {self:?}"
        );
        assert!(
            !self.causal || self.keys >= self.queries,
            "keys of {self:?}"
        );
        let queries = self.batch * self.queries * self.row();
        let keys = self.batch * self.keys * self.key_row();
        assert_eq!(query.len(), queries, "queries of {self:?}");
        assert_eq!(key.len(), keys, "keys of {self:?}");
        assert_eq!(value.len(), keys, "values of {self:?}");
    }

    /// One head of a sample's queries.
    fn query_head<'a>(&self, sequence: &'a [f32], head: usize) -> Matrix<'a> {
        let values = &sequence[head * self.width..];
        Matrix::spaced(values, self.queries, self.width, self.row())
    }

    /// The keys, or the values, that a head of the queries attends to.
    fn key_head_of<'a>(&self, sequence: &'a [f32], head: usize) -> Matrix<'a> {
        let values = &sequence[self.key_head(head) * self.width..];
        Matrix::spaced(values, self.keys, self.width, self.key_row())
    }
}

/// What is added to scores, `[batch, heads, queries, keys]` with 1 in place of each dimension that shares its values:
/// a mask of padding, a bias by distance.
#[derive(Debug, Clone, Copy)]
pub struct Added<'a> {
    values: &'a [f32],
    shape: [usize; 4],
}

impl<'a> Added<'a> {
    /// Values of a shape.
    ///
    /// # Panics
    /// If there are not as many values as the shape says.
    pub fn new(values: &'a [f32], shape: [usize; 4]) -> Self {
        let count: usize = shape.iter().product();
        assert_eq!(values.len(), count, "what is added has shape {shape:?}");
        Self { values, shape }
    }

    fn check(&self, sizes: &Sizes) {
        let full = [sizes.batch, sizes.heads, sizes.queries, sizes.keys];
        let fits = (self.shape.iter().zip(full)).all(|(seen, full)| *seen == full || *seen == 1);
        assert!(
            fits && self.shape[3] == sizes.keys,
            "what is added has shape {:?}, not {full:?}",
            self.shape
        );
    }

    /// What is added to the scores of one query.
    fn row(&self, sample: usize, head: usize, query: usize) -> &'a [f32] {
        let [batch, heads, queries, keys] = self.shape;
        let at = |index: usize, of: usize| if of == 1 { 0 } else { index };
        let row = (at(sample, batch) * heads + at(head, heads)) * queries + at(query, queries);
        &self.values[row * keys..][..keys]
    }
}

/// softmax(QKᵀ / √width) V of each head, and the softmax, `[batch, heads, queries, keys]`.
///
/// # Panics
/// If the lengths are not those of `sizes`.
pub fn attention(sizes: &Sizes, query: &[f32], key: &[f32], value: &[f32]) -> (Vec<f32>, Vec<f32>) {
    attention_with(sizes, query, key, value, None)
}

/// The same of scores to which something is added: softmax(QKᵀ / √width + added) V.
///
/// # Panics
/// If the lengths are not those of `sizes`.
pub fn attention_with(
    sizes: &Sizes,
    query: &[f32],
    key: &[f32],
    value: &[f32],
    added: Option<Added<'_>>,
) -> (Vec<f32>, Vec<f32>) {
    sizes.check(query, key, value);
    if let Some(added) = &added {
        added.check(sizes);
    }
    let mut context = vec![0.0; query.len()];
    let mut weights = vec![0.0; sizes.batch * sizes.weights()];
    if sizes.is_empty() {
        return (context, weights);
    }
    let (row, key_row) = (sizes.row(), sizes.key_row());
    context
        .par_chunks_mut(sizes.queries * row)
        .zip(weights.par_chunks_mut(sizes.weights()))
        .zip(query.par_chunks(sizes.queries * row))
        .zip(key.par_chunks(sizes.keys * key_row))
        .zip(value.par_chunks(sizes.keys * key_row))
        .enumerate()
        .for_each(|(sample, ((((context, weights), query), key), value))| {
            let weights = weights.chunks_exact_mut(sizes.queries * sizes.keys);
            for (head, weights) in weights.enumerate() {
                let query = sizes.query_head(query, head);
                let key = sizes.key_head_of(key, head).transposed();
                let value = sizes.key_head_of(value, head);
                multiply(
                    weights,
                    sizes.keys,
                    Destination::Replace,
                    query,
                    key,
                    Workers::One,
                );
                let scale = match added {
                    // The scores are scaled before something is added to them.
                    Some(added) => {
                        for (query, row) in weights.chunks_exact_mut(sizes.keys).enumerate() {
                            for (score, added) in row.iter_mut().zip(added.row(sample, head, query))
                            {
                                *score = *score * sizes.scale() + added;
                            }
                        }
                        1.0
                    }
                    None => sizes.scale(),
                };
                vectorised(
                    #[inline(always)]
                    || softmax(weights, sizes, scale),
                );
                let into = &mut context[head * sizes.width..];
                let weights = Matrix::new(weights, sizes.queries, sizes.keys);
                multiply(
                    into,
                    row,
                    Destination::Replace,
                    weights,
                    value,
                    Workers::One,
                );
            }
        });
    (context, weights)
}

/// softmax(scale · x) of the visible part of each row, in place, and 0 elsewhere.
#[inline(always)]
fn softmax(values: &mut [f32], sizes: &Sizes, scale: f32) {
    for (query, row) in values.chunks_exact_mut(sizes.keys).enumerate() {
        let (row, hidden) = row.split_at_mut(sizes.visible(query));
        hidden.fill(0.0);
        let most = largest(row);
        for value in row.iter_mut() {
            *value = exp_flushed((*value - most) * scale);
        }
        let sum = total(
            row,
            row,
            #[inline(always)]
            |value, _| value,
        );
        let share = (1.0 / sum) as f32;
        for value in row {
            *value *= share;
        }
    }
}

/// The gradients of [`attention`] by queries, keys and values, from its weights and the gradient of
/// its context.
///
/// # Panics
/// If the lengths are not those of `sizes`.
pub fn attention_gradients(
    sizes: &Sizes,
    [query, key, value]: [&[f32]; 3],
    weights: &[f32],
    gradient: &[f32],
) -> [Vec<f32>; 3] {
    attention_gradients_with(sizes, [query, key, value], weights, gradient, &mut [])
}

/// The same, and the gradient by what was added to the scores, `[batch, heads, queries, keys]`, into `by_added` unless
/// that is empty.
///
/// # Panics
/// If the lengths are not those of `sizes`.
pub fn attention_gradients_with(
    sizes: &Sizes,
    [query, key, value]: [&[f32]; 3],
    weights: &[f32],
    gradient: &[f32],
    by_added: &mut [f32],
) -> [Vec<f32>; 3] {
    sizes.check(query, key, value);
    assert_eq!(weights.len(), sizes.batch * sizes.weights(), "weights");
    assert!(
        by_added.is_empty() || by_added.len() == weights.len(),
        "gradient by what was added"
    );
    assert_eq!(gradient.len(), query.len(), "gradient of the context");
    let mut by_query = vec![0.0; query.len()];
    let [mut by_key, mut by_value] = [(); 2].map(|()| vec![0.0; key.len()]);
    if sizes.is_empty() {
        return [by_query, by_key, by_value];
    }
    let (row, key_row) = (sizes.row(), sizes.key_row());
    let pairs = sizes.queries * sizes.keys;
    let (queries, keys) = (sizes.queries * row, sizes.keys * key_row);
    let mut by_added = by_added.chunks_exact_mut(sizes.weights());
    let by_added: Vec<_> = (0..sizes.batch).map(|_| by_added.next()).collect();
    by_query
        .par_chunks_mut(queries)
        .zip(by_key.par_chunks_mut(keys))
        .zip(by_value.par_chunks_mut(keys))
        .zip(by_added)
        .enumerate()
        .for_each_init(
            || vec![0.0; pairs],
            |scores, (sample, (((by_query, by_key), by_value), mut by_added))| {
                let query = &query[sample * queries..][..queries];
                let gradient = &gradient[sample * queries..][..queries];
                let key = &key[sample * keys..][..keys];
                let value = &value[sample * keys..][..keys];
                for head in 0..sizes.heads {
                    let weights = &weights[(sample * sizes.heads + head) * pairs..][..pairs];
                    let gradient = sizes.query_head(gradient, head);
                    let value = sizes.key_head_of(value, head).transposed();
                    let one = Workers::One;
                    multiply(
                        scores,
                        sizes.keys,
                        Destination::Replace,
                        gradient,
                        value,
                        one,
                    );
                    vectorised(
                        #[inline(always)]
                        || softmax_gradient(scores, weights, sizes.keys, sizes.scale()),
                    );
                    if let Some(by_added) = &mut by_added {
                        // Those of the scaled scores.
                        let root = (sizes.width as f32).sqrt();
                        let by_added = &mut by_added[head * pairs..][..pairs];
                        for (by_added, by_score) in by_added.iter_mut().zip(scores.iter()) {
                            *by_added = by_score * root;
                        }
                    }
                    let at = head * sizes.width;
                    let key_at = sizes.key_head(head) * sizes.width;
                    let weights = Matrix::new(weights, sizes.queries, sizes.keys).transposed();
                    // The heads that share keys and values add up.
                    multiply(
                        &mut by_value[key_at..],
                        key_row,
                        Destination::Add,
                        weights,
                        gradient,
                        one,
                    );
                    let scores = Matrix::new(scores, sizes.queries, sizes.keys);
                    let key = sizes.key_head_of(key, head);
                    multiply(
                        &mut by_query[at..],
                        row,
                        Destination::Replace,
                        scores,
                        key,
                        one,
                    );
                    let query = sizes.query_head(query, head);
                    let scores = scores.transposed();
                    multiply(
                        &mut by_key[key_at..],
                        key_row,
                        Destination::Add,
                        scores,
                        query,
                        one,
                    );
                }
            },
        );
    [by_query, by_key, by_value]
}

/// The gradient g of softmax(scale · x) = y becomes that of x: scale · y (g − Σ g y), in place.
#[inline(always)]
fn softmax_gradient(gradient: &mut [f32], y: &[f32], width: usize, scale: f32) {
    let rows = y.chunks_exact(width);
    for (gradient, y) in gradient.chunks_exact_mut(width).zip(rows) {
        let mean = total(
            y,
            gradient,
            #[inline(always)]
            |y, g| y * g,
        ) as f32;
        for (g, y) in gradient.iter_mut().zip(y) {
            *g = y * (*g - mean) * scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{close, source};
    use proptest::prelude::*;

    /// Context and, given its gradient, all gradients, by loops in f64.
    struct Loop {
        context: Vec<f64>,
        gradients: [Vec<f64>; 3],
        by_added: Vec<f64>,
    }

    fn by_loop(
        sizes: &Sizes,
        [query, key, value]: [&[f32]; 3],
        gradient: &[f32],
        added: impl Fn(usize, usize, usize, usize) -> f64,
    ) -> Loop {
        let mut by_added = Vec::new();
        let (row, key_row) = (sizes.heads * sizes.width, sizes.key_heads * sizes.width);
        let mut context = vec![0.0; query.len()];
        let mut gradients = [query, key, value].map(|values| vec![0.0; values.len()]);
        let scale = 1.0 / (sizes.width as f64).sqrt();
        for (sample, head) in
            (0..sizes.batch * sizes.heads).map(|i| (i / sizes.heads, i % sizes.heads))
        {
            let q_at =
                |t: usize, c: usize| (sample * sizes.queries + t) * row + head * sizes.width + c;
            let key_head = head * sizes.key_heads / sizes.heads;
            let k_at = |t: usize, c: usize| {
                (sample * sizes.keys + t) * key_row + key_head * sizes.width + c
            };
            let columns = 0..sizes.width;
            for t in 0..sizes.queries {
                let seen = match sizes.causal {
                    true => sizes.keys - (sizes.queries - 1 - t),
                    false => sizes.keys,
                };
                let scores: Vec<f64> = (0..seen)
                    .map(|s| {
                        let products = columns
                            .clone()
                            .map(|c| f64::from(query[q_at(t, c)]) * f64::from(key[k_at(s, c)]));
                        scale * products.sum::<f64>() + added(sample, head, t, s)
                    })
                    .collect();
                let sum: f64 = scores.iter().map(|s| s.exp()).sum();
                let weights: Vec<f64> = scores.iter().map(|s| s.exp() / sum).collect();
                let by_weight: Vec<f64> = (0..seen)
                    .map(|s| {
                        columns
                            .clone()
                            .map(|c| f64::from(gradient[q_at(t, c)]) * f64::from(value[k_at(s, c)]))
                            .sum()
                    })
                    .collect();
                let mean: f64 = weights.iter().zip(&by_weight).map(|(w, g)| w * g).sum();
                for s in 0..seen {
                    by_added.push(weights[s] * (by_weight[s] - mean));
                    let by_score = scale * weights[s] * (by_weight[s] - mean);
                    for c in columns.clone() {
                        context[q_at(t, c)] += weights[s] * f64::from(value[k_at(s, c)]);
                        gradients[0][q_at(t, c)] += by_score * f64::from(key[k_at(s, c)]);
                        gradients[1][k_at(s, c)] += by_score * f64::from(query[q_at(t, c)]);
                        gradients[2][k_at(s, c)] += weights[s] * f64::from(gradient[q_at(t, c)]);
                    }
                }
            }
        }
        Loop {
            context,
            gradients,
            by_added,
        }
    }

    proptest! {
        #[test]
        fn attention_equals_the_loop_both_ways(
            batch in 0usize..4, queries in 1usize..9, more in 0usize..32, key_heads in 1usize..4,
            sharing in 1usize..4, causal: bool, width in 1usize..9, seed: u64,
        ) {
            let (keys, heads) = (queries + more, key_heads * sharing);
            let keys = if causal { keys } else { 1 + more };
            let sizes = Sizes { batch, queries, keys, heads, key_heads, causal, width };
            let mut values = source(seed);
            let (row, key_row) = (heads * width, key_heads * width);
            let (query, gradient) = (values(batch * queries * row), values(batch * queries * row));
            let (key, value) = (values(batch * keys * key_row), values(batch * keys * key_row));
            let inputs = [query.as_slice(), &key, &value];
            let (context, weights) = attention(&sizes, &query, &key, &value);
            let seen = attention_gradients(&sizes, inputs, &weights, &gradient);
            let expected = by_loop(&sizes, inputs, &gradient, |_, _, _, _| 0.0);
            close(&context, &expected.context)?;
            for (seen, expected) in seen.iter().zip(&expected.gradients) {
                close(seen, expected)?;
            }
        }

        #[test]
        fn what_is_added_to_scores_is_that_of_the_loop_both_ways(
            batch in 1usize..4, queries in 1usize..6, keys in 1usize..20, heads in 1usize..4,
            width in 1usize..9, shared: [bool; 3], seed: u64,
        ) {
            let (key_heads, causal) = (heads, false);
            let sizes = Sizes { batch, queries, keys, heads, key_heads, causal, width };
            let mut values = source(seed);
            let row = heads * width;
            let (query, gradient) = (values(batch * queries * row), values(batch * queries * row));
            let (key, value) = (values(batch * keys * row), values(batch * keys * row));
            let one = |shared: bool, size: usize| if shared { 1 } else { size };
            let shape = [one(shared[0], batch), one(shared[1], heads), one(shared[2], queries), keys];
            let added = values(shape.iter().product());
            let inputs = [query.as_slice(), &key, &value];
            let (context, weights) =
                attention_with(&sizes, &query, &key, &value, Some(Added::new(&added, shape)));
            let mut by_added = vec![0.0; weights.len()];
            let seen = attention_gradients_with(&sizes, inputs, &weights, &gradient, &mut by_added);
            let expected = by_loop(&sizes, inputs, &gradient, |sample, head, t, s| {
                let at = |index: usize, size: usize| index.min(size - 1);
                let row = (at(sample, shape[0]) * shape[1] + at(head, shape[1])) * shape[2];
                f64::from(added[(row + at(t, shape[2])) * keys + s])
            });
            close(&context, &expected.context)?;
            for (seen, expected) in seen.iter().zip(&expected.gradients) {
                close(seen, expected)?;
            }
            close(&by_added, &expected.by_added)?;
        }
    }

    #[test]
    fn a_later_position_changes_nothing_before_it() {
        let sizes = Sizes {
            batch: 1,
            queries: 5,
            keys: 5,
            heads: 2,
            key_heads: 1,
            causal: true,
            width: 3,
        };
        let mut values = source(2);
        let (query, mut key, mut value) = (values(30), values(15), values(15));
        let (before, _) = attention(&sizes, &query, &key, &value);
        for later in [&mut key, &mut value] {
            later[9..].fill(1e6);
        }
        let (after, _) = attention(&sizes, &query, &key, &value);
        assert_eq!(before[..18], after[..18]);
        assert!(
            before[18..]
                .iter()
                .zip(&after[18..])
                .all(|(before, after)| before != after)
        );
    }

    #[test]
    fn a_sample_that_is_not_finite_stays_alone() {
        let sizes = Sizes {
            batch: 3,
            queries: 2,
            keys: 2,
            heads: 2,
            key_heads: 2,
            causal: false,
            width: 3,
        };
        let mut values = source(1);
        let [mut query, key, value, gradient] = [(); 4].map(|()| values(36));
        let inputs = [query.clone(), key.clone(), value.clone()];
        let (context, weights) = attention(&sizes, &query, &key, &value);
        let clean = attention_gradients(&sizes, [&query, &key, &value], &weights, &gradient);
        query[15] = f32::NAN;
        query[20] = f32::INFINITY;
        let (dirty_context, weights) = attention(&sizes, &query, &key, &value);
        let dirty = attention_gradients(
            &sizes,
            [&query, &inputs[1], &inputs[2]],
            &weights,
            &gradient,
        );
        assert!(dirty_context[12..24].iter().any(|value| value.is_nan()));
        for (clean, dirty) in clean.iter().zip(&dirty).chain([(&context, &dirty_context)]) {
            assert_eq!(clean[..12], dirty[..12]);
            assert_eq!(clean[24..], dirty[24..]);
        }
    }
}
