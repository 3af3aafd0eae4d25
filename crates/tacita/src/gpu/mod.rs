//! Kernels of our own for GPUs, in CubeCL: what Burn's operations cannot say, or say slowly.
//!
//! Burn's tensors hide which backend holds them. A tensor of another backend, or outside single
//! precision, is refused with `None`, and the caller takes the generic way.

pub(crate) mod activation;
mod bias;
pub(crate) mod convolution;
mod cube;
pub(crate) mod normalise;
pub(crate) mod norms;
pub(crate) mod optimiser;
pub(crate) mod product;
pub(crate) mod rows;
pub(crate) mod softmax;
mod sums;

use crate::graph::Input;
use burn::backend::Cuda;
use burn::backend::cuda::CudaDevice;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::prelude::{CubeCount, CubeDim};
use burn::tensor::{DType, Tensor};
use burn_cubecl::kernel::into_contiguous;

/// The primitive of a tensor outside the graph, if a CUDA card holds it in single precision.
///
/// Every runtime of CubeCL shares the backend's type; only CUDA is known to have f64 and atomic
/// addition of f32.
fn primitive<const D: usize>(tensor: Tensor<D>) -> Option<FloatTensor<Cuda>> {
    // The kernels index by 32 bits.
    let few = tensor.shape().num_elements() <= i32::MAX as usize;
    if tensor.device().is_autodiff() || tensor.dtype() != DType::F32 || !few {
        return None;
    }
    let primitive = tensor.try_into_primitive::<Cuda>().ok()?;
    is_cuda(&primitive).then_some(primitive)
}

/// As [`primitive`], its values in row-major order.
fn in_order<const D: usize>(tensor: Tensor<D>) -> Option<FloatTensor<Cuda>> {
    primitive(tensor).map(into_contiguous)
}

/// A tensor of f32 whose values are not yet set, where another lies.
fn empty<const D: usize>(like: &FloatTensor<Cuda>, dims: [usize; D]) -> FloatTensor<Cuda> {
    let bytes = dims.iter().product::<usize>() * size_of::<f32>();
    FloatTensor::<Cuda>::new_contiguous(
        like.client.clone(),
        like.device.clone(),
        dims.into(),
        like.client.empty(bytes),
        DType::F32,
    )
}

/// A tensor whose values are not yet set, laid out as another whose values lie without gaps.
fn empty_like(like: &FloatTensor<Cuda>) -> FloatTensor<Cuda> {
    let bytes = like.meta.num_elements() * size_of::<f32>();
    FloatTensor::<Cuda> {
        handle: like.client.empty(bytes),
        ..like.clone()
    }
}

/// Tensors of one shape whose values lie without gaps and in the same order, whichever that is.
fn in_one_order<const N: usize>(tensors: [FloatTensor<Cuda>; N]) -> [FloatTensor<Cuda>; N] {
    let strides = tensors[0].meta.strides().to_vec();
    let alike = |tensor: &FloatTensor<Cuda>| {
        tensor.is_contiguous_buffer() && tensor.meta.strides().to_vec() == strides
    };
    match tensors.iter().all(alike) {
        true => tensors,
        false => tensors.map(into_contiguous),
    }
}

/// One cube for each row of the last dimension, and its width.
fn cube_per_row(tensor: &FloatTensor<Cuda>) -> (CubeCount, CubeDim, u32) {
    let shape = tensor.meta.shape();
    let width = shape[shape.num_dims() - 1];
    let count = (tensor.meta.num_elements() / width.max(1)) as u32;
    (
        CubeCount::Static(count.max(1), 1, 1),
        CubeDim::new_1d(THREADS),
        width as u32,
    )
}

fn is_cuda(tensor: &FloatTensor<Cuda>) -> bool {
    matches!(tensor.device, burn::cubecl::Device::Cuda(CudaDevice { .. }))
}

/// The tensor, in the graph or not, if a CUDA card holds it in single precision.
fn input<const D: usize>(tensor: &Tensor<D>) -> Option<Input<Cuda>> {
    Input::of(tensor).filter(|input| match input {
        Input::Free(tensor) => is_cuda(tensor),
        Input::Graph(tensor) => is_cuda(tensor.primitive()),
    })
}

/// Threads of a cube: enough to hide latency, few enough for many registers each.
const THREADS: u32 = 128;

/// Cubes for one thread per item.
fn cubes(items: usize) -> (CubeCount, CubeDim) {
    let count = items.div_ceil(THREADS as usize).max(1) as u32;
    (CubeCount::Static(count, 1, 1), CubeDim::new_1d(THREADS))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
