//! The mechanism: what may be released, in which order, and nothing else.
//!
//! ```text
//! Session ──open_round──▶ OpenRound ──clip──▶ Bounded ──release──▶ Noisy
//!                         (a draw)            (clipped sums)       (ledger first, then noise)
//! ```
//!
//! A [`Session`] follows one certified plan. [`Session::open_round`] draws the records of the next
//! step; [`OpenRound::clip`] makes sums whose sensitivity is known; [`OpenRound::release`] writes the
//! ledger, draws noise and returns [`Noisy`] values, which have no other source. A [`Bounded`] value
//! borrows the session for as long as its round lives, so a stale one cannot be released:
//!
//! ```compile_fail,E0499
//! # use tacita::{Session, Bounded, Noisy, SessionError};
//! fn stale(session: &mut Session, clip: impl for<'s> Fn(&tacita::OpenRound<'s>) -> Bounded<'s>) {
//!     let first = session.open_round().unwrap();
//!     let old = clip(&first);
//!     let second = session.open_round().unwrap(); // the session is still borrowed by `old`
//!     let _ = second.release(old);
//! }
//! ```
//!
//! Clipped sums and draws cannot be copied out of their round:
//!
//! ```compile_fail,E0599
//! # use tacita::Bounded;
//! fn copy<'s>(bounded: &Bounded<'s>) -> Bounded<'s> {
//!     bounded.clone()
//! }
//! ```
//!
//! and a noisy value cannot be made by hand:
//!
//! ```compile_fail,E0451
//! let noisy = tacita::Noisy { step: 0, ..todo!() };
//! ```

use crate::checks;
use crate::clipping::{Clipper, Groups};
use crate::gradient::{Performance, WeightedSums};
use crate::keys::Keys;
use crate::ledger_file::{LedgerFile, LedgerFileError};
use crate::noise::{NoiseError, NoiseHardening, NoiseStream, missing_tail_delta};
use crate::parameters::{CoverageError, Parameters};
use crate::pass::PassError;
use crate::plan::{CheckedPlan, TAIL_SHARE};
use crate::records::{PrivateModel, Records};
use crate::sampling::{PoissonSampler, SamplingError};
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use std::marker::PhantomData;
use std::path::Path;
use tacita_accounting::{Ledger, Reading};
use thiserror::Error;

/// Why a round was not made. Says whether anything was released.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Every step of the plan has been made.
    #[error("all {steps} steps of the plan have been made; nothing more may be released")]
    Finished {
        /// Steps of the plan.
        steps: u64,
    },
    /// The ledger could not be written; nothing was released.
    #[error(transparent)]
    Ledger(#[from] LedgerFileError),
    /// Noise could not be drawn; the step counts as spent, but nothing was released.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The model cannot be trained privately; nothing was released.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// The sampler cannot draw at the plan's rate; nothing was released.
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    /// A model other than the one the session was opened for.
    #[error("the model has other trainable parameters than the session was opened for")]
    OtherModel,
}

impl From<CoverageError> for SessionError {
    fn from(error: CoverageError) -> Self {
        Self::Pass(error.into())
    }
}

/// Where the record of releases is kept.
#[derive(Debug)]
enum Record {
    File(LedgerFile),
    Memory(Ledger),
}

/// A run of one certified plan on one model.
pub struct Session {
    plan: CheckedPlan,
    parameters: Parameters,
    clipper: Clipper,
    sampler: PoissonSampler,
    keys: Keys,
    record: Record,
    next_step: u64,
    hardening: NoiseHardening,
    micro_batch: usize,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Session(step {} of {})",
            self.next_step,
            self.plan.steps()
        )
    }
}

/// How a logical batch is cut to fit memory. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MicroBatch {
    /// As many records at a time as this many bytes of activations and gradients allow.
    Memory(usize),
    /// So many records at a time.
    Records(usize),
}

impl Default for MicroBatch {
    fn default() -> Self {
        Self::Memory(1 << 30)
    }
}

/// Settings of a session that concern speed, memory and hardening, not privacy.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SessionOptions {
    /// How norms are computed.
    pub performance: Performance,
    /// How a logical batch is cut.
    pub micro_batch: MicroBatch,
    /// How noise is protected against floating-point attacks.
    pub hardening: NoiseHardening,
}

impl Session {
    /// Starts a run whose ledger is the new file `ledger`. The model is checked first, on made-up
    /// records; an existing file is refused.
    pub fn create<D: Records, M: PrivateModel<D::Batch>>(
        plan: CheckedPlan,
        keys: Keys,
        ledger: &Path,
        model: &M,
        records: &D,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let record = Record::Memory(Ledger::new(plan.ledger().neighbours()));
        let mut session = Self::new(plan, keys, record, model, records, options)?;
        let file = LedgerFile::create(ledger, session.plan.ledger(), session.is_private())?;
        session.record = Record::File(file);
        Ok(session)
    }

