//! A long short-term memory layer over a whole sequence, and back through it.
//!
//! Per step, with gates in the order input i, forget f, candidate g, output o along the axis of 4h:
//! i, f, o = sigmoid(…), g = tanh(…), c = f·c' + i·g, hidden = o·tanh(c)
//! (Hochreiter & Schmidhuber 1997; the forget gate is Gers, Schmidhuber & Cummins 2000).
use crate::approximate::{sigmoid, tanh};
use crate::product::{Into, Matrix, Workers, multiply};
use crate::vector::vectorised;
use rayon::prelude::*;

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
                        Into::Replace,
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

/// Back-propagates through time, from the outputs of [`scan`].
///
/// The gradient of `recurrent` is the sum over steps of previous hiddenᵀ · `gates_input` gradient;
/// the caller forms it, per sample or not.
///
/// # Shapes
/// - `gates`: [`Scan::gates`], which become the gradient in place; `cell`: [`Scan::cell`].
/// - `recurrent`: `[h, 4h]`; `first_cell`: `[batch, h]`, as given to [`scan`].
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
                        multiply(hidden, h, Into::Replace, left, back, Workers::One);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::values;
    use proptest::prelude::*;

    struct Case {
        shape: Shape,
        input: Vec<f32>,
        recurrent: Vec<f32>,
        hidden: Vec<f32>,
        cell: Vec<f32>,
    }

    impl Case {
        fn new(batch: usize, steps: usize, hidden: usize, seed: u64) -> Self {
            Self {
                shape: Shape {
                    batch,
                    steps,
                    hidden,
                },
                input: values(batch * steps * 4 * hidden, seed),
                recurrent: values(hidden * 4 * hidden, seed ^ 1),
                hidden: values(batch * hidden, seed ^ 2),
                cell: values(batch * hidden, seed ^ 3),
            }
        }

        fn scan(&self) -> Scan {
            scan(
                self.input.clone(),
                &self.recurrent,
                &self.hidden,
                &self.cell,
                self.shape,
            )
        }
    }

    /// One sample by the obvious loop in f64: every hidden and cell state.
    fn by_loop(
        input: &[f64],
        recurrent: &[f32],
        hidden: &[f64],
        cell: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let h = hidden.len();
        let (mut hidden, mut cell) = (hidden.to_vec(), cell.to_vec());
        let (mut all_hidden, mut all_cell) = (vec![], vec![]);
        for input in input.chunks(4 * h) {
            let gate = |k: usize| {
                input[k]
                    + (0..h)
                        .map(|j| hidden[j] * f64::from(recurrent[j * 4 * h + k]))
                        .sum::<f64>()
            };
            let gates: Vec<f64> = (0..4 * h).map(gate).collect();
            let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
            for j in 0..h {
                cell[j] =
                    sigmoid(gates[h + j]) * cell[j] + sigmoid(gates[j]) * gates[2 * h + j].tanh();
                hidden[j] = sigmoid(gates[3 * h + j]) * cell[j].tanh();
            }
            all_hidden.extend_from_slice(&hidden);
            all_cell.extend_from_slice(&cell);
        }
        (all_hidden, all_cell)
    }

    fn wide(values: &[f32]) -> Vec<f64> {
        values.iter().map(|&v| f64::from(v)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_scan_equals_the_loop(batch in 0usize..5, steps in 0usize..6, h in 1usize..20, seed: u64) {
            let case = Case::new(batch, steps, h, seed);
            let seen = case.scan();
            let size = steps * h;
            for sample in 0..batch {
                let (hidden, cell) = by_loop(
                    &wide(&case.input[sample * 4 * size..][..4 * size]),
                    &case.recurrent,
                    &wide(&case.hidden[sample * h..][..h]),
                    &wide(&case.cell[sample * h..][..h]),
                );
                for at in 0..size {
                    prop_assert!((f64::from(seen.hidden[sample * size + at]) - hidden[at]).abs() <= 2e-5);
                    prop_assert!((f64::from(seen.cell[sample * size + at]) - cell[at]).abs() <= 2e-5);
                }
            }
        }

        #[test]
        fn gradients_are_difference_quotients_of_the_loop(
            steps in 1usize..5, h in 1usize..5, with_cell: bool, seed: u64,
        ) {
            let case = Case::new(2, steps, h, seed);
            let weights = values(2 * steps * h, seed ^ 4);
            let last = values(2 * h, seed ^ 5);
            let last = with_cell.then_some(last.as_slice());
            let scan = case.scan();
            let seen = scan_gradient(
                scan.gates, &scan.cell, &case.recurrent, &case.cell, &weights, last, case.shape,
            );
            let size = steps * h;
            for sample in 0..2 {
                let parts = [
                    wide(&case.input[sample * 4 * size..][..4 * size]),
                    wide(&case.hidden[sample * h..][..h]),
                    wide(&case.cell[sample * h..][..h]),
                ];
                let loss = |parts: &[Vec<f64>; 3]| {
                    let (hidden, cell) = by_loop(&parts[0], &case.recurrent, &parts[1], &parts[2]);
                    let weights = &weights[sample * size..][..size];
                    let mut loss: f64 =
                        hidden.iter().zip(weights).map(|(v, w)| v * f64::from(*w)).sum();
                    if let Some(last) = last {
                        let last = &last[sample * h..][..h];
                        let cell = &cell[size - h..];
                        loss += cell.iter().zip(last).map(|(v, w)| v * f64::from(*w)).sum::<f64>();
                    }
                    loss
                };
                let seen = [
                    &seen.gates_input[sample * 4 * size..][..4 * size],
                    &seen.first_hidden[sample * h..][..h],
                    &seen.first_cell[sample * h..][..h],
                ];
                for part in 0..3 {
                    for at in 0..parts[part].len() {
                        let moved = |by: f64| {
                            let mut parts = parts.clone();
                            parts[part][at] += by;
                            loss(&parts)
                        };
                        let exact = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                        prop_assert!((f64::from(seen[part][at]) - exact).abs() <= 2e-5);
                    }
                }
            }
        }
    }

    #[test]
    fn nan_stays_in_its_sample_both_ways() {
        let mut case = Case::new(3, 4, 5, 7);
        let clean = case.scan();
        let gradient = vec![1.0; 60];
        let back = |case: &Case, scan: &Scan| {
            scan_gradient(
                scan.gates.clone(),
                &scan.cell,
                &case.recurrent,
                &case.cell,
                &gradient,
                None,
                case.shape,
            )
        };
        let clean_back = back(&case, &clean);
        case.input[85] = f32::NAN;
        let seen = case.scan();
        let seen_back = back(&case, &seen);
        assert!(seen.hidden[20..40].iter().any(|v| v.is_nan()));
        assert!(seen_back.gates_input[80..160].iter().any(|v| v.is_nan()));
        for other in [0..20, 40..60] {
            assert_eq!(seen.hidden[other.clone()], clean.hidden[other]);
        }
        for other in [0..80, 160..240] {
            assert_eq!(
                seen_back.gates_input[other.clone()],
                clean_back.gates_input[other]
            );
        }
    }

    #[test]
    fn many_samples_equal_one_at_a_time() {
        let case = Case::new(300, 3, 4, 11);
        let all = case.scan();
        for sample in [0, 149, 150, 255, 256, 299] {
            let one = scan(
                case.input[sample * 48..][..48].to_vec(),
                &case.recurrent,
                &case.hidden[sample * 4..][..4],
                &case.cell[sample * 4..][..4],
                Shape {
                    batch: 1,
                    ..case.shape
                },
            );
            for (a, b) in one.hidden.iter().zip(&all.hidden[sample * 12..]) {
                assert!((a - b).abs() <= 1e-6);
            }
        }
    }
}
