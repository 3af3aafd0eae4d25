//! Max pooling.

use super::{Derivative, Input, Values, apply};
use burn::tensor::Tensor;
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
pub(crate) fn max_pool2d(
    x: &Tensor<4>,
    kernel: [usize; 2],
    stride: [usize; 2],
    padding: [(usize, usize); 2],
    dilation: [usize; 2],
) -> Option<Tensor<4>> {
    let shape = x.dims();
    let [batch, channels, height, width] = shape;
    let input = [height, width];
    let outputs = |axis: usize| {
        let (begin, end) = padding[axis];
        let span = dilation[axis] * (kernel[axis] - 1) + 1;
        (input[axis] + begin + end)
            .checked_sub(span)
            .map(|room| room / stride[axis] + 1)
    };
    let window = Window {
        planes: batch * channels,
        input,
        output: [outputs(0)?, outputs(1)?],
        kernel,
        stride,
        padding,
        dilation,
    };
    Some(apply([Input::of(x)?], |[x]| {
        let maxima = maximum_forward(&window, x.slice());
        let [height, width] = window.output;
        let kept = Maximum {
            window,
            winners: Arc::new(maxima.winners),
            shape,
        };
        (
            Values::new(maxima.values, [batch, channels, height, width]),
            kept,
        )
    }))
}
