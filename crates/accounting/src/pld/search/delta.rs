//! The search for brackets of δ at several ε that are narrow enough.

use super::detail::{Detail, approximate_loss};
use super::one_direction::{CUMULANTS_OF_OUTLOOK, OneDirection};
use super::outlook::Outlook;
use super::resolution::{
    Care, FEWEST_POINTS, MOST_POINTS, MOST_POINTS_UNSEEN, MOST_WORK, ROUNDING_SHARE,
    transform_length,
};
use crate::effort::Effort;
use crate::pld::proof::{DeltaBracket, Direction, Rounds, Side};

/// Pairs of compositions made for one set of brackets, at most.
const MOST_COMPOSITIONS: u32 = 8;

/// Smallest and largest.
fn ends(values: &[f64]) -> (f64, f64) {
    (values.iter()).fold((f64::INFINITY, 0.0), |(low, high), &value| {
        (low.min(value), value.max(high))
    })
}

impl<'a> OneDirection<'a> {
    /// A search for δ at several ε, the smallest of which is about `delta`.
    fn for_deltas(
        rounds: &'a Rounds,
        direction: Direction,
        epsilons: &[f64],
        delta: f64,
        detail: Detail,
        effort: &'a Effort,
    ) -> Option<Self> {
        let (low, high) = ends(epsilons);
        let mut search = Self::new(rounds, direction, delta, detail, effort)?;
        search.outlook = search.outlook_at(0.5 * (low + high), delta)?;
        Some(search)
    }

    /// As [`Self::for_deltas`], with the smallest δ found by quick looks.
    pub(super) fn looking_for_deltas(
        rounds: &'a Rounds,
        direction: Direction,
        epsilons: &[f64],
        detail: Detail,
        effort: &'a Effort,
    ) -> Option<Self> {
        let (low, high) = ends(epsilons);
        let tail = 1e-30 / rounds.count();
        let rough = approximate_loss(rounds, direction, tail, detail, effort)?;
        effort.spend(CUMULANTS_OF_OUTLOOK * rough.work())?;
        let mut delta = Outlook::at_epsilon(&rough, high).delta;
        loop {
            let search = Self::for_deltas(rounds, direction, epsilons, delta, detail, effort)?;
            let width = 0.1 / search.outlook.slope;
            let mut at = search.resolve(&search.outlook, low, width, Care::Ordinary);
            at.points = at.points.min(2 * FEWEST_POINTS);
            let curve = search.curve(Side::Upper, at)?;
            let found = curve.delta_up(high - curve.loss_error);
            if found > 0.3 * delta || delta < 1e-270 {
                return Some(search);
            }
            delta = (0.5 * found).max(1e-280);
        }
    }

    /// Brackets of δ; none if the rounds must be looked at more closely.
    pub(super) fn deltas(
        &self,
        epsilons: &[f64],
        relative_width: f64,
    ) -> Option<Vec<DeltaBracket>> {
        let (low, _) = ends(epsilons);
        let width = relative_width / self.outlook.slope;
        let mut at = self.resolve(&self.outlook, low, width, Care::Ordinary);
        at.points = at.points.min(MOST_POINTS_UNSEEN);
        let mut brackets: Vec<DeltaBracket> = (epsilons.iter())
            .map(|&epsilon| DeltaBracket::unknown(self.direction, epsilon))
            .collect();
        let mut last_widest = f64::INFINITY;
        for _ in 0..MOST_COMPOSITIONS {
            let wanted = at.points;
            let Some(above) = self.curve_of_what_fits(Side::Upper, &mut at) else {
                break;
            };
            if self.misjudged(&above, at) {
                return None;
            }
            // The upper ends stand if there is no work left for the lower ones.
            let below = self.curve_of_what_fits(Side::Lower, &mut at);
            for bracket in &mut brackets {
                bracket.narrow(&above);
                if let Some(below) = &below {
                    bracket.narrow(below);
                }
            }
            let Some(below) = below.filter(|_| at.points >= wanted) else {
                break;
            };
            let widths = brackets.iter().map(DeltaBracket::relative_width);
            let widest = widths.fold(0.0, f64::max);
            let done = widest <= relative_width || at.points >= MOST_POINTS;
            if done || widest > 0.8 * last_widest {
                break;
            }
            let rounding_is_the_limit = brackets.iter().all(|bracket| {
                bracket.relative_width() <= relative_width
                    || above.rounding(bracket.epsilon()) > ROUNDING_SHARE * relative_width
            });
            if rounding_is_the_limit {
                if at.care > Care::Ordinary {
                    break;
                }
                at.care = Care::ExactDifferences;
                continue;
            }
            last_widest = widest;
            if above.work + below.work > 0.5 * MOST_WORK {
                break;
            }
            let factor = (1.1 * (widest / relative_width).sqrt()).clamp(1.25, 4.0);
            at.points = transform_length(at.points as f64 * factor);
            at.level_width *= 0.4;
        }
        Some(brackets)
    }
}
