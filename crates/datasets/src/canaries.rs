//! Canaries: synthetic records at the edges of what is declared, by which a run is audited.

use crate::preparation::{Input, InputPreparation, Preparation, Values};
use crate::random::SplitMix;
use crate::records::{Cell, RecordSet, RowLayout, Targets};
use crate::target::{Target, Truth};
use crate::word_vectors::WordVectors;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// What the canaries of a run are made by.
///
/// A canary is a record like any other to the model, but as far from the others as the declared bounds allow: numbers at
/// one of their two bounds, categories, words and classes at random, pixels black or white. Nothing of it is read from
/// the records. Canary `index` is a function of `secret` and of its number alone, so a run that is resumed has the same
/// ones, and whoever is told the secret can make them again without the data.
#[derive(Debug, Clone, Copy)]
pub struct Canaries<'a> {
    /// How inputs are prepared.
    pub preparation: &'a Preparation,
    /// What is predicted.
    pub target: &'a Target,
    /// 256 bits.
    pub secret: &'a [u8; 32],
}

/// Words of a synthetic text.
const WORDS: u64 = 48;
/// Letters of a synthetic word.
const LETTERS: u64 = 6;

impl Canaries<'_> {
    /// The canaries of these numbers.
    pub fn records(&self, indices: &[u64], vectors: Option<Arc<WordVectors>>) -> Result<RecordSet> {
        let mut values = Values::default();
        let mut targets = Targets::of(self.target);
        for index in indices {
            let mut random = self.random(*index);
            self.push_input(&mut random, vectors.as_deref(), &mut values)?;
            targets.push(self.truth(&mut random), None)?;
        }
        self.preparation.records(values, targets, vectors)
    }

    fn random(&self, index: u64) -> SplitMix {
        let hash = Sha256::new()
            .chain_update(self.secret)
            .chain_update(index.to_le_bytes())
            .finalize();
        let first: [u8; 8] = std::array::from_fn(|at| hash[at]);
        SplitMix(u64::from_le_bytes(first))
    }

    fn push_input(
        &self,
        random: &mut SplitMix,
        vectors: Option<&WordVectors>,
        values: &mut Values,
    ) -> Result<()> {
        const NO_VECTORS: &str = "canaries of public word vectors need the vectors";
        match &self.preparation.input {
            InputPreparation::Picture(picture) => {
                values
                    .bytes
                    .extend(pixels(random, picture.size.values(), picture.white));
            }
            InputPreparation::Scattering(scattering) => {
                let picture = &scattering.picture;
                values
                    .bytes
                    .extend(pixels(random, picture.size.values(), picture.white));
            }
            InputPreparation::FirstWords(words) => {
                let count = vectors.context(NO_VECTORS)?.count() as u64;
                let drawn = (0..words.words).map(|_| random.below(count) as f32);
                values.cells.extend(drawn);
            }
            InputPreparation::WordMeans(_) => {
                let vectors = vectors.context(NO_VECTORS)?;
                let word = random.below(vectors.count() as u64) as usize;
                values.cells.extend_from_slice(vectors.vector(word));
            }
            InputPreparation::Table(table) => {
                let (RowLayout::Columns(cells) | RowLayout::Standardised(cells, _)) =
                    table.layout()?
                else {
                    unreachable!("the layout of a table is that of its columns")
                };
                values.cells.extend(cells.iter().map(|cell| match cell {
                    Cell::Number => random.below(2) as f32,
                    Cell::OneHot(categories) => random.below(*categories as u64) as f32,
                }));
            }
            InputPreparation::Words(_)
            | InputPreparation::Characters(_)
            | InputPreparation::NGrams(_)
            | InputPreparation::Counts(_)
            | InputPreparation::Subwords(_) => {
                let text = text(random);
                self.preparation.push(Input::Text(&text), vectors, values)?;
            }
        }
        Ok(())
    }

    fn truth(&self, random: &mut SplitMix) -> Truth {
        match self.target {
            Target::Classes(names) => Truth::Class(random.below(names.len().max(1) as u64) as u16),
            Target::Number(_) => Truth::Number(random.below(2) as f32),
            Target::Labels { names, .. } => {
                Truth::Labels(names.iter().map(|_| random.below(2) as u8).collect())
            }
        }
    }
}

fn pixels(random: &mut SplitMix, count: usize, white: u8) -> impl Iterator<Item = u8> + '_ {
    (0..count).map(move |_| if random.below(2) == 1 { white } else { 0 })
}

fn text(random: &mut SplitMix) -> String {
    let mut text = String::new();
    for _ in 0..WORDS {
        for _ in 0..LETTERS {
            text.push(char::from(b'a' + random.below(26) as u8));
        }
        text.push(' ');
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::image_size::ImageSize;
    use crate::preparation::{Picture, TextCounts};

    fn picture() -> Preparation {
        let size = ImageSize {
            width: 4,
            height: 4,
            channels: 1,
        };
        Preparation {
            input: InputPreparation::Picture(Picture::new(size).unwrap()),
            classes: vec!["a".into(), "b".into()],
        }
    }

    #[test]
    fn a_canary_is_a_function_of_the_secret_and_its_number() {
        let (preparation, target) = (picture(), Target::Classes(vec!["a".into(), "b".into()]));
        let of = |secret: &[u8; 32], indices: &[u64]| {
            let canaries = Canaries {
                preparation: &preparation,
                target: &target,
                secret,
            };
            canaries.records(indices, None).unwrap()
        };
        let (one, other) = ([1; 32], [2; 32]);
        assert_eq!(of(&one, &[3, 5]).count(), 2);
        assert_eq!(
            of(&one, &[3]).followed_by(&of(&one, &[5])).unwrap(),
            of(&one, &[3, 5])
        );
        assert_ne!(of(&one, &[3]), of(&other, &[3]));
        assert_ne!(of(&one, &[3]), of(&one, &[4]));
    }

    #[test]
    fn counts_of_texts_follow_one_another() {
        let preparation = Preparation {
            input: InputPreparation::Counts(TextCounts { buckets: 64 }),
            classes: vec!["a".into(), "b".into()],
        };
        let target = Target::Classes(preparation.classes.clone());
        let canaries = Canaries {
            preparation: &preparation,
            target: &target,
            secret: &[7; 32],
        };
        let of = |indices: &[u64]| canaries.records(indices, None).unwrap();
        assert_eq!(of(&[0, 1]).followed_by(&of(&[2])).unwrap(), of(&[0, 1, 2]));
    }

    #[test]
    fn records_of_another_kind_are_not_mixed() {
        let preparation = picture();
        let target = Target::Classes(preparation.classes.clone());
        let canaries = Canaries {
            preparation: &preparation,
            target: &target,
            secret: &[7; 32],
        };
        let images = canaries.records(&[0], None).unwrap();
        let rows = crate::records::Rows::new(RowLayout::Numbers(1), 2, vec![0.0], vec![0_u16]);
        assert!(images.followed_by(&RecordSet::Rows(rows.unwrap())).is_err());
    }
}
