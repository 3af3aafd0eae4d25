//! The factors of a block of records, laid out for the tiles.

// Constant ranges unroll; iterators over arrays do not always.
#![allow(clippy::needless_range_loop)]

use crate::vector::{largest_magnitudes, vectorised};

/// Rows of a tile: features of the left factor.
pub(super) const HEIGHT: usize = 8;
/// Columns of a tile: features of the right factor.
pub(super) const WIDTH: usize = 48;
/// Rows of a panel that are laid out together.
const NEAR_ROWS: usize = 16;
/// Panels narrower than a whole one are rounded up to this.
pub(super) const LANES: usize = 16;

/// One factor of outer products, for every position of every sample.
#[derive(Debug, Clone, Copy)]
pub enum Factor<'a> {
    /// The features of a position lie side by side: `[positions of all samples, width]`.
    ByPosition {
        /// The values.
        values: &'a [f32],
        /// Features.
        width: usize,
    },
    /// The positions of a feature lie side by side: `[width, positions of all samples]`.
    ByFeature {
        /// The values.
        values: &'a [f32],
        /// Features.
        width: usize,
        /// From one feature to the next.
        pitch: usize,
    },
}

impl<'a> Factor<'a> {
    pub(super) fn width(&self) -> usize {
        match *self {
            Self::ByPosition { width, .. } | Self::ByFeature { width, .. } => width,
        }
    }

    /// Positions of all samples that the values can hold.
    pub(super) fn positions(&self) -> usize {
        match *self {
            Self::ByPosition { values, width } => values.len() / width.max(1),
            Self::ByFeature { pitch, .. } => pitch,
        }
    }

    /// The largest magnitude at each of the first positions; infinite where there is no number.
    pub(super) fn largest(&self, positions: usize) -> Vec<f32> {
        match *self {
            Self::ByPosition { values, width } => {
                largest_magnitudes(&values[..positions * width], width)
            }
            Self::ByFeature { values, pitch, .. } => {
                let mut largest: Vec<f32> = vec![0.0; positions];
                for feature in values.chunks(pitch.max(1)) {
                    for (most, value) in largest.iter_mut().zip(feature) {
                        // Not a number counts as infinite.
                        let value = if value.is_nan() {
                            f32::INFINITY
                        } else {
                            value.abs()
                        };
                        *most = most.max(value);
                    }
                }
                largest
            }
        }
    }
}

/// Packed panels of one factor.
#[derive(Debug, Default)]
pub(super) struct Panels {
    values: Vec<f32>,
    depth: usize,
    width: usize,
    columns: usize,
}

impl Panels {
    /// Panels of `UNIT` features each, the last one padded with zeros to a multiple of `least`; position
    /// `row` times `scales[row]` where there are scales.
    pub fn fill<const UNIT: usize>(
        &mut self,
        factor: Factor<'_>,
        positions: &[usize],
        scales: Option<&[Scale]>,
        least: usize,
    ) {
        self.depth = positions.len();
        self.width = UNIT;
        self.columns = factor.width().next_multiple_of(least);
        self.values.resize(self.depth * self.columns, 0.0);
        let values = self.values.as_mut_slice();
        vectorised(
            #[inline(always)]
            || match scales {
                None => pack::<UNIT>(
                    factor,
                    positions,
                    least,
                    values,
                    #[inline(always)]
                    |_, from, into| into.copy_from_slice(from),
                    without_nan,
                ),
                Some(scales) => pack::<UNIT>(
                    factor,
                    positions,
                    least,
                    values,
                    #[inline(always)]
                    |row, from, into| scales[row].apply(from, into),
                    #[inline(always)]
                    |_| {},
                ),
            },
        );
    }

    pub fn count(&self) -> usize {
        self.columns.div_ceil(self.width.max(1))
    }

    /// A panel's values, one row for each position, and the length of a row.
    #[inline(always)]
    pub fn panel(&self, index: usize) -> (&[f32], usize) {
        let first = index * self.width;
        let pitch = self.width.min(self.columns - first);
        (
            &self.values[first * self.depth..][..pitch * self.depth],
            pitch,
        )
    }
}

