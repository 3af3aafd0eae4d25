//! A plain and a private training step on the same model and data.

use super::synthetic::{Synthetic, Take};
use super::units::Owned;
use super::workload::Workload;
use anyhow::Result;
use burn::optim::GradientsParams;
use burn::tensor::Device;
use tacita::clipping::{Online, Threshold};
use tacita::ops::{Precision, in_precision};
use tacita::optim::Optimizer;
use tacita::{Clipping, Keys, Plan, PrivateModel, Records, Session, SessionOptions, Units};

/// A model and its data, before any step.
pub struct Trial<B, M> {
    /// Which one.
    pub workload: Workload,
    /// The model, on a device that records gradients.
    pub model: M,
    /// As many records as one batch has.
    pub records: Synthetic<B>,
    /// Where the records are.
    pub device: Device,
}

/// Ordinary training by the same kernels and optimiser: outside a recording the private layers are
/// plain ones.
pub struct Plain<'a, B, M> {
    records: &'a Synthetic<B>,
    indices: Vec<usize>,
    device: Device,
    model: M,
    optimizer: Optimizer,
    learning_rate: f64,
    precision: Precision,
}

/// Private training: per-record clipping, ledger, noise, then the same optimiser.
pub struct Private<'a, R, M> {
    records: &'a R,
    device: Device,
    session: Session,
    model: M,
    optimizer: Optimizer,
    learning_rate: f64,
}

impl<B: Take, M: PrivateModel<B>> Trial<B, M> {
    /// Plain training from the trial's model.
    pub fn plain(&self, precision: Precision) -> Plain<'_, B, M> {
        let (optimizer, learning_rate) = self.workload.optimizer();
        Plain {
            records: &self.records,
            indices: (0..self.records.count()).collect(),
            device: self.device.clone(),
            model: self.model.clone(),
            optimizer,
            learning_rate,
            precision,
        }
    }

    /// Private training from the trial's model, for at most `steps` steps. Every record takes part
    /// in every step (sampling rate 1), so that both kinds of step see the same batch.
    pub fn private(
        &self,
        steps: u64,
        query_directions: bool,
        precision: Precision,
    ) -> Result<Private<'_, Synthetic<B>, M>> {
        let count = self.records.count();
        // Noise of standard deviation 1 on the sums. Its share of the threshold is large, so that even
        // this many steps without sampling have a small ε and the session admits them.
        let clipping = if query_directions {
            Clipping::online().threshold(Threshold::Online(Online {
                initial: 0.01,
                ..Online::default()
            }))
        } else {
            Clipping::auto().threshold(0.01)
        };
        let plan = Plan::with_noise(100.0, 1e-5)
            .public_record_count(count as u64)
            .expected_batch(count as u64)
            .steps(steps)
            .clipping(clipping);
        self.begun(plan, &self.records, precision)
    }

    /// The same of units that have at most `most` records each.
    pub fn private_units<'a>(
        &'a self,
        records: &'a Owned<'a, B>,
        most: u64,
        steps: u64,
        precision: Precision,
    ) -> Result<Private<'a, Owned<'a, B>, M>> {
        let count = records.units().map_or(1, Units::count) as u64;
        let plan = Plan::with_noise(100.0, 1e-5)
            .public_record_count(count)
            .expected_batch(count)
            .steps(steps)
            .clipping(Clipping::auto().threshold(0.01))
            .records_per_unit(most);
        self.begun(plan, records, precision)
    }

    fn begun<'a, R: Records<Batch = B>>(
        &self,
        plan: Plan,
        records: &'a R,
        precision: Precision,
    ) -> Result<Private<'a, R, M>> {
        let (optimizer, learning_rate) = self.workload.optimizer();
        // Nothing real is trained on, and a fixed seed makes runs alike.
        let session = Session::open_in_memory(
            plan.calibrate()?,
            Keys::fixed_seed(1),
            &self.model,
            records,
            SessionOptions {
                precision,
                ..SessionOptions::default()
            },
        )?;
        Ok(Private {
            records,
            device: self.device.clone(),
            session,
            model: self.model.clone(),
            optimizer,
            learning_rate,
        })
    }
}

impl<B: Take, M: PrivateModel<B>> Plain<'_, B, M> {
    /// One step.
    pub fn step(mut self) -> Result<Self> {
        let batch = self.records.batch(&self.indices, &self.device);
        let losses = in_precision(self.precision, || self.model.losses(batch));
        let gradients = losses.mean().backward();
        let gradients = GradientsParams::from_grads(gradients, &self.model);
        self.model = self
            .optimizer
            .step_without_privacy(self.learning_rate, self.model, gradients);
        self.device.sync()?;
        Ok(self)
    }
}

impl<R: Records, M: PrivateModel<R::Batch>> Private<'_, R, M> {
    /// Records of one pass at most; a larger batch is cut.
    pub fn records_per_pass(&self) -> usize {
        self.session.micro_batch()
    }

    /// One step.
    pub fn step(mut self) -> Result<Self> {
        let round = self.session.open_round()?;
        let bounded = round.clip(&self.model, self.records, &self.device)?;
        let noisy = round.release(bounded)?;
        self.model = self.optimizer.step(self.learning_rate, self.model, &noisy);
        self.device.sync()?;
        Ok(self)
    }
}
