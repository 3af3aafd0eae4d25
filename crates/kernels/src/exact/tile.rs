//! The innermost loops: a tile of sums in registers, rounded to the grid and added as integers.

// Constant ranges unroll into registers; iterators over arrays of vectors do not always.
#![allow(clippy::needless_range_loop)]

use super::Grid;
use super::panels::{HEIGHT, Panels};
use pulp::{Simd, WithSimd};
use std::array::from_fn;
use std::ops::Range;

/// Rows of the panels that are rounded to the grid together.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub rows: Range<usize>,
    pub kind: Kind,
}

/// How a segment's sums get onto the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// Every product is rounded: sums start at the anchor, where f32 has no finer numbers.
    EachProduct,
    /// The sum of one record is rounded, times its factor.
    Record(f32),
    /// The same where the sum may be longer than 2²² steps.
    LongRecord(f32),
}

/// Adds the products of a run of left panels with every right panel.
pub(super) struct Tiles<'a> {
    pub left: &'a Panels,
    /// The first left panel.
    pub first: usize,
    pub right: &'a Panels,
    pub segments: &'a [Segment],
    pub grid: Grid,
    /// Rows of totals, `columns` long.
    pub into: &'a mut [u32],
    pub columns: usize,
}

impl WithSimd for Tiles<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for panel in 0..self.into.len().div_ceil(HEIGHT * self.columns) {
            for right in 0..self.right.count() {
                // Twice as many registers hold twice as many sums.
                if S::F32_LANES >= 16 {
                    self.panel::<S, 8>(simd, panel, right, 0);
                } else {
                    self.panel::<S, 4>(simd, panel, right, 0);
                    self.panel::<S, 4>(simd, panel, right, 4);
                }
            }
        }
    }
}

impl Tiles<'_> {
    #[inline(always)]
    fn panel<S: Simd, const ROWS: usize>(
        &mut self,
        simd: S,
        panel: usize,
        right: usize,
        row: usize,
    ) {
        let vectors = self.right.panel(right).1 / S::F32_LANES;
        let mut at = 0;
        while at < vectors {
            let width = match vectors - at {
                1 => 1,
                2 | 4 => 2,
                _ => 3,
            };
            let place = [panel, right, row, at * S::F32_LANES];
            match width {
                1 => self.tile::<S, ROWS, 1>(simd, place),
                2 => self.tile::<S, ROWS, 2>(simd, place),
                _ => self.tile::<S, ROWS, 3>(simd, place),
            }
            at += width;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const ROWS: usize, const VECTORS: usize>(
        &mut self,
        simd: S,
        [panel, right, first_row, first_column]: [usize; 4],
    ) {
        let (left, _) = self.left.panel(self.first + panel).0.as_chunks::<HEIGHT>();
        let column = right * super::panels::WIDTH + first_column;
        let (right, pitch) = self.right.panel(right);
        let row = panel * HEIGHT + first_row;
        let rows = ROWS.min((self.into.len() / self.columns).saturating_sub(row));
        let columns = (VECTORS * S::F32_LANES).min(self.columns.saturating_sub(column));
        if rows == 0 || columns == 0 {
            return;
        }
        let into = &mut self.into[row * self.columns + column..];
        let place = Place {
            rows,
            columns,
            pitch: self.columns,
        };
        let anchor = simd.splat_f32s(self.grid.anchor());
        for segment in self.segments {
            let start = match segment.kind {
                Kind::EachProduct => anchor,
                _ => simd.splat_f32s(0.0),
            };
            let mut sums = [[start; VECTORS]; ROWS];
            let rows = &right[segment.rows.start * pitch..segment.rows.end * pitch];
            let lefts = &left[segment.rows.clone()];
            for (left, right) in lefts.iter().zip(rows.chunks_exact(pitch)) {
                let right = vectors::<S, VECTORS>(&right[first_column..]);
                add_products(simd, from_fn(|row| left[first_row + row]), right, &mut sums);
            }
            match segment.kind {
                Kind::EachProduct => {}
                Kind::Record(factor) => {
                    let factor = simd.splat_f32s(factor);
                    for row in 0..ROWS {
                        for at in 0..VECTORS {
                            sums[row][at] = simd.mul_add_f32s(sums[row][at], factor, anchor);
                        }
                    }
                }
                Kind::LongRecord(factor) => {
                    let sums = spill::<S, ROWS, VECTORS>(sums);
                    add_long(into, &place, &sums, factor, self.grid);
                    continue;
                }
            }
            add_steps(simd, into, &place, sums, self.grid);
        }
    }
}

/// Where a tile lies in the totals: its part of them, and the distance between their rows.
struct Place {
    rows: usize,
    columns: usize,
    pitch: usize,
}

/// Values of a whole tile.
type Spilled = [[f32; super::panels::WIDTH]; HEIGHT];

#[inline(always)]
fn vectors<S: Simd, const VECTORS: usize>(values: &[f32]) -> [S::f32s; VECTORS] {
    let (vectors, _) = S::as_simd_f32s(&values[..VECTORS * S::F32_LANES]);
    from_fn(|at| vectors[at])
}

/// `sums[row] += left[row] · right`.
#[inline(always)]
fn add_products<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    left: [f32; ROWS],
    right: [S::f32s; VECTORS],
    sums: &mut [[S::f32s; VECTORS]; ROWS],
) {
    for row in 0..ROWS {
        let left = simd.splat_f32s(left[row]);
        for at in 0..VECTORS {
            sums[row][at] = simd.mul_add_f32s(left, right[at], sums[row][at]);
        }
    }
}

