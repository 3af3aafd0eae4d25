//! Which stretch of composed losses the transform holds, and under which tilt.

use super::pair::Direction;
use super::profile::{Schedule, is_at_floor};

/// What a composition is read for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Question {
    /// ε at this δ.
    Epsilon(f64),
    /// δ between these ε.
    Delta(f64, f64),
}

/// A stretch of losses and the exponents of the tail bounds outside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Which divergence.
    pub(super) direction: Direction,
    /// Exponential tilt of the transform.
    pub(super) tilt: f64,
    /// Lowest loss held.
    pub(super) bottom: f64,
    /// Length of the stretch; losses a multiple of it apart fall together.
    pub(super) length: f64,
    /// Further tilt of the Chernoff bound above the window.
    pub(super) above: f64,
    /// Tilt, below 0, of the Chernoff bound below the window.
    pub(super) below: f64,
    /// Where ε is expected.
    pub(super) expected: f64,
    /// How much ln δ falls per unit of ε.
    pub(super) slope: f64,
    /// δ near which the reading is wanted.
    pub(super) delta: f64,
}

/// Share of δ that may be lost outside the window.
const RELATIVE_LOSS: f64 = 1e-7;

impl Window {
    /// Chooses tilt and window for a question.
    pub(super) fn choose(schedule: &Schedule, direction: Direction, question: Question) -> Self {
        let (tilt, lowest) = match question {
            Question::Epsilon(delta) => (schedule.tilt_for_delta(delta), None),
            Question::Delta(low, high) => {
                (schedule.tilt_for_epsilon(0.5 * (low + high)), Some(low))
            }
        };
        let at = schedule.cumulants(tilt);
        let deviation = at.variance.sqrt();
        let floor = is_at_floor(tilt);
        let (expected, bottom) = match lowest {
            Some(low) => (low, low),
            None if floor => (0.5 * at.mean, 0.0),
            None => {
                let margin = 2.0 / tilt + 0.02 * deviation;
                (at.mean, (at.mean - margin).max(0.0))
            }
        };
        let delta = match question {
            Question::Epsilon(delta) => delta,
            Question::Delta(_, high) => {
                let reach = high.max(at.mean) - at.mean;
                (at.log_moment - tilt * at.mean - 3.0 - reach * reach / (at.variance * 2.0)).exp()
            }
        };
        let mut window = Self {
            direction,
            tilt,
            bottom,
            length: 0.0,
            above: 0.0,
            below: 0.0,
            expected,
            slope: tilt,
            delta,
        };
        window.fit(schedule, deviation);
        window
    }

    /// The same window with its bottom elsewhere.
    pub(super) fn with_bottom(mut self, schedule: &Schedule, bottom: f64) -> Self {
        self.bottom = bottom;
        let deviation = schedule.cumulants(self.tilt).variance.sqrt();
        self.fit(schedule, deviation);
        self
    }

    /// Length such that little of δ is lost or doubled (PROOF.md, §4).
    fn fit(&mut self, schedule: &Schedule, deviation: f64) {
        let (tilt, bottom) = (self.tilt, self.bottom);
        let allowed = (RELATIVE_LOSS * self.delta).max(1e-300).ln();
        let mut shortest = (f64::INFINITY, 0.0);
        let mut reach = 0.125;
        while reach < 16.0 {
            let more = reach / deviation;
            let log_moment = schedule.cumulants(tilt + more).log_moment;
            let length = (log_moment - (tilt + more) * bottom - allowed) / more;
            if length < shortest.0 {
                shortest = (length, more);
            }
            reach *= 1.5;
        }
        let (mut length, above) = shortest;
        let mut from_below = (f64::INFINITY, 0.0);
        let mut reach = 0.0;
        while reach < 16.0 {
            let exponent = reach / deviation;
            let log_moment = schedule.cumulants(-exponent).log_moment;
            let needed = (log_moment + exponent * bottom - allowed) / tilt;
            if needed < from_below.0 {
                from_below = (needed, exponent);
            }
            reach = if reach == 0.0 { 0.25 } else { reach * 1.5 };
        }
        length = length.max(from_below.0).max(deviation);
        // Room below the bottom for reading at the bottom itself despite loss errors.
        let room = 0.01 * length;
        self.bottom -= room;
        self.length = 1.02 * (length + room);
        self.above = above;
        self.below = -from_below.1;
    }
}
