//! Maximum and average over windows of each plane, `[batch, channels, height, width]`.

mod average;
mod maximum;
#[cfg(test)]
mod tests;

pub use average::{average_backward, average_forward};
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

    /// Planes that one task takes: enough work to be worth handing out.
    fn planes_per_task(&self) -> usize {
        let work = self.plane_in().max(self.plane_out()).max(1);
        self.planes
            .div_ceil(4 * rayon::current_num_threads())
            .max(16_384usize.div_ceil(work))
    }
}
