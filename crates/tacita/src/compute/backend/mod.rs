//! The one door to the hardware.
//!
//! Each operation is a function that takes Burn's tensors and tries kernels of our own, those of CUDA and those
//! of the CPU. Where neither holds the tensors it takes Burn's operation, or returns `None` if the caller has a
//! generic way of its own. The modules `cpu` and `gpu` are private, so nothing outside this folder can name a
//! backend; without their feature, stubs that hold no tensor take their place (`no_cpu.rs`, `no_gpu.rs`), so
//! nothing outside this file asks which features are on.
//!
//! | file | operations | for the guarantee |
//! |---|---|---|
//! | `ops.rs` | forward passes, with their derivatives | must keep samples apart |
//! | `norms.rs` | squared norms of per-sample gradients | must be right |
//! | `sums.rs` | weighted sums of per-sample gradients on a grid | must be right |
//! | `rows.rs` | both, for embeddings | must be right |
//! | `convolution.rs` | the factors of a convolution's gradient | must keep samples apart |
//! | `probe.rs` | the points at which the graph yields output gradients | must keep samples apart |
//! | `optimiser.rs` | steps of optimisers | post-processing |

mod convolution;
#[cfg(feature = "cpu")]
mod cpu;
#[cfg(not(feature = "cpu"))]
#[path = "no_cpu.rs"]
mod cpu;
mod device;
mod function;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(not(feature = "cuda"))]
#[path = "no_gpu.rs"]
mod gpu;
#[cfg(any(feature = "cpu", feature = "cuda"))]
mod graph;
mod norms;
pub mod ops;
mod optimiser;
mod outer_size;
mod precision;
mod probe;
mod rows;
mod sums;

pub(crate) use convolution::{Convolution, together};
pub(crate) use cpu::GramCache;
pub use device::keep_kernels;
pub(crate) use device::{cpu_device, cuda_device, is_gpu};
pub(crate) use gpu::GpuSteps;
pub(crate) use norms::{
    Measured, Squares, convolution_gradients, convolution_gram_norms, convolution_norms,
    gram_norms, has_outer_kernels, outer_norms, outer_squares, row_squares, sum_last,
};
pub(crate) use optimiser::optimiser_step;
pub(crate) use outer_size::OuterSize;
pub(crate) use precision::{Precision, in_precision};
pub(crate) use probe::probe;
pub(crate) use rows::Rows;
pub(crate) use sums::{
    convolution_sum, formed_steps, outer_sum, row_sum, scattered_steps, tied_sum,
};
