//! Freezes what is not trained, and puts adapters on.

use super::{Adapt, Kind, Layer, Network, Place};
use crate::error::PretrainedError;
use burn::module::Param;
use burn::tensor::{Device, Tensor};
use tacita::layers::Linear;

/// What of a layer is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Trained {
    weights: bool,
    biases: bool,
}

impl Adapt {
    /// Freezes everything else, and puts low-rank adapters on every linear layer of the blocks if they were chosen.
    ///
    /// ```
    /// use tacita_pretrained::Adapt;
    /// assert_eq!("lora:8".parse::<Adapt>()?, Adapt::LowRank { rank: 8 });
    /// # Ok::<(), tacita_pretrained::PretrainedError>(())
    /// ```
    pub fn apply<N: Network>(
        self,
        network: &mut N,
        device: &Device,
    ) -> Result<(), PretrainedError> {
        let blocks = network.blocks();
        if let Self::Last { blocks: last } = self
            && last > blocks
        {
            return Err(PretrainedError::Adapt {
                asked: self.to_string(),
                why: format!("the network has {blocks} blocks"),
            });
        }
        for layer in network.layers() {
            let trained = self.trains(layer.place, blocks);
            self.apply_to(layer, trained, device)?;
        }
        Ok(())
    }

    fn trains(self, place: Place, blocks: usize) -> Trained {
        let all = |trained| Trained {
            weights: trained,
            biases: trained,
        };
        match (self, place) {
            (_, Place::Head) | (Self::Full, _) => all(true),
            (Self::Last { blocks: last }, Place::Block(block)) => all(block + last >= blocks),
            (Self::Last { .. }, Place::End) => all(true),
            (Self::Bias, _) => Trained {
                weights: false,
                biases: true,
            },
            _ => all(false),
        }
    }

    fn apply_to(
        self,
        layer: Layer<'_>,
        trained: Trained,
        device: &Device,
    ) -> Result<(), PretrainedError> {
        match layer.kind {
            Kind::Projection(projection, _) => {
                of_linear(&mut projection.base, trained);
                projection.low_rank = None;
                if let Self::LowRank { rank } = self {
                    let [input, output] = projection.base.weight.lazy_shape().dims();
                    if rank > input.min(output) {
                        return Err(PretrainedError::Adapt {
                            asked: self.to_string(),
                            why: format!(
                                "`{}` has {input} inputs and {output} outputs",
                                layer.name
                            ),
                        });
                    }
                    projection.adapt(rank, 1.0, device);
                }
            }
            Kind::Linear(linear, _) => of_linear(linear, trained),
            Kind::Embedding(embedding) => set(&mut embedding.weight, trained.weights),
            Kind::LayerNorm(norm) => {
                set(&mut norm.gamma, trained.weights);
                if let Some(beta) = &mut norm.beta {
                    set(beta, trained.biases);
                }
            }
            Kind::RmsNorm(norm) => set(&mut norm.gamma, trained.weights),
        }
        Ok(())
    }
}

fn of_linear(linear: &mut Linear, trained: Trained) {
    set(&mut linear.weight, trained.weights);
    if let Some(bias) = &mut linear.bias {
        set(bias, trained.biases);
    }
}

fn set<const D: usize>(param: &mut Param<Tensor<D>>, trained: bool) {
    *param = param.clone().set_require_grad(trained);
}
