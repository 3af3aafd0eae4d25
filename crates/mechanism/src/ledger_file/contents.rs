//! A ledger file taken apart and checked line by line.

use super::LedgerFileError;
use super::line::{Block, Bound, Chain, Entry, FORMAT, Header, Published, Stop};
use std::collections::BTreeMap;
use std::path::Path;
use tacita_accounting::Ledger;

/// A ledger file taken apart.
pub(super) struct Contents {
    pub header: Header,
    pub chain: Chain,
    /// Rounds before this one were reserved by intact lines and not given back.
    pub reserved: u64,
    /// The first round of the last block.
    pub last_block: u64,
    /// SHA-256 of bound files, by name.
    pub files: BTreeMap<String, String>,
    pub published: bool,
    /// Length of the intact lines.
    pub intact_bytes: usize,
    /// Whether something follows them.
    pub torn: bool,
}

impl Contents {
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, LedgerFileError> {
        let damaged = |line: usize, reason| LedgerFileError::Damaged {
            path: path.into(),
            line,
            reason,
        };
        let intact_bytes = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        let mut lines = bytes[..intact_bytes].split_inclusive(|&byte| byte == b'\n');
        let Some(first) = lines.next() else {
            return Err(LedgerFileError::NoHeader { path: path.into() });
        };
        let header = Chain::default().read::<Header>(without_newline(first));
        let (mut header, mut chain) = header.map_err(|reason| damaged(1, reason))?;
        if header.tacita_ledger != FORMAT || header.block_rounds == 0 {
            return Err(damaged(1, "it is of an unknown format"));
        }
        // Checks what deserialising alone does not.
        header.plan = Ledger::from_json(&header.plan.to_json())?;

        let planned = header.plan.rounds_made();
        let (mut last_block, mut reserved) = (0, 0);
        let (mut files, mut published) = (BTreeMap::new(), false);
        for (index, line) in lines.enumerate() {
            let damaged = |reason| damaged(index + 2, reason);
            let (entry, next) = chain.read(without_newline(line)).map_err(damaged)?;
            chain = next;
            match entry {
                Entry::Block(Block { first, rounds }) => {
                    let most = header.block_rounds.min(planned - reserved);
                    if first != reserved || rounds == 0 || rounds > most {
                        return Err(damaged("its rounds do not follow those before"));
                    }
                    (last_block, reserved) = (first, first + rounds);
                }
                Entry::Stop(Stop { stopped_before }) => {
                    if !(last_block..=reserved).contains(&stopped_before) {
                        return Err(damaged("it gives back rounds that it cannot"));
                    }
                    (last_block, reserved) = (stopped_before, stopped_before);
                }
                Entry::Bound(Bound { file, sha256 }) => {
                    files.insert(file, sha256);
                }
                Entry::Published(Published { published: now }) => published |= now,
            }
        }
        Ok(Self {
            header,
            chain,
            reserved,
            last_block,
            files,
            published,
            intact_bytes,
            torn: intact_bytes < bytes.len(),
        })
    }

    /// Rounds that count as released, with the block that a torn line may have reserved.
    pub fn spent_rounds(&self) -> u64 {
        self.reserved
            + if self.torn {
                self.header.block_rounds
            } else {
                0
            }
    }
}

fn without_newline(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}
