//! Gradients of every parameter of a decoder are clipped per record.

use crate::{MODELS, decoder};
use burn::module::Param;
use burn::tensor::{Tensor, TensorData};
use tacita::optim::OptimizerRule;
use tacita::testkit::{assert_matches_per_sample_loop, clipped_sums_without_noise, device};
use tacita::{Budget, Clipping, Plan, PrivateModel, Records, Trainer};
use tacita_pretrained::Adapt;
use tacita_pretrained::adapter::{Kind, Network, check_learns};
use tacita_pretrained::decoder::{CausalRecords, Decoder, Example, Reduction, Shape};

/// Documents of several lengths; the first is empty, the last too long.
fn records(vocabulary: usize, count: u32, windows: usize) -> CausalRecords {
    let token = |record: u32, position: u32| {
        (7 * record + 5 * position + position * position * record) % 47
    };
    let example = |record: u32| {
        let text: Vec<u32> = (0..3 * record)
            .map(|position| token(record, position))
            .collect();
        match record % 2 {
            0 => Example::document(&text, 2),
            _ => Example::continuation(&[token(record, 50), token(record, 51)], &text, 2),
        }
    };
    let shape = Shape {
        window: 6,
        windows,
        reduction: if windows > 1 {
            Reduction::Sum
        } else {
            Reduction::Mean
        },
    };
    CausalRecords::new((0..count).map(example).collect(), shape, vocabulary).unwrap()
}

/// A decoder of which this is trained; adapters are not zero.
fn trained(model: &str, adapt: Adapt) -> Decoder {
    let device = device().autodiff();
    let mut decoder = decoder(model, &device);
    adapt.apply(&mut decoder, &device).unwrap();
    for (index, layer) in decoder.layers().into_iter().enumerate() {
        if let Kind::Projection(projection, _) = layer.kind
            && let Some(low_rank) = &mut projection.low_rank
        {
            let shape: [usize; 2] = low_rank.up.weight.dims();
            let values = (0..shape[0] * shape[1]).map(|value| ((value + index) as f32).sin() * 0.3);
            let values = TensorData::new(values.collect::<Vec<f32>>(), shape);
            low_rank.up.weight = Param::from_tensor(Tensor::from_data(values, &device));
        }
    }
    decoder
}

const CHOICES: [Adapt; 4] = [
    Adapt::Full,
    Adapt::LowRank { rank: 2 },
    Adapt::Last { blocks: 1 },
    Adapt::Bias,
];

#[test]
fn decoders_equal_the_per_sample_loop_whatever_is_trained() {
    for model in MODELS {
        for adapt in CHOICES {
            // Biases are what a Llama has none of.
            if adapt == Adapt::Bias && model != "gpt2" {
                continue;
            }
            for windows in [1, 2] {
                let decoder = trained(model, adapt);
                let records = records(decoder.vocabulary(), 4, windows);
                assert_matches_per_sample_loop(&decoder, 4, |decoder, range| {
                    let indices: Vec<usize> = range.collect();
                    decoder.losses(records.batch(&indices, &device()))
                });
            }
        }
    }
}

/// The clipped sum over some records, all parameters in a row.
fn sum(
    decoder: &Decoder,
    records: &CausalRecords,
    indices: &[usize],
    clipping: &Clipping,
) -> Vec<f64> {
    let sums = clipped_sums_without_noise(decoder, clipping, indices.len(), |decoder| {
        decoder.losses(records.batch(indices, &device()))
    });
    sums.gradient.into_iter().flatten().collect()
}

#[test]
fn removing_a_document_moves_the_sum_of_tied_embeddings_and_adapters_at_most_the_bound() {
    let bound = 0.37;
    for (model, adapt) in [
        ("llama-gguf", Adapt::Full),
        ("gpt2", Adapt::Full),
        ("llama", Adapt::LowRank { rank: 2 }),
    ] {
        let decoder = trained(model, adapt);
        let records = records(decoder.vocabulary(), 6, 2);
        let everything: Vec<usize> = (0..6).collect();
        for clipping in [Clipping::auto().threshold(bound), Clipping::abadi(bound)] {
            let all = sum(&decoder, &records, &everything, &clipping);
            let mut moves = 0.0_f64;
            for removed in 0..6 {
                let left: Vec<usize> = (0..6).filter(|index| *index != removed).collect();
                let without = sum(&decoder, &records, &left, &clipping);
                let apart = all.iter().zip(&without).map(|(a, b)| (a - b).powi(2));
                let moved = apart.sum::<f64>().sqrt();
                assert!(moved <= bound * (1.0 + 1e-12), "{model}: {moved} > {bound}");
                moves = moves.max(moved);
            }
            // The bound is nearly reached, so that a sum of nothing does not pass.
            assert!(moves > 0.5 * bound, "{model}: {moves}");
        }
    }
}

#[test]
fn everything_that_is_trained_learns_on_synthetic_documents() {
    for model in MODELS {
        for adapt in [Adapt::Full, Adapt::LowRank { rank: 2 }] {
            let device = device().autodiff();
            let mut decoder = decoder(model, &device);
            adapt.apply(&mut decoder, &device).unwrap();
            let records = records(decoder.vocabulary(), 1, 1);
            let synthetic = records.synthetic(&[1, 2, 3, 4, 5, 6], &device);
            check_learns(&decoder, synthetic).unwrap();
        }
    }
}

#[test]
fn a_private_run_on_documents_keeps_its_budget() {
    let decoder = trained("gpt2", Adapt::LowRank { rank: 2 });
    let records = records(decoder.vocabulary(), 12, 1);
    let plan = Plan::new(Budget::new(4.0, 1e-3))
        .public_record_count(12)
        .expected_batch(4)
        .epochs(1.0)
        .calibrate()
        .unwrap();
    let trainer = Trainer::new(plan, OptimizerRule::heavy_ball(0.9), 0.01);
    let trained = trainer.fit(decoder, &records, &device()).unwrap();
    assert!(trained.report.epsilon_upper <= 4.0);
}
