//! The operations with kernels of their own equal Burn's, forward and backward.

use crate::common::{Random, device, rough};
use burn::nn;
use burn::tensor::ops::{ConvOptions, ConvTransposeOptions, MaxPoolOptions};
use burn::tensor::{Bool, Tensor, activation, module};
use proptest::prelude::*;
use tacita::layers::{BiLstmConfig, GroupNormConfig, LayerNormConfig, LstmConfig};
use tacita::ops;

/// Asserts that two functions of flat inputs have equal values and equal gradients of a random linear
/// form of their values.
fn assert_same<const N: usize>(
    seed: u64,
    sizes: [usize; N],
    ours: impl Fn([Tensor<1>; N]) -> Tensor<1>,
    theirs: impl Fn([Tensor<1>; N]) -> Tensor<1>,
) {
    let mut random = Random(seed);
    let inputs = sizes.map(|size| random.tensor([size]));
    let both = [&ours as &dyn Fn(_) -> _, &theirs].map(|function| {
        let mut random = Random(seed ^ 1);
        let leaves = inputs.clone().map(|input| input.autodiff().require_grad());
        let output: Tensor<1> = function(leaves.clone());
        let weights = random.tensor([output.dims()[0]]).autodiff();
        let gradients = (output.clone() * weights).sum().backward();
        let gradients = leaves.map(|leaf| leaf.grad(&gradients).expect("a gradient"));
        (output.inner(), gradients)
    });
    let [(ours, our_gradients), (theirs, their_gradients)] = both;
    assert_close(ours, theirs);
    for (ours, theirs) in our_gradients.into_iter().zip(their_gradients) {
        assert_close(ours, theirs);
    }
}

/// Both are sums of at most some hundred terms of order one.
fn assert_close(ours: Tensor<1>, theirs: Tensor<1>) {
    assert_eq!(ours.dims(), theirs.dims());
    let distance = (ours - theirs).abs().max().into_scalar::<f32>();
    assert!(
        f64::from(distance) < 2e-4 + 100.0 * rough(),
        "off by {distance}"
    );
}

#[test]
fn functions_of_each_value_equal_burns() {
    type Function = fn(Tensor<1>) -> Tensor<1>;
    let pairs: [(Function, Function); 4] = [
        (ops::relu, activation::relu),
        (ops::tanh, activation::tanh),
        (ops::sigmoid, activation::sigmoid),
        (ops::gelu, activation::gelu),
    ];
    for (ours, theirs) in pairs {
        assert_same(1, [1000], |[x]| ours(x * 4.0), |[x]| theirs(x * 4.0));
    }
}

