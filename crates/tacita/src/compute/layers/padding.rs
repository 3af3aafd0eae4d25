//! How much a convolution pads, by Burn's rules (which Burn does not show).

use burn::nn::{PaddingConfig1d, PaddingConfig2d};

/// Padding that gives ⌈size / stride⌉ outputs; the odd one goes to the end. As Burn does, without
/// regard to dilation.
fn same(kernel: usize, stride: usize, size: usize) -> (usize, usize) {
    let span = size.div_ceil(stride).saturating_sub(1) * stride + kernel;
    let total = span.saturating_sub(size);
    (total / 2, total - total / 2)
}

/// (begin, end) of a 1-D convolution.
pub(super) fn one(
    padding: &PaddingConfig1d,
    size: usize,
    kernel: usize,
    stride: usize,
) -> (usize, usize) {
    match padding {
        PaddingConfig1d::Valid => (0, 0),
        PaddingConfig1d::Same => same(kernel, stride, size),
        PaddingConfig1d::Explicit(begin, end) => (*begin, *end),
    }
}

/// (begin, end) of rows and columns of a 2-D convolution.
pub(super) fn two(
    padding: &PaddingConfig2d,
    size: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
) -> [(usize, usize); 2] {
    match padding {
        PaddingConfig2d::Valid => [(0, 0); 2],
        PaddingConfig2d::Same => {
            std::array::from_fn(|axis| same(kernel[axis], stride[axis], size[axis]))
        }
        PaddingConfig2d::Explicit(top, left, bottom, right) => [(*top, *bottom), (*left, *right)],
    }
}
