//! A tree of `dp_accounting` events, written as its own named tuples: `class_name` and the fields of the class.
//!
//! Events that are not known are refused by name. So are those that Gaussian rounds cannot express.

use super::{count, number};
use crate::history::{Events, History, HistoryError};
use serde_json::{Map, Value};
use tacita_accounting::{Ledger, Neighbours, RandomRuns, Round, Sampling};

/// Most queries of one draw.
const MOST_QUERIES: u64 = 10_000;

pub(super) fn read(event: &Map<String, Value>) -> Result<History, HistoryError> {
    let (event, selection) = match name(event)? {
        "RepeatAndSelectDpEvent" => (child(event)?, Some(repetition(event)?)),
        _ => (event, None),
    };
    let mut tree = Tree::default();
    tree.walk(event, 1)?;
    let events = match tree.not_private {
        Some(why) => Events::NotPrivate(why),
        None => Events::Rounds(tree.ledger()?),
    };
    Ok(History {
        selection,
        ..History::new("dp_accounting events", events)
    })
}

/// The rounds of a tree. Their order is of no consequence, so that equal ones are counted together.
#[derive(Default)]
struct Tree {
    rounds: Vec<Round>,
    not_private: Option<String>,
}

impl Tree {
    fn walk(&mut self, event: &Map<String, Value>, times: u64) -> Result<(), HistoryError> {
        let class = name(event)?;
        match class {
            "NoOpDpEvent" => Ok(()),
            "NonPrivateDpEvent" => {
                self.not_private = Some("the history has a NonPrivateDpEvent".to_string());
                Ok(())
            }
            "ComposedDpEvent" => children(event)?
                .into_iter()
                .try_for_each(|event| self.walk(event, times)),
            "SelfComposedDpEvent" => match product(times, count(event, "count", class)?, class)? {
                0 => Ok(()),
                times => self.walk(child(event)?, times),
            },
            "GaussianDpEvent" => {
                let mut queries = Vec::new();
                gaussians(event, 1, &mut queries, class)?;
                self.round(Sampling::Full {}, queries, times)
            }
            "PoissonSampledDpEvent" => {
                let rate = number(event, "sampling_probability", class)?;
                // Nothing of the data is in an empty sample.
                if rate == 0.0 {
                    return Ok(());
                }
                let queries = sampled_queries(event, class)?;
                self.round(Sampling::Poisson { rate }, queries, times)
            }
            "SampledWithoutReplacementDpEvent" => {
                let of = count(event, "source_dataset_size", class)?;
                let batch = count(event, "sample_size", class)?;
                let queries = sampled_queries(event, class)?;
                self.round(Sampling::FixedSize { batch, of }, queries, times)
            }
            "RepeatAndSelectDpEvent" => Err(refused(
                class,
                "it is treated only where it is the whole history",
            )),
            _ => Err(refused(class, "there is no proof for it here")),
        }
    }

    fn round(
        &mut self,
        sampling: Sampling,
        queries: Vec<f64>,
        times: u64,
    ) -> Result<(), HistoryError> {
        if queries.contains(&0.0) {
            self.not_private = Some("the history has a release without noise".to_string());
        } else if !queries.is_empty() {
            self.rounds
                .push(Round::new(sampling, queries)?.times(times));
        }
        Ok(())
    }

    /// All rounds in the one relation in which each of them has a proof.
    fn ledger(self) -> Result<Ledger, HistoryError> {
        let is_fixed = |round: &Round| matches!(round.sampling, Sampling::FixedSize { .. });
        let is_poisson = |round: &Round| matches!(round.sampling, Sampling::Poisson { .. });
        let fixed = self.rounds.iter().any(is_fixed);
        if fixed && self.rounds.iter().any(is_poisson) {
            return Err(refused(
                "SampledWithoutReplacementDpEvent",
                "it is stated in replace-one, and a PoissonSampledDpEvent beside it in add-or-remove-one",
            ));
        }
        let mut ledger = Ledger::new(match fixed {
            true => Neighbours::ReplaceOne,
            false => Neighbours::AddOrRemoveOne,
        });
        for round in self.rounds {
            ledger.push(round)?;
        }
        Ok(ledger)
    }
}

/// Noise multipliers of the queries that share the draw of a sampling event.
fn sampled_queries(event: &Map<String, Value>, class: &str) -> Result<Vec<f64>, HistoryError> {
    let mut queries = Vec::new();
    gaussians(child(event)?, 1, &mut queries, class)?;
    Ok(queries)
}

/// Collects Gaussian queries; `around` is the event they are in.
fn gaussians(
    event: &Map<String, Value>,
    times: u64,
    queries: &mut Vec<f64>,
    around: &str,
) -> Result<(), HistoryError> {
    let class = name(event)?;
    match class {
        "NoOpDpEvent" => Ok(()),
        "GaussianDpEvent" => {
            let noise = number(event, "noise_multiplier", class)?;
            if times > MOST_QUERIES - queries.len() as u64 {
                let why = format!("more than {MOST_QUERIES} queries share one draw");
                return Err(refused(around, &why));
            }
            queries.extend((0..times).map(|_| noise));
            Ok(())
        }
        "ComposedDpEvent" => children(event)?
            .into_iter()
            .try_for_each(|event| gaussians(event, times, queries, around)),
        "SelfComposedDpEvent" => match product(times, count(event, "count", class)?, class)? {
            0 => Ok(()),
            times => gaussians(child(event)?, times, queries, around),
        },
        _ => Err(refused(
            class,
            &format!("there is no proof for it in a {around}"),
        )),
    }
}

fn repetition(event: &Map<String, Value>) -> Result<RandomRuns, HistoryError> {
    let class = "RepeatAndSelectDpEvent";
    let mean = number(event, "mean", class)?;
    match event.get("shape") {
        // JSON has no infinity, which is the shape of the Poisson distribution.
        Some(Value::Null) => Ok(RandomRuns::poisson(mean)?),
        _ => Ok(RandomRuns::negative_binomial(
            number(event, "shape", class)?,
            mean,
        )?),
    }
}

/// The class of an event, without its module.
fn name(event: &Map<String, Value>) -> Result<&str, HistoryError> {
    let class = event.get("class_name").and_then(Value::as_str);
    class.ok_or_else(|| HistoryError::field("event", "class_name is missing"))
}

fn child(event: &Map<String, Value>) -> Result<&Map<String, Value>, HistoryError> {
    (event.get("event").and_then(Value::as_object))
        .ok_or_else(|| HistoryError::field(name(event).unwrap_or("event"), "event is missing"))
}

fn children(event: &Map<String, Value>) -> Result<Vec<&Map<String, Value>>, HistoryError> {
    let list = event.get("events").and_then(Value::as_array);
    (list.into_iter().flatten())
        .map(Value::as_object)
        .collect::<Option<Vec<_>>>()
        .filter(|_| list.is_some())
        .ok_or_else(|| HistoryError::field("ComposedDpEvent", "events must be a list of events"))
}

fn product(times: u64, count: u64, class: &str) -> Result<u64, HistoryError> {
    times
        .checked_mul(count)
        .ok_or_else(|| HistoryError::field(class, "stands for more events than can be counted"))
}

fn refused(name: &str, why: &str) -> HistoryError {
    let (name, why) = (name.to_string(), why.to_string());
    HistoryError::Event { name, why }
}
