//! The factors of a block of records, laid out for the tiles.

// Constant ranges unroll; iterators over arrays do not always.
#![allow(clippy::needless_range_loop)]

use crate::vector::{largest_magnitude, vectorised};
use std::ops::Range;

/// Rows of a tile: features of the left factor.
pub(super) const HEIGHT: usize = 8;
/// Columns of a tile: features of the right factor.
pub(super) const WIDTH: usize = 48;
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

    /// The largest magnitude at each of some positions.
    pub(super) fn largest(&self, positions: Range<usize>, into: &mut Vec<f32>) {
        into.clear();
        match *self {
            Self::ByPosition { values, width } => {
                let rows = values[positions.start * width..positions.end * width].chunks(width);
                into.extend(rows.map(largest_magnitude));
            }
            Self::ByFeature { values, pitch, .. } => {
                into.resize(positions.len(), 0.0);
                for feature in values.chunks(pitch.max(1)) {
                    for (most, value) in into.iter_mut().zip(&feature[positions.clone()]) {
                        // Not a number counts as infinite.
                        let value = if value.is_nan() {
                            f32::INFINITY
                        } else {
                            value.abs()
                        };
                        *most = most.max(value);
                    }
                }
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
                None => pack::<UNIT>(factor, positions, least, values, |_| Scale::none()),
                Some(scales) => pack::<UNIT>(factor, positions, least, values, |row| scales[row]),
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

/// Writes the panels of some positions, each row times its scale.
#[inline(always)]
fn pack<const UNIT: usize>(
    factor: Factor<'_>,
    positions: &[usize],
    least: usize,
    into: &mut [f32],
    scale: impl Fn(usize) -> Scale,
) {
    let depth = positions.len();
    let (whole, rest) = (factor.width() / UNIT, factor.width() % UNIT);
    let (panels, last) = into.split_at_mut(whole * UNIT * depth);
    let panels = panels.chunks_exact_mut((UNIT * depth).max(1)).enumerate();
    let pitch = rest.next_multiple_of(least);
    match factor {
        Factor::ByPosition { values, width } => {
            for (panel, into) in panels {
                let rows = into.as_chunks_mut::<UNIT>().0.iter_mut().zip(positions);
                for (row, (into, &position)) in rows.enumerate() {
                    let from = &values[position * width + panel * UNIT..][..UNIT];
                    let scale = scale(row);
                    for at in 0..UNIT {
                        into[at] = scale.apply(from[at]);
                    }
                }
            }
            if rest > 0 {
                let rows = last.chunks_exact_mut(pitch).zip(positions);
                for (row, (into, &position)) in rows.enumerate() {
                    let from = &values[position * width + whole * UNIT..][..rest];
                    let (into, padding) = into.split_at_mut(rest);
                    let scale = scale(row);
                    for (into, &from) in into.iter_mut().zip(from) {
                        *into = scale.apply(from);
                    }
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
            for (panel, into) in panels {
                let features: [&[f32]; UNIT] = std::array::from_fn(|at| feature(panel * UNIT + at));
                let rows = into.as_chunks_mut::<UNIT>().0.iter_mut().zip(positions);
                for (row, (into, &position)) in rows.enumerate() {
                    let scale = scale(row);
                    for at in 0..UNIT {
                        into[at] = scale.apply(features[at][position]);
                    }
                }
            }
            if rest > 0 {
                last.fill(0.0);
                for (column, line) in (width - rest..width).map(feature).enumerate() {
                    let rows = last.chunks_exact_mut(pitch).zip(positions).enumerate();
                    for (row, (into, &position)) in rows {
                        into[column] = scale(row).apply(line[position]);
                    }
                }
            }
        }
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
    fn apply(self, value: f32) -> f32 {
        let scaled = value * self.factor;
        let odd = f32::from_bits(scaled.to_bits() | self.lowest_bit);
        if scaled.abs() >= self.least { odd } else { 0.0 }
    }
}
