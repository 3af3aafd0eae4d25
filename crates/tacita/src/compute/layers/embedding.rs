//! A table of vectors looked up by token.

use crate::compute::backend::ops;
use crate::mechanism::initial_weights::{self, Fans};
use crate::sensitivity::gradient::{Contribution, Target};
use crate::sensitivity::tape;
use burn::module::{Module, Param};
use burn::nn::{self, Initializer};
use burn::tensor::{Int, Tensor};

layer_config! {
    /// Configuration of an [`Embedding`] layer.
    EmbeddingConfig(nn::EmbeddingConfig) => Embedding;
    new(n_embedding: usize, d_model: usize);
    with_initializer(Initializer),
}

/// A lookup table; see [`nn::Embedding`].
#[derive(Module, Debug)]
pub struct Embedding {
    /// `[n_embedding, d_model]`
    pub weight: Param<Tensor<2>>,
}

same_fields!(Embedding, nn::Embedding { weight });

impl Embedding {
    fn drawn(self, config: &nn::EmbeddingConfig) -> Self {
        let fans = Fans {
            input: None,
            output: None,
        };
        Self {
            weight: initial_weights::drawn(self.weight, &config.initializer, fans),
        }
    }

    /// Looks tokens up.
    ///
    /// # Shapes
    /// - input: `[batch, positions]`
    /// - output: `[batch, positions, d_model]`
    pub fn forward(&self, input: Tensor<2, Int>) -> Tensor<3> {
        if !tape::is_recording() || !self.weight.is_require_grad() {
            return ops::embedding(self.weight.val(), input);
        }
        let input = input.inner();
        let output = ops::embedding(self.weight.val().inner(), input.clone());
        let (output, probe) = tape::probe(output, None);
        let target = Target::of(&self.weight);
        tape::on_backward(probe, move |gradient: Tensor<3>| {
            vec![Contribution::rows(input, gradient, target)]
        });
        output
    }

    /// The mean of the tokens' vectors, without forming the vectors: what
    /// `self.forward(input).mean_dim(1)` computes, at a fraction of its memory traffic.
    ///
    /// # Shapes
    /// - input: `[batch, positions]`
    /// - output: `[batch, d_model]`
    pub fn forward_mean(&self, input: Tensor<2, Int>) -> Tensor<2> {
        if !tape::is_recording() {
            return ops::embedding_mean(self.weight.val(), input);
        }
        let input = input.inner();
        let output = ops::embedding_mean(self.weight.val().inner(), input.clone());
        let (output, probe) = tape::probe(output, None);
        let target = Target::of(&self.weight);
        tape::on_backward(probe, move |gradient: Tensor<2>| {
            let ([_, positions], [batch, width]) = (input.dims(), gradient.dims());
            let share = gradient / positions as f64;
            // One vector for all positions: a view, never copied.
            let right = share
                .unsqueeze_dim::<3>(1)
                .expand([batch, positions, width]);
            vec![Contribution::rows(input, right, target)]
        });
        output
    }

    /// Scores every row of the table against `hidden`: the output layer of a model that ties its
    /// output weights to its embedding. Both uses are summed before the norm.
    ///
    /// # Shapes
    /// - hidden: `[batch, positions, d_model]`
    /// - output: `[batch, positions, n_embedding]`
    pub fn tied_output(&self, hidden: Tensor<3>) -> Tensor<3> {
        if !tape::is_recording() || !self.weight.is_require_grad() {
            return hidden.matmul(self.weight.val().transpose().unsqueeze());
        }
        let weight = self.weight.val().inner();
        let output = hidden.clone().matmul(weight.transpose().unsqueeze());
        let (output, probe) = tape::probe(output, None);
        let (hidden, target) = (hidden.inner(), Target::of(&self.weight));
        tape::on_backward(probe, move |gradient: Tensor<3>| {
            vec![Contribution::outer(gradient, hidden, [target])]
        });
        output
    }
}
