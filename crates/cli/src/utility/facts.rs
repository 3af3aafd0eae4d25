//! Figures as a run folder holds them.

use super::bands::Banded;
use super::class_figures::{ClassFigures, calibration};
use super::labels::LabelsUtility;
use super::number::NumberUtility;
use super::ranking::{mean_curve, precision_recall, roc, thinned};
use super::tally::Tally;
use super::warnings::{self, Seen};
use serde::{Deserialize, Serialize};

/// Points of a drawn curve, at most.
const CURVE_POINTS: usize = 200;
/// Places at which the curves of several classes are averaged.
const MEAN_POINTS: usize = 50;

/// How good a model is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "target", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Utility {
    /// One class of a list.
    Classes(ClassUtility),
    /// A number.
    Number(NumberUtility),
    /// Any of some labels.
    Labels(LabelsUtility),
}

impl Utility {
    /// The share of right answers.
    pub fn accuracy(&self) -> Option<Figure> {
        match self {
            Self::Classes(classes) => classes.accuracy,
            Self::Labels(labels) => labels.accuracy,
            Self::Number(_) => None,
        }
    }

    /// Whether it was computed from noisy tables.
    pub fn is_noisy(&self) -> bool {
        match self {
            Self::Classes(classes) => classes.count_noise.is_some(),
            Self::Labels(labels) => labels.count_noise.is_some(),
            Self::Number(number) => number.count_noise.is_some(),
        }
    }

    /// The mean squared error of a predicted number, in its unit.
    pub fn squared_error(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(number.root_mean_squared_error?.value.powi(2)),
            _ => None,
        }
    }
}

/// A figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// Two standard deviations of the noise in it; none if it is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plus_minus: Option<f64>,
    /// Whether it was read from bins of scores, which round them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_bins: bool,
}

/// How good a classifier is. A figure that is missing cannot be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassUtility {
    /// The records, in words.
    pub on: String,
    /// The standard deviation of the noise on a count, in records; none if the figures are exact.
    pub count_noise: Option<f64>,
    /// How many records, as far as it may be said.
    pub records: Figure,
    /// The share of right answers.
    pub accuracy: Option<Figure>,
    /// The share of the most frequent class: the accuracy of always answering it.
    pub majority_share: Option<Figure>,
    /// The mean of the classes' recall.
    pub balanced_accuracy: Option<Figure>,
    /// Area under the ROC curve; of more than two classes the mean of each against the others.
    pub roc_area: Option<Figure>,
    /// Area under the precision–recall curve (average precision), the same.
    pub average_precision: Option<Figure>,
    /// F1 of the second of two classes; of more the mean.
    pub f1: Option<Figure>,
    /// Mean of −ln of the probability of the true class.
    pub log_loss: Option<Figure>,
    /// Mean squared distance of probabilities from the truth.
    pub brier: Option<Figure>,
    /// Mean distance of probabilities from observed shares.
    pub calibration_error: Option<Figure>,
    /// Each class.
    pub per_class: Vec<PerClass>,
    /// Records by class and by answer, as many rows as classes; empty if there are too many.
    pub confusion: Vec<Vec<f64>>,
    /// Probabilities beside observed shares.
    pub calibration: Vec<Calibration>,
    /// (false-positive rate, true-positive rate); of more than two classes their mean.
    pub roc: Vec<(f64, f64)>,
    /// (recall, precision), the same.
    pub precision_recall: Vec<(f64, f64)>,
    /// What to know before relying on the model.
    pub warnings: Vec<String>,
}

/// One class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PerClass {
    /// Its public name.
    pub class: String,
    /// Its records.
    pub records: f64,
    /// The share of them that is answered rightly.
    pub recall: Option<Figure>,
}

/// A bin of probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// What the model said, on average.
    pub predicted: f64,
    /// What was true.
    pub observed: Figure,
}