/// Whether a window fits.
fn fits(size: usize, padding: usize, dilation: usize, kernel: usize) -> bool {
    size + 2 * padding > dilation * (kernel - 1)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn softmax_equals_burns(seed: u64, rows in 1usize..9, width in 1usize..70) {
        type Function = fn(Tensor<2>) -> Tensor<2>;
        let pairs: [(Function, Function); 2] = [
            (ops::softmax, |x| activation::softmax(x, 1)),
            (ops::log_softmax, |x| activation::log_softmax(x, 1)),
        ];
        for (ours, theirs) in pairs {
            assert_same(
                seed,
                [rows * width],
                |[x]| ours(x.reshape([rows, width]) * 3.0).flatten(0, 1),
                |[x]| theirs(x.reshape([rows, width]) * 3.0).flatten(0, 1),
            );
        }
    }

    #[test]
    fn attention_with_something_added_equals_burns_operations(
        seed: u64, batch in 1usize..4, queries in 1usize..6, keys in 1usize..6, heads in 1usize..3,
        width in 1usize..5, shared: [bool; 3],
    ) {
        let row = heads * width;
        let one = |shared: bool, size: usize| if shared { 1 } else { size };
        let added = [one(shared[0], batch), one(shared[1], heads), one(shared[2], queries), keys];
        let sizes = [batch * queries * row, batch * keys * row, batch * keys * row, added.iter().product()];
        let shaped = |[query, key, value, bias]: [Tensor<1>; 4]| {
            let key = key.reshape([batch, keys, row]);
            let value = value.reshape([batch, keys, row]);
            (query.reshape([batch, queries, row]), key, value, bias.reshape(added))
        };
        assert_same(
            seed,
            sizes,
            |inputs| {
                let (query, key, value, bias) = shaped(inputs);
                ops::attention_with(query, key, value, heads, Some(bias)).flatten(0, 2)
            },
            |inputs| {
                let (query, key, value, bias) = shaped(inputs);
                let split = |sequence: Tensor<3>, length: usize| {
                    sequence.reshape([batch, length, heads, width]).swap_dims(1, 2)
                };
                let scores = split(query, queries).matmul(split(key, keys).swap_dims(2, 3));
                let weights = activation::softmax(scores / (width as f64).sqrt() + bias, 3);
                let context = weights.matmul(split(value, keys)).swap_dims(1, 2);
                context.reshape([batch, queries, row]).flatten(0, 2)
            },
        );
    }

    #[test]
    fn causal_attention_with_shared_heads_equals_burns_operations(
        seed: u64, batch in 1usize..4, queries in 1usize..6, earlier in 0usize..4, key_heads in 1usize..3,
        sharing in 1usize..4, width in 1usize..5,
    ) {
        let (keys, heads) = (queries + earlier, key_heads * sharing);
        let (row, key_row) = (heads * width, key_heads * width);
        let sizes = [batch * queries * row, batch * keys * key_row, batch * keys * key_row];
        let shaped = |[query, key, value]: [Tensor<1>; 3]| {
            let key = key.reshape([batch, keys, key_row]);
            (query.reshape([batch, queries, row]), key, value.reshape([batch, keys, key_row]))
        };
        assert_same(
            seed,
            sizes,
            |inputs| {
                let (query, key, value) = shaped(inputs);
                ops::causal_attention(query, key, value, heads).flatten(0, 2)
            },
            |inputs| {
                let (query, key, value) = shaped(inputs);
                let contexts = (0..heads).map(|head| {
                    let part = |sequence: Tensor<3>, head: usize| sequence.narrow(2, head * width, width);
                    let (own, shared) = (head, head / sharing);
                    let key = part(key.clone(), shared).swap_dims(1, 2);
                    let scores = part(query.clone(), own).matmul(key) / (width as f64).sqrt();
                    let later = Tensor::<2, Bool>::tril_mask([queries, keys], earlier as i64, &device());
                    let scores = scores.mask_fill(later.unsqueeze(), f32::NEG_INFINITY);
                    activation::softmax(scores, 2).matmul(part(value.clone(), shared))
                });
                Tensor::cat(contexts.collect(), 2).flatten(0, 2)
            },
        );
    }

    #[test]
    fn linear_equals_burns(seed: u64, rows in 1usize..40, d in 1usize..40, p in 1usize..40) {
        assert_same(
            seed,
            [rows * d, d * p, p],
            |[x, w, b]| ops::linear(x.reshape([rows, d]), w.reshape([d, p]), Some(b)).flatten(0, 1),
            |[x, w, b]| {
                module::linear(x.reshape([rows, d]), w.reshape([d, p]), Some(b)).flatten(0, 1)
            },
        );
    }

    #[test]
    fn embeddings_equal_burns(
        seed: u64, batch in 1usize..5, positions in 1usize..9, count in 1usize..9, width in 1usize..20,
    ) {
        let rows = Random(seed).tokens([batch, positions], count as u64);
        let table = |w: Tensor<1>| w.reshape([count, width]);
        assert_same(
            seed,
            [count * width],
            |[w]| ops::embedding(table(w), rows.clone()).flatten(0, 2),
            |[w]| module::embedding(table(w), rows.clone()).flatten(0, 2),
        );
        assert_same(
            seed,
            [count * width],
            |[w]| ops::embedding_mean(table(w), rows.clone()).flatten(0, 1),
            |[w]| module::embedding(table(w), rows.clone()).mean_dim(1).flatten(0, 2),
        );
    }

    #[test]
    fn conv2d_equals_burns(
        seed: u64, batch in 1usize..5, c in 1usize..5, o in 1usize..18,
        kernel in prop::array::uniform2(1usize..5), stride in prop::array::uniform2(1usize..3),
        dilation in prop::array::uniform2(1usize..3), padding in prop::array::uniform2(0usize..3),
        size in prop::array::uniform2(7usize..13),
    ) {
        prop_assume!((0..2).all(|a| fits(size[a], padding[a], dilation[a], kernel[a])));
        let options = ConvOptions::new(stride, padding, dilation, 1);
        let (x, w) = ([batch, c, size[0], size[1]], [o, c, kernel[0], kernel[1]]);
        assert_same(
            seed,
            [x.iter().product(), w.iter().product(), o],
            |[a, b, c]| ops::conv2d(a.reshape(x), b.reshape(w), Some(c), options.clone()).flatten(0, 3),
            |[a, b, c]| module::conv2d(a.reshape(x), b.reshape(w), Some(c), options.clone()).flatten(0, 3),
        );
    }

    #[test]
    fn conv_transpose2d_equals_burns(
        seed: u64, batch in 1usize..4, c in 1usize..5, o in 1usize..10,
        kernel in prop::array::uniform2(2usize..4), stride in 1usize..3, extra in 0usize..2,
        size in prop::array::uniform2(3usize..8),
    ) {
        let extra = if extra < stride { extra } else { 0 };
        let options = ConvTransposeOptions::new([stride; 2], [1, 0], [extra; 2], [1; 2], 1);
        let (x, w) = ([batch, c, size[0], size[1]], [c, o, kernel[0], kernel[1]]);
        assert_same(
            seed,
            [x.iter().product(), w.iter().product(), o],
            |[a, b, c]| {
                ops::conv_transpose2d(a.reshape(x), b.reshape(w), Some(c), options.clone()).flatten(0, 3)
            },
            |[a, b, c]| {
                module::conv_transpose2d(a.reshape(x), b.reshape(w), Some(c), options.clone())
                    .flatten(0, 3)
            },
        );
    }

    #[test]
    fn max_pool2d_equals_burns(
        seed: u64, batch in 1usize..4, c in 1usize..4, kernel in 1usize..5, stride in 1usize..4,
        size in prop::array::uniform2(5usize..20),
    ) {
        let options = MaxPoolOptions::new([kernel; 2])
            .with_stride([stride; 2])
            .with_padding_pairs([(kernel / 2, kernel / 2); 2]);
        let x = [batch, c, size[0], size[1]];
        assert_same(
            seed,
            [x.iter().product()],
            |[a]| ops::max_pool2d(a.reshape(x), options.clone()).flatten(0, 3),
            |[a]| module::max_pool2d(a.reshape(x), options.clone()).flatten(0, 3),
        );
    }

    #[test]
    fn normalisation_layers_equal_burns(seed: u64, batch in 1usize..5, positions in 1usize..20) {
        let device = device().autodiff();
        let channels = 12;
        let layer = LayerNormConfig::new(channels).init(&device);
        let stock = nn::LayerNorm::from(layer.clone());
        let shape = [batch, positions, channels];
        assert_same(
            seed,
            [shape.iter().product()],
            |[x]| layer.forward(x.reshape(shape)).flatten(0, 2),
            |[x]| stock.forward(x.reshape(shape)).flatten(0, 2),
        );
        let group = GroupNormConfig::new(3, channels).init(&device);
        let stock = nn::GroupNorm::from(group.clone());
        let shape = [batch, channels, positions];
        assert_same(
            seed,
            [shape.iter().product()],
            |[x]| group.forward(x.reshape(shape)).flatten(0, 2),
            |[x]| stock.forward(x.reshape(shape)).flatten(0, 2),
        );
    }

    #[test]
    fn lstms_equal_burns(
        seed: u64, batch in 1usize..6, positions in 1usize..6, d in 1usize..6, h in 1usize..9,
        reverse: bool, bias: bool,
    ) {
        let device = device().autodiff();
        let shape = [batch, positions, d];
        let layer = LstmConfig::new(d, h, bias).with_reverse(reverse).init(&device);
        let stock = nn::Lstm::from(layer.clone());
        let all = |(output, state): (Tensor<3>, nn::LstmState<2>)| {
            Tensor::cat(vec![output.flatten(0, 2), state.cell.flatten(0, 1), state.hidden.flatten(0, 1)], 0)
        };
        assert_same(
            seed,
            [shape.iter().product()],
            |[x]| all(layer.forward(x.reshape(shape), None)),
            |[x]| all(stock.forward(x.reshape(shape), None)),
        );
        let layer = BiLstmConfig::new(d, h, bias).init(&device);
        let stock = nn::BiLstm::from(layer.clone());
        assert_same(
            seed,
            [shape.iter().product()],
            |[x]| layer.forward(x.reshape(shape), None).0.flatten(0, 2),
            |[x]| stock.forward(x.reshape(shape), None).0.flatten(0, 2),
        );
    }
}
