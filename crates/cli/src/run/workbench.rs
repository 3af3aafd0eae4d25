//! A model at work, whatever its type and the kind of its records.

use super::estimate::{Estimate, estimate};
use super::evaluate::{evaluate, mean};
use super::initial_weights::InitialWeights;
use super::planned_run::PlannedRun;
use super::run_folder::{RunFolder, StartedFrom};
use super::stop::stop_requested;
use crate::models::{Bench, Erase, Kind, ModelSpec, Score, Scored};
use crate::ranks::Shard;
use crate::utility::{self, Divergence};
use anyhow::{Context, Result};
use burn::tensor::activation::{sigmoid, softmax};
use burn::tensor::{Device, Tensor};
use std::path::Path;
use std::sync::Arc;
use tacita::ranks::Ranks;
use tacita::{Opening, Progress, Report, Session, Trained, UnreadableRecords};
use tacita_datasets::{DataSet, RecordSet, Target, chunks, chunks_of_one_size};

/// Records of one batch of predictions.
const CHUNK: usize = 500;

/// Sees every step, and the mean score on public test records if it asks for it.
pub type Watch<'a> = dyn FnMut(&Progress, &dyn Fn() -> Option<f64>) + 'a;

/// All that a program does with a model.
pub trait Workbench {
    /// How many numbers the model has.
    fn parameters(&self) -> usize;

    /// Takes the weights of a file as far as they fit.
    fn start_from(&mut self, weights: &InitialWeights) -> Result<StartedFrom>;

    /// Takes the parameters of a trained model.
    fn load(&mut self, file: &Path) -> Result<()>;

    /// Writes the parameters into a run folder.
    fn save(&self, folder: &RunFolder) -> Result<()>;

    /// Trains by the plan, from the opening of a new run, or from the checkpoint of the folder.
    fn train(
        self: Box<Self>,
        run: &PlannedRun,
        data: &DataSet,
        folder: &RunFolder,
        ranks: &Arc<dyn Ranks>,
        opening: Option<Opening>,
        watch: &mut Watch<'_>,
    ) -> Result<TrainedBench>;

    /// What a score means.
    fn score(&self) -> Score;

    /// The score of each record.
    fn scores(&self, records: &RecordSet) -> Result<Vec<f64>>;

    /// How far training ran away, if it did.
    fn divergence(&self) -> Option<Divergence>;

    /// For each record the values that the model gives the classes; none if it is no classifier.
    fn outputs(&self, records: &RecordSet) -> Result<Option<Vec<Vec<f32>>>>;

    /// The same in passes of `size` rows, each filled up, so that no record's values depend on how many records there
    /// are: for a release on private records, on a device that rounds by the size of a batch.
    fn outputs_in_passes_of(
        &self,
        size: usize,
        records: &RecordSet,
    ) -> Result<Option<Vec<Vec<f32>>>>;

    /// For each input the probability of every class, of each label by itself, or the number in its unit.
    fn answers(&self, inputs: &RecordSet, target: &Target) -> Result<Vec<Vec<f64>>>;

    /// Makes a few steps of the run's batch size on synthetic records, and tells what they cost.
    fn estimate(self: Box<Self>, run: &PlannedRun) -> Result<Estimate>;
}

/// A trained model, and what may be said of its privacy.
pub struct TrainedBench {
    /// The model.
    pub bench: Box<dyn Workbench>,
    /// The privacy statement.
    pub report: Report,
    /// Steps made, fewer than the plan's if the run was stopped.
    pub steps: u64,
    /// The session, if the plan asks for scores and they are still to be had.
    pub unscored: Option<Session>,
}

/// The model of a spec on a device.
pub fn workbench(spec: ModelSpec, device: &Device) -> Result<Box<dyn Workbench>> {
    spec.make::<AtWork>(device)
}

