//! The GPU against the CPU. Without a GPU these tests print that they are skipped, and pass.

use super::rows::GpuRows;
use super::steps::{formed_steps, scattered_steps};
use crate::compute::backend::ops::{self, Precision, in_precision};
use crate::training::optim::{Optimizer, OptimizerRule};
use burn::backend::Cuda;
use burn::module::Param;
use burn::nn;
use burn::optim::GradientsParams;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita_kernels::exact::{Grid, Sum, Vectors, add_scattered};

fn gpu() -> Option<Device> {
    let present = std::path::Path::new("/proc/driver/nvidia/version").exists();
    if !present {
        eprintln!("skipped: this machine has no NVIDIA GPU");
    }
    present.then(|| Device::cuda(0))
}

fn values(tensor: Tensor<1>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

#[test]
fn rows_on_the_gpu_are_those_of_the_host() {
    let Some(gpu) = gpu() else { return };
    let (batch, positions, width, table) = (5, 7, 33, 4);
    let rows: Vec<i64> = (0..batch * positions)
        .map(|i| (i * i % table) as i64)
        .collect();
    let right: Vec<f32> = (0..batch * positions * width)
        .map(|i| ((i * 37 % 101) as f32 - 50.0) / 50.0)
        .collect();
    let gpu_rows = GpuRows::new(
        &Tensor::<2, Int>::from_data(TensorData::new(rows.clone(), [batch, positions]), &gpu),
        &Tensor::<3>::from_data(
            TensorData::new(right.clone(), [batch, positions, width]),
            &gpu,
        ),
    )
    .unwrap();
    let mut gradients = vec![0f64; batch * table * width];
    for (place, row) in rows.iter().enumerate() {
        let sample = place / positions;
        for column in 0..width {
            gradients[(sample * table + *row as usize) * width + column] +=
                f64::from(right[place * width + column]);
        }
    }
    let squares = values(gpu_rows.squares().sum_dim(1).reshape([batch]));
    let sums: Tensor<2> = Tensor::from_primitive::<Cuda>(gpu_rows.plain_sum(table).unwrap());
    let sums = values(sums.reshape([table * width]));
    for (sample, square) in squares.into_iter().enumerate() {
        let gradient = &gradients[sample * table * width..(sample + 1) * table * width];
        let expected: f64 = gradient.iter().map(|g| g * g).sum();
        assert!((f64::from(square) / expected - 1.0).abs() < 1e-5);
    }
    for (entry, sum) in sums.into_iter().enumerate() {
        let expected: f64 = (0..batch)
            .map(|sample| gradients[sample * table * width + entry])
            .sum();
        assert!((f64::from(sum) - expected).abs() < 1e-4, "{sum} {expected}");
    }
}

/// Values in (−1, 1) that any machine makes alike.
fn spread<const D: usize>(shape: [usize; D], seed: u32, device: &Device) -> Tensor<D> {
    let count = shape.iter().product::<usize>() as u32;
    let value = |index: u32| {
        let mixed = (index.wrapping_mul(2_654_435_761) ^ seed).wrapping_mul(2_246_822_519);
        (mixed >> 8) as f32 / (1u32 << 23) as f32 - 1.0
    };
    let values: Vec<f32> = (0..count).map(value).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

/// `ours` within `share` of the root mean square of `cpus`.
fn assert_close<const D: usize>(ours: Tensor<D>, cpus: Tensor<D>, share: f32, what: &str) {
    assert_eq!(ours.dims(), cpus.dims(), "{what}");
    let [ours, cpus] = [ours, cpus].map(|t| t.into_data().iter::<f32>().collect::<Vec<_>>());
    let square: f32 = cpus.iter().map(|value| value * value).sum();
    let typical = (square / cpus.len() as f32).sqrt();
    for (ours, cpus) in ours.iter().zip(&cpus) {
        let error = (ours - cpus).abs();
        assert!(
            error <= share * typical,
            "{what}: {ours} and {cpus}, typically {typical}"
        );
    }
}

/// Products of operands rounded to 2⁻ᵇ are off by about that share of what is typical; ten times
/// that is rare.
const PRECISIONS: [(Precision, f32); 2] = [
    (Precision::Single, 10.0 / 1024.0),
    (Precision::Mixed, 10.0 / 256.0),
];

#[test]
fn products_and_their_gradients_are_those_of_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let cpu = Device::flex();
    for (precision, share) in PRECISIONS {
        for [m, k, n] in [[1, 5, 300], [64, 64, 64], [200, 33, 130], [1000, 784, 100]] {
            let run = |device: &Device| {
                let device = device.clone().autodiff();
                let left: Tensor<2> = spread([m, k], 1, &device).require_grad();
                let right: Tensor<2> = spread([k, n], 2, &device).require_grad();
                let weight: Tensor<2> = spread([m, n], 3, &device);
                let output = in_precision(precision, || ops::matmul(left.clone(), right.clone()));
                let gradients = (output.clone() * weight).sum().backward();
                let of = |tensor: &Tensor<2>| tensor.grad(&gradients).unwrap();
                [output.inner(), of(&left), of(&right)]
            };
            for (ours, cpus) in run(&gpu).into_iter().zip(run(&cpu)) {
                assert_close(ours, cpus, share, &format!("{m} x {k} x {n} {precision:?}"));
            }
        }
    }
}

#[test]
fn convolutions_and_their_gradients_are_those_of_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let cpu = Device::flex();
    for (precision, share) in PRECISIONS {
        for (channels, wider, side, kernel, stride, padding) in [
            (1, 16, 28, 8, 2, 2),
            (8, 16, 9, 3, 1, 1),
            (12, 10, 7, 3, 1, 0),
            (16, 32, 13, 4, 2, 0),
            (64, 64, 8, 3, 1, 1),
            (16, 24, 6, 1, 1, 0),
        ] {
            let options = ConvOptions::new([stride; 2], [padding; 2], [1, 1], 1);
            let run = |device: &Device| {
                let device = device.clone().autodiff();
                let x: Tensor<4> = spread([5, channels, side, side], 1, &device).require_grad();
                let weight: Tensor<4> = spread([wider, channels, kernel, kernel], 2, &device);
                let weight = weight.require_grad();
                let output = in_precision(precision, || {
                    ops::conv2d(x.clone(), weight.clone(), None, options.clone())
                });
                let by: Tensor<4> = spread(output.dims(), 3, &device);
                let gradients = (output.clone() * by).sum().backward();
                let of = |tensor: &Tensor<4>| tensor.grad(&gradients).unwrap();
                [output.inner(), of(&x), of(&weight)]
            };
            for (ours, cpus) in run(&gpu).into_iter().zip(run(&cpu)) {
                let what = format!("{channels} to {wider}, {kernel} / {stride}, {precision:?}");
                assert_close(ours, cpus, share, &what);
            }
        }
    }
}

