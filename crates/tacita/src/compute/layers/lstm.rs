//! Long short-term memory.

use super::GateController;
use super::gate::{SideBySide, column_blocks, position, sequence};
use crate::compute::backend::is_gpu;
use crate::compute::backend::ops;
use crate::sensitivity::gradient::Contribution;
use crate::sensitivity::tape;
use burn::module::Module;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::{self, Initializer, LstmState};
use burn::tensor::Tensor;

layer_config! {
    /// Configuration of an [`Lstm`] layer.
    LstmConfig(nn::LstmConfig) => Lstm;
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
    fn drawn(self, config: &nn::LstmConfig) -> Self {
        self.drawn_as_part(&config.initializer)
    }

    /// The layer as a part of another one.
    pub(super) fn drawn_as_part(self, initializer: &Initializer) -> Self {
        Self {
            input_gate: self.input_gate.drawn(initializer),
            forget_gate: self.forget_gate.map(|gate| gate.drawn(initializer)),
            output_gate: self.output_gate.drawn(initializer),
            cell_gate: self.cell_gate.drawn(initializer),
            ..self
        }
    }

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
        if self.batch_first {
            return self.read(input, state, self.reverse);
        }
        let (output, state) = self.read(input.swap_dims(0, 1), state, self.reverse);
        (output.swap_dims(0, 1), state)
    }

    /// Reads `[batch, positions, d_input]` in the given direction.
    pub(super) fn read(
        &self,
        input: Tensor<3>,
        state: Option<LstmState<2>>,
        reverse: bool,
    ) -> (Tensor<3>, LstmState<2>) {
        if let Some(read) = self.scan(&input, state.as_ref(), reverse) {
            return read;
        }
        // Burn multiplies for each gate apart, and a GPU waits for each launch.
        if tape::is_recording() || is_gpu(&input.device()) {
            return self.unroll(input, state, reverse);
        }
        let stock = nn::Lstm {
            batch_first: true,
            reverse,
            ..nn::Lstm::from(self.clone())
        };
        stock.forward(input, state)
    }

    /// The whole sequence by one kernel of the CPU, in the graph or recorded.
    fn scan(
        &self,
        input: &Tensor<3>,
        state: Option<&LstmState<2>>,
        reverse: bool,
    ) -> Option<(Tensor<3>, LstmState<2>)> {
        let textbook = matches!(
            (
                &self.gate_activation,
                &self.cell_activation,
                &self.hidden_activation
            ),
            (
                Activation::Sigmoid(_),
                Activation::Tanh(_),
                Activation::Tanh(_)
            )
        );
        let forget = self.forget_gate.as_ref()?;
        if !textbook || self.clip.is_some() || is_gpu(&input.device()) {
            return None;
        }
        let [batch, positions, features] = input.dims();
        let gates = [&self.input_gate, forget, &self.cell_gate, &self.output_gate];
        let mut inputs = SideBySide::new(gates.map(|gate| &gate.input_transform));
        let mut hiddens = SideBySide::new(gates.map(|gate| &gate.hidden_transform));
        if tape::is_recording() {
            (inputs, hiddens) = (inputs.untracked(), hiddens.untracked());
        }
        let read = match reverse {
            true => input.clone().flip([1]),
            false => input.clone(),
        };
        let rows = read.clone().reshape([batch * positions, features]);
        let gates = ops::linear(rows, inputs.weight.clone(), both_biases(&inputs, &hiddens));
        let mut gates = gates.reshape([batch, positions, 4 * self.d_hidden]);
        let mut probe = None;
        if tape::is_recording() {
            let (probed, leaf) = tape::probe(gates, None);
            (gates, probe) = (probed, Some(leaf));
        }
        let LstmState { cell, hidden } = match state {
            Some(state) => state.clone(),
            None => LstmState::initial([batch, self.d_hidden], &input.device()),
        };
        let (output, cell) = ops::lstm(gates, &hiddens.weight, &hidden, &cell)?;
        if let Some(probe) = probe {
            let mut before = vec![hidden.inner().unsqueeze_dim(1)];
            if positions > 1 {
                before.push(output.clone().inner().narrow(1, 0, positions - 1));
            }
            let before = Tensor::cat(before, 1);
            let read = read.inner();
            tape::on_backward(probe, move |gradient: Tensor<3>| {
                contributions(read, before, gradient, inputs, hiddens)
            });
        }
        let hidden = position(&output, positions - 1);
        let output = match reverse {
            true => output.flip([1]),
            false => output,
        };
        Some((output, LstmState::new(cell, hidden)))
    }

    /// Step by step, all gates in one matrix product. Recorded, they are one outer product over all
    /// steps: uses are summed over time before the norm.
    fn unroll(
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
        let mut inputs = SideBySide::new(gates.clone().map(|gate| &gate.input_transform));
        let mut hiddens = SideBySide::new(gates.map(|gate| &gate.hidden_transform));
        let recording = tape::is_recording();
        if recording {
            (inputs, hiddens) = (inputs.untracked(), hiddens.untracked());
        }
        let bias = both_biases(&inputs, &hiddens).map(Tensor::unsqueeze);
        let device = input.device();
        let LstmState {
            mut cell,
            mut hidden,
        } = state.unwrap_or_else(|| LstmState::initial([batch, self.d_hidden], &device));
        let (mut probes, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for step in 0..positions {
            let index = if reverse { positions - 1 - step } else { step };
            let gates = ops::matmul(position(&input, index), inputs.weight.clone())
                + ops::matmul(hidden.clone(), hiddens.weight.clone());
            let gates = if recording {
                let (gates, probe) = tape::probe(gates, bias.clone());
                probes.push(probe);
                before.push(hidden.inner());
                gates
            } else {
                bias.iter().fold(gates, |gates, bias| gates + bias.clone())
            };
            (cell, hidden) = self.step(gates, cell);
            after.push(hidden.clone());
        }

        if recording {
            let read = match reverse {
                true => input.inner().flip([1]),
                false => input.inner(),
            };
            tape::on_backward_through_time(probes, move |gradient: Tensor<3>| {
                contributions(read, sequence(before), gradient, inputs, hiddens)
            });
        }
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

/// The gates' biases: one of the input's map and one of the hidden state's.
fn both_biases(inputs: &SideBySide, hiddens: &SideBySide) -> Option<Tensor<1>> {
    match (inputs.bias.clone(), hiddens.bias.clone()) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// The gates' gradients: outer products over all steps.
///
/// # Shapes
/// - read: `[batch, steps, d_input]`, before: `[batch, steps, d_hidden]`
/// - gradient: `[batch, steps, Σ d_hidden]`
fn contributions(
    read: Tensor<3>,
    before: Tensor<3>,
    gradient: Tensor<3>,
    inputs: SideBySide,
    hiddens: SideBySide,
) -> Vec<Contribution> {
    let sums = gradient.clone().sum_dim(1);
    let mut contributions = vec![
        Contribution::outer(read, gradient.clone(), inputs.weights),
        Contribution::outer(before, gradient, hiddens.weights),
    ];
    for biases in [inputs.biases, hiddens.biases] {
        if !biases.is_empty() {
            contributions.push(Contribution::direct(sums.clone(), biases));
        }
    }
    contributions
}
