//! The mechanism: what may be released, in which order, and nothing else.
//!
//! ```text
//! Session ──open_round──▶ OpenRound ──clip──▶ Bounded ──────────────▶ release ──▶ Noisy
//!                         (a round)           (drawn, clipped, summed)            (ledger first, then noise)
//! ```
//!
//! An [`Opening`] holds the plan, the keys and the ledger, and may release statistics of the records
//! that prepare the data; then a [`Session`] trains one model by the plan. Each release is a *round* of the
//! plan's ledger: statistics first, then one round for each training *step*, then scores.
//! [`Session::open_round`] begins the round of the next step; [`OpenRound::clip`] draws its records and makes
//! sums whose sensitivity is known; [`OpenRound::release`] writes the ledger, draws noise and returns [`Noisy`]
//! values, which have no other source. A [`Bounded`] value borrows the session for as long as its round
//! lives, so a stale one cannot be released:
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
//! and one of another session, if both are alive, is refused when it is released: see
//! [`OpenRound::release`]. Clipped sums cannot be copied out of their round:
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
//! # use tacita::Noisy;
//! fn forge(other: Noisy) -> Noisy {
//!     Noisy { step: 0, ..other }
//! }
//! ```

mod error;
mod exact_sum;
mod noisy;
mod opening;
mod passes;
mod round;
mod told;

pub use error::SessionError;
pub use noisy::Noisy;
pub use opening::{Opening, Statistic};
pub use round::{Bounded, OpenRound};

use crate::compute::backend::Precision;
use crate::compute::backend::is_gpu;
use crate::mechanism::keys::Keys;
use crate::mechanism::ledger_file::LedgerLabel;
use crate::mechanism::masks::Masks;
use crate::mechanism::noise::{NoiseHardening, missing_tail_delta};
use crate::mechanism::plan::{CheckedPlan, TAIL_SHARE};
use crate::mechanism::ranks::Ranks;
use crate::mechanism::sampling::{PoissonSampler, RecordChoice, Units};
use crate::sensitivity::checks::{self, Checked};
use crate::sensitivity::clipping::{
    Clipper, Groups, MOST_SHARE, RoundingsByRecords, SideQuery, ThresholdState, ThresholdTracker,
    largest_share,
};
use crate::sensitivity::gradient::Performance;
use crate::sensitivity::parameters::{Parameter, Parameters};
use crate::sensitivity::places::{Made, check_places};
use crate::sensitivity::records::{PrivateModel, Records};
use burn::tensor::Device;
use opening::MOST_STATISTIC_VALUES;
use passes::{Pass, Passes};
use std::path::Path;
use std::sync::Arc;
use tacita_accounting::{Ledger, Reading};

/// A run of one certified plan on one model.
pub struct Session {
    opening: Opening,
    parameters: Parameters,
    clipper: Clipper,
    thresholds: ThresholdTracker,
    sampler: PoissonSampler,
    passes: Passes,
    precision: Precision,
    on_gpu: bool,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (next, steps) = (self.next_step(), self.plan().steps());
        write!(f, "Session(step {next} of {steps})")
    }
}

/// Bytes that the records of one pass may take in the computer's memory, and on a GPU.
const HOST_BYTES: usize = 1 << 30;
const GPU_BYTES: usize = 8 << 30;

/// How a logical batch is cut to fit memory. The result does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MicroBatch {
    /// As many records at a time as 1 GiB of activations and gradients allow, 8 GiB on a GPU.
    #[default]
    Automatic,
    /// As many records at a time as this many bytes of activations and gradients allow.
    Memory(usize),
    /// So many records at a time.
    Records(usize),
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
    /// How a GPU rounds in the forward and backward pass.
    pub precision: Precision,
}

/// Records of a unit that take part in a step, at most. What the plan promises and what the records are must agree.
fn most_records<D: Records>(plan: &CheckedPlan, records: &D) -> Result<usize, SessionError> {
    match (plan.records_per_unit(), records.units()) {
        (None, None) => Ok(1),
        (Some(most), Some(_)) => Ok(most as usize),
        (None, Some(_)) => Err(SessionError::UnitsNotPlanned),
        (Some(_), None) => Err(SessionError::UnitsUnknown),
    }
}

