//! Convolutions by implicit matrix products on tensor cores, where Burn without autotuning takes a
//! direct kernel.

use super::{in_order, is_cuda};
use crate::gradient::{Convolution, Performance};
use crate::graph::{Derivative, Input, apply};
use burn::backend::Cuda;
use burn::backend::tensor::FloatTensor;
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Shape, Tensor};
use burn_cubecl::kernel::conv::{ConvStrategy, conv_data_backward, conv_forward};

/// Below so many input channels a direct kernel is quicker.
const FEWEST_CHANNELS: usize = 8;

/// The input of a convolution (only to differentiate by the weight) and its weight.
#[derive(Debug, Clone)]
struct Node {
    x: FloatTensor<Cuda>,
    weight: FloatTensor<Cuda>,
    options: ConvOptions<2>,
}

impl Node {
    fn dims(tensor: &FloatTensor<Cuda>) -> [usize; 4] {
        tensor.meta.shape().dims()
    }

    fn forward(&self) -> FloatTensor<Cuda> {
        let run = |strategy| {
            let (x, weight) = (self.x.clone(), self.weight.clone());
            conv_forward::<2>(x, weight, None, self.options.clone(), strategy)
        };
        let implicit = Self::dims(&self.x)[1] / self.options.groups >= FEWEST_CHANNELS;
        let output = match implicit {
            true => run(ConvStrategy::ImplicitGemm).or_else(|_| run(ConvStrategy::Direct)),
            false => run(ConvStrategy::Direct),
        };
        output.unwrap_or_else(|error| panic!("no kernel convolves these shapes: {error:?}"))
    }

    fn input_gradient(&self, dy: FloatTensor<Cuda>) -> FloatTensor<Cuda> {
        let run = |strategy| {
            let shape = Shape::new(Self::dims(&self.x));
            let (dy, weight) = (dy.clone(), self.weight.clone());
            conv_data_backward::<2>(dy, weight, shape, self.options.clone(), strategy)
        };
        let output = match Self::dims(&self.weight)[0] >= FEWEST_CHANNELS {
            true => run(ConvStrategy::ImplicitGemm).or_else(|_| run(ConvStrategy::Direct)),
            false => run(ConvStrategy::Direct),
        };
        output.unwrap_or_else(|error| panic!("no kernel convolves these shapes: {error:?}"))
    }

    fn weight_gradient(&self, dy: FloatTensor<Cuda>) -> Option<FloatTensor<Cuda>> {
        let [batch, ..] = Self::dims(&self.x);
        let dims @ [_, _, kernel_1, kernel_2] = Self::dims(&self.weight);
        let output: Tensor<4> = Tensor::from_primitive::<Cuda>(dy);
        let device = output.device();
        let convolution = Convolution {
            input: Tensor::from_primitive::<Cuda>(self.x.clone()),
            output,
            kernel: [kernel_1, kernel_2],
            options: self.options.clone(),
        };
        let performance = Performance::default().on(&device);
        let sum = convolution.weighted_sum(Tensor::ones([batch], &device), &performance);
        in_order(sum.reshape(dims))
    }
}

impl Derivative<Cuda, 2> for Node {
    fn gradients(self, dy: FloatTensor<Cuda>, wanted: [bool; 2]) -> [Option<FloatTensor<Cuda>>; 2] {
        [
            wanted[0].then(|| self.input_gradient(dy.clone())),
            if wanted[1] {
                self.weight_gradient(dy)
            } else {
                None
            },
        ]
    }
}

/// 2-D convolution, if a CUDA card holds the tensors.
pub(crate) fn conv2d(
    x: &Tensor<4>,
    weight: &Tensor<4>,
    bias: Option<&Tensor<1>>,
    options: &ConvOptions<2>,
) -> Option<Tensor<4>> {
    let inputs = [Input::<Cuda>::of(x)?, Input::of(weight)?];
    let on_card = |input: &Input<Cuda>| match input {
        Input::Free(tensor) => is_cuda(tensor),
        Input::Graph(tensor) => is_cuda(tensor.primitive()),
    };
    if !inputs.iter().all(on_card) {
        return None;
    }
    let options = options.clone();
    let output: Tensor<4> = apply(inputs, |[x, weight]| {
        let node = Node { x, weight, options };
        (node.forward(), node)
    });
    Some(match bias {
        Some(bias) => {
            let channels = bias.dims()[0];
            output + bias.clone().reshape([1, channels, 1, 1])
        }
        None => output,
    })
}
