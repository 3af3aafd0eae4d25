//! A list of steps: `[[noise, rate, steps], …]`, or objects with these keys.

use super::{as_count, as_number, count, number};
use crate::history::{Events, History, HistoryError};
use serde_json::Value;
use tacita_accounting::{Ledger, Neighbours, Round, Sampling};

const KEYS: [&str; 3] = ["noise", "rate", "steps"];

pub(super) fn read(list: &[Value]) -> Result<History, HistoryError> {
    let mut ledger = Ledger::new(Neighbours::AddOrRemoveOne);
    for (index, entry) in list.iter().enumerate() {
        let place = format!("entry {index}");
        let (noise, rate, steps) = parts(entry, &place)?;
        if noise == 0.0 {
            let why = format!("{place} of the history was released without noise");
            return Ok(History::new("list of steps", Events::NotPrivate(why)));
        }
        let at = |error| HistoryError::field(&place, format!("{error}"));
        let round = Round::new(Sampling::Poisson { rate }, vec![noise]).map_err(at)?;
        ledger.push(round.times(steps)).map_err(at)?;
    }
    Ok(History::new("list of steps", Events::Rounds(ledger)))
}

fn parts(entry: &Value, place: &str) -> Result<(f64, f64, u64), HistoryError> {
    match entry {
        Value::Array(three) => match &three[..] {
            [noise, rate, steps] => Ok((
                as_number(noise, &format!("{place}, noise"))?,
                as_number(rate, &format!("{place}, rate"))?,
                as_count(steps, &format!("{place}, steps"))?,
            )),
            _ => Err(HistoryError::field(place, "must be [noise, rate, steps]")),
        },
        Value::Object(object) => {
            if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
                let what = format!("unknown key {key}; known are noise, rate and steps");
                return Err(HistoryError::field(place, what));
            }
            Ok((
                number(object, "noise", place)?,
                number(object, "rate", place)?,
                count(object, "steps", place)?,
            ))
        }
        _ => Err(HistoryError::field(place, "must be [noise, rate, steps]")),
    }
}
