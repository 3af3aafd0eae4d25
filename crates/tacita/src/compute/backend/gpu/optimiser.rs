//! An optimiser's step in one launch for each parameter.

#![allow(clippy::too_many_arguments)]

use super::{cubes, empty, in_order};
use burn::backend::Cuda;
use burn::cubecl::{self, prelude::*};
use burn::tensor::Tensor;
use tacita_kernels::optimiser::{Rule, Weights};

/// The moved weights, if a CUDA GPU holds them; `memory` moves with them.
pub(crate) fn optimiser_step(
    rule: Rule,
    constants: Weights,
    memory: &mut Vec<Tensor<1>>,
    weights: &Tensor<1>,
    gradient: &Tensor<1>,
) -> Option<Tensor<1>> {
    let count = weights.dims()[0];
    let device = weights.device();
    let (weights, gradient) = (in_order(weights.clone())?, in_order(gradient.clone())?);
    while memory.len() < rule.memory() {
        memory.push(Tensor::zeros([count], &device));
    }
    let old = |slot: usize| in_order(memory[slot].clone().to_device(&device));
    let new = || empty(&weights, [count]);
    let moved = new();
    let (cubes, dim) = cubes(count);
    let Weights { rate, decay, kept } = constants;
    match rule {
        Rule::Plain => plain_kernel::launch(
            &moved.client,
            cubes,
            dim,
            weights.clone().into_buffer_arg(),
            gradient.into_buffer_arg(),
            moved.clone().into_buffer_arg(),
            rate,
            decay,
            kept,
        ),
        Rule::Momentum { momentum, ahead } => {
            let (m, m_new) = (old(0)?, new());
            momentum_kernel::launch(
                &moved.client,
                cubes,
                dim,
                weights.clone().into_buffer_arg(),
                gradient.into_buffer_arg(),
                m.into_buffer_arg(),
                moved.clone().into_buffer_arg(),
                m_new.clone().into_buffer_arg(),
                rate,
                decay,
                kept,
                momentum,
                ahead,
            );
            memory[0] = Tensor::from_primitive::<Cuda>(m_new);
        }
        Rule::Adam {
            kept: [kept_1, kept_2],
            new: [new_1, new_2],
            scales: [first, second],
            epsilon,
        } => {
            let (m, v) = (old(0)?, old(1)?);
            let (m_new, v_new) = (new(), new());
            adam_kernel::launch(
                &moved.client,
                cubes,
                dim,
                weights.clone().into_buffer_arg(),
                gradient.into_buffer_arg(),
                m.into_buffer_arg(),
                v.into_buffer_arg(),
                moved.clone().into_buffer_arg(),
                m_new.clone().into_buffer_arg(),
                v_new.clone().into_buffer_arg(),
                rate,
                decay,
                kept,
                kept_1,
                kept_2,
                new_1,
                new_2,
                1.0 / first,
                1.0 / second,
                epsilon,
            );
            *memory = [m_new, v_new].map(Tensor::from_primitive::<Cuda>).into();
        }
    }
    Some(Tensor::from_primitive::<Cuda>(moved))
}

#[cube(launch)]
fn plain_kernel(
    weights: &[f32],
    gradient: &[f32],
    moved: &mut [f32],
    rate: f32,
    decay: f32,
    kept: f32,
) {
    if ABSOLUTE_POS < moved.len() {
        let w = weights[ABSOLUTE_POS];
        moved[ABSOLUTE_POS] = kept * w - rate * (gradient[ABSOLUTE_POS] + decay * w);
    }
}

#[cube(launch)]
fn momentum_kernel(
    weights: &[f32],
    gradient: &[f32],
    m: &[f32],
    moved: &mut [f32],
    m_new: &mut [f32],
    rate: f32,
    decay: f32,
    kept: f32,
    momentum: f32,
    #[comptime] ahead: bool,
) {
    if ABSOLUTE_POS < moved.len() {
        let w = weights[ABSOLUTE_POS];
        let g = gradient[ABSOLUTE_POS] + decay * w;
        let m = momentum * m[ABSOLUTE_POS] + g;
        m_new[ABSOLUTE_POS] = m;
        if comptime!(ahead) {
            moved[ABSOLUTE_POS] = kept * w - rate * (g + momentum * m);
        } else {
            moved[ABSOLUTE_POS] = kept * w - rate * m;
        }
    }
}

#[cube(launch)]
fn adam_kernel(
    weights: &[f32],
    gradient: &[f32],
    m: &[f32],
    v: &[f32],
    moved: &mut [f32],
    m_new: &mut [f32],
    v_new: &mut [f32],
    rate: f32,
    decay: f32,
    kept: f32,
    kept_1: f32,
    kept_2: f32,
    new_1: f32,
    new_2: f32,
    first: f32,
    second: f32,
    epsilon: f32,
) {
    if ABSOLUTE_POS < moved.len() {
        let w = weights[ABSOLUTE_POS];
        let g = gradient[ABSOLUTE_POS] + decay * w;
        let m = kept_1 * m[ABSOLUTE_POS] + new_1 * g;
        let v = kept_2 * v[ABSOLUTE_POS] + new_2 * (g * g);
        m_new[ABSOLUTE_POS] = m;
        v_new[ABSOLUTE_POS] = v;
        moved[ABSOLUTE_POS] = kept * w - rate * ((m * first) / ((v * second).sqrt() + epsilon));
    }
}
