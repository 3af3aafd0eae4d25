//! Private federated training as two state machines over messages. There is no network in here, and no tensor: a transport
//! such as Flower carries the bytes, and any program makes the updates.
//!
//! A [`Server`] draws the clients of a round by Poisson sampling from secret coins, checks what they send in whole
//! numbers, adds noise that a certified [`Plan`] decided on, and writes the ledger before any of it. A [`Client`] clips
//! what it is about to send, once, and rounds it to a public grid, so that integer secure aggregation changes nothing.
//!
//! The unit of privacy is one client: everything that its records could contribute. No [`Figure`] is printed without the
//! [`Adversary`] it is about.
//!
//! | module | what it does | for the guarantee |
//! |---|---|---|
//! | `guarantee/` | plan, clipping, sums, noise, rounds; `PROOF.md` | must be right |
//! | `message.rs` | bytes from and to numbers | bounded; what it reads is checked again |
//! | `client.rs`, `server.rs` | the two sides | hand messages to `guarantee/` |
//! | `optimiser.rs`, `checkpoint.rs` | post-processing | – |

mod checkpoint;
mod client;
mod guarantee;
mod message;
mod optimiser;
mod server;

pub use checkpoint::FileError;
pub use client::{Client, ClientError, local_steps};
pub use guarantee::mechanism::MechanismError;
pub use guarantee::{
    Adversary, Asked, Bound, CertifiedPlan, Clip, Committee, Fault, Figure, LEAST_SHARE, NoiseBy,
    Plan, PlanError, Released, Scale, Terms, clipped,
};
pub use message::{MessageError, Order, RunId, Update};
pub use optimiser::{Descent, OptimiserRule};
pub use server::{Server, ServerError};
pub use tacita_mechanism::{KeyError, Keys};

/// Keeps the example of the README running.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
