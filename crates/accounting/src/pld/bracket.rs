//! The search for a bracket narrow enough: compose, read, refine.

use super::blend::{Levels, ratio_for};
use super::compose::Composition;
use super::lattice::Grid;
use super::making::Making;
use super::pair::Direction;
use super::profile::Schedule;
use super::reading::Curve;
use super::steps::{Side, Steps};
use super::survey::{Detail, survey};
use super::transform::{Transform, work_of_points};
use super::window::{Outlook, Window};
use crate::effort::Effort;

use std::cell::Cell;

/// Longest transform; more points would take seconds and hundreds of megabytes.
const MOST_POINTS: usize = 1 << 22;
const FEWEST_POINTS: usize = 1 << 10;
/// Longest transform before a measured width justifies more.
const MOST_POINTS_UNSEEN: usize = 1 << 17;
/// Widths of ε below this are never asked for.
const ABSOLUTE_WIDTH: f64 = 1e-6;
/// Part of the width that tails, aliases and cuts may each take.
const SHARE_OF_WIDTH: f64 = 0.01;
/// Part of the width that rounding may take before more care is taken.
const ROUNDING_SHARE: f64 = 0.35;
/// Most coefficients computed for one pair of compositions: a few seconds of work.
const MOST_WORK: f64 = 1.6e8;
/// Part of the width that blending of noise levels may take on the lower side.
const BLEND_SHARE: f64 = 0.2;
/// Longest distance of lattice points: ratios within a cell should not differ by orders.
const MOST_STEP: f64 = 0.25;
/// How often the losses of one round may wrap around the window.
const MOST_WRAPS: f64 = 16.0;
/// Levels of care about rounding: the lowest coefficients exactly, then stronger tilts.
const MOST_CARE: u32 = 3;
/// Part of the width that losses above the window may take before the schedule is looked at more
/// closely; a window from a fair look leaves them [`SHARE_OF_WIDTH`].
const MISJUDGED_SHARE: f64 = 0.3;
/// Part of the work that the first direction may take.
const FIRST_DIRECTION: f64 = 0.75;
/// Part of what is left of it that one composition may take.
const ONE_COMPOSITION: f64 = 0.6;
/// Cumulants of all rounds that an outlook takes.
const CUMULANTS_OF_OUTLOOK: f64 = 120.0;
/// Largest ordinary loss of a sampled round that is composed: ε would be as large.
const MOST_LOSS: f64 = 2e4;

/// A bracket of ε at δ; its upper end is infinite where more work would be needed than is left.
pub(super) fn epsilon(
    steps: &Steps,
    delta: f64,
    relative_width: f64,
    effort: &Effort,
) -> (f64, f64) {
    if steps.largest_sampled_loss() > MOST_LOSS {
        return (0.0, f64::INFINITY);
    }
    let removal = effort.with_part(FIRST_DIRECTION * effort.left(), |effort| {
        let removal = Search::new(steps, Direction::Remove, delta, Detail::Sample, effort)?;
        Some(removal.epsilon(delta, relative_width, 0.0))
    });
    let Some((lower, upper)) = removal else {
        return (0.0, f64::INFINITY);
    };
    if steps.is_symmetric() || lower.is_infinite() || upper.is_infinite() {
        return (lower, upper);
    }
    // Known without looking at the other direction at all.
    if steps.most_loss_of_addition() <= upper {
        return (lower, upper);
    }
    let Some(addition) = Search::new(steps, Direction::Add, delta, Detail::Sample, effort) else {
        return (lower, f64::INFINITY);
    };
    if addition.stays_below(upper, delta) {
        return (lower, upper);
    }
    let (lower_added, upper_added) = addition.epsilon(delta, relative_width, lower);
    (lower.max(lower_added), upper.max(upper_added))
}

