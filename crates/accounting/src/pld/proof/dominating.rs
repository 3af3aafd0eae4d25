//! The dominating lattice: connect the dots (Doroshenko et al. 2022, arXiv:2207.04380).
//!
//! Within each cell [r, r·e^h] of the likelihood ratio, the masses of P and Q are moved to the
//! two ends so that both are kept. The ratio becomes larger in convex order, so the lattice pair
//! is at least as easy to tell apart as the true one, alone and composed (PROOF.md, §2).

use super::lattice::{Cells, Grid, Lattice, Point, put};
use super::pair::{Anchor, Direction, Pair};
use super::quadrature::{cell, work_of_cell};

/// Discretises one round so that every composed δ is at least the true one; none if that is more
/// work than is left.
pub(super) fn dominating_lattice(pair: &Pair, grid: &Grid, cells: Cells) -> Option<Lattice> {
    grid.effort.spend(40.0 * pair.work())?;
    let Cells {
        log_scale,
        mut strides,
    } = cells;
    let step = grid.step;
    let (low, high) = pair.range(grid.direction, grid.tail);
    let mut first = (pair.excess(low) / step).floor() as i64;
    if pair.is_sampled() {
        first = first.max(0);
    }
    let last = ((pair.excess(high) / step).ceil() as i64).max(first + 1);
    let mut build = Builder {
        pair,
        grid,
        log_scale,
        power: grid.direction.power(grid.tilt),
        first,
        peak: (pair.noise() * std::f64::consts::TAU.sqrt()).recip(),
        loss_error: pair.loss_error(low, high),
        points: Vec::new(),
    };
    let mut infinite = 0.0;
    let mut x = if pair.is_sampled() && first == 0 {
        let x = pair.locate(step);
        build.lowest_cell(x);
        first += 1;
        x
    } else {
        let x = pair.locate(first as f64 * step);
        infinite += build.cut_below(x);
        x
    };
    let mut anchor = Anchor::default();
    let mut span = Span::new(1, &build);
    let mut index = first;
    while index < last {
        let excess = index as f64 * step;
        let stride = strides.at(excess).min(last - index);
        if stride != span.stride {
            span = Span::new(stride, &build);
        }
        let next = pair.locate_from(x, (index + stride) as f64 * step);
        (grid.effort).spend(30.0 + 5.0 * pair.work() + work_of_cell(pair, x, next - x))?;
        pair.move_to_known(&mut anchor, x, excess);
        build.inner_cell(&anchor, index, next - x, span);
        x = next;
        index += stride;
    }
    infinite += build.cut_above(x, last);
    Some(Lattice {
        origin: pair.origin(),
        points: build.points,
        log_scale,
        infinite,
        loss_error: build.loss_error,
        mass_error: grid.mass_error(pair, low, high, log_scale),
        cuts: (low, high),
    })
}

/// A number of lattice points and what the ratio and the tilt grow by over them.
#[derive(Debug, Clone, Copy)]
struct Span {
    stride: i64,
    /// e^(stride · h) − 1
    ratio: f64,
    /// e^(power · stride · h)
    tilt: f64,
}

impl Span {
    fn new(stride: i64, build: &Builder) -> Self {
        let length = stride as f64 * build.grid.step;
        Self {
            stride,
            ratio: length.exp_m1(),
            tilt: (build.power * length).exp(),
        }
    }
}

struct Builder<'a> {
    pair: &'a Pair,
    grid: &'a Grid<'a>,
    log_scale: f64,
    power: f64,
    first: i64,
    /// Density of the noise at 0.
    peak: f64,
    loss_error: f64,
    points: Vec<Point>,
}

impl Builder<'_> {
    /// L at a lattice index.
    fn loss(&self, index: i64) -> f64 {
        self.pair.origin() + index as f64 * self.grid.step
    }

    /// Adds an amount e^log_factor · mass of Q to a lattice point, tilted.
    fn add(&mut self, index: i64, log_factor: f64, mass: f64) {
        let tilt = self.power * self.loss(index) - self.log_scale;
        put(&mut self.points, index, (log_factor + tilt).exp() * mass);
    }

    /// Splits Q-mass `mass`, whose P-mass exceeds r · mass by r · rise, between the two ends of
    /// a cell. The rise is biased against us by more than its error (PROOF.md, §5).
    fn split(&self, mass: f64, rise: f64, span: Span) -> (f64, f64) {
        let bias = 4.0 * self.loss_error * mass * self.grid.direction.sign();
        let right = ((rise + bias) / span.ratio).clamp(0.0, mass);
        (mass - right, right)
    }

    /// The cell that begins at the infimum of the ratio: all outputs up to `x`.
    fn lowest_cell(&mut self, x: f64) {
        let (_, mass) = self.pair.below(x);
        let rise = self.pair.drawn_below(x) * (-self.pair.origin()).exp();
        self.loss_error += self.pair.tail_error(x);
        let (left, right) = self.split(mass, rise, Span::new(1, self));
        self.add(0, 0.0, left);
        self.add(1, 0.0, right);
    }

    fn inner_cell(&mut self, anchor: &Anchor, index: i64, width: f64, span: Span) {
        if width <= 0.0 {
            return;
        }
        let found = cell(self.pair, anchor, width);
        let (left, right) = self.split(found.mass, found.rise, span);
        let tilt = self.power * self.loss(index) - self.log_scale;
        let fall = 0.5 * anchor.x * anchor.x * self.pair.precision();
        let density = (tilt - fall).exp() * self.peak;
        put(&mut self.points, index, density * left);
        let end = density * right * span.tilt;
        put(&mut self.points, index + span.stride, end);
    }

    /// Outputs below `x`: the P-mass moves up to `x`, the rest of Q to ratio 0. Returns the mass
    /// of infinite loss.
    fn cut_below(&mut self, x: f64) -> f64 {
        let (p, q) = self.pair.below(x);
        match self.grid.direction {
            Direction::Remove => {
                self.add(self.first, -self.loss(self.first), p);
                0.0
            }
            Direction::Add => {
                // p ≤ q r here, and q does not underflow where p might.
                self.add(self.first, 0.0, q);
                q
            }
        }
    }

    /// Outputs above `x`: the Q-mass moves down to `x`, the rest of P to an infinite ratio.
    /// Returns the mass of infinite loss.
    fn cut_above(&mut self, x: f64, last: i64) -> f64 {
        let (p, q) = self.pair.above(x);
        match self.grid.direction {
            Direction::Remove => {
                // q r ≤ p here, and p does not underflow where q might.
                self.add(last, -self.loss(last), p);
                p
            }
            Direction::Add => {
                self.add(last, 0.0, q);
                0.0
            }
        }
    }
}
