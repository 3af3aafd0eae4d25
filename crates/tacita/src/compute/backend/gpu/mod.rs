//! Kernels of our own for GPUs, in CubeCL: what Burn's operations cannot do, or do slowly.
//!
//! Burn's tensors hide which backend holds them. A tensor of another backend, or outside single
//! precision, is refused with `None`, and the caller takes the generic way.

mod activation;
mod bias;
mod convolution;
mod cube;
mod normalise;
mod norms;
mod optimiser;
mod product;
mod rows;
mod softmax;
mod steps;
mod sums;

pub(super) use activation::activate;
pub(super) use convolution::conv2d;
pub(super) use normalise::normalise;
pub(super) use norms::{outer_squares, row_squares};
pub(super) use optimiser::optimiser_step;
pub(super) use product::{linear, matmul};
pub(crate) use rows::GpuRows;
pub(super) use rows::embedding;
pub(super) use softmax::softmax;
pub(crate) use steps::GpuSteps;
pub(super) use steps::{formed_steps, scattered_steps};

use super::graph::{self, Input};
use burn::backend::Cuda;
use burn::backend::cuda::CudaDevice;
use burn::backend::tensor::FloatTensor;
use burn::cubecl::config::{CubeClRuntimeConfig, RuntimeConfig, cache::CacheConfig};
use burn::cubecl::prelude::{CubeCount, CubeDim};
use burn::cubecl::records::RecordLevel;
use burn::tensor::{DType, Device, Tensor};
use burn_cubecl::kernel::into_contiguous;
use std::path::Path;

/// The first GPU.
pub(super) fn device() -> Option<Device> {
    Some(Device::cuda(0))
}

/// See [`super::keep_kernels`].
pub(super) fn keep_kernels(folder: &Path) -> bool {
    let mut config = CubeClRuntimeConfig::from_current_dir().override_from_env();
    config.compilation.cache = true;
    config.environment.path = CacheConfig::Directory(folder.into());
    // No diary of when which kernel was compiled.
    config.environment.records.level = RecordLevel::Off;
    CubeClRuntimeConfig::try_set(config)
}

/// See [`super::probe()`].
pub(super) fn probe<const D: usize>(y: &Tensor<D>, leaf: &Tensor<D>) -> Option<Tensor<D>> {
    graph::probe::<Cuda, D>(y, leaf)
}

/// The primitive of a tensor outside the graph, if a CUDA GPU holds it in single precision.
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

/// The tensor, in the graph or not, if a CUDA GPU holds it in single precision.
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
