//! Long short-term memory.

use super::GateController;
use super::gate::{SideBySide, column_blocks, position, sequence};
use crate::gradient::Contribution;
use crate::tape;
use burn::module::Module;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::{self, Initializer, LstmState};
use burn::tensor::Tensor;

layer_config! {
    /// Configuration of an [`Lstm`] layer.
    LstmConfig(nn::LstmConfig) -> Lstm;
    new(d_input: usize, d_hidden: usize, bias: bool);
    with_initializer(Initializer), with_batch_first(bool), with_reverse(bool),
    with_clip(Option<f64>), with_input_forget(bool), with_gate_activation(ActivationConfig),
    with_cell_activation(ActivationConfig), with_hidden_activation(ActivationConfig),
}

/// A unidirectional LSTM; see [`nn::Lstm`].
#[derive(Module, Debug)]
pub struct Lstm {
    /// What to store in the cell.
    pub input_gate: GateController,
    /// What to keep in the cell; absent when coupled to the input gate.
    pub forget_gate: Option<GateController>,
    /// What to output from the cell.
    pub output_gate: GateController,
    /// The candidate for the cell.
    pub cell_gate: GateController,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Whether input is `[batch, positions, d_input]`.
    pub batch_first: bool,
    /// Whether the sequence is read from its end.
    pub reverse: bool,
    /// Cell values are clipped to ± this.
    pub clip: Option<f64>,
    /// Whether the forget gate is 1 − the input gate.
    pub input_forget: bool,
    /// Activation of input, forget and output gates.
    pub gate_activation: Activation,
    /// Activation of the candidate.
    pub cell_activation: Activation,
    /// Activation of the cell before output.
    pub hidden_activation: Activation,
}

impl From<nn::Lstm> for Lstm {
    fn from(stock: nn::Lstm) -> Self {
        Self {
            input_gate: stock.input_gate.into(),
            forget_gate: stock.forget_gate.map(Into::into),
            output_gate: stock.output_gate.into(),
            cell_gate: stock.cell_gate.into(),
            d_hidden: stock.d_hidden,
            batch_first: stock.batch_first,
            reverse: stock.reverse,
            clip: stock.clip,
            input_forget: stock.input_forget,
            gate_activation: stock.gate_activation,
            cell_activation: stock.cell_activation,
            hidden_activation: stock.hidden_activation,
        }
    }
}

impl From<Lstm> for nn::Lstm {
    fn from(layer: Lstm) -> Self {
        Self {
            input_gate: layer.input_gate.into(),
            forget_gate: layer.forget_gate.map(Into::into),
            output_gate: layer.output_gate.into(),
            cell_gate: layer.cell_gate.into(),
            d_hidden: layer.d_hidden,
            batch_first: layer.batch_first,
            reverse: layer.reverse,
            clip: layer.clip,
            input_forget: layer.input_forget,
            gate_activation: layer.gate_activation,
            cell_activation: layer.cell_activation,
            hidden_activation: layer.hidden_activation,
        }
    }
}

impl Lstm {
    /// Reads a sequence.
    ///
    /// # Shapes
    /// - input: `[batch, positions, d_input]` (`[positions, batch, d_input]` unless `batch_first`)
    /// - output: likewise with `d_hidden`; states `[batch, d_hidden]`
    pub fn forward(
        &self,
        input: Tensor<3>,
        state: Option<LstmState<2>>,
    ) -> (Tensor<3>, LstmState<2>) {
        if !tape::is_recording() {
            return nn::Lstm::from(self.clone()).forward(input, state);
        }
        if self.batch_first {
            return self.record(input, state, self.reverse);
        }
        let (output, state) = self.record(input.swap_dims(0, 1), state, self.reverse);
        (output.swap_dims(0, 1), state)
    }

    /// The recorded pass. All gates are one matrix product per step, and one outer product over all
    /// steps: uses are summed over time before the norm.
    pub(super) fn record(
        &self,
        input: Tensor<3>,
        state: Option<LstmState<2>>,
        reverse: bool,
    ) -> (Tensor<3>, LstmState<2>) {
        let [batch, positions, _] = input.dims();
        let gates = [
            Some(&self.input_gate),
            Some(&self.output_gate),
            Some(&self.cell_gate),
        ]
        .into_iter()
        .chain([self.forget_gate.as_ref()])
        .flatten();
        let inputs = SideBySide::new(gates.clone().map(|gate| &gate.input_transform));
        let hiddens = SideBySide::new(gates.map(|gate| &gate.hidden_transform));
        let bias = match (inputs.bias, hiddens.bias) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        let device = input.device();
        let LstmState {
            mut cell,
            mut hidden,
        } = state.unwrap_or_else(|| LstmState::initial([batch, self.d_hidden], &device));
        let (mut probes, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for step in 0..positions {
            let index = if reverse { positions - 1 - step } else { step };
            let gates = position(&input, index).matmul(inputs.weight.clone())
                + hidden.clone().matmul(hiddens.weight.clone());
            let (gates, probe) = tape::probe(gates, bias.clone());
            probes.push(probe);
            before.push(hidden.inner());
            (cell, hidden) = self.step(gates, cell);
            after.push(hidden.clone());
        }

        let read = if reverse {
            input.inner().flip([1])
        } else {
            input.inner()
        };
        tape::on_backward_through_time(probes, move |gradient: Tensor<3>| {
            let mut contributions = vec![
                Contribution::outer(read, gradient.clone(), inputs.weights),
                Contribution::outer(sequence(before), gradient.clone(), hiddens.weights),
            ];
            for biases in [inputs.biases, hiddens.biases] {
                if !biases.is_empty() {
                    contributions.push(Contribution::direct(gradient.clone().sum_dim(1), biases));
                }
            }
            contributions
        });
        if reverse {
            after.reverse();
        }
        (sequence(after), LstmState::new(cell, hidden))
    }

    /// New cell and hidden state from the gates' pre-activations (input, output, cell, forget).
    fn step(&self, gates: Tensor<2>, cell: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let width = self.d_hidden;
        let gate = |block: usize| gates.clone().narrow(1, block * width, width);
        // Input and output gates lie side by side and share their activation.
        let open = self
            .gate_activation
            .forward(gates.clone().narrow(1, 0, 2 * width));
        let [input, output] = column_blocks(open);
        let candidate = self.cell_activation.forward(gate(2));
        let forget = if self.forget_gate.is_some() {
            self.gate_activation.forward(gate(3))
        } else {
            input.clone().neg().add_scalar(1.0)
        };
        let cell = forget * cell + input * candidate;
        let cell = match self.clip {
            Some(clip) => cell.clamp(-clip, clip),
            None => cell,
        };
        let hidden = output * self.hidden_activation.forward(cell.clone());
        (cell, hidden)
    }
}
