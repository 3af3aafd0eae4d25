//! Flat tensors and vectors of the host.

use burn::tensor::{Device, Tensor, TensorData};

/// The values of a flat tensor.
pub(crate) fn to_vec(tensor: &Tensor<1>) -> Vec<f32> {
    tensor.to_data().iter::<f32>().collect()
}

/// A flat tensor.
pub(crate) fn from_vec(values: &[f32], device: &Device) -> Tensor<1> {
    let data = TensorData::new(values.to_vec(), [values.len()]);
    Tensor::from_data(data, device)
}
