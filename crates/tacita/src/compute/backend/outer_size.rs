//! The shape of per-sample gradients that are sums of outer products.

/// `positions` outer products of a `left`- and a `right`-vector, in each of `blocks` blocks of each of `batch`
/// samples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OuterSize {
    pub batch: usize,
    pub blocks: usize,
    pub positions: usize,
    pub left: usize,
    pub right: usize,
}

impl OuterSize {
    /// Bytes of all per-sample gradients.
    pub fn gradient_bytes(&self) -> usize {
        4 * self.batch * self.blocks * self.left * self.right
    }

    /// Bytes of the factors that kept gradients make superfluous.
    pub fn factor_bytes(&self) -> usize {
        4 * self.batch * self.blocks * self.positions * (self.left + self.right)
    }

    /// How many samples' worth of `bytes_per_sample` fit the workspace.
    pub fn samples_within(&self, bytes: usize, bytes_per_sample: usize) -> usize {
        (bytes / bytes_per_sample.max(1)).clamp(1, self.batch.max(1))
    }
}
