//! Data sets made so that a running total in f32 moves by many thresholds when one record leaves
//! (Casacuberta et al. 2022): here every kind of sum moves by at most its threshold.
//!
//! All records have the same input, and a record's loss is its scale times a fixed number, so that its
//! gradient is the scale times a fixed G. Half of the records bring the total to a power of two, or one
//! record short of it. The rest are pairs a little above and a little below half of the spacing of f32
//! beyond that power: there both round up, a spacing a pair, below it neither does.

use crate::common::{device, rows_of};
use burn::module::Module;
use burn::tensor::{Int, Tensor, TensorData};
use tacita::Clipping;
use tacita::clipping::{Grouping, Online, Quantile, Threshold};
use tacita::layers::{
    Conv2d, Conv2dConfig, Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear,
    LinearConfig, Lstm, LstmConfig,
};
use tacita::testkit::{SumsWithoutNoise, clipped_sums_without_noise};

/// Scales of `count` records, a power of two. Sums made of partial sums are met by pairs that are spread
/// over `run` records each, and sums shared by threads by several data sets one after the other.
fn hostile(count: usize, run: usize, copies: usize) -> Vec<f32> {
    let half = count / copies / 2;
    let spacing = half as f32 / (1 << 23) as f32;
    let pair = [0.5 + 1.0 / 1024.0, -(0.5 - 1.0 / 1024.0)].map(|share| share * spacing);
    let rest = (0..half).map(|at| pair[at / run % 2] / run as f32);
    let one: Vec<f32> = std::iter::repeat_n(1.0, half).chain(rest).collect();
    one.repeat(copies)
}

/// How far the first of some numbers moves their running total in f32.
fn naively_moved(scales: &[f32]) -> f32 {
    let total = |scales: &[f32]| scales.iter().fold(0.0f32, |sum, scale| sum + scale);
    (total(scales) - total(&scales[1..])).abs()
}

#[test]
fn the_data_set_is_hostile_to_running_totals() {
    for (count, moved) in [
        (8_192, 1.0),
        (16_384, 4.0),
        (131_072, 200.0),
        (524_288, 4_000.0),
    ] {
        let naive = naively_moved(&hostile(count, 1, 1));
        assert!(naive > moved, "{count}: {naive}");
    }
}

/// The sums over records of given scales, in a pass of `size` rows where passes have one size.
fn sums<M: Module>(
    model: &M,
    clipping: &Clipping,
    scales: &[f32],
    size: usize,
    output: &impl Fn(&M, usize) -> Tensor<2>,
) -> SumsWithoutNoise {
    let (scales, rows) = rows_of(scales, size);
    let count = rows.all;
    let scales = Tensor::from_data(TensorData::new(scales, [count]), &device());
    clipped_sums_without_noise(model, clipping, rows, |model| {
        output(model, count).sum_dim(1).reshape([count]) * scales
    })
}

fn distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// Policies, with the threshold of the first step.
fn policies() -> [(&'static str, Clipping, f64); 5] {
    // So low that the longer records are clipped and have a direction.
    const LOW: f64 = 0.25;
    let online = Threshold::Online(Online {
        initial: LOW,
        ..Online::default()
    });
    let quantile = Threshold::Quantile(Quantile {
        initial: 1.0,
        ..Quantile::new(0.5)
    });
    [
        ("abadi", Clipping::abadi(1.0), 1.0),
        ("automatic", Clipping::auto(), 1.0),
        (
            "per layer",
            Clipping::abadi(1.0).grouping(Grouping::PerLayer),
            1.0,
        ),
        ("OSO", Clipping::online().threshold(online), LOW),
        ("quantile", Clipping::online().threshold(quantile), 1.0),
    ]
}

/// Asserts that neither the first, a middle nor the last record moves a sum by more than its bound.
fn assert_bounded<M: Module>(
    what: &str,
    model: &M,
    count: usize,
    output: impl Fn(&M, usize) -> Tensor<2>,
) {
    assert_bounded_in(&ARRANGEMENTS, what, model, count, output);
}

/// Runs of partial sums and copies that the data sets are made for.
const ARRANGEMENTS: [(usize, usize); 7] =
    [(1, 1), (1, 2), (4, 1), (26, 1), (64, 2), (171, 1), (512, 1)];
/// Of a million records, one data set under every policy is enough for a test of seconds.
const ONE: [(usize, usize); 1] = [ARRANGEMENTS[0]];
const MILLION: usize = 1 << 20;

fn assert_bounded_in<M: Module>(
    arrangements: &[(usize, usize)],
    what: &str,
    model: &M,
    count: usize,
    output: impl Fn(&M, usize) -> Tensor<2>,
) {
    // One record of scale 1 has a gradient of length 1/2 to 1: none is clipped, all are added as they are.
    let one = sums(model, &Clipping::abadi(1e3), &[1.0], count, &output);
    let length = one
        .gradient
        .iter()
        .flatten()
        .map(|v| v * v)
        .sum::<f64>()
        .sqrt();
    let unit = 2f64.powi(-(length.log2().ceil() as i32)) as f32;
    let policies = policies();
    let mut most = [[0.0f64; 2]; 5];
    for (run, copies) in arrangements.iter().copied() {
        let scales = hostile(count, run, copies);
        let scales: Vec<f32> = scales.iter().map(|scale| scale * unit).collect();
        let some = if run * copies == 1 { policies.len() } else { 1 };
        for ((_, clipping, threshold), most) in policies[..some].iter().zip(&mut most) {
            let with = sums(model, clipping, &scales, count, &output);
            for removed in [0, count / 3, count - 1] {
                let mut neighbour = scales.clone();
                neighbour.remove(removed);
                let without = sums(model, clipping, &neighbour, count, &output);
                let what = format!("{what}, {count} records, {clipping:?}");
                let moved = assert_moved(&what, *threshold, &with, &without);
                for (most, moved) in most.iter_mut().zip(moved) {
                    *most = most.max(moved);
                }
            }
        }
    }
    // Shown by `cargo test --release -p tacita --test engine hostile -- --nocapture`.
    for ((name, ..), [gradient, directions]) in policies.iter().zip(most) {
        println!(
            "{what}, {count} records, {name}: moved by {gradient:.6} C, directions by {directions:.6}"
        );
    }
}

/// How far the gradient moved, in thresholds, and the directions.
fn assert_moved(
    what: &str,
    threshold: f64,
    with: &SumsWithoutNoise,
    without: &SumsWithoutNoise,
) -> [f64; 2] {
    let moved = distance(&with.gradient, &without.gradient) / threshold;
    assert!(moved <= 1.0, "{what}: moved {moved}");
    let turned = match (&with.directions, &without.directions) {
        (Some(with), Some(without)) => distance(with, without),
        _ => 0.0,
    };
    assert!(turned <= 1.0, "{what}: directions moved {turned}");
    if let (Some(with), Some(without)) = (&with.counts, &without.counts) {
        let halves = |(a, b): (&f64, &f64)| (a - b).abs() == 0.5;
        assert!(with.iter().zip(without).all(halves), "{what}: counts");
    }
    [moved, turned]
}

fn ones<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    Tensor::ones(shape, &device())
}