/// Brackets of δ at several ε.
pub(super) fn deltas(
    steps: &Steps,
    epsilons: &[f64],
    relative_width: f64,
    effort: &Effort,
) -> Vec<(f64, f64)> {
    if steps.largest_sampled_loss() > MOST_LOSS {
        return vec![(0.0, 1.0); epsilons.len()];
    }
    let mut brackets = vec![(0.0_f64, 0.0_f64); epsilons.len()];
    let directions: &[Direction] = if steps.is_symmetric() {
        &[Direction::Remove]
    } else {
        &[Direction::Remove, Direction::Add]
    };
    for &direction in directions {
        let share = match direction {
            Direction::Remove => FIRST_DIRECTION,
            Direction::Add => 1.0,
        };
        let found = [Detail::Sample, Detail::Close]
            .into_iter()
            .find_map(|detail| {
                effort.with_part(share * effort.left(), |effort| {
                    let search =
                        Search::looking_for_deltas(steps, direction, epsilons, detail, effort)?;
                    search.deltas(epsilons, relative_width)
                })
            })
            .unwrap_or_else(|| vec![(0.0, 1.0); epsilons.len()]);
        for (bracket, other) in brackets.iter_mut().zip(found) {
            bracket.0 = bracket.0.max(other.0);
            bracket.1 = bracket.1.max(other.1);
        }
    }
    brackets
}

/// Smallest and largest.
fn ends(values: &[f64]) -> (f64, f64) {
    (values.iter()).fold((f64::INFINITY, 0.0), |(low, high), &value| {
        (low.min(value), value.max(high))
    })
}

/// One direction of one schedule.
struct Search<'a> {
    effort: &'a Effort,
    steps: &'a Steps,
    direction: Direction,
    detail: Detail,
    schedule: Schedule,
    outlook: Outlook,
    /// Mass of each round that may be cut off at either end.
    tail: f64,
    /// Longest stretch of losses of a round.
    span: f64,
    /// How often rounding has proved to be the limit: see [`MOST_CARE`].
    care: Cell<u32>,
}

/// How a composition is made.
#[derive(Debug, Clone, Copy)]
struct Resolution {
    window: Window,
    points: usize,
    /// Width of ε aimed at.
    width: f64,
    /// Width that blending of noise levels may take.
    blend_width: f64,
    /// Where it will be read: ε, δ, and how fast ln δ falls with ε.
    epsilon: f64,
    delta: f64,
    slope: f64,
}

impl<'a> Search<'a> {
    fn new(
        steps: &'a Steps,
        direction: Direction,
        delta: f64,
        detail: Detail,
        effort: &'a Effort,
    ) -> Option<Self> {
        // Tails that cost ε less than its width: ln δ falls by at least ε's slope, which is at
        // least about 1 where the width is relative and large where it is absolute.
        let tail = (1e-7 * delta / steps.rounds()).max(1e-250);
        let schedule = survey(steps, direction, tail, detail, effort)?;
        effort.spend(CUMULANTS_OF_OUTLOOK * schedule.work())?;
        let outlook = Outlook::at_delta(&schedule, delta);
        let records = f64::from(steps.records);
        effort.spend(steps.kinds.len() as f64 * (60.0 + 40.0 * records))?;
        let span = (steps.kinds.iter())
            .map(|step| {
                let pair = step.pair(Side::Upper, steps.records);
                let (low, high) = pair.range(direction, tail);
                pair.excess(high) - pair.excess(low)
            })
            .fold(0.0, f64::max);
        Some(Self {
            effort,
            steps,
            direction,
            detail,
            schedule,
            outlook,
            tail,
            span,
            care: Cell::new(0),
        })
    }

    /// What is expected about this ε, where δ is known; none if that is more work than is left.
    fn outlook_at(&self, epsilon: f64, delta: f64) -> Option<Outlook> {
        (self.effort).spend(CUMULANTS_OF_OUTLOOK * self.schedule.work())?;
        Some(Outlook::at_epsilon(&self.schedule, epsilon).for_delta(delta))
    }

    /// A search for δ at several ε, the smallest of which is about `delta`.
    fn for_deltas(
        steps: &'a Steps,
        direction: Direction,
        epsilons: &[f64],
        delta: f64,
        detail: Detail,
        effort: &'a Effort,
    ) -> Option<Self> {
        let (low, high) = ends(epsilons);
        let mut search = Self::new(steps, direction, delta, detail, effort)?;
        search.outlook = search.outlook_at(0.5 * (low + high), delta)?;
        Some(search)
    }

