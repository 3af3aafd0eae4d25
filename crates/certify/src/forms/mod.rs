//! The forms in which other libraries keep a history, as JSON.

mod dp_event;
mod envelope;
mod flower;
mod opacus;
mod steps;

use crate::history::{Events, History, HistoryError};
use serde_json::{Map, Value};
use tacita_accounting::Ledger;

/// Reads a history in any of the forms that are known.
pub fn read(json: &str) -> Result<History, HistoryError> {
    value(serde_json::from_str(json)?)
}

fn value(json: Value) -> Result<History, HistoryError> {
    let form = |seen: &str| HistoryError::Form { seen: seen.into() };
    let object = match json {
        Value::Array(list) => return steps::read(&list),
        Value::Object(object) => object,
        _ => return Err(form("neither an object nor a list")),
    };
    let has = |key: &str| object.contains_key(key);
    if has("tacita_history") {
        envelope::read(object)
    } else if has("class_name") {
        dp_event::read(&object)
    } else if has("compositions") {
        flower::read(object)
    } else if has("history") {
        opacus::read(&object)
    } else if has("rounds") {
        let ledger: Ledger = serde_json::from_value(Value::Object(object))?;
        Ok(History::new("ledger", Events::Rounds(ledger)))
    } else {
        Err(form(&keys(&object)))
    }
}

/// The keys of an object, for a message.
fn keys(object: &Map<String, Value>) -> String {
    let keys: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
    format!("an object with the keys {}", keys.join(", "))
}

/// A number in a field of an object.
fn number(object: &Map<String, Value>, key: &str, place: &str) -> Result<f64, HistoryError> {
    let value = object
        .get(key)
        .ok_or_else(|| HistoryError::field(place, format!("{key} is missing")))?;
    as_number(value, &format!("{place}.{key}"))
}

fn as_number(value: &Value, place: &str) -> Result<f64, HistoryError> {
    value
        .as_f64()
        .ok_or_else(|| HistoryError::field(place, format!("must be a number, got {value}")))
}

/// A count in a field of an object.
fn count(object: &Map<String, Value>, key: &str, place: &str) -> Result<u64, HistoryError> {
    let value = object
        .get(key)
        .ok_or_else(|| HistoryError::field(place, format!("{key} is missing")))?;
    as_count(value, &format!("{place}.{key}"))
}

fn as_count(value: &Value, place: &str) -> Result<u64, HistoryError> {
    // Python writes 3.0 where a count was computed.
    let whole = |number: f64| {
        (number >= 0.0 && number.fract() == 0.0 && number < 9e15).then_some(number as u64)
    };
    (value.as_u64())
        .or_else(|| value.as_f64().and_then(whole))
        .ok_or_else(|| HistoryError::field(place, format!("must be a whole number, got {value}")))
}
