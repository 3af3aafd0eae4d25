//! What is used where nothing is set.

use super::Settings;
use crate::models::ModelName;
use crate::run::public_facts::PublicFacts;
use tacita::Clipping;
use tacita::optim::OptimizerRule;
use tacita_accounting::mu_of_budget;
use tacita_datasets::{Builtin, InputKind, ROW_LENGTH, Shape, TargetKind};
use tacita_pretrained::Adapt;

/// Share of the budget, in squared μ, that the means and spreads of columns take.
const STANDARD_SHARE: f64 = 0.2;
/// Steps of a linear model.
const LINEAR_STEPS: u64 = 50;
/// The heavy ball's share of the last step.
const HEAVY_BALL: f64 = 0.9;
/// The same for a linear model on columns. A heavier ball overshoots where a class is rare: on its way back it calls
/// records of a weak signal by the rare class, and accuracy falls below the share of the majority.
const HEAVY_BALL_OF_COLUMNS: f64 = 0.5;
/// The most numbers of a batch of a linear model; smaller sets take part whole in every step.
const LARGEST_BATCH: u64 = 1 << 24;
/// The noise that a linear model may gather in one score, if nothing pulled it back, as a standard deviation.
const SCORE_NOISE: f64 = 1.0;
/// Records times μ from which on no gradient of a linear model is clipped.
const ENOUGH_RECORDS: f64 = 10_000.0;
/// Where more would not help: rate · steps / (1 − heavy ball), for rows of length 1. The heavy ball overshoots where
/// a rare class leaves little to pull it back, so columns, which are few, get no more than they need.
const LONGEST_WAY_OF_COLUMNS: f64 = 300.0;
/// The same for counts, which are many and rare.
const LONGEST_WAY_OF_COUNTS: f64 = 2000.0;

impl Settings {
    /// Fills in what is not set. Nothing here depends on the data, only on its kind and public size.
    pub(in crate::run) fn fill(&mut self, facts: PublicFacts) {
        let PublicFacts { shape, records, .. } = facts;
        let digits = self.data == Some(Builtin::Digits);
        if self.noise.is_none() && self.epsilon.is_none() {
            self.epsilon = Some(if digits { 8.0 } else { 3.0 });
        }
        self.delta.get_or_insert_with(|| delta(records));
        self.rate_schedule.get_or_insert_default();
        if self.pretrained.is_some() {
            self.fill_pretrained(records);
        }
        if self.is_linear(facts) {
            self.fill_linear(facts);
        }
        if self.steps.is_none() && self.epochs.is_none() {
            self.epochs = Some(20.0);
        }
        // Large batches average the noise away; a quarter of a small set is the most.
        let batch = 512.min(records / 4).max(1);
        self.batch.get_or_insert(if digits { 512 } else { batch });
        self.clipping.get_or_insert_with(Clipping::auto);
        let text = matches!(shape, Shape::Tokens { length, .. } if length > 32);
        let optimizer = *self.optimizer.get_or_insert(match text {
            true => OptimizerRule::adam(),
            false => OptimizerRule::heavy_ball(HEAVY_BALL),
        });
        // The rate that automatic clipping was published with (Bu et al. 2023, G.1), and Adam's for texts.
        self.learning_rate
            .get_or_insert(if optimizer.is_adaptive() { 0.01 } else { 0.5 });
    }

    /// The noise multiplier of the means and spreads of columns, if they are released.
    pub fn standardises(&self) -> Option<f64> {
        self.standardise.filter(|noise| *noise > 0.0)
    }

    /// Whether the model is linear and its rows have one length, of which much is known in advance.
    fn is_linear(&self, facts: PublicFacts) -> bool {
        let model = self.model.unwrap_or(ModelName::suited_to(facts.shape));
        let rows = match facts.kind {
            InputKind::Table => self.standardise != Some(0.0),
            InputKind::Counts => true,
            InputKind::Other => false,
        };
        rows && model == ModelName::Logistic && facts.target == TargetKind::Class
    }

    /// A pre-trained model: few passes in large batches, by Adam at the rate of Bu et al. 2023, Table 5. A head or an
    /// adapter begins at nothing and may go further; a head on features that are kept costs next to nothing a pass.
    fn fill_pretrained(&mut self, records: u64) {
        self.optimizer.get_or_insert(OptimizerRule::adam());
        let batch = 1024.min(records / 8).max(1);
        self.batch.get_or_insert(batch);
        let (epochs, rate) = match self.adapt {
            Some(Adapt::Head) => (20.0, 5e-3),
            Some(Adapt::LowRank { .. } | Adapt::Bias) => (3.0, 2e-3),
            _ => (3.0, 5e-4),
        };
        if self.steps.is_none() {
            self.epochs.get_or_insert(epochs);
        }
        self.learning_rate.get_or_insert(rate);
    }

