//! A long short-term memory layer over a whole sequence, and back through it.
//!
//! Per step, with gates in the order input i, forget f, candidate g, output o along the axis of 4h:
//! i, f, o = sigmoid(…), g = tanh(…), c = f·c' + i·g, hidden = o·tanh(c)
//! (Hochreiter & Schmidhuber 1997; the forget gate is Gers, Schmidhuber & Cummins 2000).
use crate::approximate::{sigmoid, tanh};
use crate::product::{Destination, Matrix, Workers, multiply};
use crate::vector::vectorised;
use rayon::prelude::*;

mod gradient;
#[cfg(test)]
mod tests;

pub use gradient::{ScanGradient, scan_gradient};

/// The sizes of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Samples.
    pub batch: usize,
    /// Steps of each sample.
    pub steps: usize,
    /// Features of the hidden state, h.
    pub hidden: usize,
}

impl Shape {
    fn states(self) -> usize {
        self.batch * self.hidden
    }

    /// Samples that go through the sequence together: enough for a good matrix product, few enough
    /// that one step of them stays in cache, and work for every thread.
    fn block(self) -> usize {
        let share = self.batch.div_ceil(rayon::current_num_threads());
        share.clamp(1, 256)
    }
}

/// What a forward pass leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Scan {
    /// Hidden states, `[batch, steps, h]`.
    pub hidden: Vec<f32>,
    /// Cell states, `[batch, steps, h]`.
    pub cell: Vec<f32>,
    /// Gates after their activation, `[batch, steps, 4h]`.
    pub gates: Vec<f32>,
}

/// Runs the layer.
///
/// # Shapes
/// - `gates_input`: `[batch, steps, 4h]`, the input's part x·W + b for every step; it becomes
///   [`Scan::gates`] in place.
/// - `recurrent`: `[h, 4h]`.
/// - `first_hidden`, `first_cell`: `[batch, h]`.
///
/// # Panics
/// If a length does not agree with `shape`.
pub fn scan(
    gates_input: Vec<f32>,
    recurrent: &[f32],
    first_hidden: &[f32],
    first_cell: &[f32],
    shape: Shape,
) -> Scan {
    let Shape {
        steps, hidden: h, ..
    } = shape;
    let states = shape.states();
    assert_eq!(gates_input.len(), states * steps * 4, "gates of {shape:?}");
    assert_eq!(first_hidden.len(), states, "first hidden of {shape:?}");
    assert_eq!(first_cell.len(), states, "first cell of {shape:?}");
    let recurrent = Matrix::new(recurrent, h, 4 * h);
    let mut hidden = vec![0.0; states * steps];
    let mut cell = vec![0.0; states * steps];
    let mut gates = gates_input;
    if !hidden.is_empty() {
        let first = shape.block() * h;
        let sequence = first * steps;
        hidden
            .par_chunks_mut(sequence)
            .zip(cell.par_chunks_mut(sequence))
            .zip(gates.par_chunks_mut(4 * sequence))
            .zip(
                first_hidden
                    .par_chunks(first)
                    .zip(first_cell.par_chunks(first)),
            )
            .for_each(|(((hidden, cell), gates), (first_hidden, first_cell))| {
                let mut state = first_hidden.to_vec();
                let mut product = vec![0.0; 4 * state.len()];
                let count = state.len() / h;
                for step in 0..steps {
                    let left = Matrix::new(&state, count, h);
                    multiply(
                        &mut product,
                        4 * h,
                        Destination::Replace,
                        left,
                        recurrent,
                        Workers::One,
                    );
                    vectorised(
                        #[inline(always)]
                        || {
                            for sample in 0..count {
                                let row = sample * steps + step;
                                let (before, now) =
                                    cell_pair(cell, first_cell, sample, step, steps, h);
                                let gates = &mut gates[row * 4 * h..][..4 * h];
                                activate(gates, &product[sample * 4 * h..][..4 * h], h);
                                let state = &mut state[sample * h..][..h];
                                advance(gates, before, now, state);
                                hidden[row * h..][..h].copy_from_slice(state);
                            }
                        },
                    );
                }
            });
    }
    Scan {
        hidden,
        cell,
        gates,
    }
}

/// The cell state before a step and the place of the one after it.
#[inline(always)]
fn cell_pair<'a>(
    cell: &'a mut [f32],
    first: &'a [f32],
    sample: usize,
    step: usize,
    steps: usize,
    h: usize,
) -> (&'a [f32], &'a mut [f32]) {
    let row = (sample * steps + step) * h;
    let (before, now) = cell.split_at_mut(row);
    let before = if step == 0 {
        &first[sample * h..][..h]
    } else {
        &before[row - h..]
    };
    (before, &mut now[..h])
}

/// All gates of one sample, activated.
#[inline(always)]
fn activate(gates: &mut [f32], product: &[f32], h: usize) {
    activate_part(0..2 * h, sigmoid, gates, product);
    activate_part(2 * h..3 * h, tanh, gates, product);
    activate_part(3 * h..4 * h, sigmoid, gates, product);
}

#[inline(always)]
fn activate_part(
    part: std::ops::Range<usize>,
    function: impl Fn(f32) -> f32,
    gates: &mut [f32],
    product: &[f32],
) {
    for (gate, product) in gates[part.clone()].iter_mut().zip(&product[part]) {
        *gate = function(*gate + product);
    }
}

/// The cell and hidden state after a step.
#[inline(always)]
fn advance(gates: &[f32], before: &[f32], cell: &mut [f32], hidden: &mut [f32]) {
    let h = before.len();
    let (i, rest) = gates.split_at(h);
    let (f, rest) = rest.split_at(h);
    let (g, o) = rest.split_at(h);
    for (((cell, before), (i, f)), g) in cell.iter_mut().zip(before).zip(i.iter().zip(f)).zip(g) {
        *cell = f.mul_add(*before, i * g);
    }
    for ((hidden, &cell), o) in hidden.iter_mut().zip(cell.iter()).zip(o) {
        *hidden = o * tanh(cell);
    }
}
