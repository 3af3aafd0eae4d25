//! Handcrafted features, by name.

use super::picture::Picture;
use super::scattering::{self, Scattering};
use super::{counts, n_grams};
use crate::preparation::InputPreparation;
use crate::records::Shape;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};

/// Features that need no training and depend on one record alone, so they cost no privacy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// Wavelet scattering of images.
    Scattering,
    /// The mean of public word vectors of a text.
    WordMeans,
    /// Hashed counts of the n-grams of a short text, such as a name.
    NGrams,
    /// Hashed counts of the words and pieces of words of a text of any length, in any script.
    Counts,
}

/// Numbers of one of the public word vectors.
const VECTOR: usize = 100;

impl Features {
    /// The input of a model on these features of records of a shape.
    pub fn shape(self, shape: Shape) -> Result<Shape> {
        let width = match (self, shape) {
            (Self::Scattering, Shape::Images(size)) => {
                scattering::width(Scattering::new(Picture::new(size)?)?.picture.size)
            }
            (Self::WordMeans, Shape::Tokens { .. }) => VECTOR,
            (Self::NGrams, Shape::Tokens { .. }) => n_grams::BUCKETS,
            (Self::Counts, Shape::Tokens { .. }) => counts::BUCKETS,
            (Self::Scattering, _) => bail!("--features scattering is for images"),
            _ => bail!("--features {} is for texts", self.name()),
        };
        Ok(Shape::Rows { width })
    }

    /// Images with these features, or as they are.
    pub(crate) fn of_images(features: Option<Self>, picture: Picture) -> Result<InputPreparation> {
        Ok(match features {
            None => InputPreparation::Picture(picture),
            Some(Self::Scattering) => InputPreparation::Scattering(Scattering::new(picture)?),
            Some(other) => bail!("--features {} is for texts, not images", other.name()),
        })
    }

    /// The name on the command line.
    pub fn name(self) -> String {
        let value = clap::ValueEnum::to_possible_value(&self);
        value.map_or_else(String::new, |value| value.get_name().to_string())
    }
}
