//! The dominated lattice: merge outputs until their joint ratio is a lattice point.
//!
//! The output line is cut into intervals and only the interval is kept. That is post-processing,
//! so the merged pair is at most as easy to tell apart as the true one, alone and composed. The
//! cuts are placed so that the ratio P/Q of each interval is a lattice point; the lattice is
//! shifted to fit the first interval (PROOF.md, §3). Error h²/12 in variance per round.

use super::lattice::{Cells, Grid, Lattice, Point, put};
use super::pair::{Anchor, Direction, Pair};
use super::quadrature::{cell, exp_m1, work_of_cell};
use crate::effort::Effort;
use crate::special::ROUNDOFF;

/// Discretises one round so that every composed δ is at most the true one, on the lattice that
/// fits best or on the one with a point at this offset from the pair's origin; none if that is more
/// work than is left.
pub(super) fn dominated_lattice(
    pair: &Pair,
    grid: &Grid,
    cells: Cells,
    offset: Option<f64>,
) -> Option<Lattice> {
    // Two bisections for the first cut look at all parts some 80 times.
    grid.effort.spend(300.0 * (30.0 + pair.work()))?;
    let Cells {
        log_scale,
        mut strides,
    } = cells;
    let (low, high) = pair.range(grid.direction, grid.tail);
    let mut walk = Walk {
        effort: grid.effort,
        pair,
        step: grid.step,
        power: grid.direction.power(grid.tilt),
        log_scale,
        offset: 0.0,
        points: Vec::new(),
        peak: (pair.noise() * std::f64::consts::TAU.sqrt()).recip(),
        high,
        tolerance: grid.loss_tolerance.max(2.0 * ROUNDOFF),
        worst_residual: 0.0,
    };
    let mut anchor = Anchor::default();
    let lowest_cut = walk.start(low, high, offset);
    pair.move_to(&mut anchor, lowest_cut);
    // Ratio of the true width to that of a uniform density: varies slowly along the line.
    let mut correction = 1.0;
    // What is left above `high` is negligible and dropped.
    while anchor.x < high {
        grid.effort.spend(35.0 + 2.0 * pair.work())?;
        let stride = strides.at(anchor.excess);
        match walk.next_interval(&anchor, stride, &mut correction) {
            Some(width) => {
                let next = anchor.x + width;
                pair.move_to(&mut anchor, next);
            }
            // A search that was broken off has proved nothing of where the line ends.
            None if grid.effort.left() == 0.0 => return None,
            None => {
                walk.finish(anchor.x, grid.direction, offset.is_none());
                break;
            }
        }
    }
    let last = walk.points.last().map_or(0, |point| point.index);
    let highest_cut = pair.locate(walk.offset + last as f64 * grid.step);
    Some(Lattice {
        origin: pair.origin() + walk.offset,
        points: walk.points,
        log_scale,
        infinite: 0.0,
        loss_error: pair.loss_error(low, high) + walk.worst_residual,
        mass_error: grid.mass_error(pair, low, high, log_scale),
        cuts: (lowest_cut, highest_cut.max(anchor.x)),
    })
}

struct Walk<'a> {
    /// Work that is left.
    effort: &'a Effort,
    pair: &'a Pair,
    step: f64,
    power: f64,
    log_scale: f64,
    /// Excess of lattice index 0.
    offset: f64,
    points: Vec<Point>,
    /// Density of the noise at 0.
    peak: f64,
    /// Output above which there is next to no mass.
    high: f64,
    /// Residual of a lattice point that need not be improved.
    tolerance: f64,
    worst_residual: f64,
}

