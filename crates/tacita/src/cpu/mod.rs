//! Operations of the CPU backend with kernels and derivatives of our own.
//!
//! Burn's tensors hide which backend holds them. Here a tensor of the CPU backend is taken apart into a
//! slice, [`tacita_kernels`] computes on slices, and the result becomes a tensor again, with its
//! derivative in Burn's graph ([`Derivative`]). Anything else (another backend, another precision)
//! is refused with `None`, and the caller takes Burn's own operation.

pub(crate) mod activation;
pub(crate) mod affine;
pub(crate) mod attention;
pub(crate) mod convolution;
pub(crate) mod gradient;
pub(crate) mod linear;
pub(crate) mod normalise;
mod operation;
pub(crate) mod optimiser;
pub(crate) mod outer;
pub(crate) mod pooling;
pub(crate) mod recurrent;
pub(crate) mod rows;
pub(crate) mod softmax;
mod values;

pub(crate) use operation::{Derivative, Input, apply};
pub(crate) use values::Values;
