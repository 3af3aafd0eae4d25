//! Figures from noisy tables.

use super::{Case, case};
use crate::utility::layout::ClassLayout;
use crate::utility::log_odds::{BINS, EDGES, bin, middle, probability};
use crate::utility::{ClassUtility, Figure, exact_classes, noisy_classes};

/// What the mechanism would release without noise.
fn sums(layout: &ClassLayout, case: &Case) -> Vec<f64> {
    let mut sums = vec![0.0; layout.length()];
    for vector in layout.vectors(case.answers()) {
        sums.iter_mut()
            .zip(vector)
            .for_each(|(sum, value)| *sum += value);
    }
    sums
}

fn read(layout: &ClassLayout, released: &[f64], case: &Case) -> ClassUtility {
    noisy_classes(layout, released, &case.classes, "private rows".into())
}

fn figures_of(utility: &ClassUtility) -> [Option<Figure>; 9] {
    [
        utility.accuracy,
        utility.majority_share,
        utility.balanced_accuracy,
        utility.f1,
        utility.roc_area,
        utility.average_precision,
        utility.log_loss,
        utility.brier,
        utility.calibration_error,
    ]
}

/// Neighbouring data sets: a record more moves the sums by its vector and by nothing else. That vector has length 1,
/// and in counts it is one in one cell of each table (and of the scores of each judged class).
#[test]
fn one_record_changes_one_cell_of_each_table_by_one() {
    for (classes, tables) in [(2, 2.0), (3, 4.0), (10, 4.0), (40, 2.0)] {
        let layout = ClassLayout::new(classes, 20.0);
        let case = case(classes, 60);
        let last = case.outputs.len() - 1;
        let fewer = Case {
            classes: case.classes.clone(),
            outputs: case.outputs[..last].to_vec(),
            labels: case.labels[..last].to_vec(),
        };
        let [all, without] = [&case, &fewer].map(|case| sums(&layout, case));
        let moved: f64 = all.iter().zip(&without).map(|(a, b)| (a - b).powi(2)).sum();
        assert!((moved - 1.0).abs() < 1e-9, "{classes}: {moved}");
        assert!((layout.noise_multiplier() - 20.0 / f64::sqrt(tables)).abs() < 1e-12);

        let [all, without] = [&all, &without].map(|sums| layout.tally(sums));
        let difference = |a: &[f64], b: &[f64]| -> Vec<f64> {
            let all = a.iter().zip(b).map(|(a, b)| (a - b).round());
            all.filter(|moved| *moved != 0.0).collect()
        };
        assert_eq!(difference(&all.outcome.of, &without.outcome.of), [1.0]);
        assert_eq!(difference(&all.classes.of, &without.classes.of), [1.0]);
        let [a, b] = [&all, &without].map(|tally| tally.confusion.of.concat());
        let fits = usize::from(classes <= 32);
        assert_eq!(difference(&a, &b), vec![1.0; fits]);
        for (a, b) in all.scores.of.iter().zip(&without.scores.of) {
            let cells = |scores: &[crate::utility::ranking::Scored]| -> Vec<f64> {
                scores
                    .iter()
                    .flat_map(|at| [at.positive, at.negative])
                    .collect()
            };
            assert_eq!(difference(&cells(a), &cells(b)), [1.0]);
        }
    }
}

/// Whatever a model answers, a record's vector has length 1.
#[test]
fn no_answer_makes_a_vector_longer() {
    for classes in [2, 3, 33] {
        let layout = ClassLayout::new(classes, 5.0);
        for value in [0.0, 1e30, -1e30, f32::NAN, f32::INFINITY, f32::MIN_POSITIVE] {
            for label in [0, classes - 1] {
                let mut values = vec![0.5; classes];
                values[1] = value;
                let vector = layout.vector(&values, label);
                let length: f64 = vector.iter().map(|x| x * x).sum();
                assert!(
                    (length - 1.0).abs() < 1e-9,
                    "{classes} {value} {label}: {length}"
                );
            }
        }
    }
}

