//! Which parameters are clipped together.

use crate::gradient::Slot;
use crate::parameters::Parameters;
use burn::module::ParamId;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How parameters are grouped for clipping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// One norm over all parameters.
    #[default]
    Flat,
    /// One norm per layer (its weight and bias together), each with threshold C / √L.
    PerLayer,
}

/// The groups of a model's parameters.
///
/// The threshold of group l is C · shareₗ with Σ shareₗ² = 1, so the gradient's sensitivity is C
/// whatever the grouping.
#[derive(Debug, Clone)]
pub struct Groups {
    slots: HashMap<ParamId, Slot>,
    shares: Vec<f64>,
}

impl Groups {
    /// Assigns every parameter to a group.
    pub fn new(grouping: Grouping, parameters: &Parameters) -> Self {
        let mut layers: Vec<&str> = Vec::new();
        let slots = parameters.list().iter().enumerate().map(|(index, p)| {
            let group = match grouping {
                Grouping::Flat => 0,
                Grouping::PerLayer => {
                    let known = layers.iter().position(|layer| *layer == p.layer_path());
                    known.unwrap_or_else(|| {
                        layers.push(p.layer_path());
                        layers.len() - 1
                    })
                }
            };
            let slot = Slot {
                parameter: index,
                group,
            };
            (p.id, slot)
        });
        let slots: HashMap<_, _> = slots.collect();
        let count = layers.len().max(1);
        Self {
            slots,
            shares: vec![(1.0 / count as f64).sqrt(); count],
        }
    }

    /// Where each parameter stands.
    pub fn slots(&self) -> &HashMap<ParamId, Slot> {
        &self.slots
    }

    /// The share of each group in the threshold; their squares sum to 1.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }
}