    /// Goes on after the last entry of an existing ledger, with fresh keys. Steps the ledger holds
    /// are spent, whether or not their result was saved; they are not repeated.
    pub fn resume<D: Records, M: PrivateModel<D::Batch>>(
        plan: CheckedPlan,
        keys: Keys,
        ledger: &Path,
        model: &M,
        records: &D,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let record = Record::Memory(Ledger::new(plan.ledger().neighbours()));
        let mut session = Self::new(plan, keys, record, model, records, options)?;
        let file = LedgerFile::open(ledger, session.plan.ledger(), session.is_private())?;
        session.next_step = file.next_step();
        session.record = Record::File(file);
        Ok(session)
    }

    /// Opens a session whose ledger is kept in memory and lost if the process dies. For tests and
    /// experiments.
    pub fn open_in_memory<D: Records, M: PrivateModel<D::Batch>>(
        plan: CheckedPlan,
        keys: Keys,
        model: &M,
        records: &D,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let ledger = Ledger::new(plan.ledger().neighbours());
        Self::new(plan, keys, Record::Memory(ledger), model, records, options)
    }

    fn new<D: Records, M: PrivateModel<D::Batch>>(
        plan: CheckedPlan,
        keys: Keys,
        record: Record,
        model: &M,
        records: &D,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let parameters = Parameters::of(model)?;
        let groups = Groups::new(plan.clipping().grouping, &parameters);
        let sampler = PoissonSampler::new(plan.rate(), records.count())?;
        let bytes_per_record = checks::check_model(model, records, &parameters, &groups)?;
        let micro_batch = match options.micro_batch {
            MicroBatch::Memory(bytes) => bytes / bytes_per_record.max(1),
            MicroBatch::Records(count) => count,
        };
        let (rule, directions) = (plan.clipping().rule, plan.queries() > 1);
        Ok(Self {
            plan,
            parameters,
            clipper: Clipper {
                groups,
                rule,
                directions,
                performance: options.performance,
            },
            sampler,
            keys,
            record,
            next_step: 0,
            hardening: options.hardening,
            micro_batch: micro_batch.max(1),
        })
    }

    /// The certified plan.
    pub fn plan(&self) -> &CheckedPlan {
        &self.plan
    }

    /// The step the next round makes, from 0.
    pub fn next_step(&self) -> u64 {
        self.next_step
    }

    /// Whether keys came from the operating system. If not, nothing downstream is private.
    pub fn is_private(&self) -> bool {
        self.keys.is_private()
    }

    /// The certified ε of the whole plan: the guarantee.
    ///
    /// A millionth of δ pays for the tail that the noise generator cannot reach. Where that is not
    /// enough, which takes an ε above 40, there is no guarantee: the bound is infinite.
    pub fn epsilon(&self) -> Reading {
        // Four normals a value in the hardened mode.
        let values = self.parameters.elements() as u64 * self.plan.queries() as u64;
        let normals = values.saturating_mul(4 * self.plan.steps());
        let epsilon = self.plan.epsilon();
        let upper = epsilon.upper_bound().unwrap_or(f64::INFINITY);
        if missing_tail_delta(normals, upper) <= TAIL_SHARE * self.plan.delta() {
            epsilon
        } else {
            Reading::UpperBound(f64::INFINITY)
        }
    }

    /// What has been recorded so far.
    pub fn ledger(&self) -> Ledger {
        match &self.record {
            Record::File(file) => file.released(),
            Record::Memory(ledger) => ledger.clone(),
        }
    }

    /// Draws the records of the next step.
    pub fn open_round(&mut self) -> Result<OpenRound<'_>, SessionError> {
        if self.next_step >= self.plan.steps() {
            return Err(SessionError::Finished {
                steps: self.plan.steps(),
            });
        }
        Ok(OpenRound { session: self })
    }

    /// Ends the run: reserved steps that were never made are given back.
    pub fn close(self) -> Result<Ledger, SessionError> {
        match self.record {
            Record::File(file) => Ok(file.close()?),
            Record::Memory(ledger) => Ok(ledger),
        }
    }

    /// Makes the next step of the plan durable in the ledger, before anything is released.
    fn admit(&mut self) -> Result<u64, SessionError> {
        let step = self.next_step;
        match &mut self.record {
            Record::File(file) => {
                file.admit(step)?;
            }
            Record::Memory(ledger) => {
                if let Some(round) = self.plan.ledger().round_at(step) {
                    ledger.push(round).map_err(LedgerFileError::from)?;
                }
            }
        }
        self.next_step += 1;
        Ok(step)
    }
}

/// One step of the plan, its records drawn and nothing released yet.
#[derive(Debug)]
pub struct OpenRound<'s> {
    session: &'s mut Session,
}

/// Sums over the round's records whose sensitivity is known: sensitive, not released.
///
/// Tied to its round by `'s`; no way to read it, copy it or make one from outside.
pub struct Bounded<'s> {
    sums: Vec<WeightedSums>,
    device: Device,
    round: PhantomData<&'s mut Session>,
}

impl std::fmt::Debug for Bounded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bounded(private)")
    }
}

