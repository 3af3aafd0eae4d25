//! Products of matrices, in TF32 or in bf16, by the kernels that measured best (`benches/gpu`).

use super::{in_order, input};
use crate::compute::backend::graph::{Derivative, apply};
use crate::compute::backend::precision::Precision;
use burn::backend::Cuda;
use burn::backend::cubecl::dtype_to_storage_type;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{DType, Tensor};
use burn_cubecl::kernel::cast;
use burn_cubecl::kernel::matmul::init_matmul_output;
use burn_cubecl::ops::permute;
use cubek::matmul::definition::{MatmulElems, MatmulGlobalElems};
use cubek::matmul::launch::launch_ref;
use cubek::matmul::multi_level::Strategy as Kernel;
use cubek::matmul::multi_level::components::tile::TileMatmulKind;
use cubek::matmul::multi_level::routines::batch::simple::SimpleArgs;
use cubek::matmul::routine::BlueprintStrategy::Inferred;
use cubek::matmul::strategy::Strategy;
use cubek::std::InputBinding;

/// An operand as a kernel takes it.
pub(super) fn bind(tensor: FloatTensor<Cuda>) -> InputBinding {
    let element = dtype_to_storage_type(tensor.dtype);
    InputBinding::new(tensor.binding(), element)
}

/// The types of a product of two operands whose sums are f32.
pub(super) fn elements(left: &FloatTensor<Cuda>, right: &FloatTensor<Cuda>) -> MatmulElems {
    MatmulElems::from_globals(&MatmulGlobalElems {
        lhs: dtype_to_storage_type(left.dtype),
        rhs: dtype_to_storage_type(right.dtype),
        out: dtype_to_storage_type(DType::F32),
    })
}

/// The operand of a product in some precision.
pub(super) fn operand(tensor: FloatTensor<Cuda>, precision: Precision) -> FloatTensor<Cuda> {
    match precision {
        Precision::Single => tensor,
        Precision::Mixed => cast(tensor, DType::BF16),
    }
}

/// A B of `[.., m, k]` and `[.., k, n]`.
fn multiply(
    left: FloatTensor<Cuda>,
    right: FloatTensor<Cuda>,
    precision: Precision,
) -> FloatTensor<Cuda> {
    let (left, right) = (operand(left, precision), operand(right, precision));
    let output = init_matmul_output(&left, &right, DType::F32);
    let run = |strategy: &Strategy| {
        launch_ref(
            strategy,
            &output.client,
            bind(left.clone()),
            bind(right.clone()),
            output.clone().binding(),
            &mut elements(&left, &right),
        )
    };
    run(&kernel(&output))
        .or_else(|_| run(&Strategy::Auto))
        .unwrap_or_else(|error| panic!("no kernel multiplies these shapes: {error:?}"));
    output
}

/// Tiles of the quicker kernel are larger than smaller results.
const TILE: usize = 64;

/// The kernel for a result of some size: on an H200 in TF32 from 8192 × 512 to 512 × 2048, 0.28 ms
/// against the 0.41 ms of the usual one, and 0.17 ms against 0.25 ms in bf16.
fn kernel(output: &FloatTensor<Cuda>) -> Strategy {
    let shape = output.meta.shape();
    let rank = shape.num_dims();
    if shape[rank - 1] < TILE || shape[rank - 2] < TILE {
        return Strategy::Auto;
    }
    Strategy::from(Kernel::SimpleCyclicMma(Inferred(SimpleArgs {
        multi_rows: true,
        tile_matmul: TileMatmulKind::Mma,
    })))
}

fn transpose(tensor: &FloatTensor<Cuda>) -> FloatTensor<Cuda> {
    let rank = tensor.meta.shape().num_dims();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(rank - 2, rank - 1);
    permute(tensor.clone(), &axes)
}

/// The factors of a product.
#[derive(Debug, Clone)]
struct Node {
    left: FloatTensor<Cuda>,
    right: FloatTensor<Cuda>,
    precision: Precision,
}

impl Derivative<Cuda, 2> for Node {
    fn gradients(self, dy: FloatTensor<Cuda>, wanted: [bool; 2]) -> [Option<FloatTensor<Cuda>>; 2] {
        let left = wanted[0].then(|| multiply(dy.clone(), transpose(&self.right), self.precision));
        let right = match wanted[1] {
            true => self.right_gradient(dy),
            false => None,
        };
        [left, right]
    }
}

impl Node {
    fn right_gradient(&self, dy: FloatTensor<Cuda>) -> Option<FloatTensor<Cuda>> {
        if self.left.meta.shape().num_dims() > 2 {
            return Some(multiply(transpose(&self.left), dy, self.precision));
        }
        let [left, dy]: [Tensor<2>; 2] =
            [self.left.clone(), dy].map(Tensor::from_primitive::<Cuda>);
        let rows = left.dims()[0];
        in_order(long_product(left, dy, rows, self.precision))
    }
}

/// x W + b, if a CUDA GPU holds them in single precision.
pub(crate) fn linear(
    x: &Tensor<2>,
    weight: &Tensor<2>,
    bias: Option<&Tensor<1>>,
    precision: Precision,
) -> Option<Tensor<2>> {
    let output = matmul(x, weight, precision)?;
    match bias {
        Some(bias) => super::bias::add(output, bias),
        None => Some(output),
    }
}

/// A B, if a CUDA GPU holds both in single precision.
pub(crate) fn matmul<const D: usize>(
    left: &Tensor<D>,
    right: &Tensor<D>,
    precision: Precision,
) -> Option<Tensor<D>> {
    let [batch_left, batch_right] = [left, right].map(|tensor| tensor.dims()[..D - 2].to_vec());
    let inputs = [input(left)?, input(right)?];
    if batch_left != batch_right {
        return None;
    }
    Some(apply(inputs, |[left, right]| {
        let output = multiply(left.clone(), right.clone(), precision);
        let node = Node {
            left,
            right,
            precision,
        };
        (output, node)
    }))
}

/// A B of tensors that a CUDA GPU holds.
pub(super) fn product<const D: usize>(
    left: Tensor<D>,
    right: Tensor<D>,
    precision: Precision,
) -> Tensor<D> {
    matmul(&left, &right, precision).unwrap_or_else(|| left.matmul(right))
}

/// AᵀB over many rows, in `pieces` that divide `samples`: a GPU gives every tile of the result to one
/// of its processors, so few tiles of long sums would leave most of them idle.
pub(super) fn long_product(
    left: Tensor<2>,
    right: Tensor<2>,
    samples: usize,
    precision: Precision,
) -> Tensor<2> {
    const TILE: usize = 128;
    const PROCESSORS: usize = 512;
    let ([rows, d], [_, p]) = (left.dims(), right.dims());
    let tiles = d.div_ceil(TILE) * p.div_ceil(TILE);
    let wanted = (PROCESSORS / tiles).clamp(1, (rows / 256).max(1));
    let pieces = (1..=wanted)
        .rev()
        .find(|pieces| samples.is_multiple_of(*pieces));
    match pieces.unwrap_or(1) {
        1 => product(left.transpose(), right, precision),
        pieces => {
            let left = left.reshape([pieces, rows / pieces, d]);
            let right = right.reshape([pieces, rows / pieces, p]);
            let parts = product(left.swap_dims(1, 2), right, precision);
            parts.sum_dim(0).reshape([d, p])
        }
    }
}
