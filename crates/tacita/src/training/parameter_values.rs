//! The values of a model's trainable parameters, flat, in the order in which it visits them.

use crate::compute::flat::{from_vec, to_vec};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::Tensor;

/// Reads the parameters.
pub(crate) fn tensors<M: Module>(model: &M) -> Vec<Tensor<1>> {
    let mut read = Read(Vec::new());
    model.visit(&mut read);
    read.0
}

/// Reads the parameters into memory.
pub(crate) fn values<M: Module>(model: &M) -> Vec<Vec<f32>> {
    tensors(model).iter().map(to_vec).collect()
}

/// The model with other parameters; none if they do not fit.
pub(crate) fn with_values<M: Module>(model: M, values: &[Vec<f32>]) -> Option<M> {
    let mine = tensors(&model);
    let fits = (mine.iter().zip(values)).all(|(mine, theirs)| mine.dims()[0] == theirs.len());
    if mine.len() != values.len() || !fits {
        return None;
    }
    let tensors: Vec<Tensor<1>> = (mine.iter().zip(values))
        .map(|(mine, values)| from_vec(values, &mine.device()))
        .collect();
    Some(with_tensors(model, &tensors))
}

/// The model with other parameters.
pub(crate) fn with_tensors<M: Module>(model: M, tensors: &[Tensor<1>]) -> M {
    model.map(&mut Write(tensors.iter()))
}

struct Read(Vec<Tensor<1>>);

impl ModuleVisitor for Read {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.is_require_grad() {
            let elements = param.lazy_shape().num_elements();
            self.0.push(param.val().inner().reshape([elements]));
        }
    }
}

struct Write<'a>(std::slice::Iter<'a, Tensor<1>>);

impl ModuleMapper for Write<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if !param.is_require_grad() {
            return param;
        }
        match self.0.next() {
            None => param,
            Some(values) => replace(param, |_| values.clone()),
        }
    }
}

/// A parameter with the value that a function of its flat value gives, tracked as before.
pub(crate) fn replace<const D: usize>(
    param: Param<Tensor<D>>,
    value: impl FnOnce(Tensor<1>) -> Tensor<1>,
) -> Param<Tensor<D>> {
    let (id, tensor, mapper) = param.consume();
    let (device, shape) = (tensor.device(), tensor.shape());
    let strategy = tensor.gradient_checkpointing_strategy();
    let flat = tensor.inner().reshape([shape.num_elements()]);
    let new: Tensor<D> = value(flat).reshape(shape);
    let mut new = Tensor::from_inner(new).to_device(&device);
    if let Some(strategy) = strategy {
        new = new.with_gradient_checkpointing_strategy(strategy);
    }
    Param::from_mapped_value(id, new.require_grad(), mapper)
}
