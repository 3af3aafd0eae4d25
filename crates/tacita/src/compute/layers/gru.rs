//! Gated recurrent unit.

use super::GateController;
use super::gate::{SideBySide, column_blocks, position, sequence};
use crate::compute::backend::ops;
use crate::sensitivity::gradient::Contribution;
use crate::sensitivity::tape::{self, Probe};
use burn::module::Module;
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::{self, Initializer};
use burn::tensor::Tensor;

layer_config! {
    /// Configuration of a [`Gru`] layer.
    GruConfig(nn::GruConfig) => Gru;
    new(d_input: usize, d_hidden: usize, bias: bool);
    with_reset_after(bool), with_initializer(Initializer),
    with_gate_activation(ActivationConfig), with_hidden_activation(ActivationConfig),
    with_clip(Option<f64>),
}

/// A unidirectional GRU; see [`nn::Gru`].
#[derive(Module, Debug)]
pub struct Gru {
    /// How much of the state to keep.
    pub update_gate: GateController,
    /// How much of the state the candidate sees.
    pub reset_gate: GateController,
    /// The candidate.
    pub new_gate: GateController,
    /// The size of the hidden state.
    pub d_hidden: usize,
    /// Whether the reset gate is applied after the product with the weights.
    pub reset_after: bool,
    /// Activation of update and reset gates.
    pub gate_activation: Activation,
    /// Activation of the candidate.
    pub hidden_activation: Activation,
    /// Hidden values are clipped to ± this.
    pub clip: Option<f64>,
}

same_fields!(Gru, nn::Gru {
    d_hidden, reset_after, gate_activation, hidden_activation, clip;
    update_gate, reset_gate, new_gate
});

/// A linear map of the steps of a sequence, recorded.
struct Recorded {
    map: SideBySide,
    probes: Vec<Probe<2>>,
    inputs: Vec<Tensor<2>>,
}

impl Recorded {
    fn new<'a>(maps: impl IntoIterator<Item = &'a super::Linear>) -> Self {
        Self {
            map: SideBySide::new(maps).untracked(),
            probes: Vec::new(),
            inputs: Vec::new(),
        }
    }

    fn apply(&mut self, input: Tensor<2>) -> Tensor<2> {
        let (weight, bias) = (self.map.weight.clone(), self.map.bias.clone());
        let (output, probe) = tape::probe(ops::linear(input.clone(), weight, bias), None);
        self.probes.push(probe);
        self.inputs.push(input.inner());
        output
    }

    fn on_backward(self) {
        let Self {
            map,
            probes,
            inputs,
        } = self;
        tape::on_backward_through_time(probes, move |gradient: Tensor<3>| {
            let mut contributions = vec![Contribution::outer(
                sequence(inputs),
                gradient.clone(),
                map.weights,
            )];
            if !map.biases.is_empty() {
                contributions.push(Contribution::direct(gradient.sum_dim(1), map.biases));
            }
            contributions
        });
    }
}

impl Gru {
    fn drawn(self, config: &nn::GruConfig) -> Self {
        Self {
            update_gate: self.update_gate.drawn(&config.initializer),
            reset_gate: self.reset_gate.drawn(&config.initializer),
            new_gate: self.new_gate.drawn(&config.initializer),
            ..self
        }
    }

    /// Reads a sequence.
    ///
    /// # Shapes
    /// - input: `[batch, positions, d_input]`; state: `[batch, d_hidden]`
    /// - output: `[batch, positions, d_hidden]`
    pub fn forward(&self, input: Tensor<3>, state: Option<Tensor<2>>) -> Tensor<3> {
        if !tape::is_recording() {
            return nn::Gru::from(self.clone()).forward(input, state);
        }
        let [batch, positions, _] = input.dims();
        let gates = [&self.update_gate, &self.reset_gate, &self.new_gate];
        let mut inputs = Recorded::new(gates.map(|gate| &gate.input_transform));
        let [update, reset, new] = gates.map(|gate| &gate.hidden_transform);
        let mut hiddens = Recorded::new([update, reset]);
        // The candidate's map sees the state before or after reset, so it is recorded apart.
        let mut candidates = Recorded::new([new]);
        let mut hidden =
            state.unwrap_or_else(|| Tensor::zeros([batch, self.d_hidden], &input.device()));
        let mut outputs = Vec::new();
        for index in 0..positions {
            let [update, reset, new] = column_blocks(inputs.apply(position(&input, index)));
            let [update_hidden, reset_hidden] = column_blocks(hiddens.apply(hidden.clone()));
            let update = self.gate_activation.forward(update + update_hidden);
            let reset = self.gate_activation.forward(reset + reset_hidden);
            let new_hidden = if self.reset_after {
                reset * candidates.apply(hidden.clone())
            } else {
                candidates.apply(reset * hidden.clone())
            };
            let candidate = self.hidden_activation.forward(new + new_hidden);
            let fresh = update.clone().neg().add_scalar(1.0);
            hidden = candidate * fresh + update * hidden;
            if let Some(clip) = self.clip {
                hidden = hidden.clamp(-clip, clip);
            }
            outputs.push(hidden.clone());
        }
        for map in [inputs, hiddens, candidates] {
            map.on_backward();
        }
        sequence(outputs)
    }
}
