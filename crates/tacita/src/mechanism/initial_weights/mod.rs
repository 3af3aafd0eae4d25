//! Initial weights, by the distributions of Burn's initialisers and from keys of this crate.
//!
//! Burn draws parameters from a generator that the whole process shares: whoever seeds it, for whatever
//! purpose, makes the initial weights of every later model public and equal. Here each parameter has a
//! key of its own when its layer is made, either from the operating system or, inside
//! [`Keys::initial_weights`](crate::Keys::initial_weights), by its number. Values are a pure function of
//! that key, so it does not matter when, on which thread or for which device Burn asks for them.
//!
//! ```
//! use burn::tensor::Device;
//! use tacita::{Keys, layers::LinearConfig};
//!
//! let layer = || LinearConfig::new(4, 2).init(&Device::default()).weight.val().into_data();
//! let seeded = || Keys::fixed_seed(7).initial_weights(layer);
//! assert_eq!(seeded(), seeded());
//! assert_ne!(layer(), layer());
//! ```

use crate::mechanism::chacha::{GROUP, Group, LANES, Subkey};
use burn::module::Param;
use burn::nn::Initializer;
use burn::tensor::{Tensor, TensorData};
use rayon::prelude::*;
use tacita_mechanism::parameter_keys::next_key;

/// Values one thread works on at a time.
const VALUES_PER_TASK: usize = 32 * GROUP;

/// Inputs and outputs that each value of a parameter connects, where an initialiser needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fans {
    pub input: Option<usize>,
    pub output: Option<usize>,
}

impl Fans {
    pub(crate) fn new(input: usize, output: usize) -> Self {
        Self {
            input: Some(input),
            output: Some(output),
        }
    }
}

/// What Burn is to initialise a parameter with, so that its generator is left alone: zeros in place of
/// everything that [`drawn`] draws.
pub(crate) fn without_drawing(initializer: &Initializer) -> Initializer {
    match initializer {
        Initializer::Constant { .. } | Initializer::Ones | Initializer::Zeros => {
            initializer.clone()
        }
        _ => Initializer::Zeros,
    }
}

/// The parameter with values drawn at its first use; as it is if nothing is to be drawn.
///
/// # Panics
/// If the initialiser needs fans that are not given, as Burn's.
pub(crate) fn drawn<const D: usize>(
    param: Param<Tensor<D>>,
    initializer: &Initializer,
    fans: Fans,
) -> Param<Tensor<D>> {
    let Some(distribution) = Distribution::of(initializer, fans) else {
        return param;
    };
    let key = next_key();
    param.init_mapper(move |zeros: Tensor<D>| {
        let dims = zeros.dims();
        let values = distribution.draw(&key, &dims);
        let (device, dtype) = (zeros.device(), zeros.dtype());
        Tensor::<D>::from_data(TensorData::new(values, dims), &device).cast(dtype)
    })
}

/// What values are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Distribution {
    Uniform { low: f64, high: f64 },
    Normal { mean: f64, std: f64 },
    Orthogonal { gain: f64 },
}

impl Distribution {
    /// As in Burn's `Initializer::init_with`; none for constants.
    fn of(initializer: &Initializer, fans: Fans) -> Option<Self> {
        let needed = |fan: Option<usize>| match fan {
            Some(fan) => fan as f64,
            None => panic!("{initializer:?} does not suit this layer; choose another initialiser"),
        };
        let kaiming = |fan_out_only: bool| {
            let fan = if fan_out_only {
                fans.output
            } else {
                fans.input
            };
            needed(fan).sqrt().recip()
        };
        let xavier = || (2.0 / (needed(fans.input) + needed(fans.output))).sqrt();
        let uniform = |std: f64| {
            let high = 3f64.sqrt() * std;
            Self::Uniform { low: -high, high }
        };
        let normal = |std: f64| Self::Normal { mean: 0.0, std };
        Some(match *initializer {
            Initializer::Constant { .. } | Initializer::Ones | Initializer::Zeros => return None,
            Initializer::Uniform { min, max } => Self::Uniform {
                low: min,
                high: max,
            },
            Initializer::Normal { mean, std } => Self::Normal { mean, std },
            Initializer::KaimingUniform { gain, fan_out_only } => {
                uniform(gain * kaiming(fan_out_only))
            }
            Initializer::KaimingNormal { gain, fan_out_only } => {
                normal(gain * kaiming(fan_out_only))
            }
            Initializer::XavierUniform { gain } => uniform(gain * xavier()),
            Initializer::XavierNormal { gain } => normal(gain * xavier()),
            Initializer::Orthogonal { gain } => Self::Orthogonal { gain },
        })
    }

