//! Differentially private deep learning: training whose result provably gives away next to nothing about
//! any one record, at about the cost of ordinary training.
//!
//! # Example
//!
//! ```
//! use burn::module::Module;
//! use burn::tensor::{Device, Tensor};
//! use tacita::layers::{Linear, LinearConfig};
//! use tacita::optim::OptimizerRule;
//! use tacita::{Budget, Plan, PrivateModel, Records, Trainer};
//!
//! // The data: how many records there are, and how a batch of them is made.
//! struct Points(Vec<[f32; 2]>);
//! impl Records for Points {
//!     type Batch = Tensor<2>;
//!     fn count(&self) -> usize {
//!         self.0.len()
//!     }
//!     fn batch(&self, indices: &[usize], device: &Device) -> Tensor<2> {
//!         let rows: Vec<f32> = indices.iter().flat_map(|index| self.0[*index]).collect();
//!         Tensor::<1>::from_floats(rows.as_slice(), device).reshape([indices.len(), 2])
//!     }
//!     fn synthetic(&self, seeds: &[u64], device: &Device) -> Tensor<2> {
//!         let rows: Vec<f32> = seeds.iter().flat_map(|seed| [(*seed as f32).sin(), 1.0]).collect();
//!         Tensor::<1>::from_floats(rows.as_slice(), device).reshape([seeds.len(), 2])
//!     }
//! }
//!
//! // The model: Tacita's layers in place of Burn's, and one loss per record.
//! #[derive(Module, Debug)]
//! struct Model {
//!     linear: Linear,
//! }
//! impl PrivateModel<Tensor<2>> for Model {
//!     fn losses(&self, batch: Tensor<2>) -> Tensor<1> {
//!         self.linear.forward(batch).square().sum_dim(1).squeeze_dim(1)
//!     }
//! }
//!
//! let records = Points((0..1000).map(|i| [(i as f32).cos(), 1.0]).collect());
//! let plan = Plan::new(Budget::new(3.0, 1e-5))
//!     .public_record_count(1000)
//!     .expected_batch(50)
//!     .epochs(1.0)
//!     .calibrate()?; // the least noise that is certified to keep the budget
//! let device = Device::default();
//! let model = Model { linear: LinearConfig::new(2, 1).init(&device.clone().autodiff()) };
//! let trained = Trainer::new(plan, OptimizerRule::heavy_ball(0.9), 0.1).fit(model, &records, &device)?;
//! assert!(trained.report.epsilon_upper <= 3.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # One private step
//!
//! ```text
//! Session::open_round    the next round of the certified plan
//! OpenRound::clip        draws records: each takes part with the plan's probability, independently
//!   Records::batch         their rows
//!   PrivateModel::losses   one loss per record; layers note how their gradients are made (tape)
//!   norms                  upper bounds of ‖gᵢ‖ from factored gradients, rounding included (gradient)
//!   factors                cᵢ ‖gᵢ‖ ≤ C (clipping)
//!   sums                   Σ cᵢ gᵢ in integers on a public grid: one record moves them by at most C
//! OpenRound::release     writes the ledger, then draws noise and returns Noisy values (noise)
//! Optimizer::step        moves the model by released values alone (optim)
//! ```
//!
//! # Where to read
//!
//! The source has four folders. The first two, with `tacita-accounting` and the norms and sums of
//! `tacita-kernels`, are what an auditor must read.
//!
//! | folder | public names | for the guarantee |
//! |---|---|---|
//! | `mechanism/` | [`Plan`], [`session`], [`ranks`], [`noise`], [`Keys`], the ledger file | must be right |
//! | `sensitivity/` | [`Records`], [`tape`], [`gradient`], [`clipping`] | must be right; `PROOF.md` is the argument |
//! | `compute/` | [`layers`], [`ops`] | must only keep samples apart: a wrong gradient cannot break privacy |
//! | `training/` | [`Trainer`], [`optim`], [`Checkpoint`], [`Report`], [`testkit`] | post-processing |
//!
//! Start at [`session`], which is the mechanism, or at [`Trainer`], the training loop over it.
//!
//! # Features
//!
//! - **Exact per-sample clipping at the cost of a plain step**, without per-sample gradients where a cheaper way
//!   exists, for every layer in [`layers`] and for layers of your own ([`tape::Rule`]).
//! - **A budget that cannot be forgotten**: [`Noisy`] values come from [`OpenRound::release`] alone, and it writes
//!   the ledger first.
//! - **Policies as independent values**: clipping rule, grouping, threshold, noise schedule, optimiser, learning rate.
//! - **Several processes, one run**: sums over [`ranks`] are exact, so their number changes nothing; `tacita` starts them with MPI.
//! - **The unit may be a person** with several records: a step draws people, bounds how many records of each take part,
//!   and clips each person's gradient once ([`Plan::records_per_unit`]).
//! - **Refusals before the first step**: a parameter that is not covered, or a model that mixes records, is an error
//!   that names the culprit.
//!
//! It does not do these things:
//!
//! - Batch normalisation and other layers that mix records: there is no per-sample gradient to clip.
//! - Privacy of preprocessing, of settings that were tried on the same data, or of how long a program ran.
//!
//! # Cargo features
//!
//! | feature | |
//! |---|---|
//! | `cpu` (default) | Burn's pure-Rust CPU backend, with the kernels of `tacita-kernels` |
//! | `cuda` | NVIDIA GPUs, with kernels of our own |
//! | `wgpu` | Burn's WebGPU backend; untested |
//!
//! # Further reading
//!
//! The [book](https://github.com/tacita-dp/tacita/tree/main/docs/src) has a tutorial, policies, pitfalls and the
//! threat model; `examples/` has whole programs; `tacita-accounting` is useful alone.

