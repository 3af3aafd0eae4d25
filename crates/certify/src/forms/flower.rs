//! The state of a Flower accountant, which accounts for clients instead of records.

use crate::history::{Events, History, HistoryError};
use serde::Deserialize;
use serde_json::{Map, Value};
use tacita_accounting::{Ledger, Neighbours, Round, Sampling};

#[derive(Deserialize)]
struct State {
    schema_version: u64,
    backend: Option<String>,
    config: Config,
    compositions: Vec<Composition>,
}

#[derive(Deserialize)]
struct Config {
    target_delta: f64,
    neighboring_relation: Neighbours,
    sampling_method: Method,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Method {
    Poisson,
    WithoutReplacement,
    NoAmplification,
}

#[derive(Deserialize)]
struct Composition {
    event: Event,
    count: u64,
}

#[derive(Deserialize)]
struct Event {
    noise_multiplier: f64,
    sample_size: u64,
    population_size: u64,
}

/// The version of the state that is known.
const VERSION: u64 = 1;

pub(super) fn read(state: Map<String, Value>) -> Result<History, HistoryError> {
    let state: State = serde_json::from_value(Value::Object(state))?;
    if state.schema_version != VERSION {
        let what = format!("must be {VERSION}, got {}", state.schema_version);
        return Err(HistoryError::field("schema_version", what));
    }
    let mut ledger = Ledger::new(state.config.neighboring_relation);
    for Composition { event, count } in state.compositions {
        let (batch, of) = (event.sample_size, event.population_size);
        let sampling = match state.config.sampling_method {
            Method::Poisson => Sampling::Poisson {
                rate: batch as f64 / of as f64,
            },
            Method::WithoutReplacement => Sampling::FixedSize { batch, of },
            Method::NoAmplification => Sampling::Full {},
        };
        ledger.push(Round::new(sampling, vec![event.noise_multiplier])?.times(count))?;
    }
    Ok(History {
        accountant: state.backend,
        delta: Some(state.config.target_delta),
        ..History::new("Flower accountant (clients)", Events::Rounds(ledger))
    })
}
