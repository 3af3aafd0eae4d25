//! The dominated lattice: merge outputs until their joint ratio is a lattice point.
//!
//! The output line is cut into intervals and only the interval is kept. That is post-processing,
//! so the merged pair is at most as easy to tell apart as the true one, alone and composed. The
//! cuts are placed so that the ratio P/Q of each interval is a lattice point; the lattice is
//! shifted to fit the first interval (PROOF.md, §3). Error h²/12 in variance per round.

use super::lattice::{Grid, Lattice, Strides};
use super::pair::{Anchor, Pair};
use super::profile::Profile;
use super::quadrature::{cell, exp_m1};
use crate::special::ROUNDOFF;

/// Discretises one round so that every composed δ is at most the true one.
pub(super) fn be_dominated(pair: &Pair, grid: &Grid, profile: &Profile) -> Lattice {
    let log_scale = profile.cumulants(grid.tilt).log_moment;
    let (low, high) = pair.range(grid.direction, grid.tail);
    let mut walk = Walk {
        pair,
        step: grid.step,
        power: grid.direction.power(grid.tilt),
        log_scale,
        offset: 0.0,
        masses: Vec::new(),
        peak: (pair.noise() * std::f64::consts::TAU.sqrt()).recip(),
        tolerance: grid.loss_tolerance.max(2.0 * ROUNDOFF),
        worst_residual: 0.0,
    };
    let mut anchor = Anchor::default();
    walk.first_interval(&mut anchor, low, high);
    // Ratio of the true width to that of a uniform density: varies slowly along the line.
    let mut correction = 1.0;
    let mut strides = Strides::new(pair, profile, grid);
    while anchor.x < high {
        let Some(width) = walk.next_interval(&anchor, strides.at(anchor.excess), &mut correction)
        else {
            break; // the rest of the line never reaches the next point: its mass is dropped
        };
        let next = anchor.x + width;
        pair.move_to(&mut anchor, next);
    }
    Lattice {
        origin: pair.origin() + walk.offset,
        first: 0,
        masses: walk.masses,
        log_scale,
        infinite: 0.0,
        loss_error: pair.loss_error(low, high) + walk.worst_residual,
        mass_error: grid.mass_error(pair, low, high, log_scale),
    }
}

struct Walk<'a> {
    pair: &'a Pair,
    step: f64,
    power: f64,
    log_scale: f64,
    /// Excess of lattice index 0.
    offset: f64,
    masses: Vec<f64>,
    /// Density of the noise at 0.
    peak: f64,
    /// Residual of a lattice point that need not be improved.
    tolerance: f64,
    worst_residual: f64,
}

impl Walk<'_> {
    /// The tilt at a lattice point, to be multiplied with a mass of Q.
    fn log_tilt(&self, index: usize) -> f64 {
        self.power * (self.pair.origin() + self.offset + index as f64 * self.step) - self.log_scale
    }

    fn density(&self, x: f64, index: usize) -> f64 {
        (self.log_tilt(index) - 0.5 * x * x * self.pair.precision()).exp() * self.peak
    }

    /// Merges the lowest outputs and puts the lattice where they lie.
    ///
    /// The first cut is half a step above their joint ratio, where a uniform density would have
    /// it; then all cuts stay near the middle between lattice points.
    fn first_interval(&mut self, anchor: &mut Anchor, low: f64, high: f64) {
        if self.pair.is_sampled() {
            let (mut left, mut right) = (low, high);
            if self.room(left) < 0.5 * self.step {
                for _ in 0..60 {
                    let middle = 0.5 * (left + right);
                    if self.room(middle) < 0.5 * self.step {
                        left = middle;
                    } else {
                        right = middle;
                    }
                }
                let (_, mass) = self.pair.below(left);
                self.offset = self.joint_excess(left);
                self.masses.push(self.log_tilt(0).exp() * mass);
                self.pair.move_to(anchor, left);
                return;
            }
        }
        // No infimum in reach: outputs below `low` are dropped.
        self.pair.move_to(anchor, low);
        let next = self.pair.locate(anchor.excess + self.step);
        let found = cell(self.pair, anchor, next - low);
        self.offset = anchor.excess + (found.rise / found.mass).ln_1p();
        self.masses.push(self.density(low, 0) * found.mass);
        self.pair.move_to(anchor, next);
    }

    /// Excess of the joint ratio of all outputs up to `x`.
    fn joint_excess(&self, x: f64) -> f64 {
        let (_, mass) = self.pair.below(x);
        (self.pair.drawn_below(x) * (-self.pair.origin()).exp() / mass).ln_1p()
    }

    fn room(&self, x: f64) -> f64 {
        self.pair.excess(x) - self.joint_excess(x)
    }

    /// Finds the interval right of the anchor whose joint ratio is the next lattice point, adds
    /// its mass and returns its width; none if there is no such interval.
    fn next_interval(&mut self, anchor: &Anchor, stride: i64, correction: &mut f64) -> Option<f64> {
        // The point half a stride above the cut, and well above it. Cuts lie near the middle
        // between points and stay there if strides are odd.
        let stride = (stride - 1) | 1;
        let place = (anchor.excess - self.offset) / self.step;
        let index = ((place + 0.5 * stride as f64).round())
            .max((place + 1e-3).ceil())
            .max(self.masses.len() as f64);
        let gap = anchor.excess - self.offset - index * self.step;
        let index = index as usize;
        let below = exp_m1(gap); // R(x)/r − 1 < 0
        let precision = self.pair.precision();
        let slope: f64 = (self.pair.parts().iter().zip(&anchor.shares))
            .map(|(part, share)| part.shift * share)
            .sum();
        let uniform = (-2.0 * below / ((1.0 + below) * slope)).ln_1p() / precision;
        let mut width = uniform * *correction;
        let (mut too_small, mut too_large) = (0.0_f64, f64::INFINITY);
        let mut best: Option<(f64, f64, f64)> = None; // residual, width, mass
        for _ in 0..60 {
            let found = cell(self.pair, anchor, width);
            let balance = below * found.mass + (1.0 + below) * found.rise;
            let residual = balance / found.mass;
            if !residual.is_finite() {
                break;
            }
            if best.is_none_or(|(least, ..)| residual.abs() < least) {
                best = Some((residual.abs(), width, found.mass));
            }
            if residual.abs() <= self.tolerance {
                break;
            }
            if residual < 0.0 {
                too_small = too_small.max(width);
            } else {
                too_large = too_large.min(width);
            }
            // R/r − 1 and the density at the far edge: Newton's slope.
            let edge = below + (1.0 + below) * slope * exp_m1(width * precision);
            let density = 1.0 + exp_m1(-width * (anchor.x + 0.5 * width) * precision);
            let newton = width - balance / (density * edge);
            width = if newton > too_small && newton < too_large && edge > 0.0 {
                if newton == width {
                    break;
                }
                newton
            } else if too_large.is_finite() {
                0.5 * (too_small + too_large)
            } else {
                2.0 * too_small
            };
            if width > 100.0 * self.pair.noise() + uniform {
                return None;
            }
        }
        let (residual, width, mass) = best?;
        if residual > self.tolerance.max(1e-13) {
            return None;
        }
        self.worst_residual = self.worst_residual.max(residual);
        *correction = (width / uniform).clamp(0.5, 2.0);
        self.masses.resize(index, 0.0);
        self.masses.push(self.density(anchor.x, index) * mass);
        Some(width)
    }
}
