//! Wavelet scattering of images: features that need no training (Mallat 2012; Oyallon and Mallat 2015).
//!
//! With two scales and eight directions an image becomes 81 maps a quarter as wide: one average, 16 of
//! the moduli of wavelets, 64 of the moduli of wavelets of moduli. Tramèr and Boneh 2021
//! (arXiv:2011.11660) found that a linear model on them beats private networks on pixels. The features
//! of an image depend on that image alone, so they cost no privacy.
//!
//! Every convolution sees its input mirrored at the border.

mod filters;
#[cfg(test)]
mod tests;

use super::fact::{Basis, Fact};
use super::picture::Picture;
use crate::records::ImageSize;
use anyhow::{Result, ensure};
use filters::{Filters, Plane};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::{Arc, Mutex};

/// Directions of the wavelets.
const DIRECTIONS: usize = 8;
/// Maps for each channel: an average, two scales, and pairs of a finer and a coarser wavelet.
const MAPS: usize = 1 + 2 * DIRECTIONS + DIRECTIONS * DIRECTIONS;
/// Maps that are brought to mean 0 and variance 1 together: 27 groups of the 81 (Tramèr and Boneh).
const GROUP: usize = 3;
/// Each map is so many times narrower than the image.
const SHRINK: usize = 4;
/// Added to a variance that may be 0.
const TINY: f64 = 1e-5;

/// Images of one size, scattered and normalised for each image on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scattering {
    /// The images.
    pub picture: Picture,
}

impl Scattering {
    /// Checks that the maps come out even.
    pub fn new(picture: Picture) -> Result<Self> {
        let ImageSize { height, width, .. } = picture.size;
        ensure!(
            height % SHRINK == 0 && width % SHRINK == 0 && height >= 8 && width >= 8,
            "scattering takes images whose height and width are multiples of {SHRINK} and at least 8, not {width} × \
             {height}"
        );
        Ok(Self { picture })
    }

    /// Features of one image.
    pub fn width(&self) -> usize {
        width(self.picture.size)
    }

    /// The features of all images, which lie one after the other. What was computed last is kept, so that
    /// several runs on the same images compute it once.
    pub(super) fn features(&self, pixels: &[u8]) -> Arc<Vec<f32>> {
        let key = {
            let mut hash = Sha256::new();
            hash.update(format!("{:?}", self.picture));
            hash.update(pixels);
            hash.finalize().to_vec()
        };
        let mut kept = KEPT.lock().unwrap_or_else(|lock| lock.into_inner());
        if let Some((_, features)) = kept.iter().find(|(known, _)| *known == key) {
            return features.clone();
        }
        let features = Arc::new(self.compute(pixels));
        // The training and the test images of one set.
        kept.truncate(1);
        kept.insert(0, (key, features.clone()));
        features
    }

    /// The same, and nothing is kept.
    pub(super) fn compute(&self, pixels: &[u8]) -> Vec<f32> {
        let (values, width) = (self.picture.size.values(), self.width());
        let filters = Filters::get();
        let mut features = vec![0.0; pixels.len() / values * width];
        (features.par_chunks_mut(width))
            .zip(pixels.par_chunks(values))
            .for_each(|(features, image)| self.scatter(filters, image, features));
        features
    }

    fn scatter(&self, filters: &Filters, image: &[u8], features: &mut [f32]) {
        let ImageSize { height, width, .. } = self.picture.size;
        let white = f32::from(self.picture.white);
        let maps = features.len() / self.picture.size.channels;
        for (plane, features) in image.chunks(height * width).zip(features.chunks_mut(maps)) {
            let plane = plane.iter().map(|level| f32::from(*level) / white);
            let plane = Plane {
                height,
                width,
                values: plane.collect(),
            };
            filters.scatter(&plane, features);
            let area = features.len() / MAPS;
            features.chunks_mut(GROUP * area).for_each(normalise);
        }
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        let mut facts = self.picture.facts();
        facts.push(Fact {
            what: format!(
                "{} features of each image: wavelet scattering with 2 scales and 8 directions, each group of \
                 {GROUP} maps brought to mean 0 and variance 1 for every image on its own",
                self.width()
            ),
            basis: Basis::PublicConstant,
        });
        facts
    }
}

/// Features of an image of this size.
pub fn width(size: ImageSize) -> usize {
    size.channels * MAPS * (size.height / SHRINK) * (size.width / SHRINK)
}

/// What was computed last, by a hash of the images.
type Kept = Vec<(Vec<u8>, Arc<Vec<f32>>)>;
static KEPT: Mutex<Kept> = Mutex::new(Vec::new());

/// Brings values to mean 0 and variance 1.
fn normalise(values: &mut [f32]) {
    let count = values.len() as f64;
    let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / count;
    let squares = values
        .iter()
        .map(|value| (f64::from(*value) - mean).powi(2));
    let deviation = (squares.sum::<f64>() / count + TINY).sqrt();
    for value in values {
        *value = ((f64::from(*value) - mean) / deviation) as f32;
    }
}
