//! What must be right for the guarantee; `PROOF.md` is the argument.
//!
//! | file | what it does |
//! |---|---|
//! | `plan.rs` | decides and certifies what will be released |
//! | `adversary.rs` | says what is promised, and against whom |
//! | `bound.rs` | how long a client's vector of whole numbers may be |
//! | `clip.rs` | makes such a vector of an update |
//! | `sum.rs` | adds vectors up |
//! | `committee.rs` | noise in shares, for use under secure aggregation |
//! | `mechanism.rs` | one round: ledger, draw, sum, noise, in the only order there is |

pub(crate) mod adversary;
pub(crate) mod bound;
pub(crate) mod clip;
pub(crate) mod committee;
pub(crate) mod mechanism;
pub(crate) mod plan;
pub(crate) mod sum;

pub use adversary::{Adversary, Figure};
pub use bound::Bound;
pub use clip::{Clip, clipped};
pub use committee::{Committee, LEAST_SHARE, NoiseBy};
pub use mechanism::{Asked, Fault, Released};
pub use plan::{CertifiedPlan, Plan, PlanError, Scale, Terms};
