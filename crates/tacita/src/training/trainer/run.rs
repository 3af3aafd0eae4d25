//! A run in progress: one private step after another, and what a checkpoint holds of it.

use super::TrainError;
use crate::mechanism::session::Session;
use crate::sensitivity::records::{PrivateModel, Records};
use crate::training::checkpoint::{Checkpoint, CheckpointError};
use crate::training::optim::{Average, LearningRate, Optimizer, RateTracker};
use crate::training::parameter_values;
use burn::module::Module;
use burn::tensor::Device;

/// Where a run stands: public, since it depends on the plan and on released values only.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Steps made.
    pub step: u64,
    /// Steps of the plan.
    pub steps: u64,
    /// The clipping threshold of the step just made: the 2-norm over groups.
    pub threshold: f64,
    /// The learning rate of the step just made.
    pub learning_rate: f64,
}

/// A run in progress, but for the model and the optimiser.
pub(super) struct Run {
    pub session: Session,
    pub average: Option<Average>,
    rate: RateTracker,
}

impl Run {
    pub fn new(session: Session, learning_rate: LearningRate, average: Option<f64>) -> Self {
        Self {
            rate: RateTracker::new(learning_rate, session.plan().steps()),
            average: average.map(Average::new),
            session,
        }
    }

    /// One private step. Threshold and learning rate are frozen in it and learn after it.
    pub fn step<D: Records, M: PrivateModel<D::Batch>>(
        &mut self,
        optimizer: &mut Optimizer,
        model: M,
        records: &D,
        device: &Device,
    ) -> Result<(M, Progress), TrainError> {
        let round = self.session.open_round()?;
        let bounded = round.clip(&model, records, device)?;
        let noisy = round.release(bounded)?;
        let learning_rate = self.rate.rate(noisy.step());
        let model = optimizer.step(learning_rate, model, &noisy);
        self.rate.learn(noisy.gradient());
        if let Some(average) = &mut self.average {
            average.add(&model);
        }
        let squares = noisy.thresholds().iter().map(|c| c * c);
        let progress = Progress {
            step: noisy.step() + 1,
            steps: self.session.plan().steps(),
            threshold: squares.sum::<f64>().sqrt(),
            learning_rate,
        };
        Ok((model, progress))
    }

    pub fn checkpoint<M: Module>(&self, optimizer: &Optimizer, model: &M) -> Checkpoint {
        Checkpoint {
            step: self.session.next_step(),
            parameters: parameter_values::values(model),
            optimizer: optimizer.state(),
            rate: self.rate.state(),
            thresholds: self.session.threshold_state(),
            average: self.average.as_ref().map(Average::state),
        }
    }

    /// Brings the other ranks to where the first is, initial weights included; returns the model there.
    pub fn follow_first<M: Module>(
        &mut self,
        optimizer: &mut Optimizer,
        model: M,
        device: &Device,
    ) -> Result<M, TrainError> {
        let ranks = self.session.ranks().clone();
        if ranks.is_alone() {
            return Ok(model);
        }
        let bytes = ranks.bytes_of_first(|| {
            let bytes = self.checkpoint(optimizer, &model).to_bytes();
            bytes.map_err(TrainError::from)
        })?;
        let followed = match ranks.is_first() {
            true => Ok(model),
            false => Checkpoint::of_bytes(&bytes)
                .map_err(TrainError::from)
                .and_then(|at| self.restore(&at, optimizer, model, device)),
        };
        ranks.agreed(followed)
    }

    /// Restores a checkpoint; returns the model at it.
    pub fn restore<M: Module>(
        &mut self,
        checkpoint: &Checkpoint,
        optimizer: &mut Optimizer,
        model: M,
        device: &Device,
    ) -> Result<M, TrainError> {
        let device = &device.clone().without_autodiff();
        self.session.resume_from(checkpoint.step)?;
        self.session
            .restore_thresholds(&checkpoint.thresholds, device)?;
        self.rate.restore(&checkpoint.rate, device);
        let optimizer_fits = match (&checkpoint.optimizer, checkpoint.step) {
            (_, 0) => true,
            (Some(state), _) => optimizer.restore(state, device),
            (None, _) => false,
        };
        if let (Some(average), Some(state)) = (&mut self.average, &checkpoint.average) {
            average.restore(state, device);
        }
        match parameter_values::with_values(model, &checkpoint.parameters) {
            Some(model) if optimizer_fits => Ok(model),
            _ => Err(CheckpointError::OtherRun.into()),
        }
    }
}
