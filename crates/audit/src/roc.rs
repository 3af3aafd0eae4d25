//! The curve of an attack: how much it finds at which false alarms, with bands for chance.

use crate::binomial::{success_lower, success_upper};
use crate::normal::quantile;

/// What an attack finds at a rate of false alarms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The rate of false alarms asked for: the largest threshold was taken that keeps it among the outsiders.
    pub false_alarms: f64,
    /// The share of members found.
    pub found: f64,
    /// From here …
    pub lower: f64,
    /// … to here the share may be, with 95 % confidence, for chance in which members and outsiders were looked at.
    pub upper: f64,
}

/// Scores of members and of outsiders; larger says "member".
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    members: Vec<f64>,
    outsiders: Vec<f64>,
}

impl Scores {
    /// Scores that are numbers; others are left out. None if nothing is left of one kind.
    pub fn new(members: &[f64], outsiders: &[f64]) -> Option<Self> {
        let sorted = |scores: &[f64]| {
            let mut known: Vec<f64> = scores.iter().copied().filter(|s| !s.is_nan()).collect();
            known.sort_by(f64::total_cmp);
            known
        };
        let (members, outsiders) = (sorted(members), sorted(outsiders));
        (!members.is_empty() && !outsiders.is_empty()).then_some(Self { members, outsiders })
    }

    /// The chance that a member is ranked before an outsider; equal scores count one half.
    pub fn area(&self) -> f64 {
        let ranked = self.members.iter().map(|score| {
            let below = self.outsiders.partition_point(|other| other < score);
            let not_above = self.outsiders.partition_point(|other| other <= score);
            0.5 * (below + not_above) as f64
        });
        ranked.sum::<f64>() / (self.members.len() * self.outsiders.len()) as f64
    }

    /// What is found at a rate of false alarms.
    pub fn at(&self, false_alarms: f64) -> Found {
        let outsiders = self.outsiders.len();
        let allowed = ((false_alarms * outsiders as f64).floor() as usize).min(outsiders);
        let above = |scores: &[f64], threshold: f64| {
            (scores.len() - scores.partition_point(|score| *score <= threshold)) as u64
        };
        // Scores strictly above the first outsider who must not be named.
        let threshold = match allowed.checked_sub(outsiders) {
            Some(_) => f64::NEG_INFINITY,
            None => self.outsiders[outsiders - allowed - 1],
        };
        let (all, found) = (self.members.len() as u64, above(&self.members, threshold));
        let named = above(&self.outsiders, threshold);
        // Chance in the members alone, and chance in the outsiders that set the threshold: a quarter of the error each.
        let slack = Self::chance_in_threshold(outsiders as u64, named);
        let share = found as f64 / all as f64;
        Found {
            false_alarms,
            found: share,
            lower: (success_lower(all, found, 0.0125) - slack).max(0.0),
            upper: (success_upper(all, found, 0.0125) + slack).min(1.0),
        }
    }

    /// By how much the false alarms of the threshold may differ from those seen.
    fn chance_in_threshold(outsiders: u64, named: u64) -> f64 {
        let seen = named as f64 / outsiders as f64;
        let lower = success_lower(outsiders, named, 0.0125);
        let upper = success_upper(outsiders, named, 0.0125);
        (upper - seen).max(seen - lower)
    }

    /// The curve, for drawing: evenly in the normal deviate of the false alarms.
    pub fn curve(&self) -> Vec<Found> {
        let mut points: Vec<Found> = (0..=60)
            .map(|k| {
                let deviate = -3.0 + 0.1 * f64::from(k);
                self.at(crate::normal::below(deviate))
            })
            .collect();
        points.push(self.at(1.0));
        points
    }
}

/// A score that needs no other models: the logit of the probability that the true class got (Carlini et al. 2022,
/// arXiv:2112.03570, §VI), less its mean over the classes, so that easy inputs are not taken for members.
///
/// ```
/// use tacita_audit::roc::likelihood_score;
///
/// assert!(likelihood_score(&[2.0, -1.0], 0) > likelihood_score(&[-1.0, 2.0], 0));
/// ```
pub fn likelihood_score(outputs: &[f32], class: usize) -> f64 {
    let Some(own) = outputs.get(class).map(|value| f64::from(*value)) else {
        return f64::NAN;
    };
    let others = outputs.iter().enumerate().filter(|(at, _)| *at != class);
    let others: Vec<f64> = others.map(|(_, value)| f64::from(*value)).collect();
    let most = others.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return own;
    }
    // ln p − ln (1 − p) = own − ln Σ e^other.
    own - most
        - others
            .iter()
            .map(|other| (other - most).exp())
            .sum::<f64>()
            .ln()
}

/// Roughly the μ of a Gaussian with this area under its curve. An estimate.
pub fn mu_of_area(area: f64) -> f64 {
    (quantile(area.clamp(1e-9, 1.0 - 1e-9)) * std::f64::consts::SQRT_2).max(0.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs() {
        let scores = Scores::new(&[3.0, 1.0, 2.0], &[2.0, 0.0]).unwrap();
        // Pairs won: 3 over both, 1 over one, 2 over one and level with the other.
        assert!((scores.area() - 4.5 / 6.0).abs() < 1e-12);
        assert!(Scores::new(&[], &[1.0]).is_none());
        assert!(Scores::new(&[f64::NAN], &[1.0]).is_none());
    }

    #[test]
    fn finds_are_counted_above_the_threshold_that_keeps_the_false_alarms() {
        let scores = Scores::new(&[5.0, 4.0, 3.0, 1.0], &[4.5, 2.0, 0.0, -1.0]).unwrap();
        let found = |rate: f64| scores.at(rate).found;
        assert_eq!(
            (found(0.0), found(0.25), found(0.5), found(1.0)),
            (0.25, 0.75, 1.0, 1.0)
        );
        let at = scores.at(0.25);
        assert!(at.lower < at.found && at.found < at.upper);
    }

    #[test]
    fn the_likelihood_score_is_a_logit() {
        let probability = 2_f64.exp() / (2_f64.exp() + 1_f64.exp() + 0.5_f64.exp());
        let expected = (probability / (1.0 - probability)).ln();
        assert!((likelihood_score(&[1.0, 2.0, 0.5], 1) - expected).abs() < 1e-9);
        assert!(likelihood_score(&[1.0], 3).is_nan());
    }
}
