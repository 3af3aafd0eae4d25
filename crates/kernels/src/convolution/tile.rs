//! Products whose right factor is never laid out: its rows are overlapping runs of one image.

// Constant ranges unroll into registers; iterators over arrays of vectors do not always.
#![allow(clippy::needless_range_loop)]

use crate::exact::Grid;
use pulp::{Simd, WithSimd};
use std::array::from_fn;

/// Rows of a product are padded to this many values, a multiple of every vector's length.
pub(super) const LANES: usize = 16;

/// The rows of a left factor, in blocks of 8, then 4, then the rest, each block by columns.
#[derive(Debug)]
pub(super) struct Packed {
    values: Vec<f32>,
    rows: usize,
    depth: usize,
}

impl Packed {
    /// `value(row, column)` of a matrix of `rows · depth`.
    pub fn new(rows: usize, depth: usize, value: impl Fn(usize, usize) -> f32) -> Self {
        let mut values = Vec::with_capacity(rows * depth);
        let mut first = 0;
        while first < rows {
            let height = block_height(rows - first);
            for column in 0..depth {
                values.extend((first..first + height).map(|row| value(row, column)));
            }
            first += height;
        }
        Self {
            values,
            rows,
            depth,
        }
    }
}

/// The largest block that `left` rows can fill.
#[inline(always)]
fn block_height(left: usize) -> usize {
    match left {
        0..=1 => 1,
        2 => 2,
        3 => 3,
        4..=7 => 4,
        _ => 8,
    }
}

/// The widest strip of vectors to take of `left`.
#[inline(always)]
fn strip_width(left: usize) -> usize {
    match left {
        0..=1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// `into[row][j] = Σ_k left[row][k] · image[offsets[k] + j]`, rows of `into` being `pitch` long.
pub(super) struct Shifted<'a> {
    pub left: &'a Packed,
    pub offsets: &'a [usize],
    pub image: &'a [f32],
    pub into: &'a mut [f32],
    pub pitch: usize,
}

impl WithSimd for Shifted<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        assert_eq!(self.offsets.len(), self.left.depth, "an offset per column");
        let vectors = self.pitch / S::F32_LANES;
        let mut this = self;
        let mut at = 0;
        while at < vectors {
            let width = strip_width(vectors - at);
            match width {
                1 => this.strip::<S, 1>(simd, at * S::F32_LANES),
                2 => this.strip::<S, 2>(simd, at * S::F32_LANES),
                _ => this.strip::<S, 3>(simd, at * S::F32_LANES),
            }
            at += width;
        }
    }
}

impl Shifted<'_> {
    #[inline(always)]
    fn strip<S: Simd, const WIDTH: usize>(&mut self, simd: S, column: usize) {
        let mut first = 0;
        while first < self.left.rows {
            let height = block_height(self.left.rows - first);
            match height {
                1 => self.tile::<S, 1, WIDTH>(simd, first, column),
                2 => self.tile::<S, 2, WIDTH>(simd, first, column),
                3 => self.tile::<S, 3, WIDTH>(simd, first, column),
                4 => self.tile::<S, 4, WIDTH>(simd, first, column),
                _ => self.tile::<S, 8, WIDTH>(simd, first, column),
            }
            first += height;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const HEIGHT: usize, const WIDTH: usize>(
        &mut self,
        simd: S,
        first: usize,
        column: usize,
    ) {
        let depth = self.left.depth;
        let (left, _) = self.left.values[first * depth..][..HEIGHT * depth].as_chunks::<HEIGHT>();
        let image = &self.image[column..];
        let mut sums = [[simd.splat_f32s(0.0); WIDTH]; HEIGHT];
        for (left, &offset) in left.iter().zip(self.offsets) {
            let right = vectors::<S, WIDTH>(&image[offset..]);
            add_products(simd, *left, right, &mut sums);
        }
        for (row, sums) in sums.into_iter().enumerate() {
            let into = &mut self.into[(first + row) * self.pitch + column..];
            let (into, _) = S::as_mut_simd_f32s(&mut into[..WIDTH * S::F32_LANES]);
            into[..WIDTH].copy_from_slice(&sums);
        }
    }
}

/// `sums[row] += left[row] · right`.
#[inline(always)]
fn add_products<S: Simd, const HEIGHT: usize, const WIDTH: usize>(
    simd: S,
    left: [f32; HEIGHT],
    right: [S::f32s; WIDTH],
    sums: &mut [[S::f32s; WIDTH]; HEIGHT],
) {
    for row in 0..HEIGHT {
        let factor = simd.splat_f32s(left[row]);
        for at in 0..WIDTH {
            sums[row][at] = simd.mul_add_f32s(factor, right[at], sums[row][at]);
        }
    }
}

#[inline(always)]
fn vectors<S: Simd, const WIDTH: usize>(values: &[f32]) -> [S::f32s; WIDTH] {
    let (vectors, _) = S::as_simd_f32s(&values[..WIDTH * S::F32_LANES]);
    from_fn(|at| vectors[at])
}

/// Where the sums of a correlation go.
pub(super) enum Write<'a> {
    /// Over what is there.
    Replace(&'a mut [f32]),
    /// On top of it.
    Add(&'a mut [f32]),
    /// Onto a grid, as steps that are added.
    Steps(&'a mut [u32], Grid),
}

impl Write<'_> {
    /// The same from a place on.
    #[inline(always)]
    fn from(&mut self, start: usize) -> Write<'_> {
        match self {
            Self::Replace(into) => Write::Replace(&mut into[start..]),
            Self::Add(into) => Write::Add(&mut into[start..]),
            Self::Steps(into, grid) => Write::Steps(&mut into[start..], *grid),
        }
    }
}

/// `into[k][m]` receives Σ over lines l and places p of `image[offsets[k] + l · line_pitch + p] ·
/// right[(l · places + p)][m]`, rows of `into` and `right` being `pitch` long.
pub(super) struct Correlation<'a> {
    pub image: &'a [f32],
    pub offsets: &'a [usize],
    pub lines: usize,
    pub places: usize,
    pub line_pitch: usize,
    pub right: &'a [f32],
    pub pitch: usize,
    pub into: Write<'a>,
}

