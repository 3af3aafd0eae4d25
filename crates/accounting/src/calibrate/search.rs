//! Root finding for a decreasing ε that is known only to a few digits.

use super::{Budget, Calibrated, Shape};
use crate::accountant::{AccountError, Reading};
use crate::effort::Effort;
use crate::ledger::Ledger;

/// What is compared with the budget, and the reading it comes from.
pub(super) type Evaluate<'a> = dyn Fn(&Ledger) -> Result<(f64, Reading), AccountError> + 'a;

const LOWEST: f64 = 1e-2;
const HIGHEST: f64 = 1e7;
/// Part of the work that a rough reading should not take.
const EXPENSIVE: f64 = 0.03;
/// Kinds of rounds of which a reading is taken to be expensive.
const MANY_KINDS: usize = 10_000;
/// Part of the work that is kept from the rough search.
const RESERVED: f64 = 0.6;
/// Shortfall of ε below the budget that is not worth another evaluation.
const CLOSE: f64 = 2e-5;

/// The smallest scale found at which ε keeps the budget, first with rough figures if there are any.
pub(super) fn least_scale(
    shape: &Shape,
    budget: Budget,
    rough: Option<&Evaluate>,
    precise: &Evaluate,
    effort: &Effort,
) -> Result<Calibrated, AccountError> {
    let whole = effort.left();
    let any_fixed = check_fixed(shape, budget, precise)?;
    let mut search = Search {
        shape,
        goal: budget.epsilon(),
        effort,
        whole,
        bounds: Bounds::default(),
        scale: start(shape),
    };
    search.approach(rough, precise)?;
    let best = search.certify(precise)?;
    if best.is_none() && effort.left() == 0.0 {
        let ledger = shape.ledger(search.scale)?;
        return Err(AccountError::TooMuchWork {
            what: "noise multiplier",
            kinds: ledger.rounds().len(),
            records: ledger.records_per_unit(),
        });
    }
    best.ok_or(AccountError::OutOfReach {
        what: "noise multiplier",
        lowest: LOWEST,
        highest: HIGHEST,
        remedy: match any_fixed {
            true => "fixed queries use up nearly all of it; raise their noise or take fewer steps",
            false => "let the noise fall less over the run, take fewer steps or raise the budget",
        },
    })
}

/// Whether there are queries of fixed noise; an error if they alone cost more than the budget.
fn check_fixed(shape: &Shape, budget: Budget, precise: &Evaluate) -> Result<bool, AccountError> {
    let fixed = shape.fixed()?;
    if fixed.rounds().is_empty() {
        return Ok(false);
    }
    let (spent, _) = precise(&fixed)?;
    if spent > budget.epsilon() {
        return Err(AccountError::NothingLeft {
            spent,
            epsilon: budget.epsilon(),
            delta: budget.delta(),
        });
    }
    Ok(true)
}

/// A search for the scale of a shape.
struct Search<'a> {
    shape: &'a Shape,
    /// ε of the budget.
    goal: f64,
    effort: &'a Effort,
    /// Units of work at the start.
    whole: f64,
    bounds: Bounds,
    /// The scale to be tried next.
    scale: f64,
}

