//! The state of an Opacus accountant: `{"history": [[noise, rate, steps], …], "mechanism": "rdp"}`.

use super::steps;
use crate::history::{History, HistoryError};
use serde_json::{Map, Value};

pub(super) fn read(state: &Map<String, Value>) -> Result<History, HistoryError> {
    let Some(Value::Array(list)) = state.get("history") else {
        return Err(HistoryError::field(
            "history",
            "must be a list of [noise, rate, steps]",
        ));
    };
    let accountant = state.get("mechanism").and_then(Value::as_str);
    let named = accountant.map_or(String::new(), |name| format!(" ({name})"));
    Ok(History {
        source: format!("Opacus accountant{named}"),
        accountant: accountant.map(str::to_string),
        ..steps::read(list)?
    })
}
