//! A client's update, clipped and rounded to the grid of the round.

use super::bound::Bound;
use serde::{Deserialize, Serialize};

/// How a client's update is scaled, given its norm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "rule", deny_unknown_fields)]
pub enum Clip {
    /// min(1, C / ‖u‖): Abadi et al. 2016.
    Abadi,
    /// C / (‖u‖ + γ): Bu et al. 2023. Every update is scaled, so C only rescales the learning rate.
    Auto {
        /// The stability constant γ.
        gamma: f64,
    },
}

impl Clip {
    /// AUTO-S with the default stability constant.
    pub const AUTO: Self = Self::Auto { gamma: 0.01 };
}

/// Factors that are tried after the first, where the roundings of a norm in f64 make a vector a step too long.
const ATTEMPTS: i32 = 8;

/// The update as whole steps of the grid; zeros if a value is no finite number.
///
/// # Guarantee
/// The bound admits the result, whatever the update: it is measured in whole numbers before it is returned. Checked by
/// `every_update_becomes_a_vector_that_is_admitted`.
pub fn clipped(update: &[f32], clip: Clip, bound: &Bound) -> Vec<i32> {
    // The square of an f32 is exact in f64, and there are too few of them to overflow.
    let squares: f64 = update.iter().map(|value| f64::from(*value).powi(2)).sum();
    let norm = squares.sqrt() / bound.grid().spacing();
    let none = || vec![0; update.len()];
    if !norm.is_finite() || norm == 0.0 {
        return none();
    }
    let room = bound.room(update.len());
    let length = match clip {
        Clip::Abadi => norm.min(room),
        Clip::Auto { gamma } => room * (norm / (norm + gamma / bound.grid().spacing())),
    };
    let scaled = |factor: f64| -> Vec<i32> {
        let steps = |value: &f32| (f64::from(*value) * factor).round() as i32;
        update.iter().map(steps).collect()
    };
    let factor = length / norm / bound.grid().spacing();
    (0..=ATTEMPTS)
        .map(|attempt| match attempt {
            0 => factor,
            _ => factor * (1.0 - 1e-10 * 10f64.powi(attempt)),
        })
        .map(scaled)
        .find(|steps| bound.admits(steps))
        .unwrap_or_else(none)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = f32> {
        let edges = vec![
            0.0,
            f32::MAX,
            f32::MIN_POSITIVE,
            1e-45,
            -1.0,
            f32::NAN,
            f32::INFINITY,
        ];
        prop_oneof![6 => -10.0f32..10.0, 2 => any::<f32>(), 1 => prop::sample::select(edges)]
    }

    fn length(steps: &[i32]) -> f64 {
        steps
            .iter()
            .map(|step| f64::from(*step).powi(2))
            .sum::<f64>()
            .sqrt()
    }

    proptest! {
        #[test]
        fn every_update_becomes_a_vector_that_is_admitted(
            update in prop::collection::vec(value(), 1..200),
            threshold in 1e-3f64..1e3,
            gamma in 0.0f64..1.0,
        ) {
            let bound = Bound::of(threshold).unwrap();
            for clip in [Clip::Abadi, Clip::Auto { gamma }] {
                prop_assert!(bound.admits(&clipped(&update, clip, &bound)));
            }
        }

        #[test]
        fn a_short_update_is_only_rounded(update in prop::collection::vec(-0.05f32..0.05, 1..100)) {
            let bound = Bound::of(1.0).unwrap();
            let steps = clipped(&update, Clip::Abadi, &bound);
            for (value, step) in update.iter().zip(&steps) {
                let exact = f64::from(*value) / bound.grid().spacing();
                prop_assert!((exact - f64::from(*step)).abs() <= 0.5 + 1e-6);
            }
        }
    }

    #[test]
    fn long_updates_use_the_whole_threshold() {
        let bound = Bound::of(1.5).unwrap();
        let update: Vec<f32> = (0..1000).map(|at| (at as f32).sin() * 7.0).collect();
        for clip in [Clip::Abadi, Clip::Auto { gamma: 1e-6 }] {
            let used = length(&clipped(&update, clip, &bound)) / bound.most_steps() as f64;
            assert!((0.9999..=1.0).contains(&used), "{used}");
        }
    }

    #[test]
    fn a_value_that_is_no_number_makes_the_update_nothing() {
        let bound = Bound::of(1.0).unwrap();
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(clipped(&[1.0, bad], Clip::AUTO, &bound), [0, 0]);
        }
    }
}
