//! An account: what was spent on the same records by all runs together, and a total that they keep.
//!
//! The file of an account is opened with a total (ε, δ) and a unit, which are fixed from then on. Each further line
//! *reserves* the whole plan of a run or a search, and is on disk before that run releases anything. So at any moment,
//! even after `kill -9`, the file covers all that was released under it. A plan that would exceed the total is refused
//! before it begins.
//!
//! ```text
//! {"tacita_account":1,"name":"patients","id":"…","epsilon":3.0,"delta":1e-5,"order":8.9,"records_per_unit":1,"chain":"…"}
//! {"run":"…","data":"patients","date":"2026-11-18","release":{"kind":"run","plan":{…}},"chain":"…"}
//! {"given_back":"…","chain":"…"}
//! ```
//!
//! # The total holds for runs chosen in the light of earlier ones
//! Plans are admitted by a privacy filter ([`RdpFilter`]), whose order is a function of the total and stands in the
//! first line. A part of δ is set aside for the tails that the noise generator cannot reach, in all runs together, as a
//! search does.
//!
//! One plan is admitted otherwise: the *first* one, if the filter would refuse it and its exact ε keeps the total. It was
//! fixed before anything was seen, so no filter is needed for it, and nothing is admitted after it: which of the two
//! happens is decided by a plan that no output could influence.
//!
//! # What a rollback leaves
//! Each line is chained to those before it by SHA-256, as in the ledger of a run. Lines cut from the end leave no trace in
//! the file, so its last chain is kept elsewhere too: in a *witness* file in the user's state folder, and in the first line
//! of the ledger of every run. An account that does not hold what a witness or a ledger saw is refused.

mod contents;
mod error;
mod line;
mod standing;
mod witness;

pub use error::AccountError;
pub use line::{Reservation, ReservedRelease};
pub use standing::{AccountStanding, Room};

use super::ledger_file::{AccountOfRun, Chain, Locked, sync_directory};
use contents::Contents;
use line::{FORMAT, GivenBack, Header};
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tacita_accounting::{Ledger, Neighbours};

/// The total that an account keeps, and for whom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccountTotal {
    /// ε of everything released under the account together.
    pub epsilon: f64,
    /// Its δ.
    pub delta: f64,
    /// How many records the protected unit may own; plans are read for such units.
    pub records_per_unit: u32,
}

/// The file of an account, locked against everyone else.
#[derive(Debug)]
pub struct Account {
    file: Locked,
    path: PathBuf,
    witnesses: PathBuf,
    standing: AccountStanding,
    chain: Chain,
    usable: bool,
}

