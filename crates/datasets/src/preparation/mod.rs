//! How raw input becomes what a model sees: written down with a run, so that new input is prepared
//! in exactly the same way.
//!
//! Nothing here is fitted to the data. Every number is a constant of this program, a declaration
//! of the user, or a private estimate that was paid for; [`Preparation::facts`] says which.

mod characters;
mod counts;
mod fact;
mod features;
mod first_words;
mod n_grams;
mod picture;
mod resize;
mod scattering;
mod subwords;
mod table;
mod word_means;
mod words;

#[cfg(test)]
mod tests;

pub use characters::Characters;
pub use counts::TextCounts;
pub use fact::{Basis, Fact};
pub use features::Features;
pub use first_words::FirstWords;
pub use n_grams::NGrams;
pub use picture::Picture;
pub use scattering::Scattering;
pub use subwords::{SplitText, Subwords};
pub(crate) use table::scale_estimated;
pub use table::{
    Column, Cycle, Encoding, Missing, MissingValues, NumberFormat, TablePreparation, Value,
    is_format, iso, names, seconds,
};
pub use word_means::WordMeans;
pub use words::HashedWords;

pub(crate) use super::chunk::Values;
use super::disk::{Kept, Unit};
use super::input_kind::InputKind;
use super::records::{Images, RecordSet, RowLayout, Rows, Targets, Tokens};
use super::word_vectors::WordVectors;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The preparation of a data set: its inputs and its classes.
///
/// ```text
/// {"input": {"kind": "words", "vocabulary": 10000, "length": 256}, "classes": ["neg", "pos"]}
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// What is done to an input.
    pub input: InputPreparation,
    /// The public names of the classes, in the order of their numbers.
    pub classes: Vec<String>,
}

/// What is done to an input, by kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum InputPreparation {
    /// Images are resized and scaled to [0, 1].
    Picture(Picture),
    /// Words are hashed.
    Words(HashedWords),
    /// Characters of a public alphabet are numbered.
    Characters(Characters),
    /// The first words are replaced by public vectors.
    FirstWords(FirstWords),
    /// Images become features by wavelet scattering.
    Scattering(Scattering),
    /// A text is the mean of public vectors of its words.
    WordMeans(WordMeans),
    /// A text is the counts of its hashed n-grams.
    NGrams(NGrams),
    /// A text is the counts of its hashed words and pieces of words.
    Counts(TextCounts),
    /// A text is the tokens of a pre-trained model.
    Subwords(Subwords),
    /// Columns are scaled or one-hot.
    Table(TablePreparation),
}