mod compute;
mod mechanism;
mod sensitivity;
mod training;

pub use compute::backend::ops;
pub use compute::layers;
pub use mechanism::{noise, ranks, session};
pub use sensitivity::{clipping, gradient, tape};
pub use training::{optim, testkit};

pub use compute::backend::keep_kernels;
pub use mechanism::account::{
    Account, AccountError, AccountStanding, AccountTotal, Reservation, ReservedRelease, Room,
};
pub use mechanism::fresh_key::{KeyError, identifier};
pub use mechanism::keys::Keys;
pub use mechanism::ledger_file::{
    AccountOfRun, Binding, LedgerFileError, LedgerLabel, LedgerRecord, SealedCanaries, SearchKind,
    SearchOfRun, bind_file_to_ledger, mark_ledger_as_published, read_ledger_file,
    take_over as take_over_ledger,
};
pub use mechanism::plan::{
    Budget, CheckedPlan, Claim, Clipping, PaperAccountant, Plan, PlanError, TAIL_SHARE,
};
pub use mechanism::sampling::{SamplingError, Units};
pub use mechanism::schedule::{NoiseDecay, NoiseSchedule};
pub use mechanism::search::{SearchCertificate, SearchDraw, SearchError};
pub use mechanism::session::{
    Bounded, MicroBatch, Noisy, OpenRound, Opening, Session, SessionError, SessionOptions,
    Statistic,
};
pub use sensitivity::parameters::{CoverageError, Parameter, Parameters};
pub use sensitivity::pass::PassError;
pub use sensitivity::records::{PrivateModel, ReadRecords, Records, UnreadableRecords};
pub use training::checkpoint::{Checkpoint, CheckpointError};
pub use training::diagnostics::{Clipped, Diagnosis, NOISE_DRAWS, Probe};
pub use training::model_file::{load_model, save_model};
pub use training::policy_names::PolicyNameError;
pub use training::report::Report;
pub use training::trainer::{Progress, TrainError, Trained, Trainer};
pub use training::weights_from_file::{StartError, Started, start_from};

/// Keeps the example of the project's README running.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Keeps the example of this crate's README running.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeOfCrate;

/// Keeps the examples of the book's page on policies running.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/reference/policies.md")]
struct Policies;
