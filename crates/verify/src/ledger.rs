//! What a ledger commits a run to, and how much of it counts as released.

use crate::chain::{Lines, follow};
use crate::error::VerifyError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The ledger of a run, its chain checked.
pub(crate) struct RunLedger {
    /// The plan, as it stands in the first line.
    pub plan: Value,
    /// Whether its keys came from the operating system and no raw value was shown.
    pub private: bool,
    /// The search that the run is part of.
    pub search: Option<Search>,
    /// Whether a random search chose this run to be its published one.
    pub published: bool,
    /// Rounds that count as released.
    pub spent: u64,
    /// SHA-256 of the files it binds, by name.
    pub files: BTreeMap<String, String>,
    /// The canaries that were sealed before the first round.
    pub canaries: Option<Sealed>,
    /// Whether it should bind files at all.
    pub binds_files: bool,
    /// The hash of all its lines.
    pub head: String,
    /// Whether its last line was cut short.
    pub torn: bool,
}

/// What a ledger commits to about the canaries of an audit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sealed {
    pub count: u64,
    pub sha256: String,
}

/// The search that a run is part of, and what the whole of it keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Search {
    pub random: bool,
    pub epsilon_upper: f64,
    pub delta: f64,
}

impl RunLedger {
    /// Reads a ledger file.
    pub fn read(bytes: &[u8]) -> Result<Self, VerifyError> {
        let Lines { lines, head, torn } = follow(bytes)?;
        let mut lines = lines.into_iter().enumerate();
        let (_, mut first) = lines.next().ok_or(VerifyError::NoPlan)?;
        let header = |reason| VerifyError::Ledger { line: 1, reason };
        if first.get("tacita_ledger").and_then(Value::as_u64) != Some(1) {
            return Err(header("it is of an unknown format"));
        }
        let block = number(&first, "block_steps").filter(|block| *block > 0);
        let block = block.ok_or(header("it does not say how many rounds a line reserves"))?;
        let private = first.get("private").and_then(Value::as_bool);
        let plan = first.remove("plan").ok_or(VerifyError::NoPlan)?;
        let planned = rounds_of(&plan).ok_or(header("its plan has no rounds"))?;
        let label = first.get("label");
        let mut ledger = Self {
            plan,
            private: private.ok_or(header("it does not say whether the run is private"))?,
            search: label
                .and_then(|label| label.get("search"))
                .map(search)
                .transpose()?,
            published: false,
            canaries: label
                .and_then(|label| label.get("canaries"))
                .map(sealed)
                .transpose()?,
            spent: 0,
            files: BTreeMap::new(),
            binds_files: label
                .and_then(|label| label.get("binds_files")?.as_bool())
                .unwrap_or(false),
            head,
            torn,
        };
        let mut last_block = 0;
        for (index, line) in lines {
            let wrong = |reason| VerifyError::Ledger {
                line: index + 1,
                reason,
            };
            if let (Some(first), Some(rounds)) = (number(&line, "first"), number(&line, "steps")) {
                let most = block.min(planned - ledger.spent);
                if first != ledger.spent || rounds == 0 || rounds > most {
                    return Err(wrong("its rounds do not follow those before"));
                }
                (last_block, ledger.spent) = (first, first + rounds);
            } else if let Some(before) = number(&line, "stopped_before") {
                if !(last_block..=ledger.spent).contains(&before) {
                    return Err(wrong("it gives back rounds that it cannot"));
                }
                (last_block, ledger.spent) = (before, before);
            } else if let (Some(file), Some(hash)) = (text(&line, "file"), text(&line, "sha256")) {
                ledger.files.insert(file, hash);
            } else if let Some(published) = line.get("published").and_then(Value::as_bool) {
                ledger.published |= published;
            } else {
                return Err(wrong("it is of an unknown kind"));
            }
        }
        if torn {
            // Cut short by a crash, or an intact line that somebody truncated: it may have reserved a block.
            ledger.spent = planned.min(ledger.spent.saturating_add(block));
        }
        Ok(ledger)
    }

    /// Rounds of the plan.
    pub fn planned(&self) -> u64 {
        rounds_of(&self.plan).unwrap_or(0)
    }
}

/// Σ times over the rounds of a plan; none if there are none, or too many to count.
fn rounds_of(plan: &Value) -> Option<u64> {
    let rounds = plan.get("rounds")?.as_array()?;
    let mut times = rounds.iter().map(times_of);
    let total = times.try_fold(0_u64, |sum, times| sum.checked_add(times?));
    total.filter(|total| *total > 0)
}

/// How often a round is made: once unless it says so.
pub(crate) fn times_of(round: &Value) -> Option<u64> {
    round.get("times").map_or(Some(1), Value::as_u64)
}

fn sealed(label: &Value) -> Result<Sealed, VerifyError> {
    let read = || {
        Some(Sealed {
            count: label.get("count")?.as_u64()?,
            sha256: label.get("sha256")?.as_str()?.to_string(),
        })
    };
    read().ok_or(VerifyError::Ledger {
        line: 1,
        reason: "it seals canaries that cannot be read",
    })
}

fn search(label: &Value) -> Result<Search, VerifyError> {
    let read = || {
        Some(Search {
            random: match label.get("kind")?.as_str()? {
                "random" => true,
                "grid" => false,
                _ => return None,
            },
            epsilon_upper: label.get("epsilon_upper")?.as_f64()?,
            delta: label.get("delta")?.as_f64()?,
        })
    };
    read().ok_or(VerifyError::Ledger {
        line: 1,
        reason: "it names a search that cannot be read",
    })
}

fn number(line: &Map<String, Value>, key: &str) -> Option<u64> {
    line.get(key)?.as_u64()
}

fn text(line: &Map<String, Value>, key: &str) -> Option<String> {
    line.get(key)?.as_str().map(str::to_string)
}
