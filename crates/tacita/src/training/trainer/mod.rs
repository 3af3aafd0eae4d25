//! A training loop over a session: post-processing of what the session releases.

mod error;
mod run;

pub use error::TrainError;
pub use run::Progress;

use crate::mechanism::keys::Keys;
use crate::mechanism::ledger_file::{LedgerFileError, read_ledger_file};
use crate::mechanism::plan::CheckedPlan;
use crate::mechanism::ranks::{OneRank, Ranks};
use crate::mechanism::session::{Opening, Session, SessionError, SessionOptions};
use crate::sensitivity::records::{PrivateModel, Records};
use crate::training::checkpoint::{Checkpoint, CheckpointError};
use crate::training::diagnostics::{Diagnosis, OnDiagnosis, Probe};
use crate::training::optim::{LearningRate, Optimizer};
use crate::training::report::Report;
use burn::module::Module;
use burn::tensor::Device;
use run::Run;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Refuses an empty ledger next to a checkpoint that was made after steps: those were released.
fn refuse_emptied(ledger: &Path, checkpoint: &Path) -> Result<(), TrainError> {
    let emptied = match read_ledger_file(ledger) {
        Err(LedgerFileError::NoHeader { .. }) => true,
        Err(LedgerFileError::Io { source, .. }) => source.kind() == ErrorKind::NotFound,
        _ => false,
    };
    match Checkpoint::read(checkpoint) {
        Ok(kept) if emptied && kept.step > 0 => Err(SessionError::LedgerBehind {
            ledger: 0,
            checkpoint: kept.step,
        }
        .into()),
        _ => Ok(()),
    }
}

type OnStep<'a, M> = Box<dyn FnMut(&Progress, &M) + 'a>;

/// Trains a model by a certified plan.
///
/// ```
/// use burn::module::Module;
/// use burn::tensor::{Device, Tensor};
/// use tacita::layers::{Linear, LinearConfig};
/// use tacita::optim::OptimizerRule;
/// use tacita::{Budget, Plan, PrivateModel, Records, Trainer};
///
/// struct Points;
/// impl Records for Points {
///     type Batch = Tensor<2>;
///     fn count(&self) -> usize {
///         1000
///     }
///     fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2> {
///         self.synthetic(&indices.iter().map(|i| *i as u64).collect::<Vec<_>>(), device)
///     }
///     fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2> {
///         let rows: Vec<f32> = seeds.iter().flat_map(|s| [(*s as f32).sin(), 1.0]).collect();
///         Tensor::<1>::from_floats(rows.as_slice(), device).reshape([seeds.len(), 2])
///     }
/// }
///
/// #[derive(Module, Debug)]
/// struct Model {
///     linear: Linear,
/// }
/// impl PrivateModel<Tensor<2>> for Model {
///     fn losses(&self, batch: Tensor<2>) -> Tensor<1> {
///         self.linear.forward(batch).square().sum_dim(1).squeeze_dim(1)
///     }
/// }
///
/// let device = Device::default();
/// let plan = Plan::new(Budget::new(3.0, 1e-5))
///     .public_record_count(1000)
///     .expected_batch(50)
///     .epochs(1.0)
///     .calibrate()?; // AUTO-S: no threshold to tune
/// let model = Model { linear: LinearConfig::new(2, 1).init(&device.clone().autodiff()) };
/// let trained = Trainer::new(plan, OptimizerRule::heavy_ball(0.9), 0.1).fit(model, &Points, &device)?;
/// println!("{}", trained.report);
/// assert!(trained.report.epsilon_upper <= 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Trainer<'a, M> {
    plan: CheckedPlan,
    optimizer: Optimizer,
    learning_rate: LearningRate,
    average: Option<f64>,
    keys: Option<Keys>,
    ledger: Option<PathBuf>,
    checkpoint: Option<(PathBuf, u64)>,
    options: SessionOptions,
    on_step: Option<OnStep<'a, M>>,
    stop: Option<Box<dyn FnMut() -> bool + 'a>>,
    diagnostics: Option<(Probe, OnDiagnosis<'a>)>,
    ranks: Arc<dyn Ranks>,
}

/// A trained model and its privacy statement.
#[derive(Debug)]
pub struct Trained<M> {
    /// The model after the last step; its average if one was asked for.
    pub model: M,
    /// The privacy statement.
    pub report: Report,
    /// Steps made, fewer than the plan's if the run was stopped.
    pub steps: u64,
    /// The session, if the plan asks for scores after the last step and they are still to be had.
    pub unscored: Option<Session>,
}

