//! The files that an index was made of, as they were then.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A file, its length and when it was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shard {
    path: PathBuf,
    bytes: u64,
    /// Nanoseconds since the beginning of 1970, in decimal.
    changed: String,
}

/// All files of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Shards {
    /// Files of many records, each of which must stay.
    Files(Vec<Shard>),
    /// Files of one record each: a SHA-256 of names, lengths and times.
    Records(String),
}

impl Shard {
    fn of(path: &Path) -> Result<Self> {
        let found = fs::metadata(path)
            .with_context(|| format!("{} cannot be read; nothing was spent", path.display()))?;
        let changed = found.modified()?.duration_since(UNIX_EPOCH);
        Ok(Self {
            path: fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf()),
            bytes: found.len(),
            changed: changed.unwrap_or_default().as_nanos().to_string(),
        })
    }
}

impl Shards {
    /// Files as they are now.
    pub fn of(paths: &[PathBuf], are_records: bool) -> Result<Self> {
        if are_records {
            let mut hash = Sha256::new();
            for path in paths {
                // One that cannot be read is a bad record and nothing else.
                let shard = Shard::of(path).ok();
                let known = shard.map(|shard| (shard.bytes, shard.changed));
                hash.update(format!("{path:?} {known:?}\n"));
            }
            return Ok(Self::Records(crate::hex::hex(&hash.finalize())));
        }
        let shards = paths.iter().map(|path| Shard::of(path));
        Ok(Self::Files(shards.collect::<Result<_>>()?))
    }

    /// A file that was there when the index was made, and is not any more.
    pub fn vanished(&self, now: &Self) -> Option<&Path> {
        let (Self::Files(before), Self::Files(now)) = (self, now) else {
            return None;
        };
        let gone = |shard: &&Shard| !now.iter().any(|other| other.path == shard.path);
        before.iter().find(gone).map(|shard| shard.path.as_path())
    }
}