    /// A linear model on rows of one length, whose gradients have a largest norm: it is the threshold, so that none is
    /// clipped, and probabilities are right.
    fn fill_linear(&mut self, facts: PublicFacts) {
        let Shape::Rows { width } = facts.shape else {
            return;
        };
        let largest = LARGEST_BATCH / width.max(1) as u64;
        let batch = *(self.batch).get_or_insert(facts.records.min(largest).max(1));
        if self.epochs.is_none() {
            self.steps.get_or_insert(LINEAR_STEPS);
        }
        let rate = (batch as f64 / facts.records.max(1) as f64).min(1.0);
        let steps = match (self.steps, self.epochs) {
            (Some(steps), _) => steps as f64,
            (None, epochs) => (epochs.unwrap_or(f64::NAN) / rate).ceil(),
        };
        // Where records are drawn, each of a person's takes a share of what the person may lose.
        let kept = self.kept_of_a_person().unwrap_or(1);
        let mu = self.mu(rate, steps) / kept as f64;
        let records_mu = facts.records as f64 * mu;
        // Nothing follows from a budget or a length without sense; the plan says what is wrong with it.
        if !(records_mu * steps > 0.0 && records_mu.is_finite() && steps.is_finite()) {
            return;
        }
        if facts.kind == InputKind::Table {
            // Two digits, rounded up: more noise, never less than meant.
            let noise = rounded_up(1.0 / (mu * STANDARD_SHARE.sqrt()), 2);
            self.standardise.get_or_insert(noise);
        }
        self.clipping
            .get_or_insert_with(|| Clipping::abadi(linear_threshold(records_mu)));
        let (ball, longest_way) = match facts.kind {
            InputKind::Counts => (HEAVY_BALL, LONGEST_WAY_OF_COUNTS),
            _ => (HEAVY_BALL_OF_COLUMNS, LONGEST_WAY_OF_COLUMNS),
        };
        let usual = OptimizerRule::heavy_ball(ball);
        if *self.optimizer.get_or_insert(usual) == usual {
            let rate = (1.0 - ball) * linear_way(records_mu, steps, longest_way);
            let rate = rounded_up(rate, 2);
            self.learning_rate.get_or_insert(rate);
        }
    }

    /// The μ of Gaussian differential privacy that the budget comes to, or about that of the given noise.
    fn mu(&self, rate: f64, steps: f64) -> f64 {
        match (self.noise, self.epsilon, self.delta) {
            (Some(noise), ..) => rate * steps.sqrt() / noise,
            (None, Some(epsilon), Some(delta)) => mu_of_budget(epsilon, delta).unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }
}

/// The largest norm of a record's gradient of the cross-entropy of a linear model: that of the probabilities minus
/// the class is at most √2, and it multiplies the row and the 1 of the bias. Rounded up.
pub(super) fn largest_linear_gradient() -> f64 {
    let row = f64::from(ROW_LENGTH);
    rounded_up((2.0 * (1.0 + row * row)).sqrt(), 3)
}

/// The largest norm where there are records enough. Below, noise does more harm than clipping the records that the
/// model gets most wrong: measured, a threshold of 1/√2 of it gives the better log loss.
fn linear_threshold(records_mu: f64) -> f64 {
    match records_mu < ENOUGH_RECORDS {
        true => rounded_up(largest_linear_gradient() / 2f64.sqrt(), 3),
        false => largest_linear_gradient(),
    }
}

/// Rate / (1 − heavy ball) at which the noise of all steps, were nothing to pull it back, moves a score by
/// [`SCORE_NOISE`].
///
/// A step adds noise of `rate · threshold · √steps / (records · μ)` to each weight, the heavy ball makes it
/// `1 / (1 − ball)` times that, and `√steps` of them add up; a score multiplies by the length of row and bias.
fn linear_way(records_mu: f64, steps: f64, longest_way: f64) -> f64 {
    let row = f64::from(ROW_LENGTH);
    let noise = linear_threshold(records_mu) * (1.0 + row * row).sqrt() * steps / records_mu;
    let quiet = SCORE_NOISE / noise;
    let far = longest_way / (row * row * steps);
    quiet.min(far)
}

/// A number with so many digits, rounded up.
fn rounded_up(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits - 1 - value.log10().floor() as i32);
    (value * scale).ceil() / scale
}

