//! Wavelet scattering of images: features that need no training (Mallat 2012; Oyallon and Mallat 2015).
//!
//! With two scales and eight directions an image becomes 81 maps a quarter as wide: one average, 16 of
//! the moduli of wavelets, 64 of the moduli of wavelets of moduli. Tramèr and Boneh 2021
//! (arXiv:2011.11660) found that a linear model on them beats private networks on pixels. The features
//! of an image depend on that image alone, so they cost no privacy.
//!
//! Every convolution sees its input mirrored at the border.

use super::{Basis, Fact, Picture};
use crate::datasets::records::ImageSize;
use anyhow::{Result, ensure};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::f64::consts::PI;
use std::sync::{Arc, Mutex, OnceLock};

/// Directions of the wavelets.
const DIRECTIONS: usize = 8;
/// Maps for each channel: an average, two scales, and pairs of a finer and a coarser wavelet.
const MAPS: usize = 1 + 2 * DIRECTIONS + DIRECTIONS * DIRECTIONS;
/// Maps that are brought to mean 0 and variance 1 together: 27 groups of the 81 (Tramèr and Boneh).
const GROUP: usize = 3;
/// Each map is so many times narrower than the image.
const SHRINK: usize = 4;
/// Half the width of the wavelets of each scale: three and two and a half deviations of the long axis.
const RADII: [usize; 2] = [5, 8];
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

    fn compute(&self, pixels: &[u8]) -> Vec<f32> {
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

/// One channel.
struct Plane {
    height: usize,
    width: usize,
    values: Vec<f32>,
}

impl Plane {
    /// With `radius` mirrored values on every side.
    fn mirrored(&self, radius: usize) -> Self {
        let rows = 0..self.height + 2 * radius;
        let values = rows.flat_map(|row| {
            let row = mirror(row as isize - radius as isize, self.height) * self.width;
            (0..self.width + 2 * radius).map(move |column| {
                self.values[row + mirror(column as isize - radius as isize, self.width)]
            })
        });
        Self {
            values: values.collect(),
            height: self.height + 2 * radius,
            width: self.width + 2 * radius,
        }
    }
}

/// A position beyond the border is that of its mirror image; the border itself is not repeated.
fn mirror(position: isize, length: usize) -> usize {
    let period = (2 * length).saturating_sub(2).max(1) as isize;
    let position = position.rem_euclid(period) as usize;
    if position < length {
        position
    } else {
        period as usize - position
    }
}

/// Wavelets of both scales, and the two Gaussians that average.
struct Filters {
    wavelets: [Vec<Pair>; 2],
    /// At full width and at half.
    averages: [Vec<f32>; 2],
}

/// A place of the wavelets and the one opposite to it: there the real parts are the same and the imaginary
/// parts have the other sign, so that two products do for four.
struct Pair {
    /// Row and column from the upper left corner.
    place: (usize, usize),
    real: [f32; DIRECTIONS],
    imaginary: [f32; DIRECTIONS],
}

impl Filters {
    fn get() -> &'static Self {
        static FILTERS: OnceLock<Filters> = OnceLock::new();
        FILTERS.get_or_init(|| Self {
            wavelets: [0, 1].map(wavelets),
            averages: [gaussian(1.6, 5), gaussian(0.8, 3)],
        })
    }

    fn scatter(&self, plane: &Plane, features: &mut [f32]) {
        let area = features.len() / MAPS;
        let mut maps = features.chunks_mut(area);
        let mut put = |plane: &Plane, averages: &[f32], stride| {
            if let Some(map) = maps.next() {
                average(plane, averages, stride, map);
            }
        };
        let [full, half] = &self.averages;
        put(plane, full, SHRINK);
        let fine = moduli(plane, &self.wavelets[0], RADII[0], 1);
        fine.iter().for_each(|plane| put(plane, full, SHRINK));
        let coarse = |plane: &Plane| moduli(plane, &self.wavelets[1], RADII[1], 2);
        for plane in std::iter::once(plane).chain(&fine) {
            (coarse(plane).iter()).for_each(|plane| put(plane, half, SHRINK / 2));
        }
    }
}