    /// As [`Self::for_deltas`], with the smallest δ found by quick looks.
    fn looking_for_deltas(
        steps: &'a Steps,
        direction: Direction,
        epsilons: &[f64],
        detail: Detail,
        effort: &'a Effort,
    ) -> Option<Self> {
        let (low, high) = ends(epsilons);
        let rough = survey(steps, direction, 1e-30 / steps.rounds(), detail, effort)?;
        effort.spend(CUMULANTS_OF_OUTLOOK * rough.work())?;
        let mut delta = Outlook::at_epsilon(&rough, high).delta;
        loop {
            let search = Self::for_deltas(steps, direction, epsilons, delta, detail, effort)?;
            let mut at = search.resolve(&search.outlook, low, 0.1 / search.outlook.slope);
            at.points = at.points.min(2 * FEWEST_POINTS);
            let curve = search.curve(Side::Upper, at)?;
            let found = curve.delta_up(high - curve.loss_error);
            if found > 0.3 * delta || delta < 1e-270 {
                return Some(search);
            }
            delta = (0.5 * found).max(1e-280);
        }
    }

    /// A window from this bottom, with points enough for this width of ε.
    fn resolve(&self, outlook: &Outlook, bottom: f64, width: f64) -> Resolution {
        let rounds = self.steps.rounds();
        let loss = (SHARE_OF_WIDTH * outlook.slope * width).clamp(1e-10, 1e-2);
        let free = (1e13 * loss / (rounds + 1.0)).clamp(30.0, 1e7);
        let amplification = match self.care.get() {
            0 | 1 => free,
            2 => (3.0 * free).sqrt(),
            _ => 3.0,
        };
        let shortest = self.span / MOST_WRAPS;
        let window = outlook.window(self.direction, bottom, loss, amplification, shortest);
        // The two lattices differ by h²/4 in variance per round, which moves ε by (1 + slope)/2
        // of it.
        // Blending takes its share of the width, so it leaves less.
        let room = if self.steps.kinds.len() > 100 {
            3.0
        } else {
            6.0
        };
        let step = (room * width / (rounds * (1.0 + outlook.slope)))
            .sqrt()
            .min(MOST_STEP);
        Resolution {
            window,
            points: transform_length(window.length / step),
            width,
            blend_width: BLEND_SHARE * width,
            epsilon: outlook.epsilon,
            delta: outlook.delta,
            slope: outlook.slope,
        }
    }

    /// One side of the bracket; none if that is more work than is left.
    fn curve(&self, side: Side, at: Resolution) -> Option<Curve> {
        self.curve_within(side, at, self.effort)
    }

    fn curve_within(&self, side: Side, at: Resolution, effort: &Effort) -> Option<Curve> {
        let Resolution { window, points, .. } = at;
        // Transforms, products and sums over all points; the kinds of rounds are copied and sorted.
        effort.spend(40.0 * work_of_points(points) + self.steps.work())?;
        let mut transform = Transform::new(points);
        let mut composition = Composition::new(window, &mut transform);
        let grid = Grid {
            effort,
            direction: self.direction,
            tilt: window.tilt,
            step: window.length / points as f64,
            tail: self.tail,
            rounds: self.steps.rounds(),
            slope: at.slope,
            delta: at.delta,
            // Where rounding is the limit a single large loss may decide δ, and the weights that
            // choose the cells are those of sums of ordinary ones.
            tail_share: if self.care.get() > 0 { 2e-4 } else { 2e-2 },
            loss_tolerance: SHARE_OF_WIDTH * at.width / self.steps.rounds(),
        };
        let mut making = Making {
            side,
            fine: self.care.get() > 0,
            grid: &grid,
            window: &window,
            transform: &mut transform,
            composition: &mut composition,
        };
        let ratio = ratio_for(side, at.blend_width / at.epsilon.max(at.width), self.tail);
        let limited = (self.steps.limited(side)).within_cells(grid.step, side);
        for steps in limited.by_rate() {
            let single = self.steps.records == 1 && steps[0].rate.is_some();
            match Levels::cover(steps, ratio).filter(|_| single) {
                Some(levels) => making.blend(steps, &levels)?,
                None => {
                    for step in steps {
                        let pair = step.pair(side, self.steps.records);
                        effort.spend(3.0 * pair.work())?;
                        making.include(&pair, step.times)?;
                    }
                }
            }
        }
        let curve = Curve::new(composition.finish(&mut transform), window);
        transform.keep();
        Some(curve)
    }

    /// As [`Self::curve`], with fewer points if all of them take more work than one composition may.
    /// Changes the resolution to what it was made with.
    fn curve_of_what_fits(&self, side: Side, at: &mut Resolution) -> Option<Curve> {
        loop {
            let most = ONE_COMPOSITION * self.effort.left();
            let made = (self.effort).with_part(most, |effort| self.curve_within(side, *at, effort));
            if made.is_some() {
                return made;
            }
            if at.points <= FEWEST_POINTS {
                return None;
            }
            at.points = transform_length(at.points as f64 / 8.0);
        }
    }

