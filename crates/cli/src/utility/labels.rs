//! Figures of a model that predicts several labels: those of each, and their means.

use super::facts::{ClassUtility, Figure, Utility};
use super::layout::ClassLayout;
use super::{ClassAnswers, exact_classes, noisy_classes};
use serde::{Deserialize, Serialize};

/// How good a model of several labels is. A mean that is missing cannot be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelsUtility {
    /// The records, in words.
    pub on: String,
    /// The standard deviation of the noise on a count, in records; none if the figures are exact.
    pub count_noise: Option<f64>,
    /// Mean share of right answers.
    pub accuracy: Option<Figure>,
    /// Mean share of the more frequent answer.
    pub majority_share: Option<Figure>,
    /// Mean balanced accuracy.
    pub balanced_accuracy: Option<Figure>,
    /// Mean area under the ROC curve.
    pub roc_area: Option<Figure>,
    /// Mean average precision.
    pub average_precision: Option<Figure>,
    /// Mean F1.
    pub f1: Option<Figure>,
    /// Mean log loss.
    pub log_loss: Option<Figure>,
    /// Each label.
    pub labels: Vec<ClassUtility>,
    /// What to know before relying on the model.
    pub warnings: Vec<String>,
}

/// The release of noisy tables, those of two classes for each label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelsLayout {
    /// How many labels.
    pub labels: usize,
    /// The standard deviation of the noise on a cell.
    pub noise: f64,
}

impl LabelsLayout {
    fn each(&self) -> ClassLayout {
        ClassLayout::new(2, self.noise)
    }

    fn root(&self) -> f64 {
        (self.labels as f64).sqrt()
    }

    /// The noise multiplier of the release: a record enters the tables of each label.
    pub fn noise_multiplier(&self) -> f64 {
        self.each().noise_multiplier() / self.root()
    }

    /// Numbers that are released.
    pub fn length(&self) -> usize {
        self.labels * self.each().length()
    }

    /// A record's vector: those of its labels one after another, divided so that its length is 1.
    pub fn vector(&self, outputs: &[f32], has: &[u8]) -> Vec<f64> {
        let pairs = outputs.iter().zip(has);
        let vectors =
            pairs.map(|(output, has)| self.each().vector(&[0.0, *output], usize::from(*has)));
        vectors.flatten().map(|value| value / self.root()).collect()
    }

    /// Figures with their bands.
    pub fn read(&self, released: &[f64], names: &[String], on: String) -> LabelsUtility {
        let parts = released.chunks(self.each().length());
        let labels = parts.zip(names).map(|(released, name)| {
            let counts: Vec<f64> = released.iter().map(|sum| sum * self.root()).collect();
            noisy_classes(&self.each(), &counts, &answers_of(name), on.clone())
        });
        gathered(labels.collect(), on)
    }
}

/// Public names of the two answers of a label.
fn answers_of(label: &str) -> [String; 2] {
    [format!("not {label}"), label.to_string()]
}

/// Exact figures; `has` holds the labels of one record after another.
pub fn exact(outputs: &[Vec<f32>], has: &[u8], names: &[String], on: String) -> LabelsUtility {
    let labels = names.iter().enumerate().map(|(label, name)| {
        let of_label = |outputs: &Vec<f32>| vec![0.0, outputs[label]];
        let outputs: Vec<Vec<f32>> = outputs.iter().map(of_label).collect();
        let labels = has.iter().skip(label).step_by(names.len());
        let answers = ClassAnswers {
            classes: &answers_of(name),
            outputs: &outputs,
            labels: &labels.map(|has| u16::from(*has)).collect::<Vec<u16>>(),
        };
        exact_classes(answers, on.clone())
    });
    gathered(labels.collect(), on)
}

fn gathered(labels: Vec<ClassUtility>, on: String) -> LabelsUtility {
    let noise = labels.first().and_then(|label| label.count_noise);
    let mean = |of: fn(&ClassUtility) -> Option<Figure>| {
        let told: Vec<Figure> = labels.iter().filter_map(of).collect();
        // Where noise hides some labels, the mean of the others is not theirs.
        if told.is_empty() || noise.is_some() && told.len() < labels.len() {
            return None;
        }
        let count = told.len() as f64;
        let squares = told
            .iter()
            .map(|figure| figure.plus_minus.unwrap_or(0.0).powi(2));
        Some(Figure {
            value: told.iter().map(|figure| figure.value).sum::<f64>() / count,
            // The noise of different tables is independent.
            plus_minus: noise.map(|_| squares.sum::<f64>().sqrt() / count),
            from_bins: told.iter().any(|figure| figure.from_bins),
        })
    };
    let name = |label: &ClassUtility| label.per_class[1].class.clone();
    let warnings = labels.iter().flat_map(|label| {
        let of_label = move |warning: &String| format!("Label “{}”: {warning}", name(label));
        label.warnings.iter().map(of_label)
    });
    LabelsUtility {
        on,
        count_noise: noise,
        accuracy: mean(|label| label.accuracy),
        majority_share: mean(|label| label.majority_share),
        balanced_accuracy: mean(|label| label.balanced_accuracy),
        roc_area: mean(|label| label.roc_area),
        average_precision: mean(|label| label.average_precision),
        f1: mean(|label| label.f1),
        log_loss: mean(|label| label.log_loss),
        warnings: warnings.collect(),
        labels,
    }
}

impl From<LabelsUtility> for Utility {
    fn from(labels: LabelsUtility) -> Self {
        Self::Labels(labels)
    }
}
