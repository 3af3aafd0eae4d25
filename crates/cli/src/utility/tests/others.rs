//! Figures of numbers and of several labels.

use super::{case, uniform};
use crate::utility::labels::{self, LabelsLayout};
use crate::utility::number::{self, NumberLayout};
use crate::utility::{Figure, Layout};
use tacita_datasets::{NumberLoss, NumberTarget, TargetKind};

fn price() -> NumberTarget {
    NumberTarget {
        name: "price".into(),
        min: 100.0,
        max: 300.0,
        loss: NumberLoss::Squared,
    }
}

/// Outputs and true numbers, which they follow.
fn numbers(count: usize) -> (Vec<Vec<f32>>, Vec<f32>) {
    let drawn = uniform(3, 2 * count);
    let pairs = drawn.chunks(2);
    pairs
        .map(|u| {
            let truth = 0.2 + 0.6 * u[0];
            (
                vec![((truth + 0.2 * (u[1] - 0.5) - 0.5) / 0.03) as f32],
                truth as f32,
            )
        })
        .unzip()
}

#[test]
fn exact_figures_of_a_number_are_the_textbooks() {
    let (outputs, truths) = numbers(500);
    let figures = number::exact(&outputs, &truths, &price(), String::new());
    let truth: Vec<f64> = truths
        .iter()
        .map(|t| 100.0 + 200.0 * f64::from(*t))
        .collect();
    let answer = |k: usize| 100.0 + 200.0 * (0.03 * f64::from(outputs[k][0]) + 0.5).clamp(0.0, 1.0);
    let mean = truth.iter().sum::<f64>() / 500.0;
    let sum = |of: &dyn Fn(usize) -> f64| (0..500).map(of).sum::<f64>();
    let absolute = sum(&|k| (answer(k) - truth[k]).abs()) / 500.0;
    let square = sum(&|k| (answer(k) - truth[k]).powi(2)) / 500.0;
    let spread = sum(&|k| (truth[k] - mean).powi(2)) / 500.0;
    let close = |figure: Option<Figure>, expected: f64| {
        let found = figure.unwrap();
        assert!(
            (found.value - expected).abs() < 1e-6 * expected.abs(),
            "{found:?} {expected}"
        );
        assert_eq!(found.plus_minus, None);
    };
    close(figures.mean_absolute_error, absolute);
    close(figures.root_mean_squared_error, square.sqrt());
    close(figures.spread, spread.sqrt());
    close(figures.r_squared, 1.0 - square / spread);
    assert!(figures.warnings.is_empty());
    // Always answering the middle is no model.
    let guesses = vec![vec![0.0]; 500];
    let figures = number::exact(&guesses, &truths, &price(), String::new());
    assert!(figures.r_squared.unwrap().value <= 0.0 && !figures.warnings.is_empty());
    // Nothing fails on nothing.
    assert_eq!(
        number::exact(&[], &[], &price(), String::new()).r_squared,
        None
    );
}

#[test]
fn noisy_figures_of_a_number_are_close_and_one_record_moves_them_by_at_most_one() {
    let (outputs, truths) = numbers(500);
    let layout = NumberLayout { noise: 1e-6 };
    let mut sums = vec![0.0; layout.length()];
    for (output, truth) in outputs.iter().zip(&truths) {
        let vector = layout.vector(output[0], *truth);
        sums.iter_mut()
            .zip(vector)
            .for_each(|(sum, value)| *sum += value);
    }
    let noisy = layout.read(&sums, &price(), String::new());
    let exact = number::exact(&outputs, &truths, &price(), String::new());
    for (noisy, exact) in [
        (noisy.mean_absolute_error, exact.mean_absolute_error),
        (noisy.root_mean_squared_error, exact.root_mean_squared_error),
        (noisy.spread, exact.spread),
        (noisy.r_squared, exact.r_squared),
    ] {
        let (noisy, exact) = (noisy.unwrap(), exact.unwrap());
        assert!(
            (noisy.value - exact.value).abs() < 1e-4 * exact.value,
            "{noisy:?} {exact:?}"
        );
        assert!(noisy.plus_minus.is_some());
    }
    for output in [0.0, 1e30, -1e30, f32::NAN, f32::INFINITY, -0.5, 0.5] {
        for truth in [0.0, 0.5, 1.0] {
            let length: f64 = layout.vector(output, truth).iter().map(|x| x * x).sum();
            assert!(length <= 1.0 + 1e-12, "{output} {truth}: {length}");
        }
    }
    assert!((layout.noise_multiplier() - 1e-6 / 6_f64.sqrt()).abs() < 1e-18);
    // Noise alone tells nothing.
    let nothing = NumberLayout { noise: 50.0 }.read(
        &[1.0, -9.0, 3.0, -20.0, 5.0, 1.0],
        &price(),
        String::new(),
    );
    assert_eq!(nothing.r_squared, None);
    assert!(!nothing.warnings.is_empty());
}

#[test]
fn figures_of_labels_are_those_of_each_alone_and_their_means() {
    let two = case(2, 400);
    let outputs: Vec<Vec<f32>> = (two.outputs.iter())
        .map(|values| vec![values[1] - values[0], values[0] - values[1]])
        .collect();
    let has: Vec<u8> = (two.labels.iter())
        .flat_map(|label| [*label as u8, 1 - *label as u8])
        .collect();
    let names = ["rare".to_string(), "usual".to_string()];
    let exact = labels::exact(&outputs, &has, &names, String::new());
    let alone = crate::utility::exact_classes(two.answers(), String::new());
    let first = &exact.labels[0];
    assert_eq!(first.accuracy, alone.accuracy);
    assert_eq!(first.roc_area, alone.roc_area);
    assert!((first.log_loss.unwrap().value - alone.log_loss.unwrap().value).abs() < 1e-6);
    let mean =
        |of: fn(&crate::utility::ClassUtility) -> f64| (of(first) + of(&exact.labels[1])) / 2.0;
    assert_eq!(
        exact.f1.unwrap().value,
        mean(|label| label.f1.unwrap().value)
    );

    let layout = LabelsLayout {
        labels: 2,
        noise: 1e-6,
    };
    let mut sums = vec![0.0; layout.length()];
    for (values, has) in outputs.iter().zip(has.chunks(2)) {
        let vector = layout.vector(values, has);
        let length: f64 = vector.iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-9);
        sums.iter_mut()
            .zip(vector)
            .for_each(|(sum, value)| *sum += value);
    }
    let noisy = layout.read(&sums, &names, String::new());
    for (noisy, exact) in [
        (noisy.accuracy, exact.accuracy),
        (noisy.majority_share, exact.majority_share),
        (noisy.roc_area, exact.roc_area),
    ] {
        let (noisy, exact) = (noisy.unwrap(), exact.unwrap());
        assert!(
            (noisy.value - exact.value).abs() < 0.02,
            "{noisy:?} {exact:?}"
        );
    }
    // Two labels of two tables each: a record enters four cells.
    let multiplier = Layout::new(TargetKind::Labels, 2, 20.0).noise_multiplier();
    assert!((multiplier - 10.0).abs() < 1e-12);
}
