//! Back through an LSTM, from the last step to the first.
use super::Shape;
use crate::approximate::tanh;
use crate::product::{Destination, Matrix, Workers, multiply};
use crate::vector::vectorised;
use rayon::prelude::*;

/// What a backward pass computes.
#[derive(Debug, Clone, PartialEq)]
pub struct ScanGradient {
    /// With respect to the gates before their activation, `[batch, steps, 4h]`.
    pub gates_input: Vec<f32>,
    /// With respect to the first hidden state, `[batch, h]`.
    pub first_hidden: Vec<f32>,
    /// With respect to the first cell state, `[batch, h]`.
    pub first_cell: Vec<f32>,
}

/// Back-propagates through time, from the outputs of [`scan`](super::scan).
///
/// The gradient of `recurrent` is the sum over steps of previous hiddenᵀ · `gates_input` gradient;
/// the caller forms it, per sample or not.
///
/// # Shapes
/// - `gates`: [`Scan::gates`](super::Scan::gates), which become the gradient in place; `cell`: [`Scan::cell`](super::Scan::cell).
/// - `recurrent`: `[h, 4h]`; `first_cell`: `[batch, h]`, as given to [`scan`](super::scan).
/// - `hidden_gradient`: `[batch, steps, h]`, with respect to every hidden state as an output.
/// - `last_cell_gradient`: `[batch, h]`, with respect to the last cell state, if it is used.
///
/// # Panics
/// If a length does not agree with `shape`.
pub fn scan_gradient(
    gates: Vec<f32>,
    cell: &[f32],
    recurrent: &[f32],
    first_cell: &[f32],
    hidden_gradient: &[f32],
    last_cell_gradient: Option<&[f32]>,
    shape: Shape,
) -> ScanGradient {
    let Shape {
        steps, hidden: h, ..
    } = shape;
    let states = shape.states();
    assert_eq!(gates.len(), states * steps * 4, "gates of {shape:?}");
    assert_eq!(cell.len(), states * steps, "cells of {shape:?}");
    assert_eq!(
        hidden_gradient.len(),
        states * steps,
        "gradient of {shape:?}"
    );
    assert_eq!(first_cell.len(), states, "first cell of {shape:?}");
    let back = Matrix::new(recurrent, h, 4 * h).transposed();
    let cells = cell;
    let mut gates_input = gates;
    let mut hidden = vec![0.0; states];
    let mut cell = match last_cell_gradient {
        Some(gradient) => gradient.to_vec(),
        None => vec![0.0; states],
    };
    assert_eq!(cell.len(), states, "last cell gradient of {shape:?}");
    if !gates_input.is_empty() {
        let first = shape.block() * h;
        let sequence = first * steps;
        gates_input
            .par_chunks_mut(4 * sequence)
            .zip(hidden.par_chunks_mut(first).zip(cell.par_chunks_mut(first)))
            .zip(cells.par_chunks(sequence))
            .zip(
                hidden_gradient
                    .par_chunks(sequence)
                    .zip(first_cell.par_chunks(first)),
            )
            .for_each(
                |(((gates, (hidden, cell)), cells), (gradient, first_cell))| {
                    let count = hidden.len() / h;
                    for step in (0..steps).rev() {
                        vectorised(
                            #[inline(always)]
                            || {
                                for sample in 0..count {
                                    let row = sample * steps + step;
                                    let before = match step {
                                        0 => &first_cell[sample * h..][..h],
                                        _ => &cells[(row - 1) * h..][..h],
                                    };
                                    let at = sample * h..(sample + 1) * h;
                                    for (hidden, g) in
                                        hidden[at.clone()].iter_mut().zip(&gradient[row * h..][..h])
                                    {
                                        *hidden += g;
                                    }
                                    retreat(
                                        &mut gates[row * 4 * h..][..4 * h],
                                        &mut cell[at.clone()],
                                        &hidden[at],
                                        &cells[row * h..][..h],
                                        before,
                                    );
                                }
                            },
                        );
                        let left =
                            Matrix::spaced(&gates[step * 4 * h..], count, 4 * h, steps * 4 * h);
                        multiply(hidden, h, Destination::Replace, left, back, Workers::One);
                    }
                },
            );
    }
    ScanGradient {
        gates_input,
        first_hidden: hidden,
        first_cell: cell,
    }
}

/// One step back: the gates of a sample become the gradients of their inputs, and the gradient of the
/// cell after the step becomes that of the cell before it.
#[inline(always)]
fn retreat(
    gates: &mut [f32],
    cell_gradient: &mut [f32],
    hidden_gradient: &[f32],
    cell: &[f32],
    before: &[f32],
) {
    let h = before.len();
    let (i, rest) = gates.split_at_mut(h);
    let (f, rest) = rest.split_at_mut(h);
    let (g, o) = rest.split_at_mut(h);
    // hidden = o·tanh(c) first: it completes the cell's gradient.
    let states = cell.iter().zip(hidden_gradient);
    for ((total, o), (&cell, &hidden)) in cell_gradient.iter_mut().zip(o).zip(states) {
        let squashed = tanh(cell);
        *total += hidden * *o * squashed.mul_add(-squashed, 1.0);
        *o = hidden * squashed * (*o * (1.0 - *o));
    }
    let states = cell_gradient.iter_mut().zip(before);
    for (((i, f), g), (total, &before)) in i.iter_mut().zip(f).zip(g).zip(states) {
        let (input, forget, candidate, gradient) = (*i, *f, *g, *total);
        *i = gradient * candidate * (input * (1.0 - input));
        *f = gradient * before * (forget * (1.0 - forget));
        *g = gradient * input * candidate.mul_add(-candidate, 1.0);
        *total = gradient * forget;
    }
}