#[test]
fn linear_sums_move_by_at_most_the_threshold() {
    let model = LinearConfig::new(3, 2).init(&device().autodiff());
    for count in [8_192, 16_384, 131_072, 524_288, 1_048_576] {
        assert_bounded("linear", &model, count, |model, count| {
            model.forward(ones([count, 3]))
        });
    }
}

#[test]
fn sums_over_positions_move_by_at_most_the_threshold() {
    let model = LinearConfig::new(4, 2).init(&device().autodiff());
    let outputs = |positions: usize| {
        move |model: &Linear, count: usize| {
            let output = model.forward(ones([count, positions, 4]));
            output.reshape([count, positions * 2])
        }
    };
    for positions in [3, 20] {
        assert_bounded("positions", &model, 16_384, outputs(positions));
    }
    assert_bounded_in(&ONE, "positions", &model, MILLION, outputs(3));
}

#[test]
fn convolution_sums_move_by_at_most_the_threshold() {
    // Eight channels take the way by shifts of the image, two the one by laid-out windows.
    for channels in [2, 8] {
        let model = Conv2dConfig::new([1, channels], [2, 2]).init(&device().autodiff());
        let output = |model: &Conv2d, count: usize| {
            let output = model.forward(ones([count, 1, 3, 3]));
            output.reshape([count, channels * 4])
        };
        assert_bounded("convolution", &model, 16_384, output);
        if channels == 2 {
            assert_bounded_in(&ONE, "convolution", &model, MILLION / 4, output);
        }
    }
}

#[test]
fn embedding_sums_move_by_at_most_the_threshold() {
    let model = EmbeddingConfig::new(3, 2).init(&device().autodiff());
    let output = |model: &Embedding, count: usize| {
        let tokens: Vec<i64> = [0, 1, 1].repeat(count);
        let tokens = Tensor::<2, Int>::from_data(TensorData::new(tokens, [count, 3]), &device());
        model.forward(tokens).reshape([count, 6])
    };
    assert_bounded("embedding", &model, 32_768, output);
    assert_bounded_in(&ONE, "embedding", &model, MILLION, output);
}

#[test]
fn recurrent_sums_move_by_at_most_the_threshold() {
    let model = LstmConfig::new(2, 3, true).init(&device().autodiff());
    let output = |model: &Lstm, count: usize| {
        let (hidden, _) = model.forward(ones([count, 3, 2]), None);
        hidden.reshape([count, 9])
    };
    assert_bounded("LSTM", &model, 16_384, output);
    assert_bounded_in(&ONE, "LSTM", &model, MILLION / 4, output);
}

#[test]
fn direct_sums_move_by_at_most_the_threshold() {
    let model = LayerNormConfig::new(4).init(&device().autodiff());
    let output = |model: &LayerNorm, count: usize| {
        let rows = Tensor::<1>::from_floats([1.0, -1.0, 3.0, 0.5], &device());
        model.forward(rows.reshape([1, 4]).expand([count as i64, 4]))
    };
    assert_bounded("direct", &model, 32_768, output);
    assert_bounded_in(&ONE, "direct", &model, MILLION, output);
}
