//! The sizes of one convolution.

/// Sizes of a two-dimensional convolution; rows first, columns second.
///
/// `output` may be smaller than the largest possible: the last rows of the input then see no output, as
/// in a transposed convolution with output padding.
///
/// ```
/// use tacita_kernels::convolution::Geometry;
/// let geometry = Geometry {
///     batch: 2, channels_in: 3, input: [8, 8], channels_out: 4, output: [4, 4],
///     kernel: [3, 3], stride: [2, 2], padding: [(1, 1), (1, 1)], dilation: [1, 1], groups: 1,
/// };
/// assert_eq!(geometry.patch(), 27);
/// assert_eq!(geometry.positions(), 16);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Samples.
    pub batch: usize,
    /// Channels of the input.
    pub channels_in: usize,
    /// Height and width of the input.
    pub input: [usize; 2],
    /// Channels of the output.
    pub channels_out: usize,
    /// Height and width of the output.
    pub output: [usize; 2],
    /// Height and width of the window.
    pub kernel: [usize; 2],
    /// Steps between windows.
    pub stride: [usize; 2],
    /// Zeros before and after each dimension.
    pub padding: [(usize, usize); 2],
    /// Steps inside a window.
    pub dilation: [usize; 2],
    /// Groups of channels that do not see each other.
    pub groups: usize,
}

/// The outputs along one dimension for which one kernel offset falls inside the input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// First such output.
    pub first: usize,
    /// One past the last.
    pub end: usize,
    /// The input index that output `first` reads.
    pub start: usize,
}

impl Geometry {
    /// Values of one group's window: `channels_in / groups · k1 · k2`.
    pub fn patch(&self) -> usize {
        self.channels_in / self.groups * self.kernel[0] * self.kernel[1]
    }

    /// Windows of one sample.
    pub fn positions(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Values of the weight, `[channels_out, channels_in / groups, k1, k2]`.
    pub fn weights(&self) -> usize {
        self.channels_out * self.patch()
    }

    /// Values of one sample's input.
    pub fn sample_in(&self) -> usize {
        self.channels_in * self.input[0] * self.input[1]
    }

    /// Values of one sample's output.
    pub fn sample_out(&self) -> usize {
        self.channels_out * self.positions()
    }

    /// Asserts that the sizes make a convolution and that each slice given has its length.
    ///
    /// # Panics
    /// If a size, stride, dilation or group count is zero (a batch may be empty), groups do not divide the
    /// channels, the output reaches past the padded input, or a slice has another length.
    pub fn check(&self, x: Option<&[f32]>, weight: Option<&[f32]>, output: Option<&[f32]>) {
        assert!(
            self.groups > 0
                && self.channels_in.is_multiple_of(self.groups)
                && self.channels_out.is_multiple_of(self.groups),
            "{} groups for {} to {} channels",
            self.groups,
            self.channels_in,
            self.channels_out
        );
        for axis in 0..2 {
            let (stride, dilation) = (self.stride[axis], self.dilation[axis]);
            assert!(
                stride.min(dilation).min(self.kernel[axis]) > 0
                    && self.input[axis].min(self.output[axis]) > 0,
                "all sizes, strides and dilations are positive: {self:?}"
            );
            let padded = self.input[axis] + self.padding[axis].0 + self.padding[axis].1;
            let reach = (self.output[axis] - 1) * stride + (self.kernel[axis] - 1) * dilation + 1;
            assert!(
                reach <= padded,
                "windows reach {reach} of {padded}: {self:?}"
            );
        }
        for (name, slice, expected) in [
            ("input", x, self.batch * self.sample_in()),
            ("weight", weight, self.weights()),
            ("output", output, self.batch * self.sample_out()),
        ] {
            if let Some(slice) = slice {
                assert_eq!(slice.len(), expected, "{name} of {self:?}");
            }
        }
    }

    pub(super) fn check_bias(&self, bias: Option<&[f32]>, channels: usize) {
        if let Some(bias) = bias {
            assert_eq!(bias.len(), channels, "bias of {self:?}");
        }
    }

    /// Where the kernel's `offset`-th row (or column) falls inside the input.
    pub(crate) fn span(&self, axis: usize, offset: usize) -> Span {
        let (stride, size) = (self.stride[axis], self.input[axis]);
        let (ahead, before) = (offset * self.dilation[axis], self.padding[axis].0);
        let first = before.saturating_sub(ahead).div_ceil(stride);
        let end = (size + before)
            .saturating_sub(ahead)
            .div_ceil(stride)
            .min(self.output[axis]);
        if first >= end {
            return Span {
                first: 0,
                end: 0,
                start: 0,
            };
        }
        Span {
            first,
            end,
            start: first * stride + ahead - before,
        }
    }

    /// Whether a sample's patches are the sample itself.
    pub(super) fn is_pointwise(&self) -> bool {
        self.kernel == [1, 1]
            && self.stride == [1, 1]
            && self.padding[0].0 == 0
            && self.padding[1].0 == 0
            && self.input == self.output
    }
}