    fn draw(self, key: &Subkey, dims: &[usize]) -> Vec<f32> {
        let count = dims.iter().product();
        match self {
            Self::Uniform { low, high } => {
                let scaled = move |pair: [f64; 2]| pair.map(|u| low + (high - low) * u);
                values(key, count, scaled)
            }
            Self::Normal { mean, std } => values(key, count, move |pair| {
                normals(pair).map(|z| mean + std * z)
            }),
            Self::Orthogonal { gain } => {
                let normals = values(key, count, normals).into_iter().map(f64::from);
                let rows = dims.first().copied().unwrap_or(1).max(1);
                orthogonal(normals.collect(), rows, count / rows, gain)
            }
        }
    }
}

/// `count` values, each pair of them a function of two uniforms in [0, 1).
fn values(key: &Subkey, count: usize, of_pair: impl Fn([f64; 2]) -> [f64; 2] + Sync) -> Vec<f32> {
    let mut values = vec![0.0; count];
    let tasks = values.par_chunks_mut(VALUES_PER_TASK).enumerate();
    tasks.for_each(|(task, values)| {
        for (index, values) in values.chunks_mut(GROUP).enumerate() {
            let group = task * (VALUES_PER_TASK / GROUP) + index;
            let group = key.group_out_of_line(group as u64, 0, 0);
            for (pair, values) in values.chunks_mut(2).enumerate() {
                let drawn = of_pair([2 * pair, 2 * pair + 1].map(|at| uniform(&group, at)));
                for (value, drawn) in values.iter_mut().zip(drawn) {
                    *value = drawn as f32;
                }
            }
        }
    });
    values
}

/// A multiple of 2^-53 in [0, 1).
fn uniform(group: &Group, index: usize) -> f64 {
    const TWO_TO_53: f64 = (1u64 << 53) as f64;
    (group.number(index / LANES, index % LANES) >> 11) as f64 / TWO_TO_53
}

/// Box and Muller.
fn normals([u, angle]: [f64; 2]) -> [f64; 2] {
    let radius = (-2.0 * (1.0 - u).ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * angle).sin_cos();
    [radius * cos, radius * sin]
}

/// A matrix whose rows, or columns if there are fewer of them, are orthonormal but for the gain: normal
/// vectors made so by Gram and Schmidt, twice against rounding. Uniform among such matrices, as the QR
/// decomposition with a positive diagonal that Burn uses.
fn orthogonal(mut vectors: Vec<f64>, rows: usize, columns: usize, gain: f64) -> Vec<f32> {
    let (count, length) = (rows.min(columns), rows.max(columns));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for index in 0..count {
        let (before, rest) = vectors.split_at_mut(index * length);
        let vector = &mut rest[..length];
        for _ in 0..2 {
            for other in before.chunks(length) {
                let along = dot(vector, other);
                (vector.iter_mut().zip(other)).for_each(|(value, other)| *value -= along * other);
            }
            let norm = dot(vector, vector).sqrt();
            vector.iter_mut().for_each(|value| *value /= norm);
        }
    }
    let at = |row: usize, column: usize| match rows < columns {
        true => vectors[row * length + column],
        false => vectors[column * length + row],
    };
    (0..rows * columns)
        .map(|index| (gain * at(index / columns, index % columns)) as f32)
        .collect()
}

#[cfg(test)]
mod tests;
