//! What is read of a document.

use burn::tensor::Tensor;
use tacita::Records;
use tacita::testkit::device;
use tacita_pretrained::PretrainedError;
use tacita_pretrained::decoder::{CausalBatch, CausalRecords, Example, Reduction, Shape};

const END: u32 = 9;

fn shape(window: usize, windows: usize, reduction: Reduction) -> Shape {
    Shape {
        window,
        windows,
        reduction,
    }
}

/// Tokens, next tokens and weights of one record.
fn row(example: &Example, shape: Shape) -> (Vec<i64>, Vec<i64>, Vec<f32>) {
    let batch = CausalBatch::of([example], &shape, &device());
    let whole = |tensor: burn::tensor::Tensor<2, burn::tensor::Int>| {
        tensor.into_data().convert::<i64>().try_to_vec().unwrap()
    };
    let weights: Tensor<2> = batch.weights;
    (
        whole(batch.tokens),
        whole(batch.next),
        weights.into_data().try_to_vec().unwrap(),
    )
}

#[test]
fn only_the_continuation_and_its_end_count() {
    let example = Example::continuation(&[1, 2, 3], &[4, 5], END);
    let (tokens, next, weights) = row(&example, shape(8, 1, Reduction::Sum));
    assert_eq!(tokens, [1, 2, 3, 4, 5, 9, 0, 0]);
    assert_eq!(next, [2, 3, 4, 5, 9, 0, 0, 0]);
    assert_eq!(weights, [0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
    let (_, _, weights) = row(&example, shape(8, 1, Reduction::Mean));
    assert_eq!(weights[2..5], [1.0 / 3.0; 3]);
}

#[test]
fn what_is_too_long_loses_the_beginning_of_its_prompt_and_then_its_end() {
    let example = Example::continuation(&[1, 2, 3], &[4, 5], END);
    let read = |window| row(&example, shape(window, 1, Reduction::Sum));
    assert_eq!(
        read(4),
        (vec![2, 3, 4, 5], vec![3, 4, 5, 9], vec![0.0, 1.0, 1.0, 1.0])
    );
    assert_eq!(read(3), (vec![3, 4, 5], vec![4, 5, 9], vec![1.0; 3]));
    assert_eq!(read(2), (vec![3, 4], vec![4, 5], vec![1.0; 2]));
}

#[test]
fn every_token_of_a_document_counts_once_over_its_windows() {
    let example = Example::document(&[1, 2, 3, 4, 5, 6], END);
    let (tokens, next, weights) = row(&example, shape(4, 2, Reduction::Sum));
    assert_eq!(tokens, [9, 1, 2, 3, 4, 5, 6, 9]);
    assert_eq!(next, [1, 2, 3, 4, 5, 6, 9, 0]);
    assert_eq!(weights, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn an_empty_record_is_a_record() {
    let (_, next, weights) = row(
        &Example::continuation(&[], &[], END),
        shape(2, 1, Reduction::Mean),
    );
    assert_eq!((next, weights), (vec![9, 0], vec![1.0, 0.0]));
}

#[test]
fn tokens_that_the_model_has_no_row_for_are_refused() {
    let examples = vec![Example::document(&[3, 12], END)];
    let shape = shape(4, 1, Reduction::Mean);
    let refused = CausalRecords::new(examples.clone(), shape, 12).expect_err("refused");
    assert!(matches!(
        refused,
        PretrainedError::Vocabulary {
            tokens: 13,
            rows: 12
        }
    ));
    let records = CausalRecords::new(examples, shape, 13).unwrap();
    let synthetic = records.synthetic(&[1, 2], &device());
    let ids: Vec<i64> = synthetic
        .tokens
        .into_data()
        .convert::<i64>()
        .try_to_vec()
        .unwrap();
    assert!(ids.iter().all(|id| (0..13).contains(id)));
    assert_ne!(ids[..4], ids[4..]);
}
