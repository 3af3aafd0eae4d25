//! Figures of a classifier from counts of records; each is missing where it cannot be told.

use super::log_odds::{bin, probability, surprise};
use super::ranking::{Scored, average_precision, roc_area, totals};
use super::tally::Tally;

/// The figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClassFigures {
    pub accuracy: Option<f64>,
    pub majority_share: Option<f64>,
    /// Accuracy less the majority share.
    pub gain: Option<f64>,
    pub balanced_accuracy: Option<f64>,
    pub roc_area: Option<f64>,
    pub average_precision: Option<f64>,
    pub f1: Option<f64>,
    pub log_loss: Option<f64>,
    pub brier: Option<f64>,
    pub calibration_error: Option<f64>,
    /// Of each class.
    pub recall: Vec<Option<f64>>,
    /// Observed shares in the bins of [`calibration`].
    pub observed: Vec<Option<f64>>,
}

impl ClassFigures {
    /// Every figure, always in this order.
    pub fn all_mut(&mut self) -> Vec<&mut Option<f64>> {
        let mut all = vec![
            &mut self.log_loss,
            &mut self.brier,
            &mut self.accuracy,
            &mut self.majority_share,
            &mut self.gain,
            &mut self.balanced_accuracy,
            &mut self.roc_area,
            &mut self.average_precision,
            &mut self.f1,
            &mut self.calibration_error,
        ];
        all.extend(&mut self.recall);
        all.extend(&mut self.observed);
        all
    }

    /// The same, copied.
    pub fn all(mut self) -> Vec<Option<f64>> {
        self.all_mut().into_iter().map(|figure| *figure).collect()
    }

    /// Of each in that order, whether it lies between 0 and 1.
    pub fn are_shares(&self) -> Vec<bool> {
        let all = 10 + self.recall.len() + self.observed.len();
        (0..all).map(|index| index >= 2).collect()
    }
}

/// Computes all figures. Noisy counts may be negative: a figure whose divisor is not surely positive is not told, and
/// shares are held within their range.
pub fn figures(tally: &Tally) -> ClassFigures {
    let share = |part: f64, whole: f64| (part / whole).clamp(0.0, 1.0);
    let [right, _] = tally.outcome.of;
    let all = tally.records();
    let accuracy = tally.outcome.told(all, 2).then(|| share(right, all));
    let counted: f64 = tally.classes.of.iter().sum();
    let majority_share = (tally.classes)
        .told(counted, tally.classes.of.len())
        .then(|| share(tally.classes.of[tally.majority()], counted));
    let recall = recall(tally);
    let calibration = calibration(tally);
    ClassFigures {
        accuracy,
        majority_share,
        gain: accuracy.zip(majority_share).map(|(a, b)| a - b),
        balanced_accuracy: mean_of_present(tally, &recall),
        f1: f1(tally),
        roc_area: mean_over_scores(tally, roc_area),
        average_precision: mean_over_scores(tally, average_precision),
        log_loss: log_loss(tally),
        brier: brier(tally),
        calibration_error: calibration_error(&calibration),
        observed: calibration.iter().map(|bin| bin.observed).collect(),
        recall,
    }
}

/// Of each class, the share of its records that are answered rightly.
fn recall(tally: &Tally) -> Vec<Option<f64>> {
    let confusion = &tally.confusion.of;
    (confusion.iter().enumerate())
        .map(|(class, row)| {
            let total = tally.classes.of[class];
            let told = total > 0.0 && tally.classes.told(total, 1);
            told.then(|| (row[class] / total).clamp(0.0, 1.0))
        })
        .collect()
}

/// The mean of a figure of each class. Classes without records have none; where noise hides how many there are, there
/// is no mean either.
fn mean_of_present(tally: &Tally, figures: &[Option<f64>]) -> Option<f64> {
    let exact = tally.classes.noise_std == 0.0;
    let told: Vec<f64> = figures.iter().flatten().copied().collect();
    (!told.is_empty() && (exact || told.len() == figures.len()))
        .then(|| told.iter().sum::<f64>() / told.len() as f64)
}

