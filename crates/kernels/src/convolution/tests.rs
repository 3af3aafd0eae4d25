//! Every kernel against the nested loop in f64.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::exact::{FEW_POSITIONS, Grid};
use crate::testkit::{close, source};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// The windows of samples `first..first + count`: `[count, channels_in · k1 · k2, positions]`.
fn patches(g: &Geometry, x: &[f32], first: usize, count: usize) -> Vec<f32> {
    let size = g.groups * g.patch() * g.positions();
    let mut columns = vec![0.0; count * size];
    for (sample, columns) in columns.chunks_exact_mut(size).enumerate() {
        let x = &x[(first + sample) * g.sample_in()..][..g.sample_in()];
        super::patches::gather(g, x, columns, g.positions());
    }
    columns
}

/// A geometry from free choices; `spare` rows and columns of the largest output are left out.
fn geometries() -> impl Strategy<Value = Geometry> {
    let axis = || {
        (
            1usize..4,
            1usize..4,
            1usize..3,
            0usize..4,
            0usize..3,
            1usize..12,
            0usize..2,
        )
    };
    (0usize..6, 1usize..4, 1usize..4, 1usize..20, axis(), axis()).prop_map(
        |(batch, groups, channels_in, channels_out, rows, columns)| {
            let mut geometry = Geometry {
                batch,
                channels_in: groups * channels_in,
                channels_out: groups * channels_out,
                groups,
                input: [0; 2],
                output: [0; 2],
                kernel: [0; 2],
                stride: [0; 2],
                padding: [(0, 0); 2],
                dilation: [0; 2],
            };
            for (axis, sizes) in [rows, columns].into_iter().enumerate() {
                let (kernel, stride, dilation, before, after, input, spare) = sizes;
                let reach = (kernel - 1) * dilation + 1;
                let padded = (input + before + after).max(reach);
                geometry.kernel[axis] = kernel;
                geometry.stride[axis] = stride;
                geometry.dilation[axis] = dilation;
                geometry.padding[axis] = (before, padded - input - before);
                geometry.input[axis] = input;
                geometry.output[axis] =
                    ((padded - reach) / stride + 1 - spare.min((padded - reach) / stride)).max(1);
            }
            geometry
        },
    )
}

