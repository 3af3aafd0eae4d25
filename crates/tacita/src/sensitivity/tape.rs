//! The recording of one forward pass: what the private backward needs, and nothing else.
//!
//! Inside [`record`] every layer of [`crate::compute::layers`] computes its output from *untracked* weights
//! and makes that output a point at which the graph yields ∂L/∂y ([`probe`]). One backward pass then
//! gives every output gradient and never forms a weight gradient. A [`Rule`] turns an output gradient
//! into [`Contribution`]s: the per-sample gradients in factored form.

use crate::sensitivity::gradient::Contribution;
use burn::tensor::{Gradients, Tensor};
use std::cell::RefCell;

/// How a layer's output gradient becomes per-sample gradients of its parameters.
///
/// Closures implement it. The example is a layer of one's own: a learned scale per feature,
/// y = x ⊙ s, whose gradient for sample i is x_i ⊙ ∂y_i.
///
/// ```
/// use burn::module::{Module, Param};
/// use burn::tensor::Tensor;
/// use tacita::gradient::{Contribution, Target};
/// use tacita::tape;
///
/// #[derive(Module, Debug)]
/// struct Scale {
///     scale: Param<Tensor<1>>,
/// }
///
/// impl Scale {
///     fn forward(&self, x: Tensor<2>) -> Tensor<2> {
///         if !tape::is_recording() {
///             return x * self.scale.val().unsqueeze();
///         }
///         let y = x.clone() * self.scale.val().inner().unsqueeze();
///         let (y, probe) = tape::probe(y, None);
///         let (x, target) = (x.inner(), Target::of(&self.scale));
///         tape::on_backward(probe, move |output_gradient: Tensor<2>| {
///             vec![Contribution::direct(x * output_gradient, [target])]
///         });
///         y
///     }
/// }
///
/// // The rule is checked against plain autodiff, one sample at a time.
/// let device = burn::tensor::Device::default();
/// let model = Scale { scale: Param::from_tensor(Tensor::ones([3], &device.clone().autodiff())) };
/// let batch = Tensor::<1>::from_floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &device).reshape([2, 3]);
/// tacita::testkit::assert_matches_per_sample_loop(&model, 2, |model, samples| {
///     let batch = batch.clone().narrow(0, samples.start, samples.len());
///     model.forward(batch).sin().sum_dim(1).squeeze_dim(1)
/// });
/// ```
pub trait Rule<const D: usize>: 'static {
    /// The per-sample gradients of every parameter the layer used.
    ///
    /// # Shapes
    /// - `output_gradient`: the shape of the layer's output; dimension 0 is the sample.
    fn contributions(self, output_gradient: Tensor<D>) -> Vec<Contribution>;
}

impl<const D: usize, F> Rule<D> for F
where
    F: FnOnce(Tensor<D>) -> Vec<Contribution> + 'static,
{
    fn contributions(self, output_gradient: Tensor<D>) -> Vec<Contribution> {
        self(output_gradient)
    }
}

/// The leaf at which the graph yields the gradient of a layer's output.
#[derive(Debug)]
pub struct Probe<const D: usize> {
    leaf: Tensor<D>,
}

type Use = Box<dyn FnOnce(&mut Gradients) -> Vec<Contribution>>;

thread_local! {
    static RECORDING: RefCell<Option<Vec<Use>>> = const { RefCell::new(None) };
}

/// Whether the current thread is inside [`record`].
pub fn is_recording() -> bool {
    RECORDING.with(|uses| uses.borrow().is_some())
}

/// The uses of parameterised layers in one forward pass.
pub struct Tape {
    uses: Vec<Use>,
}

impl std::fmt::Debug for Tape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tape({} uses)", self.uses.len())
    }
}

/// Restores the outer recording even if the forward pass panics.
struct Restore {
    outer: Option<Vec<Use>>,
}

impl Drop for Restore {
    fn drop(&mut self) {
        RECORDING.with(|uses| *uses.borrow_mut() = self.outer.take());
    }
}