/// Of two classes F1 of the second, else the mean over the classes that occur or are answered.
fn f1(tally: &Tally) -> Option<f64> {
    let confusion = &tally.confusion.of;
    let classes = confusion.len();
    let of = |class: usize| {
        let answered: f64 = confusion.iter().map(|row| row[class]).sum();
        let is: f64 = confusion[class].iter().sum();
        // The diagonal is in both sums: twice the noise of one cell there.
        let told = tally.confusion.told(answered + is, 2 * classes + 2) && answered + is > 0.0;
        told.then(|| (2.0 * confusion[class][class] / (answered + is)).clamp(0.0, 1.0))
    };
    match classes {
        0 => None,
        2 => of(1),
        _ => {
            let all: Vec<Option<f64>> = (0..classes).map(of).collect();
            mean_of_present(tally, &all)
        }
    }
}

/// The mean of a figure over the classes that are judged, which takes records with and without each.
fn mean_over_scores(tally: &Tally, figure: fn(&[Scored]) -> f64) -> Option<f64> {
    let of = |scores: &Vec<Scored>| {
        let (positive, negative) = totals(scores);
        let told = |sum| sum > 0.0 && tally.scores.told(sum, scores.len());
        (told(positive) && told(negative)).then(|| figure(scores).clamp(0.0, 1.0))
    };
    let all: Vec<Option<f64>> = tally.scores.of.iter().map(of).collect();
    mean_of_present(tally, &all)
}

/// −ln of the probability of the true class, on average.
fn log_loss(tally: &Tally) -> Option<f64> {
    let two = tally.classes.of.len() == 2;
    let sum = tally.scores.of.iter().flatten().map(|at| {
        let no = if two { surprise(-at.log_odds) } else { 0.0 };
        at.positive * surprise(at.log_odds) + at.negative * no
    });
    over_records(tally, sum.sum())
}

/// The squared distance of probabilities from the truth: of two classes that of the second, else summed over classes.
fn brier(tally: &Tally) -> Option<f64> {
    let sum = tally.scores.of.iter().flatten().map(|at| {
        let probability = probability(at.log_odds);
        at.positive * (1.0 - probability).powi(2) + at.negative * probability.powi(2)
    });
    over_records(tally, sum.sum())
}

fn over_records(tally: &Tally, sum: f64) -> Option<f64> {
    let all = tally.records();
    let told = !tally.scores.of.is_empty() && all > 0.0 && tally.outcome.told(all, 2);
    told.then(|| (sum / all).max(0.0))
}

/// Records whose score lies in one bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationBin {
    /// The mean probability that the model gave them.
    pub predicted: f64,
    /// The share that it is true of.
    pub observed: Option<f64>,
    /// How many.
    pub records: f64,
}

/// Probabilities beside what is observed, in the bins of log-odds; all judged classes together.
pub fn calibration(tally: &Tally) -> Vec<CalibrationBin> {
    let mut bins = vec![(0.0, 0.0, 0.0, 0.0); super::log_odds::BINS];
    for at in tally.scores.of.iter().flatten() {
        let (weighted, plain, positive, count) = &mut bins[bin(at.log_odds)];
        let both = at.positive + at.negative;
        // Noisy counts cannot weigh a mean; their scores are the middle of the bin.
        let weight = if tally.scores.noise_std > 0.0 {
            1.0
        } else {
            both
        };
        *weighted += weight * probability(at.log_odds);
        *plain += weight;
        *positive += at.positive;
        *count += both;
    }
    let counts = 2 * tally.scores.of.len();
    (bins.into_iter())
        .map(|(weighted, plain, positive, count)| CalibrationBin {
            predicted: if plain > 0.0 { weighted / plain } else { 0.0 },
            observed: (count > 0.0 && tally.scores.told(count, counts))
                .then(|| (positive / count).clamp(0.0, 1.0)),
            records: count,
        })
        .collect()
}

/// How far observed shares are from probabilities, on average over records (expected calibration error).
fn calibration_error(bins: &[CalibrationBin]) -> Option<f64> {
    let told = || bins.iter().filter_map(|bin| Some((bin, bin.observed?)));
    let all: f64 = told().map(|(bin, _)| bin.records).sum();
    (all > 0.0).then(|| {
        let sum: f64 = told()
            .map(|(bin, observed)| bin.records * (observed - bin.predicted).abs())
            .sum();
        sum / all
    })
}
