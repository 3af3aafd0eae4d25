//! Figures of a model that predicts a number.

use super::bands::{again, band};
use super::facts::Figure;
use crate::models::{MIDDLE, STEP};
use serde::{Deserialize, Serialize};
use tacita_datasets::NumberTarget;

/// How good a model of a number is, in the unit of the number. A figure that is missing cannot be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NumberUtility {
    /// The records, in words.
    pub on: String,
    /// The number.
    pub name: String,
    /// Its declared bounds, to which true and predicted numbers are clamped.
    pub bounds: (f64, f64),
    /// The standard deviation of the noise on a sum, in records; none if the figures are exact.
    pub count_noise: Option<f64>,
    /// How many records, as far as it may be said.
    pub records: Figure,
    /// Mean absolute error.
    pub mean_absolute_error: Option<Figure>,
    /// Root of the mean squared error.
    pub root_mean_squared_error: Option<Figure>,
    /// The same of always answering the mean.
    pub spread: Option<Figure>,
    /// 1 less the mean squared error over that of always answering the mean.
    pub r_squared: Option<Figure>,
    /// The share of errors that count as a quarter of the range, because they are larger; of noisy figures only.
    pub clipped_share: Option<Figure>,
    /// What to know before relying on the model.
    pub warnings: Vec<String>,
}

/// Errors count up to this share of the range in noisy sums: smaller sums would drown in noise made for larger ones.
const CLIP: f64 = 0.25;
/// Sums that are released: 1, u, u², e, e² and whether e was clipped, for u = 2t − 1 of a true number t in [0, 1] and e the
/// absolute error over [`CLIP`], at most 1. All lie in [−1, 1].
const SUMS: usize = 6;

/// The release of noisy sums.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumberLayout {
    /// The standard deviation of the noise on a sum.
    pub noise: f64,
}

impl NumberLayout {
    /// The noise multiplier of the release: a record's vector is divided by the largest length it can have, √6.
    pub fn noise_multiplier(&self) -> f64 {
        self.noise / (SUMS as f64).sqrt()
    }

    /// Numbers that are released.
    pub fn length(&self) -> usize {
        SUMS
    }

    /// A record's vector, of length at most 1.
    pub fn vector(&self, output: f32, truth: f32) -> Vec<f64> {
        let (u, e) = (2.0 * f64::from(truth) - 1.0, error(output, truth) / CLIP);
        let far = if e > 1.0 { 1.0 } else { 0.0 };
        let e = e.min(1.0);
        let values = [1.0, u, u * u, e, e * e, far];
        values
            .iter()
            .map(|value| value / (SUMS as f64).sqrt())
            .collect()
    }

    /// The sums in records.
    fn sums(&self, released: &[f64]) -> Sums {
        let sum = |at: usize| released[at] * (SUMS as f64).sqrt();
        Sums {
            count: sum(0),
            number: sum(1),
            square: sum(2),
            error: sum(3) * CLIP,
            squared_error: sum(4) * CLIP * CLIP,
            clipped: Some(sum(5)),
            noise: self.noise,
        }
    }

    /// Figures with their bands.
    pub fn read(&self, released: &[f64], target: &NumberTarget, on: String) -> NumberUtility {
        let range = target.max - target.min;
        let figures = self.sums(released).figures(range);
        let noise = self.noise_multiplier();
        let again = again(released, noise, |sums| self.sums(sums).figures(range));
        let banded = |index: usize| {
            let values: Vec<Option<f64>> = again.iter().map(|figures| figures[index]).collect();
            let (value, plus_minus) = (figures[index]?, Some(band(&values)?));
            Some(Figure {
                value,
                plus_minus,
                from_bins: false,
            })
        };
        let records = Figure {
            value: self.sums(released).count,
            plus_minus: Some(2.0 * self.noise),
            from_bins: false,
        };
        let figures = [0, 1, 2, 3, 4].map(banded);
        gathered(figures, records, Some(self.noise), target, on)
    }
}