impl<'a, M> Trainer<'a, M> {
    /// A trainer with one of our optimisers or Burn's, and a learning rate or a policy for it.
    pub fn new(
        plan: CheckedPlan,
        optimizer: impl Into<Optimizer>,
        learning_rate: impl Into<LearningRate>,
    ) -> Self {
        Self {
            plan,
            optimizer: optimizer.into(),
            learning_rate: learning_rate.into(),
            average: None,
            keys: None,
            ledger: None,
            checkpoint: None,
            options: SessionOptions::default(),
            on_step: None,
            stop: None,
            diagnostics: None,
            ranks: Arc::new(OneRank),
        }
    }

    /// Trains on several processes, of which this is one. All of them make the same trainer and give it their own
    /// records; each gets the same model. The first alone touches the ledger and the checkpoint, and decides when to
    /// stop. A run that was opened has its ranks already.
    ///
    /// ```
    /// # use burn::module::Module;
    /// # use burn::tensor::{Device, Tensor};
    /// # use tacita::layers::{Linear, LinearConfig};
    /// # use tacita::optim::OptimizerRule;
    /// # use tacita::{Plan, PrivateModel, Records, Trainer};
    /// # #[derive(Clone)]
    /// # struct Points(Vec<f32>);
    /// # impl Records for Points {
    /// #     type Batch = Tensor<2>;
    /// #     fn count(&self) -> usize { self.0.len() }
    /// #     fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2> {
    /// #         let values: Vec<f32> = indices.iter().map(|i| self.0[*i]).collect();
    /// #         Tensor::<1>::from_floats(values.as_slice(), device).reshape([indices.len(), 1])
    /// #     }
    /// #     fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2> {
    /// #         let values: Vec<f32> = seeds.iter().map(|s| (*s as f32).sin()).collect();
    /// #         Tensor::<1>::from_floats(values.as_slice(), device).reshape([seeds.len(), 1])
    /// #     }
    /// # }
    /// # #[derive(Module, Debug)]
    /// # struct Model { linear: Linear }
    /// # impl PrivateModel<Tensor<2>> for Model {
    /// #     fn losses(&self, batch: Tensor<2>) -> Tensor<1> {
    /// #         self.linear.forward(batch).square().squeeze_dim(1)
    /// #     }
    /// # }
    /// # fn train(records: &Points, ranks: std::sync::Arc<dyn tacita::ranks::Ranks>) -> u64 {
    /// let plan = Plan::with_noise(2.0, 1e-5)
    ///     .public_record_count(200)
    ///     .expected_batch(20)
    ///     .steps(3)
    ///     .calibrate()
    ///     .unwrap();
    /// # let device = Device::default();
    /// # let model = Model { linear: LinearConfig::new(1, 1).init(&device.clone().autodiff()) };
    /// let trained = Trainer::new(plan, OptimizerRule::Sgd, 0.1)
    ///     .ranks(ranks)
    ///     .fit(model, records, &device)
    ///     .unwrap();
    /// # trained.steps
    /// # }
    /// // Threads instead of processes: each has every second record.
    /// let threads = tacita::ranks::in_threads(2).into_iter().map(|ranks| {
    ///     let records = Points(ranks.share_of((0..200).map(|i| (i as f32).cos())).collect());
    ///     std::thread::spawn(move || train(&records, ranks))
    /// });
    /// for thread in threads.collect::<Vec<_>>() {
    ///     assert_eq!(thread.join().unwrap(), 3);
    /// }
    /// ```
    #[must_use]
    pub fn ranks(mut self, ranks: Arc<dyn Ranks>) -> Self {
        self.ranks = ranks;
        self
    }

    /// Keys to use instead of fresh ones from the operating system: a fixed seed for experiments.
    #[must_use]
    pub fn keys(mut self, keys: Keys) -> Self {
        self.keys = Some(keys);
        self
    }

    /// A file for the ledger, which then survives a crash. It must not exist yet, unless the run is
    /// resumed.
    #[must_use]
    pub fn ledger(mut self, path: impl Into<PathBuf>) -> Self {
        self.ledger = Some(path.into());
        self
    }

    /// A file that is replaced every so many steps, and when the run stops, with all that
    /// [`Trainer::resume`] needs. It holds nothing but what was released.
    #[must_use]
    pub fn checkpoint(mut self, path: impl Into<PathBuf>, every: u64) -> Self {
        self.checkpoint = Some((path.into(), every.max(1)));
        self
    }

