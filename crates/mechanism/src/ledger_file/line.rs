//! The lines of a ledger file: JSON objects, each bound to all before it by SHA-256.

use super::label::LedgerLabel;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tacita_accounting::Ledger;

/// The only format there is.
pub(super) const FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) tacita_ledger: u32,
    pub(super) private: bool,
    #[serde(rename = "block_steps")]
    pub(super) block_rounds: u64,
    /// Left out where it is empty, as in every ledger before there were labels.
    #[serde(default, skip_serializing_if = "LedgerLabel::is_empty")]
    pub(super) label: LedgerLabel,
    pub(super) plan: Ledger,
}

/// Every other line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Entry {
    Block(Block),
    Stop(Stop),
    Bound(Bound),
    Published(Published),
}

/// From here on these rounds count as released.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Block {
    pub(super) first: u64,
    #[serde(rename = "steps")]
    pub(super) rounds: u64,
}

/// The run stopped in order; of the last block, the rounds from here on were not released.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stop {
    pub(super) stopped_before: u64,
}

/// A file of the run had this content when the line was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bound {
    pub(super) file: String,
    pub(super) sha256: String,
}

/// A random search chose this run to be its published one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    pub(super) published: bool,
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of everything so far, in hexadecimal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Chain(String);

const CHAIN_FIELD: &str = ",\"chain\":\"";
const CHAIN_DIGITS: usize = 64;

impl Chain {
    fn after(&self, body: &str) -> Self {
        let hash = Sha256::new()
            .chain_update(&self.0)
            .chain_update(body)
            .finalize();
        Self(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The line for `value`, with its newline, and the chain after it.
    pub fn write(&self, value: &impl Serialize) -> (String, Self) {
        let body =
            serde_json::to_string(value).unwrap_or_else(|_| unreachable!("plain data serialises"));
        let next = self.after(&body);
        let open = body.strip_suffix('}').unwrap_or(&body);
        let line = format!("{open}{CHAIN_FIELD}{}\"}}\n", next.0);
        (line, next)
    }

    /// The value in `line` (without its newline) and the chain after it, or what is wrong.
    pub fn read<T: for<'a> Deserialize<'a>>(&self, line: &[u8]) -> Result<(T, Self), &'static str> {
        let line = std::str::from_utf8(line).map_err(|_| "it is not text")?;
        let parts = line
            .strip_suffix("\"}")
            .and_then(|line| line.split_at_checked(line.len().checked_sub(CHAIN_DIGITS)?))
            .and_then(|(body, chain)| Some((body.strip_suffix(CHAIN_FIELD)?, chain)));
        let (open, chain) = parts.ok_or("it has no checksum")?;
        let body = format!("{open}}}");
        let next = self.after(&body);
        if next.0 != chain {
            return Err("its checksum does not follow from the lines before it");
        }
        let value = serde_json::from_str(&body).map_err(|_| "it is of an unknown kind")?;
        Ok((value, next))
    }

    /// The hash, in hexadecimal.
    pub fn text(&self) -> &str {
        &self.0
    }
}
