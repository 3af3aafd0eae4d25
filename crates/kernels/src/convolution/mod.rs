//! Two-dimensional convolution and its derivatives, `[batch, channels, height, width]`.
//!
//! Small convolutions multiply shifts of a padded image (`phases`, `tile`) and lay nothing out. Large ones
//! lay samples' windows out as columns of a matrix in a worker's scratch (`patches`), and a matrix product
//! does the rest. The weight is `[channels_out, channels_in / groups, k1, k2]`.

mod block;
mod correlation;
mod forward;
pub(crate) mod geometry;
mod gram;
mod input_gradient;
mod norms;
mod patches;
pub(crate) mod phases;
#[cfg(test)]
mod tests;
mod tile;
mod transposed_phases;
mod weight_gradient;

pub use forward::forward;
pub use geometry::Geometry;
pub use gram::gram_norms;
pub use input_gradient::input_gradient;
pub use norms::{Norms, per_sample_norms};
pub use weight_gradient::{add_weight_gradients, per_sample_weight_gradients, weight_gradient};