#[test]
fn functions_of_values_and_rows_are_those_of_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let cpu = Device::flex();
    type Run = fn(Tensor<2>) -> Tensor<2>;
    let functions: [(&str, Run); 7] = [
        ("relu", ops::relu),
        ("tanh", ops::tanh),
        ("sigmoid", ops::sigmoid),
        ("gelu", ops::gelu),
        ("softmax", ops::softmax),
        ("log softmax", ops::log_softmax),
        ("normalise", |x| ops::normalise(x, 1e-5)),
    ];
    for (name, function) in functions {
        for (shape, turned) in [([7, 10], false), ([300, 129], false), ([64, 200], true)] {
            let run = |device: &Device| {
                let device = device.clone().autodiff();
                let x: Tensor<2> = spread(shape, 1, &device).mul_scalar(3.0).require_grad();
                let input = if turned {
                    x.clone().transpose()
                } else {
                    x.clone()
                };
                let y = function(input);
                let by: Tensor<2> = spread(y.dims(), 2, &device);
                let gradients = (y.clone() * by).sum().backward();
                [y.inner(), x.grad(&gradients).unwrap()]
            };
            for (ours, cpus) in run(&gpu).into_iter().zip(run(&cpu)) {
                assert_close(ours, cpus, 1e-4, name);
            }
        }
    }
}

#[test]
fn sums_of_rows_are_those_of_the_cpu() {
    let Some(gpu) = gpu() else { return };
    for [count, length] in [[1, 1], [5, 3], [4096, 10], [1000, 20_000]] {
        let rows = |device: &Device| -> Tensor<2> { spread([count, length], 1, device) };
        let ours = super::sums::rows(super::in_order(rows(&gpu)).unwrap(), [count, length]);
        let ours: Tensor<1> = Tensor::from_primitive::<Cuda>(ours);
        let cpus = rows(&Device::flex()).sum_dim(0).reshape([length]);
        assert_close(ours, cpus, 1e-4, "sum");
    }
}

#[test]
fn optimisers_step_as_on_the_cpu() {
    let Some(gpu) = gpu() else { return };
    for rule in [
        OptimizerRule::Sgd,
        OptimizerRule::heavy_ball(0.9),
        OptimizerRule::nesterov(0.9),
        OptimizerRule::adam(),
        OptimizerRule::adam_w(),
    ] {
        let run = |device: &Device| {
            let device = device.clone().autodiff();
            let layer = nn::LinearConfig::new(30, 20).with_bias(false).init(&device);
            let weight: Tensor<2> = spread([30, 20], 1, &device);
            let mut layer = nn::Linear {
                weight: Param::from_tensor(weight),
                ..layer
            };
            let mut optimizer = Optimizer::from(rule).with_weight_decay(0.01);
            for step in 0..4 {
                let by: Tensor<2> = spread([30, 20], step, &device);
                let loss = (layer.weight.val() * by).sum();
                let gradients = GradientsParams::from_grads(loss.backward(), &layer);
                layer = optimizer.step_without_privacy(0.1, layer, gradients);
            }
            layer.weight.val().inner()
        };
        assert_close(run(&gpu), run(&Device::flex()), 1e-4, &format!("{rule:?}"));
    }
}