/// Calls `visit(x index, weight index, y index, sample)` for every product of the convolution.
fn by_loop(g: &Geometry, mut visit: impl FnMut(usize, usize, usize, usize)) {
    let (per_in, per_out) = (g.channels_in / g.groups, g.channels_out / g.groups);
    for sample in 0..g.batch {
        for out in 0..g.channels_out {
            for row in 0..g.output[0] {
                for column in 0..g.output[1] {
                    for channel in 0..per_in {
                        for down in 0..g.kernel[0] {
                            for along in 0..g.kernel[1] {
                                let y = row * g.stride[0] + down * g.dilation[0];
                                let x = column * g.stride[1] + along * g.dilation[1];
                                let (Some(y), Some(x)) =
                                    (y.checked_sub(g.padding[0].0), x.checked_sub(g.padding[1].0))
                                else {
                                    continue;
                                };
                                if y >= g.input[0] || x >= g.input[1] {
                                    continue;
                                }
                                let from = out / per_out * per_in + channel;
                                visit(
                                    ((sample * g.channels_in + from) * g.input[0] + y) * g.input[1]
                                        + x,
                                    ((out * per_in + channel) * g.kernel[0] + down) * g.kernel[1]
                                        + along,
                                    ((sample * g.channels_out + out) * g.output[0] + row)
                                        * g.output[1]
                                        + column,
                                    sample,
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Enough samples and weights for several blocks of the laid-out path, with a rest.
#[test]
fn blocks_and_their_rest_are_the_nested_loop() -> Result<(), TestCaseError> {
    let g = Geometry {
        batch: 37,
        channels_in: 130,
        input: [2, 3],
        channels_out: 66,
        output: [2, 3],
        kernel: [2, 2],
        stride: [1, 1],
        padding: [(1, 0), (0, 1)],
        dilation: [1, 1],
        groups: 1,
    };
    let p = problem(&g, 3);
    let mut y = vec![0.0; p.dy.len()];
    let mut dx = vec![0.0; p.x.len()];
    let mut dw = vec![0.0; p.weight.len()];
    by_loop(&g, |x, w, out, _| {
        y[out] += f64::from(p.x[x]) * f64::from(p.weight[w]);
        dx[x] += f64::from(p.dy[out]) * f64::from(p.weight[w]);
        dw[w] += f64::from(p.dy[out]) * f64::from(p.x[x]);
    });
    close(&forward(&g, &p.x, &p.weight, None), &y)?;
    close(&input_gradient(&g, &p.weight, &p.dy, None), &dx)?;
    close(&weight_gradient(&g, &p.x, &p.dy), &dw)
}

struct Problem {
    x: Vec<f32>,
    weight: Vec<f32>,
    dy: Vec<f32>,
}

fn problem(g: &Geometry, seed: u64) -> Problem {
    let mut values = source(seed);
    Problem {
        x: values(g.batch * g.sample_in()),
        weight: values(g.weights()),
        dy: values(g.batch * g.sample_out()),
    }
}

fn sample_gradients(g: &Geometry, p: &Problem) -> Vec<f64> {
    let mut expected = vec![0.0; g.batch * g.weights()];
    by_loop(g, |x, w, y, sample| {
        expected[sample * g.weights() + w] += f64::from(p.x[x]) * f64::from(p.dy[y]);
    });
    expected
}

/// The weighted sum of the samples' gradients, in steps.
fn steps(g: &Geometry, p: &Problem, factors: &[f32], grid: Grid) -> Vec<u32> {
    let mut steps = vec![0; g.weights()];
    add_weight_gradients(&mut steps, g, &p.x, &p.dy, factors, grid);
    steps
}

proptest! {
    #[test]
    fn forward_is_the_nested_loop(g in geometries(), seed: u64, biased: bool) {
        let p = problem(&g, seed);
        let bias = biased.then(|| source(seed ^ 1)(g.channels_out));
        let mut expected: Vec<f64> = (0..g.batch * g.sample_out())
            .map(|at| bias.as_ref().map_or(0.0, |b| f64::from(b[at / g.positions() % g.channels_out])))
            .collect();
        by_loop(&g, |x, w, y, _| expected[y] += f64::from(p.x[x]) * f64::from(p.weight[w]));
        close(&forward(&g, &p.x, &p.weight, bias.as_deref()), &expected)?;
    }

    #[test]
    fn input_gradient_is_the_nested_loop(g in geometries(), seed: u64, biased: bool) {
        let p = problem(&g, seed);
        let bias = biased.then(|| source(seed ^ 1)(g.channels_in));
        let plane = g.input[0] * g.input[1];
        let mut expected: Vec<f64> = (0..g.batch * g.sample_in())
            .map(|at| bias.as_ref().map_or(0.0, |b| f64::from(b[at / plane % g.channels_in])))
            .collect();
        by_loop(&g, |x, w, y, _| expected[x] += f64::from(p.dy[y]) * f64::from(p.weight[w]));
        close(&input_gradient(&g, &p.weight, &p.dy, bias.as_deref()), &expected)?;
    }

    #[test]
    fn weight_gradients_are_the_nested_loop(g in geometries(), seed: u64) {
        let p = problem(&g, seed);
        let each = sample_gradients(&g, &p);
        close(&per_sample_weight_gradients(&g, &p.x, &p.dy, 1), &each)?;
        let mut factors = source(seed ^ 2)(g.batch);
        let sum = |factors: &[f32]| -> Vec<f64> {
            (0..g.weights())
                .map(|w| (0..g.batch).map(|i| f64::from(factors[i]) * each[i * g.weights() + w]).sum())
                .collect()
        };
        close(&weight_gradient(&g, &p.x, &p.dy), &sum(&vec![1.0; g.batch]))?;
        if let Some(first) = factors.first_mut() {
            *first = 0.0;
        }
        let grid = Grid::for_bound(1e4).unwrap();
        let steps = steps(&g, &p, &factors, grid);
        let rounded: Vec<f32> = steps.iter().map(|&s| (f64::from(s as i32) * grid.spacing()) as f32).collect();
        // Half a step for each rounding, of which there is one or, of few positions, one for each.
        let each = if g.positions() <= FEW_POSITIONS { g.positions() } else { 1 };
        let room = 0.5 * (g.batch * each) as f64 * grid.spacing();
        for (rounded, exact) in rounded.iter().zip(sum(&factors)) {
            prop_assert!((f64::from(*rounded) - exact).abs() <= 1e-4 + room);
        }
    }

    #[test]
    fn a_sample_alone_is_the_same_sample(g in geometries(), seed: u64) {
        let p = problem(&g, seed);
        let factors = source(seed ^ 2)(g.batch);
        let grid = Grid::for_bound(64.0).unwrap();
        let forward_all = forward(&g, &p.x, &p.weight, None);
        let input_all = input_gradient(&g, &p.weight, &p.dy, None);
        let norms_all = per_sample_norms(&g, &p.x, &p.dy, 1);
        let gram_all = gram_norms(&g, &p.x, &p.dy);
        let mut sum = vec![0u32; g.weights()];
        for sample in (0..g.batch).rev() {
            let one = Geometry { batch: 1, ..g };
            let alone = Problem {
                x: p.x[sample * g.sample_in()..][..g.sample_in()].to_vec(),
                dy: p.dy[sample * g.sample_out()..][..g.sample_out()].to_vec(),
                weight: p.weight.clone(),
            };
            let y = forward(&one, &alone.x, &alone.weight, None);
            prop_assert_eq!(&y[..], &forward_all[sample * g.sample_out()..][..g.sample_out()]);
            let dx = input_gradient(&one, &alone.weight, &alone.dy, None);
            prop_assert_eq!(&dx[..], &input_all[sample * g.sample_in()..][..g.sample_in()]);
            prop_assert_eq!(per_sample_norms(&one, &alone.x, &alone.dy, 1).squares[0], norms_all.squares[sample]);
            prop_assert_eq!(gram_norms(&one, &alone.x, &alone.dy).squares[0], gram_all.squares[sample]);
            let steps = steps(&one, &alone, &factors[sample..=sample], grid);
            sum.iter_mut().zip(steps).for_each(|(sum, steps)| *sum = sum.wrapping_add(steps));
        }
        prop_assert_eq!(sum, steps(&g, &p, &factors, grid));
    }

    #[test]
    fn several_images_are_one_sample(g in geometries(), samples in 1usize..4, images in 2usize..4, seed: u64) {
        let g = Geometry { batch: samples * images, ..g };
        let p = problem(&g, seed);
        let each = sample_gradients(&g, &p);
        let weights = g.weights();
        let expected: Vec<f64> = (0..samples * weights)
            .map(|at| {
                let (sample, weight) = (at / weights, at % weights);
                (0..images).map(|image| each[(sample * images + image) * weights + weight]).sum()
            })
            .collect();
        let formed = per_sample_weight_gradients(&g, &p.x, &p.dy, images);
        close(&formed, &expected)?;
        let norms = per_sample_norms(&g, &p.x, &p.dy, images);
        let single = per_sample_norms(&g, &p.x, &p.dy, 1);
        for sample in 0..samples {
            let square: f64 = formed[sample * weights..][..weights].iter().map(|&v| f64::from(v).powi(2)).sum();
            let got = f64::from(norms.squares[sample]);
            prop_assert!(got >= square * (1.0 - 1e-6) && got <= square * (1.0 + 1e-6) + 1e-40);
            let reach: f32 = single.reach[sample * images..][..images].iter().sum();
            prop_assert!((norms.reach[sample] - reach).abs() <= 1e-5 * reach);
        }
        let factors = source(seed ^ 2)(samples);
        let grid = Grid::for_bound(1e4).unwrap();
        let together = steps(&g, &p, &factors, grid);
        let mut apart = vec![0u32; weights];
        let one = Geometry { batch: images, ..g };
        for sample in (0..samples).rev() {
            let part = |all: &[f32], size: usize| all[sample * images * size..][..images * size].to_vec();
            let alone = Problem {
                x: part(&p.x, g.sample_in()),
                dy: part(&p.dy, g.sample_out()),
                weight: p.weight.clone(),
            };
            let steps = steps(&one, &alone, &factors[sample..=sample], grid);
            apart.iter_mut().zip(steps).for_each(|(sum, steps)| *sum = sum.wrapping_add(steps));
        }
        prop_assert_eq!(&together, &apart);
        let positions = g.positions() * images;
        let roundings = if positions <= FEW_POSITIONS { positions } else { 1 };
        let room = 0.5 * (samples * roundings) as f64 * grid.spacing();
        for (weight, steps) in together.iter().enumerate() {
            let exact: f64 = (0..samples).map(|i| f64::from(factors[i]) * expected[i * weights + weight]).sum();
            prop_assert!((f64::from(*steps as i32) * grid.spacing() - exact).abs() <= 1e-4 + room);
        }
    }

    #[test]
    fn norms_are_those_of_the_sample_gradients(g in geometries(), seed: u64) {
        let p = problem(&g, seed);
        let formed = per_sample_weight_gradients(&g, &p.x, &p.dy, 1);
        let norms = per_sample_norms(&g, &p.x, &p.dy, 1);
        let windows = patches(&g, &p.x, 0, g.batch);
        for sample in 0..g.batch {
            let square: f64 = formed[sample * g.weights()..][..g.weights()]
                .iter().map(|&v| f64::from(v).powi(2)).sum();
            let got = f64::from(norms.squares[sample]);
            prop_assert!(got >= square && got <= square * (1.0 + 1e-6) + 1e-40);
            let mut reach = 0.0;
            for group in 0..g.groups {
                for position in 0..g.positions() {
                    let length = |all: &[f32], rows: usize| -> f64 {
                        (0..rows)
                            .map(|r| f64::from(all[((sample * g.groups + group) * rows + r) * g.positions() + position]).powi(2))
                            .sum::<f64>().sqrt()
                    };
                    reach += length(&windows, g.patch()) * length(&p.dy, g.channels_out / g.groups);
                }
            }
            let got = f64::from(norms.reach[sample]);
            prop_assert!(got >= reach * (1.0 - 1e-14) && got <= reach * (1.0 + 1e-6) + 1e-40);
        }
    }

    #[test]
    fn gram_norms_err_within_their_bound(g in geometries(), seed: u64) {
        let p = problem(&g, seed);
        let norms = gram_norms(&g, &p.x, &p.dy);
        prop_assert_eq!(&norms.reach, &per_sample_norms(&g, &p.x, &p.dy, 1).reach);
        let each = sample_gradients(&g, &p);
        for sample in 0..g.batch {
            let square: f64 = each[sample * g.weights()..][..g.weights()].iter().map(|v| v * v).sum();
            let terms = 2 * (g.patch() + g.channels_out / g.groups);
            let bound = (terms as f64 + 4.0) * 2f64.powi(-24) * f64::from(norms.reach[sample]).powi(2);
            prop_assert!((f64::from(norms.squares[sample]) - square).abs() <= bound + 1e-40);
        }
    }

    #[test]
    fn patches_times_the_weight_are_the_convolution(g in geometries(), seed: u64) {
        let p = problem(&g, seed);
        let (first, count) = (g.batch / 2, g.batch - g.batch / 2);
        let windows = patches(&g, &p.x, first, count);
        let y = forward(&g, &p.x, &p.weight, None);
        let per_out = g.channels_out / g.groups;
        let expected: Vec<f64> = (0..count * g.sample_out())
            .map(|at| {
                let (position, out) = (at % g.positions(), at / g.positions() % g.channels_out);
                let sample = at / g.sample_out();
                (0..g.patch())
                    .map(|k| {
                        let row = (sample * g.groups + out / per_out) * g.patch() + k;
                        f64::from(windows[row * g.positions() + position]) * f64::from(p.weight[out * g.patch() + k])
                    })
                    .sum()
            })
            .collect();
        close(&y[first * g.sample_out()..], &expected)?;
    }

    #[test]
    fn a_bad_sample_stays_alone(g in geometries(), seed: u64, bad in prop::sample::select(vec![f32::NAN, f32::INFINITY])) {
        prop_assume!(g.batch > 1);
        let clean = problem(&g, seed);
        let mut p = problem(&g, seed);
        let sick = seed as usize % g.batch;
        p.x[sick * g.sample_in()..][..g.sample_in()].fill(bad);
        p.dy[sick * g.sample_out()..][..g.sample_out()].fill(bad);
        let same = |kernel: &dyn Fn(&Problem) -> Vec<f32>| {
            let (with, without) = (kernel(&p), kernel(&clean));
            let size = with.len() / g.batch;
            (0..with.len()).all(|at| at / size == sick || with[at] == without[at])
        };
        prop_assert!(same(&|p| forward(&g, &p.x, &p.weight, None)));
        prop_assert!(same(&|p| input_gradient(&g, &p.weight, &p.dy, None)));
        prop_assert!(same(&|p| per_sample_weight_gradients(&g, &p.x, &p.dy, 1)));
        prop_assert!(same(&|p| per_sample_norms(&g, &p.x, &p.dy, 1).squares));
        prop_assert!(same(&|p| per_sample_norms(&g, &p.x, &p.dy, 1).reach));
        prop_assert!(same(&|p| gram_norms(&g, &p.x, &p.dy).squares));
        let mut factors = source(seed ^ 2)(g.batch);
        factors[sick] = 0.0;
        prop_assert_eq!(
            steps(&g, &p, &factors, Grid::for_bound(64.0).unwrap()),
            steps(&g, &clean, &factors, Grid::for_bound(64.0).unwrap())
        );
    }
}
