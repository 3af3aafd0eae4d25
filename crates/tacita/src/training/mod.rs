//! What is done with released values: post-processing, which cannot weaken the guarantee.
//!
//! Two files look at raw values, for those who train without privacy or test: `diagnostics.rs`, whose runs are
//! marked NOT PRIVATE, and `testkit.rs`.

pub(crate) mod checkpoint;
pub(crate) mod diagnostics;
pub(crate) mod model_file;
pub mod optim;
pub(crate) mod parameter_values;
pub(crate) mod policy_names;
pub(crate) mod report;
pub mod testkit;
pub(crate) mod trainer;
pub(crate) mod weights_from_file;
