//! Public data sets by name.

mod adult;
mod ag_news;
mod cifar10;
mod imdb;
mod mnist;
mod names;
mod pneumonia;

#[cfg(test)]
mod tests;

use super::data_set::{About, DataSet, TestSet};
use super::locate::Site;
use super::preparation::{Features, Input, Picture, Preparation, Values};
use super::records::ImageSize;
use super::word_vectors::WordVectors;
use super::{Digits, Options, TestChoice};
use anyhow::{Result, ensure};
use std::sync::Arc;

/// A public data set.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Builtin {
    /// 8 × 8 handwritten digits, part of the program.
    Digits,
    /// 28 × 28 handwritten digits.
    Mnist,
    /// 28 × 28 pieces of clothing.
    FashionMnist,
    /// 32 × 32 colour photographs.
    Cifar10,
    /// Film reviews.
    Imdb,
    /// News.
    AgNews,
    /// Surnames of 18 languages.
    Names,
    /// The same, split at random: equal names may be trained on and tested on.
    NamesRandomSplit,
    /// Income by census data.
    Adult,
    /// 64 × 64 chest X-rays of children.
    Pneumonia,
    /// The same, split anew: a tenth of all images is the test set.
    PneumoniaResplit,
}

impl Builtin {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Digits => "digits",
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
            Self::Cifar10 => "cifar10",
            Self::Imdb => "imdb",
            Self::AgNews => "ag-news",
            Self::Names => "names",
            Self::NamesRandomSplit => "names-random-split",
            Self::Adult => "adult",
            Self::Pneumonia => "pneumonia",
            Self::PneumoniaResplit => "pneumonia-resplit",
        }
    }

    /// The set of the same records as it was before it was split anew.
    pub fn unsplit(self) -> Self {
        match self {
            Self::NamesRandomSplit => Self::Names,
            Self::PneumoniaResplit => Self::Pneumonia,
            other => other,
        }
    }

    /// Where the files are, except for the embedded set.
    fn site(self) -> Option<&'static Site> {
        Some(match self {
            Self::Digits => return None,
            Self::Mnist => &mnist::MNIST,
            Self::FashionMnist => &mnist::FASHION,
            Self::Cifar10 => &cifar10::SITE,
            Self::Imdb => &imdb::SITE,
            Self::AgNews => &ag_news::SITE,
            Self::Names | Self::NamesRandomSplit => &names::SITE,
            Self::Adult => &adult::SITE,
            Self::Pneumonia | Self::PneumoniaResplit => &pneumonia::SITE,
        })
    }

    /// Finds and reads the set.
    pub(super) fn open(self, options: &Options) -> Result<DataSet> {
        ensure!(
            options.test == TestChoice::None,
            "{} has a public test set of its own; leave the choice of another one out",
            self.name()
        );
        let features = options.features;
        ensure!(
            self != Self::Adult || features.is_none(),
            "--features is for images and texts; adult is a table"
        );
        let Some(site) = self.site() else {
            return digits(features);
        };
        let places = options.places();
        let found = places.find(site, !options.offline, options.quiet)?;
        match self {
            Self::Digits => digits(features),
            Self::Mnist | Self::FashionMnist => mnist::read(self, &found, features),
            Self::Cifar10 => cifar10::read(&found, features),
            Self::Imdb => imdb::read(&found, options),
            Self::AgNews => ag_news::read(&found, options),
            Self::Names => names::read(&found, options),
            Self::NamesRandomSplit => names::read_random_split(&found, options),
            Self::Adult => adult::read(&found),
            Self::Pneumonia => pneumonia::read(&found, features),
            Self::PneumoniaResplit => pneumonia::read_resplit(&found, features),
        }
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_string()).collect()
}

/// Images of a public set and its test set.
fn image_set(
    name: &str,
    picture: Picture,
    classes: &[&str],
    parts: [(Vec<u8>, Vec<u16>); 2],
    about: About,
    features: Option<Features>,
) -> Result<DataSet> {
    let preparation = Preparation {
        input: Features::of_images(features, picture)?,
        classes: strings(classes),
    };
    let parts = parts.map(|(bytes, labels)| {
        let values = Values {
            bytes,
            ..Values::default()
        };
        (values, labels)
    });
    public_set(name, preparation, parts, None, about)
}

/// A public set: its size is public, and so is its test set.
fn public_set(
    name: &str,
    preparation: Preparation,
    [training, test]: [(Values, Vec<u16>); 2],
    vectors: Option<Arc<WordVectors>>,
    about: About,
) -> Result<DataSet> {
    let training = preparation.records(training.0, training.1, vectors.clone())?;
    DataSet {
        name: name.to_string(),
        public_count: Some(training.count() as u64),
        training,
        test: Some(TestSet {
            records: preparation.records(test.0, test.1, vectors)?,
            declared_public: true,
        }),
        about,
        preparation,
    }
    .checked()
}

fn digits(features: Option<Features>) -> Result<DataSet> {
    let size = ImageSize {
        channels: 1,
        height: Digits::WIDTH,
        width: Digits::WIDTH,
    };
    let picture = Picture {
        size,
        white: Digits::WHITE,
    };
    let parts = [
        Digits::training()?.into_parts(),
        Digits::test()?.into_parts(),
    ];
    let about = About {
        origin: "Optical Recognition of Handwritten Digits, E. Alpaydin and C. Kaynak 1998, UCI"
            .into(),
        licence: "CC BY 4.0".into(),
        caveats: Vec::new(),
    };
    let classes = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    image_set("digits", picture, &classes, parts, about, features)
}

/// Texts of a public set, prepared.
struct Texts<'a> {
    preparation: &'a Preparation,
    vectors: Option<Arc<WordVectors>>,
    values: Values,
    labels: Vec<u16>,
}

impl<'a> Texts<'a> {
    fn new(preparation: &'a Preparation, vectors: Option<Arc<WordVectors>>) -> Self {
        Self {
            preparation,
            vectors,
            values: Values::default(),
            labels: Vec::new(),
        }
    }

    fn push(&mut self, text: &str, label: usize) -> Result<()> {
        ensure!(
            label < self.preparation.classes.len(),
            "class number {label} of {}",
            self.preparation.classes.len()
        );
        self.labels.push(label as u16);
        self.preparation
            .push(Input::Text(text), self.vectors.as_deref(), &mut self.values)
    }

    fn into_parts(self) -> (Values, Vec<u16>) {
        (self.values, self.labels)
    }
}
