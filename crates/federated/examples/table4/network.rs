//! The convolutional network of the authors' program (github.com/dynamic-dp/dynamic-dp): 16 and 32 channels, kernels
//! 8 × 8 and 4 × 4 with stride 2, 2 × 2 max pooling with stride 1, 32 hidden values, 26,010 parameters. One image at a
//! time, because one image is one client.

use crate::digits::Numbers;
use crate::idx::{Images, PIXELS, SIDE};

/// Padded input, output of the first convolution, of its pooling, of the second, of its pooling.
const PADDED: usize = SIDE + 6;
const FIRST: usize = 14;
const FIRST_POOLED: usize = 13;
const SECOND: usize = 5;
const SECOND_POOLED: usize = 4;
const A: usize = 16;
const B: usize = 32;
const FEATURES: usize = SECOND_POOLED * SECOND_POOLED * B;
const HIDDEN: usize = 32;
const CLASSES: usize = 10;
const WINDOW_A: usize = 8 * 8;
const WINDOW_B: usize = 4 * 4 * A;

/// Where each part begins in the flat vector. Weights are `[inputs, outputs]`.
const SIZES: [usize; 8] = [
    WINDOW_A * A,
    A,
    WINDOW_B * B,
    B,
    FEATURES * HIDDEN,
    HIDDEN,
    HIDDEN * CLASSES,
    CLASSES,
];
/// What each part's initial values depend on.
const INPUTS: [usize; 8] = [
    WINDOW_A, WINDOW_A, WINDOW_B, WINDOW_B, FEATURES, FEATURES, HIDDEN, HIDDEN,
];

pub const PARAMETERS: usize = 26_010;

/// Uniform in ±1/√inputs, as PyTorch's layers begin.
pub fn initial(seed: u64) -> Vec<f32> {
    let mut numbers = Numbers::new(seed, 0x1417);
    let parts = SIZES.iter().zip(INPUTS);
    parts
        .flat_map(|(size, inputs)| std::iter::repeat_n((inputs as f32).sqrt().recip(), *size))
        .map(|most| numbers.within(most))
        .collect()
}

fn part(values: &[f32], index: usize) -> &[f32] {
    let first: usize = SIZES[..index].iter().sum();
    &values[first..first + SIZES[index]]
}

fn part_mut(values: &mut [f32], index: usize) -> &mut [f32] {
    let first: usize = SIZES[..index].iter().sum();
    &mut values[first..first + SIZES[index]]
}

/// A model and the working space of one image.
pub struct Network<'a> {
    model: &'a [f32],
    gradient: Vec<f32>,
    windows_a: Vec<f32>,
    first: Vec<f32>,
    pooled_a: Vec<f32>,
    windows_b: Vec<f32>,
    second: Vec<f32>,
    pooled_b: Vec<f32>,
    hidden: Vec<f32>,
}

impl<'a> Network<'a> {
    pub fn new(model: &'a [f32]) -> Self {
        Self {
            model,
            gradient: vec![0.0; PARAMETERS],
            windows_a: vec![0.0; FIRST * FIRST * WINDOW_A],
            first: vec![0.0; FIRST * FIRST * A],
            pooled_a: vec![0.0; FIRST_POOLED * FIRST_POOLED * A],
            windows_b: vec![0.0; SECOND * SECOND * WINDOW_B],
            second: vec![0.0; SECOND * SECOND * B],
            pooled_b: vec![0.0; FEATURES],
            hidden: vec![0.0; HIDDEN],
        }
    }