    /// Returns the exponential moving average of the iterates, which keeps the share `decay` of the
    /// past in each step, instead of the last iterate.
    #[must_use]
    pub fn average(mut self, decay: f64) -> Self {
        self.average = Some(decay);
        self
    }

    /// Speed, memory and hardening.
    #[must_use]
    pub fn options(mut self, options: SessionOptions) -> Self {
        self.options = options;
        self
    }

    /// Called after every step with the model so far, which has been released.
    #[must_use]
    pub fn on_step(mut self, on_step: impl FnMut(&Progress, &M) + 'a) -> Self {
        self.on_step = Some(Box::new(on_step));
        self
    }

    /// Asked before every step; true ends the run in order. What decides must be public: stopping
    /// because of what the data look like would be a release.
    #[must_use]
    pub fn stop_when(mut self, stop: impl FnMut() -> bool + 'a) -> Self {
        self.stop = Some(Box::new(stop));
        self
    }

    /// Shows raw gradients of some records every few steps: clip fraction, norms, bias and cosine
    /// similarity over thresholds. *The run is then not private*: its ledger and its report are marked so,
    /// whatever its keys. For research on public data.
    ///
    /// The trained model is the one of the same run without diagnostics, number by number.
    ///
    /// ```no_run
    /// # fn example<M: burn::module::Module>(trainer: tacita::Trainer<'_, M>) {
    /// use tacita::Probe;
    ///
    /// let probe = Probe { every: 50, records: 256, thresholds: vec![0.1, 1.0, 10.0] };
    /// let trainer = trainer.diagnose_without_privacy(probe, |diagnosis| {
    ///     let clipped = 100.0 * diagnosis.now.clip_fraction;
    ///     println!("step {}: {clipped:.0} % clipped", diagnosis.step);
    /// });
    /// # }
    /// ```
    #[must_use]
    pub fn diagnose_without_privacy(
        mut self,
        probe: Probe,
        on_diagnosis: impl FnMut(&Diagnosis) + 'a,
    ) -> Self {
        self.diagnostics = Some((probe, Box::new(on_diagnosis)));
        self
    }

    /// Trains on the device's tensors until the plan is finished.
    pub fn fit<D: Records>(
        mut self,
        model: M,
        records: &D,
        device: &Device,
    ) -> Result<Trained<M>, TrainError>
    where
        M: PrivateModel<D::Batch>,
    {
        self.check()?;
        let opening = self.opening()?;
        let session = Session::begin(opening, &model, records, self.options)?;
        let session = match &self.ledger {
            Some(path) => session.into_new_file(path)?,
            None => session,
        };
        let run = self.run(session);
        self.train(run, model, records, device)
    }

    /// Trains with a run that was opened before, for example to release statistics.
    pub fn fit_opened<D: Records>(
        self,
        opening: Opening,
        model: M,
        records: &D,
        device: &Device,
    ) -> Result<Trained<M>, TrainError>
    where
        M: PrivateModel<D::Batch>,
    {
        self.check()?;
        let opening = match self.diagnostics {
            Some(_) if opening.is_private() => return Err(TrainError::OpenedAsPrivate),
            Some(_) => opening.for_diagnostics(),
            None => opening,
        };
        self.check_ranks(&**opening.ranks())?;
        let session = Session::begin(opening, &model, records, self.options)?;
        let run = self.run(session);
        self.train(run, model, records, device)
    }

    /// Resumes a run that stopped or died, from its checkpoint.
    ///
    /// A private run takes fresh keys, and steps that the ledger holds beyond the checkpoint stay
    /// spent. With a fixed seed, which is not private, those steps are made again, so that the result
    /// is that of an unbroken run. A ledger behind its checkpoint is refused.
    pub fn resume<D: Records>(
        mut self,
        model: M,
        records: &D,
        device: &Device,
    ) -> Result<Trained<M>, TrainError>
    where
        M: PrivateModel<D::Batch>,
    {
        self.check()?;
        let (Some((path, _)), Some(ledger)) = (self.checkpoint.clone(), self.ledger.clone()) else {
            return Err(CheckpointError::NotKept.into());
        };
        let opening = self.opening()?;
        let ranks = self.ranks.clone();
        let session = Session::begin(opening, &model, records, self.options)?;
        let whole = match ranks.is_first() {
            true => refuse_emptied(&ledger, &path),
            false => Ok(()),
        };
        ranks.agreed(whole)?;
        let mut run = self.run(session.into_existing_file(&ledger)?);
        // If it died before its first step there is nothing to resume from. The other ranks follow the first.
        let restored = match ranks.is_first() && (path.exists() || run.session.next_step() > 0) {
            true => Checkpoint::read(&path)
                .map_err(TrainError::from)
                .and_then(|kept| run.restore(&kept, &mut self.optimizer, model, device)),
            false => Ok(model),
        };
        let model = ranks.agreed(restored)?;
        self.train(run, model, records, device)
    }

