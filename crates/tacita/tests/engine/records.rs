//! Weights go both ways between Burn's layers and ours.

use crate::common::{Random, device};
use burn::module::Module;
use burn::nn;
use burn::tensor::{Tensor, Tolerance};
use tacita::layers;

fn assert_equal<const D: usize>(ours: Tensor<D>, stock: Tensor<D>) {
    let tolerance = Tolerance::<f32>::absolute(1e-6);
    ours.into_data()
        .assert_approx_eq::<f32>(&stock.into_data(), tolerance);
}

/// Loads each layer's record into the other and back, and compares what they compute.
macro_rules! both_ways {
    ($name:ident, $ours:expr, $stock:expr, |$layer:ident| $forward:expr) => {
        #[test]
        fn $name() {
            let (ours, stock) = ($ours, $stock);
            let loaded = ours.clone().load_record(stock.clone().into_record());
            let back = stock.clone().load_record(ours.clone().into_record());
            let from_stock = {
                let $layer = &loaded;
                $forward
            };
            let expected = {
                let $layer = &stock;
                $forward
            };
            assert_equal(from_stock, expected);
            let from_ours = {
                let $layer = &back;
                $forward
            };
            let expected = {
                let $layer = &ours;
                $forward
            };
            assert_equal(from_ours, expected);
        }
    };
}

both_ways!(
    linear,
    layers::LinearConfig::new(4, 3).init(&device()),
    nn::LinearConfig::new(4, 3).init(&device()),
    |layer| layer.forward(Random(1).tensor([2, 4]))
);
both_ways!(
    convolution,
    layers::Conv2dConfig::new([2, 4], [3, 2])
        .with_groups(2)
        .init(&device()),
    nn::conv::Conv2dConfig::new([2, 4], [3, 2])
        .with_groups(2)
        .init(&device()),
    |layer| layer.forward(Random(1).tensor([2, 2, 5, 5]))
);
both_ways!(
    transposed_convolution,
    layers::ConvTranspose2dConfig::new([2, 4], [3, 2]).init(&device()),
    nn::conv::ConvTranspose2dConfig::new([2, 4], [3, 2]).init(&device()),
    |layer| layer.forward(Random(1).tensor([2, 2, 5, 5]))
);
both_ways!(
    layer_norm,
    layers::LayerNormConfig::new(4).init(&device()),
    nn::LayerNormConfig::new(4).init(&device()),
    |layer| layer.forward(Random(1).tensor([2, 4]))
);
both_ways!(
    group_norm,
    layers::GroupNormConfig::new(2, 4).init(&device()),
    nn::GroupNormConfig::new(2, 4).init(&device()),
    |layer| layer.forward(Random(1).tensor([2, 4, 3]))
);
both_ways!(
    embedding,
    layers::EmbeddingConfig::new(5, 4).init(&device()),
    nn::EmbeddingConfig::new(5, 4).init(&device()),
    |layer| layer.forward(Random(1).tokens([2, 3], 5))
);
both_ways!(
    lstm,
    layers::LstmConfig::new(3, 4, true).init(&device()),
    nn::LstmConfig::new(3, 4, true).init(&device()),
    |layer| layer.forward(Random(1).tensor([2, 5, 3]), None).0
);
both_ways!(
    gru,
    layers::GruConfig::new(3, 4, true).init(&device()),
    nn::GruConfig::new(3, 4, true).init(&device()),
    |layer| layer.forward(Random(1).tensor([2, 5, 3]), None)
);

#[test]
fn transformer() {
    let config = nn::transformer::TransformerEncoderConfig::new(4, 8, 2, 2);
    let stock = config.init(&device());
    let ours = layers::TransformerEncoderConfig::from(config)
        .init(&device())
        .load_record(stock.clone().into_record());
    let x = Random(1).tensor([2, 3, 4]);
    let expected = stock.forward(nn::transformer::TransformerEncoderInput::new(x.clone()));
    assert_equal(
        ours.forward(layers::TransformerEncoderInput::new(x)),
        expected,
    );
}

/// Outside a recording our layers are Burn's; inside, they compute the same.
#[test]
fn recorded_outputs_equal_plain_ones() {
    let lstm = layers::LstmConfig::new(3, 4, true).init(&device());
    let gru = layers::GruConfig::new(3, 4, true).init(&device());
    let norm = layers::GroupNormConfig::new(2, 4).init(&device());
    let forward = || {
        let x = Random(1).tensor([2, 5, 3]);
        let hidden = lstm.forward(x.clone(), None).0 + gru.forward(x, None);
        norm.forward(hidden.swap_dims(1, 2)).inner()
    };
    let plain = forward();
    let (recorded, _) = tacita::tape::record(forward);
    assert_equal(recorded, plain);
}
