//! What is public about the built-in sets.

use crate::{Builtin, ImageSize, Shape};

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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Opened, Options, Source, open};

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
