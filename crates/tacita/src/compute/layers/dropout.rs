//! Dropout whose masks come from the run's keys, record by record.

use crate::mechanism::masks;
use burn::module::{Content, DisplaySettings, Flag, Module, ModuleDisplay, Param};
use burn::nn;
use burn::tensor::{Tensor, TensorData};

/// Configuration of a [`Dropout`] layer.
#[derive(burn::config::Config, Debug)]
pub struct DropoutConfig {
    /// The probability that a value is set to zero in training.
    pub prob: f64,
}

impl DropoutConfig {
    /// The layer.
    ///
    /// # Panics
    /// If the probability is not in [0, 1).
    pub fn init(&self) -> Dropout {
        nn::DropoutConfig::new(self.prob).init().into()
    }
}

/// Sets values to zero at random in training, and multiplies the others by 1 / (1 − prob); see
/// [`nn::Dropout`].
///
/// In a private step [`nn::Dropout`] is refused: it draws the masks of a batch from one generator, so
/// that adding a record changes the masks of all others. Here a record's masks depend on the run's
/// secret keys, the step and the record alone.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use tacita::layers::DropoutConfig;
///
/// let dropout = DropoutConfig::new(0.5).init();
/// let kept = |device: Device| {
///     let output = dropout.forward(Tensor::<2>::ones([8, 100], &device));
///     output.into_data().iter::<f32>().filter(|value| *value > 0.0).count()
/// };
/// assert_eq!(kept(Device::default()), 800); // inference
/// assert!(kept(Device::default().autodiff()) < 600); // training
/// ```
#[derive(Module, Debug)]
#[module(custom_display)]
pub struct Dropout {
    /// The probability that a value is set to zero in training.
    pub prob: f64,
    /// Whether to behave as in training; cleared by `freeze`.
    pub training: Param<Flag>,
}

same_fields!(Dropout, nn::Dropout { prob, training });

impl Dropout {
    /// Drops values in training, where the input is on a device with autodiff; otherwise the input.
    ///
    /// # Shapes
    /// - input and output: `[batch, ...]`; dimension 0 is the sample
    ///
    /// # Guarantee
    /// A sample's mask depends on no other sample. Checked by
    /// `adding_a_record_moves_the_sum_at_most_the_bound_with_dropout`.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let device = input.device();
        if !self.training.is_enabled() || !device.is_autodiff() || self.prob == 0.0 {
            return input;
        }
        let dims = input.dims();
        let width = dims[1..].iter().product();
        match masks::next(1.0 - self.prob, dims[0], width) {
            Some(mask) => {
                let mask = Tensor::<D>::from_data(TensorData::new(mask, dims), &device);
                let dtype = input.dtype();
                input * mask.cast(dtype)
            }
            // The start-up check refuses such a model.
            None => input,
        }
    }
}

impl ModuleDisplay for Dropout {
    fn custom_settings(&self) -> Option<DisplaySettings> {
        DisplaySettings::new()
            .with_new_line_after_attribute(false)
            .optional()
    }

    fn custom_content(&self, content: Content) -> Option<Content> {
        let content = content.add("prob", &self.prob);
        match self.training.is_enabled() {
            true => content.optional(),
            false => content.add("training", &self.training).optional(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::masks::Masks;
    use burn::tensor::Device;

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().iter::<f32>().collect()
    }

    #[test]
    fn a_frozen_layer_and_one_at_inference_are_the_identity() {
        let device = Device::default();
        let dropout = DropoutConfig::new(0.5).init();
        let ones = vec![1.0; 400];
        assert_eq!(
            values(dropout.forward(Tensor::<2>::ones([4, 100], &device))),
            ones
        );
        let training = Tensor::<2>::ones([4, 100], &device.autodiff());
        assert_ne!(values(dropout.forward(training.clone())), ones);
        assert_eq!(values(dropout.freeze().forward(training.clone())), ones);
        assert_eq!(
            values(DropoutConfig::new(0.0).init().forward(training)),
            ones
        );
    }

    #[test]
    fn gradients_flow_where_values_are_kept() {
        let device = Device::default().autodiff();
        let input = Tensor::<3>::ones([2, 3, 20], &device).require_grad();
        let dropout = DropoutConfig::new(0.25).init();
        let output = Masks::public(&[4, 5]).during(|| dropout.forward(input.clone()));
        let gradients = output.clone().sum().backward();
        let gradient = input.grad(&gradients).map(values).unwrap_or_default();
        assert_eq!(gradient, values(output));
    }

    #[test]
    fn it_is_shown_as_burns() {
        let (ours, stock) = (
            DropoutConfig::new(0.5).init(),
            nn::DropoutConfig::new(0.5).init(),
        );
        assert_eq!(format!("{ours}"), format!("{stock}"));
    }
}