/// The same, started from the weights of a file if there is one.
pub fn begun_workbench(
    spec: ModelSpec,
    weights: Option<&InitialWeights>,
    device: &Device,
) -> Result<(Box<dyn Workbench>, Option<StartedFrom>)> {
    let mut bench = workbench(spec, device)?;
    let start = weights.map(|weights| bench.start_from(weights));
    Ok((bench, start.transpose()?))
}

struct AtWork;

impl Erase for AtWork {
    type Object = dyn Workbench;

    fn erase<R: Kind, M: Scored<R::Batch>>(bench: Bench<R, M>) -> Box<dyn Workbench> {
        Box::new(bench)
    }
}

/// The records of a set, if the model takes their kind.
fn taken<R: Kind>(set: &RecordSet) -> Result<&R> {
    R::of(set).context("the records are of another kind than the model")
}

impl<R: Kind, M: Scored<R::Batch>> Bench<R, M> {
    /// What becomes of the values of each record's classes; none if the model is no classifier.
    fn rows(
        &self,
        batches: impl Iterator<Item = Result<(R::Batch, usize), UnreadableRecords>>,
        of: impl Fn(Tensor<2>) -> Tensor<2>,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        let mut rows = Vec::new();
        for batch in batches {
            let (batch, counted) = batch?;
            let Some(values) = self.model.class_values(batch) else {
                return Ok(None);
            };
            let [_, classes] = values.dims();
            let values: Vec<f32> = of(values).into_data().iter::<f32>().collect();
            let values = values.chunks(classes).take(counted);
            rows.extend(values.map(<[f32]>::to_vec));
        }
        Ok(Some(rows))
    }

    /// The same in batches as they come.
    fn rows_of_all(
        &self,
        records: &RecordSet,
        of: impl Fn(Tensor<2>) -> Tensor<2>,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        let records: &R = taken(records)?;
        let batches = chunks(records, CHUNK, &self.device).map(|batch| Ok((batch?, usize::MAX)));
        self.rows(batches, of)
    }
}

impl<R: Kind, M: Scored<R::Batch>> Workbench for Bench<R, M> {
    fn parameters(&self) -> usize {
        self.model.num_params()
    }

    fn start_from(&mut self, weights: &InitialWeights) -> Result<StartedFrom> {
        let (model, from) = weights.begin(self.model.clone())?;
        self.model = model;
        Ok(from)
    }

    fn load(&mut self, file: &Path) -> Result<()> {
        self.model = tacita::load_model(self.model.clone(), file)?;
        Ok(())
    }

    fn save(&self, folder: &RunFolder) -> Result<()> {
        Ok(tacita::save_model(&self.model, &folder.model())?)
    }

    fn train(
        self: Box<Self>,
        run: &PlannedRun,
        data: &DataSet,
        folder: &RunFolder,
        ranks: &Arc<dyn Ranks>,
        opening: Option<Opening>,
        watch: &mut Watch<'_>,
    ) -> Result<TrainedBench> {
        let Self { model, device, .. } = *self;
        let records = &Shard::of(taken::<R>(&data.training)?, &**ranks);
        let public_test = data.test.as_ref().filter(|test| test.declared_public);
        let public_test: Option<&R> = (public_test.map(|test| taken(&test.records))).transpose()?;
        let trainer = run
            .trainer()
            .ledger(folder.ledger())
            .checkpoint(folder.checkpoint(), run.checkpoint_every())
            .stop_when(stop_requested)
            .ranks(ranks.clone())
            .on_step(|at, model: &M| {
                watch(at, &|| {
                    let test = public_test.filter(|test| test.count() > 0)?;
                    // One that cannot be read is missed at the end.
                    let scores = evaluate(model, test, &device).ok()?;
                    Some(mean(&scores))
                });
            });
        let Trained {
            model,
            report,
            steps,
            unscored,
        } = match opening {
            Some(opening) => trainer.fit_opened(opening, model, records, &device)?,
            None => trainer.keys(run.keys()?).resume(model, records, &device)?,
        };
        Ok(TrainedBench {
            bench: Box::new(Bench::<R, M>::of(model, &device)),
            report,
            steps,
            unscored,
        })
    }