/// The coordinates of a sum.
fn all_values(sum: &Sum) -> Vec<f64> {
    (0..sum.len()).map(|index| sum.value(index)).collect()
}

/// Factors that are powers of two, so that nothing is rounded before the grid does it.
fn factors(count: usize) -> Vec<f32> {
    (0..count).map(|row| 0.5f32.powi(row as i32 % 3)).collect()
}

/// Few records, more than 32 bits hold, and several runs of them.
#[test]
fn steps_on_the_gpu_are_those_of_the_host() {
    let Some(gpu) = gpu() else { return };
    let grid = Grid::for_bound(1.0).unwrap();
    for (count, elements) in [(1, 1), (7, 300), (1023, 33), (1024, 5), (5000, 40)] {
        let rows: Tensor<2> = spread([count, elements], 9, &gpu);
        let mut values: Vec<f32> = rows.into_data().iter::<f32>().collect();
        // What is too long or no number adds nothing.
        for (place, odd) in [3.0, -2.5, f32::NAN, f32::INFINITY].into_iter().enumerate() {
            let place = (place * 97) % values.len();
            values[place] = odd * 2.0;
        }
        let factors = factors(count);
        let mut expected = vec![0.0; elements];
        for (place, value) in values.iter().enumerate() {
            let product = value * factors[place / elements];
            if product.abs() <= 1.0 {
                let steps = f64::from(grid.steps(product) as i32);
                expected[place % elements] += steps * grid.spacing();
            }
        }
        let rows = Tensor::<2>::from_data(TensorData::new(values, [count, elements]), &gpu);
        let factors = Tensor::<1>::from_data(TensorData::new(factors, [count]), &gpu);
        let whole = formed_steps(&rows, &factors, grid).unwrap().into_sum(grid);
        assert_eq!(all_values(&whole), expected, "{count} x {elements}");
        let run = |first: usize, count: usize| {
            let (rows, factors) = (rows.clone(), factors.clone());
            let (rows, factors) = (
                rows.narrow(0, first, count),
                factors.narrow(0, first, count),
            );
            formed_steps(&rows, &factors, grid).unwrap()
        };
        let first = count / 3;
        if first > 0 {
            let runs = run(0, first).plus(run(first, count - first));
            assert_eq!(
                all_values(&runs.into_sum(grid)),
                expected,
                "{count} x {elements}"
            );
        }
    }
}

#[test]
fn scattered_steps_on_the_gpu_are_those_of_the_host() {
    let Some(gpu) = gpu() else { return };
    let grid = Grid::for_bound(1.0).unwrap();
    for (batch, positions, width, table) in [(1, 1, 1, 1), (5, 7, 33, 4), (3000, 5, 8, 11)] {
        let count = batch * positions * width;
        let vectors: Tensor<1> = spread([count], 5, &gpu);
        let mut vectors: Vec<f32> = vectors.into_data().iter::<f32>().collect();
        let rows: Vec<i64> = (0..batch * positions)
            .map(|i| (i * i % table) as i64)
            .collect();
        let mut factors = factors(batch);
        // A record one of whose vectors is too long or no number adds nothing at all.
        let mut left_out = vec![false; batch];
        for (place, odd) in [3.0, -2.5, f32::NAN, f32::INFINITY].into_iter().enumerate() {
            let place = (place * 9973) % count;
            if batch > 4 {
                vectors[place] = odd * 2.0;
                left_out[place / (positions * width)] = true;
            }
        }
        let tensors = |factors: &[f32]| {
            (
                Tensor::<2, Int>::from_data(
                    TensorData::new(rows.clone(), [batch, positions]),
                    &gpu,
                ),
                Tensor::<3>::from_data(
                    TensorData::new(vectors.clone(), [batch, positions, width]),
                    &gpu,
                ),
                Tensor::<1>::from_data(TensorData::new(factors.to_vec(), [batch]), &gpu),
            )
        };
        let (tokens, right, weights) = tensors(&factors);
        let sum = scattered_steps(&tokens, &right, &weights, grid, table);
        let sum = sum.unwrap().into_sum(grid);
        for (factor, left_out) in factors.iter_mut().zip(&left_out) {
            if *left_out {
                *factor = 0.0;
            }
        }
        let clean: Vec<f32> = vectors
            .iter()
            .map(|value| if value.is_finite() { *value } else { 0.0 })
            .collect();
        let expected = Sum::of_records(grid, table * width, batch, |some, steps| {
            let of = |each: usize| some.start * each..some.end * each;
            let vectors = Vectors::EachPosition(&clean[of(positions * width)]);
            add_scattered(
                steps,
                width,
                &rows[of(positions)],
                vectors,
                &factors[some.clone()],
                grid,
            );
        });
        assert_eq!(
            all_values(&sum),
            all_values(&expected),
            "{batch} x {positions} x {width}"
        );
    }
}
