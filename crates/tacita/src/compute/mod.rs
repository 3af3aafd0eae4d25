//! Forward and backward passes. For the guarantee this module must only keep samples apart: norms bound
//! what is summed, so a wrong gradient of a layer cannot break privacy (`sensitivity/PROOF.md`, §4). The exception
//! is marked in `backend/`, the one door to the hardware: it also has the kernels of norms and sums, whose results
//! the proof is about.

pub(crate) mod backend;
pub(crate) mod flat;
pub mod layers;