/// A tenth of 1 / records, rounded down to two digits: well below the probability at which one
/// record in the set would be expected to be exposed.
fn delta(records: u64) -> f64 {
    let tenth = 0.1 / records.max(1) as f64;
    let scale = 10f64.powi(1 - tenth.log10().floor() as i32);
    (tenth * scale).floor() / scale
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tacita_datasets::random::SplitMix;

    fn table(records: u64) -> PublicFacts {
        PublicFacts {
            records,
            shape: Shape::Rows { width: 12 },
            kind: InputKind::Table,
            classes: 2,
            target: TargetKind::Class,
            estimates_bounds: false,
            private_test: false,
            public_test: false,
        }
    }

    fn filled(epsilon: f64, facts: PublicFacts) -> Settings {
        let mut settings = Settings {
            epsilon: Some(epsilon),
            ..Settings::default()
        };
        settings.fill(facts);
        settings
    }

    #[test]
    fn a_table_gets_a_linear_model_by_its_size_and_the_budget() {
        let small = filled(3.0, table(426));
        assert_eq!((small.batch, small.steps), (Some(426), Some(50)));
        assert_eq!(small.clipping, Some(Clipping::abadi(4.13)));
        assert_eq!(small.optimizer, Some(OptimizerRule::heavy_ball(0.5)));
        assert!(small.standardises().is_some());
        // Fewer records and less budget take shorter steps; filling in again changes nothing.
        let rate = |settings: &Settings| settings.learning_rate.unwrap();
        assert!(rate(&filled(3.0, table(100))) < rate(&small));
        assert!(rate(&filled(1.0, table(426))) < rate(&small));
        let mut again = small.clone();
        again.fill(table(426));
        assert_eq!(again, small);
        // Records enough: no gradient is clipped. A batch has its limit.
        let large = filled(8.0, table(10_000_000));
        assert_eq!(
            large.clipping,
            Some(Clipping::abadi(largest_linear_gradient()))
        );
        assert_eq!(large.batch, Some(LARGEST_BATCH / 12));
    }

    #[test]
    fn images_keep_automatic_clipping_and_what_is_set_stays() {
        let image = tacita_datasets::ImageSize {
            channels: 1,
            height: 28,
            width: 28,
        };
        let facts = PublicFacts {
            shape: Shape::Images(image),
            kind: InputKind::Other,
            ..table(60_000)
        };
        let images = filled(3.0, facts);
        assert_eq!(images.clipping, Some(Clipping::auto()));
        assert_eq!((images.batch, images.epochs), (Some(512), Some(20.0)));
        let mut set = Settings {
            epsilon: Some(3.0),
            standardise: Some(0.0),
            model: Some(ModelName::Logistic),
            ..Settings::default()
        };
        set.fill(table(426));
        assert_eq!(set.clipping, Some(Clipping::auto()));
        assert_eq!(set.standardises(), None);
    }

    /// The gradient of the cross-entropy by the weights and the bias is (p − y) ⊗ (x, 1); a thousand random ones, of
    /// models that are sure and of models that are not.
    #[test]
    fn no_gradient_of_a_linear_model_is_longer_than_the_largest() {
        let mut random = SplitMix(11);
        let mut longest: f64 = 0.0;
        for case in 0..1000u32 {
            let classes = 2 + random.below(9) as usize;
            let scale = f64::from(case % 40);
            let scores: Vec<f64> = (0..classes)
                .map(|_| scale * f64::from(random.standard()))
                .collect();
            let row: Vec<f64> = (0..7).map(|_| f64::from(random.standard())).collect();
            let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
            let highest = scores.iter().copied().fold(f64::MIN, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
            let total: f64 = weights.iter().sum();
            let class = random.below(classes as u64) as usize;
            let mut squares = 0.0;
            for (index, weight) in weights.iter().enumerate() {
                let error = weight / total - f64::from(u8::from(index == class));
                let row = row
                    .iter()
                    .map(|value| value * f64::from(ROW_LENGTH) / length);
                squares += row
                    .chain([1.0])
                    .map(|value| (error * value).powi(2))
                    .sum::<f64>();
            }
            longest = longest.max(squares.sqrt());
        }
        assert!(longest <= largest_linear_gradient(), "{longest}");
        // And a threshold shorter by more than its rounding would not do.
        assert!(longest > 0.998 * largest_linear_gradient(), "{longest}");
    }
}
