//! The search for a bracket of ε that is narrow enough: compose, read, refine.

use super::one_direction::OneDirection;
use super::outlook::Outlook;
use super::resolution::{
    Care, FEWEST_POINTS, LEVEL_SHARE, MOST_POINTS, MOST_POINTS_UNSEEN, MOST_WORK, ROUNDING_SHARE,
    Resolution, transform_length,
};
use crate::pld::proof::{EpsilonBracket, Side};

/// Widths of ε below this are never asked for.
const ABSOLUTE_WIDTH: f64 = 1e-6;
/// Compositions made for one bracket, at most.
const MOST_COMPOSITIONS: u32 = 24;

impl OneDirection<'_> {
    /// A bracket of ε; once ε is proved to be at most `enough`, any width will do.
    pub(super) fn epsilon(&self, delta: f64, relative_width: f64, enough: f64) -> EpsilonBracket {
        let narrowed = |search: &OneDirection| {
            Narrowing::new(search, delta, relative_width, enough).narrow_enough()
        };
        narrowed(self)
            .or_else(|| narrowed(&self.closer(delta)?))
            .unwrap_or(EpsilonBracket::unknown(self.direction, delta))
    }

    /// Looks quickly whether ε is at most this.
    pub(super) fn proved_at_most(&self, epsilon: f64, delta: f64) -> EpsilonBracket {
        let mut bracket = EpsilonBracket::unknown(self.direction, delta);
        let room = (epsilon - self.outlook.epsilon).max(1e-4 * epsilon);
        let mut at = self.resolve(&self.outlook, epsilon, 0.1 * room, Care::Ordinary);
        at.level_width = at.width;
        at.points = at.points.min(MOST_POINTS_UNSEEN);
        let most = 0.3 * self.effort.left();
        let curve =
            (self.effort).with_part(most, |effort| self.curve_within(Side::Upper, at, effort));
        if let Some(curve) = curve {
            bracket.narrow_to(epsilon, &curve);
        }
        bracket
    }
}

/// What a composition led to.
enum Progress {
    /// Another one may narrow the bracket further.
    Continue,
    /// The bracket is narrow enough, or as narrow as it will get.
    Done,
    /// The rounds must be looked at more closely.
    Misjudged,
}

/// A bracket of ε that is being narrowed.
struct Narrowing<'a> {
    search: &'a OneDirection<'a>,
    bracket: EpsilonBracket,
    delta: f64,
    relative_width: f64,
    /// Once ε is proved to be at most this, any width will do.
    enough: f64,
    /// What is expected where the next composition will be read.
    outlook: Outlook,
    /// Lowest loss that it needs to hold.
    bottom: f64,
    /// A quick upper bound first finds the neighbourhood of ε: the saddle point may be far off when
    /// rare large losses dominate.
    looking: bool,
    /// Distance of lattice points that the widths measured so far ask for.
    step: Option<f64>,
    /// Part of the width that blending of noise levels may take.
    level_share: f64,
    /// What is done about rounding.
    care: Care,
    /// What the composition before gave, if the next one is to be narrower.
    last_width: f64,
}

impl<'a> Narrowing<'a> {
    fn new(search: &'a OneDirection<'a>, delta: f64, relative_width: f64, enough: f64) -> Self {
        let outlook = search.outlook.clone();
        Self {
            search,
            bracket: EpsilonBracket::unknown(search.direction, delta),
            delta,
            relative_width,
            enough,
            bottom: outlook.likely_bottom(),
            outlook,
            looking: true,
            step: None,
            level_share: LEVEL_SHARE,
            care: Care::Ordinary,
            last_width: f64::INFINITY,
        }
    }

    /// Composes until the bracket is narrow enough; none if the rounds must be looked at more closely.
    fn narrow_enough(mut self) -> Option<EpsilonBracket> {
        for _ in 0..MOST_COMPOSITIONS {
            match self.compose() {
                Progress::Continue => {}
                Progress::Done => break,
                Progress::Misjudged => return None,
            }
        }
        Some(self.bracket)
    }

    /// The width asked for at an ε of this size.
    fn goal(&self, epsilon: f64) -> f64 {
        (self.relative_width * epsilon).max(ABSOLUTE_WIDTH)
    }

