//! The maximum over windows of each plane, `[batch, channels, height, width]`.

mod maximum;
#[cfg(test)]
mod tests;

pub use maximum::{Maxima, NOWHERE, maximum_backward, maximum_forward};

use crate::convolution::Geometry;

/// Sizes of a two-dimensional pooling; rows first, columns second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Planes: `batch · channels`.
    pub planes: usize,
    /// Height and width of the input.
    pub input: [usize; 2],
    /// Height and width of the output.
    pub output: [usize; 2],
    /// Height and width of the window.
    pub kernel: [usize; 2],
    /// Steps between windows.
    pub stride: [usize; 2],
    /// Room before and after each dimension.
    pub padding: [(usize, usize); 2],
    /// Steps inside a window.
    pub dilation: [usize; 2],
}

impl Window {
    /// Values of one plane of the input.
    pub fn plane_in(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Values of one plane of the output.
    pub fn plane_out(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// A window visits what a convolution of one channel would.
    fn geometry(&self) -> Geometry {
        Geometry {
            batch: self.planes,
            channels_in: 1,
            input: self.input,
            channels_out: 1,
            output: self.output,
            kernel: self.kernel,
            stride: self.stride,
            padding: self.padding,
            dilation: self.dilation,
            groups: 1,
        }
    }

    /// Whether no window touches the padding.
    fn lies_inside(&self) -> bool {
        (0..2).all(|axis| {
            let last = self.output[axis].saturating_sub(1) * self.stride[axis]
                + (self.kernel[axis] - 1) * self.dilation[axis];
            self.padding[axis].0 == 0 && last < self.input[axis]
        })
    }

    /// The indices along one axis that output `at` sees.
    #[inline(always)]
    fn inside(&self, axis: usize, at: usize) -> impl Iterator<Item = usize> {
        let (before, dilation) = (self.padding[axis].0, self.dilation[axis]);
        let start = at * self.stride[axis];
        let skipped = before.saturating_sub(start).div_ceil(dilation);
        let end = start + self.kernel[axis] * dilation;
        let first = start + skipped * dilation;
        (first.max(before)..end.min(self.input[axis] + before))
            .step_by(dilation)
            .map(move |padded| padded - before)
    }

    /// Planes that one task takes: enough work to be worth handing out.
    fn planes_per_task(&self) -> usize {
        let work = self.plane_in().max(self.plane_out()).max(1);
        self.planes
            .div_ceil(4 * rayon::current_num_threads())
            .max(16_384usize.div_ceil(work))
    }
}
