//! y = x W + b.

use super::convolution::{given, optional};
use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use tacita_kernels::product::{Destination, Matrix, Workers, multiply};

/// The input (only to differentiate by the weight) and the weight.
#[derive(Debug, Clone)]
struct Linear {
    x: Values,
    weight: Values,
}

fn matrix(values: &Values) -> Matrix<'_> {
    let [rows, columns] = values.dims();
    Matrix::new(values.slice(), rows, columns)
}

fn product(left: Matrix<'_>, right: Matrix<'_>, shape: [usize; 2]) -> Values {
    let mut values = vec![0.0; shape[0] * shape[1]];
    multiply(
        &mut values,
        shape[1],
        Destination::Replace,
        left,
        right,
        Workers::All,
    );
    Values::new(values, shape)
}

impl Derivative<3> for Linear {
    fn gradients(self, dy: Values, wanted: [bool; 3]) -> [Option<Values>; 3] {
        let Self { x, weight } = self;
        [
            wanted[0].then(|| product(matrix(&dy), matrix(&weight).transposed(), x.dims())),
            wanted[1].then(|| product(matrix(&x).transposed(), matrix(&dy), weight.dims())),
            wanted[2].then(|| {
                let [_, columns] = dy.dims();
                let mut sums = vec![0.0; columns];
                for row in dy.slice().chunks_exact(columns.max(1)) {
                    for (sum, value) in sums.iter_mut().zip(row) {
                        *sum += value;
                    }
                }
                Values::new(sums, [columns])
            }),
        ]
    }
}

/// The linear map of rows.
pub(crate) fn linear(
    x: &Tensor<2>,
    weight: &Tensor<2>,
    bias: Option<&Tensor<1>>,
) -> Option<Tensor<2>> {
    let ([rows, _], [_, columns]) = (x.dims(), weight.dims());
    let inputs = [Input::of(x)?, Input::of(weight)?, optional(bias)?];
    Some(apply(inputs, |[x, weight, bias]| {
        let y = match given(&bias) {
            Some(bias) => {
                let mut y = Vec::with_capacity(rows * columns);
                (0..rows).for_each(|_| y.extend_from_slice(bias));
                multiply(
                    &mut y,
                    columns,
                    Destination::Add,
                    matrix(&x),
                    matrix(&weight),
                    Workers::All,
                );
                Values::new(y, [rows, columns])
            }
            None => product(matrix(&x), matrix(&weight), [rows, columns]),
        };
        (y, Linear { x, weight })
    }))
}
