//! Per-sample gradients without per-sample gradients.
//!
//! A layer says how its parameters' per-sample gradients are *made* ([`Contribution`]): mostly as a
//! sum of outer products that is never formed. From that the engine computes norms and weighted
//! sums, choosing for each use the cheapest exact way.
//!
//! | file | idea |
//! |---|---|
//! | [`contribution`](Contribution) | the factored form a layer hands over |
//! | `norm` | squared norms that are never too small |
//! | `outer` | Σₜ aₜ ⊗ bₜ: ghost, Gram, kept |
//! | `rows` | embeddings: segment sums of equal tokens |
//! | `convolution` | convolutions as outer products over positions |
//! | `bundle` | uses of one parameter, summed *before* the norm |
//! | `workspace` | what the norms of one pass share |
//! | `sum` | weighted sums that one record moves by exactly its own contribution |
//! | `per_sample` | all bundles of a pass: norms by group, weighted sums |

mod bundle;
mod contribution;
mod convolution;
mod norm;
mod outer;
mod per_sample;
mod rows;
mod strategy;
mod sum;
#[cfg(test)]
mod tests;
mod workspace;

#[cfg(any(feature = "cpu", feature = "cuda"))]
pub(crate) use contribution::Convolution;
pub use contribution::{Contribution, Target};
pub use norm::Norms;
#[cfg(any(feature = "cpu", feature = "cuda"))]
pub(crate) use norm::SquaredNorm;
pub(crate) use norm::operand_error;
#[cfg(feature = "cuda")]
pub(crate) use outer::long_product;
pub use per_sample::{GradientError, PerSampleGradients, Slot, WeightedSums};
#[cfg(feature = "cpu")]
pub(crate) use rows::HostRows;
#[cfg(feature = "cpu")]
pub(crate) use strategy::Size;
pub use strategy::{Performance, Strategy};
pub use sum::Weights;
pub use tacita_kernels::exact::{Grid, Sum};