    /// The scores of an image.
    pub fn scores(&mut self, image: &[f32; PIXELS]) -> [f32; CLASSES] {
        let pixel = |y: usize, x: usize| {
            // Three zeros on each side.
            let inside = (3..SIDE + 3).contains(&y) && (3..SIDE + 3).contains(&x) && y < PADDED;
            if inside {
                image[(y - 3) * SIDE + x - 3]
            } else {
                0.0
            }
        };
        for (place, window) in self.windows_a.chunks_mut(WINDOW_A).enumerate() {
            let (top, left) = (place / FIRST * 2, place % FIRST * 2);
            for (at, value) in window.iter_mut().enumerate() {
                *value = pixel(top + at / 8, left + at % 8);
            }
        }
        affine::<A>(
            &self.windows_a,
            WINDOW_A,
            part(self.model, 0),
            part(self.model, 1),
            &mut self.first,
        );
        relu(&mut self.first);
        pool::<A>(&self.first, FIRST, &mut self.pooled_a);
        for (place, window) in self.windows_b.chunks_mut(WINDOW_B).enumerate() {
            let (top, left) = (place / SECOND * 2, place % SECOND * 2);
            for (row, values) in window.chunks_mut(4 * A).enumerate() {
                let from = ((top + row) * FIRST_POOLED + left) * A;
                values.copy_from_slice(&self.pooled_a[from..from + 4 * A]);
            }
        }
        affine::<B>(
            &self.windows_b,
            WINDOW_B,
            part(self.model, 2),
            part(self.model, 3),
            &mut self.second,
        );
        relu(&mut self.second);
        pool::<B>(&self.second, SECOND, &mut self.pooled_b);
        affine::<HIDDEN>(
            &self.pooled_b,
            FEATURES,
            part(self.model, 4),
            part(self.model, 5),
            &mut self.hidden,
        );
        relu(&mut self.hidden);
        let mut scores = [0.0; CLASSES];
        affine::<CLASSES>(
            &self.hidden,
            HIDDEN,
            part(self.model, 6),
            part(self.model, 7),
            &mut scores,
        );
        scores
    }

    /// The gradient of an image's cross-entropy.
    pub fn gradient(&mut self, image: &[f32; PIXELS], label: usize) -> &[f32] {
        let mut slopes = self.scores(image);
        let largest = slopes.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        slopes
            .iter_mut()
            .for_each(|score| *score = (*score - largest).exp());
        let total: f32 = slopes.iter().sum();
        slopes.iter_mut().for_each(|score| *score /= total);
        slopes[label] -= 1.0;
        self.gradient.fill(0.0);
        let mut hidden = [0.0; HIDDEN];
        back::<CLASSES>(
            &self.hidden,
            HIDDEN,
            &slopes,
            part(self.model, 6),
            &mut self.gradient,
            6,
            Some(&mut hidden),
        );
        through_relu(&self.hidden, &mut hidden);
        let mut features = [0.0; FEATURES];
        back::<HIDDEN>(
            &self.pooled_b,
            FEATURES,
            &hidden,
            part(self.model, 4),
            &mut self.gradient,
            4,
            Some(&mut features),
        );
        let mut second = [0.0; SECOND * SECOND * B];
        unpool::<B>(&self.second, SECOND, &features, &mut second);
        through_relu(&self.second, &mut second);
        let mut windows = [0.0; SECOND * SECOND * WINDOW_B];
        back::<B>(
            &self.windows_b,
            WINDOW_B,
            &second,
            part(self.model, 2),
            &mut self.gradient,
            2,
            Some(&mut windows),
        );
        let mut pooled = [0.0; FIRST_POOLED * FIRST_POOLED * A];
        for (place, window) in windows.chunks(WINDOW_B).enumerate() {
            let (top, left) = (place / SECOND * 2, place % SECOND * 2);
            for (row, values) in window.chunks(4 * A).enumerate() {
                let to = ((top + row) * FIRST_POOLED + left) * A;
                pooled[to..to + 4 * A]
                    .iter_mut()
                    .zip(values)
                    .for_each(|(sum, v)| *sum += v);
            }
        }
        let mut first = [0.0; FIRST * FIRST * A];
        unpool::<A>(&self.first, FIRST, &pooled, &mut first);
        through_relu(&self.first, &mut first);
        back::<A>(
            &self.windows_a,
            WINDOW_A,
            &first,
            part(self.model, 0),
            &mut self.gradient,
            0,
            None,
        );
        &self.gradient
    }
}

/// `out[row] = in[row] · weights + bias`, for `N` outputs.
fn affine<const N: usize>(
    input: &[f32],
    width: usize,
    weights: &[f32],
    bias: &[f32],
    out: &mut [f32],
) {
    let (weights, _) = weights.as_chunks::<N>();
    for (input, out) in input.chunks(width).zip(out.as_chunks_mut::<N>().0) {
        let mut sum: [f32; N] = std::array::from_fn(|at| bias[at]);
        for (value, weights) in input.iter().zip(weights) {
            for at in 0..N {
                sum[at] += value * weights[at];
            }
        }
        *out = sum;
    }
}

