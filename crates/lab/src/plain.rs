//! Ordinary training of the same models, for the rows of tables that are not private.

use anyhow::{Context, Result, bail, ensure};
use burn::module::Module;
use burn::optim::GradientsParams;
use std::time::Instant;
use tacita::optim::{Average, LearningRate, Optimizer, OptimizerRule, RateSchedule};
use tacita_accounting::RunSize;
use tacita_cli::models::{Bench, Erase, Kind, Scored};
use tacita_cli::run::{
    DraftRun, InitialWeights, PublicFacts, Settings, evaluate, mean, stop_requested, watch_for_stop,
};
use tacita_datasets::random::SplitMix;
use tacita_datasets::{DataSet, Opened};

/// What ordinary training gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain {
    /// The mean score on the test records after the last step.
    pub score: f64,
    /// The same on the way, by steps made.
    pub over_steps: Vec<(u64, f64)>,
    /// Steps made.
    pub steps: u64,
    /// Time of training.
    pub seconds: f64,
}

/// Trains without clipping, noise or ledger: NOT PRIVATE, for public data. None if Ctrl-C came first.
pub fn train_without_privacy(settings: &Settings, quiet: bool) -> Result<Option<Plain>> {
    let settings = settings.clone().complete()?;
    let opened = settings.open(quiet)?;
    let draft = DraftRun::new(settings, PublicFacts::of(&opened)?)?;
    let Opened::Ready(data) = opened else {
        bail!("a table without declared bounds cannot be trained on without privacy");
    };
    let device = draft.settings.device.unwrap_or_default().open()?;
    let bench = draft.model().make::<AnyModel>(&device)?;
    bench.train_without_privacy(&draft.settings, &data)
}

/// A model of any type that learns in the ordinary way.
trait Learner {
    fn train_without_privacy(
        self: Box<Self>,
        settings: &Settings,
        data: &DataSet,
    ) -> Result<Option<Plain>>;
}

struct AnyModel;

impl Erase for AnyModel {
    type Object = dyn Learner;

    fn erase<R: Kind, M: Scored<R::Batch>>(bench: Bench<R, M>) -> Box<dyn Learner> {
        Box::new(bench)
    }
}

impl<R: Kind, M: Scored<R::Batch>> Learner for Bench<R, M> {
    fn train_without_privacy(
        self: Box<Self>,
        settings: &Settings,
        data: &DataSet,
    ) -> Result<Option<Plain>> {
        let wrong_kind = || anyhow::anyhow!("the records are of another kind than the model");
        let training = R::of(&data.training).with_context(wrong_kind)?;
        let test = data.test.as_ref().filter(|test| test.declared_public);
        let test = test.context("there are no public test records")?;
        let test = R::of(&test.records).with_context(wrong_kind)?;
        let Self { model, device, .. } = *self;
        let mut model = match InitialWeights::read(settings)? {
            Some(weights) => weights.begin(model)?.0,
            None => model,
        };

        let count = training.count();
        let batch = settings.batch.unwrap_or(1).clamp(1, count as u64);
        let steps = RunSize::new(count as f64, batch as f64, settings.length())?.steps();
        let mut course = Course::new(settings, steps)?;
        let mut order = Order::new(count, settings.seed.unwrap_or(0));
        let mut over_steps = Vec::new();
        watch_for_stop();
        let start = Instant::now();
        for step in 1..=steps {
            if stop_requested() {
                return Ok(None);
            }
            let records = training.batch(order.next(batch as usize), &device);
            let gradients = model.losses(records).mean().backward();
            let gradients = GradientsParams::from_grads(gradients, &model);
            model = course.step(step, model, gradients);
            if (settings.test_every).is_some_and(|every| step.is_multiple_of(every)) {
                over_steps.push((step, mean(&evaluate(&model, test, &device)?)));
            }
        }
        model = course.averaged(model);
        let seconds = start.elapsed().as_secs_f64();
        Ok(Some(Plain {
            score: mean(&evaluate(&model, test, &device)?),
            over_steps,
            steps,
            seconds,
        }))
    }
}

/// The optimiser, the learning rate and the average of settings.
struct Course {
    optimizer: Optimizer,
    rates: LearningRate,
    steps: u64,
    average: Option<Average>,
}

