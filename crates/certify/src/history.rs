//! What another library says that a run released.

use serde::de::IntoDeserializer;
use serde::de::value::Error as UnknownName;
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use tacita_accounting::{AccountError, Ledger, LedgerError, RandomRuns};
use thiserror::Error;

/// A history, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Whose history it is, for people.
    pub source: String,
    /// What was released.
    pub events: Events,
    /// Best of a random number of runs, if only that was published.
    pub selection: Option<RandomRuns>,
    /// The accountant that reported ε, if its name is known.
    pub accountant: Option<String>,
    /// The ε that was reported.
    pub epsilon: Option<f64>,
    /// The δ that it was reported for.
    pub delta: Option<f64>,
    /// How batches were really drawn.
    pub batches: Batches,
    /// What gradients were divided by.
    pub divisor: Divisor,
    /// Whether the noise came from a cryptographic generator, if that is known.
    pub secure_noise: Option<bool>,
}

/// What was released.
#[derive(Debug, Clone, PartialEq)]
pub enum Events {
    /// Rounds of Gaussian noise.
    Rounds(Ledger),
    /// Something without any guarantee, in words.
    NotPrivate(String),
}

/// How batches were really drawn. A history has a rate, but not the sampler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Batches {
    /// Each record on its own, as the history's rates assume.
    Poisson,
    /// Passes over shuffled records, each in one batch of a pass.
    Shuffled,
    /// Nobody said.
    #[default]
    Unknown,
}

/// What the sum of gradients was divided by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Divisor {
    /// A number that was declared, whatever the data.
    Declared,
    /// A number that was computed from the data, such as its length.
    FromData,
    /// Nobody said.
    #[default]
    Unknown,
}

impl FromStr for Batches {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::deserialize(name.into_deserializer())
    }
}

impl FromStr for Divisor {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::deserialize(name.into_deserializer())
    }
}

impl History {
    /// A history of which nothing but the events is known.
    pub(crate) fn new(source: impl Into<String>, events: Events) -> Self {
        Self {
            source: source.into(),
            events,
            selection: None,
            accountant: None,
            epsilon: None,
            delta: None,
            batches: Batches::Unknown,
            divisor: Divisor::Unknown,
            secure_noise: None,
        }
    }
}

/// Why a history could not be certified. Nothing is a guarantee when this is returned.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// Not JSON.
    #[error("not a history: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON of a form that is not known.
    #[error(
        "not a history that is known: {seen}; known are the state of an Opacus or Flower accountant, a dp_accounting \
         event, a list of [noise, rate, steps] and a ledger"
    )]
    Form {
        /// What was seen.
        seen: String,
    },
    /// An event that is not known, or for which there is no proof.
    #[error("cannot certify the event {name}: {why}")]
    Event {
        /// Its class name.
        name: String,
        /// Why not.
        why: String,
    },
    /// A field that is missing or has a bad value.
    #[error("{place}: {what}")]
    Field {
        /// Where in the history.
        place: String,
        /// What is wrong with it.
        what: String,
    },
    /// No δ.
    #[error("ε is stated at a δ, and the history has none; give one")]
    NoDelta,
    /// A file that cannot be read.
    #[error("cannot read {path}: {error}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        error: std::io::Error,
    },
    /// A file of a kind that is not opened.
    #[error("{path}: {what}")]
    Kind {
        /// The file.
        path: String,
        /// Why not, and what to do.
        what: String,
    },
    /// Rounds that are none.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Rounds without a proof, or a bad ε or δ.
    #[error(transparent)]
    Account(#[from] AccountError),
}

impl HistoryError {
    /// A bad field.
    pub(crate) fn field(place: impl Into<String>, what: impl Into<String>) -> Self {
        let (place, what) = (place.into(), what.into());
        Self::Field { place, what }
    }
}
