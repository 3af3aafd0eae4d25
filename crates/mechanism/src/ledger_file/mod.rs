//! The ledger of a run on disk: written before each release, never rewritten.
//!
//! The first line holds the committed plan. Each further line reserves a *block* of its rounds, and
//! is on disk (written and synchronised) before the first of them is released. So at any moment,
//! even after `kill -9` or a power cut, the file covers every release that was made; rounds of the
//! last block that were not made yet count as spent, unless the run stopped in order and a last
//! line gives them back. A run resumes after the last reserved round.
//!
//! ```text
//! {"tacita_ledger":1,"private":true,"block_steps":10,"plan":{…},"chain":"…"}
//! {"first":0,"steps":10,"chain":"…"}
//! {"first":10,"steps":10,"chain":"…"}
//! {"stopped_before":13,"chain":"…"}
//! {"file":"facts.json","sha256":"…","chain":"…"}
//! ```
//!
//! (The names in the file are older than the word: its `steps` are rounds.)
//!
//! The first line may carry a [`LedgerLabel`], and further lines may bind files of the run by their
//! SHA-256; the last line for a file is the one that holds.
//!
//! Each line's `chain` is the SHA-256 of the chain before it and the line without it, so a file
//! edited anywhere is refused. A last line without its newline was cut short by a crash. Nothing of
//! it can have been released, yet it is *counted as a spent block*: an intact line that someone
//! truncated looks the same. (Whole lines removed from the end leave no trace in the file; a
//! checkpoint ahead of its ledger gives that away.)

mod claim;
mod contents;
mod error;
mod label;
mod line;
mod record;

