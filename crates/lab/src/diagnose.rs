//! Raw gradients of a run on public data, for figures: NOT PRIVATE.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use tacita::{Diagnosis, Keys, Probe};
use tacita_cli::models::{Bench, Erase, Kind, ModelSpec, Scored};
use tacita_cli::run::{
    InitialWeights, PlannedRun, PublicFacts, Settings, stop_requested, watch_for_stop,
};
use tacita_datasets::{DataSet, Opened};

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
    let settings = settings.clone().complete()?;
    let opened = settings.open(true)?;
    let run = PlannedRun::new(settings, PublicFacts::of(&opened)?)?;
    let Opened::Ready(data) = opened else {
        bail!("a table without declared bounds cannot be looked at");
    };
    let device = run.settings.device.unwrap_or_default().open()?;
    let model = ModelSpec {
        seed: Some(seed),
        ..run.model
    };
    let bench = model.make::<AnyModel>(&device)?;
    bench.look(&run, &data, Keys::fixed_seed(seed), probe)
}

/// A model of any type whose gradients are looked at.
trait Subject {
    fn look(
        self: Box<Self>,
        run: &PlannedRun,
        data: &DataSet,
        keys: Keys,
        probe: Probe,
    ) -> Result<Option<Vec<Look>>>;
}

struct AnyModel;

impl Erase for AnyModel {
    type Object = dyn Subject;

    fn erase<R: Kind, M: Scored<R::Batch>>(bench: Bench<R, M>) -> Box<dyn Subject> {
        Box::new(bench)
    }
}

impl<R: Kind, M: Scored<R::Batch>> Subject for Bench<R, M> {
    fn look(
        self: Box<Self>,
        run: &PlannedRun,
        data: &DataSet,
        keys: Keys,
        probe: Probe,
    ) -> Result<Option<Vec<Look>>> {
        let records =
            R::of(&data.training).context("the records are of another kind than the model")?;
        let model = match InitialWeights::read(&run.settings)? {
            Some(weights) => weights.begin(self.model)?.0,
            None => self.model,
        };
        let mut looks = Vec::new();
        watch_for_stop();
        run.trainer()
            .keys(keys)
            .stop_when(stop_requested)
            .diagnose_without_privacy(probe, |diagnosis| looks.push(Look::from(diagnosis)))
            .fit(model, records, &self.device)?;
        Ok(Some(looks).filter(|_| !stop_requested()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tacita::Clipping;
    use tacita_datasets::Builtin;

    /// Every tenth step from the first; a higher threshold clips less and keeps more of the direction
    /// as long as noise is small.
    #[test]
    fn looks_are_taken_on_the_way_and_repeat() {
        let settings = Settings {
            data: Some(Builtin::Digits),
            model: Some(tacita_cli::models::ModelName::Logistic),
            batch: Some(256),
            steps: Some(21),
            clipping: Some(Clipping::abadi(0.01)),
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