fn largest_share_of_any(roundings: &RoundingsByRecords) -> f64 {
    let shares = roundings.values().map(|groups| largest_share(groups));
    shares.fold(0.0, f64::max)
}

impl Session {
    /// Starts a run whose ledger is the new file `ledger`. The model is checked first, on synthetic
    /// records, so that a model that is refused leaves no file; an existing file is refused.
    pub fn create<D: Records, M: PrivateModel<D::Batch>>(
        plan: CheckedPlan,
        keys: Keys,
        ledger: &Path,
        model: &M,
        records: &D,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        Self::open_in_memory(plan, keys, model, records, options)?.into_new_file(ledger)
    }

    /// Moves the ledger, which has no round yet, from memory to a new file.
    pub(crate) fn into_new_file(mut self, path: &Path) -> Result<Self, SessionError> {
        self.opening = self.opening.into_new_file(path, LedgerLabel::default())?;
        Ok(self)
    }

    /// The same with a file that exists: its rounds are spent.
    pub(crate) fn into_existing_file(mut self, path: &Path) -> Result<Self, SessionError> {
        self.opening = self.opening.into_existing_file(path)?;
        Ok(self)
    }

    /// Resumes after the last round of an existing ledger, with fresh keys. Rounds that the ledger holds
    /// are spent, whether or not their result was saved; they are not repeated.
    pub fn resume<D: Records, M: PrivateModel<D::Batch>>(
        plan: CheckedPlan,
        keys: Keys,
        ledger: &Path,
        model: &M,
        records: &D,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        Self::open_in_memory(plan, keys, model, records, options)?.into_existing_file(ledger)
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
        Self::begin(Opening::in_memory(plan, keys), model, records, options)
    }

    /// Trains a model with what was opened. The model is checked first, on synthetic records.
    pub fn begin<D: Records, M: PrivateModel<D::Batch>>(
        opening: Opening,
        model: &M,
        records: &D,
        options: SessionOptions,
    ) -> Result<Self, SessionError> {
        let on_gpu = model.devices().iter().any(is_gpu);
        let ranks = opening.ranks().clone();
        ranks.agreed(Self::begin_with(opening, model, records, options, on_gpu))
    }

    /// The same with passes of one size, or of as many rows as records are drawn.
    pub(crate) fn begin_with<D: Records, M: PrivateModel<D::Batch>>(
        opening: Opening,
        model: &M,
        records: &D,
        options: SessionOptions,
        one_size: bool,
    ) -> Result<Self, SessionError> {
        let plan = opening.plan();
        let parameters = Parameters::of(model)?;
        let groups = Groups::new(&plan.clipping().grouping, &parameters)?;
        let ranks = opening.ranks();
        let most_records = most_records(plan, records)?;
        let count = records
            .units()
            .map_or_else(|| records.count(), Units::count);
        // The records of other ranks are numbered in turn with these.
        let sampler = PoissonSampler::new(plan.rate(), count * ranks.size())?;
        let sizes = match one_size {
            true => Passes::of_one_size(plan.expected_batch(), plan.rate(), 1),
            false => Passes::as_drawn(plan.expected_batch(), 1),
        };
        let sizes = sizes.of_units(most_records).records_of_samples();
        let Checked {
            bytes_per_record,
            roundings,
        } = checks::check_model(model, records, &parameters, &groups, &sizes)?;
        let share = largest_share_of_any(&roundings);
        if share > MOST_SHARE {
            return Err(SessionError::RoundingTooLarge {
                percent: share * 100.0,
                most: MOST_SHARE * 100.0,
            });
        }
        let on_gpu = model.devices().iter().any(is_gpu);
        let micro_batch = match options.micro_batch {
            MicroBatch::Memory(bytes) => bytes / bytes_per_record.max(1),
            MicroBatch::Automatic => {
                let bytes = if on_gpu { GPU_BYTES } else { HOST_BYTES };
                bytes / bytes_per_record.max(1)
            }
            MicroBatch::Records(count) => count,
        };
        let passes = match one_size {
            true => {
                let share = plan.expected_batch() / ranks.size() as f64;
                Passes::of_one_size(share, plan.rate(), micro_batch)
            }
            // As of one process, because how a gradient is computed goes by it, and with it how it is rounded.
            false => Passes::as_drawn(plan.expected_batch(), micro_batch),
        };
        let passes = passes.of_units(most_records);
        if one_size {
            for records_of_sample in passes.records_of_samples() {
                let made = Made {
                    samples: passes.samples_of_one_size(records_of_sample),
                    records: records_of_sample,
                    performance: options.performance,
                    precision: options.precision,
                };
                check_places(model, records, &groups, made)?;
            }
        }
        let clipping = plan.clipping();
        let thresholds = clipping.threshold.clone();
        let thresholds = ThresholdTracker::new(thresholds, plan.steps(), groups.shares());
        Ok(Self {
            clipper: Clipper {
                groups,
                rule: clipping.rule,
                side_query: SideQuery::of(&clipping.threshold),
                performance: options.performance,
                usual_batch: passes.usual_batch(),
                roundings: Some(roundings),
            },
            opening: opening.hardened(options.hardening),
            parameters,
            thresholds,
            sampler,
            passes,
            precision: options.precision,
            on_gpu,
        })
    }