/// Lays the panels of some positions out: `write(row, from, into)` makes a row of a panel, `finish` goes over
/// some rows of one while they are near.
#[inline(always)]
fn pack<const UNIT: usize>(
    factor: Factor<'_>,
    positions: &[usize],
    least: usize,
    into: &mut [f32],
    write: impl Fn(usize, &[f32], &mut [f32]),
    finish: impl Fn(&mut [f32]),
) {
    let depth = positions.len();
    let (whole, rest) = (factor.width() / UNIT, factor.width() % UNIT);
    let (panels, last) = into.split_at_mut(whole * UNIT * depth);
    let pitch = rest.next_multiple_of(least);
    match factor {
        Factor::ByPosition { values, width } => {
            // Narrow panels share lines of the cache, in which those of many rows would not stay.
            let strip = if UNIT < LANES { NEAR_ROWS } else { depth };
            for first in (0..depth).step_by(strip.max(1)) {
                let rows = first..depth.min(first + strip);
                for panel in 0..whole {
                    let into = &mut panels[panel * depth * UNIT..];
                    let into = &mut into[rows.start * UNIT..rows.end * UNIT];
                    for (into, row) in into.as_chunks_mut::<UNIT>().0.iter_mut().zip(rows.clone()) {
                        let from = &values[positions[row] * width + panel * UNIT..][..UNIT];
                        write(row, from, into);
                    }
                    finish(into);
                }
            }
            if rest > 0 {
                let rows = last.chunks_exact_mut(pitch).zip(positions);
                for (row, (into, &position)) in rows.enumerate() {
                    let (into, padding) = into.split_at_mut(rest);
                    let from = &values[position * width + whole * UNIT..][..rest];
                    write(row, from, into);
                    padding.fill(0.0);
                }
            }
        }
        Factor::ByFeature {
            values,
            pitch: from,
            width,
        } => {
            let feature = |feature: usize| &values[feature * from..][..from];
            let panels = panels.chunks_exact_mut((UNIT * depth).max(1));
            for (panel, into) in panels.enumerate() {
                let features: [&[f32]; UNIT] = std::array::from_fn(|at| feature(panel * UNIT + at));
                let rows = into.as_chunks_mut::<UNIT>().0.iter_mut().zip(positions);
                for (row, (into, &position)) in rows.enumerate() {
                    let from: [f32; UNIT] = std::array::from_fn(|at| features[at][position]);
                    write(row, &from, into);
                }
                finish(into);
            }
            if rest > 0 {
                let features: Vec<&[f32]> = (width - rest..width).map(feature).collect();
                let mut from = vec![0.0; pitch];
                let rows = last.chunks_exact_mut(pitch).zip(positions);
                for (row, (into, &position)) in rows.enumerate() {
                    for (from, feature) in from.iter_mut().zip(&features) {
                        *from = feature[position];
                    }
                    write(row, &from, into);
                }
            }
        }
    }
    finish(last);
}

/// What is not a number becomes zero.
#[inline(always)]
fn without_nan(values: &mut [f32]) {
    for value in values {
        *value = if value.is_nan() { 0.0 } else { *value };
    }
}

/// What a position of the right factor is multiplied by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    factor: f32,
    /// Set in every scaled value: see [`Scale::odd`].
    lowest_bit: u32,
    /// Smaller values become zero.
    least: f32,
}

/// Scaled values below this are dropped, so that none is subnormal.
const LEAST: f32 = 1e-37;

impl Scale {
    /// The value as it is.
    pub fn none() -> Self {
        Self {
            factor: 1.0,
            lowest_bit: 0,
            least: 0.0,
        }
    }

    /// Times a factor, rounded to a number whose 24-bit significand is odd.
    ///
    /// A product with it lies halfway between two multiples of a spacing g only if it is at least 2²² g
    /// long: with a = n · 2ʷ and b = m · 2ᵉ, n and m odd and m ≥ 2²³, the product's lowest bit is 2ʷ⁺ᵉ;
    /// halfway means 2ʷ⁺ᵉ = g/2, hence |a b| ≥ m g/2 ≥ 2²² g. Shorter products are never ties, so where
    /// they are rounded does not depend on what they are added to.
    pub fn odd(factor: f32) -> Self {
        Self {
            factor,
            lowest_bit: 1,
            least: LEAST,
        }
    }

    #[inline(always)]
    fn apply(self, from: &[f32], into: &mut [f32]) {
        for (into, &value) in into.iter_mut().zip(from) {
            let scaled = value * self.factor;
            let odd = f32::from_bits(scaled.to_bits() | self.lowest_bit);
            // What is not a number becomes zero as well.
            *into = if scaled.abs() >= self.least { odd } else { 0.0 };
        }
    }
}
