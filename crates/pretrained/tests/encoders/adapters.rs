//! What is trained: per-sample gradients, coverage, and neighbouring data sets.

use crate::support::{SMALL, Squares, filled, small};
use burn::tensor::{Int, Tensor};
use tacita::{Parameters, PrivateModel, testkit};
use tacita_pretrained::adapter::check_learns;
use tacita_pretrained::{Adapt, PretrainedError};

const CHOICES: [&str; 6] = ["full", "lora:2", "last:1", "last:2", "bias", "head"];

/// Below every gradient's norm here.
const BOUND: f64 = 0.01;

/// Texts of several lengths with tokens that repeat.
fn tokens(padding: usize, count: usize) -> Tensor<2, Int> {
    let rows: Vec<Vec<u32>> = (0..count)
        .map(|row| {
            (0..4 + row % 5)
                .map(|at| (2 + (row * 7 + at * at) % 60) as u32)
                .collect()
        })
        .collect();
    filled(&rows, 9, padding)
}

/// A classifier whose adapters are no longer zero.
fn model(name: &str, adapt: &str) -> (Squares, usize) {
    let (opened, mut inner) = small(name, Some(adapt.parse().unwrap()));
    for block in &mut inner.encoder.blocks {
        for projection in [&mut block.query, &mut block.inner, &mut block.outer] {
            if let Some(low_rank) = &mut projection.low_rank {
                let up = low_rank.up.weight.clone();
                low_rank.up.weight =
                    up.map(|zeros| (zeros.inner() + 0.1).autodiff().require_grad());
            }
        }
    }
    (Squares { inner }, opened.sizes.padding)
}

#[test]
fn per_sample_gradients_equal_the_loop_for_every_architecture_and_choice() {
    for name in SMALL {
        for adapt in CHOICES {
            let (model, padding) = model(name, adapt);
            let all = tokens(padding, 5);
            testkit::assert_matches_per_sample_loop(&model, 5, |model, samples| {
                model.losses(all.clone().narrow(0, samples.start, samples.len()))
            });
        }
    }
}

#[test]
fn a_choice_trains_what_it_says() {
    let trained = |adapt: &str| {
        let (model, _) = model("bert", adapt);
        Parameters::of(&model).unwrap().elements()
    };
    let head = 8 * 3 + 3;
    assert_eq!(trained("head"), head);
    // Four layers of 8 × 8 and two of 8 × 16 in each of two blocks.
    assert_eq!(trained("lora:2"), head + 2 * 2 * (4 * 16 + 2 * 24));
    // Weights and biases of a block, its normalisations, and the pooler.
    let block = 4 * (64 + 8) + (128 + 16) + (128 + 8) + 2 * 16;
    assert_eq!(trained("last:1"), head + block + 72);
    let biases = 2 * (4 * 8 + 16 + 8 + 2 * 8) + 8 + 8 + 3;
    assert_eq!(trained("bias"), biases + 8 * 3);
    let refused = small("bert", None).1;
    let last: Adapt = "last:3".parse().unwrap();
    let refused = last
        .apply(&mut { refused }, &crate::support::device())
        .unwrap_err();
    assert!(refused.to_string().contains("2 blocks"), "{refused}");
}

/// B of a new adapter is zero, so A has no gradient in the first step; with A zero too, neither ever has one, as in runs
/// whose adapters never moved.
#[test]
fn an_adapter_that_can_never_move_is_refused_before_anything_is_spent() {
    for name in SMALL {
        for adapt in CHOICES {
            let (_, inner) = small(name, Some(adapt.parse().unwrap()));
            let tokens = tokens(inner.encoder.sizes.padding, 5);
            check_learns(&Squares { inner }, tokens).unwrap();
        }
    }
    let (opened, mut inner) = small("bert", Some("lora:2".parse().unwrap()));
    let low_rank = inner.encoder.blocks[1].value.low_rank.as_mut().unwrap();
    let down = low_rank.down.weight.clone();
    low_rank.down.weight = down.map(|values| (values.inner() * 0.0).autodiff().require_grad());
    let tokens = tokens(opened.sizes.padding, 5);
    let refused = check_learns(&Squares { inner }, tokens).unwrap_err();
    assert!(
        matches!(&refused, PretrainedError::Stuck { name } if name.contains("blocks.1.value.low_rank"))
    );
}

/// Adding a record moves the clipped sum of everything that LoRA trains by at most the bound, and nothing else.
#[test]
fn adding_a_record_moves_the_sum_of_low_rank_adapters_at_most_the_bound() {
    for name in SMALL {
        let (model, padding) = model(name, "lora:2");
        let all = tokens(padding, 6);
        let clipping = tacita::Clipping::abadi(BOUND);
        let sums = |count: usize| -> Vec<f64> {
            let batch = all.clone().narrow(0, 0, count);
            let losses = |model: &Squares| model.losses(batch);
            testkit::clipped_sums_without_noise(&model, &clipping, count, losses)
                .gradient
                .concat()
        };
        let (five, six) = (sums(5), sums(6));
        let moved: f64 = five
            .iter()
            .zip(&six)
            .map(|(one, other)| (one - other).powi(2))
            .sum();
        let trained = Parameters::of(&model).unwrap().elements();
        assert_eq!(five.len(), trained, "{name}");
        assert!(moved.sqrt() <= BOUND, "{name}: {}", moved.sqrt());
        assert!(moved.sqrt() > 0.9 * BOUND, "{name}: {}", moved.sqrt());
    }
}