    /// The certified plan.
    pub fn plan(&self) -> &CheckedPlan {
        self.opening.plan()
    }

    /// The next training step, from 0: rounds made, less those of statistics. After the last step it is the
    /// number of steps.
    pub fn next_step(&self) -> u64 {
        let rounds = self.opening.next_round();
        rounds
            .saturating_sub(self.plan().statistics())
            .min(self.plan().steps())
    }

    /// Whether keys came from the operating system and nothing raw is shown. If not, nothing
    /// downstream is private.
    pub fn is_private(&self) -> bool {
        self.opening.is_private()
    }

    /// Why the run is not private; empty if it is.
    pub fn why_not_private(&self) -> Vec<&'static str> {
        self.opening.keys().why_not_private()
    }

    /// Whether the model lies on a GPU, of which more is checked and less is proved: see
    /// [`Report::GPU_CAVEAT`](crate::Report::GPU_CAVEAT).
    pub(crate) fn on_gpu(&self) -> bool {
        self.on_gpu
    }

    /// The trainable parameters, in the order in which released values come.
    pub fn parameters(&self) -> &[Parameter] {
        self.parameters.list()
    }

    /// The clipping threshold of each group in the next step: public, since it depends on the plan
    /// and on released values only.
    pub fn thresholds(&self) -> Vec<f64> {
        self.thresholds.thresholds(self.next_step())
    }

    /// The passes over some units, or over records where each is a unit of its own: at most as many records of each
    /// as the plan has, drawn for the next step.
    pub(crate) fn passes<'a, D: Records>(&self, records: &D, units: &'a [usize]) -> Vec<Pass<'a>> {
        let Some(known) = records.units() else {
            return self.passes.over(units).collect();
        };
        let most = self.plan().records_per_unit().unwrap_or(1) as usize;
        let choice = RecordChoice::new(self.opening.keys(), self.next_step(), most);
        let chosen = units.iter().map(|unit| choice.of(known.records(*unit)));
        self.passes.over_units(chosen.collect())
    }

    /// The masks that dropout takes in the next step for some records of this rank.
    pub(crate) fn masks(&self, indices: &[usize]) -> Masks {
        let ranks = self.opening.ranks();
        let numbers: Vec<usize> = (indices.iter()).map(|own| ranks.number_of(*own)).collect();
        Masks::of_step(self.opening.keys(), self.next_step(), &numbers)
    }

    /// The processes that train together, of which this is one.
    pub fn ranks(&self) -> &Arc<dyn Ranks> {
        self.opening.ranks()
    }

    /// Values of each parameter.
    fn sizes(&self) -> Vec<usize> {
        self.parameters().iter().map(Parameter::elements).collect()
    }

    pub(crate) fn clipper(&self) -> &Clipper {
        &self.clipper
    }

    /// How much of the clipping threshold is set aside for rounding contributions to the grid on which they
    /// are summed, at most: gradients are clipped so much below it. Depends on the model's shapes alone.
    pub fn rounding_share(&self) -> f64 {
        self.clipper
            .roundings
            .as_ref()
            .map_or(0.0, largest_share_of_any)
    }

    /// Records of one pass at most: a larger draw is cut, and on a GPU a smaller one is filled up. Public,
    /// since it depends on the plan, the model and the options only.
    pub fn micro_batch(&self) -> usize {
        self.passes.most_rows()
    }

    /// Rows of every pass if all have one size, as on a GPU. Only for passes of this size was it checked that a
    /// record has the same bits among any others, so a score of private records is made of such passes too.
    pub fn pass_of_one_size(&self) -> Option<usize> {
        self.passes.one_size()
    }

    /// What the threshold policy has learned, for a checkpoint.
    pub fn threshold_state(&self) -> ThresholdState {
        self.thresholds.state()
    }

    /// Restores what the threshold policy had learned at a checkpoint.
    pub fn restore_thresholds(
        &mut self,
        state: &ThresholdState,
        device: &Device,
    ) -> Result<(), SessionError> {
        match self.thresholds.restore(state, &self.sizes(), device) {
            true => Ok(()),
            false => Err(SessionError::OtherThresholds),
        }
    }

    /// Resumes from a checkpoint made after `step` steps.
    ///
    /// The ledger must not be behind it. In a private run the rounds that the ledger holds beyond it stay
    /// spent; with a fixed seed they are made again, with the same result as an unbroken run.
    pub fn resume_from(&mut self, step: u64) -> Result<(), SessionError> {
        let round = self.plan().statistics() + step;
        if self.opening.next_round() < round {
            return Err(SessionError::LedgerBehind {
                ledger: self.next_step(),
                checkpoint: step,
            });
        }
        if self.opening.keys().is_fixed_seed() {
            self.opening.rewind(round);
        }
        Ok(())
    }

    /// The certified ε of the whole plan: the guarantee.
    ///
    /// A millionth of δ pays for the tail that the noise generator cannot reach. Where that is not
    /// enough, which takes an ε above 40, there is no guarantee: the bound is infinite.
    pub fn epsilon(&self) -> Reading {
        let plan = self.plan();
        // Four normals a value in the hardened mode.
        let values = self.parameters.elements() as u64 * plan.queries() as u64;
        let others = (plan.statistics() + plan.scores()).saturating_mul(MOST_STATISTIC_VALUES);
        let normals = values.saturating_mul(plan.steps()).saturating_add(others);
        let epsilon = plan.epsilon();
        let upper = epsilon.upper_bound().unwrap_or(f64::INFINITY);
        if missing_tail_delta(normals.saturating_mul(4), upper) <= TAIL_SHARE * plan.delta() {
            epsilon
        } else {
            Reading::UpperBound(f64::INFINITY)
        }
    }

    /// What has been recorded so far.
    pub fn ledger(&self) -> Ledger {
        self.opening.ledger()
    }

    /// Opens the round of the next step. Nothing is drawn yet: [`OpenRound::clip`] draws.
    pub fn open_round(&mut self) -> Result<OpenRound<'_>, SessionError> {
        let plan = self.opening.plan();
        if self.opening.next_round() < plan.statistics() {
            return Err(SessionError::StatisticsFirst);
        }
        if self.next_step() >= plan.steps() {
            return Err(SessionError::Finished {
                steps: plan.steps(),
            });
        }
        OpenRound::new(self)
    }

    /// Releases a score of the model on some private records: the sum of one vector of `length` values per record,
    /// with noise; the plan must ask for it ([`Plan::score`](crate::Plan::score)).
    ///
    /// With 1 in the cell that a record enters and 0 elsewhere the sums are a histogram: counts of right and wrong
    /// answers, say. A record that enters m cells has 1/√m in each. Sums may be negative.
    ///
    /// # Guarantee
    /// That of [`Opening::statistic`]: one record moves the sums by at most 1, whatever its vector. A vector may depend
    /// on its own record only; on a GPU this asks for passes of one size ([`Session::pass_of_one_size`]).
    pub fn score(
        &mut self,
        length: usize,
        records: impl Iterator<Item = Vec<f64>>,
    ) -> Result<Statistic, SessionError> {
        let plan = self.opening.plan();
        if self.opening.next_round() < plan.statistics() + plan.steps() {
            return Err(SessionError::StepsFirst {
                next: self.next_step(),
                steps: plan.steps(),
            });
        }
        self.opening.release_sum(length, records.map(Ok))
    }

    /// Ends the run: reserved rounds that were never made are given back.
    pub fn close(self) -> Result<Ledger, SessionError> {
        self.opening.close()
    }
}
