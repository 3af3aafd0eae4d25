//! A tensor of the CPU backend as a slice.

use burn::backend::Flex;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{DType, Shape, Tensor, TensorData};

/// Values in row-major order, shared rather than copied where the tensor has that order.
#[derive(Debug, Clone)]
pub(super) struct Values {
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

    /// The values of a tensor outside the graph, if the CPU backend holds it in single precision.
    pub fn free<const D: usize>(tensor: &Tensor<D>) -> Option<Self> {
        let tensor = tensor.clone().try_into_primitive::<Flex>().ok()?;
        is_single_precision(&tensor).then(|| Self::of(tensor))
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

    /// As a vector, moved if nobody else holds the values.
    pub fn into_vec(self) -> Vec<f32> {
        self.tensor.into_data().try_into_vec().unwrap_or_default()
    }

    /// Sizes of the dimensions.
    pub fn dims<const D: usize>(&self) -> [usize; D] {
        self.tensor.layout().shape().dims()
    }

    pub fn into_tensor(self) -> FloatTensor<Flex> {
        self.tensor
    }
}

impl<const D: usize> From<Values> for Tensor<D> {
    fn from(values: Values) -> Self {
        Self::from_primitive::<Flex>(values.tensor)
    }
}

pub(super) fn is_single_precision(tensor: &FloatTensor<Flex>) -> bool {
    tensor.dtype() == DType::F32
}
