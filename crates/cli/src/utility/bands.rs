//! Error bands of noisy figures: how far the figures move when noise of the known size is added once more.

use super::class_figures::{ClassFigures, figures};
use super::layout::ClassLayout;
use tacita_datasets::random::SplitMix;

/// How often noise is added again.
const AGAIN: usize = 300;
/// A share that may be off by more is not told; neither is a loss that may be off by all of itself.
const WIDEST: f64 = 0.5;

/// Figures, and two standard deviations of the noise in each.
#[derive(Debug, Clone, PartialEq)]
pub struct Banded {
    pub figures: ClassFigures,
    pub bands: ClassFigures,
}

/// Every figure and its band; those that noise hides are missing.
///
/// What is drawn here protects nothing and is no secret: it only asks how much noise of this size matters. It comes
/// from a fixed seed, so that the same release always gives the same bands.
pub fn banded(layout: &ClassLayout, released: &[f64]) -> Banded {
    let noise = layout.noise_multiplier();
    let again = again(released, noise, |released| {
        figures(&layout.tally(released)).all()
    });
    let mut figures = figures(&layout.tally(released));
    let mut bands = figures.clone();
    let shares = figures.are_shares();
    let places = (figures.all_mut().into_iter()).zip(bands.all_mut());
    for (index, ((figure, place), is_share)) in places.zip(shares).enumerate() {
        let values: Vec<Option<f64>> = again.iter().map(|figures| figures[index]).collect();
        let widest = match is_share {
            true => WIDEST,
            false => figure.unwrap_or(0.0),
        };
        let found = band(&values).filter(|band| *band <= widest);
        *place = found.filter(|_| figure.is_some());
        *figure = figure.filter(|_| found.is_some());
    }
    Banded { figures, bands }
}

/// What follows from released sums when noise of this size is added to them again, many times.
pub fn again<T>(released: &[f64], noise_std: f64, figures: impl Fn(&[f64]) -> T) -> Vec<T> {
    let mut random = SplitMix(0x7ac1_7a00);
    (0..AGAIN)
        .map(|_| {
            let noisier = released
                .iter()
                .map(|sum| sum + noise_std * nearly_normal(&mut random));
            figures(&noisier.collect::<Vec<f64>>())
        })
        .collect()
}

/// Two standard deviations; none if the figure could mostly not be told.
pub fn band(values: &[Option<f64>]) -> Option<f64> {
    let told: Vec<f64> = values.iter().flatten().copied().collect();
    if told.len() * 10 < values.len() * 9 {
        return None;
    }
    let mean = told.iter().sum::<f64>() / told.len() as f64;
    let squares: f64 = told.iter().map(|value| (value - mean).powi(2)).sum();
    Some(2.0 * (squares / (told.len() - 1) as f64).sqrt())
}

/// Mean 0 and variance 1: the sum of four uniform values.
fn nearly_normal(random: &mut SplitMix) -> f64 {
    (0..4).map(|_| f64::from(random.standard())).sum::<f64>() / 2.0
}
