//! Long short-term memory in both directions.

use super::Lstm;
use burn::module::Module;
use burn::nn::activation::ActivationConfig;
use burn::nn::{self, Initializer, LstmState};
use burn::tensor::Tensor;

layer_config! {
    /// Configuration of a [`BiLstm`] layer.
    BiLstmConfig(nn::BiLstmConfig) => BiLstm;
    new(d_input: usize, d_hidden: usize, bias: bool);
    with_initializer(Initializer), with_batch_first(bool), with_clip(Option<f64>),
    with_input_forget(bool), with_gate_activation(ActivationConfig),
    with_cell_activation(ActivationConfig), with_hidden_activation(ActivationConfig),
}

/// A bidirectional LSTM; see [`nn::BiLstm`].
#[derive(Module, Debug)]
pub struct BiLstm {
    /// Reads the sequence from its beginning.
    pub forward: Lstm,
    /// Reads the sequence from its end.
    pub reverse: Lstm,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Whether input is `[batch, positions, d_input]`.
    pub batch_first: bool,
}

same_fields!(BiLstm, nn::BiLstm { d_hidden, batch_first; forward, reverse });

impl BiLstm {
    fn drawn(self, config: &nn::BiLstmConfig) -> Self {
        Self {
            forward: self.forward.drawn_as_part(&config.initializer),
            reverse: self.reverse.drawn_as_part(&config.initializer),
            ..self
        }
    }

    /// Reads a sequence in both directions.
    ///
    /// # Shapes
    /// - input: `[batch, positions, d_input]` (`[positions, batch, d_input]` unless `batch_first`)
    /// - output: likewise with `2 · d_hidden`; states `[2, batch, d_hidden]`
    pub fn forward(
        &self,
        input: Tensor<3>,
        state: Option<LstmState<3>>,
    ) -> (Tensor<3>, LstmState<3>) {
        let input = if self.batch_first {
            input
        } else {
            input.swap_dims(0, 1)
        };
        let direction = |index: usize| {
            state.as_ref().map(|state| {
                let pick = |tensor: &Tensor<3>| tensor.clone().narrow(0, index, 1).squeeze_dim(0);
                LstmState::new(pick(&state.cell), pick(&state.hidden))
            })
        };
        let (ahead, last) = self.forward.read(input.clone(), direction(0), false);
        let (back, first) = self.reverse.read(input, direction(1), true);
        let output = Tensor::cat(vec![ahead, back], 2);
        let output = if self.batch_first {
            output
        } else {
            output.swap_dims(0, 1)
        };
        let state = LstmState::new(
            Tensor::stack(vec![last.cell, first.cell], 0),
            Tensor::stack(vec![last.hidden, first.hidden], 0),
        );
        (output, state)
    }
}
