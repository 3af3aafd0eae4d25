//! Rotary positions.

use burn::tensor::{Device, Tensor, TensorData};

/// Cosines and sines of the angles by which pairs of values are turned (Su et al. 2021, arXiv:2104.09864, §3.2). As
/// in the hub's Llama, value i of a head is paired with value i + width / 2.
pub(super) struct Rotary {
    cosines: Tensor<4>,
    sines: Tensor<4>,
}

impl Rotary {
    /// Angles of `count` positions from `first` on, for heads of this width.
    pub fn new(base: f64, width: usize, first: usize, count: usize, device: &Device) -> Self {
        let pairs = width / 2;
        // In single precision, as the models were trained.
        let angles = (first..first + count).flat_map(|position| {
            (0..pairs).map(move |pair| {
                let frequency = base.powf(-(2.0 * pair as f64) / width as f64) as f32;
                position as f32 * frequency
            })
        });
        let angles: Vec<f32> = angles.collect();
        let device = device.clone().without_autodiff();
        let table = |function: fn(f32) -> f32| {
            let values: Vec<f32> = angles.iter().map(|angle| function(*angle)).collect();
            Tensor::from_data(TensorData::new(values, [1, count, 1, pairs]), &device)
        };
        Self {
            cosines: table(f32::cos),
            sines: table(f32::sin),
        }
    }

    /// Turns every head of a sequence.
    ///
    /// # Shapes
    /// - sequence and result: `[batch, count, heads · width]`
    pub fn turn(&self, sequence: Tensor<3>) -> Tensor<3> {
        let shape = sequence.dims();
        let [_, _, _, pairs] = self.cosines.dims();
        let heads = sequence.reshape([shape[0], shape[1], shape[2] / (2 * pairs), 2 * pairs]);
        let (left, right) = (
            heads.clone().narrow(3, 0, pairs),
            heads.narrow(3, pairs, pairs),
        );
        let (cosines, sines) = (self.cosines.clone(), self.sines.clone());
        let turned = vec![
            left.clone() * cosines.clone() - right.clone() * sines.clone(),
            right * cosines + left * sines,
        ];
        Tensor::cat(turned, 3).reshape(shape)
    }
}
