//! The search for a bracket narrow enough: compose, read, refine.

use super::compose::{Composition, Transform};
use super::lattice::Grid;
use super::lower::be_dominated;
use super::pair::Direction;
use super::profile::{Profile, Schedule};
use super::reading::Curve;
use super::steps::{Side, Steps};
use super::upper::dominate;
use super::window::{Question, Window};

/// Longest transform; more points would take seconds and hundreds of megabytes.
const MOST_POINTS: usize = 1 << 22;
const FEWEST_POINTS: usize = 1 << 10;
/// Widths of ε below this are never asked for.
const ABSOLUTE_WIDTH: f64 = 1e-6;
/// Share of δ each round's tails may hold, times the number of rounds.
const RELATIVE_TAIL: f64 = 1e-8;
/// Kinds of rounds looked at to choose the window.
const PROFILED_KINDS: usize = 24;

/// A bracket of ε at δ.
pub(super) fn epsilon(steps: &Steps, delta: f64, relative_width: f64) -> (f64, f64) {
    let removal = Search::new(steps, Direction::Remove, Question::Epsilon(delta));
    let (lower, upper) = removal.epsilon(delta, relative_width);
    if steps.is_symmetric() {
        return (lower, upper);
    }
    let addition = Search::new(steps, Direction::Add, Question::Epsilon(delta));
    if addition.stays_below(upper, delta) {
        return (lower, upper);
    }
    let (lower_added, upper_added) = addition.epsilon(delta, relative_width);
    (lower.max(lower_added), upper.max(upper_added))
}

/// Brackets of δ at several ε.
pub(super) fn deltas(steps: &Steps, epsilons: &[f64], relative_width: f64) -> Vec<(f64, f64)> {
    let low = epsilons.iter().copied().fold(f64::INFINITY, f64::min);
    let high = epsilons.iter().copied().fold(0.0, f64::max);
    if epsilons.is_empty() {
        return Vec::new();
    }
    let question = Question::Delta(low, high);
    let removal = Search::new(steps, Direction::Remove, question);
    let mut brackets = removal.deltas(epsilons, relative_width);
    if !steps.is_symmetric() {
        let addition = Search::new(steps, Direction::Add, question);
        let added = addition.deltas(epsilons, relative_width);
        for (bracket, other) in brackets.iter_mut().zip(added) {
            bracket.0 = bracket.0.max(other.0);
            bracket.1 = bracket.1.max(other.1);
        }
    }
    brackets
}

/// One direction of one schedule.
struct Search<'a> {
    steps: &'a Steps,
    direction: Direction,
    schedule: Schedule,
    window: Window,
    tail: f64,
}

impl<'a> Search<'a> {
    fn new(steps: &'a Steps, direction: Direction, question: Question) -> Self {
        let rough_tail = 1e-18 / steps.rounds();
        let schedule = profile(steps, direction, rough_tail);
        let window = Window::choose(&schedule, direction, question);
        let tail = (RELATIVE_TAIL * window.delta / steps.rounds()).max(1e-250);
        Self {
            steps,
            direction,
            schedule,
            window,
            tail,
        }
    }

    /// Points needed for this width of ε, from the excess variance h²/4 a round costs.
    fn points_for(&self, window: &Window, width: f64) -> usize {
        let rounds = self.steps.rounds();
        let step = (6.0 * width / (rounds * (1.0 + window.slope))).sqrt();
        transform_length(window.length / step)
    }

    fn curve(&self, side: Side, window: Window, points: usize) -> Curve {
        let mut transform = Transform::new(points);
        let mut composition = Composition::new(window, &transform);
        let grid = Grid {
            direction: self.direction,
            tilt: window.tilt,
            step: window.length / points as f64,
            tail: self.tail,
        };
        for step in &self.steps.kinds {
            let pair = step.pair(side, self.steps.records);
            let log_scale = Profile::new(&pair, self.direction, self.tail)
                .cumulants(window.tilt)
                .log_moment;
            let lattice = match side {
                Side::Upper => dominate(&pair, &grid, log_scale),
                Side::Lower => be_dominated(&pair, &grid, log_scale),
            };
            composition.include(&lattice, step.times, &mut transform);
        }
        Curve::new(composition.finish(&mut transform), window)
    }

