//! Initial weights against the distributions that Burn documents.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::compute::layers::*;
use crate::mechanism::keys::Keys;
use burn::module::Module;
use burn::nn::LinearLayout;
use burn::tensor::Device;

fn values_of<const D: usize>(param: &Param<Tensor<D>>) -> Vec<f64> {
    param.val().into_data().iter::<f64>().collect()
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}

/// The weights and biases of a layer with fixed keys, and of Burn's.
fn seeded<M>(make: impl FnOnce(&Device) -> M) -> M {
    Keys::fixed_seed(11).initial_weights(|| make(&Device::default()))
}

/// Uniform on ±a: nothing outside, mean 0 and mean square a²/3. 60,000 values of a fixed seed: six
/// standard errors are 0.025 a of the mean square's 0.333 a², a false alarm in 10^8 seeds.
#[track_caller]
fn assert_uniform(values: &[f64], bound: f64) {
    assert!(
        largest(values) <= bound * (1.0 + 1e-6),
        "{}",
        largest(values)
    );
    assert!(largest(values) > 0.99 * bound);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let error = 6.0 / (values.len() as f64).sqrt();
    assert!(mean.abs() < error * bound, "{mean}");
    assert!((mean_square(values) / (bound * bound) - 1.0 / 3.0).abs() < error);
}

#[test]
fn linear_weights_have_the_bounds_of_burn() {
    let (input, output) = (100, 600);
    let bound = 1.0 / 10.0; // gain 1/√3, √3 · gain / √fan_in
    let layer = seeded(|device| LinearConfig::new(input, output).init(device));
    assert_uniform(&values_of(&layer.weight), bound);
    assert!(largest(&values_of(layer.bias.as_ref().unwrap())) <= bound * (1.0 + 1e-6));
    // Burn takes the outputs for the inputs in this layout.
    let columns = LinearConfig::new(input, output).with_layout(LinearLayout::Col);
    let layer = seeded(|device| columns.init(device));
    assert_eq!(layer.weight.dims(), [input, output]);
    assert_uniform(&values_of(&layer.weight), 1.0 / 600f64.sqrt());
}

#[test]
fn convolutions_have_the_bounds_of_burn() {
    let two = Conv2dConfig::new([30, 80], [5, 5]).with_groups(2);
    let layer = seeded(|device| two.init(device));
    assert_eq!(layer.weight.dims(), [80, 15, 5, 5]);
    assert_uniform(&values_of(&layer.weight), 1.0 / (15.0 * 25f64).sqrt());
    let one = seeded(|device| Conv1dConfig::new(60, 200, 5).init(device));
    assert_uniform(&values_of(&one.weight), 1.0 / 300f64.sqrt());
    let back = ConvTranspose2dConfig::new([80, 30], [5, 5]);
    let layer = seeded(|device| back.init(device));
    assert_uniform(&values_of(&layer.weight), 1.0 / (30.0 * 25f64).sqrt());
}

/// 60,000 normals of a fixed seed: the relative error of the variance is 0.6 %, and 5 % of them lie beyond
/// 1.96 standard deviations up to 0.09 %; six standard errors each.
#[track_caller]
fn assert_normal(values: &[f64], std: f64) {
    let ratio = mean_square(values) / (std * std);
    let count = values.len() as f64;
    assert!((ratio - 1.0).abs() < 6.0 * (2.0 / count).sqrt(), "{ratio}");
    let beyond = values.iter().filter(|v| v.abs() > 1.959_964 * std).count() as f64 / count;
    assert!(
        (beyond - 0.05).abs() < 6.0 * (0.05 * 0.95 / count).sqrt(),
        "{beyond}"
    );
}

#[test]
fn normal_initialisers_have_the_standard_deviations_of_burn() {
    let embedding = seeded(|device| EmbeddingConfig::new(1000, 60).init(device));
    assert_normal(&values_of(&embedding.weight), 1.0);
    let linear = |initializer| {
        let config = LinearConfig::new(100, 600).with_initializer(initializer);
        values_of(&seeded(|device| config.init(device)).weight)
    };
    let (gain, fan_out_only) = (2.0, true);
    assert_normal(
        &linear(Initializer::XavierNormal { gain }),
        2.0 * (2.0 / 700f64).sqrt(),
    );
    let kaiming = Initializer::KaimingNormal { gain, fan_out_only };
    assert_normal(&linear(kaiming), 2.0 / 600f64.sqrt());
    let xavier = Initializer::XavierUniform { gain };
    assert_uniform(&linear(xavier), 3f64.sqrt() * 2.0 * (2.0 / 700f64).sqrt());
    let shifted = linear(Initializer::Normal {
        mean: 5.0,
        std: 0.5,
    });
    assert_normal(&shifted.iter().map(|v| v - 5.0).collect::<Vec<_>>(), 0.5);
    let shifted = linear(Initializer::Uniform { min: 1.0, max: 3.0 });
    assert_uniform(&shifted.iter().map(|v| v - 2.0).collect::<Vec<_>>(), 1.0);
}