impl WithSimd for Correlation<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let vectors = self.pitch / S::F32_LANES;
        let mut this = self;
        let mut first = 0;
        while first < this.offsets.len() {
            let height = block_height(this.offsets.len() - first);
            match height {
                1 => this.strip::<S, 1>(simd, first, vectors),
                2 => this.strip::<S, 2>(simd, first, vectors),
                3 => this.strip::<S, 3>(simd, first, vectors),
                4 => this.strip::<S, 4>(simd, first, vectors),
                _ => this.strip::<S, 8>(simd, first, vectors),
            }
            first += height;
        }
    }
}

impl Correlation<'_> {
    #[inline(always)]
    fn strip<S: Simd, const HEIGHT: usize>(&mut self, simd: S, first: usize, vectors: usize) {
        let mut at = 0;
        while at < vectors {
            let width = strip_width(vectors - at);
            match width {
                1 => self.tile::<S, HEIGHT, 1>(simd, first, at * S::F32_LANES),
                2 => self.tile::<S, HEIGHT, 2>(simd, first, at * S::F32_LANES),
                _ => self.tile::<S, HEIGHT, 3>(simd, first, at * S::F32_LANES),
            }
            at += width;
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const HEIGHT: usize, const WIDTH: usize>(
        &mut self,
        simd: S,
        first: usize,
        column: usize,
    ) {
        let places = self.places;
        let mut sums = [[simd.splat_f32s(0.0); WIDTH]; HEIGHT];
        for line in 0..self.lines {
            let rows: [&[f32]; HEIGHT] = from_fn(|row| {
                &self.image[self.offsets[first + row] + line * self.line_pitch..][..places]
            });
            let mut right = self.right[line * places * self.pitch..][column..].chunks(self.pitch);
            // Four places at a time: one check of bounds for four values.
            let quads = rows.map(|row| row.as_chunks::<4>().0);
            for quad in 0..places / 4 {
                let left: [[f32; 4]; HEIGHT] = from_fn(|row| quads[row][quad]);
                for place in 0..4 {
                    let Some(right) = right.next() else { break };
                    let right = vectors::<S, WIDTH>(right);
                    add_products(simd, from_fn(|row| left[row][place]), right, &mut sums);
                }
            }
            for (place, right) in (places / 4 * 4..places).zip(right) {
                let right = vectors::<S, WIDTH>(right);
                add_products(simd, from_fn(|row| rows[row][place]), right, &mut sums);
            }
        }
        let start = first * self.pitch + column;
        match self.into.from(start) {
            Write::Replace(into) => {
                for (row, sums) in sums.into_iter().enumerate() {
                    let into = &mut into[row * self.pitch..][..WIDTH * S::F32_LANES];
                    S::as_mut_simd_f32s(into).0[..WIDTH].copy_from_slice(&sums);
                }
            }
            Write::Add(into) => {
                for (row, sums) in sums.into_iter().enumerate() {
                    let into = &mut into[row * self.pitch..][..WIDTH * S::F32_LANES];
                    for (into, sum) in S::as_mut_simd_f32s(into).0.iter_mut().zip(sums) {
                        *into = simd.add_f32s(*into, sum);
                    }
                }
            }
            Write::Steps(into, grid) => {
                let anchor = simd.splat_f32s(grid.anchor());
                let zero = simd.splat_u32s(grid.anchor().to_bits());
                for (row, sums) in sums.into_iter().enumerate() {
                    let into = &mut into[row * self.pitch..][..WIDTH * S::F32_LANES];
                    for (into, sum) in S::as_mut_simd_u32s(into).0.iter_mut().zip(sums) {
                        let rounded = simd.transmute_u32s_f32s(simd.add_f32s(sum, anchor));
                        *into = simd.add_u32s(*into, simd.sub_u32s(rounded, zero));
                    }
                }
            }
        }
    }
}
