//! An LSTM over a whole sequence.

use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use std::sync::Arc;
use tacita_kernels::lstm::{Scan, Shape, scan, scan_gradient};
use tacita_kernels::product::{Destination, Matrix, Workers, multiply};

#[derive(Debug, Clone)]
struct Lstm {
    shape: Shape,
    scan: Arc<Scan>,
    recurrent: Values,
    first_hidden: Values,
    first_cell: Values,
}

/// Hidden states before each step, `[batch, steps, hidden]`.
fn hidden_before(first: &[f32], hidden: &[f32], shape: Shape) -> Vec<f32> {
    let Shape {
        steps, hidden: h, ..
    } = shape;
    let mut before = Vec::with_capacity(hidden.len());
    for (first, sample) in first.chunks_exact(h).zip(hidden.chunks_exact(steps * h)) {
        before.extend_from_slice(first);
        before.extend_from_slice(&sample[..(steps - 1) * h]);
    }
    before
}

impl Derivative<4> for Lstm {
    fn gradients(self, dy: Values, wanted: [bool; 4]) -> [Option<Values>; 4] {
        let Shape {
            batch,
            steps,
            hidden: h,
        } = self.shape;
        // Hidden states and the last cell lie one after the other in the output.
        let (hidden, cell) = dy.slice().split_at(batch * steps * h);
        let Scan {
            hidden: states,
            cell: cells,
            gates,
        } = Arc::unwrap_or_clone(self.scan);
        let gradient = scan_gradient(
            gates,
            &cells,
            self.recurrent.slice(),
            self.first_cell.slice(),
            hidden,
            Some(cell),
            self.shape,
        );
        let recurrent = wanted[1].then(|| {
            let before = hidden_before(self.first_hidden.slice(), &states, self.shape);
            let mut sum = vec![0.0; h * 4 * h];
            let before = Matrix::new(&before, batch * steps, h).transposed();
            let gates = Matrix::new(&gradient.gates_input, batch * steps, 4 * h);
            multiply(
                &mut sum,
                4 * h,
                Destination::Replace,
                before,
                gates,
                Workers::All,
            );
            Values::new(sum, [h, 4 * h])
        });
        [
            wanted[0].then(|| Values::new(gradient.gates_input, [batch, steps, 4 * h])),
            recurrent,
            wanted[2].then(|| Values::new(gradient.first_hidden, [batch, h])),
            wanted[3].then(|| Values::new(gradient.first_cell, [batch, h])),
        ]
    }
}

/// Hidden states `[batch, steps, hidden]` and the last cell `[batch, hidden]` of an LSTM with gates
/// in the order input, forget, cell, output.
pub(crate) fn lstm(
    gates_input: Tensor<3>,
    recurrent: &Tensor<2>,
    first_hidden: &Tensor<2>,
    first_cell: &Tensor<2>,
) -> Option<(Tensor<3>, Tensor<2>)> {
    let [batch, steps, width] = gates_input.dims();
    let hidden = width / 4;
    if batch * steps * hidden == 0 {
        return None;
    }
    let shape = Shape {
        batch,
        steps,
        hidden,
    };
    let inputs = [
        Input::take(gates_input)?,
        Input::of(recurrent)?,
        Input::of(first_hidden)?,
        Input::of(first_cell)?,
    ];
    let both: Tensor<1> = apply(inputs, |[gates, recurrent, first_hidden, first_cell]| {
        let scan = scan(
            gates.into_vec(),
            recurrent.slice(),
            first_hidden.slice(),
            first_cell.slice(),
            shape,
        );
        let mut both = scan.hidden.clone();
        for sample in scan.cell.chunks_exact(steps * hidden) {
            both.extend_from_slice(&sample[(steps - 1) * hidden..]);
        }
        let length = both.len();
        let kept = Lstm {
            shape,
            scan: Arc::new(scan),
            recurrent,
            first_hidden,
            first_cell,
        };
        (Values::new(both, [length]), kept)
    });
    let states = batch * steps * hidden;
    let cell = both.clone().narrow(0, states, batch * hidden);
    let hiddens = both.narrow(0, 0, states);
    Some((
        hiddens.reshape([batch, steps, hidden]),
        cell.reshape([batch, hidden]),
    ))
}