    fn epsilon(&self, delta: f64, relative_width: f64) -> (f64, f64) {
        let goal = |value: f64| (relative_width * value).max(ABSOLUTE_WIDTH);
        let mut window = self.window;
        let mut points = self.points_for(&window, goal(window.expected)).min(1 << 17);
        let (mut lower, mut upper) = (0.0_f64, f64::INFINITY);
        let mut last_width = f64::INFINITY;
        for _ in 0..12 {
            let above = self.curve(Side::Upper, window, points);
            let Some(found) = above.epsilon_up(delta) else {
                if above.lowest() < 0.0 && above.delta_up(-above.loss_error) <= delta {
                    return (0.0, 0.0);
                }
                // ε lies below the window.
                let lowest = above.lowest() - 16.0 / window.tilt - 0.05 * above.lowest().abs();
                window = window.with_bottom(&self.schedule, lowest.max(0.0));
                continue;
            };
            upper = upper.min(found.max(0.0));
            let below = self.curve(Side::Lower, window, points);
            if let Some(found) = below.epsilon_down(delta, upper) {
                lower = lower.max(found);
            }
            let width = upper - lower;
            if width <= goal(upper) || points >= MOST_POINTS {
                break;
            }
            if width > 0.8 * last_width && upper.is_finite() && lower > 0.0 {
                break; // rounding, not resolution, is the limit
            }
            last_width = width;
            let factor = if lower > 0.0 && upper.is_finite() {
                (1.1 * (width / goal(upper)).sqrt()).clamp(1.25, 8.0)
            } else {
                4.0
            };
            points = transform_length(points as f64 * factor);
            if lower > 0.0 {
                window = window.with_bottom(&self.schedule, lower);
            }
        }
        (lower.max(0.0), upper)
    }

    /// ε is proved to be at most this by a quick look.
    fn stays_below(&self, epsilon: f64, delta: f64) -> bool {
        if !epsilon.is_finite() {
            return false;
        }
        let window = self.window.with_bottom(&self.schedule, epsilon);
        let expected = self.window.expected;
        let width = (0.3 * (epsilon - expected)).max(1e-4 * epsilon);
        let points = self.points_for(&window, width).min(1 << 17);
        let curve = self.curve(Side::Upper, window, points);
        curve.delta_up(epsilon - curve.loss_error) <= delta
    }

    fn deltas(&self, epsilons: &[f64], relative_width: f64) -> Vec<(f64, f64)> {
        let window = self.window;
        let width = relative_width / window.slope;
        let mut points = self.points_for(&window, width).min(1 << 17);
        let mut brackets = vec![(0.0_f64, 1.0_f64); epsilons.len()];
        let mut last_widest = f64::INFINITY;
        for _ in 0..8 {
            let above = self.curve(Side::Upper, window, points);
            let below = self.curve(Side::Lower, window, points);
            let mut widest = 0.0_f64;
            for (bracket, &epsilon) in brackets.iter_mut().zip(epsilons) {
                bracket.1 = bracket.1.min(above.delta_up(epsilon - above.loss_error));
                bracket.0 = bracket.0.max(below.delta_down(epsilon + below.loss_error));
                widest = widest.max((bracket.1 - bracket.0) / bracket.1);
            }
            if widest <= relative_width || points >= MOST_POINTS || widest > 0.8 * last_widest {
                break;
            }
            last_widest = widest;
            let factor = (1.1 * (widest / relative_width).sqrt()).clamp(1.25, 4.0);
            points = transform_length(points as f64 * factor);
        }
        brackets
    }
}

/// Cumulants of a schedule from at most [`PROFILED_KINDS`] of its kinds.
fn profile(steps: &Steps, direction: Direction, tail: f64) -> Schedule {
    let stride = steps.kinds.len().div_ceil(PROFILED_KINDS);
    let rounds = (steps.kinds.chunks(stride))
        .map(|chunk| {
            let times: f64 = chunk.iter().map(|step| step.times as f64).sum();
            let pair = chunk[chunk.len() / 2].pair(Side::Upper, steps.records);
            (times, Profile::new(&pair, direction, tail))
        })
        .collect();
    Schedule::new(rounds)
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