use std::collections::BTreeMap;
use std::fs::{File, FileTimes, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use tacita_accounting::{Ledger, Round};

use claim::Claim;
pub use claim::take_over;
use contents::Contents;
pub use error::LedgerFileError;
pub use label::{AccountOfRun, Binding, LedgerLabel, SealedCanaries, SearchKind, SearchOfRun};
pub use line::Chain;
use line::{Block, Bound, FORMAT, Header, Published, Stop, sha256};
pub use record::{LedgerRecord, bind_file_to_ledger, mark_ledger_as_published, read_ledger_file};

/// The ledger file of a run in progress, locked against other writers.
#[derive(Debug)]
pub struct LedgerFile {
    file: Locked,
    path: PathBuf,
    header: Header,
    chain: Chain,
    /// Rounds before this one are on disk.
    reserved: u64,
    /// The next round that may be released.
    next: u64,
    /// Rounds before this one cannot be given back.
    last_block: u64,
    /// SHA-256 of the files bound so far.
    files: BTreeMap<String, String>,
    published: bool,
    usable: bool,
    /// None while only a line is added to the ledger of a run that has ended.
    claim: Option<Claim>,
}

impl LedgerFile {
    /// Begins the ledger of a new run; `path` must not exist.
    pub fn create(
        path: &Path,
        plan: &Ledger,
        private: bool,
        label: LedgerLabel,
    ) -> Result<Self, LedgerFileError> {
        plan.check_not_empty()?;
        let created = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path);
        let file = created.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => LedgerFileError::Exists { path: path.into() },
            _ => io_error("create", path)(source),
        })?;
        let file = Locked::new(file, path)?;
        let claim = Claim::make(path)?;
        let header = Header {
            tacita_ledger: FORMAT,
            private,
            block_rounds: block_rounds(plan.rounds_made()),
            label,
            plan: plan.clone(),
        };
        let (line, chain) = Chain::default().write(&header);
        let mut ledger = Self {
            file,
            path: path.into(),
            header,
            chain,
            reserved: 0,
            next: 0,
            last_block: 0,
            files: BTreeMap::new(),
            published: false,
            usable: true,
            claim: Some(claim),
        };
        ledger.write(&line)?;
        sync_directory(path).map_err(io_error("create", path))?;
        Ok(ledger)
    }

    /// Opens the ledger of a run that stopped or died, under the same plan and kind of keys.
    pub fn open(path: &Path, plan: &Ledger, private: bool) -> Result<Self, LedgerFileError> {
        Self::open_if(
            path,
            |path| Claim::make(path).map(Some),
            |header| {
                if header.plan != *plan {
                    return Err(LedgerFileError::OtherPlan { path: path.into() });
                }
                if header.private != private {
                    let private = header.private;
                    return Err(LedgerFileError::OtherKeys {
                        path: path.into(),
                        private,
                    });
                }
                Ok(())
            },
        )
    }

    /// Opens a ledger whose first line passes a check, to add a line to that of a run that has ended.
    fn open_ended(path: &Path) -> Result<Self, LedgerFileError> {
        Self::open_if(path, |_| Ok(None), |_| Ok(()))
    }

    /// Opens a ledger whose first line passes a check.
    fn open_if(
        path: &Path,
        claim: impl FnOnce(&Path) -> Result<Option<Claim>, LedgerFileError>,
        check: impl FnOnce(&Header) -> Result<(), LedgerFileError>,
    ) -> Result<Self, LedgerFileError> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let mut file = Locked::new(opened.map_err(io_error("open", path))?, path)?;
        // Before anything is read: what an earlier process wrote until then counts, and nothing after.
        let claim = claim(path)?;
        let mut bytes = Vec::new();
        file.0
            .read_to_end(&mut bytes)
            .map_err(io_error("read", path))?;
        let contents = Contents::parse(path, &bytes)?;
        check(&contents.header)?;
        let intact = contents.intact_bytes as u64;
        file.0
            .seek(SeekFrom::Start(intact))
            .map_err(io_error("read", path))?;
        let mut ledger = Self {
            file,
            path: path.into(),
            chain: contents.chain,
            header: contents.header,
            reserved: contents.reserved,
            next: contents.reserved,
            last_block: contents.last_block,
            files: contents.files,
            published: contents.published,
            usable: true,
            claim,
        };
        if contents.torn {
            // The torn line becomes the block it counts as. Dying here leaves it torn.
            if ledger.reserved < ledger.planned_rounds() {
                ledger.reserve_block()?;
            }
            let end = ledger.file.0.stream_position();
            let cut = end
                .and_then(|end| ledger.file.0.set_len(end))
                .and_then(|()| ledger.file.0.sync_all());
            cut.map_err(io_error("repair", path))?;
            ledger.next = ledger.reserved;
        }
        Ok(ledger)
    }

    /// Makes the entry of a round durable and returns what it releases. Only after this may noise be drawn.
    ///
    /// One write in [`Header::block_rounds`] calls goes to disk.
    pub fn admit(&mut self, round: u64) -> Result<Round, LedgerFileError> {
        if !self.usable {
            return Err(LedgerFileError::Unusable {
                path: self.path.clone(),
            });
        }
        if round != self.next {
            let expected = self.next;
            return Err(LedgerFileError::OutOfTurn { round, expected });
        }
        let planned = self.planned_rounds();
        let release = self.header.plan.round_at(round);
        let release = release.ok_or(LedgerFileError::PlanFinished { round, planned })?;
        if round >= self.reserved {
            self.reserve_block()?;
        }
        self.next += 1;
        Ok(release)
    }

    /// Goes back to a round, in a run whose noise is not secret: the round is made again as before.
    pub fn rewind(&mut self, round: u64) {
        if !self.header.private {
            self.next = self.next.min(round);
        }
    }

    /// The round to come.
    pub fn next_round(&self) -> u64 {
        self.next
    }

    /// What was released under this ledger, as it would read if the run stopped now.
    pub fn released(&self) -> Ledger {
        self.header.plan.prefix(self.next)
    }

    /// Stops in order: gives back the rounds that were reserved and not released. A run that went far
    /// back, which a fixed seed may, gives back nothing: earlier blocks stay as they are.
    pub fn close(mut self) -> Result<Ledger, LedgerFileError> {
        if self.usable && (self.last_block..self.reserved).contains(&self.next) {
            let stopped_before = self.next;
            self.append(&Stop { stopped_before })?;
        }
        Ok(self.released())
    }

    /// Binds a file of the run by its content; nothing is written if it is bound so already.
    pub fn bind(&mut self, file: &str, content: &[u8]) -> Result<(), LedgerFileError> {
        let sha256 = sha256(content);
        if self.files.get(file) == Some(&sha256) {
            return Ok(());
        }
        let file = file.to_string();
        self.append(&Bound {
            file: file.clone(),
            sha256: sha256.clone(),
        })?;
        self.files.insert(file, sha256);
        Ok(())
    }

    /// Marks the run as the published one of its search.
    fn publish(&mut self) -> Result<(), LedgerFileError> {
        match self.published {
            true => Ok(()),
            false => self.append(&Published { published: true }),
        }
    }

    fn planned_rounds(&self) -> u64 {
        self.header.plan.rounds_made()
    }

    fn reserve_block(&mut self) -> Result<(), LedgerFileError> {
        let first = self.reserved;
        let rounds = self.header.block_rounds.min(self.planned_rounds() - first);
        self.append(&Block { first, rounds })?;
        (self.last_block, self.reserved) = (first, first + rounds);
        Ok(())
    }

    fn append(&mut self, value: &impl serde::Serialize) -> Result<(), LedgerFileError> {
        let (line, chain) = self.chain.write(value);
        self.write(&line)?;
        self.chain = chain;
        Ok(())
    }

    fn write(&mut self, line: &str) -> Result<(), LedgerFileError> {
        // After a failed synchronisation the system may drop what it failed to write and report
        // success the next time, so there is no second try.
        self.usable = false;
        self.check_claim()?;
        let file = &mut self.file.0;
        let written = file.write_all(line.as_bytes()).and_then(|()| {
            hide_time(file);
            file.sync_data()
        });
        written.map_err(io_error("write", &self.path))?;
        // Now that it is on the disk: see `claim.rs`.
        self.check_claim()?;
        self.usable = true;
        Ok(())
    }

    fn check_claim(&self) -> Result<(), LedgerFileError> {
        self.claim.as_ref().map_or(Ok(()), Claim::check)
    }
}