    fn score(&self) -> Score {
        M::SCORE
    }

    fn scores(&self, records: &RecordSet) -> Result<Vec<f64>> {
        let records: &R = taken(records)?;
        Ok(evaluate(&self.model, records, &self.device)?)
    }

    fn divergence(&self) -> Option<Divergence> {
        utility::divergence(&self.model)
    }

    fn outputs(&self, records: &RecordSet) -> Result<Option<Vec<Vec<f32>>>> {
        self.rows_of_all(records, |values| values)
    }

    fn outputs_in_passes_of(
        &self,
        size: usize,
        records: &RecordSet,
    ) -> Result<Option<Vec<Vec<f32>>>> {
        let records: &R = taken(records)?;
        let batches = chunks_of_one_size(records, size, &self.device);
        self.rows(batches, |values| values)
    }

    fn answers(&self, inputs: &RecordSet, target: &Target) -> Result<Vec<Vec<f64>>> {
        let rows = self.rows_of_all(inputs, |values| match target {
            Target::Classes(_) => softmax(values, 1),
            Target::Labels { .. } => sigmoid(values),
            Target::Number(_) => values,
        })?;
        let rows = rows.context("an autoencoder has no classes to predict")?;
        let answer = |value: f32| match target {
            Target::Number(number) => number.unscaled(utility::predicted(value)),
            _ => f64::from(value),
        };
        let rows = rows.into_iter();
        Ok(rows
            .map(|row| row.into_iter().map(answer).collect())
            .collect())
    }

    fn estimate(self: Box<Self>, run: &PlannedRun) -> Result<Estimate> {
        estimate(*self, run)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use burn::module::Module;
    use std::cell::RefCell;
    use tacita::PrivateModel;
    use tacita::layers::{Linear, LinearConfig};
    use tacita_datasets::{Labelled, RowLayout, Rows};

    thread_local! {
        static SEEN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    }

    /// Remembers how many rows it was asked about at a time.
    #[derive(Module, Debug)]
    struct Watched {
        linear: Linear,
    }

    impl PrivateModel<Labelled<Tensor<2>>> for Watched {
        fn losses(&self, batch: Labelled<Tensor<2>>) -> Tensor<1> {
            self.linear.forward(batch.inputs).sum_dim(1).squeeze_dim(1)
        }
    }

    impl Scored<Labelled<Tensor<2>>> for Watched {
        const SCORE: Score = Score::Accuracy;

        fn scores(&self, _: Labelled<Tensor<2>>) -> Vec<f64> {
            Vec::new()
        }

        fn class_values(&self, batch: Labelled<Tensor<2>>) -> Option<Tensor<2>> {
            SEEN.with_borrow_mut(|seen| seen.push(batch.inputs.dims()[0]));
            Some(self.linear.forward(batch.inputs))
        }
    }

    /// One record more changes the size of no pass, and the values of no other record.
    #[test]
    fn private_records_are_answered_in_passes_of_one_size() {
        let device = Device::default();
        let watched = Watched {
            linear: LinearConfig::new(3, 2).init(&device.clone().autodiff()),
        };
        let bench = Bench::<Rows, _>::of(watched, &device);
        let records = |count: usize| {
            let cells: Vec<f32> = (0..3 * count).map(|cell| cell as f32 / 7.0).collect();
            let rows = Rows::new(RowLayout::Numbers(3), 2, cells, vec![0; count]).unwrap();
            RecordSet::Rows(rows)
        };
        let all = bench.outputs(&records(17)).unwrap().unwrap();
        SEEN.take();
        for count in [0, 1, 7, 8, 9, 16, 17] {
            let outputs = bench.outputs_in_passes_of(8, &records(count)).unwrap();
            assert_eq!(outputs.unwrap(), all[..count]);
            assert_eq!(SEEN.take(), vec![8; count.div_ceil(8)]);
        }
    }
}