impl Account {
    /// Opens a new account; `path` must not exist. `witnesses` is a folder elsewhere, where its head is kept too.
    ///
    /// ```
    /// use tacita::{Account, AccountTotal};
    /// let folder = std::env::temp_dir().join(format!("tacita-account-{}", std::process::id()));
    /// std::fs::create_dir_all(&folder)?;
    /// let total = AccountTotal { epsilon: 3.0, delta: 1e-5, records_per_unit: 1 };
    /// let account = Account::open_new(&folder.join("a.jsonl"), &folder, "a", total)?;
    /// assert_eq!(account.standing().epsilon_spent(), 0.0);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_new(
        path: &Path,
        witnesses: &Path,
        name: &str,
        total: AccountTotal,
    ) -> Result<Self, AccountError> {
        let unit = Ledger::new(Neighbours::AddOrRemoveOne)
            .with_records_per_unit(total.records_per_unit)?;
        let order = standing::order_of(total, unit)?;
        let header = Header {
            tacita_account: FORMAT,
            name: name.into(),
            id: super::fresh_key::identifier()?,
            epsilon: total.epsilon,
            delta: total.delta,
            order,
            records_per_unit: total.records_per_unit,
        };
        let standing = AccountStanding::new(&header)?;
        let created = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path);
        let file = created.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => AccountError::Exists { path: path.into() },
            _ => io_error("create", path)(source),
        })?;
        let mut account = Self {
            file: Locked::waiting(file).map_err(io_error("lock", path))?,
            path: path.into(),
            witnesses: witnesses.into(),
            standing,
            chain: Chain::default(),
            usable: true,
        };
        account.append(&header)?;
        sync_directory(path).map_err(io_error("create", path))?;
        account.keep_witness()?;
        Ok(account)
    }

    /// Opens the account of a file to reserve from it, and waits for whoever does so now. `seen` is what ledgers of runs
    /// know of accounts, of this one or others.
    pub fn open(
        path: &Path,
        witnesses: &Path,
        seen: &[AccountOfRun],
    ) -> Result<Self, AccountError> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let file = opened.map_err(not_there_or("open", path))?;
        let mut file = Locked::waiting(file).map_err(io_error("lock", path))?;
        let mut bytes = Vec::new();
        (file.file().read_to_end(&mut bytes)).map_err(io_error("read", path))?;
        let contents = Contents::parse(path, &bytes)?;
        contents.check(path, witnesses, seen)?;
        let intact = contents.intact_bytes as u64;
        // What follows was never finished, so what it reserves never began: the witness says that nothing is missing.
        let cut = (file.file().set_len(intact))
            .and_then(|()| file.file().seek(SeekFrom::Start(intact)))
            .and_then(|_| file.file().sync_all());
        cut.map_err(io_error("repair", path))?;
        Ok(Self {
            file,
            path: path.into(),
            witnesses: witnesses.into(),
            standing: contents.standing,
            chain: contents.chain,
            usable: true,
        })
    }

    /// Reads an account without touching it.
    pub fn read(
        path: &Path,
        witnesses: &Path,
        seen: &[AccountOfRun],
    ) -> Result<AccountStanding, AccountError> {
        let bytes = std::fs::read(path).map_err(not_there_or("read", path))?;
        let contents = Contents::parse(path, &bytes)?;
        contents.check(path, witnesses, seen)?;
        Ok(contents.standing)
    }

    /// What was spent, and what is left.
    pub fn standing(&self) -> &AccountStanding {
        &self.standing
    }

    /// Reserves all that a run or a search will release. Only after this may it begin. A reservation that is there
    /// already is not made again.
    ///
    /// # Guarantee
    /// Everything ever reserved together is (ε, δ)-private for the total and the unit of the account, even if each plan
    /// was chosen in the light of what earlier ones released; it is on disk before this returns. Checked by
    /// `what_an_account_admits_never_costs_more_than_its_total` and `two_runs_at_once_cannot_overspend`.
    pub fn reserve(&mut self, reservation: Reservation) -> Result<AccountOfRun, AccountError> {
        if let Some(known) = self.standing.mark_of(&reservation)? {
            return Ok(known);
        }
        let reservation = self.standing.admitted(&self.path, reservation)?;
        self.add(reservation)
    }

    /// Counts what was released before without the account, whether or not the total allows it.
    pub fn enter(&mut self, mut reservation: Reservation) -> Result<AccountOfRun, AccountError> {
        reservation.entered = true;
        if let Some(known) = self.standing.mark_of(&reservation)? {
            return Ok(known);
        }
        self.standing.cost(&reservation.release)?;
        self.add(reservation)
    }

    /// Gives back the reservation of a run that ended before it released anything.
    pub fn give_back(&mut self, run: &str) -> Result<(), AccountError> {
        if !self.standing.holds(run) {
            return Ok(());
        }
        self.append(&GivenBack {
            given_back: run.into(),
        })?;
        self.standing.without(run)?;
        self.keep_witness()
    }

    fn add(&mut self, reservation: Reservation) -> Result<AccountOfRun, AccountError> {
        self.append(&reservation)?;
        let run = reservation.run.clone();
        self.standing.count(reservation)?;
        self.keep_witness()?;
        Ok(AccountOfRun {
            id: self.standing.id().into(),
            run,
            line: self.standing.lines(),
            head: self.chain.text().into(),
        })
    }

    fn append(&mut self, value: &impl Serialize) -> Result<(), AccountError> {
        if !self.usable {
            return Err(AccountError::Unusable {
                path: self.path.clone(),
            });
        }
        // After a failed synchronisation the system may drop what it failed to write and report success the next
        // time, so there is no second try.
        self.usable = false;
        let (line, chain) = self.chain.write(value);
        let written = (self.file.file().write_all(line.as_bytes()))
            .and_then(|()| self.file.file().sync_data());
        written.map_err(io_error("write", &self.path))?;
        self.standing.push_head(chain.text());
        self.chain = chain;
        self.usable = true;
        Ok(())
    }

    fn keep_witness(&self) -> Result<(), AccountError> {
        witness::write(&self.witnesses, &self.standing)
    }
}

fn io_error(action: &'static str, path: &Path) -> impl Fn(io::Error) -> AccountError {
    let path = path.to_path_buf();
    move |source| AccountError::Io {
        action,
        path: path.clone(),
        source,
    }
}

fn not_there_or(action: &'static str, path: &Path) -> impl Fn(io::Error) -> AccountError {
    let path = path.to_path_buf();
    move |source| match source.kind() {
        io::ErrorKind::NotFound => AccountError::NotThere { path: path.clone() },
        _ => io_error(action, &path)(source),
    }
}

#[cfg(test)]
mod tests;
