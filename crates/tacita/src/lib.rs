//! Tacita: differentially private deep learning. Start reading at [`session`].

pub mod gradient;
pub mod layers;
pub mod tape;
