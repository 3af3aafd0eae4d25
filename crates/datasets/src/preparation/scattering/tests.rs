//! The quick transform against its definition in double precision.
#![allow(clippy::unwrap_used)]

use super::filters::RADII;
use super::*;
use crate::random::SplitMix;
use std::f64::consts::PI;

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
        let values =
            places.map(|(row, column)| value((row * stride) as isize, (column * stride) as isize));
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
