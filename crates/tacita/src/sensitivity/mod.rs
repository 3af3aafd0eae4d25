//! How far one record can move a sum. All of it must be right for the guarantee; `PROOF.md` beside this
//! file is the argument.
//!
//! | file | what it does |
//! |---|---|
//! | `records.rs` | what is asked of the data and the model: each row and each loss from its own record |
//! | `tape.rs` | collects the contributions of a pass, one per use of a parameter |
//! | `pass_shape.rs` | what the rows of a pass are: samples of one record, or of several |
//! | `pass.rs` | runs a model and refuses any gradient that the tape does not know |
//! | `parameters.rs` | the trainable parameters, and whether each of them is covered |
//! | `checks.rs` | checks on synthetic records, before a session opens, that samples are kept apart |
//! | `places.rs` | the same on a device whose passes have one size: equal bits at every place of a pass |
//! | `gradient/` | bounds of per-sample norms, and sums that one record moves by exactly what it adds |
//! | `grouping.rs` | which parameters are clipped together |
//! | `clipping/` | from norms to factors, and the thresholds |
//! | `rounding.rs` | every rounding constant of the proof |

pub(crate) mod checks;
pub mod clipping;
pub mod gradient;
pub(crate) mod grouping;
pub(crate) mod parameters;
pub(crate) mod pass;
pub(crate) mod pass_shape;
pub(crate) mod places;
pub(crate) mod records;
pub(crate) mod rounding;
pub mod tape;