/// Morlet wavelets of one scale in all directions: exp(−(x² + y²/4)/2σ²) (exp(iξx) − β) with x along
/// the direction, σ = 0.8 · 2ʲ, ξ = 3π/4 · 2⁻ʲ, and β such that the sum is 0.
fn wavelets(scale: usize) -> Vec<Pair> {
    let size = 2 * RADII[scale] + 1;
    let all: Vec<Vec<(f64, f64)>> = (0..DIRECTIONS)
        .map(|direction| wavelet(scale, direction))
        .collect();
    let middle = size * size / 2;
    (0..=middle)
        .map(|place| {
            // The middle is its own opposite and would count twice.
            let share = if place == middle { 0.5 } else { 1.0 };
            let part = |part: fn(&(f64, f64)) -> f64| {
                std::array::from_fn(|direction| (share * part(&all[direction][place])) as f32)
            };
            Pair {
                place: (place / size, place % size),
                real: part(|value| value.0),
                imaginary: part(|value| value.1),
            }
        })
        .collect()
}

/// One wavelet, row by row.
fn wavelet(scale: usize, direction: usize) -> Vec<(f64, f64)> {
    let radius = RADII[scale] as i32;
    let deviation = 0.8 * 2f64.powi(scale as i32);
    let frequency = 0.75 * PI / 2f64.powi(scale as i32);
    let (sine, cosine) = (PI * direction as f64 / DIRECTIONS as f64).sin_cos();
    let points =
        (-radius..=radius).flat_map(|row| (-radius..=radius).map(move |column| (row, column)));
    let waves: Vec<(f64, f64, f64)> = points
        .map(|(row, column)| {
            let (row, column) = (f64::from(row), f64::from(column));
            let along = column * cosine + row * sine;
            let across = row * cosine - column * sine;
            let square = along * along + 0.25 * across * across;
            let envelope = (-square / (2.0 * deviation * deviation)).exp();
            let (imaginary, real) = (frequency * along).sin_cos();
            (envelope, envelope * real, envelope * imaginary)
        })
        .collect();
    let sum = |part: fn(&(f64, f64, f64)) -> f64| waves.iter().map(part).sum::<f64>();
    // The envelope is even and the imaginary part odd, so the latter sums to 0 by itself.
    let (mass, beta) = (sum(|wave| wave.0), sum(|wave| wave.1) / sum(|wave| wave.0));
    (waves.iter())
        .map(|(envelope, real, imaginary)| ((real - beta * envelope) / mass, imaginary / mass))
        .collect()
}

/// A Gaussian of sum 1.
fn gaussian(deviation: f64, radius: i32) -> Vec<f32> {
    let values = (-radius..=radius).map(|x| (-0.5 * (f64::from(x) / deviation).powi(2)).exp());
    let values: Vec<f64> = values.collect();
    let sum: f64 = values.iter().sum();
    values.iter().map(|value| (value / sum) as f32).collect()
}

/// The moduli of a plane's convolutions with the wavelets, every `stride` values.
fn moduli(plane: &Plane, wavelets: &[Pair], radius: usize, stride: usize) -> Vec<Plane> {
    let (height, width) = (plane.height / stride, plane.width / stride);
    let padded = plane.mirrored(radius);
    let last = 2 * radius * (padded.width + 1);
    let offsets = wavelets.iter().map(|pair| {
        let offset = pair.place.0 * padded.width + pair.place.1;
        (offset, last - offset, pair)
    });
    let offsets: Vec<(usize, usize, &Pair)> = offsets.collect();
    let mut moduli: Vec<Plane> = (0..DIRECTIONS)
        .map(|_| Plane {
            height,
            width,
            values: Vec::with_capacity(height * width),
        })
        .collect();
    for row in 0..height {
        for column in 0..width {
            let start = (row * padded.width + column) * stride;
            let seen = &padded.values[start..=start + last];
            // All directions at once: the inner loops are products of vectors. A convolution would turn the
            // wavelet around, which changes the sign of its imaginary part and not the modulus.
            let (mut real, mut imaginary) = ([0.0_f32; DIRECTIONS], [0.0_f32; DIRECTIONS]);
            for (here, opposite, pair) in &offsets {
                let (here, opposite) = (seen[*here], seen[*opposite]);
                let (sum, difference) = (here + opposite, here - opposite);
                for direction in 0..DIRECTIONS {
                    real[direction] += sum * pair.real[direction];
                    imaginary[direction] += difference * pair.imaginary[direction];
                }
            }
            for (plane, (real, imaginary)) in moduli.iter_mut().zip(real.iter().zip(imaginary)) {
                plane
                    .values
                    .push((real * real + imaginary * imaginary).sqrt());
            }
        }
    }
    moduli
}

