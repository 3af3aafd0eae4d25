//! What a run says of itself: everything in a report that is not computed.
//!
//! There is deliberately no field for a loss, a norm, a time or a realised batch size.

pub use super::about_run::AboutRun;
pub use super::account_facts::AccountFacts;

use crate::utility::Utility;
use serde::{Deserialize, Serialize};
use tacita_accounting::Ledger;

/// The only format there is.
pub const FORMAT: u32 = 1;

/// The facts of one run, stored as `facts.json` in its folder. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// [`FORMAT`].
    pub tacita_facts: u32,
    /// Name of the run, the report's heading.
    pub name: String,
    /// The records.
    pub data: Data,
    /// How inputs were prepared, and where each number used for it came from.
    pub preparation: Vec<Preparation>,
    /// The model.
    pub model: Model,
    /// The optimiser in words, such as `SGD, momentum 0.9`.
    pub optimizer: String,
    /// Learning rate over the steps.
    pub learning_rate: Trace,
    /// Clip rule and grouping in words, such as `AUTO-S, all parameters together`.
    pub clipping: String,
    /// Clipping thresholds over the steps: one, or one for each group.
    pub thresholds: Vec<Trace>,
    /// Everything the run is committed to release; its ε is the guarantee.
    pub plan: Ledger,
    /// What the rounds of the plan are for, in order.
    pub phases: Vec<Phase>,
    /// δ of the guarantee.
    pub delta: f64,
    /// The part of δ kept for what the accountant does not see: the tail that the noise generator
    /// cannot reach. The accountant gets the rest.
    pub delta_reserved: f64,
    /// The ε that was asked for, if the noise was found from a budget.
    pub budget: Option<f64>,
    /// Rounds of the plan that count as released when these facts were written.
    pub rounds_made: u64,
    /// Where the keys of sampling and noise came from.
    pub keys: KeySource,
    /// Whether diagnostics that see private values were on; then nothing is private.
    pub diagnostics: bool,
    /// How the settings were chosen.
    pub tuning: Tuning,
    /// How well the model does, as far as that may be said.
    pub evaluation: Option<Evaluation>,
    /// The same with every figure; facts of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utility: Option<Utility>,
    /// What leaves the trusted machine, such as `the trained model (model.safetensors)`.
    pub released: Vec<String>,
    /// Arithmetic of training, such as `32-bit floating point; norms rounded up`.
    pub precision: String,
    /// Version of the program that trained.
    pub version: String,
    /// Which run it was; none of a run of an earlier version or of a search, whose days would tell how long its runs took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<WhichRun>,
    /// What whoever ran it says of purpose and responsibility.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<AboutRun>,
    /// The account of the records, as it stood when the run was reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountFacts>,
    /// Caveats of this run beyond those every report has.
    pub caveats: Vec<String>,
}

/// Which run it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhichRun {
    /// Identifier of the run.
    pub id: String,
    /// The day it began. It does not tell when it ended: how long a run takes depends on the records.
    pub begun: String,
    /// Commit of the program that trained, if that is known.
    pub commit: Option<String>,
    /// How to make such a run again.
    pub command: String,
}

/// The records of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Name of the data set.
    pub name: String,
    /// Its licence, or how it may be used.
    pub licence: String,
    /// What one record is, such as `one image of a handwritten digit`.
    pub record: String,
    /// Records as declared, or people, if the unit of privacy is a person: the sampling rate comes from it.
    pub public_record_count: u64,
    /// Records of a person that take part in a step at most; none if the unit of privacy is one record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records_per_person: Option<u64>,
    /// What to know before trusting results on it.
    pub caveats: Vec<String>,
}

/// One thing done to inputs before training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// What was done, such as `pixels divided by 16`.
    pub what: String,
    /// Where the numbers used for it came from.
    pub origin: Origin,
}

/// Where a number used to prepare data came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Known without the data.
    Public,
    /// Declared by whoever ran the training as not learned from the private records.
    Declared,
    /// Estimated from the private records with noise, in a preparation phase of the plan.
    PrivatelyEstimated,
}

/// The model of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Name.
    pub name: String,
    /// Number of trained parameters.
    pub parameters: u64,
}

/// A quantity over the steps. Holds its last value from there on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// Name in the legend.
    pub name: String,
    /// How the values came about.
    pub origin: TraceOrigin,
    /// (step, value), steps growing.
    pub points: Vec<(u64, f64)>,
}

/// How the values of a [`Trace`] came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceOrigin {
    /// A public function of the step number.
    Schedule,
    /// Computed from noisy releases only: post-processing, at no further cost.
    Learned,
}

/// Rounds of the plan that follow one another and serve one purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its purpose.
    pub kind: PhaseKind,
    /// The purpose in words, such as `training` or `noisy accuracy count`.
    pub what: String,
    /// How many rounds.
    pub rounds: u64,
    /// The queries each of its rounds answers, such as `gradient`; as many as the plan's rounds have
    /// noise multipliers.
    pub queries: Vec<String>,
}

/// The purpose of a [`Phase`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PhaseKind {
    /// Estimates used to prepare data.
    Preparation,
    /// Training steps.
    Training,
    /// A noisy score.
    Evaluation,
}

/// Where the keys of sampling and noise came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// ChaCha20 keyed by the operating system; the keys were never stored.
    OperatingSystem,
    /// A fixed seed: anyone who knows it can subtract the noise.
    FixedSeed,
}

/// How the settings of the run were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tuning {
    /// Unknown, or chosen by looking at the private records: not covered.
    NotCovered,
    /// By a private search this run is a part of, whose guarantee is this.
    PartOfSearch {
        /// ε of the whole search, an upper bound.
        epsilon_upper: f64,
        /// δ of the whole search.
        delta: f64,
    },
}

/// How well a model does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Evaluation {
    /// Accuracy on records that are public.
    PublicTest {
        /// The records, in words.
        on: String,
        /// How many.
        records: u64,
        /// Share of right answers.
        accuracy: f64,
        /// (step, accuracy) during training; may be empty.
        over_steps: Vec<(u64, f64)>,
    },
    /// A noisy count of right answers on private records, released in an evaluation phase of the plan.
    NoisyCount {
        /// The records, in words.
        on: String,
        /// Noisy share of right answers.
        accuracy: f64,
        /// Standard deviation of the noise in it.
        noise_std: f64,
    },
}

impl Data {
    /// What is declared to be counted, in words.
    pub fn counted(&self) -> &'static str {
        match self.records_per_person {
            Some(_) => "people",
            None => "records",
        }
    }
}

impl Facts {
    /// Whether the figures of this run are a guarantee at all.
    pub fn private(&self) -> bool {
        self.keys == KeySource::OperatingSystem && !self.diagnostics
    }
}