/// New input for a trained model.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// A text.
    Text(&'a str),
    /// Two texts.
    Pair(&'a str, &'a str),
    /// The values of a row, and where those of the columns are among them.
    Row(&'a [Value<'a>], &'a [usize]),
    /// The bytes of an image file.
    Image(&'a [u8]),
}

impl Preparation {
    /// What the preparation uses, and where each part comes from.
    pub fn facts(&self) -> Vec<Fact> {
        let mut facts = match &self.input {
            InputPreparation::Picture(picture) => picture.facts(),
            InputPreparation::Words(words) => words.facts(),
            InputPreparation::Characters(characters) => characters.facts(),
            InputPreparation::FirstWords(words) => words.facts(),
            InputPreparation::Scattering(scattering) => scattering.facts(),
            InputPreparation::WordMeans(means) => means.facts(),
            InputPreparation::NGrams(grams) => grams.facts(),
            InputPreparation::Counts(counts) => counts.facts(),
            InputPreparation::Subwords(subwords) => subwords.facts(),
            InputPreparation::Table(table) => table.facts(),
        };
        facts.push(Fact {
            what: match &self.classes[..] {
                [number] => format!("a number to predict: {number}"),
                classes => format!("{} classes: {}", classes.len(), classes.join(", ")),
            },
            basis: Basis::Declared,
        });
        facts
    }

    /// The kind of the input.
    pub fn kind(&self) -> InputKind {
        match &self.input {
            InputPreparation::Table(_) => InputKind::Table,
            InputPreparation::Counts(_) => InputKind::Counts,
            _ => InputKind::Other,
        }
    }

    /// New inputs as records, all of class 0 because their classes are not known.
    ///
    /// `vectors` is needed only where words are replaced by public vectors.
    #[cfg(test)]
    pub fn unlabelled<'a>(
        &self,
        inputs: impl IntoIterator<Item = Input<'a>>,
        vectors: Option<Arc<WordVectors>>,
    ) -> Result<RecordSet> {
        let mut values = Values::default();
        let mut count = 0;
        for (at, input) in inputs.into_iter().enumerate() {
            self.push(input, vectors.as_deref(), &mut values)
                .with_context(|| format!("input {}", at + 1))?;
            count += 1;
        }
        self.records(values, vec![0; count], vectors)
    }

    /// Prepared values with their classes, as records.
    pub(crate) fn records(
        &self,
        values: Values,
        labels: impl Into<Targets>,
        vectors: Option<Arc<WordVectors>>,
    ) -> Result<RecordSet> {
        let labels = labels.into();
        let classes = self.classes.len();
        Ok(match &self.input {
            InputPreparation::Picture(picture) => RecordSet::Images(Images::new(
                picture.size,
                picture.white,
                classes,
                values.bytes,
                labels,
            )?),
            InputPreparation::Words(words) => RecordSet::Tokens(Tokens::new(
                words.length,
                words.vocabulary,
                classes,
                values.tokens,
                labels,
            )?),
            InputPreparation::Subwords(subwords) => RecordSet::Tokens(Tokens::new(
                subwords.length,
                subwords.vocabulary,
                classes,
                values.tokens,
                labels,
            )?),
            InputPreparation::Characters(characters) => RecordSet::Tokens(Tokens::new(
                characters.length,
                characters.vocabulary(),
                classes,
                values.tokens,
                labels,
            )?),
            InputPreparation::FirstWords(words) => {
                let layout = words.layout(vectors.context(NO_VECTORS)?)?;
                RecordSet::Rows(Rows::new(layout, classes, values.cells, labels)?)
            }
            InputPreparation::Scattering(scattering) => {
                let layout = RowLayout::Numbers(scattering.width());
                let features = scattering.features(&values.bytes);
                RecordSet::Rows(Rows::new(layout, classes, features, labels)?)
            }
            InputPreparation::WordMeans(means) => {
                means.check(vectors.as_deref().context(NO_VECTORS)?)?;
                let layout = RowLayout::Numbers(means.dimension);
                RecordSet::Rows(Rows::new(layout, classes, values.cells, labels)?)
            }
            InputPreparation::NGrams(grams) => {
                let layout = RowLayout::Numbers(grams.buckets);
                RecordSet::Rows(Rows::new(layout, classes, values.cells, labels)?)
            }
            InputPreparation::Counts(counts) => {
                let layout = RowLayout::Sparse(counts.buckets, Arc::new(values.ends));
                RecordSet::Rows(Rows::new(layout, classes, values.cells, labels)?)
            }
            InputPreparation::Table(table) => {
                RecordSet::Rows(Rows::new(table.layout()?, classes, values.cells, labels)?)
            }
        })
    }

    /// What becomes of prepared values before they are kept on a disk: features are computed once.
    pub(crate) fn kept(&self, values: Values) -> Values {
        match &self.input {
            InputPreparation::Scattering(scattering) => Values {
                cells: scattering.compute(&values.bytes),
                ..Values::default()
            },
            _ => values,
        }
    }

    /// What values are kept.
    pub(crate) fn unit(&self) -> Unit {
        match &self.input {
            InputPreparation::Picture(_) => Unit::Bytes,
            InputPreparation::Words(_)
            | InputPreparation::Characters(_)
            | InputPreparation::Subwords(_) => Unit::Tokens,
            InputPreparation::Counts(_) => Unit::SomeCells,
            _ => Unit::Cells,
        }
    }

    /// Records as they were read, wherever they are.
    pub(crate) fn records_kept(
        &self,
        kept: Kept,
        vectors: Option<Arc<WordVectors>>,
    ) -> Result<RecordSet> {
        let disk = match kept {
            Kept::Memory(chunk) => return self.records(chunk.values, chunk.targets, vectors),
            Kept::Disk(disk) => disk,
        };
        let classes = self.classes.len();
        let layout = match &self.input {
            InputPreparation::Picture(picture) => {
                let images = Images::on_disk(picture.size, picture.white, classes, disk)?;
                return Ok(RecordSet::Images(images));
            }
            InputPreparation::Words(words) => {
                let tokens = Tokens::on_disk(words.length, words.vocabulary, classes, disk)?;
                return Ok(RecordSet::Tokens(tokens));
            }
            InputPreparation::Subwords(subwords) => {
                let (length, vocabulary) = (subwords.length, subwords.vocabulary);
                let tokens = Tokens::on_disk(length, vocabulary, classes, disk)?;
                return Ok(RecordSet::Tokens(tokens));
            }
            InputPreparation::Characters(characters) => {
                let (length, vocabulary) = (characters.length, characters.vocabulary());
                let tokens = Tokens::on_disk(length, vocabulary, classes, disk)?;
                return Ok(RecordSet::Tokens(tokens));
            }
            InputPreparation::FirstWords(words) => words.layout(vectors.context(NO_VECTORS)?)?,
            InputPreparation::Scattering(scattering) => RowLayout::Numbers(scattering.width()),
            InputPreparation::WordMeans(means) => {
                means.check(vectors.as_deref().context(NO_VECTORS)?)?;
                RowLayout::Numbers(means.dimension)
            }
            InputPreparation::NGrams(grams) => RowLayout::Numbers(grams.buckets),
            InputPreparation::Counts(counts) => RowLayout::Sparse(counts.buckets, Arc::default()),
            InputPreparation::Table(table) => table.layout()?,
        };
        Ok(RecordSet::Rows(Rows::on_disk(layout, classes, disk)?))
    }

    /// Prepares one input and appends it.
    pub(crate) fn push(
        &self,
        input: Input<'_>,
        vectors: Option<&WordVectors>,
        values: &mut Values,
    ) -> Result<()> {
        match (&self.input, input) {
            (InputPreparation::Picture(picture), Input::Image(bytes)) => {
                values.bytes.extend(picture.prepare(bytes)?);
            }
            (InputPreparation::Scattering(scattering), Input::Image(bytes)) => {
                values.bytes.extend(scattering.picture.prepare(bytes)?);
            }
            (InputPreparation::WordMeans(means), Input::Text(text)) => {
                means.push(text, vectors.context(NO_VECTORS)?, &mut values.cells);
            }
            (InputPreparation::NGrams(grams), Input::Text(text)) => {
                grams.push(text, &mut values.cells);
            }
            (InputPreparation::Counts(counts), Input::Text(text)) => {
                counts.push(text, &mut values.cells);
                values.ends.push(values.cells.len());
            }
            (InputPreparation::Words(words), Input::Text(text)) => {
                words.push(text, &mut values.tokens);
            }
            (InputPreparation::Subwords(subwords), Input::Text(text)) => {
                subwords.push(text, None, &mut values.tokens)?;
            }
            (InputPreparation::Subwords(subwords), Input::Pair(text, second)) => {
                subwords.push(text, Some(second), &mut values.tokens)?;
            }
            (InputPreparation::Characters(characters), Input::Text(text)) => {
                characters.push(text, &mut values.tokens);
            }
            (InputPreparation::FirstWords(words), Input::Text(text)) => {
                words.push(text, vectors.context(NO_VECTORS)?, &mut values.cells);
            }
            (InputPreparation::Table(table), Input::Row(row, places)) => {
                table.push(row, places, &mut values.cells)?;
            }
            (InputPreparation::Picture(_) | InputPreparation::Scattering(_), _) => {
                bail!("the model takes images")
            }
            (InputPreparation::Table(_), _) => bail!("the model takes rows of a table"),
            _ => bail!("the model takes texts"),
        }
        Ok(())
    }
}

const NO_VECTORS: &str = "the words are replaced by public vectors, which were not loaded";