/// A plane's average under a Gaussian, along rows and then along columns, every `stride` values.
fn average(plane: &Plane, weights: &[f32], stride: usize, map: &mut [f32]) {
    let radius = weights.len() / 2;
    let padded = plane.mirrored(radius);
    let (height, width) = (plane.height / stride, plane.width / stride);
    let mut rows = vec![0.0; padded.height * width];
    for (row, line) in rows
        .chunks_mut(width)
        .zip(padded.values.chunks(padded.width))
    {
        for (column, value) in row.iter_mut().enumerate() {
            let seen = &line[column * stride..][..weights.len()];
            *value = seen.iter().zip(weights).map(|(a, b)| a * b).sum();
        }
    }
    for row in 0..height {
        for column in 0..width {
            let seen = (0..weights.len()).map(|line| rows[(row * stride + line) * width + column]);
            map[row * width + column] = seen.zip(weights).map(|(a, b)| a * b).sum();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::random::SplitMix;

    /// The definition in double precision: whole convolutions, thinned afterwards.
    struct Slow {
        height: usize,
        width: usize,
        values: Vec<f64>,
    }

    impl Slow {
        fn at(&self, row: isize, column: isize) -> f64 {
            let reflect = |mut at: isize, length: usize| {
                let last = length as isize - 1;
                while !(0..=last).contains(&at) {
                    at = if at < 0 { -at } else { 2 * last - at };
                }
                at as usize
            };
            self.values[reflect(row, self.height) * self.width + reflect(column, self.width)]
        }

        fn map(&self, stride: usize, value: impl Fn(isize, isize) -> f64) -> Self {
            let (height, width) = (self.height / stride, self.width / stride);
            let places = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
            let values = places
                .map(|(row, column)| value((row * stride) as isize, (column * stride) as isize));
            Self {
                height,
                width,
                values: values.collect(),
            }
        }

        fn modulus(&self, scale: usize, direction: usize, stride: usize) -> Self {
            let radius = RADII[scale] as isize;
            let deviation = 0.8 * f64::from(1 << scale);
            let frequency = 0.75 * PI / f64::from(1 << scale);
            let angle = PI * direction as f64 / 8.0;
            let envelope = |row: isize, column: isize| {
                let (row, column) = (row as f64, column as f64);
                let along = column * angle.cos() + row * angle.sin();
                let across = row * angle.cos() - column * angle.sin();
                let square = along.powi(2) + (across / 2.0).powi(2);
                (
                    (-square / (2.0 * deviation.powi(2))).exp(),
                    frequency * along,
                )
            };
            let (mut mass, mut cosines) = (0.0, 0.0);
            for row in -radius..=radius {
                for column in -radius..=radius {
                    let (weight, phase) = envelope(row, column);
                    mass += weight;
                    cosines += weight * phase.cos();
                }
            }
            self.map(stride, |row, column| {
                let (mut real, mut imaginary) = (0.0, 0.0);
                for down in -radius..=radius {
                    for right in -radius..=radius {
                        let (weight, phase) = envelope(down, right);
                        let value = self.at(row - down, column - right) * weight / mass;
                        real += value * (phase.cos() - cosines / mass);
                        imaginary += value * phase.sin();
                    }
                }
                real.hypot(imaginary)
            })
        }

        fn average(&self, deviation: f64, radius: isize, stride: usize) -> Self {
            let weight = |x: isize| (-0.5 * (x as f64 / deviation).powi(2)).exp();
            self.map(stride, |row, column| {
                let (mut sum, mut mass) = (0.0, 0.0);
                for down in -radius..=radius {
                    for right in -radius..=radius {
                        let weight = weight(down) * weight(right);
                        sum += weight * self.at(row + down, column + right);
                        mass += weight;
                    }
                }
                sum / mass
            })
        }
    }

    fn slow(image: &Slow) -> Vec<f64> {
        let mut maps = vec![image.average(1.6, 5, 4)];
        let fine: Vec<Slow> = (0..8)
            .map(|direction| image.modulus(0, direction, 1))
            .collect();
        maps.extend(fine.iter().map(|plane| plane.average(1.6, 5, 4)));
        for plane in std::iter::once(image).chain(&fine) {
            for direction in 0..8 {
                maps.push(plane.modulus(1, direction, 2).average(0.8, 3, 2));
            }
        }
        let mut features: Vec<f64> = maps.into_iter().flat_map(|map| map.values).collect();
        let group = features.len() / 27;
        for values in features.chunks_mut(group) {
            let mean = values.iter().sum::<f64>() / group as f64;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / group as f64;
            for value in values {
                *value = (*value - mean) / (variance + 1e-5).sqrt();
            }
        }
        features
    }

    fn scattering(height: usize, width: usize, channels: usize) -> Scattering {
        let size = ImageSize {
            channels,
            height,
            width,
        };
        Scattering::new(Picture::new(size).unwrap()).unwrap()
    }

    fn image(count: usize) -> Vec<u8> {
        let mut random = SplitMix(7);
        (0..count).map(|_| random.below(256) as u8).collect()
    }

    #[test]
    fn scattering_equals_its_definition() {
        for (height, width) in [(12, 16), (8, 8)] {
            let pixels = image(height * width);
            let values = pixels.iter().map(|level| f64::from(*level) / 255.0);
            let wanted = slow(&Slow {
                height,
                width,
                values: values.collect(),
            });
            let got = scattering(height, width, 1).compute(&pixels);
            assert_eq!(got.len(), wanted.len());
            for (got, wanted) in got.iter().zip(&wanted) {
                assert!((f64::from(*got) - wanted).abs() < 2e-4, "{got} {wanted}");
            }
        }
    }

    #[test]
    fn an_image_of_mnist_becomes_81_maps_of_7_by_7() {
        assert_eq!(scattering(28, 28, 1).width(), 81 * 49);
        assert_eq!(scattering(32, 32, 3).width(), 3 * 81 * 64);
    }

    #[test]
    fn features_of_an_image_are_its_own() {
        let scattering = scattering(8, 8, 3);
        let pixels = image(3 * 192);
        let all = scattering.compute(&pixels);
        let second = scattering.compute(&pixels[192..384]);
        assert_eq!(all[second.len()..2 * second.len()], second);
        assert_eq!(*scattering.features(&pixels), all);
        assert_eq!(*scattering.features(&pixels[192..384]), second);
        assert_eq!(*scattering.features(&pixels), all);
    }

    #[test]
    fn an_even_image_has_no_edges() {
        let features = scattering(8, 8, 1).compute(&[200; 64]);
        // Groups of moduli alone hold nothing but rounding.
        assert!(features[3 * 4..].iter().all(|value| value.abs() < 1e-2));
    }

    #[test]
    fn images_that_cannot_be_shrunk_are_refused() {
        let size = ImageSize {
            channels: 1,
            height: 30,
            width: 28,
        };
        let message = Scattering::new(Picture::new(size).unwrap()).unwrap_err();
        assert!(message.to_string().contains("28 × 30"), "{message}");
    }
}