/// Gives a file of a run the beginning of 1970 as its time, so far as the system lets us: between the times of two
/// files lie steps, whose time grows with the true number of records.
pub fn hide_time(file: &File) {
    let times = FileTimes::new()
        .set_modified(UNIX_EPOCH)
        .set_accessed(UNIX_EPOCH);
    // A run is not worth ending for it.
    let _ = file.set_times(times);
}

/// A hundredth of the plan, so that a crash wastes at most that; more than 256 saves nothing.
fn block_rounds(planned: u64) -> u64 {
    (planned / 100).clamp(1, 256)
}

/// A file no other writer can open.
#[derive(Debug)]
pub struct Locked(File);

impl Locked {
    fn new(file: File, path: &Path) -> Result<Self, LedgerFileError> {
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(LedgerFileError::InUse { path: path.into() }),
            Err(TryLockError::Error(source)) => Err(io_error("lock", path)(source)),
        }
    }

    /// Waits for other writers.
    pub fn waiting(file: File) -> io::Result<Self> {
        file.lock()?;
        Ok(Self(file))
    }

    /// The file.
    pub fn file(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file would do, but not while a process being started shares it for a moment.
        let _ = self.0.unlock();
    }
}

/// A new file survives a power cut only once its directory does.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new("."));
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

fn io_error(action: &'static str, path: &Path) -> impl Fn(io::Error) -> LedgerFileError {
    let path = path.to_path_buf();
    move |source| LedgerFileError::Io {
        action,
        path: path.clone(),
        source,
    }
}

#[cfg(test)]
mod tests;
