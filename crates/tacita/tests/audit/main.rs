//! The canary audit: noise, shift and sampling of every policy, measured on what a session releases.
//!
//! Every record owns coordinates of the model, in which no other has a gradient, so one run gives a sample of
//! "noisy sum with and without the record" for each of its records and steps.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod canaries;
mod layers;
mod marks;
mod networks;
mod oracle;
mod policies;
mod run;
mod sampling;
mod side;
mod tally;
