//! What is used where nothing is set, and what is public about the built-in sets.

use super::Settings;
use crate::datasets::{Builtin, ImageSize, Shape};
use anyhow::Result;

/// What everybody knows of a public set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Records to train on.
    pub records: u64,
    /// Input of a model.
    pub shape: Shape,
    /// Number of classes.
    pub classes: usize,
}

/// The published size and shape of a set, so that a plan can be made without opening it.
pub fn known(set: Builtin) -> Known {
    let image = |channels, width| {
        Shape::Images(ImageSize {
            channels,
            height: width,
            width,
        })
    };
    let words = |length| Shape::Tokens {
        length,
        vocabulary: 10_000,
    };
    let letters = Shape::Tokens {
        length: 15,
        vocabulary: 59,
    };
    let (records, shape, classes) = match set {
        Builtin::Digits => (3_823, image(1, 8), 10),
        Builtin::Mnist | Builtin::FashionMnist => (60_000, image(1, 28), 10),
        Builtin::Cifar10 => (50_000, image(3, 32), 10),
        Builtin::Imdb => (25_000, words(256), 2),
        Builtin::AgNews => (120_000, words(64), 4),
        Builtin::Names => (16_101, letters, 18),
        Builtin::NamesRandomSplit => (16_194, letters, 18),
        Builtin::Adult => (32_561, Shape::Rows { width: 108 }, 2),
        Builtin::Pneumonia => (5_216, image(1, 64), 2),
        Builtin::PneumoniaResplit => (5_293, image(1, 64), 2),
    };
    Known {
        records,
        shape,
        classes,
    }
}

/// The input of a model on a set as the settings have it prepared.
pub fn known_shape(set: Builtin, settings: &Settings) -> Result<Shape> {
    let shape = known(set).shape;
    match settings.features {
        Some(features) => features.shape(shape),
        None => Ok(shape),
    }
}

/// Fills in what is not set. Nothing here depends on the data, only on its kind and public size.
pub fn fill(settings: &mut Settings, shape: Shape, records: u64) {
    let digits = settings.data == Some(Builtin::Digits);
    if settings.noise.is_none() && settings.epsilon.is_none() {
        settings.epsilon = Some(if digits { 8.0 } else { 3.0 });
    }
    if settings.steps.is_none() && settings.epochs.is_none() {
        settings.epochs = Some(20.0);
    }
    // Large batches average the noise away; a quarter of a small set is the most.
    let batch = 512.min(records / 4).max(1);
    settings
        .batch
        .get_or_insert(if digits { 512 } else { batch });
    settings.delta.get_or_insert_with(|| delta(records));
    settings.clipping.get_or_insert_with(|| "auto".into());
    let text = matches!(shape, Shape::Tokens { length, .. } if length > 32);
    let optimizer = if text { "adam" } else { "momentum" };
    let optimizer = settings.optimizer.get_or_insert_with(|| optimizer.into());
    let adaptive =
        optimizer.starts_with("ad") || optimizer.starts_with("nad") || optimizer.starts_with("rms");
    // The rate that automatic clipping was published with (Bu et al. 2023, G.1), and Adam's for texts.
    settings
        .learning_rate
        .get_or_insert(if adaptive { 0.01 } else { 0.5 });
    settings
        .rate_schedule
        .get_or_insert_with(|| "constant".into());
}

/// A tenth of 1 / records, rounded down to two digits: well below the probability at which one
/// record in the set would be expected to be exposed.
fn delta(records: u64) -> f64 {
    let tenth = 0.1 / records.max(1) as f64;
    let scale = 10f64.powi(1 - tenth.log10().floor() as i32);
    (tenth * scale).floor() / scale
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::datasets::{Opened, Options, Source, open};

    /// Sets that are not on this machine are skipped: `TACITA_DATA` names the folder they are in.
    #[test]
    fn what_is_known_of_a_set_is_what_it_gives() {
        let options = Options {
            offline: true,
            quiet: true,
            ..Options::default()
        };
        for set in <Builtin as clap::ValueEnum>::value_variants() {
            let data = match open(&Source::Builtin(*set), &options) {
                Ok(Opened::Ready(data)) => data,
                Ok(Opened::NeedsBounds(_)) => panic!("bounds of public sets are declared"),
                Err(error) => {
                    assert_ne!(*set, Builtin::Digits, "{error:#}");
                    eprintln!("skipped: {error:#}");
                    continue;
                }
            };
            // Copies of AG News are often parts of it; what is known is the published size.
            let records = match set {
                Builtin::AgNews => 120_000,
                _ => data.public_count.unwrap(),
            };
            let found = Known {
                records,
                shape: data.shape(),
                classes: data.classes().len(),
            };
            assert_eq!(known(*set), found, "{}", set.name());
        }
    }
}
