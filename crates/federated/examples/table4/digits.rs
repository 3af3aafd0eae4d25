//! As many handwritten digits as one likes, in the manner of InfiniteMNIST.
//!
//! Loosli, Canu & Bottou 2007 ("Training invariant support vector machines using selective sampling") deform each of MNIST's
//! 60,000 training digits along *tangent vectors*: they add to the image its derivatives, times coefficients, for random smooth
//! displacement fields, small translations and a change of thickness. Their program and its fields are not used here. Client k
//! has digit k mod 60,000 of MNIST, and what differs is this:
//!
//! - The image is resampled at displaced places (bilinear) rather than extended along tangents.
//! - The displacement is a small affine map (rotation within ±10°, scale within ±10 %, shear within ±0.1, translation within ±1
//!   pixel, each uniform), plus an elastic field as in Simard, Steinkraus & Platt 2003: uniform noise, smoothed by a Gaussian
//!   of 5 pixels, of which the largest displacement is up to 2 pixels. Fields come from a pool of 512.
//! - Thickness is not changed.
//! - The first 60,000 clients have deformed digits too, not the originals.
//!
//! Client k's image is a pure function of k and the seed of the generator.

use crate::idx::{Images, PIXELS, SIDE};

/// SplitMix64 (Steele, Lea & Flood 2014): for public data, no secret.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64, index: u64) -> Self {
        let mut numbers = Self(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        numbers.next();
        Self(numbers.next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in ±`most`.
    pub fn within(&mut self, most: f32) -> f32 {
        ((self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * most
    }
}

const FIELDS: u64 = 512;
const SMOOTHING: f32 = 5.0;
const LARGEST: f32 = 2.0;

type Field = Vec<[f32; 2]>;

/// The generator.
pub struct Digits {
    originals: Images,
    seed: u64,
    fields: Vec<Field>,
}

impl Digits {
    pub fn new(originals: Images, seed: u64) -> Self {
        let field = |index| smooth_field(&mut Numbers::new(seed ^ 0xf1e1d, index));
        Self {
            originals,
            seed,
            fields: (0..FIELDS).map(field).collect(),
        }
    }

    /// The image and the digit of a client.
    pub fn of_client(&self, client: u64) -> ([f32; PIXELS], usize) {
        let index = (client % self.originals.count() as u64) as usize;
        let image = self.originals.image(index);
        let mut numbers = Numbers::new(self.seed, client);
        let (angle, shear) = (numbers.within(10f32.to_radians()), numbers.within(0.1));
        let scales = [1.0 + numbers.within(0.1), 1.0 + numbers.within(0.1)];
        let moved = [numbers.within(1.0), numbers.within(1.0)];
        let field = &self.fields[(numbers.next() % FIELDS) as usize];
        let strength = numbers.within(LARGEST);
        let (sin, cos) = angle.sin_cos();
        let centre = (SIDE as f32 - 1.0) / 2.0;
        let deformed = std::array::from_fn(|at| {
            let (x, y) = ((at % SIDE) as f32 - centre, (at / SIDE) as f32 - centre);
            let x_sheared = (x + shear * y) * scales[0];
            let y_scaled = y * scales[1];
            let from_x = cos * x_sheared - sin * y_scaled + centre + moved[0];
            let from_y = sin * x_sheared + cos * y_scaled + centre + moved[1];
            let [dx, dy] = field[at];
            between(&image, from_x + strength * dx, from_y + strength * dy)
        });
        (deformed, usize::from(self.originals.labels[index]))
    }
}

/// The image between its pixels; 0 outside.
fn between(image: &[f32; PIXELS], x: f32, y: f32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let pixel = |x: f32, y: f32| {
        let inside = |v: f32| (0.0..SIDE as f32).contains(&v);
        match inside(x) && inside(y) {
            true => image[y as usize * SIDE + x as usize],
            false => 0.0,
        }
    };
    let (right_part, low_part) = (x - left, y - top);
    let high = pixel(left, top) * (1.0 - right_part) + pixel(left + 1.0, top) * right_part;
    let low =
        pixel(left, top + 1.0) * (1.0 - right_part) + pixel(left + 1.0, top + 1.0) * right_part;
    high * (1.0 - low_part) + low * low_part
}

/// A displacement of each pixel, smoothed, of which the largest is 1.
fn smooth_field(numbers: &mut Numbers) -> Field {
    let mut plane = || {
        let noise: Vec<f32> = (0..PIXELS).map(|_| numbers.within(1.0)).collect();
        let rows = blurred(&noise, |line, at| line * SIDE + at);
        blurred(&rows, |line, at| at * SIDE + line)
    };
    let (x, y) = (plane(), plane());
    let largest = x
        .iter()
        .zip(&y)
        .map(|(x, y)| x.hypot(*y))
        .fold(0.0, f32::max);
    x.iter()
        .zip(&y)
        .map(|(x, y)| [x / largest, y / largest])
        .collect()
}

/// Smooths along lines.
fn blurred(values: &[f32], place: impl Fn(usize, usize) -> usize) -> Vec<f32> {
    let mut smooth = vec![0.0; PIXELS];
    for line in 0..SIDE {
        for at in 0..SIDE {
            let weight = |other: usize| {
                let apart = (at as f32 - other as f32) / SMOOTHING;
                (-0.5 * apart * apart).exp()
            };
            smooth[place(line, at)] = (0..SIDE)
                .map(|other| weight(other) * values[place(line, other)])
                .sum();
        }
    }
    smooth
}