#[test]
fn constants_are_not_drawn() {
    let value = 0.25;
    let config = LinearConfig::new(3, 2).with_initializer(Initializer::Constant { value });
    assert_eq!(
        values_of(&seeded(|device| config.init(device)).weight),
        [value; 6]
    );
    assert_eq!(without_drawing(&Initializer::Ones), Initializer::Ones);
}

/// Whichever side is the longer one.
#[test]
fn orthogonal_matrices_are_orthogonal() {
    for (rows, columns) in [(5, 40), (40, 5), (12, 12)] {
        let initializer = Initializer::Orthogonal { gain: 3.0 };
        let config = LinearConfig::new(rows, columns).with_bias(false);
        let layer = seeded(|device| config.with_initializer(initializer).init(device));
        let weight = layer.weight.val();
        let product = match rows < columns {
            true => weight.clone().matmul(weight.transpose()),
            false => weight.clone().transpose().matmul(weight),
        };
        let size = rows.min(columns);
        let product: Vec<f64> = product.into_data().iter::<f64>().collect();
        for (index, value) in product.into_iter().enumerate() {
            let expected = if index % size == index / size {
                9.0
            } else {
                0.0
            };
            assert!(
                (value - expected).abs() < 1e-4,
                "{rows} × {columns}: {value}"
            );
        }
    }
}

/// All values that a layer of every kind draws.
fn all_layers(device: &Device) -> Vec<Vec<f32>> {
    let device = &device.clone().autodiff();
    let model = (
        (
            LinearConfig::new(4, 6).init(device),
            Conv1dConfig::new(2, 3, 3).init(device),
            Conv2dConfig::new([2, 3], [3, 3]).init(device),
            ConvTranspose2dConfig::new([2, 3], [3, 3]).init(device),
            EmbeddingConfig::new(5, 4).init(device),
        ),
        (
            LstmConfig::new(4, 3, true).init(device),
            BiLstmConfig::new(4, 3, true).init(device),
            GruConfig::new(4, 3, true).init(device),
            TransformerEncoderConfig::new(8, 8, 2, 2).init(device),
        ),
    );
    // Burn's generator has no part in it, or another seed of it would show.
    assert!(model.num_params() > 500);
    crate::training::parameter_values::values(&model)
}

/// Equal parameters would be an accident of 2^-72 at the least. Scales and shifts of normalisation are
/// constants.
#[test]
fn every_parameter_is_drawn_anew_and_a_seed_repeats() {
    let device = Device::default();
    let (first, second) = (all_layers(&device), all_layers(&device));
    let constant = |values: &[f32]| values.iter().all(|value| *value == values[0]);
    let drawn: Vec<_> = first
        .iter()
        .zip(&second)
        .filter(|(a, _)| !constant(a))
        .collect();
    assert_eq!(first.len() - drawn.len(), 2 * 2 * 2);
    assert!(drawn.iter().all(|(first, second)| first != second));
    assert_eq!(seeded(all_layers), seeded(all_layers));
    let other = Keys::fixed_seed(12).initial_weights(|| all_layers(&device));
    let mut all: Vec<_> = seeded(all_layers).into_iter().chain(other).collect();
    all.retain(|values| !constant(values));
    let count = all.len();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all.dedup();
    assert_eq!(
        all.len(),
        count,
        "no two parameters of one model or of two are alike"
    );
}

#[test]
fn when_and_where_a_parameter_is_first_used_does_not_matter() {
    let (first, second) = seeded(|device| {
        let layer = || LinearConfig::new(3, 3).init(device);
        (layer(), layer())
    });
    let late = values_of(&second.weight);
    let moved = first.clone().fork(&Device::default().autodiff());
    let thread = std::thread::spawn(move || values_of(&first.weight))
        .join()
        .unwrap();
    assert_eq!(values_of(&moved.weight), thread);
    let again = seeded(|device| {
        let layer = || values_of(&LinearConfig::new(3, 3).init(device).weight);
        (layer(), layer())
    });
    assert_eq!(again, (thread, late));
}