/// Runs a forward pass and keeps what its backward needs.
pub fn record<R>(forward: impl FnOnce() -> R) -> (R, Tape) {
    let _restore = Restore {
        outer: RECORDING.with(|uses| uses.borrow_mut().replace(Vec::new())),
    };
    let result = forward();
    let uses = RECORDING.with(|uses| uses.borrow_mut().take());
    (
        result,
        Tape {
            uses: uses.unwrap_or_default(),
        },
    )
}

/// Makes `y` a point at which the graph yields ∂L/∂y.
///
/// On the CPU and on CUDA GPUs a probe without bias is a node of the graph that costs nothing.
/// Elsewhere `bias`, broadcast to the shape of `y`, *is* the probe, so the addition the layer makes
/// anyway is the only cost. Where `y` is untracked (the first layer), the output itself becomes the leaf.
///
/// # Shapes
/// - `y`: any; dimension 0 is the sample.
/// - `bias`: broadcastable to `y`.
pub fn probe<const D: usize>(y: Tensor<D>, bias: Option<Tensor<D>>) -> (Tensor<D>, Probe<D>) {
    if !y.is_tracked() {
        let y = match bias {
            Some(bias) => y.inner() + bias.inner(),
            None => y.inner(),
        };
        let leaf = y.autodiff().require_grad();
        return (leaf.clone(), Probe { leaf });
    }
    let (shape, device) = (y.shape(), y.device().without_autodiff());
    let leaf = |values: Tensor<D>| values.expand(shape.clone()).autodiff().require_grad();
    if bias.is_none() {
        // Nobody looks at its values, so none are set.
        let leaf = leaf(Tensor::empty([1; D], &device));
        if let Some(y) = crate::compute::backend::probe(&y, &leaf) {
            return (y, Probe { leaf });
        }
    }
    let zero = || Tensor::zeros([1; D], &device);
    let leaf = leaf(bias.map_or_else(zero, Tensor::inner));
    (y + leaf.clone(), Probe { leaf })
}

/// Registers what to do with a probe's gradient. Does nothing outside [`record`].
///
/// A probe the loss does not depend on has no gradient; its rule is then not called.
pub fn on_backward<const D: usize>(probe: Probe<D>, rule: impl Rule<D>) {
    push(Box::new(move |gradients| {
        let output_gradient = probe.leaf.grad_remove(gradients);
        // The leaf may be a first layer's output, which is not needed any more.
        drop(probe);
        match output_gradient {
            Some(output_gradient) => rule.contributions(output_gradient),
            None => Vec::new(),
        }
    }));
}

/// As [`on_backward`] for a layer used once per time step: the rule gets the gradients of all steps,
/// stacked along dimension 1 (zero where the loss does not depend on a step).
///
/// # Shapes
/// - each probe: `[batch, features]`
/// - the rule's output gradient: `[batch, steps, features]`
pub fn on_backward_through_time(probes: Vec<Probe<2>>, rule: impl Rule<3>) {
    push(Box::new(move |gradients| {
        let steps: Vec<_> = probes
            .iter()
            .map(|probe| probe.leaf.grad_remove(gradients))
            .collect();
        if steps.iter().all(Option::is_none) {
            return Vec::new();
        }
        let steps = steps
            .into_iter()
            .zip(&probes)
            .map(|(step, probe)| match step {
                Some(step) => step.unsqueeze_dim(1),
                None => {
                    let device = probe.leaf.device().without_autodiff();
                    Tensor::<2>::zeros(probe.leaf.shape(), &device).unsqueeze_dim(1)
                }
            })
            .collect();
        rule.contributions(Tensor::cat(steps, 1))
    }));
}

fn push(layer_use: Use) {
    RECORDING.with(|uses| {
        if let Some(uses) = uses.borrow_mut().as_mut() {
            uses.push(layer_use);
        }
    });
}

impl Tape {
    /// Every contribution of the pass, in the order in which layers were used.
    pub fn contributions(self, gradients: &mut Gradients) -> Vec<Contribution> {
        self.uses
            .into_iter()
            .flat_map(|layer_use| layer_use(gradients))
            .collect()
    }
}
