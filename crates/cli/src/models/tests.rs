//! Models are the ones they claim to be, and the engine treats them exactly.

use super::*;
use burn::module::Module;
use burn::nn::activation::ActivationConfig;
use burn::tensor::{Device, Int, Tensor, TensorData};
use tacita::PrivateModel;
use tacita::testkit::assert_matches_per_sample_loop;

use super::loss::{STEP, losses};
use tacita_datasets::random::SplitMix;
use tacita_datasets::{Labelled, Labels, NumberLoss};

fn device() -> Device {
    Device::default().autodiff()
}

/// Counts of the same models in PyTorch, worked out by hand from its layers' shapes.
#[test]
fn benchmark_models_have_the_parameters_of_their_peers() {
    let device = device();
    let counts = [
        CnnConfig::benchmark().init(&device).num_params(),
        MlpConfig::benchmark().init(&device).num_params(),
        EmbeddingMlpConfig::benchmark().init(&device).num_params(),
        LstmClassifierConfig::benchmark().init(&device).num_params(),
        AutoencoderConfig::benchmark().init(&device).num_params(),
        TransformerConfig::benchmark().init(&device).num_params(),
        Resnet9Config::benchmark().init(&device).num_params(),
        Vgg11Config::benchmark().init(&device).num_params(),
    ];
    let peers = [
        26_010, 269_322, 160_306, 109_842, 48_705, 5_752_834, 6_575_370, 34_435_466,
    ];
    assert_eq!(counts, peers);
    // The convolutions of `torchvision.models.vgg11` on one channel, and a linear layer for two classes.
    let without_hidden = Vgg11Config::new(64, 0, 2).with_channels(1).init(&device);
    let convolutions = 9_220_480 - 2 * 64 * 3 * 3;
    assert_eq!(without_hidden.num_params(), convolutions + 2048 * 2 + 2);
}

fn images<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    let mut random = SplitMix(1);
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| random.standard())
        .collect();
    Tensor::from_data(TensorData::new(values, shape), &Device::default())
}

fn tokens(shape: [usize; 2], below: u64) -> Tensor<2, Int> {
    let mut random = SplitMix(2);
    let values: Vec<i32> = (0..shape[0] * shape[1])
        .map(|_| random.below(below) as i32)
        .collect();
    Tensor::from_data(TensorData::new(values, shape), &Device::default())
}

/// Three records through the model equal three passes of one record each.
fn assert_exact<Inputs: Clone, M: PrivateModel<Labelled<Inputs>>>(
    model: &M,
    inputs: Inputs,
    take: impl Fn(Inputs, std::ops::Range<usize>) -> Inputs,
) {
    let labels = Tensor::<1, Int>::from_ints([0, 1, 1], &Device::default());
    assert_matches_per_sample_loop(model, 3, |model, range| {
        model.losses(Labelled {
            inputs: take(inputs.clone(), range.clone()),
            labels: labels.clone().narrow(0, range.start, range.len()).into(),
        })
    });
}

#[test]
fn image_models_equal_the_per_sample_loop() {
    let device = device();
    let take = |images: Tensor<4>, range: std::ops::Range<usize>| {
        images.narrow(0, range.start, range.len())
    };
    let convolutions = vec![ConvolutionConfig::new(3, 3, 1, 1).with_pool_stride(Some(2))];
    let cnn = CnnConfig::new([1, 8], convolutions, 5, 2).with_activation(ActivationConfig::Tanh);
    assert_exact(&cnn.init(&device), images([3, 1, 8, 8]), take);
    assert_exact(
        &Resnet9Config::new(4, 2, 2).init(&device),
        images([3, 3, 32, 32]),
        take,
    );
}

#[test]
fn token_models_equal_the_per_sample_loop() {
    let device = device();
    let take = |tokens: Tensor<2, Int>, range: std::ops::Range<usize>| {
        tokens.narrow(0, range.start, range.len())
    };
    let text = tokens([3, 6], 20);
    assert_exact(
        &EmbeddingMlpConfig::new(20, 5, 2).init(&device),
        text.clone(),
        take,
    );
    for filled_up in [false, true] {
        let lstm = LstmClassifierConfig::new(20, 4, 5, 2).with_filled_up(filled_up);
        assert_exact(&lstm.init(&device), text.clone(), take);
    }
    let transformer = TransformerConfig::new(20, 6, 8, 12, 2, 2, 2);
    assert_exact(&transformer.init(&device), text, take);
}