    fn resolution(&self) -> Resolution {
        let width = self.goal(self.outlook.epsilon);
        let mut at = (self.search).resolve(&self.outlook, self.bottom, width, self.care);
        if self.looking {
            at.level_width = 0.01 * self.outlook.epsilon;
            at.points = at.points.min(2 * FEWEST_POINTS);
            return at;
        }
        at.level_width = self.level_share * at.width;
        at.points = match self.step {
            None => at.points.min(MOST_POINTS_UNSEEN),
            Some(step) => transform_length(at.window.length / step),
        };
        at
    }

    /// Makes one pair of compositions and decides about the next.
    fn compose(&mut self) -> Progress {
        let mut at = self.resolution();
        let wanted = at.points;
        let Some(above) = self.search.curve_of_what_fits(Side::Upper, &mut at) else {
            return Progress::Done;
        };
        let Some(found_above) = self.bracket.narrow(&above) else {
            // ε lies below the window.
            let lower = self.bottom - 16.0 / at.window.tilt - 0.1 * self.bottom;
            self.bottom = lower.max(0.0);
            return Progress::Continue;
        };
        if self.bracket.upper() <= self.enough {
            return Progress::Done;
        }
        if self.looking {
            return self.look_there();
        }
        if self.search.misjudged(&above, at) {
            return Progress::Misjudged;
        }
        let Some(below) = self.search.curve_of_what_fits(Side::Lower, &mut at) else {
            return Progress::Done;
        };
        let found_below = self.bracket.narrow(&below).unwrap_or(0.0);
        let (lower, upper) = (self.bracket.lower(), self.bracket.upper());
        let narrow = upper - lower <= self.goal(upper);
        // Fewer points than wanted: all of them would take more work than is left.
        if narrow || at.points < wanted {
            return Progress::Done;
        }
        self.refine(&Made {
            at,
            width: found_above - found_below,
            rounding: above.rounding(0.5 * (lower + upper)) / at.slope,
            work: above.work + below.work,
        })
    }

    /// Continues where the quick upper bound has found ε to be.
    fn look_there(&mut self) -> Progress {
        self.looking = false;
        let upper = self.bracket.upper();
        if upper < self.outlook.epsilon {
            let Some(nearer) = self.search.outlook_at(upper, self.delta) else {
                return Progress::Done;
            };
            self.bottom = nearer.likely_bottom();
            self.outlook = nearer;
        }
        Progress::Continue
    }

    /// Chooses how the next pair of compositions is made better.
    fn refine(&mut self, made: &Made) -> Progress {
        let (lower, upper) = (self.bracket.lower(), self.bracket.upper());
        let goal = self.goal(upper);
        let bounded = lower > 0.0 && upper.is_finite();
        // How many times as many points.
        let mut factor = 4.0;
        if bounded && self.rounding_is_the_limit(made, goal) {
            // It grows with the resolution, so more points would not help.
            let Some(more) = self.care.more() else {
                return Progress::Done;
            };
            self.care = more;
            factor = 1.0;
        } else if bounded {
            let middle = 0.5 * (lower + upper);
            let Some(nearer) = self.search.outlook_at(middle, self.delta) else {
                return Progress::Done;
            };
            self.outlook = nearer;
            self.bottom = lower;
            factor = (1.1 * (made.width / goal).sqrt()).clamp(1.25, 8.0);
        }
        self.last_width = if factor > 1.0 {
            made.width
        } else {
            f64::INFINITY
        };
        self.level_share *= (0.8 * goal / (upper - lower)).clamp(0.1, 0.7);
        if factor > 1.0 {
            // Work is taken to grow with the points; a little more of them is not worth it.
            factor = factor.min(MOST_WORK / made.work);
            if made.at.points >= MOST_POINTS || factor < 1.2 {
                return Progress::Done;
            }
        } else if made.work > MOST_WORK {
            return Progress::Done;
        }
        self.step = Some(made.at.window.length / (made.at.points as f64 * factor));
        Progress::Continue
    }

    /// Rounding, not resolution, keeps the bracket wide.
    fn rounding_is_the_limit(&self, made: &Made, goal: f64) -> bool {
        let share = match self.care {
            Care::Ordinary => ROUNDING_SHARE,
            // A stronger tilt needs a longer window: only where nothing else will do.
            _ => 0.5,
        };
        made.width > 0.8 * self.last_width || made.rounding > share * goal
    }
}

/// What a pair of compositions gave.
struct Made {
    at: Resolution,
    /// Width of the bracket by these two alone.
    width: f64,
    /// Rounding of the upper one, as a width of ε.
    rounding: f64,
    work: f64,
}