/// Adds the gradient of [`affine`]'s weights (part `index`) and bias, and writes that of its input.
fn back<const N: usize>(
    input: &[f32],
    width: usize,
    slopes: &[f32],
    weights: &[f32],
    gradient: &mut [f32],
    index: usize,
    mut of_input: Option<&mut [f32]>,
) {
    let (weights, _) = weights.as_chunks::<N>();
    let (slopes, _) = slopes.as_chunks::<N>();
    for (row, (input, slopes)) in input.chunks(width).zip(slopes).enumerate() {
        if slopes.iter().all(|slope| *slope == 0.0) {
            continue;
        }
        let sums = part_mut(gradient, index).as_chunks_mut::<N>().0;
        for (value, sums) in input.iter().zip(sums) {
            for at in 0..N {
                sums[at] += value * slopes[at];
            }
        }
        for (sum, slope) in part_mut(gradient, index + 1).iter_mut().zip(slopes) {
            *sum += slope;
        }
        if let Some(of_input) = &mut of_input {
            for (value, weights) in of_input[row * width..].iter_mut().zip(weights) {
                *value = (0..N).map(|at| weights[at] * slopes[at]).sum();
            }
        }
    }
}

fn relu(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = value.max(0.0));
}

fn through_relu(values: &[f32], slopes: &mut [f32]) {
    for (slope, value) in slopes.iter_mut().zip(values) {
        if *value <= 0.0 {
            *slope = 0.0;
        }
    }
}

/// Largest of 2 × 2 with stride 1, channels last.
fn pool<const N: usize>(input: &[f32], side: usize, out: &mut [f32]) {
    for (place, out) in out.chunks_mut(N).enumerate() {
        let corner = place / (side - 1) * side + place % (side - 1);
        for (channel, out) in out.iter_mut().enumerate() {
            *out = [0, 1, side, side + 1]
                .map(|step| input[(corner + step) * N + channel])
                .into_iter()
                .fold(f32::NEG_INFINITY, f32::max);
        }
    }
}

/// Hands each slope to the first of the largest.
fn unpool<const N: usize>(input: &[f32], side: usize, slopes: &[f32], of_input: &mut [f32]) {
    for (place, slopes) in slopes.chunks(N).enumerate() {
        let corner = place / (side - 1) * side + place % (side - 1);
        for (channel, slope) in slopes.iter().enumerate() {
            let mut best = corner * N + channel;
            for step in [1, side, side + 1] {
                let other = (corner + step) * N + channel;
                if input[other] > input[best] {
                    best = other;
                }
            }
            of_input[best] += slope;
        }
    }
}

/// Right answers in percent.
pub fn accuracy(model: &[f32], images: &Images, most: usize) -> f64 {
    let mut network = Network::new(model);
    let count = images.count().min(most);
    let right = |index: &usize| {
        let scores = network.scores(&images.image(*index));
        let best = (0..CLASSES).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
        best == Some(usize::from(images.labels[*index]))
    };
    100.0 * (0..count).filter(right).count() as f64 / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_loss() {
        let model = initial(3);
        let mut numbers = Numbers::new(5, 5);
        let image: [f32; PIXELS] = std::array::from_fn(|_| numbers.within(1.0).abs());
        let gradient = Network::new(&model).gradient(&image, 4).to_vec();
        let loss = |model: &[f32]| {
            let scores = Network::new(model).scores(&image).map(f64::from);
            let total: f64 = scores.iter().map(|score| score.exp()).sum();
            total.ln() - scores[4]
        };
        for at in (0..PARAMETERS).step_by(1_733) {
            let moved = |step: f32| {
                let mut model = model.clone();
                model[at] += step;
                loss(&model)
            };
            let slope = (moved(1e-2) - moved(-1e-2)) / 2e-2;
            assert!(
                (slope - f64::from(gradient[at])).abs() < 2e-3 + 0.02 * slope.abs(),
                "{at}"
            );
        }
    }
}
