//! Wavelets, moduli and averages of one channel.

use super::{DIRECTIONS, MAPS, SHRINK};
use std::f64::consts::PI;
use std::sync::OnceLock;

/// Half the width of the wavelets of each scale: three and two and a half deviations of the long axis.
pub(super) const RADII: [usize; 2] = [5, 8];

/// One channel.
pub(super) struct Plane {
    pub height: usize,
    pub width: usize,
    pub values: Vec<f32>,
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
pub(super) struct Filters {
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
    /// The filters, made once.
    pub fn get() -> &'static Self {
        static FILTERS: OnceLock<Filters> = OnceLock::new();
        FILTERS.get_or_init(|| Self {
            wavelets: [0, 1].map(wavelets),
            averages: [gaussian(1.6, 5), gaussian(0.8, 3)],
        })
    }

    pub fn scatter(&self, plane: &Plane, features: &mut [f32]) {
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