impl Course {
    fn new(settings: &Settings, steps: u64) -> Result<Self> {
        let rule = settings.optimizer.unwrap_or(OptimizerRule::Sgd);
        let schedule = settings.rate_schedule.unwrap_or_default();
        ensure!(
            rule != OptimizerRule::adam_without_second_moment() && schedule != RateSchedule::Online,
            "the optimiser adam-wosm and the rate schedule online rest on the noise, so they are not used without \
             privacy"
        );
        let weight_decay = settings.weight_decay.unwrap_or(0.0);
        let rate = settings.learning_rate.unwrap_or(f64::NAN);
        Ok(Self {
            optimizer: Optimizer::from(rule).with_weight_decay(weight_decay),
            rates: schedule.starting_at(rate, rule),
            steps,
            average: settings.average.map(Average::new),
        })
    }

    fn step<M: Module>(&mut self, step: u64, model: M, gradients: GradientsParams) -> M {
        let rate = self.rates.scheduled(step - 1, self.steps);
        let model = self.optimizer.step_without_privacy(rate, model, gradients);
        if let Some(average) = &mut self.average {
            average.add(&model);
        }
        model
    }

    fn averaged<M: Module>(&self, model: M) -> M {
        match &self.average {
            Some(average) => average.applied_to(model),
            None => model,
        }
    }
}

/// The records in a new order for every pass.
struct Order {
    indices: Vec<usize>,
    next: usize,
    random: SplitMix,
}

impl Order {
    fn new(count: usize, seed: u64) -> Self {
        Self {
            indices: (0..count).collect(),
            next: count,
            random: SplitMix(seed),
        }
    }

    /// The next batch; what is left of a pass that does not fill one is left out.
    fn next(&mut self, batch: usize) -> &[usize] {
        let count = self.indices.len();
        if self.next + batch > count {
            // Fisher and Yates.
            for last in (1..count).rev() {
                let other = self.random.below(last as u64 + 1) as usize;
                self.indices.swap(last, other);
            }
            self.next = 0;
        }
        self.next += batch;
        &self.indices[self.next - batch..self.next]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tacita_datasets::Builtin;

    #[test]
    fn a_pass_sees_every_record_once_in_a_new_order() {
        let mut order = Order::new(10, 3);
        let mut pass = || -> Vec<usize> { (0..5).flat_map(|_| order.next(2).to_vec()).collect() };
        let (first, second) = (pass(), pass());
        let sorted = |mut pass: Vec<usize>| {
            pass.sort_unstable();
            pass
        };
        assert_ne!(first, second);
        assert_eq!(sorted(first), (0..10).collect::<Vec<_>>());
        assert_eq!(sorted(second), (0..10).collect::<Vec<_>>());
    }

    /// Each of them gives another model than without it.
    #[test]
    fn rate_schedule_weight_decay_and_average_are_those_of_the_settings() {
        let short = || Settings {
            data: Some(Builtin::Digits),
            model: Some(tacita_cli::models::ModelName::Logistic),
            batch: Some(256),
            steps: Some(5),
            optimizer: Some(OptimizerRule::adam()),
            learning_rate: Some(0.05),
            test_every: Some(1),
            seed: Some(1),
            ..Settings::default()
        };
        let scores = |settings: &Settings| {
            let plain = train_without_privacy(settings, true).unwrap().unwrap();
            (plain.over_steps, plain.score)
        };
        let usual = scores(&short());
        for changed in [
            Settings {
                rate_schedule: Some(RateSchedule::Exponential { ratio: 100.0 }),
                ..short()
            },
            Settings {
                weight_decay: Some(1.0),
                ..short()
            },
            Settings {
                average: Some(0.9),
                ..short()
            },
        ] {
            assert_ne!(scores(&changed), usual, "{changed:?}");
        }
    }

    /// A linear model on the digits of the program: 95 % is usual, 10 % is chance.
    #[test]
    fn ordinary_training_learns_and_repeats_with_its_seed() {
        let settings = Settings {
            data: Some(Builtin::Digits),
            model: Some(tacita_cli::models::ModelName::Logistic),
            batch: Some(128),
            steps: Some(60),
            optimizer: Some(OptimizerRule::heavy_ball(0.9)),
            learning_rate: Some(0.5),
            test_every: Some(30),
            seed: Some(1),
            ..Settings::default()
        };
        let run = || train_without_privacy(&settings, true).unwrap().unwrap();
        let (first, second) = (run(), run());
        assert!(first.score > 0.85, "{}", first.score);
        assert_eq!((first.steps, first.over_steps.len()), (60, 2));
        assert_eq!(first.over_steps[1].1, first.score);
        assert_eq!(first.score, second.score);
    }
}