    /// The run's keys and plan, on all ranks.
    fn opening(&mut self) -> Result<Opening, TrainError> {
        self.check_ranks(&*self.ranks)?;
        let keys = self.take_keys()?;
        Ok(Opening::in_memory(self.plan.clone(), keys).over(self.ranks.clone())?)
    }

    fn check_ranks(&self, ranks: &dyn Ranks) -> Result<(), TrainError> {
        match &self.diagnostics {
            Some(_) => Ok(ranks.only_alone("showing raw gradients")?),
            None => Ok(()),
        }
    }

    fn run(&self, session: Session) -> Run {
        Run::new(session, self.learning_rate, self.average)
    }

    fn check(&self) -> Result<(), TrainError> {
        if let Some(value) = self.learning_rate.unsound() {
            return Err(TrainError::LearningRate { value });
        }
        if let Some((probe, _)) = &self.diagnostics
            && let Some(value) = probe.unsound()
        {
            return Err(TrainError::Probe { value });
        }
        match self.average {
            Some(decay) if !(decay > 0.0 && decay < 1.0) => Err(TrainError::Average { decay }),
            _ => Ok(()),
        }
    }

    fn take_keys(&mut self) -> Result<Keys, TrainError> {
        let keys = match self.keys.take() {
            Some(keys) => keys,
            None => Keys::from_os()?,
        };
        Ok(match self.diagnostics {
            Some(_) => keys.for_diagnostics(),
            None => keys,
        })
    }

    /// Writes the checkpoint, if there is one and this is the first rank.
    fn keep(&self, run: &Run, model: &M) -> Result<(), TrainError>
    where
        M: Module,
    {
        let ranks = run.session.ranks();
        let kept = match &self.checkpoint {
            Some((path, _)) if ranks.is_first() => {
                run.checkpoint(&self.optimizer, model).write(path)
            }
            _ => Ok(()),
        };
        ranks.agreed(kept.map_err(TrainError::from))
    }

    /// Makes the steps that are left.
    fn train<D: Records>(
        mut self,
        mut run: Run,
        mut model: M,
        records: &D,
        device: &Device,
    ) -> Result<Trained<M>, TrainError>
    where
        M: PrivateModel<D::Batch>,
    {
        let steps = run.session.plan().steps();
        let ranks = run.session.ranks().clone();
        model = run.follow_first(&mut self.optimizer, model, device)?;
        let mut saved = None;
        if run.session.next_step() == 0 {
            self.keep(&run, &model)?;
            saved = Some(0);
        }
        while run.session.next_step() < steps {
            // Only the first rank is asked: they must not part.
            let mut stop = vec![u8::from(self.stop.as_mut().is_some_and(|stop| stop()))];
            ranks.receive_from_first(&mut stop)?;
            if stop != [0] {
                break;
            }
            if let Some((probe, on_diagnosis)) = &mut self.diagnostics
                && let Some(diagnosis) = probe.look(&run.session, &model, records, device)?
            {
                on_diagnosis(&diagnosis);
            }
            let progress;
            (model, progress) = run.step(&mut self.optimizer, model, records, device)?;
            if let Some(on_step) = &mut self.on_step {
                on_step(&progress, &model);
            }
            if let Some((_, every)) = &self.checkpoint
                && progress.step % every == 0
            {
                self.keep(&run, &model)?;
                saved = Some(progress.step);
            }
        }
        let made = run.session.next_step();
        if saved != Some(made) {
            self.keep(&run, &model)?;
        }
        if let Some(average) = run.average.filter(|_| made > 0) {
            model = average.applied_to(model);
        }
        let report = Report::new(&run.session);
        let unscored = if made == steps && run.session.plan().scores() > 0 {
            Some(run.session)
        } else {
            run.session.close()?;
            None
        };
        Ok(Trained {
            model,
            report,
            steps: made,
            unscored,
        })
    }
}
