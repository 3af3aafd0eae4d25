//! An operation on slices as a node of Burn's graph.

use super::Values;
use crate::compute::backend::graph;
use burn::backend::Flex;
use burn::backend::tensor::FloatTensor;
use burn::tensor::Tensor;
use std::fmt::Debug;

/// A tensor of the CPU backend, in the graph or not.
pub(super) type Input = graph::Input<Flex>;

/// What an operation keeps of its forward pass, and its derivative.
pub(super) trait Derivative<const N: usize>: Clone + Debug + Send + 'static {
    /// The gradient of each input that is `wanted`.
    fn gradients(self, output_gradient: Values, wanted: [bool; N]) -> [Option<Values>; N];
}

/// A derivative on slices as one on tensors.
#[derive(Debug, Clone)]
struct OnValues<D>(D);

impl<const N: usize, D: Derivative<N>> graph::Derivative<Flex, N> for OnValues<D> {
    fn gradients(
        self,
        output_gradient: FloatTensor<Flex>,
        wanted: [bool; N],
    ) -> [Option<FloatTensor<Flex>>; N] {
        let gradients = self.0.gradients(Values::of(output_gradient), wanted);
        gradients.map(|gradient| gradient.map(Values::into_tensor))
    }
}

/// Runs an operation and, if any input is in the graph, puts it there.
///
/// `forward` gets the inputs' values and gives the output's and the derivative.
pub(crate) fn apply<const N: usize, const D: usize, F: Derivative<N>>(
    inputs: [Input; N],
    forward: impl FnOnce([Values; N]) -> (Values, F),
) -> Tensor<D> {
    graph::apply(inputs, |tensors| {
        let (output, derivative) = forward(tensors.map(Values::of));
        (output.into_tensor(), OnValues(derivative))
    })
}