    /// A bracket of ε; once ε is proved to be at most `enough`, any width will do.
    fn epsilon(&self, delta: f64, relative_width: f64, enough: f64) -> (f64, f64) {
        self.narrow(delta, relative_width, enough)
            .or_else(|| {
                let closer = Self::new(
                    self.steps,
                    self.direction,
                    delta,
                    Detail::Close,
                    self.effort,
                )?;
                closer.narrow(delta, relative_width, enough)
            })
            .unwrap_or((0.0, f64::INFINITY))
    }

    /// So much of δ lies above the window that it was chosen without knowing some of the rounds:
    /// the upper end would be far off, or infinite, however fine the lattice.
    fn misjudged(&self, above: &Curve, at: Resolution) -> bool {
        let width = above.missed() / (at.delta * at.slope);
        let fair = width <= MISJUDGED_SHARE * at.width;
        !fair && self.detail.misses_some_of(self.steps)
    }

    /// As [`Self::epsilon`]; none if the schedule must be looked at more closely.
    fn narrow(&self, delta: f64, relative_width: f64, enough: f64) -> Option<(f64, f64)> {
        let goal = |value: f64| (relative_width * value).max(ABSOLUTE_WIDTH);
        let mut outlook = self.outlook.clone();
        let mut bottom = outlook.likely_bottom();
        // A quick upper bound finds the neighbourhood of ε; the saddle point may be far off when
        // rare large losses dominate.
        let mut looking = true;
        let (mut lower, mut upper) = (0.0_f64, f64::INFINITY);
        let mut last_width = f64::INFINITY;
        let mut finer: Option<f64> = None;
        let mut blend_share = BLEND_SHARE;
        for _ in 0..24 {
            let mut at = self.resolve(&outlook, bottom, goal(outlook.epsilon));
            at.blend_width = if looking {
                0.01 * outlook.epsilon
            } else {
                blend_share * at.width
            };
            at.points = match finer {
                _ if looking => at.points.min(2 * FEWEST_POINTS),
                None => at.points.min(MOST_POINTS_UNSEEN),
                Some(step) => transform_length(at.window.length / step),
            };
            let wanted = at.points;
            let Some(above) = self.curve_of_what_fits(Side::Upper, &mut at) else {
                break;
            };
            let Some(found) = above.epsilon_up(delta) else {
                if above.lowest() < 0.0 && above.delta_up(-above.loss_error) <= delta {
                    return Some((0.0, 0.0));
                }
                // ε lies below the window.
                bottom = (bottom - 16.0 / at.window.tilt - 0.1 * bottom).max(0.0);
                continue;
            };
            upper = upper.min(found.max(0.0));
            if upper <= enough {
                break;
            }
            if looking {
                looking = false;
                if upper < outlook.epsilon {
                    let Some(nearer) = self.outlook_at(upper, delta) else {
                        break;
                    };
                    outlook = nearer;
                    bottom = outlook.likely_bottom();
                }
                continue;
            }
            if self.misjudged(&above, at) {
                return None;
            }
            let Some(below) = self.curve_of_what_fits(Side::Lower, &mut at) else {
                break;
            };
            let found_below = below.epsilon_down(delta, upper).unwrap_or(0.0);
            lower = lower.max(found_below);
            let width_here = found - found_below;
            let width = upper - lower;
            if width <= goal(upper) {
                break;
            }
            if at.points < wanted {
                break; // more points would take more work than is left
            }
            let bounded = lower > 0.0 && upper.is_finite();
            let rounding = above.rounding(0.5 * (lower + upper)) / at.slope;
            let mut factor = 4.0;
            let share = match self.care.get() {
                0 => ROUNDING_SHARE,
                // A stronger tilt needs a longer window: only where nothing else will do.
                _ => 0.5,
            };
            if bounded && (width_here > 0.8 * last_width || rounding > share * goal(upper)) {
                // Rounding, not resolution, is the limit; it grows with the resolution.
                if self.care.get() == MOST_CARE {
                    break;
                }
                self.care.set(self.care.get() + 1);
                factor = 1.0;
            } else if bounded {
                let middle = 0.5 * (lower + upper);
                let Some(nearer) = self.outlook_at(middle, delta) else {
                    break;
                };
                outlook = nearer;
                bottom = lower;
                factor = (1.1 * (width_here / goal(upper)).sqrt()).clamp(1.25, 8.0);
            }
            last_width = if factor > 1.0 {
                width_here
            } else {
                f64::INFINITY
            };
            blend_share *= (0.8 * goal(upper) / width).clamp(0.1, 0.7);
            let work = above.work + below.work;
            if factor > 1.0 {
                // Work is taken to grow with the points; a little more of them is not worth it.
                factor = factor.min(MOST_WORK / work);
                if at.points >= MOST_POINTS || factor < 1.2 {
                    break;
                }
            } else if work > MOST_WORK {
                break;
            }
            finer = Some(at.window.length / (at.points as f64 * factor));
        }
        Some((lower.max(0.0), upper))
    }

