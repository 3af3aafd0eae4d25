//! Raw gradients of a run on public data, for figures: NOT PRIVATE.

use super::device::device;
use super::train::{STOP, public_facts, watch_for_stop};
use super::{FromSet, Resolved, Settings, Visitor, choose_model, public_start};
use crate::datasets::{self, DataSet, Opened};
use crate::models::Scored;
use anyhow::{Context, Result, bail};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;
use tacita::{Diagnosis, Keys, Probe, Trainer};

/// What was seen before a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Steps made before.
    pub step: u64,
    /// The mean norm of the records' gradients.
    pub mean_of_norms: f64,
    /// The share of them above the threshold in force.
    pub clip_fraction: f64,
    /// The threshold in force.
    pub threshold: f64,
    /// Other thresholds, and the cosine of the gradient that is clipped to it and noised with the true one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cosines: Vec<(f64, f64)>,
}

impl From<&Diagnosis> for Look {
    fn from(diagnosis: &Diagnosis) -> Self {
        let count = diagnosis.norms.len().max(1) as f64;
        let compared = diagnosis.compared.iter();
        Self {
            step: diagnosis.step,
            mean_of_norms: diagnosis.norms.iter().sum::<f64>() / count,
            clip_fraction: diagnosis.now.clip_fraction,
            threshold: diagnosis.now.threshold,
            cosines: compared.map(|at| (at.threshold, at.cosine)).collect(),
        }
    }
}

/// Trains with a fixed seed and looks at raw gradients on the way. None if Ctrl-C came first.
pub fn diagnose(settings: &Settings, seed: u64, probe: Probe) -> Result<Option<Vec<Look>>> {
    let opened = datasets::open(&settings.source()?, &settings.options(true)?)?;
    let public = public_facts(&opened, settings)?;
    let Opened::Ready(data) = opened else {
        bail!("a table without declared bounds cannot be looked at");
    };
    let run = Resolved::new(settings.clone(), public, None)?;
    let device = device(settings.device.as_deref().unwrap_or("cpu"))?;
    let (shape, classes) = (data.shape(), data.classes().len());
    let (model, hidden) = (run.model, run.settings.hidden);
    let looking = Looking {
        run,
        data: *data,
        seed,
        probe,
        device: device.clone(),
    };
    choose_model::with_model(model, shape, classes, hidden, Some(seed), &device, looking)
}

struct Looking {
    run: Resolved,
    data: DataSet,
    seed: u64,
    probe: Probe,
    device: Device,
}

impl Visitor for Looking {
    type Output = Option<Vec<Look>>;

    fn visit<R: FromSet, M: Scored<R::Batch>>(self, model: M) -> Result<Self::Output> {
        let training = R::from_set(self.data.training)
            .context("the records are of another kind than the model")?;
        let mut looks = Vec::new();
        watch_for_stop();
        let run = self.run;
        let model = public_start::begin(&run.settings, model)?;
        let mut trainer = Trainer::new(run.plan.clone(), run.new_optimizer(), run.learning_rate)
            .keys(Keys::fixed_seed(self.seed))
            .stop_when(|| STOP.load(Ordering::SeqCst))
            .diagnose_without_privacy(self.probe, |diagnosis| looks.push(Look::from(diagnosis)));
        if let Some(decay) = run.settings.average {
            trainer = trainer.average(decay);
        }
        trainer.fit(model, &training, &self.device)?;
        Ok(Some(looks).filter(|_| !STOP.load(Ordering::SeqCst)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::datasets::Builtin;

    /// Every tenth step from the first; a higher threshold clips less and keeps more of the direction
    /// as long as noise is small.
    #[test]
    fn looks_are_taken_on_the_way_and_repeat() {
        let settings = Settings {
            data: Some(Builtin::Digits),
            model: Some(super::super::ModelName::Logistic),
            batch: Some(256),
            steps: Some(21),
            clipping: Some("abadi:0.01".into()),
            epsilon: Some(8.0),
            seed: Some(0),
            ..Settings::default()
        };
        let probe = || Probe {
            every: 10,
            records: 64,
            thresholds: vec![0.01, 1e6],
        };
        let looks = diagnose(&settings, 0, probe()).unwrap().unwrap();
        let steps: Vec<u64> = looks.iter().map(|look| look.step).collect();
        assert_eq!(steps, [0, 10, 20]);
        assert_eq!(looks[0].clip_fraction, 1.0);
        assert!(looks[0].mean_of_norms > 0.01 && looks[0].threshold == 0.01);
        let cosines = &looks[0].cosines;
        // Noise in proportion to a threshold of a million hides everything.
        assert!(
            cosines[0].1 > 0.5 && cosines[1].1.abs() < 0.2,
            "{cosines:?}"
        );
        assert_eq!(diagnose(&settings, 0, probe()).unwrap().unwrap(), looks);
    }
}