#[test]
fn without_noise_counts_are_exact_and_binned_figures_close() {
    for (classes, count) in [(2, 400), (3, 300)] {
        let case = case(classes, count);
        let layout = ClassLayout::new(classes, 1e-6);
        let ours = read(&layout, &sums(&layout, &case), &case);
        let exact = exact_classes(case.answers(), String::new());
        let pairs = figures_of(&ours).into_iter().zip(figures_of(&exact));
        for (index, (noisy, exact)) in pairs.enumerate() {
            let (noisy, exact) = (noisy.unwrap(), exact.unwrap());
            assert_eq!(noisy.from_bins, index >= 4, "{index}");
            // Within a bin nothing is ranked, which average precision feels most.
            let allowed = match index {
                5 => 0.15,
                _ if noisy.from_bins => 0.03,
                _ => 1e-6,
            };
            assert!(
                (noisy.value - exact.value).abs() < allowed,
                "{classes} {index}: {noisy:?} {exact:?}"
            );
        }
        assert_eq!(ours.warnings, exact.warnings);
    }
}

/// A seeded normal, by twelve uniform values.
fn normal(drawn: &mut impl Iterator<Item = f64>) -> f64 {
    (0..12).map(|_| drawn.next().unwrap()).sum::<f64>() - 6.0
}

/// The bands say two standard deviations: of 200 releases of the same records at least 88 % of the figures lie within
/// theirs of the figure without noise. (If 95.4 % are expected to, fewer are a chance of about one in a hundred thousand;
/// what is expected of a ratio such as the AUC is a little less.)
#[test]
fn bands_hold_the_figures_without_noise_as_often_as_they_say() {
    for (classes, noise) in [(2, 0.5), (3, 1.0)] {
        let case = case(classes, if classes == 2 { 400 } else { 300 });
        let layout = ClassLayout::new(classes, noise);
        let exact = sums(&layout, &case);
        let quiet = ClassLayout::new(classes, 1e-9);
        let truth = figures_of(&read(&quiet, &exact, &case));
        let mut drawn = super::uniform(5, 200 * 12 * exact.len()).into_iter();
        let (mut held, mut told) = ([0; 9], [0; 9]);
        for _ in 0..200 {
            let released: Vec<f64> = (exact.iter())
                .map(|sum| sum + layout.noise_multiplier() * normal(&mut drawn))
                .collect();
            let figures = figures_of(&read(&layout, &released, &case));
            for (index, figure) in figures.into_iter().enumerate() {
                let Some(Figure {
                    value,
                    plus_minus: Some(band),
                    ..
                }) = figure
                else {
                    continue;
                };
                told[index] += 1;
                held[index] += u32::from((value - truth[index].unwrap().value).abs() <= band);
            }
        }
        // Accuracy, majority share, AUC, log loss and Brier score are nearly linear in the counts.
        for index in [0, 1, 4, 6, 7] {
            let share = f64::from(held[index]) / f64::from(told[index]);
            assert!(
                told[index] > 150 && share > 0.88,
                "{classes} {index}: {share} of {}",
                told[index]
            );
        }
    }
}

/// Noise alone: nothing is claimed to be known, and nothing fails.
#[test]
fn nothing_is_told_of_tables_that_hold_noise_only() {
    for classes in [2, 5, 40] {
        let layout = ClassLayout::new(classes, 50.0);
        for sign in [1.0, -1.0] {
            let mut drawn = super::uniform(classes as u64, 12 * layout.length()).into_iter();
            let released: Vec<f64> = (0..layout.length())
                .map(|_| sign * layout.noise_multiplier() * normal(&mut drawn))
                .collect();
            let case = case(classes, 0);
            let figures = read(&layout, &released, &case);
            let told = figures_of(&figures).iter().flatten().count();
            assert!(told <= 1, "{classes}: {figures:?}");
            assert!(!figures.warnings.is_empty());
            let json = serde_json::to_string(&figures).unwrap();
            assert!(!json.contains("NaN") && !json.contains("inf"));
            let back: ClassUtility = serde_json::from_str(&json).unwrap();
            assert_eq!(back, figures);
        }
    }
}

#[test]
fn bins_meet_at_public_edges_and_hold_their_middle() {
    assert_eq!(bin(0.0), bin(0.5));
    assert_ne!(bin(-1e-9), bin(0.0), "an answer changes at 0");
    assert_eq!((bin(f64::NEG_INFINITY), bin(f64::INFINITY)), (0, BINS - 1));
    for at in 0..BINS {
        assert_eq!(bin(middle(at)), at);
    }
    assert!(EDGES.is_sorted());
    assert!((probability(2.0) - 0.880_797_077_977_882_3).abs() < 1e-15);
}