    /// ε is proved to be at most this by a quick look.
    fn stays_below(&self, epsilon: f64, delta: f64) -> bool {
        if !epsilon.is_finite() {
            return false;
        }
        if self.steps.most_loss_of_addition() <= epsilon {
            return true;
        }
        let room = (epsilon - self.outlook.epsilon).max(1e-4 * epsilon);
        let mut at = self.resolve(&self.outlook, epsilon, 0.1 * room);
        at.blend_width = at.width;
        at.points = at.points.min(MOST_POINTS_UNSEEN);
        let most = 0.3 * self.effort.left();
        let curve =
            (self.effort).with_part(most, |effort| self.curve_within(Side::Upper, at, effort));
        curve.is_some_and(|curve| curve.delta_up(epsilon - curve.loss_error) <= delta)
    }

    /// Brackets of δ; none if the schedule must be looked at more closely.
    fn deltas(&self, epsilons: &[f64], relative_width: f64) -> Option<Vec<(f64, f64)>> {
        let (low, _) = ends(epsilons);
        let width = relative_width / self.outlook.slope;
        let mut at = self.resolve(&self.outlook, low, width);
        at.points = at.points.min(MOST_POINTS_UNSEEN);
        let mut brackets = vec![(0.0_f64, 1.0_f64); epsilons.len()];
        let mut last_widest = f64::INFINITY;
        for _ in 0..8 {
            let wanted = at.points;
            let Some(above) = self.curve_of_what_fits(Side::Upper, &mut at) else {
                break;
            };
            if self.misjudged(&above, at) {
                return None;
            }
            // The upper ends stand if there is no work left for the lower ones.
            let below = self.curve_of_what_fits(Side::Lower, &mut at);
            let mut widest = 0.0_f64;
            let mut rounding_is_all = true;
            for (bracket, &epsilon) in brackets.iter_mut().zip(epsilons) {
                bracket.1 = bracket.1.min(above.delta_up(epsilon - above.loss_error));
                if let Some(below) = &below {
                    bracket.0 = bracket.0.max(below.delta_down(epsilon + below.loss_error));
                }
                let relative = (bracket.1 - bracket.0) / bracket.1;
                widest = widest.max(relative);
                rounding_is_all &= relative <= relative_width
                    || above.rounding(epsilon) > ROUNDING_SHARE * relative_width;
            }
            let Some(below) = below.filter(|_| at.points >= wanted) else {
                break;
            };
            let done = widest <= relative_width || at.points >= MOST_POINTS;
            if done || widest > 0.8 * last_widest {
                break;
            }
            if rounding_is_all {
                if self.care.replace(1) > 0 {
                    break;
                }
                continue;
            }
            last_widest = widest;
            if above.work + below.work > 0.5 * MOST_WORK {
                break;
            }
            let factor = (1.1 * (widest / relative_width).sqrt()).clamp(1.25, 4.0);
            at.points = transform_length(at.points as f64 * factor);
            at.blend_width *= 0.4;
        }
        Some(brackets)
    }
}

/// The smallest length of at least this many points whose transform is fast.
fn transform_length(points: f64) -> usize {
    let wanted = points.clamp(FEWEST_POINTS as f64, MOST_POINTS as f64) as usize;
    let power = wanted.next_power_of_two();
    [power / 8 * 5, power / 4 * 3, power]
        .into_iter()
        .find(|&length| length >= wanted)
        .unwrap_or(power)
}
