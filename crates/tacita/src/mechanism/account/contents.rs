//! The file of an account taken apart and checked line by line.

use super::line::{Entry, FORMAT, GivenBack, Header};
use super::{AccountError, AccountStanding, witness};
use crate::mechanism::ledger_file::{AccountOfRun, Chain};
use std::path::Path;

/// The file of an account taken apart.
pub(super) struct Contents {
    pub standing: AccountStanding,
    pub chain: Chain,
    /// Length of the intact lines.
    pub intact_bytes: usize,
    /// Whether something follows them.
    torn: bool,
}

impl Contents {
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, AccountError> {
        let damaged = |line: usize, reason| AccountError::Damaged {
            path: path.into(),
            line,
            reason,
        };
        let end = bytes.iter().rposition(|&byte| byte == b'\n');
        let intact_bytes = end.map_or(0, |at| at + 1);
        let mut lines = bytes[..intact_bytes].split_inclusive(|&byte| byte == b'\n');
        let first = lines
            .next()
            .ok_or_else(|| AccountError::NoHeader { path: path.into() })?;
        let header = Chain::default().read::<Header>(without_newline(first));
        let (header, mut chain) = header.map_err(|reason| damaged(1, reason))?;
        if header.tacita_account != FORMAT {
            return Err(damaged(1, "it is of an unknown format"));
        }
        let mut standing = AccountStanding::new(&header)?;
        standing.push_head(chain.text());
        for (index, line) in lines.enumerate() {
            let damaged = |reason| damaged(index + 2, reason);
            let (entry, next) = chain.read(without_newline(line)).map_err(damaged)?;
            chain = next;
            standing.push_head(chain.text());
            match entry {
                Entry::Reservation(reservation) => {
                    if standing.holds(&reservation.run) {
                        return Err(damaged("it reserves a run twice"));
                    }
                    if reservation.alone && !standing.reservations().is_empty() {
                        return Err(damaged("it is not the first, as it says"));
                    }
                    standing.count(reservation)?;
                }
                Entry::GivenBack(GivenBack { given_back }) => {
                    if !standing.holds(&given_back) {
                        return Err(damaged("it gives back what was not reserved"));
                    }
                    standing.without(&given_back)?;
                }
            }
        }
        Ok(Self {
            standing,
            chain,
            intact_bytes,
            torn: intact_bytes < bytes.len(),
        })
    }

    /// An error if the file is older than its witness or the ledger of a run, or was cut short where that cannot be told
    /// from a line that was never finished.
    pub fn check(
        &self,
        path: &Path,
        witnesses: &Path,
        seen: &[AccountOfRun],
    ) -> Result<(), AccountError> {
        let witness = witness::read(witnesses, self.standing.id())?;
        let ours = seen.iter().filter(|seen| seen.id == self.standing.id());
        for seen in ours.chain(&witness) {
            self.standing.check(path, seen)?;
        }
        // A run begins only after its line was finished and witnessed. So if the witness saw the last whole line, and
        // no more, what follows reserves nothing that has begun.
        let last = |seen: &AccountOfRun| seen.line == self.standing.lines();
        if self.torn && !witness.as_ref().is_some_and(last) {
            return Err(AccountError::Torn { path: path.into() });
        }
        Ok(())
    }
}

fn without_newline(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}