/// Adds the steps of sums that lie beside the anchor.
#[inline(always)]
fn add_steps<S: Simd, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    into: &mut [u32],
    place: &Place,
    sums: [[S::f32s; VECTORS]; ROWS],
    grid: Grid,
) {
    let zero = grid.anchor().to_bits();
    if place.rows < ROWS || place.columns < VECTORS * S::F32_LANES {
        let sums = spill::<S, ROWS, VECTORS>(sums);
        for (row, sums) in sums.iter().enumerate().take(place.rows) {
            let into = &mut into[row * place.pitch..][..place.columns];
            for (into, sum) in into.iter_mut().zip(sums) {
                *into = into.wrapping_add(sum.to_bits().wrapping_sub(zero));
            }
        }
        return;
    }
    let zero = simd.splat_u32s(zero);
    for row in 0..ROWS {
        let into = &mut into[row * place.pitch..][..VECTORS * S::F32_LANES];
        let (into, _) = S::as_mut_simd_u32s(into);
        for at in 0..VECTORS {
            let steps = simd.sub_u32s(simd.transmute_u32s_f32s(sums[row][at]), zero);
            into[at] = simd.add_u32s(into[at], steps);
        }
    }
}

/// The sums of a tile in memory.
#[inline(always)]
fn spill<S: Simd, const ROWS: usize, const VECTORS: usize>(
    sums: [[S::f32s; VECTORS]; ROWS],
) -> Spilled {
    let mut spilled = [[0.0; super::panels::WIDTH]; HEIGHT];
    for row in 0..ROWS {
        let (into, _) = S::as_mut_simd_f32s(&mut spilled[row][..VECTORS * S::F32_LANES]);
        into[..VECTORS].copy_from_slice(&sums[row]);
    }
    spilled
}

/// Adds the steps of sums that may be long.
fn add_long(into: &mut [u32], place: &Place, sums: &Spilled, factor: f32, grid: Grid) {
    for (row, sums) in sums.iter().enumerate().take(place.rows) {
        let into = &mut into[row * place.pitch..][..place.columns];
        for (into, &sum) in into.iter_mut().zip(sums) {
            *into = into.wrapping_add(grid.steps_of_long_product(sum, factor));
        }
    }
}
