//! Which parameters are clipped together.

use crate::sensitivity::gradient::Slot;
use crate::sensitivity::parameters::{Parameter, Parameters};
use burn::module::ParamId;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use thiserror::Error;

/// How parameters are grouped for clipping.
///
/// The threshold of group l is C · shareₗ with Σ shareₗ² = 1, so the gradient's sensitivity is C
/// whatever the grouping.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grouping {
    /// One norm over all parameters.
    #[default]
    Flat,
    /// One norm per layer (its weight and bias together), each with threshold C / √L.
    PerLayer,
    /// One norm per layer, with thresholds in proportion to these weights, in the model's order.
    Weighted(Vec<f64>),
    /// Groups by name.
    Named(Vec<NamedGroup>),
}

/// The parameters below some paths of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedGroup {
    /// Paths, e.g. `encoder` or `head.weight`; the longest one that fits a parameter counts.
    pub paths: Vec<String>,
    /// The group's threshold is in proportion to this.
    pub weight: f64,
}

/// Why parameters could not be grouped. Nothing was released.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GroupingError {
    /// Weights for another number of layers.
    #[error("{weights} weights are given, but the model has {layers} layers: {}", names.join(", "))]
    Layers {
        /// Weights given.
        weights: usize,
        /// Layers of the model.
        layers: usize,
        /// Their paths.
        names: Vec<String>,
    },
    /// A parameter in no group.
    #[error(
        "parameter `{path}` is in no clipping group; add a path that it lies below, e.g. `{layer}`"
    )]
    NoGroup {
        /// Path of the parameter.
        path: String,
        /// Path of its layer.
        layer: String,
    },
    /// A group that no parameter is in.
    #[error("no parameter lies below `{path}`; the model has {}", names.join(", "))]
    NoParameter {
        /// The path given.
        path: String,
        /// Paths of the layers.
        names: Vec<String>,
    },
}

/// The groups of a model's parameters.
#[derive(Debug, Clone)]
pub struct Groups {
    slots: HashMap<ParamId, Slot>,
    shares: Vec<f64>,
}

impl Groups {
    /// Assigns every parameter to a group.
    pub fn new(grouping: &Grouping, parameters: &Parameters) -> Result<Self, GroupingError> {
        let list = parameters.list();
        let layers = layers(list);
        let by_layer = |p: &Parameter| layers.iter().position(|layer| *layer == p.layer_path());
        let (groups, weights): (Vec<usize>, Vec<f64>) = match grouping {
            Grouping::Flat => (vec![0; list.len()], vec![1.0]),
            Grouping::PerLayer => {
                let groups = list.iter().filter_map(by_layer).collect();
                (groups, vec![1.0; layers.len()])
            }
            Grouping::Weighted(weights) => {
                if weights.len() != layers.len() {
                    return Err(GroupingError::Layers {
                        weights: weights.len(),
                        layers: layers.len(),
                        names: owned(&layers),
                    });
                }
                (list.iter().filter_map(by_layer).collect(), weights.clone())
            }
            Grouping::Named(named) => {
                let groups = list.iter().map(|p| named_group(p, named));
                let groups = groups.collect::<Result<Vec<_>, _>>()?;
                check_used(named, list, &layers)?;
                (groups, named.iter().map(|group| group.weight).collect())
            }
        };
        let slots = list.iter().zip(groups).enumerate();
        let slots = slots.map(|(parameter, (p, group))| (p.id, Slot { parameter, group }));
        let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        Ok(Self {
            slots: slots.collect(),
            shares: weights.iter().map(|weight| weight / length).collect(),
        })
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

fn layers(parameters: &[Parameter]) -> Vec<&str> {
    let mut layers: Vec<&str> = Vec::new();
    for parameter in parameters {
        if !layers.contains(&parameter.layer_path()) {
            layers.push(parameter.layer_path());
        }
    }
    layers
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("`{name}`")).collect()
}

/// Whether a parameter lies below a path.
fn below(parameter: &Parameter, path: &str) -> bool {
    let rest = parameter.path.strip_prefix(path);
    path.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The group with the longest path that the parameter lies below.
fn named_group(parameter: &Parameter, named: &[NamedGroup]) -> Result<usize, GroupingError> {
    let fitting = named.iter().enumerate().flat_map(|(index, group)| {
        let paths = group.paths.iter().filter(|path| below(parameter, path));
        paths.map(move |path| (path.len(), index))
    });
    let longest = fitting.max_by_key(|(length, _)| *length);
    longest
        .map(|(_, index)| index)
        .ok_or_else(|| GroupingError::NoGroup {
            path: parameter.path.clone(),
            layer: parameter.layer_path().to_string(),
        })
}

/// Refuses a path that no parameter lies below: it is a mistake, and its share would be wasted.
fn check_used(
    named: &[NamedGroup],
    list: &[Parameter],
    layers: &[&str],
) -> Result<(), GroupingError> {
    let paths = named.iter().flat_map(|group| &group.paths);
    match paths
        .into_iter()
        .find(|path| !list.iter().any(|p| below(p, path)))
    {
        None => Ok(()),
        Some(path) => Err(GroupingError::NoParameter {
            path: path.clone(),
            names: owned(layers),
        }),
    }
}
