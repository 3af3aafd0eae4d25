//! Parameters used several times are summed over uses before the norm.

use crate::common::{Random, device, loss, samples};
use burn::module::Module;
use proptest::prelude::*;
use tacita::layers::*;
use tacita::testkit::assert_matches_per_sample_loop;

#[derive(Module, Debug)]
struct Tied {
    embedding: Embedding,
    hidden: Linear,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_linear_layer_called_twice_equals_per_sample_loop(
        seed: u64, batch in 1usize..5, positions in 1usize..5, d in 1usize..9,
    ) {
        let model = LinearConfig::new(d, d).init(&device().autodiff());
        let input = Random(seed).tensor([batch, positions, d]);
        assert_matches_per_sample_loop(&model, batch, |model, range| {
            loss(model.forward(model.forward(samples(&input, range)).tanh()))
        });
    }

    #[test]
    fn a_convolution_called_twice_equals_per_sample_loop(
        seed: u64, batch in 1usize..4, groups in 1usize..3,
    ) {
        let model = Conv2dConfig::new([2, 2], [3, 3])
            .with_groups(groups)
            .with_padding(burn::nn::PaddingConfig2d::Same)
            .init(&device().autodiff());
        let input = Random(seed).tensor([batch, 2, 5, 4]);
        assert_matches_per_sample_loop(&model, batch, |model, range| {
            loss(model.forward(model.forward(samples(&input, range)).tanh()))
        });
    }

    #[test]
    fn a_recurrent_layer_called_twice_equals_per_sample_loop(
        seed: u64, batch in 1usize..4, positions in 1usize..4,
    ) {
        let ad = device().autodiff();
        let model = (LstmConfig::new(3, 3, true).init(&ad), GruConfig::new(3, 3, true).init(&ad));
        let input = Random(seed).tensor([batch, positions, 3]);
        assert_matches_per_sample_loop(&model, batch, |model, range| {
            let (once, _) = model.0.forward(samples(&input, range), None);
            let (twice, _) = model.0.forward(once, None);
            loss(model.1.forward(model.1.forward(twice, None), None))
        });
    }

    #[test]
    fn a_gate_also_used_alone_equals_per_sample_loop(seed: u64, batch in 1usize..4) {
        let model = LstmConfig::new(3, 3, true).init(&device().autodiff());
        let input = Random(seed).tensor([batch, 3, 3]);
        assert_matches_per_sample_loop(&model, batch, |model, range| {
            let (output, _) = model.forward(samples(&input, range), None);
            loss(model.cell_gate.input_transform.forward(output))
        });
    }

    #[test]
    fn a_normalisation_called_twice_equals_per_sample_loop(seed: u64, batch in 1usize..4) {
        let model = LayerNormConfig::new(5).init(&device().autodiff());
        let input = Random(seed).tensor([batch, 3, 5]);
        assert_matches_per_sample_loop(&model, batch, |model, range| {
            loss(model.forward(model.forward(samples(&input, range)).sin()))
        });
    }

    #[test]
    fn a_tied_embedding_and_output_equals_per_sample_loop(
        seed: u64, batch in 1usize..5, positions in 1usize..6, vocabulary in 2usize..9,
    ) {
        let ad = device().autodiff();
        let model = Tied {
            embedding: EmbeddingConfig::new(vocabulary, 4).init(&ad),
            hidden: LinearConfig::new(4, 4).init(&ad),
        };
        let tokens = Random(seed).tokens([batch, positions], vocabulary as u64);
        assert_matches_per_sample_loop(&model, batch, |model, range| {
            let tokens = tokens.clone().narrow(0, range.start, range.len());
            let hidden = model.hidden.forward(model.embedding.forward(tokens)).tanh();
            loss(model.embedding.tied_output(hidden))
        });
    }

    #[test]
    fn an_embedding_called_twice_equals_per_sample_loop(seed: u64, batch in 1usize..5) {
        let model = EmbeddingConfig::new(6, 3).init(&device().autodiff());
        let mut random = Random(seed);
        let (a, b) = (random.tokens([batch, 4], 6), random.tokens([batch, 2], 6));
        assert_matches_per_sample_loop(&model, batch, |model, range| {
            let pick = |t: &burn::tensor::Tensor<2, burn::tensor::Int>| {
                t.clone().narrow(0, range.start, range.len())
            };
            loss(model.forward(pick(&a)).tanh()) + loss(model.forward(pick(&b)).sin())
        });
    }

    #[test]
    fn frozen_parameters_receive_nothing(seed: u64, batch in 1usize..5) {
        let ad = device().autodiff();
        let mut model = (
            LinearConfig::new(4, 4).init(&ad),
            LstmConfig::new(4, 3, true).init(&ad),
            LinearConfig::new(3, 2).init(&ad).no_grad(),
        );
        model.0.bias = model.0.bias.map(|bias| bias.set_require_grad(false));
        model.1.cell_gate = model.1.cell_gate.no_grad();
        let input = Random(seed).tensor([batch, 3, 4]);
        assert_matches_per_sample_loop(&model, batch, |model, range| {
            let (output, _) = model.1.forward(model.0.forward(samples(&input, range)), None);
            loss(model.2.forward(output))
        });
    }
}