/// Sums over records, numbers scaled to [−1, 1] and errors to the range.
struct Sums {
    count: f64,
    number: f64,
    square: f64,
    error: f64,
    squared_error: f64,
    clipped: Option<f64>,
    noise: f64,
}

impl Sums {
    /// Mean absolute error, root of the mean squared error, spread, R² and the share of clipped errors.
    fn figures(&self, range: f64) -> [Option<f64>; 5] {
        if self.count <= 2.0 * self.noise {
            return [None; 5];
        }
        let positive = |value: f64| Some(value).filter(|value| *value >= 0.0);
        let mean = self.number / self.count;
        // Of [−1, 1], so of twice the range.
        let variance = (self.square / self.count - mean * mean) / 4.0;
        let told = 4.0 * variance * self.count > 2.0 * self.noise;
        let squared_error = self.squared_error / self.count;
        [
            positive(self.error / self.count * range),
            positive(squared_error).map(|square| square.sqrt() * range),
            told.then(|| variance.max(0.0).sqrt() * range),
            told.then(|| 1.0 - squared_error / variance),
            self.clipped
                .map(|clipped| (clipped / self.count).clamp(0.0, 1.0)),
        ]
    }
}

/// A model's answer, in [0, 1]; the middle if it is no number.
pub fn predicted(output: f32) -> f64 {
    match output.is_finite() {
        true => (STEP * f64::from(output) + MIDDLE).clamp(0.0, 1.0),
        false => MIDDLE,
    }
}

fn error(output: f32, truth: f32) -> f64 {
    (predicted(output) - f64::from(truth)).abs()
}

/// Exact figures.
pub fn exact(
    outputs: &[Vec<f32>],
    truths: &[f32],
    target: &NumberTarget,
    on: String,
) -> NumberUtility {
    let answers = || {
        outputs
            .iter()
            .filter_map(|output| output.first())
            .zip(truths)
    };
    let errors = || answers().map(|(output, truth)| error(*output, *truth));
    let numbers = || truths.iter().map(|truth| 2.0 * f64::from(*truth) - 1.0);
    let count = answers().count() as f64;
    // Around the mean, so that nothing cancels.
    let mean = numbers().sum::<f64>() / count.max(1.0);
    let sums = Sums {
        count,
        number: 0.0,
        square: numbers().map(|number| (number - mean).powi(2)).sum(),
        error: errors().sum(),
        squared_error: errors().map(|error| error * error).sum(),
        clipped: None,
        noise: 0.0,
    };
    let exact = |value: f64| Figure {
        value,
        plus_minus: None,
        from_bins: false,
    };
    let figures = sums.figures(target.max - target.min);
    gathered(
        figures.map(|figure| figure.map(exact)),
        exact(count),
        None,
        target,
        on,
    )
}

fn gathered(
    figures: [Option<Figure>; 5],
    records: Figure,
    count_noise: Option<f64>,
    target: &NumberTarget,
    on: String,
) -> NumberUtility {
    let [
        mean_absolute_error,
        root_mean_squared_error,
        spread,
        r_squared,
        clipped_share,
    ] = figures;
    let mut warnings = Vec::new();
    match r_squared {
        Some(Figure { value, plus_minus, .. }) if value <= plus_minus.unwrap_or(0.0) => warnings.push(
            "The model is no better than always answering the mean, as far as can be told (R² is not above 0).".into(),
        ),
        Some(_) => {}
        None => warnings.push(
            "Whether the model is any better than always answering the mean cannot be told: use more test records, or \
             a smaller --score-noise if they are private."
                .into(),
        ),
    }
    if let Some(share) = clipped_share
        && share.value > 0.05
    {
        warnings.push(format!(
            "≈ {:.0} % of the errors are larger than a quarter of the declared range and count as a quarter: the true \
             errors are larger than stated.",
            100.0 * share.value
        ));
    }
    NumberUtility {
        on,
        name: target.name.clone(),
        bounds: (target.min, target.max),
        count_noise,
        records,
        mean_absolute_error,
        root_mean_squared_error,
        spread,
        r_squared,
        clipped_share,
        warnings,
    }
}
