//! Differentially private deep learning: a private step at the cost of an ordinary one.
//!
//! Start reading at [`session`], which is the mechanism; with `tacita-accounting` it is all that an
//! auditor must read. [`Trainer`] is the training loop over it, with an example to copy.
//!
//! | room | what happens there |
//! |---|---|
//! | [`Plan`] | what will be released, certified before it starts |
//! | [`session`] | draw, clip, ledger, noise |
//! | [`layers`], [`tape`] | Burn's layers with per-sample output gradients |
//! | [`gradient`] | norms and weighted sums without per-sample gradients |
//! | [`clipping`] | from norms to factors |
//! | [`noise`] | the only place that draws noise |
//! | [`testkit`] | checks a model or a layer of one's own against a per-sample loop |

mod card;
mod chacha;
mod checkpoint;
mod checks;
pub mod clipping;
#[cfg(feature = "cpu")]
mod cpu;
mod diagnostics;
#[cfg(any(feature = "cpu", feature = "cuda"))]
mod function;
#[cfg(feature = "cuda")]
mod gpu;
pub mod gradient;
#[cfg(any(feature = "cpu", feature = "cuda"))]
mod graph;
mod initial;
mod keys;
pub mod layers;
mod ledger_file;
mod masks;
mod model_file;
pub mod noise;
pub mod ops;
pub mod optim;
mod parameter_values;
mod parameters;
mod pass;
mod plan;
mod precision;
mod records;
mod report;
mod sampling;
mod schedule;
pub mod session;
mod start;
pub mod tape;
pub mod testkit;
mod trainer;

#[cfg(feature = "cuda")]
pub use card::keep_kernels;
pub use checkpoint::{Checkpoint, CheckpointError};
pub use diagnostics::{Clipped, Diagnosis, NOISE_DRAWS, Probe};
pub use keys::{KeyError, Keys};
pub use ledger_file::{
    Binding, LedgerFileError, LedgerLabel, LedgerRecord, SearchKind, SearchOfRun,
    bind_file_to_ledger, mark_ledger_as_published, read_ledger_file,
};
pub use model_file::{load_model, save_model};
pub use parameters::{CoverageError, Parameter, Parameters};
pub use pass::PassError;
pub use plan::{Budget, CheckedPlan, Claim, Clipping, PaperAccountant, Plan, PlanError};
pub use records::{PrivateModel, Records};
pub use report::Report;
pub use sampling::{Sample, SamplingError};
pub use schedule::{NoiseDecay, NoiseSchedule};
pub use session::{
    Bounded, MicroBatch, Noisy, OpenRound, Opening, Session, SessionError, SessionOptions,
    Statistic,
};
pub use start::{StartError, Started, start_from};
pub use trainer::{Progress, TrainError, Trained, Trainer};

/// Keeps the example of the project's README running.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Keeps the examples of the book's page on policies running.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/policies.md")]
struct Policies;
