//! Devices: whether tensors lie on a GPU, and where its kernels are kept.

use super::{cpu, gpu};
use burn::tensor::Device;
use std::path::Path;

/// Keeps kernels that a GPU compiles in `folder`, so that the next process need not compile them again.
/// To be called before the first use of a GPU. Returns whether kernels are kept there: not if a GPU was used
/// before, and not if the program was built without the feature `cuda`.
///
/// A kernel holds no values, but which kernels there are may depend on the records: the folder is for this
/// machine, not for publication.
pub fn keep_kernels(folder: &Path) -> bool {
    gpu::keep_kernels(folder)
}

/// Everything but our CPU backend: memory of its own, and perhaps tensor cores.
pub(crate) fn is_gpu(device: &Device) -> bool {
    !cpu::is_device(device)
}

/// The CPU, if the program was built for it.
pub(crate) fn cpu_device() -> Option<Device> {
    cpu::device()
}

/// The first CUDA GPU, if the program was built for it.
pub(crate) fn cuda_device() -> Option<Device> {
    gpu::device()
}
