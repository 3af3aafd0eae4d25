//! Per-sample gradients without per-sample gradients.
//!
//! A layer describes how its parameters' per-sample gradients are *made* ([`Contribution`]): mostly as a
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
//! | `runs` | a batch treated a few samples at a time, in tensors of one shape |
//! | `bundle` | uses of one parameter, summed *before* the norm |
//! | `workspace` | what the norms of one pass share |
//! | `sum` | weighted sums that one record moves by exactly its own contribution |
//! | `per_sample` | all bundles of a pass: norms by group, weighted sums |

mod bundle;
mod contribution;
mod convolution;
mod method;
mod norm;
mod outer;
mod per_sample;
mod rows;
mod runs;
mod sum;
#[cfg(test)]
mod tests;
mod workspace;

pub use contribution::{Contribution, Target};
pub use method::{NormMethod, Performance};
pub use norm::Norms;
pub(crate) use per_sample::Samples;
pub use per_sample::{GradientError, PerSampleGradients, Slot, WeightedSums};
pub use sum::Weights;
pub use tacita_kernels::exact::{Grid, Sum};
