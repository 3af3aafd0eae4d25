//! y = x W + b.

use crate::gradient::{Contribution, Target};
use crate::tape;
use burn::module::{Module, Param};
use burn::nn::{self, Initializer, LinearLayout};
use burn::tensor::{Tensor, module::linear};

layer_config! {
    /// Configuration of a [`Linear`] layer.
    LinearConfig(nn::LinearConfig) -> Linear;
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
    /// Applies the layer to the last dimension.
    ///
    /// # Shapes
    /// - input: `[batch, ..., d_input]`
    /// - output: `[batch, ..., d_output]`
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        // A vector has no sample dimension; left tracked, it is refused as a use outside the tape.
        if !tape::is_recording() || D == 1 {
            let bias = self.bias.as_ref().map(Param::val);
            return linear(input, self.weight.val(), bias);
        }
        let mut dims = input.dims();
        let [d_input, d_output] = self.weight.dims();
        let (batch, positions) = (dims[0], dims[1..D - 1].iter().product::<usize>());
        let input = input.reshape([batch * positions, d_input]);
        let output = input.clone().matmul(self.weight.val().inner());
        let bias = self.bias.as_ref().map(|bias| bias.val().unsqueeze());
        let (output, probe) = tape::probe(output, bias);

        let input = input.inner().reshape([batch, positions, d_input]);
        let weight = Target::of(&self.weight);
        let bias = self.bias.as_ref().map(Target::of);
        tape::on_backward(probe, move |gradient: Tensor<2>| {
            let gradient = gradient.reshape([batch, positions, d_output]);
            let mut contributions = vec![Contribution::outer(input, gradient.clone(), [weight])];
            if let Some(bias) = bias {
                contributions.push(Contribution::direct(gradient.sum_dim(1), [bias]));
            }
            contributions
        });
        dims[D - 1] = d_output;
        output.reshape(dims)
    }
}
