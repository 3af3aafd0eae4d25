//! Operations of the CPU backend with kernels and derivatives of our own.
//!
//! Burn's tensors hide which backend holds them. Here a tensor of the CPU backend is taken apart into a
//! slice, [`tacita_kernels`] computes on slices, and the result becomes a tensor again, with its
//! derivative in Burn's graph ([`Derivative`]). Anything else (another backend, another precision)
//! is refused with `None`, and the caller takes Burn's own operation.

mod activation;
mod affine;
mod attention;
mod convolution;
mod gradient;
mod linear;
mod normalise;
mod operation;
mod optimiser;
mod outer;
mod pooling;
mod recurrent;
mod rows;
mod softmax;
mod values;

pub(super) use activation::activate;
pub(super) use affine::{affine, feature_sums};
pub(super) use attention::attention;
pub(super) use convolution::{conv_transpose2d, conv2d};
pub(super) use gradient::{
    convolution_gradients, convolution_gram_norms, convolution_norms, convolution_sum, row_squares,
    row_sum,
};
pub(super) use linear::linear;
pub(super) use normalise::normalise;
pub(super) use optimiser::optimiser_step;
pub(crate) use outer::GramCache;
pub(super) use outer::{gram_norms, has_outer_kernels, outer_norms, outer_sum, tied_sum};
pub(super) use pooling::max_pool2d;
pub(super) use recurrent::lstm;
pub(super) use rows::{embedding, embedding_mean, shared_vector};
pub(super) use softmax::softmax;

use super::graph;
use burn::backend::{DispatchDevice, Flex};
use burn::tensor::{Device, Tensor};
use operation::{Derivative, Input, apply};
use values::Values;

/// The device of this backend.
pub(super) fn device() -> Option<Device> {
    Some(Device::flex())
}

/// Whether a device is of this backend.
pub(super) fn is_device(device: &Device) -> bool {
    let device = device.clone().without_autodiff();
    matches!(device.as_dispatch(), DispatchDevice::Flex(_))
}

/// See [`super::probe()`].
pub(super) fn probe<const D: usize>(y: &Tensor<D>, leaf: &Tensor<D>) -> Option<Tensor<D>> {
    graph::probe::<Flex, D>(y, leaf)
}
