//! An operation of our own as a node of Burn's graph, on any backend.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Backend, DispatchKindConversion, DispatchTensor};
use burn::tensor::{DType, Tensor};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A backend whose tensors can be taken out of Burn's and put back.
pub(crate) trait Holds<B: Backend>:
    DispatchKindConversion<B> + DispatchKindConversion<Autodiff<B>>
{
}

impl<B: Backend, T> Holds<B> for T where
    T: DispatchKindConversion<B> + DispatchKindConversion<Autodiff<B>>
{
}

/// A tensor of one backend, in the graph or not.
pub(crate) enum Input<B: Backend> {
    Free(FloatTensor<B>),
    Graph(FloatTensor<Autodiff<B>>),
}

impl<B: Backend> Input<B>
where
    DispatchTensor: Holds<B>,
{
    /// The tensor, if the backend holds it in single precision.
    pub fn of<const D: usize>(tensor: &Tensor<D>) -> Option<Self> {
        Self::take(tensor.clone())
    }

    /// As [`Input::of`], giving the tensor up, so that nobody shares its values any more.
    pub fn take<const D: usize>(tensor: Tensor<D>) -> Option<Self> {
        if tensor.dtype() != DType::F32 {
            return None;
        }
        if !tensor.device().is_autodiff() {
            return tensor.try_into_primitive::<B>().ok().map(Self::Free);
        }
        let graph = tensor.try_into_primitive::<Autodiff<B>>().ok()?;
        Some(Self::Graph(graph))
    }
}

/// What an operation keeps of its forward pass, and its derivative.
pub(crate) trait Derivative<B: Backend, const N: usize>:
    Clone + Debug + Send + 'static
{
    /// The gradient of each input that is `wanted`.
    fn gradients(
        self,
        output_gradient: FloatTensor<B>,
        wanted: [bool; N],
    ) -> [Option<FloatTensor<B>>; N];
}

#[derive(Debug)]
struct Step<D>(PhantomData<D>);

impl<B: Backend, const N: usize, D: Derivative<B, N>> Backward<B, N> for Step<D> {
    type State = D;

    fn backward(self, ops: Ops<Self::State, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let output_gradient = gradients.consume::<B>(&ops.node);
        let wanted = ops.parents.each_ref().map(Option::is_some);
        let inputs = ops.state.gradients(output_gradient, wanted);
        for (parent, gradient) in ops.parents.into_iter().zip(inputs) {
            if let Some((parent, gradient)) = parent.zip(gradient) {
                gradients.register::<B>(parent.id, gradient);
            }
        }
    }
}

/// Runs an operation and, if any input is in the graph, puts it there.
///
/// `forward` gets the inputs and gives the output and the derivative.
pub(crate) fn apply<B: Backend, const N: usize, const D: usize, F: Derivative<B, N>>(
    inputs: [Input<B>; N],
    forward: impl FnOnce([FloatTensor<B>; N]) -> (FloatTensor<B>, F),
) -> Tensor<D>
where
    DispatchTensor: Holds<B>,
{
    let in_graph = inputs.iter().any(|input| matches!(input, Input::Graph(_)));
    if !in_graph {
        let tensors = inputs.map(|input| match input {
            Input::Free(tensor) => tensor,
            Input::Graph(tensor) => tensor.into_primitive(),
        });
        return Tensor::from_primitive::<B>(forward(tensors).0);
    }
    let inputs = inputs.map(|input| match input {
        Input::Free(tensor) => Autodiff::<B>::from_inner(tensor),
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
    Tensor::from_primitive::<Autodiff<B>>(match prepared {
        OpsKind::Tracked(prepared) => prepared.finish(derivative, output),
        OpsKind::UnTracked(prepared) => prepared.finish(output),
    })
}

/// Both the output and the leaf have the output's gradient.
#[derive(Debug, Clone)]
struct SameGradient;

impl<B: Backend> Derivative<B, 2> for SameGradient {
    fn gradients(
        self,
        output_gradient: FloatTensor<B>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<B>>; 2] {
        wanted.map(|wanted| wanted.then(|| output_gradient.clone()))
    }
}

/// `y` as it is, with `leaf` receiving its gradient.
pub(crate) fn probe<B: Backend, const D: usize>(
    y: &Tensor<D>,
    leaf: &Tensor<D>,
) -> Option<Tensor<D>>
where
    DispatchTensor: Holds<B>,
{
    let inputs = [Input::<B>::of(y)?, Input::of(leaf)?];
    Some(apply(inputs, |[y, _]| (y, SameGradient)))
}
