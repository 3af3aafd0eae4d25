//! Kernels of our own for graphics cards, in CubeCL: what Burn's operations cannot say, or say slowly.
//!
//! Burn's tensors hide which backend holds them. A tensor of another backend, or outside single
//! precision, is refused with `None`, and the caller takes the generic way.

pub(crate) mod convolution;
pub(crate) mod noise;
pub(crate) mod norms;
pub(crate) mod rows;

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

fn is_cuda(tensor: &FloatTensor<Cuda>) -> bool {
    matches!(tensor.device, burn::cubecl::Device::Cuda(CudaDevice { .. }))
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
