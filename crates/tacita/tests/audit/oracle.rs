//! What each canary contributes to each query, by plain autodiff and in f64.
//!
//! No two canaries share a coordinate, so one backward pass over the sum of all losses gives the gradient of
//! each of them. Nothing here calls the private layers, the norms, the rules or the sums of the engine.

use crate::canaries::{Canaries, Owned, device};
use burn::module::{ModuleVisitor, Param};
use burn::tensor::{Gradients, Tensor, TensorData};
use tacita::clipping::{ClipRule, Grouping, Threshold};
use tacita::testkit::{rounding_of_operands, with_dropout_masks};
use tacita::{Clipping, Keys, Parameter, Records};

/// Whose each coordinate is, and the group it is clipped in.
pub struct Map {
    /// By parameter and coordinate.
    pub owners: Vec<Vec<usize>>,
    /// By parameter.
    pub groups: Vec<usize>,
    /// Of all parameters.
    pub group_count: usize,
}

impl Map {
    pub fn new<M: Owned>(model: &M, parameters: &[Parameter], grouping: &Grouping) -> Self {
        let axes = model.axes();
        assert_eq!(axes.len(), parameters.len());
        let owners = parameters
            .iter()
            .zip(axes)
            .map(|(parameter, (axis, each))| {
                let (length, after) = (
                    parameter.shape[axis],
                    parameter.shape[axis + 1..].iter().product::<usize>(),
                );
                (0..parameter.elements())
                    .map(|index| index / after % length / each)
                    .collect()
            });
        let mut layers: Vec<&str> = parameters.iter().map(Parameter::layer_path).collect();
        layers.dedup();
        let group = |parameter: &Parameter| match grouping {
            Grouping::Flat => 0,
            Grouping::PerLayer | Grouping::Weighted(_) => {
                let layer = |layer: &&str| *layer == parameter.layer_path();
                layers.iter().position(layer).unwrap()
            }
            // The audit's groups: whole layers, the last group for the rest.
            Grouping::Named(named) => {
                let rest = named.len() - 1;
                let below = |path: &String| parameter.layer_path() == *path;
                let named = named.iter().position(|group| group.paths.iter().any(below));
                named.unwrap_or(rest)
            }
        };
        let groups: Vec<usize> = parameters.iter().map(group).collect();
        Self {
            owners: owners.collect(),
            group_count: 1 + groups.iter().copied().max().unwrap_or(0),
            groups,
        }
    }
}

/// The gradients of all canaries, side by side, by parameter.
pub fn gradients<M: Owned>(
    model: &M,
    canaries: &Canaries,
    keys: &Keys,
    step: u64,
) -> Vec<Vec<f64>> {
    let numbers = canaries.numbers();
    let losses = with_dropout_masks(keys, step, &numbers, || {
        model.losses(canaries.batch(&numbers, &device()))
    });
    read(model, losses.sum().backward())
}

fn read<M: Owned>(model: &M, gradients: Gradients) -> Vec<Vec<f64>> {
    struct Read(Gradients, Vec<Vec<f64>>);
    impl ModuleVisitor for Read {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let gradient = param.val().grad(&self.0).unwrap();
            self.1.push(gradient.into_data().iter::<f64>().collect());
        }
    }
    let mut read = Read(gradients, Vec::new());
    model.visit(&mut read);
    read.1
}

/// A gradient is its owner's alone: multiplying canary i's loss by i + 1 multiplies it by as much.
pub fn assert_owned<M: Owned>(model: &M, canaries: &Canaries, keys: &Keys, map: &Map) {
    let numbers = canaries.numbers();
    let losses = || {
        with_dropout_masks(keys, 0, &numbers, || {
            model.losses(canaries.batch(&numbers, &device()))
        })
    };
    let factors: Vec<f32> = numbers.iter().map(|number| 1.0 + *number as f32).collect();
    let factors = Tensor::<1>::from_data(TensorData::new(factors, [canaries.all]), &device());
    let tolerance = 1e-5 + 4.0 * rounding_of_operands(&device());
    let once = read(model, losses().sum().backward());
    let times = read(model, (losses() * factors).sum().backward());
    for (parameter, owners) in map.owners.iter().enumerate() {
        let largest = once[parameter].iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for (index, owner) in owners.iter().enumerate() {
            let factor = 1.0 + *owner as f64;
            let difference = (times[parameter][index] - factor * once[parameter][index]).abs();
            assert!(
                difference <= tolerance * factor * largest,
                "`{parameter}` at {index}"
            );
        }
    }
}

