//! A history with what else is known of the run: `{"tacita_history": 1, "events": …, "reported": …}`.

use crate::history::{Batches, Divisor, Events, History, HistoryError};
use serde::Deserialize;
use serde_json::{Map, Value};
use tacita_accounting::{Ledger, Neighbours, Round};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    tacita_history: u64,
    events: Value,
    source: Option<String>,
    accountant: Option<String>,
    reported: Option<Reported>,
    neighbours: Option<Relation>,
    records_per_unit: Option<u32>,
    #[serde(default)]
    batches: Batches,
    #[serde(default)]
    divisor: Divisor,
    secure_noise: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reported {
    epsilon: Option<f64>,
    delta: Option<f64>,
}

/// The relation that an accountant was asked for.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Relation {
    AddOrRemoveOne,
    ReplaceOne,
    /// A record is replaced by one that adds nothing to a sum; distributions are those of add-or-remove-one.
    ReplaceSpecial,
}

/// The version of the form.
const VERSION: u64 = 1;

pub(super) fn read(object: Map<String, Value>) -> Result<History, HistoryError> {
    let known: Envelope = serde_json::from_value(Value::Object(object))?;
    if known.tacita_history != VERSION {
        let what = format!("must be {VERSION}, got {}", known.tacita_history);
        return Err(HistoryError::field("tacita_history", what));
    }
    if let Value::Object(inner) = &known.events
        && inner.contains_key("tacita_history")
    {
        let what = "must be a history, not one with what else is known";
        return Err(HistoryError::field("events", what));
    }
    let inner = super::value(known.events)?;
    let events = match inner.events {
        Events::Rounds(ledger) => {
            Events::Rounds(restated(ledger, known.neighbours, known.records_per_unit)?)
        }
        not_private => not_private,
    };
    let (epsilon, delta) = known
        .reported
        .map_or((None, None), |reported| (reported.epsilon, reported.delta));
    Ok(History {
        source: known.source.unwrap_or(inner.source),
        events,
        selection: inner.selection,
        accountant: known.accountant.or(inner.accountant),
        epsilon: epsilon.or(inner.epsilon),
        delta: delta.or(inner.delta),
        batches: known.batches,
        divisor: known.divisor,
        secure_noise: known.secure_noise,
    })
}

/// The rounds in the relation and for the unit that were asked for.
fn restated(
    ledger: Ledger,
    relation: Option<Relation>,
    records: Option<u32>,
) -> Result<Ledger, HistoryError> {
    let neighbours = match relation {
        None => ledger.neighbours(),
        Some(Relation::AddOrRemoveOne | Relation::ReplaceSpecial) => Neighbours::AddOrRemoveOne,
        Some(Relation::ReplaceOne) => Neighbours::ReplaceOne,
    };
    let records = records.unwrap_or(ledger.records_per_unit());
    let mut restated = Ledger::new(neighbours).with_records_per_unit(records)?;
    for round in ledger.rounds() {
        restated.push(Round::clone(round))?;
    }
    Ok(restated)
}
