//! No norm bound lies below the truth, computed in f64 from the same factors, or below what its
//! sample adds to a sum in f32.

use super::bundle::{Bundle, Merged};
use super::contribution::{Contribution, Form, Target};
use super::method::Performance;
use super::norm::{Norms, SquaredNorm};
use super::outer;
use super::rows;
use crate::compute::backend::Rows;
use crate::sensitivity::clipping::{ClipRule, Room, room};
use burn::module::ParamId;
use burn::tensor::{Tensor, TensorData};
use proptest::prelude::*;
use tacita_kernels::exact::{Grid, Sum};

/// Values whose outer products nearly cancel over positions: each position is followed by its
/// negative, but for a part in `1 / residue`.
fn cancelling(batch: usize, positions: usize, width: usize, seed: u64, residue: f32) -> Vec<f32> {
    let mut state = seed;
    let mut values: Vec<f32> = Vec::with_capacity(batch * positions * width);
    for index in 0..batch * positions * width {
        let position = index / width % positions;
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let fresh = (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
        values.push(if position % 2 == 1 && residue < 1.0 {
            -values[index - width] * (1.0 + residue * fresh)
        } else {
            fresh
        });
    }
    values
}

fn tensor<const D: usize>(values: &[f32], shape: [usize; D]) -> Tensor<D> {
    Tensor::from_data(
        TensorData::new(values.to_vec(), shape),
        &crate::training::testkit::device(),
    )
}

/// ‖Σₜ aₜ ⊗ bₜ‖² of one sample, in f64.
fn truth(a: &[f32], b: &[f32], d: usize, p: usize) -> f64 {
    let mut gradient = vec![0.0f64; d * p];
    for (a, b) in a.chunks(d).zip(b.chunks(p)) {
        for (i, a) in a.iter().enumerate() {
            for (j, b) in b.iter().enumerate() {
                gradient[i * p + j] += f64::from(*a) * f64::from(*b);
            }
        }
    }
    gradient.iter().map(|v| v * v).sum()
}

fn assert_bounds(what: &str, norm: SquaredNorm, truths: &[f64]) {
    let numbers = |tensor: Tensor<1>| tensor.into_data().iter::<f64>().collect::<Vec<_>>();
    let (values, uppers) = (numbers(norm.value.clone()), numbers(norm.upper()));
    let slacks = uppers
        .iter()
        .zip(&values)
        .map(|(upper, value)| upper - value);
    for ((value, slack), truth) in values.iter().zip(slacks).zip(truths) {
        assert!(
            value + slack >= *truth,
            "{what}: {value:e} + {slack:e} < {truth:e}"
        );
        // As tight as it claims: the truth lies within the slack below the value, too.
        assert!(
            value - slack <= truth * 1.000_1,
            "{what}: {value:e} - {slack:e} > {truth:e}"
        );
    }
}

/// A sample scaled by its bound and rounded to the grid stays below 1, whatever is rounded on the way.
/// `rounding` is how far the grid moves it at most, in steps.
fn assert_summed(
    what: &str,
    norm: SquaredNorm,
    rounding: f64,
    sum: impl Fn(&Tensor<1>, Grid) -> Sum,
) {
    let norms = Norms::from_groups(vec![norm]);
    let Ok(Room { bounds, grids }) = room(&[1.0], &[rounding]) else {
        panic!("1 is a threshold");
    };
    let factors = ClipRule::Auto { gamma: 0.0 }.factors(&norms, &bounds);
    let batch = factors.dims()[0];
    let factors: Vec<f32> = factors.into_data().iter().collect();
    for sample in 0..batch {
        let mut alone = vec![0.0; batch];
        alone[sample] = factors[sample];
        let sum = sum(&tensor(&alone, [batch]), grids[0]);
        let square: f64 = (0..sum.len()).map(|at| sum.value(at).powi(2)).sum();
        assert!(square.sqrt() <= 1.0, "{what}: {:e}", square.sqrt());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn outer_product_bounds_never_lie_below_the_truth(
        seed: u64, positions in 1usize..40, d in 1usize..12, p in 1usize..12, digits in 0i32..8,
    ) {
        let batch = 2;
        let residue = 10f32.powi(-digits);
        // Only one side alternates, or the products would not cancel.
        let a = cancelling(batch, positions, d, seed, residue);
        let b: Vec<f32> = cancelling(batch, 1, p, seed ^ 1, 1.0)
            .chunks(p).flat_map(|row| row.repeat(positions)).collect();
        let (left, right) = (
            tensor(&a, [batch, 1, positions, d]),
            tensor(&b, [batch, 1, positions, p]),
        );
        let truths: Vec<f64> = (0..batch)
            .map(|i| truth(
                &a[i * positions * d..(i + 1) * positions * d],
                &b[i * positions * p..(i + 1) * positions * p],
                d, p,
            ))
            .collect();
        let bounds = |what, norm: SquaredNorm| {
            assert_bounds(what, norm.clone(), &truths);
            let rounding = 0.5 * outer::roundings(positions) as f64 * ((d * p) as f64).sqrt();
            let performance = Performance::default();
            assert_summed(what, norm.clone(), rounding, |factors, grid| {
                outer::weighted_sum(&left, &right, factors, grid, &performance)
            });
            assert_summed(what, norm, rounding, |factors, grid| {
                outer::formed_sum(&left, &right, factors, grid, &performance)
            });
        };
        bounds("gram", outer::gram(&left, &right));
        bounds("recomputed", outer::recompute(&left, &right, 64));
        if positions == 1 {
            bounds("ghost", outer::ghost(&left, &right));
        }
    }

    #[test]
    fn embedding_bounds_never_lie_below_the_truth(
        seed: u64, positions in 1usize..40, width in 1usize..9, table in 1usize..4, digits in 0i32..8,
    ) {
        let values = cancelling(1, positions, width, seed, 10f32.powi(-digits));
        // Pairs of positions share a token, so that they cancel.
        let tokens: Vec<i64> = (0..positions).map(|t| (t / 2 % table) as i64).collect();
        let one_hot: Vec<f32> = tokens.iter()
            .flat_map(|token| (0..table).map(move |row| f32::from(row as i64 == *token)))
            .collect();
        let rows = Tensor::from_data(
            TensorData::new(tokens, [1, positions]), &crate::training::testkit::device());
        let right = tensor(&values, [1, positions, width]);
        let truths = [truth(&one_hot, &values, table, width)];
        let rows = Rows::new(rows, right, 1);
        assert_bounds("rows", rows::squared_norm(&rows), &truths);
        let rounding = 0.5 * positions as f64 * (width as f64).sqrt();
        assert_summed("rows", rows::squared_norm(&rows), rounding, |factors, grid| {
            rows::weighted_sum(&rows, factors, grid, table)
        });
    }
}

#[test]
fn uses_of_a_tied_table_are_added_before_they_are_rounded() {
    // Each use alone is longer than the bound, one of them by so little that most of its coordinates are
    // not; together they are short. Rounded apart, one could be left out and the other not.
    let grid = Grid::UNIT;
    let step = grid.spacing() as f32;
    let targets = vec![Target {
        id: ParamId::new(),
        elements: 4,
        trainable: true,
    }];
    let of = |form| Contribution {
        form,
        targets: targets.clone(),
    };
    let device = crate::training::testkit::device();
    let uses = vec![
        of(Form::Outer {
            left: tensor(&[-1.0], [1, 1, 1, 1]),
            right: tensor(&[1.0; 4], [1, 1, 1, 4]),
        }),
        of(Form::Rows {
            rows: Tensor::from_data(TensorData::new(vec![0i64], [1, 1]), &device),
            right: tensor(&[1.0 + step, 1.0, 1.0, 1.0], [1, 1, 4]),
        }),
    ];
    let bundle = Bundle::merge(uses, targets.clone(), 0, 1);
    let Some(Merged::Tied(tied)) = bundle.map(|bundle| bundle.merged) else {
        panic!("two uses of one table");
    };
    let sum = tied.formed_sum(&tensor(&[1.0], [1]), grid, &Performance::default());
    let values: Vec<f64> = (0..4).map(|index| sum.value(index)).collect();
    assert_eq!(values, [grid.spacing(), 0.0, 0.0, 0.0]);
}