/// The norm of each canary's gradient in each group, `[group][canary]`.
pub fn norms(gradients: &[Vec<f64>], map: &Map, canaries: usize) -> Vec<Vec<f64>> {
    let mut squares = vec![vec![0.0; canaries]; map.group_count];
    for (parameter, gradient) in gradients.iter().enumerate() {
        let squares = &mut squares[map.groups[parameter]];
        for (value, owner) in gradient.iter().zip(&map.owners[parameter]) {
            squares[*owner] += value * value;
        }
    }
    for squares in squares.iter_mut().flatten() {
        *squares = squares.sqrt();
    }
    squares
}

/// What each canary adds to the sum of one query if it takes part.
pub struct Contributions {
    /// By parameter; each coordinate is its owner's.
    pub values: Vec<Vec<f64>>,
    /// The length of each canary's vector.
    pub lengths: Vec<f64>,
}

/// Gradients times a factor of their norm and group.
fn scaled(
    gradients: &[Vec<f64>],
    norms: &[Vec<f64>],
    map: &Map,
    factor: impl Fn(f64, usize) -> f64,
) -> Contributions {
    let factors = norms.iter().enumerate().map(|(group, norms)| {
        let factor = |norm: &f64| {
            if *norm > 0.0 {
                factor(*norm, group)
            } else {
                0.0
            }
        };
        norms.iter().map(factor).collect::<Vec<f64>>()
    });
    let factors: Vec<Vec<f64>> = factors.collect();
    let values = gradients.iter().enumerate().map(|(parameter, gradient)| {
        let factors = &factors[map.groups[parameter]];
        let each = gradient.iter().zip(&map.owners[parameter]);
        each.map(|(value, owner)| value * factors[*owner]).collect()
    });
    let length = |canary: usize| {
        let squares = (0..map.group_count).map(|l| (factors[l][canary] * norms[l][canary]).powi(2));
        squares.sum::<f64>().sqrt()
    };
    Contributions {
        values: values.collect(),
        lengths: (0..norms[0].len()).map(length).collect(),
    }
}

/// The clipped gradients.
pub fn clipped(
    gradients: &[Vec<f64>],
    norms: &[Vec<f64>],
    map: &Map,
    rule: ClipRule,
    thresholds: &[f64],
) -> Contributions {
    scaled(gradients, norms, map, |norm, group| match rule {
        ClipRule::Abadi => (thresholds[group] / norm).min(1.0),
        ClipRule::Auto { gamma } => thresholds[group] / (norm + gamma),
    })
}

/// The directions of gradients longer than their threshold, each as long as its group's share.
pub fn directions(
    gradients: &[Vec<f64>],
    norms: &[Vec<f64>],
    map: &Map,
    thresholds: &[f64],
) -> Contributions {
    let whole = length(thresholds);
    scaled(gradients, norms, map, |norm, group| {
        match norm > thresholds[group] {
            true => thresholds[group] / whole / norm,
            false => 0.0,
        }
    })
}

/// Half the records below each group's threshold less half of those above.
pub fn counts(norms: &[Vec<f64>], present: usize, thresholds: &[f64]) -> Vec<f64> {
    let each = norms.iter().zip(thresholds);
    each.map(|(norms, threshold)| {
        let half = |norm: &f64| if norm <= threshold { 0.5 } else { -0.5 };
        norms[..present].iter().map(half).sum()
    })
    .collect()
}

pub fn length(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The 2-norm that the thresholds of all groups must have: the plan's C where the plan alone decides it.
pub fn planned_sensitivity(clipping: &Clipping, thresholds: &[f64], step: u64, steps: u64) -> f64 {
    let seen = length(thresholds);
    match &clipping.threshold {
        Threshold::Quantile(_) | Threshold::Online(_) => seen,
        scheduled => {
            let planned = scheduled.scheduled(step, steps);
            assert!(
                (seen / planned - 1.0).abs() < 1e-9,
                "{seen} is not {planned}"
            );
            planned
        }
    }
}
