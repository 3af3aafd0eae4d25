//! What to know before relying on a classifier.

use super::tally::Tally;

/// What warnings are given by.
pub struct Seen<'a> {
    /// The counts.
    pub tally: &'a Tally,
    /// Accuracy less the share of the majority, if it can be told.
    pub gain: Option<f64>,
    /// Two standard deviations of the noise in it.
    pub gain_band: f64,
}

/// The warnings, if there is anything to warn of.
pub fn warnings(seen: &Seen<'_>, classes: &[String]) -> Vec<String> {
    let noisy = seen.tally.outcome.noise_std > 0.0;
    let mut warnings = Vec::new();
    if let Some(only) = only_answer(seen.tally) {
        let extent = match noisy {
            true => "As far as the noise lets one tell, every test record",
            false => "Every test record",
        };
        warnings.push(format!(
            "{extent} is answered with “{}”: the model tells no classes apart. {REMEDY}",
            classes[only]
        ));
    }
    match seen.gain {
        Some(gain) if gain <= seen.gain_band => {
            let extent = match (noisy, gain < -seen.gain_band) {
                (_, true) => "Accuracy is below",
                (true, false) => "As far as the noise lets one tell, accuracy is no better than",
                (false, false) => "Accuracy is no better than",
            };
            let majority = &classes[seen.tally.majority()];
            warnings.push(format!(
                "{extent} the share of the most frequent class, “{majority}”: judge the model by its AUC, its balanced \
                 accuracy and its probabilities instead."
            ));
        }
        Some(_) => {}
        None => warnings.push(
            "The noise hides whether the model is any better than always answering the most frequent class: use more \
             test records or a smaller --score-noise."
                .into(),
        ),
    }
    warnings
}

const REMEDY: &str =
    "More records, a larger ε, --model logistic or class-weights in the schema may help.";

/// The class that every record is answered with, as far as can be told.
fn only_answer(tally: &Tally) -> Option<usize> {
    let confusion = &tally.confusion;
    let classes = confusion.of.len();
    let answered = |class: usize| -> f64 { confusion.of.iter().map(|row| row[class]).sum() };
    let mut told = (0..classes).filter(|class| {
        let sum = answered(*class);
        sum > 0.0 && confusion.told(sum, classes)
    });
    told.next().filter(|_| told.next().is_none())
}
