//! Runs that fine-tune a pre-trained model: its folder, what of it is trained, and the model at work.

mod base;
mod cached;

pub use base::PretrainedBase;
