//! Rows of a table by index.

use super::{Derivative, Input, Values, apply};
use burn::backend::Flex;
use burn::tensor::{Int, Tensor, TensorData};
use std::sync::Arc;
use tacita_kernels::rows::{gather, gather_mean, scatter_add, weighted_scatter_add_shared};

/// The rows that were looked up, and whether their mean was taken.
#[derive(Debug, Clone)]
struct Lookup {
    rows: Arc<Vec<i64>>,
    positions: usize,
    table: [usize; 2],
    mean: bool,
}

impl Derivative<1> for Lookup {
    fn gradients(self, dy: Values, _: [bool; 1]) -> [Option<Values>; 1] {
        let [count, width] = self.table;
        let gradient = match self.mean {
            true => {
                let batch = self.rows.len() / self.positions;
                let shares = vec![1.0 / self.positions as f32; batch];
                weighted_scatter_add_shared(count, width, &self.rows, dy.slice(), &shares)
            }
            false => scatter_add(count, width, &self.rows, dy.slice()),
        };
        [Some(Values::new(gradient, self.table))]
    }
}

/// Indices as the kernels want them.
fn indices(rows: &Tensor<2, Int>) -> Option<Vec<i64>> {
    let data: TensorData = rows.to_data();
    data.convert::<i64>().try_into_vec().ok()
}

/// The rows `[batch, positions, width]` named by `rows`, or their mean over positions
/// `[batch, 1, width]`.
fn lookup(weight: &Tensor<2>, rows: &Tensor<2, Int>, mean: bool) -> Option<Tensor<3>> {
    let input = Input::of(weight)?;
    let table = weight.dims();
    let ([batch, positions], [_, width]) = (rows.dims(), table);
    if mean && positions == 0 {
        return None;
    }
    let rows = indices(rows)?;
    Some(apply([input], |[weight]| {
        let values = match mean {
            true => gather_mean(weight.slice(), width, &rows, positions),
            false => gather(weight.slice(), width, &rows),
        };
        let shape = [batch, if mean { 1 } else { positions }, width];
        let kept = Lookup {
            rows: Arc::new(rows),
            positions,
            table,
            mean,
        };
        (Values::new(values, shape), kept)
    }))
}

/// The rows named by `rows`.
pub(crate) fn embedding(weight: &Tensor<2>, rows: &Tensor<2, Int>) -> Option<Tensor<3>> {
    lookup(weight, rows, false)
}

/// The mean over positions of the rows named by `rows`.
pub(crate) fn embedding_mean(weight: &Tensor<2>, rows: &Tensor<2, Int>) -> Option<Tensor<2>> {
    Some(lookup(weight, rows, true)?.squeeze_dim(1))
}

/// `[batch, positions, width]` whose positions are one vector in memory, as `[batch, width]`.
pub(crate) fn shared_vector(right: &Tensor<3>) -> Option<Tensor<2>> {
    let [_, positions, _] = right.dims();
    let tensor = right.clone().try_into_primitive::<Flex>().ok()?;
    let broadcast = positions > 1 && tensor.layout().strides()[1] == 0;
    broadcast.then(|| right.clone().narrow(1, 0, 1).squeeze_dim(1))
}
