//! Certified differential-privacy accounting: what a ledger of noisy releases costs.
//!
//! A [`Ledger`] lists what a mechanism released: rounds of Gaussian noise over sampled records. An
//! [`Accountant`] reads it, and its [`Reading`] says how strongly a figure may be stated: a
//! bracket with both ends proved, an upper bound, or an estimate that guarantees nothing. No
//! tensors, no randomness; the crate is useful alone.
//!
//! # Which accountant
//!
//! | accountant | reading | treats |
//! |---|---|---|
//! | [`Pld`] | proved bracket, 1e-4 wide | Poisson, full batch; units of several records |
//! | [`Rdp`] | proved upper bound, 10–60 % high | also fixed-size (replace-one) and partition |
//! | [`Tcdp`] | proved upper bound, just above `Rdp` | as `Rdp` |
//! | [`Zcdp`] | proved upper bound, no amplification | as `Rdp` |
//! | [`Gdp`] | estimate by a limit theorem; exact for full batches | Poisson, full batch, partition |
//!
//! A round that an accountant has no proof for is refused by name.
//!
//! # A run's ε
//!
//! ```
//! use tacita_accounting::{Accountant, Gdp, Ledger, Neighbours, Pld, Rdp, Round, Sampling};
//!
//! // 10 epochs over 60 000 records with an expected batch of 512.
//! let sampling = Sampling::Poisson { rate: 512.0 / 60_000.0 };
//! let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
//! ledger.push(Round::new(sampling, vec![1.0])?.times(1172))?;
//!
//! let proved = Pld::default().epsilon(&ledger, 1e-5)?.upper_bound();
//! assert!(proved.is_some_and(|epsilon| epsilon < 1.6624));
//! // Rényi divergences pay 16 % for being simpler …
//! let simpler = Rdp.epsilon(&ledger, 1e-5)?.upper_bound();
//! assert!(simpler.is_some_and(|epsilon| epsilon > 1.92));
//! // … and the limit theorem claims less than the truth, so it is no bound.
//! assert!(Gdp.epsilon(&ledger, 1e-5)?.upper_bound().is_none());
//! # Ok::<(), tacita_accounting::AccountError>(())
//! ```
//!
//! # Noise for a budget
//!
//! ```
//! use tacita_accounting::calibrate::{Budget, Shape, smallest_noise};
//! use tacita_accounting::{Pld, Sampling};
//!
//! let shape = Shape::constant(Sampling::Poisson { rate: 0.01 }, 1000);
//! let found = smallest_noise(&shape, Budget::new(1.0, 1e-5)?, &Pld::default())?;
//! assert!(found.epsilon.upper_bound().is_some_and(|epsilon| epsilon <= 1.0));
//! # Ok::<(), tacita_accounting::AccountError>(())
//! ```
//!
//! # Side queries, schedules, units
//!
//! ```
//! use tacita_accounting::{Accountant, Ledger, Neighbours, Pld, Round, Sampling};
//!
//! // One batch, two noisy answers: one round, amplified once. Noise falls over the run. A user
//! // owns up to three records.
//! let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne).with_records_per_unit(3)?;
//! for noise_multiplier in [3.0, 2.5, 2.0] {
//!     let queries = vec![noise_multiplier, 10.0 * noise_multiplier];
//!     ledger.push(Round::new(Sampling::Poisson { rate: 0.001 }, queries)?.times(500))?;
//! }
//! let epsilon = Pld::default().epsilon(&ledger, 1e-6)?;
//! assert!(epsilon.upper_bound().is_some_and(|epsilon| epsilon < 1.0));
//! # Ok::<(), tacita_accounting::AccountError>(())
//! ```
//!
//! # Fixed-size batches
//!
//! The multiplier is the noise over the sensitivity *in the ledger's relation*: 2C for gradients
//! clipped to C under replace-one.
//!
//! ```
//! use tacita_accounting::{Accountant, Ledger, Neighbours, Pld, Rdp, Round, Sampling};
//!
//! let sampling = Sampling::FixedSize { batch: 512, of: 60_000 };
//! let mut ledger = Ledger::new(Neighbours::ReplaceOne);
//! ledger.push(Round::new(sampling, vec![1.0])?.times(1172))?;
//! assert!(Rdp.epsilon(&ledger, 1e-5)?.upper_bound().is_some());
//! // Poisson figures must not be used for other samplers: the others refuse.
//! let refusal = Pld::default().epsilon(&ledger, 1e-5);
//! assert!(refusal.is_err_and(|error| error.to_string().contains("fixed-size")));
//! # Ok::<(), tacita_accounting::AccountError>(())
//! ```
//!
//! # Noise-decay baselines
//!
//! ```
//! use tacita_accounting::{Accountant, Ledger, Neighbours, Round, Sampling, Tcdp, Zcdp};
//!
//! // Yu et al. 2019: an epoch over disjoint batches costs one round (parallel composition).
//! let mut epochs = Ledger::new(Neighbours::AddOrRemoveOne);
//! // The tCDP baseline counts sampled rounds.
//! let mut rounds = Ledger::new(Neighbours::AddOrRemoveOne);
//! for epoch in 0..20 {
//!     let noise = vec![12.0 * 0.98_f64.powi(epoch)];
//!     epochs.push(Round::new(Sampling::Partition { batches: 240 }, noise.clone())?)?;
//!     rounds.push(Round::new(Sampling::Poisson { rate: 1.0 / 240.0 }, noise)?.times(240))?;
//! }
//! let zcdp = Zcdp.epsilon(&epochs, 1e-5)?.upper_bound();
//! let tcdp = Tcdp::by_theorem().epsilon(&rounds, 1e-5)?.upper_bound();
//! assert!(zcdp.is_some_and(|epsilon| epsilon < 3.0));
//! assert!(tcdp.is_some_and(|epsilon| epsilon < 1.0));
//! # Ok::<(), tacita_accounting::AccountError>(())
//! ```
//!
//! # Also here
//!
//! * [`calibrate`]: the least noise of any shape, the most steps, the steps left of a run.
//! * [`CltSchedule`]: the growing-μ schedule as its paper calibrates it, to set beside the truth.
//! * [`RandomRuns`] and [`whole_grid`]: what choosing among runs costs.
//! * [`RunSize`]: sampling rate and steps of a run from its records, batch and epochs.
//! * [`decimal`]: bounds as text, rounded outward.
//! * [`RdpFilter`]: for runs whose length or noise is decided as they go.
//!
//! Noise sampling in floating point can leak too; no accountant covers that.

mod accountant;
pub mod calibrate;
mod clt;
pub mod decimal;
mod effort;
mod filter;
mod gaussian;
mod gdp;
mod ledger;
mod pld;
mod rdp;
mod run_size;
mod search;
mod shared_work;
mod special;
mod tcdp;
mod tuning;
mod zcdp;

pub use accountant::{AccountError, Accountant, Reading, check_delta, check_epsilon};
pub use clt::{CltSchedule, FirstStep};
#[doc(hidden)]
pub use effort::Effort;
pub use filter::{FilterError, RdpFilter};
pub use gdp::{Gdp, GdpMu, delta_of_mu, epsilon_of_mu, mu_of_budget};
pub use ledger::{Ledger, LedgerError, Neighbours, Round, Sampling};
pub use pld::Pld;
pub use rdp::{Rdp, RdpCurve};
pub use run_size::{Length, RunSize, RunSizeError};
pub use shared_work::SharedWork;
pub use tcdp::{Tcdp, TcdpParameters};
pub use tuning::{RandomRuns, whole_grid};
pub use zcdp::Zcdp;

/// Keeps the README's example running.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