#[test]
fn an_lstm_does_not_see_what_fills_a_sequence_up() {
    let device = device();
    let lstm = LstmClassifierConfig::new(20, 4, 5, 2).with_filled_up(true);
    let lstm = lstm.init(&device);
    let scores = |tokens: &[i32]| -> Vec<f32> {
        let tokens = Tensor::<1, Int>::from_ints(tokens, &device);
        let scores = lstm.forward(tokens.unsqueeze());
        scores.into_data().iter::<f32>().collect()
    };
    let short = scores(&[3, 7]);
    let filled = scores(&[3, 7, 0, 0, 0]);
    for (short, filled) in short.iter().zip(&filled) {
        assert!((short - filled).abs() < 1e-6, "{short} {filled}");
    }
    assert_ne!(short, scores(&[3, 7, 1]));
}

#[test]
fn row_and_picture_models_equal_the_per_sample_loop() {
    let device = device();
    let rows =
        |rows: Tensor<2>, range: std::ops::Range<usize>| rows.narrow(0, range.start, range.len());
    assert_exact(
        &MlpConfig::new(vec![7, 5, 2]).init(&device),
        images([3, 7]),
        rows,
    );
    let pictures = images([3, 1, 6, 6]);
    let model = AutoencoderConfig::new(vec![1, 2, 3]).init(&device);
    assert_matches_per_sample_loop(&model, 3, |model, range| {
        let inputs = pictures.clone().narrow(0, range.start, range.len());
        let labels = Tensor::<1, Int>::zeros([range.len()], &inputs.device()).into();
        model.losses(Labelled { inputs, labels })
    });
}

/// The losses of two records by the textbook's formulas.
#[test]
fn losses_of_numbers_and_labels_are_the_textbooks() {
    let device = Device::default();
    let tensor = |values: &[f32], width: usize| {
        let shape = [values.len() / width, width];
        Tensor::<2>::from_data(TensorData::new(values.to_vec(), shape), &device)
    };
    let of = |outputs, labels: Labels| -> Vec<f64> {
        losses(outputs, labels).into_data().iter::<f64>().collect()
    };
    let numbers = || Tensor::<1>::from_floats([0.25, 1.0], &device);
    // Predictions are the middle of the range and the output: errors 0.25 − 0.2 and −0.4.
    let step = STEP as f32;
    let outputs = || tensor(&[-0.2 / step, 0.1 / step], 1);
    let squared = of(outputs(), Labels::Numbers(numbers(), NumberLoss::Squared));
    let huber = of(outputs(), Labels::Numbers(numbers(), NumberLoss::Huber));
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(
        close(&squared, &[0.5 * 0.05 * 0.05, 0.5 * 0.4 * 0.4]),
        "{squared:?}"
    );
    assert!(
        close(&huber, &[0.5 * 0.05 * 0.05, 0.1 * (0.4 - 0.05)]),
        "{huber:?}"
    );

    let logits = [0.3_f64, -2.0, 60.0, -60.0];
    let has = [1.0_f64, 0.0, 0.0, 1.0];
    let each = |x: &f64, y: &f64| {
        let p = 1.0 / (1.0 + (-x).exp());
        -(y * p.ln() + (1.0 - y) * (1.0 - p).ln())
    };
    let outputs: Vec<f32> = logits.iter().map(|x| *x as f32).collect();
    let sets: Vec<f32> = has.iter().map(|y| *y as f32).collect();
    let found = of(tensor(&outputs, 2), Labels::Sets(tensor(&sets, 2)));
    let first: f64 = logits[..2].iter().zip(&has).map(|(x, y)| each(x, y)).sum();
    assert!(close(&found, &[first, 120.0]), "{found:?}");
}

#[test]
fn models_of_numbers_and_labels_equal_the_per_sample_loop() {
    let device = device();
    let rows = images([3, 7]);
    let numbers = Tensor::<1>::from_floats([0.1, 0.9, 0.4], &Device::default());
    let number = MlpConfig::new(vec![7, 5, 1]).init(&device);
    for loss in [NumberLoss::Squared, NumberLoss::Huber] {
        assert_matches_per_sample_loop(&number, 3, |model, range| {
            model.losses(Labelled {
                inputs: rows.clone().narrow(0, range.start, range.len()),
                labels: Labels::Numbers(numbers.clone().narrow(0, range.start, range.len()), loss),
            })
        });
    }
    let sets = images::<2>([3, 4]).greater_elem(0.0).float();
    let labels = MlpConfig::new(vec![7, 5, 4]).init(&device);
    assert_matches_per_sample_loop(&labels, 3, |model, range| {
        model.losses(Labelled {
            inputs: rows.clone().narrow(0, range.start, range.len()),
            labels: Labels::Sets(sets.clone().narrow(0, range.start, range.len())),
        })
    });
}
