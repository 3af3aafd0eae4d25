//! Weighted sums of outer products, each record rounded to the grid by itself.

use super::Grid;
use super::grid::{FAST_RECORD_STEPS, FAST_RUN_STEPS};
pub use super::panels::Factor;
use super::panels::{HEIGHT, LANES, Panels, Scale, WIDTH};
use super::tile::{Kind, Segment, Tiles};
use crate::product::Workers;
use rayon::prelude::*;
use std::cell::Cell;

/// Up to so many positions every product of a record may be rounded to the grid. That is what an
/// ordinary product costs, but it rounds an entry once for every position. With more positions a
/// record's sum is formed first and rounded once.
pub const FEW_POSITIONS: usize = 4;

/// Positions of all records of a block that stay near while the tiles pass over them.
const DEPTH: usize = 256;

/// Below this many multiply-adds one thread is faster than several.
const SHARED_WORK: usize = 1 << 17;

/// Whether an outer product is all that a record adds to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// It is: times its factor it is not longer than the bound of the grid.
    Whole,
    /// It is not: something else may cancel most of it.
    One,
}

/// gᵢ = Σₜ aᵢₜ ⊗ bᵢₜ for each sample i, and its factor.
#[derive(Debug, Clone, Copy)]
pub struct Outer<'a> {
    /// aᵢₜ.
    pub left: Factor<'a>,
    /// bᵢₜ.
    pub right: Factor<'a>,
    /// Positions of each sample.
    pub positions: usize,
    /// What each sample's gradient is multiplied by.
    pub factors: &'a [f32],
}

/// Adds the steps of `factors[i]` · gᵢ, each sample rounded by itself.
///
/// A factor of exactly 0 leaves its sample out, whatever stands there.
///
/// # Shapes
/// - `into`: `[features of the left factor, features of the right factor]`
///
/// # Panics
/// If the lengths do not agree.
pub fn add_outer(into: &mut [u32], outer: Outer<'_>, grid: Grid, parts: Parts, workers: Workers) {
    let (d, p) = (outer.left.width(), outer.right.width());
    assert_eq!(into.len(), d * p, "a sum of {d} × {p}");
    let needed = outer.factors.len() * outer.positions;
    assert!(outer.left.positions() >= needed, "left factors of {needed}");
    assert!(
        outer.right.positions() >= needed,
        "right factors of {needed}"
    );
    if into.is_empty() || outer.positions == 0 {
        return;
    }
    // Vectors run along the right factor: a narrow one would leave most of them empty.
    if p <= LANES && d > p {
        let mut across = vec![0; d * p];
        let turned = Outer {
            left: outer.right,
            right: outer.left,
            ..outer
        };
        add_outer(&mut across, turned, grid, parts, workers);
        for (at, into) in into.iter_mut().enumerate() {
            *into = into.wrapping_add(across[at % p * d + at / p]);
        }
        return;
    }
    let mut block = SCRATCH.take();
    let largest = Largest::of(&outer);
    for (sample, &factor) in outer.factors.iter().enumerate() {
        if factor == 0.0 {
            continue;
        }
        let reach = largest.reach(sample, factor);
        block.push(&outer, sample, factor, reach / grid.spacing(), parts);
        if block.positions.len() >= DEPTH {
            block.add(into, &outer, grid, workers);
        }
    }
    block.add(into, &outer, grid, workers);
    SCRATCH.set(block);
}

thread_local! {
    /// Panels are as large as the factors: fresh memory for them would cost more than filling them.
    static SCRATCH: Cell<Block> = Cell::default();
}

/// The largest values at each position, if samples have few.
struct Largest(Option<Pairs>);

struct Pairs {
    left: Vec<f32>,
    right: Vec<f32>,
    positions: usize,
}

impl Largest {
    fn of(outer: &Outer<'_>) -> Self {
        let positions = outer.positions;
        let all = positions * outer.factors.len();
        Self((positions <= FEW_POSITIONS).then(|| Pairs {
            left: outer.left.largest(all),
            right: outer.right.largest(all),
            positions,
        }))
    }

    /// A bound on |factor| Σₜ |aₜ ⊗ bₜ| in every entry of a sample.
    fn reach(&self, sample: usize, factor: f32) -> f64 {
        let Some(pairs) = &self.0 else {
            return f64::INFINITY;
        };
        let here = sample * pairs.positions..(sample + 1) * pairs.positions;
        let products = pairs.left[here.clone()].iter().zip(&pairs.right[here]);
        let sum: f64 = products.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
        let reach = sum * f64::from(factor.abs());
        if reach.is_nan() { f64::INFINITY } else { reach }
    }
}

/// Records whose factors are laid out together.
#[derive(Default)]
struct Block {
    /// Where each row of the panels comes from.
    positions: Vec<usize>,
    scales: Vec<Scale>,
    segments: Vec<Segment>,
    /// Steps that the last segment may have taken, if all its products are rounded.
    reach: f64,
    left: Panels,
    right: Panels,
}

impl Block {
    /// Appends a record. How it is rounded depends on the record alone.
    fn push(&mut self, outer: &Outer<'_>, sample: usize, factor: f32, reach: f64, parts: Parts) {
        let first = self.positions.len();
        let rows = first..first + outer.positions;
        let start = sample * outer.positions;
        self.positions.extend(start..start + outer.positions);
        if reach <= FAST_RECORD_STEPS {
            self.scales.extend(rows.clone().map(|_| Scale::odd(factor)));
            let total = self.reach + reach;
            match self.segments.last_mut() {
                Some(last) if last.kind == Kind::EachProduct && total <= FAST_RUN_STEPS => {
                    last.rows.end = rows.end;
                    self.reach = total;
                }
                _ => {
                    let kind = Kind::EachProduct;
                    self.segments.push(Segment { rows, kind });
                    self.reach = reach;
                }
            }
            return;
        }
        self.scales.extend(rows.clone().map(|_| Scale::none()));
        let kind = match parts {
            Parts::Whole => Kind::Record(factor),
            Parts::One => Kind::LongRecord(factor),
        };
        self.segments.push(Segment { rows, kind });
    }

    /// Adds what was appended, and starts anew.
    fn add(&mut self, into: &mut [u32], outer: &Outer<'_>, grid: Grid, workers: Workers) {
        if self.positions.is_empty() {
            return;
        }
        let Self { left, right, .. } = self;
        left.fill::<HEIGHT>(outer.left, &self.positions, None, HEIGHT);
        let scales = Some(self.scales.as_slice());
        right.fill::<WIDTH>(outer.right, &self.positions, scales, LANES);
        let columns = outer.right.width();
        let threads = match workers {
            Workers::All if into.len() * self.positions.len() >= SHARED_WORK => {
                rayon::current_num_threads()
            }
            _ => 1,
        };
        let panels = left.count().div_ceil(threads);
        let share = |(index, into): (usize, &mut [u32])| {
            pulp::Arch::new().dispatch(Tiles {
                left,
                first: index * panels,
                right,
                segments: &self.segments,
                grid,
                into,
                columns,
            });
        };
        if threads == 1 {
            share((0, into));
        } else {
            into.par_chunks_mut(panels * HEIGHT * columns)
                .enumerate()
                .for_each(share);
        }
        self.positions.clear();
        self.scales.clear();
        self.segments.clear();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