impl<'s> OpenRound<'s> {
    /// The clipped sums of the round's queries over the drawn records.
    ///
    /// A logical batch is cut into micro-batches with the same result as one pass; an empty draw
    /// gives zeros.
    ///
    /// # Guarantee
    /// Adding or removing one record moves the sum of each query by at most its sensitivity.
    /// Checked by `removing_one_record_moves_the_sum_at_most_the_bound`.
    pub fn clip<D: Records, M: PrivateModel<D::Batch>>(
        &self,
        model: &M,
        records: &D,
        device: &Device,
    ) -> Result<Bounded<'s>, SessionError> {
        let session = &*self.session;
        if Parameters::of(model)? != session.parameters {
            return Err(SessionError::OtherModel);
        }
        let sample = session.sampler.draw(&session.keys, session.next_step);
        let shares = session.clipper.groups.shares();
        let thresholds = session.plan.thresholds(session.next_step, shares);
        let mut sums = session.clipper.zeros();
        for indices in sample.indices().chunks(session.micro_batch) {
            let batch = records.batch(indices, device);
            let part = session
                .clipper
                .sums(model, indices.len(), &thresholds, |model| {
                    model.losses(batch)
                })?;
            accumulate(&mut sums, part);
        }
        Ok(Bounded {
            sums,
            device: device.clone().without_autodiff(),
            round: PhantomData,
        })
    }

    /// Writes the ledger, then draws noise and returns the noisy sums.
    ///
    /// The step is spent once the ledger is written, whatever happens after.
    pub fn release(self, bounded: Bounded<'s>) -> Result<Noisy, SessionError> {
        let session = self.session;
        let step = session.admit()?;
        let scale = (1.0 / session.plan.expected_batch()) as f32;
        let noise_stds = session
            .plan
            .noise_stds(step, session.clipper.groups.shares());
        let mut queries = Vec::with_capacity(bounded.sums.len());
        for (query, (sums, noise_std)) in bounded.sums.into_iter().zip(noise_stds).enumerate() {
            let mut stream = NoiseStream::new(&session.keys, step, query as u32, session.hardening);
            let mut noisy = Vec::with_capacity(sums.len());
            for (index, (sum, parameter)) in
                sums.into_iter().zip(session.parameters.list()).enumerate()
            {
                let mut values = match sum {
                    Some(sum) => sum.into_data().convert::<f32>(),
                    None => TensorData::zeros::<f32, _>([parameter.elements()]),
                };
                // The data are f32 as converted just above.
                if let Ok(values) = values.as_mut_slice::<f32>() {
                    stream.add_normals(index as u32, noise_std, values)?;
                    // The divisor is public, so dividing is post-processing.
                    values.iter_mut().for_each(|value| *value *= scale);
                }
                noisy.push(Tensor::from_data(values, &bounded.device));
            }
            queries.push(noisy);
        }
        Ok(Noisy {
            step,
            queries,
            private: session.keys.is_private(),
        })
    }
}

fn accumulate(sums: &mut [WeightedSums], part: Vec<WeightedSums>) {
    for (sums, part) in sums.iter_mut().zip(part) {
        for (sum, part) in sums.iter_mut().zip(part) {
            *sum = match (sum.take(), part) {
                (Some(sum), Some(part)) => Some(sum + part),
                (sum, part) => sum.or(part),
            };
        }
    }
}

/// Sums with noise: released, and free to use. Everything computed from them is post-processing.
pub struct Noisy {
    step: u64,
    /// Noisy sums divided by the expected batch size, by query and parameter.
    queries: Vec<Vec<Tensor<1>>>,
    private: bool,
}

impl std::fmt::Debug for Noisy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Noisy(step {}, {} queries)",
            self.step,
            self.queries.len()
        )
    }
}

impl Noisy {
    /// The step it was released in, from 0.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// False if the noise came from a fixed seed, so that anyone can subtract it.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// The noisy gradient, divided by the *expected* batch size, for Burn's optimisers.
    pub fn gradients<M: Module>(&self, model: &M) -> GradientsParams {
        self.query(0, model)
    }

    /// The noisy mean of clipped directions (OSO's second query), if the plan asks it.
    pub fn directions<M: Module>(&self, model: &M) -> Option<GradientsParams> {
        (self.queries.len() > 1).then(|| self.query(1, model))
    }

    fn query<M: Module>(&self, query: usize, model: &M) -> GradientsParams {
        let mut assign = Assign {
            values: self.queries[query].iter(),
            gradients: GradientsParams::new(),
        };
        model.visit(&mut assign);
        assign.gradients
    }
}

/// Hands flat values back to the parameters, in the order in which the model visits them.
struct Assign<'a> {
    values: std::slice::Iter<'a, Tensor<1>>,
    gradients: GradientsParams,
}

impl ModuleVisitor for Assign<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.is_require_grad()
            && let Some(values) = self.values.next()
        {
            let gradient = values.clone().reshape(param.lazy_shape());
            self.gradients.register::<D>(param.id, gradient);
        }
    }
}
