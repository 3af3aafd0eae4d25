//! What figures of a classifier are computed from: counts of records, exact or noisy.

use super::ClassAnswers;
use super::log_odds::{against_others, answer};
use super::ranking::{Scored, ranked};

/// Counts of test records.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// Right and wrong answers.
    pub outcome: Count<[f64; 2]>,
    /// Records of each class.
    pub classes: Count<Vec<f64>>,
    /// Records by class and by answer; empty if there are too many classes to tell.
    pub confusion: Count<Vec<Vec<f64>>>,
    /// For each class that is judged (the second one of two), records by score; empty if there are too many classes.
    pub scores: Count<Vec<Vec<Scored>>>,
}

/// Counts, and the standard deviation of the noise on each: 0 if they are exact.
#[derive(Debug, Clone, PartialEq)]
pub struct Count<T> {
    pub of: T,
    pub noise_std: f64,
}

impl<T> Count<T> {
    pub fn new(of: T, noise_std: f64) -> Self {
        Self { of, noise_std }
    }

    /// Whether a sum of so many of these counts is surely more than nothing: two standard deviations above it.
    pub fn told(&self, sum: f64, counts: usize) -> bool {
        sum > 2.0 * self.noise_std * (counts as f64).sqrt()
    }
}

/// The classes whose scores are judged: of two the second, which is the complement of the first; else each.
pub fn judged(classes: usize) -> std::ops::Range<usize> {
    match classes {
        2 => 1..2,
        more => 0..more,
    }
}

impl Tally {
    /// Exact counts.
    pub fn exact(answers: ClassAnswers<'_>) -> Self {
        let classes = answers.classes.len();
        let mut confusion = vec![vec![0.0; classes]; classes];
        let judged = judged(classes);
        let mut scores = vec![Vec::with_capacity(answers.labels.len()); judged.len()];
        for (values, label) in answers.outputs.iter().zip(answers.labels) {
            let label = usize::from(*label);
            confusion[label][answer(values)] += 1.0;
            let log_odds = against_others(values);
            for (scores, class) in scores.iter_mut().zip(judged.clone()) {
                let is = f64::from(u8::from(label == class));
                scores.push(Scored {
                    log_odds: log_odds[class],
                    positive: is,
                    negative: 1.0 - is,
                });
            }
        }
        let right: f64 = (0..classes).map(|class| confusion[class][class]).sum();
        let totals: Vec<f64> = confusion.iter().map(|row| row.iter().sum()).collect();
        let all: f64 = totals.iter().sum();
        Self {
            outcome: Count::new([right, all - right], 0.0),
            classes: Count::new(totals, 0.0),
            confusion: Count::new(confusion, 0.0),
            scores: Count::new(scores.into_iter().map(ranked).collect(), 0.0),
        }
    }

    /// How many records there are.
    pub fn records(&self) -> f64 {
        self.outcome.of.iter().sum()
    }

    /// The class with the most records.
    pub fn majority(&self) -> usize {
        let totals = &self.classes.of;
        (0..totals.len())
            .reduce(|best, class| match totals[class] > totals[best] {
                true => class,
                false => best,
            })
            .unwrap_or(0)
    }
}
