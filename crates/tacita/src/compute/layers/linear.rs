//! y = x W + b.

use crate::compute::backend::ops;
use crate::mechanism::initial_weights::{self, Fans};
use crate::sensitivity::gradient::{Contribution, Target};
use crate::sensitivity::tape;
use burn::module::{Module, Param};
use burn::nn::{self, Initializer, LinearLayout};
use burn::tensor::Tensor;

layer_config! {
    /// Configuration of a [`Linear`] layer.
    LinearConfig(nn::LinearConfig) => Linear;
    new(d_input: usize, d_output: usize);
    with_bias(bool), with_initializer(Initializer), with_layout(LinearLayout),
}

/// A linear transformation of the last dimension; see [`nn::Linear`].
#[derive(Module, Debug)]
pub struct Linear {
    /// `[d_input, d_output]`
    pub weight: Param<Tensor<2>>,
    /// `[d_output]`
    pub bias: Option<Param<Tensor<1>>>,
}

same_fields!(Linear, nn::Linear { weight, bias });

impl Linear {
    fn drawn(self, config: &nn::LinearConfig) -> Self {
        let (input, output) = (config.d_input, config.d_output);
        let fans = match config.layout {
            LinearLayout::Row => Fans::new(input, output),
            // As Burn has it.
            LinearLayout::Col => Fans::new(output, input),
        };
        self.drawn_by(&config.initializer, fans)
    }

    /// The layer as a part of another one.
    pub(super) fn drawn_as_part(self, initializer: &Initializer) -> Self {
        let [input, output] = self.weight.lazy_shape().dims();
        self.drawn_by(initializer, Fans::new(input, output))
    }

    fn drawn_by(self, initializer: &Initializer, fans: Fans) -> Self {
        let weight = initial_weights::drawn(self.weight, initializer, fans);
        let bias = self
            .bias
            .map(|bias| initial_weights::drawn(bias, initializer, fans));
        Self { weight, bias }
    }

    /// Applies the layer to the last dimension.
    ///
    /// # Shapes
    /// - input: `[batch, ..., d_input]`
    /// - output: `[batch, ..., d_output]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let mut dims = input.dims();
        let [d_input, d_output] = self.weight.dims();
        let rows = dims[..D - 1].iter().product::<usize>();
        let input = input.reshape([rows, d_input]);
        dims[D - 1] = d_output;
        let bias = self.bias.as_ref().map(Param::val);
        let weight_is_frozen = !self.weight.is_require_grad();
        let bias_is_frozen = !(self.bias.as_ref()).is_some_and(|bias| bias.is_require_grad());
        // A vector has no sample dimension; left tracked, it is refused as a use outside the tape. What is frozen has
        // no gradient to note.
        if !tape::is_recording() || D == 1 || (weight_is_frozen && bias_is_frozen) {
            return ops::linear(input, self.weight.val(), bias).reshape(dims);
        }
        let (batch, positions) = (dims[0], rows / dims[0].max(1));
        let weight = self.weight.val().inner();
        let output = ops::linear(input.clone(), weight, bias.map(Tensor::inner));
        let (output, probe) = tape::probe(output, None);

        // A frozen weight needs no input kept until the backward pass.
        let of_weight = (!weight_is_frozen).then(|| {
            let input = input.inner().reshape([batch, positions, d_input]);
            (input, Target::of(&self.weight))
        });
        let bias = self.bias.as_ref().filter(|_| !bias_is_frozen);
        let bias = bias.map(Target::of);
        tape::on_backward(probe, move |gradient: Tensor<2>| {
            let gradient = gradient.reshape([batch, positions, d_output]);
            let mut contributions = Vec::with_capacity(2);
            if let Some((input, weight)) = of_weight {
                contributions.push(Contribution::outer(input, gradient.clone(), [weight]));
            }
            if let Some(bias) = bias {
                // One position is its own sum.
                let sums = match positions {
                    1 => gradient,
                    _ => gradient.sum_dim(1),
                };
                contributions.push(Contribution::direct(sums, [bias]));
            }
            contributions
        });
        output.reshape(dims)
    }
}
