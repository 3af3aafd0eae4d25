//! Rounds replaced by fewer kinds, or by kinds that are easier to compose, towards one end of the
//! bracket (PROOF.md, §1): more noise or a lower rate is post-processing, less noise or a higher rate the
//! reverse.

use super::rounds::{RoundKind, Rounds, Side};
use crate::special::ROUNDOFF;

/// Deviations of a round's loss that one cell may span. Beyond, all of it falls into a cell or two:
/// more noise changes nothing but the time it takes to integrate over them, until that overflows.
const MOST_DEVIATIONS: f64 = 30.0;
/// Kinds beyond which those of nearly the same noise are taken together: one by one takes minutes.
const MOST_KINDS: usize = 250_000;
/// Noise levels of one rate that are then kept apart.
const MERGED_NOISES: usize = 3000;
/// Most sampling rates composed one by one.
const MOST_RATES: usize = 400;
/// Most noise levels of units with several records composed one by one.
const MOST_NOISES: usize = 1000;

impl Rounds {
    /// Of very many kinds, takes those of one rate and nearly the same noise as one whose noise lies somewhere between
    /// theirs.
    pub(super) fn merge_if_many(&mut self) {
        if self.kinds.len() <= MOST_KINDS {
            return;
        }
        let mut merged: Vec<RoundKind> = Vec::new();
        for alike in self.by_rate() {
            // Sorted by noise.
            let (least, most) = (alike[0].noise_down, alike[alike.len() - 1].noise_down);
            let ratio = (most / least).powf(1.0 / MERGED_NOISES as f64);
            let mut end = f64::NEG_INFINITY;
            for kind in alike {
                match merged.last_mut() {
                    Some(last) if kind.noise_down <= end => {
                        last.noise_up = last.noise_up.max(kind.noise_up);
                        last.times += kind.times;
                    }
                    _ => {
                        merged.push(kind.clone());
                        end = kind.noise_down * ratio;
                    }
                }
            }
        }
        self.kinds = merged;
    }

    /// These rounds with rates and noises rounded towards one end of the bracket, if there are
    /// more kinds than can be composed one by one: a lower rate or more noise is post-processing.
    pub(crate) fn limited(&self, side: Side) -> Self {
        let mut limited = self.clone();
        if self.by_rate().count() > MOST_RATES {
            let rates = || self.kinds.iter().filter_map(|kind| kind.rate);
            let level = levels(rates(), MOST_RATES);
            for kind in &mut limited.kinds {
                kind.rate = kind.rate.map(|rate| match side {
                    Side::Upper => level(rate).1.min(1.0 - ROUNDOFF),
                    Side::Lower => level(rate).0,
                });
            }
        }
        // Blends of noise levels are proved for single records only.
        if self.records > 1 && self.kinds.len() > MOST_NOISES {
            let noises = || self.kinds.iter().map(|kind| kind.noise(side));
            let level = levels(noises(), MOST_NOISES);
            for kind in &mut limited.kinds {
                let (down, up) = level(kind.noise(side));
                (kind.noise_down, kind.noise_up) = (down.min(kind.noise_down), up);
            }
        }
        limited.group();
        limited
    }

    /// These rounds with noise for which a cell of this length spans more than [`MOST_DEVIATIONS`] of
    /// the loss rounded towards one end of the bracket: down to that noise, or up to infinity, which
    /// is to leave the round out.
    pub(super) fn within_cells(mut self, cell: f64, side: Side) -> Self {
        let records = f64::from(self.records);
        let most = |kind: &RoundKind| {
            // The loss deviates by about this over the noise, and lies as far above its infimum.
            let drawn = records * kind.rate.unwrap_or(1.0);
            if drawn > cell {
                MOST_DEVIATIONS * drawn / cell
            } else {
                // All but rare losses are in the cell of the infimum, which needs no quadrature.
                f64::INFINITY
            }
        };
        if (self.kinds.iter()).all(|kind| kind.noise(side) <= most(kind)) {
            return self;
        }
        match side {
            Side::Upper => {
                for kind in &mut self.kinds {
                    kind.noise_down = kind.noise_down.min(most(kind));
                    kind.noise_up = kind.noise_up.min(most(kind));
                }
                self.group();
            }
            Side::Lower => self.kinds.retain(|kind| kind.noise_up <= most(kind)),
        }
        self
    }
}

/// Neighbours of a value, below and above, among `count` levels in geometric progression.
fn levels(values: impl Iterator<Item = f64> + Clone, count: usize) -> impl Fn(f64) -> (f64, f64) {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    let ratio = (most / least).ln() / count as f64;
    move |value| {
        let place = ((value / least).ln() / ratio).floor();
        let at = |place: f64| least * (place * ratio).exp();
        // Rounding may put a level on the wrong side of the value.
        (at(place).min(value), at(place + 1.0).max(value))
    }
}