impl Walk<'_> {
    /// The tilt at a lattice point, to be multiplied with a mass of Q.
    fn log_tilt(&self, index: i64) -> f64 {
        self.power * (self.pair.origin() + self.offset + index as f64 * self.step) - self.log_scale
    }

    /// Chooses the lattice and the first cut; outputs below it are merged or dropped.
    ///
    /// Cuts should lie halfway between lattice points, where a uniform density has them; those
    /// that follow keep their distance from there.
    fn start(&mut self, low: f64, high: f64, offset: Option<f64>) -> f64 {
        if self.pair.is_sampled() && self.room(low) < 0.5 * self.step {
            // The ratio has an infimum in reach: all outputs up to the cut are one interval.
            let half = 0.5 * self.step;
            let mut cut = bisect(low, high, |x| self.room(x) < half);
            let mut index = 0;
            self.offset = offset.unwrap_or_else(|| self.joint_excess(cut));
            if let Some(offset) = offset {
                let (least, most) = (self.joint_excess(low), self.joint_excess(high));
                let place = |excess: f64| (excess - offset) / self.step;
                index = (place(self.joint_excess(cut)).round())
                    .min(place(most).floor())
                    .max(place(least).ceil()) as i64;
                let goal = offset + index as f64 * self.step;
                cut = bisect(low, high, |x| self.joint_excess(x) < goal);
                let residual = (self.joint_excess(cut) - goal).abs();
                self.worst_residual = residual;
                if residual > self.tolerance.max(1e-13) {
                    return self.start_bounded(low, Some(offset));
                }
            }
            self.worst_residual += self.pair.tail_error(cut);
            let (_, mass) = self.pair.below(cut);
            let mass = self.log_tilt(index).exp() * mass;
            put(&mut self.points, index, mass);
            return cut;
        }
        self.start_bounded(low, offset)
    }

    /// Drops the outputs below a cut near `low`.
    fn start_bounded(&mut self, low: f64, offset: Option<f64>) -> f64 {
        self.worst_residual = 0.0;
        let excess = self.pair.excess(low);
        let Some(offset) = offset else {
            self.offset = excess + 0.5 * self.step;
            return low;
        };
        self.offset = offset;
        let place = ((excess - offset) / self.step).ceil() + 0.5;
        self.pair.locate(offset + place * self.step)
    }

    /// Merges all outputs above `x`. Their ratio is brought down to a lattice point by merging
    /// them with shares of the next lower points, which is post-processing too.
    fn finish(&mut self, x: f64, direction: Direction, may_move: bool) {
        let (p, q) = self.pair.above(x);
        let excess = (p / q).ln() - self.pair.origin();
        if !excess.is_finite() {
            return; // nothing left, as far as numbers go
        }
        let place = (excess - self.offset) / self.step;
        let index = (place - 1e-9).floor() as i64;
        if (self.points.first()).is_none_or(|first| index <= first.index) {
            if may_move {
                self.merge_all();
            } else {
                self.round_last(place, q, direction);
            }
            return;
        }
        self.worst_residual = self.worst_residual.max(self.pair.tail_error(x));
        let missing = (excess - self.offset - index as f64 * self.step).exp_m1();
        let (mut needed, mut moved) = (q * missing, q);
        let donors = self.points.partition_point(|point| point.index < index);
        for slot in (0..donors).rev() {
            let donor = self.points[slot];
            let mass = donor.mass * (-self.log_tilt(donor.index)).exp();
            let each = -((donor.index - index) as f64 * self.step).exp_m1();
            let share = (needed / (mass * each)).min(1.0);
            if mass > 0.0 {
                needed -= mass * each * share;
                moved += mass * share;
                self.points[slot].mass *= if share > 1.0 - 1e-9 { 0.0 } else { 1.0 - share };
            }
            if needed <= 0.0 {
                break;
            }
        }
        // If all of it does not come down to the point, the ratio is moved: down for remove, up
        // to the next point for add.
        let index = if needed > 0.0 && direction == Direction::Add {
            index + 1
        } else {
            index
        };
        self.add(index, self.log_tilt(index).exp() * moved);
    }

    /// Merges the whole line: an atom of ratio 1, which tells nothing.
    fn merge_all(&mut self) {
        self.points.clear();
        self.offset = -self.pair.origin();
        self.worst_residual = 0.0;
        let mass = self.log_tilt(0).exp();
        put(&mut self.points, 0, mass);
    }

    /// Moves the ratio of the last interval to the lattice point that makes the divergence
    /// smaller: the one below for remove, above for add.
    fn round_last(&mut self, place: f64, mass: f64, direction: Direction) {
        let index = match direction {
            Direction::Remove => (place - 1e-9).floor(),
            Direction::Add => (place + 1e-9).ceil(),
        } as i64;
        self.add(index, self.log_tilt(index).exp() * mass);
    }

    /// Adds to a lattice point not below the first.
    fn add(&mut self, index: i64, mass: f64) {
        let slot = self.points.partition_point(|point| point.index < index);
        match self.points.get_mut(slot) {
            Some(point) if point.index == index => point.mass += mass,
            Some(_) if slot == 0 => {}
            _ => self.points.insert(slot, Point { index, mass }),
        }
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
        let mut index = (place + 0.5 * stride as f64)
            .round()
            .max((place + 1e-3).ceil());
        if let Some(last) = self.points.last() {
            index = index.max((last.index + 1) as f64);
        }
        let gap = anchor.excess - self.offset - index * self.step;
        let below = exp_m1(gap); // R(x)/r − 1 < 0
        let precision = self.pair.precision();
        let slope: f64 = (self.pair.parts().iter().zip(&anchor.shares))
            .map(|(part, share)| part.shift * share)
            .sum();
        let uniform = (-2.0 * below / ((1.0 + below) * slope)).ln_1p() / precision;
        let found = self.solve(anchor, below, slope, uniform * *correction)?;
        self.worst_residual = self.worst_residual.max(found.residual);
        *correction = (found.width / uniform).clamp(0.5, 2.0);
        let index = index as i64;
        let fall = 0.5 * anchor.x * anchor.x * precision;
        let density = (self.log_tilt(index) - fall).exp() * self.peak;
        put(&mut self.points, index, density * found.mass);
        Some(found.width)
    }

    /// The width at which ∫ φ (R/r − 1) vanishes, by Newton's method kept within bounds.
    fn solve(&self, anchor: &Anchor, below: f64, slope: f64, guess: f64) -> Option<Interval> {
        let precision = self.pair.precision();
        // If all the rest of the line does not reach the point, nothing does.
        let limit = (self.high - anchor.x).max(0.0) + self.pair.noise();
        let mut width = guess.min(limit);
        let (mut too_small, mut too_large) = (0.0_f64, f64::INFINITY);
        let mut best: Option<Interval> = None;
        for _ in 0..60 {
            (self.effort).spend(8.0 + work_of_cell(self.pair, anchor.x, width))?;
            let found = cell(self.pair, anchor, width);
            let balance = below * found.mass + (1.0 + below) * found.rise;
            let residual = balance / found.mass;
            if !residual.is_finite() {
                break;
            }
            if best.is_none_or(|best| residual.abs() < best.residual) {
                best = Some(Interval {
                    residual: residual.abs(),
                    width,
                    mass: found.mass,
                });
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
            let newton = (width - balance / (density * edge)).min(limit);
            width = if newton > too_small && newton < too_large && edge > 0.0 {
                if newton == width {
                    break;
                }
                newton
            } else if too_large.is_finite() {
                0.5 * (too_small + too_large)
            } else if too_small < limit {
                (2.0 * too_small).min(limit)
            } else {
                return None;
            };
        }
        best.filter(|best| best.residual <= self.tolerance.max(1e-13))
    }
}

/// An interval of outputs, in units of the density at its lower end.
#[derive(Debug, Clone, Copy)]
struct Interval {
    /// |P/Q of the interval over the lattice point − 1|
    residual: f64,
    width: f64,
    mass: f64,
}

/// Where a monotone predicate turns false, to the last bit.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
