//! Ordinary training of the same models, for the rows of tables that are not private.

use super::device::device;
use super::evaluate::{evaluate, mean};
use super::train::{STOP, watch_for_stop};
use super::{FromSet, Settings, Visitor, choose_model, public_start};
use crate::datasets::{self, DataSet, Opened, TestSet};
use crate::models::Scored;
use crate::random::SplitMix;
use anyhow::{Context, Result, bail, ensure};
use burn::optim::momentum::MomentumConfig;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer, SgdConfig};
use burn::tensor::Device;
use std::sync::atomic::Ordering;
use std::time::Instant;

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
    let settings = &settings.clone().with_preset()?;
    let opened = datasets::open(&settings.source()?, &settings.options(quiet)?)?;
    let Opened::Ready(data) = opened else {
        bail!("a table without declared bounds cannot be trained on without privacy");
    };
    let device = device(settings.device.as_deref().unwrap_or("cpu"))?;
    let (shape, classes) = (data.shape(), data.classes().len());
    let model = settings
        .model
        .unwrap_or_else(|| choose_model::suited_to(shape));
    let training = PlainTraining {
        settings,
        data: *data,
        device: device.clone(),
    };
    let (hidden, seed) = (settings.hidden, settings.seed);
    choose_model::with_model(model, shape, classes, hidden, seed, &device, training)
}

struct PlainTraining<'a> {
    settings: &'a Settings,
    data: DataSet,
    device: Device,
}

impl Visitor for PlainTraining<'_> {
    type Output = Option<Plain>;

    fn visit<R: FromSet, M: Scored<R::Batch>>(self, model: M) -> Result<Self::Output> {
        let Self {
            settings,
            data,
            device,
        } = self;
        let wrong_kind = || anyhow::anyhow!("the records are of another kind than the model");
        let training = R::from_set(data.training).with_context(wrong_kind)?;
        let test = data.test.filter(|test| test.declared_public);
        let TestSet { records, .. } = test.context("there are no public test records")?;
        let test = R::from_set(records).with_context(wrong_kind)?;

        let count = training.count();
        let batch = settings
            .batch
            .map_or(512, |batch| batch as usize)
            .clamp(1, count);
        let steps = settings.steps.unwrap_or_else(|| {
            (settings.epochs.unwrap_or(20.0) * count as f64 / batch as f64).ceil() as u64
        });
        let rate = settings.learning_rate.unwrap_or(0.01);
        ensure!(
            rate > 0.0 && rate.is_finite(),
            "the learning rate must be above 0, got {rate}"
        );
        let mut model = public_start::begin(settings, model)?;
        let mut optimizer = optimizer(settings.optimizer.as_deref().unwrap_or("sgd"))?;
        let mut order = Order::new(count, settings.seed.unwrap_or(0));
        let mut over_steps = Vec::new();
        watch_for_stop();
        let start = Instant::now();
        for step in 1..=steps {
            if STOP.load(Ordering::SeqCst) {
                return Ok(None);
            }
            let records = training.batch(order.next(batch), &device);
            let gradients = model.losses(records).mean().backward();
            let gradients = GradientsParams::from_grads(gradients, &model);
            model = optimizer.step(rate, model, gradients);
            if settings.test_every.is_some_and(|every| step % every == 0) {
                over_steps.push((step, mean(&evaluate(&model, &test, &device))));
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        Ok(Some(Plain {
            score: mean(&evaluate(&model, &test, &device)),
            over_steps,
            steps,
            seconds,
        }))
    }
}

/// Burn's own optimisers: ours take only what was released.
fn optimizer(name: &str) -> Result<ModuleOptimizer> {
    let momentum = |momentum: f64| {
        let config = MomentumConfig::new()
            .with_momentum(momentum)
            .with_dampening(0.0);
        SgdConfig::new().with_momentum(Some(config)).init()
    };
    Ok(match name.split_once(':') {
        None if name == "sgd" => SgdConfig::new().init(),
        None if name == "momentum" => momentum(0.9),
        None if name == "adam" => AdamConfig::new().init(),
        Some(("momentum", value)) => momentum(
            value
                .parse()
                .with_context(|| format!("“{value}” in “{name}” is no number"))?,
        ),
        _ => bail!("{name} is not used without privacy; use sgd, momentum or adam"),
    })
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
    use crate::datasets::Builtin;

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

    /// A linear model on the digits of the program: 95 % is usual, 10 % is chance.
    #[test]
    fn ordinary_training_learns_and_repeats_with_its_seed() {
        let settings = Settings {
            data: Some(Builtin::Digits),
            model: Some(super::super::ModelName::Logistic),
            batch: Some(128),
            steps: Some(60),
            optimizer: Some("momentum".into()),
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
