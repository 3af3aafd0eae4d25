//! A training run, from settings to a folder that holds all there is to publish.
//!
//! ```text
//! Settings (flags, TOML) ─▶ Resolved (data, model, plan) ─▶ training ─▶ RunFolder ─▶ report
//! ```

mod choose_model;
mod defaults;
mod device;
mod diagnose;
mod estimate;
mod evaluate;
mod facts;
mod files;
mod finish;
mod folder;
#[cfg(any(feature = "cuda", test))]
mod full_card;
mod metrics;
mod operator;
mod plain;
mod policies;
mod preset;
mod progress;
pub mod public_start;
mod resolved;
mod same_data;
mod settings;
mod spending;
mod times;
mod train;

pub use choose_model::{FromSet, ModelName, Visitor, with_model};
pub use defaults::{known, known_shape};
pub use device::{device, precision};
pub use diagnose::{Look, diagnose};
pub use estimate::estimate;
pub use files::{lock, make, write_lasting, write_whole};
pub use folder::{Part, PartOfSearch, RUN_RECORD, RunFolder, RunRecord};
pub use operator::Locations;
pub use plain::train_without_privacy;
pub use preset::Preset;
pub use progress::words;
pub use public_start::{PublicStart, StartedFrom};
pub use resolved::{PublicFacts, Resolved, worth_a_step};
pub use settings::Settings;
pub use times::hide_times;
pub use train::{
    Outcome, Output, check_model, look, resume, start, stop_requested, watch_for_stop,
};
