//! Whether everything that is to be trained can learn.

use crate::error::PretrainedError;
use burn::module::{ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::tensor::{Gradients, Tensor};
use std::collections::HashSet;
use tacita::{Parameters, PrivateModel};

/// Steps in which every parameter must receive a gradient: B of a low-rank adapter is zero at first, so that A receives
/// none in the first.
const STEPS: usize = 3;
/// How far a step goes, relative to the gradient. Any number would do.
const RATE: f64 = 1e-2;

/// Makes three plain steps on a batch and refuses a trainable parameter that receives no gradient in any of them: it
/// would stay as it is while a budget is spent. The model itself is left as it was.
///
/// The batch must be synthetic. No record is looked at.
pub fn check_learns<B: Clone, M: PrivateModel<B>>(
    model: &M,
    synthetic: B,
) -> Result<(), PretrainedError> {
    let parameters = Parameters::of(model).map_err(|error| PretrainedError::Adapt {
        asked: "this".into(),
        why: error.to_string(),
    })?;
    let mut model = model.clone();
    let mut moved = Moved::default();
    for _ in 0..STEPS {
        let losses = model.losses(synthetic.clone());
        if !losses.is_tracked() {
            break;
        }
        moved.gradients = Some(losses.mean().backward());
        model.visit(&mut moved);
        model = model.map(&mut moved);
    }
    let stuck = parameters
        .list()
        .iter()
        .find(|one| !moved.ids.contains(&one.id));
    match stuck {
        None => Ok(()),
        Some(stuck) => Err(PretrainedError::Stuck {
            name: stuck.path.clone(),
        }),
    }
}

/// Parameters that received a gradient.
#[derive(Default)]
struct Moved {
    ids: HashSet<ParamId>,
    gradients: Option<Gradients>,
}

impl Moved {
    fn gradient<const D: usize>(&self, tensor: &Tensor<D>) -> Option<Tensor<D>> {
        tensor.grad(self.gradients.as_ref()?)
    }
}

impl ModuleVisitor for Moved {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradient(&param.val())
            && gradient.abs().max().into_scalar::<f32>() > 0.0
        {
            self.ids.insert(param.id);
        }
    }
}

impl ModuleMapper for Moved {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if !param.is_require_grad() {
            return param;
        }
        let values = param.val();
        match self.gradient(&values) {
            Some(gradient) => {
                let moved = values.inner() - gradient.mul_scalar(RATE);
                param.map(|_| Tensor::from_inner(moved).require_grad())
            }
            None => param,
        }
    }
}
