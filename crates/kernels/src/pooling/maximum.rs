//! Max pooling.

use super::Window;
use crate::convolution::phases::Phases;
use pulp::Arch;
use rayon::prelude::*;

/// The winner of a window that lies wholly in the padding.
pub const NOWHERE: u32 = u32::MAX;

/// Outputs that are compared at once.
const LANES: usize = 16;

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
            let x = x[index * task * size_in..].chunks_exact(size_in);
            let planes = values.chunks_exact_mut(size_out);
            let planes = planes.zip(winners.chunks_exact_mut(size_out)).zip(x);
            if window.lies_inside() && size_out >= LANES / 2 {
                let mut shifts = Shifts::new(window);
                planes.for_each(|((values, winners), x)| shifts.plane(x, values, winners));
            } else {
                planes.for_each(|((values, winners), x)| scan(window, x, values, winners));
            }
        });
    Maxima { values, winners }
}

/// All windows of a plane, side by side in vectors.
struct Shifts<'a> {
    window: &'a Window,
    phases: Phases,
    image: Vec<f32>,
    /// Where each value of a window lies from its first.
    distances: Vec<u32>,
    /// Where the window at each place of a run begins.
    starts: Vec<u32>,
    values: Vec<f32>,
    winners: Vec<u32>,
}

impl<'a> Shifts<'a> {
    fn new(window: &'a Window) -> Self {
        let phases = Phases::new(&window.geometry());
        let length = phases.run().next_multiple_of(LANES);
        let distance = |at: usize| {
            let (down, along) = (at / window.kernel[1], at % window.kernel[1]);
            down * window.dilation[0] * window.input[1] + along * window.dilation[1]
        };
        let start = |at: usize| {
            let (row, column) = (at / phases.width, at % phases.width);
            row * window.stride[0] * window.input[1] + column * window.stride[1]
        };
        Self {
            window,
            starts: (0..length).map(|at| start(at) as u32).collect(),
            image: phases.image(),
            distances: (0..window.kernel[0] * window.kernel[1])
                .map(|at| distance(at) as u32)
                .collect(),
            values: vec![0.0; length],
            winners: vec![0; length],
            phases,
        }
    }

    fn plane(&mut self, x: &[f32], values: &mut [f32], winners: &mut [u32]) {
        self.phases.fill(x, &mut self.image);
        Arch::new().dispatch(
            #[inline(always)]
            || self.compare(),
        );
        let width = self.window.output[1];
        let lines = values.chunks_exact_mut(width);
        for (line, from) in lines.zip(self.values.chunks(self.phases.width)) {
            line.copy_from_slice(&from[..width]);
        }
        let lines = winners.chunks_exact_mut(width);
        for (line, from) in lines.zip(self.winners.chunks(self.phases.width)) {
            line.copy_from_slice(&from[..width]);
        }
    }

    /// The best value of each run and where it lies.
    #[inline(always)]
    fn compare(&mut self) {
        let values = self.values.as_chunks_mut::<LANES>().0;
        let winners = self.winners.as_chunks_mut::<LANES>().0;
        let starts = self.starts.as_chunks::<LANES>().0;
        let strips = values.iter_mut().zip(winners).zip(starts);
        for (strip, ((values, winners), starts)) in strips.enumerate() {
            let image = &self.image[strip * LANES..];
            let mut best = [f32::NEG_INFINITY; LANES];
            let mut which = [0u32; LANES];
            for (&offset, &distance) in self.phases.offsets.iter().zip(&self.distances) {
                let candidates = &image[offset..][..LANES];
                for lane in 0..LANES {
                    let value = candidates[lane];
                    let better = (value > best[lane]) | value.is_nan();
                    best[lane] = if better { value } else { best[lane] };
                    which[lane] = if better { distance } else { which[lane] };
                }
            }
            *values = best;
            *winners = std::array::from_fn(|lane| starts[lane] + which[lane]);
        }
    }
}

/// One window after the other, clipped to the input.
fn scan(window: &Window, x: &[f32], values: &mut [f32], winners: &mut [u32]) {
    let outputs = values.iter_mut().zip(winners);
    for (at, (best, winner)) in outputs.enumerate() {
        let (row, column) = (at / window.output[1], at % window.output[1]);
        (*best, *winner) = (f32::NEG_INFINITY, NOWHERE);
        for y in window.inside(0, row) {
            let line = y * window.input[1];
            for x_at in window.inside(1, column) {
                let value = x[line + x_at];
                if value > *best || value.is_nan() || *winner == NOWHERE {
                    *best = value;
                    *winner = (line + x_at) as u32;
                }
            }
        }
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
