//! Average pooling.

use super::Window;
use pulp::Arch;
use rayon::prelude::*;
use std::ops::Range;

/// The mean of each window: over all of it if `count_padding`, else over its part inside the input.
///
/// ```
/// use tacita_kernels::pooling::{Window, average_forward};
/// let window = Window {
///     planes: 1, input: [1, 2], output: [1, 2], kernel: [1, 2], stride: [1, 1],
///     padding: [(0, 0), (1, 0)], dilation: [1, 1],
/// };
/// assert_eq!(average_forward(&window, &[2.0, 6.0], true), [1.0, 4.0]);
/// assert_eq!(average_forward(&window, &[2.0, 6.0], false), [2.0, 4.0]);
/// ```
///
/// # Panics
/// If the windows reach past the padded input, or `x` has another length.
pub fn average_forward(window: &Window, x: &[f32], count_padding: bool) -> Vec<f32> {
    window.geometry().check(Some(x), None, None);
    let (size_in, size_out) = (window.plane_in(), window.plane_out());
    let mut y = vec![0.0; window.planes * size_out];
    if y.is_empty() {
        return y;
    }
    let lines = lines(window);
    let scales = scales(window, &lines, count_padding);
    let stride = window.stride[1];
    let task = window.planes_per_task();
    y.par_chunks_mut(task * size_out)
        .enumerate()
        .for_each(|(index, y)| {
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (plane, y) in y.chunks_exact_mut(size_out).enumerate() {
                        let x = &x[(index * task + plane) * size_in..][..size_in];
                        for (outputs, input) in &lines {
                            let from = x[*input..].iter().step_by(stride);
                            for (y, &x) in y[outputs.clone()].iter_mut().zip(from) {
                                *y += x;
                            }
                        }
                        for (y, &scale) in y.iter_mut().zip(&scales) {
                            *y *= scale;
                        }
                    }
                },
            );
        });
    y
}

/// Spreads each output's gradient evenly over its window: `[planes, height, width]` of the input.
///
/// # Panics
/// If the windows reach past the padded input, or the gradient has another length.
pub fn average_backward(window: &Window, output_gradient: &[f32], count_padding: bool) -> Vec<f32> {
    window.geometry().check(None, None, Some(output_gradient));
    let (size_in, size_out) = (window.plane_in(), window.plane_out());
    let mut dx = vec![0.0; window.planes * size_in];
    if dx.is_empty() {
        return dx;
    }
    let lines = lines(window);
    let scales = scales(window, &lines, count_padding);
    let stride = window.stride[1];
    let task = window.planes_per_task();
    dx.par_chunks_mut(task * size_in)
        .enumerate()
        .for_each(|(index, dx)| {
            let mut scaled = vec![0.0; size_out];
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (plane, dx) in dx.chunks_exact_mut(size_in).enumerate() {
                        let dy = &output_gradient[(index * task + plane) * size_out..][..size_out];
                        for (scaled, (dy, scale)) in scaled.iter_mut().zip(dy.iter().zip(&scales)) {
                            *scaled = dy * scale;
                        }
                        for (outputs, input) in &lines {
                            let to = dx[*input..].iter_mut().step_by(stride);
                            for (dx, &dy) in to.zip(&scaled[outputs.clone()]) {
                                *dx += dy;
                            }
                        }
                    }
                },
            );
        });
    dx
}

/// One over the number of values each window counts; 0 for a window that counts none.
fn scales(window: &Window, lines: &[(Range<usize>, usize)], count_padding: bool) -> Vec<f32> {
    let mut counts = vec![0usize; window.plane_out()];
    for (outputs, _) in lines {
        for count in &mut counts[outputs.clone()] {
            *count += 1;
        }
    }
    let all = window.kernel[0] * window.kernel[1];
    let scale = |count: usize| match (count, count_padding) {
        (0, _) => 0.0,
        (_, true) => 1.0 / all as f32,
        (count, false) => 1.0 / count as f32,
    };
    counts.into_iter().map(scale).collect()
}

/// The runs of outputs that one offset of the kernel serves, and the input that the first of them reads.
fn lines(window: &Window) -> Vec<(Range<usize>, usize)> {
    let geometry = window.geometry();
    let width = window.output[1];
    let mut lines = Vec::new();
    for offset_down in 0..window.kernel[0] {
        let down = geometry.span(0, offset_down);
        for offset_along in 0..window.kernel[1] {
            let along = geometry.span(1, offset_along);
            if along.first == along.end {
                continue;
            }
            for row in down.first..down.end {
                let line = (down.start + (row - down.first) * window.stride[0]) * window.input[1];
                let outputs = row * width + along.first..row * width + along.end;
                lines.push((outputs, line + along.start));
            }
        }
    }
    lines
}
