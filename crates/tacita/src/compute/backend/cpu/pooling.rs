//! Max pooling.

use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
use burn::tensor::ops::MaxPoolOptions;
use std::sync::Arc;
use tacita_kernels::pooling::{Window, maximum_backward, maximum_forward};

/// Where the maxima were.
#[derive(Debug, Clone)]
struct Maximum {
    window: Window,
    winners: Arc<Vec<u32>>,
    shape: [usize; 4],
}

impl Derivative<1> for Maximum {
    fn gradients(self, dy: Values, _: [bool; 1]) -> [Option<Values>; 1] {
        let dx = maximum_backward(&self.window, dy.slice(), &self.winners);
        [Some(Values::new(dx, self.shape))]
    }
}

/// The maximum of each window.
pub(crate) fn max_pool2d(x: &Tensor<4>, options: &MaxPoolOptions<2>) -> Option<Tensor<4>> {
    let shape = x.dims();
    let [batch, channels, height, width] = shape;
    let (input, kernel) = ([height, width], options.kernel_size);
    let outputs = |axis: usize| {
        let (begin, end) = options.padding[axis];
        let span = options.dilation[axis] * (kernel[axis] - 1) + 1;
        let room = (input[axis] + begin + end).checked_sub(span)?;
        Some(room / options.stride[axis] + 1)
    };
    if options.ceil_mode {
        return None;
    }
    let window = Window {
        planes: batch * channels,
        input,
        output: [outputs(0)?, outputs(1)?],
        kernel,
        stride: options.stride,
        padding: options.padding,
        dilation: options.dilation,
    };
    Some(apply([Input::of(x)?], |[x]| {
        let maxima = maximum_forward(&window, x.slice());
        let [height, width] = window.output;
        let kept = Maximum {
            window,
            winners: Arc::new(maxima.winners),
            shape,
        };
        let values = Values::new(maxima.values, [batch, channels, height, width]);
        (values, kept)
    }))
}
