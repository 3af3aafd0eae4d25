//! A tensor of the CPU backend as a slice.

use burn::backend::Flex;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{DType, Shape, TensorData};

/// Values in row-major order, shared rather than copied where the tensor has that order.
#[derive(Debug, Clone)]
pub(crate) struct Values {
    tensor: FloatTensor<Flex>,
}

impl Values {
    /// The values of a tensor, put in order.
    pub fn of(tensor: FloatTensor<Flex>) -> Self {
        let tensor = if tensor.is_contiguous() {
            tensor
        } else {
            tensor.to_contiguous()
        };
        Self { tensor }
    }

    /// New values.
    pub fn new(values: Vec<f32>, shape: impl Into<Shape>) -> Self {
        Self {
            tensor: FloatTensor::<Flex>::from_data(TensorData::new(values, shape)),
        }
    }

    /// As a slice.
    pub fn slice(&self) -> &[f32] {
        // Only tensors of f32 come here (`Input::of` refuses others), and `of` put them in order.
        self.tensor.as_slice().unwrap_or_default()
    }

    /// Sizes of the dimensions.
    pub fn dims<const D: usize>(&self) -> [usize; D] {
        self.tensor.layout().shape().dims()
    }

    pub fn into_tensor(self) -> FloatTensor<Flex> {
        self.tensor
    }

    /// Changes the values in place, or in a copy if somebody else holds them.
    pub fn change(mut self, change: impl FnOnce(&mut [f32])) -> Self {
        let bounds = self.tensor.layout().contiguous_offsets();
        let values = self.tensor.storage_mut::<f32>();
        match bounds {
            Some((start, end)) => change(&mut values[start..end]),
            None => unreachable!("values are in order"),
        }
        self
    }
}

pub(super) fn is_single_precision(tensor: &FloatTensor<Flex>) -> bool {
    tensor.dtype() == DType::F32
}
