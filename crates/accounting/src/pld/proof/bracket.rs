//! What is proved so far: brackets that curves narrow, and that nothing else can.

use super::curve::Curve;
use super::pair::Direction;
use super::rounds::{Rounds, Side};

/// What is proved of ε at one δ, for one direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EpsilonBracket {
    direction: Direction,
    delta: f64,
    lower: f64,
    upper: f64,
}

impl EpsilonBracket {
    /// Nothing but that ε is not negative.
    pub(crate) fn unknown(direction: Direction, delta: f64) -> Self {
        Self {
            direction,
            delta,
            lower: 0.0,
            upper: f64::INFINITY,
        }
    }

    /// What is known of adding a unit without composing anything: its loss is never above −Σ ln w₀.
    pub(crate) fn by_largest_loss_of_addition(rounds: &Rounds, delta: f64) -> Self {
        Self {
            upper: rounds.most_loss_of_addition(),
            ..Self::unknown(Direction::Add, delta)
        }
    }

    /// Proved lower end.
    pub(crate) fn lower(&self) -> f64 {
        self.lower
    }

    /// Proved upper end.
    pub(crate) fn upper(&self) -> f64 {
        self.upper
    }

    /// Narrows the bracket by a curve of its direction; returns what that curve says alone. None if ε
    /// lies below its window, so that it says nothing.
    pub(crate) fn narrow(&mut self, curve: &Curve) -> Option<f64> {
        if curve.direction() != self.direction {
            return None;
        }
        match curve.side {
            Side::Upper => {
                let found = match curve.epsilon_up(self.delta) {
                    Some(found) => found,
                    // Below the window, but the window begins below 0.
                    None if self.holds_at(curve, 0.0) && curve.lowest() < 0.0 => 0.0,
                    None => return None,
                };
                self.upper = self.upper.min(found.max(0.0));
                Some(found)
            }
            Side::Lower => {
                let found = curve.epsilon_down(self.delta, self.upper).unwrap_or(0.0);
                self.lower = self.lower.max(found);
                Some(found)
            }
        }
    }

    /// Lowers the upper end to `epsilon` if the curve proves that much, without looking for less.
    pub(crate) fn narrow_to(&mut self, epsilon: f64, curve: &Curve) {
        if curve.direction() == self.direction && self.holds_at(curve, epsilon) {
            self.upper = self.upper.min(epsilon);
        }
    }

    /// An upper curve proves that δ is kept at this ε.
    fn holds_at(&self, curve: &Curve, epsilon: f64) -> bool {
        curve.side == Side::Upper && curve.delta_up(epsilon - curve.loss_error) <= self.delta
    }

    /// The bracket of both directions: the larger ε counts.
    pub(crate) fn larger(one: Self, other: Self) -> (f64, f64) {
        (one.lower.max(other.lower), one.upper.max(other.upper))
    }
}

/// What is proved of δ at one ε, for one direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeltaBracket {
    direction: Direction,
    epsilon: f64,
    lower: f64,
    upper: f64,
}

impl DeltaBracket {
    /// Nothing but that δ is a probability.
    pub(crate) fn unknown(direction: Direction, epsilon: f64) -> Self {
        Self {
            direction,
            epsilon,
            lower: 0.0,
            upper: 1.0,
        }
    }

    /// The ε at which δ is looked for.
    pub(crate) fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Width relative to the upper end.
    pub(crate) fn relative_width(&self) -> f64 {
        (self.upper - self.lower) / self.upper
    }

    /// Narrows the bracket by a curve of its direction.
    pub(crate) fn narrow(&mut self, curve: &Curve) {
        if curve.direction() != self.direction {
            return;
        }
        match curve.side {
            Side::Upper => {
                let found = curve.delta_up(self.epsilon - curve.loss_error);
                self.upper = self.upper.min(found);
            }
            Side::Lower => {
                let found = curve.delta_down(self.epsilon + curve.loss_error);
                self.lower = self.lower.max(found);
            }
        }
    }

    /// The bracket of both directions: the larger δ counts.
    pub(crate) fn larger(one: Self, other: Self) -> (f64, f64) {
        (one.lower.max(other.lower), one.upper.max(other.upper))
    }
}
