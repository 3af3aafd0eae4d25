//! What is released of a model's answers on private test records, by what it predicts.

use super::facts::Utility;
use super::labels::LabelsLayout;
use super::layout::ClassLayout;
use super::noisy_classes;
use super::number::NumberLayout;
use tacita_datasets::{Target, TargetKind, Targets};

/// What is released: sums of one vector per record, which has length at most 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Layout {
    /// Counts of classes, answers and scores.
    Classes(ClassLayout),
    /// Sums of errors.
    Number(NumberLayout),
    /// Counts for each label.
    Labels(LabelsLayout),
}

impl Layout {
    /// For so many outputs, with this standard deviation of the noise on a count or sum, in records.
    pub fn new(kind: TargetKind, outputs: usize, noise: f64) -> Self {
        match kind {
            TargetKind::Class => Self::Classes(ClassLayout::new(outputs, noise)),
            TargetKind::Number => Self::Number(NumberLayout { noise }),
            TargetKind::Labels => Self::Labels(LabelsLayout {
                labels: outputs,
                noise,
            }),
        }
    }

    /// The noise multiplier of the release.
    pub fn noise_multiplier(&self) -> f64 {
        match self {
            Self::Classes(layout) => layout.noise_multiplier(),
            Self::Number(layout) => layout.noise_multiplier(),
            Self::Labels(layout) => layout.noise_multiplier(),
        }
    }

    /// Numbers that are released.
    pub fn length(&self) -> usize {
        match self {
            Self::Classes(layout) => layout.length(),
            Self::Number(layout) => layout.length(),
            Self::Labels(layout) => layout.length(),
        }
    }

    /// The vector of each record. Targets of another kind than planned give none, as records that cannot be used do.
    pub fn vectors<'a>(
        &'a self,
        outputs: &'a [Vec<f32>],
        targets: &'a Targets,
    ) -> Box<dyn Iterator<Item = Vec<f64>> + 'a> {
        let outputs = outputs.iter();
        match self {
            Self::Classes(layout) => Box::new(
                (outputs.zip(targets.classes()))
                    .map(|(values, class)| layout.vector(values, usize::from(*class))),
            ),
            Self::Number(layout) => {
                Box::new((outputs.zip(targets.numbers())).map(|(values, truth)| {
                    layout.vector(values.first().copied().unwrap_or(0.0), *truth)
                }))
            }
            Self::Labels(layout) => Box::new(
                (outputs.zip(targets.labels().chunks(layout.labels.max(1))))
                    .map(|(values, has)| layout.vector(values, has)),
            ),
        }
    }

    /// Figures from the released sums; none if the target is of another kind.
    pub fn read(&self, released: &[f64], target: &Target, on: String) -> Option<Utility> {
        Some(match (self, target) {
            (Self::Classes(layout), Target::Classes(classes)) => {
                Utility::Classes(noisy_classes(layout, released, classes, on))
            }
            (Self::Number(layout), Target::Number(number)) => {
                Utility::Number(layout.read(released, number, on))
            }
            (Self::Labels(layout), Target::Labels { names, .. }) => {
                Utility::Labels(layout.read(released, names, on))
            }
            _ => return None,
        })
    }
}
