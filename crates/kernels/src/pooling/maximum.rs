//! Max pooling.

use super::Window;
use pulp::Arch;
use rayon::prelude::*;

/// The winner of a window that lies wholly in the padding.
pub const NOWHERE: u32 = u32::MAX;

/// The maxima and where they were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Maxima {
    /// The largest value of each window: `[planes, height, width]`.
    pub values: Vec<f32>,
    /// Its index in its plane of the input ([`NOWHERE`] for a window outside the input).
    pub winners: Vec<u32>,
}

/// The maximum of each window; of equals the first in row-major order, and a NaN (the last one) beats
/// everything.
///
/// ```
/// use tacita_kernels::pooling::{Window, maximum_forward};
/// let window = Window {
///     planes: 1, input: [2, 3], output: [1, 2], kernel: [2, 2], stride: [1, 1],
///     padding: [(0, 0), (0, 0)], dilation: [1, 1],
/// };
/// let maxima = maximum_forward(&window, &[1.0, 5.0, 5.0, 0.0, 7.0, 2.0]);
/// assert_eq!(maxima.values, [7.0, 7.0]);
/// assert_eq!(maxima.winners, [4, 4]);
/// ```
///
/// # Panics
/// If the windows reach past the padded input, or `x` has another length.
pub fn maximum_forward(window: &Window, x: &[f32]) -> Maxima {
    window.geometry().check(Some(x), None, None);
    let (size_in, size_out) = (window.plane_in(), window.plane_out());
    assert!(size_in < NOWHERE as usize, "a plane of {size_in} values");
    let mut values = vec![0.0; window.planes * size_out];
    let mut winners = vec![0; window.planes * size_out];
    if values.is_empty() {
        return Maxima { values, winners };
    }
    let task = window.planes_per_task();
    values
        .par_chunks_mut(task * size_out)
        .zip(winners.par_chunks_mut(task * size_out))
        .enumerate()
        .for_each(|(index, (values, winners))| {
            let x = &x[index * task * size_in..];
            Arch::new().dispatch(|| planes_forward(window, x, values, winners));
        });
    Maxima { values, winners }
}

#[inline(always)]
fn planes_forward(window: &Window, x: &[f32], values: &mut [f32], winners: &mut [u32]) {
    let (size_in, size_out) = (window.plane_in(), window.plane_out());
    let planes = values.chunks_exact_mut(size_out);
    for (plane, (values, winners)) in planes.zip(winners.chunks_exact_mut(size_out)).enumerate() {
        let x = &x[plane * size_in..][..size_in];
        plane_forward(window, x, values, winners);
    }
}

/// Keeps the best of each output while the kernel's offsets pass in row-major order.
#[inline(always)]
fn plane_forward(window: &Window, x: &[f32], values: &mut [f32], winners: &mut [u32]) {
    let geometry = window.geometry();
    let width = window.output[1];
    values.fill(f32::NEG_INFINITY);
    winners.fill(NOWHERE);
    for offset_down in 0..window.kernel[0] {
        let down = geometry.span(0, offset_down);
        for offset_along in 0..window.kernel[1] {
            let along = geometry.span(1, offset_along);
            if along.first == along.end {
                continue;
            }
            for row in down.first..down.end {
                let line = (down.start + (row - down.first) * window.stride[0]) * window.input[1];
                let from = line + along.start;
                let best = &mut values[row * width..][along.first..along.end];
                let winner = &mut winners[row * width..][along.first..along.end];
                take_line(best, winner, &x[from..], from, window.stride[1]);
            }
        }
    }
}

#[inline(always)]
fn take_line(best: &mut [f32], winner: &mut [u32], x: &[f32], from: usize, stride: usize) {
    let each = best.iter_mut().zip(winner).zip(x.iter().step_by(stride));
    for (index, ((best, winner), &value)) in each.enumerate() {
        let at = (from + index * stride) as u32;
        // `NOWHERE` gives way to anything, so that a window of −∞ has a winner too.
        let better = (value > *best) | value.is_nan() | (*winner == NOWHERE);
        *best = if better { value } else { *best };
        *winner = if better { at } else { *winner };
    }
}

/// Sends each output's gradient to its winner: `[planes, height, width]` of the input.
///
/// # Panics
/// If a slice has another length, or a winner lies outside its plane.
pub fn maximum_backward(window: &Window, output_gradient: &[f32], winners: &[u32]) -> Vec<f32> {
    window.geometry().check(None, None, Some(output_gradient));
    assert_eq!(
        winners.len(),
        output_gradient.len(),
        "one winner per output"
    );
    let (size_in, size_out) = (window.plane_in(), window.plane_out());
    let mut dx = vec![0.0; window.planes * size_in];
    if dx.is_empty() || size_out == 0 {
        return dx;
    }
    let task = window.planes_per_task();
    dx.par_chunks_mut(task * size_in)
        .enumerate()
        .for_each(|(index, dx)| {
            let dy = output_gradient[index * task * size_out..].chunks_exact(size_out);
            let winners = winners[index * task * size_out..].chunks_exact(size_out);
            for (dx, (dy, winners)) in dx.chunks_exact_mut(size_in).zip(dy.zip(winners)) {
                for (&dy, &winner) in dy.iter().zip(winners) {
                    if winner != NOWHERE {
                        dx[winner as usize] += dy;
                    }
                }
            }
        });
    dx
}