/// Exact figures.
pub fn exact(
    tally: &Tally,
    figures: &ClassFigures,
    classes: &[String],
    on: String,
) -> ClassUtility {
    let figure = |value: f64, _: Option<f64>, _: bool| Figure {
        value,
        plus_minus: None,
        from_bins: false,
    };
    let none = ClassFigures {
        recall: vec![None; figures.recall.len()],
        observed: vec![None; figures.observed.len()],
        ..ClassFigures::default()
    };
    gathered(tally, figures, &none, classes, on, figure)
}

/// Noisy figures with their bands.
pub fn noisy(tally: &Tally, banded: &Banded, classes: &[String], on: String) -> ClassUtility {
    let figure = |value: f64, plus_minus: Option<f64>, from_bins: bool| Figure {
        value,
        plus_minus,
        from_bins,
    };
    gathered(tally, &banded.figures, &banded.bands, classes, on, figure)
}

fn gathered(
    tally: &Tally,
    figures: &ClassFigures,
    bands: &ClassFigures,
    classes: &[String],
    on: String,
    figure: impl Fn(f64, Option<f64>, bool) -> Figure,
) -> ClassUtility {
    let count_noise = tally.outcome.noise_std;
    let noisy = count_noise > 0.0;
    // Of two classes all else is summed up from the confusion matrix.
    let cell_noise = match tally.confusion.of.is_empty() {
        true => tally.classes.noise_std,
        false => tally.confusion.noise_std,
    };
    let counted = |value: Option<f64>, band| value.map(|value| figure(value, band, false));
    let binned = |value: Option<f64>, band| value.map(|value| figure(value, band, noisy));
    let calibration = calibration(tally);
    let seen = Seen {
        tally,
        gain: figures.gain,
        gain_band: bands.gain.unwrap_or(0.0),
    };
    // Curves are told where their areas are.
    let told = figures.roc_area.is_some();
    let curves = |curve: fn(&[super::ranking::Scored]) -> Vec<(f64, f64)>| match &tally.scores.of[..]
    {
        _ if !told => Vec::new(),
        [one] => thinned(curve(one), CURVE_POINTS),
        several => {
            let all: Vec<_> = several
                .iter()
                .filter(|of| both(of))
                .map(|of| curve(of))
                .collect();
            mean_curve(&all, MEAN_POINTS)
        }
    };
    ClassUtility {
        on,
        count_noise: noisy.then_some(cell_noise),
        records: figure(
            tally.records(),
            noisy.then_some(2.0 * count_noise * 2_f64.sqrt()),
            false,
        ),
        accuracy: counted(figures.accuracy, bands.accuracy),
        majority_share: counted(figures.majority_share, bands.majority_share),
        balanced_accuracy: counted(figures.balanced_accuracy, bands.balanced_accuracy),
        roc_area: binned(figures.roc_area, bands.roc_area),
        average_precision: binned(figures.average_precision, bands.average_precision),
        f1: counted(figures.f1, bands.f1),
        log_loss: binned(figures.log_loss, bands.log_loss),
        brier: binned(figures.brier, bands.brier),
        calibration_error: binned(figures.calibration_error, bands.calibration_error),
        per_class: (classes.iter().enumerate())
            .map(|(class, name)| PerClass {
                class: name.clone(),
                records: tally.classes.of[class],
                recall: counted(
                    figures.recall.get(class).copied().flatten(),
                    bands.recall.get(class).copied().flatten(),
                ),
            })
            .collect(),
        confusion: tally.confusion.of.clone(),
        calibration: (calibration
            .iter()
            .zip(&figures.observed)
            .zip(&bands.observed))
        .filter_map(|((bin, observed), band)| {
            Some(Calibration {
                predicted: bin.predicted,
                observed: figure((*observed)?, *band, noisy),
            })
        })
        .collect(),
        roc: curves(roc),
        precision_recall: curves(precision_recall),
        warnings: warnings::warnings(&seen, classes),
    }
}

/// Whether there are records with and without the property.
fn both(scores: &[super::ranking::Scored]) -> bool {
    let (positive, negative) = super::ranking::totals(scores);
    positive > 0.0 && negative > 0.0
}
