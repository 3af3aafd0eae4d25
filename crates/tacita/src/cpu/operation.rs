//! An operation on slices as a node of Burn's graph.

use super::Values;
use super::values::is_single_precision;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Flex};
use burn::tensor::Tensor;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A tensor of the CPU backend, in the graph or not.
pub(crate) enum Input {
    Free(FloatTensor<Flex>),
    Graph(FloatTensor<Autodiff<Flex>>),
}

impl Input {
    /// The tensor, if the CPU backend holds it in single precision.
    pub fn of<const D: usize>(tensor: &Tensor<D>) -> Option<Self> {
        Self::take(tensor.clone())
    }

    /// As [`Input::of`], giving the tensor up, so that nobody shares its values any more.
    pub fn take<const D: usize>(tensor: Tensor<D>) -> Option<Self> {
        if !tensor.device().is_autodiff() {
            let free = tensor.try_into_primitive::<Flex>().ok()?;
            return is_single_precision(&free).then_some(Self::Free(free));
        }
        let graph = tensor.try_into_primitive::<Autodiff<Flex>>().ok()?;
        is_single_precision(graph.primitive()).then_some(Self::Graph(graph))
    }
}

/// What an operation keeps of its forward pass, and its derivative.
pub(crate) trait Derivative<const N: usize>: Clone + Debug + Send + 'static {
    /// The gradient of each input that is `wanted`.
    fn gradients(self, output_gradient: Values, wanted: [bool; N]) -> [Option<Values>; N];
}

#[derive(Debug)]
struct Step<D>(PhantomData<D>);

impl<const N: usize, D: Derivative<N>> Backward<Flex, N> for Step<D> {
    type State = D;

    fn backward(self, ops: Ops<Self::State, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let output_gradient = Values::of(gradients.consume::<Flex>(&ops.node));
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let inputs = ops.state.gradients(output_gradient, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(inputs) {
            if let Some((parent, gradient)) = parent.zip(gradient) {
                gradients.register::<Flex>(parent.id, gradient.into_tensor());
            }
        }
    }
}

/// Runs an operation and, if any input is in the graph, puts it there.
///
/// `forward` gets the inputs' values and gives the output's and the derivative.
pub(crate) fn apply<const N: usize, const D: usize, F: Derivative<N>>(
    inputs: [Input; N],
    forward: impl FnOnce([Values; N]) -> (Values, F),
) -> Tensor<D> {
    apply_to_tensors(inputs, |tensors| {
        let (output, derivative) = forward(tensors.map(Values::of));
        (output.into_tensor(), derivative)
    })
}

/// As [`apply`] on tensors as they lie: nothing is put in order.
pub(super) fn apply_to_tensors<const N: usize, const D: usize, F: Derivative<N>>(
    inputs: [Input; N],
    forward: impl FnOnce([FloatTensor<Flex>; N]) -> (FloatTensor<Flex>, F),
) -> Tensor<D> {
    let in_graph = inputs.iter().any(|input| matches!(input, Input::Graph(_)));
    if !in_graph {
        let tensors = inputs.map(|input| match input {
            Input::Free(tensor) => tensor,
            Input::Graph(tensor) => tensor.into_primitive(),
        });
        return Tensor::from_primitive::<Flex>(forward(tensors).0);
    }
    let inputs = inputs.map(|input| match input {
        Input::Free(tensor) => Autodiff::<Flex>::from_inner(tensor),
        Input::Graph(tensor) => tensor,
    });
    let mut guards = Vec::with_capacity(N);
    let tensors = inputs.map(|input| {
        let (tensor, guard) = input.into_parts();
        guards.push(guard);
        tensor
    });
    let mut guards = guards.into_iter();
    let guards: [_; N] = std::array::from_fn(|_| guards.next().unwrap_or_else(|| unreachable!()));
    let prepared = Step::<F>(PhantomData)
        .prepare::<NoCheckpointing>(guards)
        .compute_bound()
        .stateful();
    let (output, derivative) = forward(tensors);
    Tensor::from_primitive::<Autodiff<Flex>>(match prepared {
        OpsKind::Tracked(prepared) => prepared.finish(derivative, output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    })
}