impl Search<'_> {
    /// Comes near the scale by figures that are quicker to have, if there are any.
    fn approach(
        &mut self,
        rough: Option<&Evaluate>,
        precise: &Evaluate,
    ) -> Result<(), AccountError> {
        // Where a reading takes long, that of a ledger of fewer kinds of rounds steers the search.
        let mut fewer = match self.shape.kinds() > MANY_KINDS {
            true => Some(self.shape.thinned()?),
            false => None,
        };
        let Some(rough) = rough.or(fewer.is_some().then_some(precise)) else {
            return Ok(());
        };
        for _ in 0..40 {
            let left = self.effort.left();
            if left < RESERVED * self.whole {
                break; // the rest is for figures that count
            }
            let ledger = fewer.as_ref().unwrap_or(self.shape).ledger(self.scale)?;
            let (epsilon, _) = rough(&ledger)?;
            if fewer.is_none() && left - self.effort.left() > EXPENSIVE * self.whole {
                fewer = Some(self.shape.thinned()?);
            }
            let before = self.scale;
            self.note(epsilon);
            if (epsilon / self.goal).ln().abs() < 5e-3 || self.scale == before {
                break;
            }
        }
        self.bounds = self.bounds.without_sides();
        Ok(())
    }

    /// Finds the smallest scale that is proved to keep the budget.
    fn certify(&mut self, precise: &Evaluate) -> Result<Option<Calibrated>, AccountError> {
        let mut best: Option<Calibrated> = None;
        for _ in 0..60 {
            if self.effort.left() == 0.0 {
                break;
            }
            self.scale = round_up(self.scale);
            let scale = self.scale;
            let ledger = self.shape.ledger(scale)?;
            let (epsilon, reading) = precise(&ledger)?;
            if epsilon <= self.goal {
                let better = (best.as_ref()).is_none_or(|best| scale < best.noise_multiplier);
                if better {
                    best = Some(Calibrated {
                        noise_multiplier: scale,
                        epsilon: reading,
                        ledger,
                    });
                }
                if epsilon >= self.goal * (1.0 - CLOSE) || scale <= LOWEST {
                    break;
                }
            } else if scale >= HIGHEST {
                break;
            }
            self.note(epsilon);
            if self.bounds.is_tight() || round_up(self.scale) == scale {
                break;
            }
        }
        Ok(best)
    }

    /// Learns from the ε of the scale just tried, and chooses the next.
    fn note(&mut self, epsilon: f64) {
        self.bounds.note(self.scale, epsilon, self.goal);
        self.scale = self.bounds.next(self.scale, epsilon, self.goal);
    }
}

/// Where to look first: at 1, or where the least noisy round of an extreme schedule has a noise
/// multiplier of 1. Far below, ε is in the thousands and takes as many times longer.
fn start(shape: &Shape) -> f64 {
    const ORDINARY: std::ops::RangeInclusive<f64> = 0.05..=20.0;
    match shape.least_relative_noise() {
        Some(least) if !ORDINARY.contains(&least) => least.recip().clamp(LOWEST, HIGHEST),
        _ => 1.0,
    }
}

/// Eight significant digits, upwards, so that the figure shown is the figure verified.
fn round_up(scale: f64) -> f64 {
    let digits = 7 - scale.log10().floor() as i32;
    let unit = 10_f64.powi(digits);
    ((scale * unit).ceil() / unit).max(scale)
}

/// Scales known to be too small and large enough, and the last point for a secant.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    too_small: f64,
    enough: f64,
    /// (ln scale, ln ε) of the point before.
    last: Option<(f64, f64)>,
    /// −d ln ε / d ln scale.
    fall: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            too_small: LOWEST,
            enough: HIGHEST,
            last: None,
            fall: 1.2,
        }
    }
}

impl Bounds {
    fn note(&mut self, scale: f64, epsilon: f64, goal: f64) {
        if epsilon <= goal {
            self.enough = self.enough.min(scale);
        } else {
            self.too_small = self.too_small.max(scale);
        }
        let point = (scale.ln(), epsilon.ln());
        if let Some((x, y)) = self.last {
            let fall = -(point.1 - y) / (point.0 - x);
            if fall.is_finite() && fall > 0.2 {
                self.fall = fall.clamp(0.3, 30.0);
            }
        }
        if point.1.is_finite() {
            self.last = Some(point);
        }
    }

    /// The bounds of a rough search mean nothing for a precise one; its slope does.
    fn without_sides(self) -> Self {
        Self {
            fall: self.fall,
            ..Self::default()
        }
    }

    fn is_tight(&self) -> bool {
        self.enough <= self.too_small * (1.0 + 1e-7)
    }

    /// The next scale to try: aims just inside the budget, and never leaves the bounds.
    fn next(&self, scale: f64, epsilon: f64, goal: f64) -> f64 {
        let aim = goal * (1.0 - 0.4 * CLOSE);
        let guess = if epsilon > 0.0 && epsilon.is_finite() {
            scale * ((epsilon / aim).ln() / self.fall).clamp(-2.0, 2.0).exp()
        } else if epsilon == 0.0 {
            scale / 8.0
        } else {
            scale * 8.0
        };
        let guess = guess.clamp(LOWEST, HIGHEST);
        if guess > self.too_small && guess < self.enough {
            guess
        } else if self.too_small <= LOWEST && guess <= LOWEST {
            LOWEST
        } else if self.enough >= HIGHEST && guess >= HIGHEST {
            HIGHEST
        } else {
            (self.too_small * self.enough).sqrt()
        }
    }
}
