//! A training run, from settings to a folder that holds all there is to publish.
//!
//! ```text
//! Settings ─▶ Source ─▶ PublicFacts ─▶ PlannedRun ─▶ RunFolder ─▶ Outcome
//! ```
//!
//! | stage | file | what it is |
//! |---|---|---|
//! | [`Settings`] | `settings/` | flags and TOML, checked as they are read; presets and defaults |
//! | `Source` | `settings/source.rs` | where the records come from (a type of the data-set crate), opened or not |
//! | [`PublicFacts`] | `public_facts.rs` | what a plan must know of them, from the open source or from declarations alone |
//! | [`PlannedRun`] | `planned_run/` | every setting known, the plan certified |
//! | [`RunFolder`] | `run_folder/` | the folder, and the record that a run can be resumed from |
//! | [`Outcome`] | `training.rs` | training, then `score.rs` (a release), `describe.rs` and `save.rs` |
//!
//! Everyone takes this road: [`train`] all of it (`new_run.rs`), [`resume`] from a folder that is there
//! (`resumed_run.rs`), [`dry_run`] up to the planned run. Models are used through [`Workbench`], whatever their types.

mod cached_features;
pub mod canaries;
mod course;
mod describe;
mod dry_run;
mod estimate;
mod evaluate;
pub mod guard_rails;
pub mod initial_weights;
mod metrics;
mod new_run;
mod open_run;
mod other_way;
mod outcome;
mod planned_run;
mod progress;
mod public_facts;
pub mod reserve;
mod resumed_run;
mod run_folder;
mod same_data;
mod save;
mod score;
mod settings;
mod spending;
mod stop;
mod training;
mod workbench;
mod workbench_of_run;

pub use dry_run::{DryRun, dry_run};
pub use estimate::Estimate;
pub use evaluate::{evaluate, mean};
pub use initial_weights::InitialWeights;
pub use new_run::{train, train_over};
pub use other_way::OtherWay;
pub use outcome::{Outcome, Output};
pub use planned_run::{Committed, DraftRun, PlannedRun, check_noise_leaves_a_signal};
pub use progress::words;
pub use public_facts::{DeclaredFacts, PublicFacts};
pub use resumed_run::{Resumption, prepared_as_before, resume, resume_over};
pub use run_folder::{Locations, Part, PartOfSearch, RunFolder, RunRecord, StartedFrom};
pub use settings::{Preset, Settings, show_hints};
pub use stop::{stop_requested, watch_for_stop};
pub use workbench::{TrainedBench, Workbench, begun_workbench, workbench};
pub use workbench_of_run::fine_tuned;
