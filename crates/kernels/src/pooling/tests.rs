//! Both poolings against the nested loop.

use super::*;
use crate::testkit::{close, source};
use proptest::prelude::*;

fn windows() -> impl Strategy<Value = Window> {
    let axis = || {
        (
            1usize..5,
            1usize..5,
            1usize..3,
            0usize..3,
            0usize..3,
            1usize..14,
            0usize..2,
        )
    };
    (0usize..4, axis(), axis()).prop_map(|(planes, rows, columns)| {
        let mut window = Window {
            planes,
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
            window.kernel[axis] = kernel;
            window.stride[axis] = stride;
            window.dilation[axis] = dilation;
            window.padding[axis] = (before, padded - input - before);
            window.input[axis] = input;
            window.output[axis] = ((padded - reach) / stride + 1).saturating_sub(spare).max(1);
        }
        window
    })
}

/// The plane indices of each output's window, in row-major order.
fn members(w: &Window) -> Vec<Vec<usize>> {
    let inside = |axis: usize, at: usize, offset: usize| {
        (at * w.stride[axis] + offset * w.dilation[axis])
            .checked_sub(w.padding[axis].0)
            .filter(|&at| at < w.input[axis])
    };
    (0..w.plane_out())
        .map(|at| {
            let (row, column) = (at / w.output[1], at % w.output[1]);
            (0..w.kernel[0])
                .filter_map(|down| inside(0, row, down))
                .flat_map(|y| {
                    (0..w.kernel[1])
                        .filter_map(move |along| inside(1, column, along))
                        .map(move |x| y * w.input[1] + x)
                })
                .collect()
        })
        .collect()
}

/// Small whole numbers (so that ties are common), with rare NaN and infinities.
fn rough(seed: u64, count: usize) -> Vec<f32> {
    let rough = |v: f32| match (v * 20.0).round() {
        -20.0 => f32::NAN,
        -19.0 => f32::NEG_INFINITY,
        -18.0 => f32::INFINITY,
        other => (other / 5.0).round(),
    };
    source(seed)(count).into_iter().map(rough).collect()
}

proptest! {
    #[test]
    fn maxima_are_the_first_of_the_largest(w in windows(), seed: u64) {
        let x = rough(seed, w.planes * w.plane_in());
        let dy = source(seed ^ 1)(w.planes * w.plane_out());
        let maxima = maximum_forward(&w, &x);
        let mut dx = vec![0.0; x.len()];
        for (at, &dy) in dy.iter().enumerate() {
            let plane = &x[at / w.plane_out() * w.plane_in()..][..w.plane_in()];
            let window = &members(&w)[at % w.plane_out()];
            let mut best = window.first().copied();
            for &candidate in window {
                if best.is_none_or(|best| plane[candidate] > plane[best]) || plane[candidate].is_nan() {
                    best = Some(candidate);
                }
            }
            prop_assert_eq!(maxima.winners[at], best.map_or(NOWHERE, |best| best as u32));
            let value = best.map_or(f32::NEG_INFINITY, |best| plane[best]);
            prop_assert!(maxima.values[at] == value || (maxima.values[at].is_nan() && value.is_nan()));
            if let Some(best) = best {
                dx[at / w.plane_out() * w.plane_in() + best] += f64::from(dy);
            }
        }
        close(&maximum_backward(&w, &dy, &maxima.winners), &dx)?;
    }
}
