//! The ledger of a run on disk: written before each release, never rewritten.
//!
//! The first line holds the committed plan. Each further line reserves a *block* of its steps, and
//! is on disk (written and synchronised) before the first of them is released. So at any moment,
//! even after `kill -9` or a power cut, the file covers every release that was made; steps of the
//! last block that were not made yet count as spent, unless the run stopped in order and a last
//! line gives them back. A resumed run goes on after the last reserved step.
//!
//! ```text
//! {"tacita_ledger":1,"private":true,"block_steps":10,"plan":{…},"chain":"…"}
//! {"first":0,"steps":10,"chain":"…"}
//! {"first":10,"steps":10,"chain":"…"}
//! {"stopped_before":13,"chain":"…"}
//! {"file":"facts.json","sha256":"…","chain":"…"}
//! ```
//!
//! The first line may carry a [`LedgerLabel`], and further lines may bind files of the run by their
//! SHA-256; the last line for a file counts.
//!
//! Each line's `chain` is the SHA-256 of the chain before it and the line without it, so a file
//! edited anywhere is refused. A last line without its newline was cut short by a crash. Nothing of
//! it can have been released, yet it is *counted as a spent block*: an intact line that someone
//! truncated looks the same. (Whole lines removed from the end leave no trace in the file; a
//! checkpoint ahead of its ledger gives that away.)

mod error;
mod label;
mod line;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tacita_accounting::{Ledger, Round};

pub use error::LedgerFileError;
pub use label::{Binding, LedgerLabel, SearchKind, SearchOfRun};
use line::{Block, Bound, Chain, Entry, FORMAT, Header, Published, Stop, sha256};

/// What a ledger file says, read without touching it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LedgerRecord {
    /// The whole plan the run is committed to; its ε is the guarantee.
    pub plan: Ledger,
    /// What counts as released so far: a prefix of the plan.
    pub released: Ledger,
    /// False if the run used a fixed seed or showed raw quantities; then nothing about it is private.
    pub private: bool,
    /// What its first line says besides the plan.
    pub label: LedgerLabel,
    /// Whether a random search chose this run to be its published one.
    pub published: bool,
    /// SHA-256 of the files it binds, by name.
    files: BTreeMap<String, String>,
}

impl LedgerRecord {
    /// What the ledger of a run would say after so many rounds of its plan.
    pub fn new(plan: Ledger, released: u64, private: bool, label: LedgerLabel) -> Self {
        Self {
            released: plan.prefix(released),
            plan,
            private,
            label,
            published: false,
            files: BTreeMap::new(),
        }
    }

    /// Whether a file of the run has the content that the ledger binds.
    pub fn binding(&self, file: &str, content: &[u8]) -> Binding {
        match self.files.get(file) {
            Some(bound) if *bound == sha256(content) => Binding::Same,
            Some(_) => Binding::Other,
            None if self.label.binds_files => Binding::Missing,
            None => Binding::None,
        }
    }

    /// Whether the run is one that a random search keeps secret: its ledger says nothing about what
    /// publishing it would cost.
    pub fn is_secret(&self) -> bool {
        let search = self.label.search.map(|search| search.kind);
        search == Some(SearchKind::Random) && !self.published
    }
}

/// Adds a line to the ledger of a run that is not being written: a file of the run has this content.
/// Nothing is added if the ledger says so already.
pub fn bind_file_to_ledger(
    ledger: &Path,
    file: &str,
    content: &[u8],
) -> Result<(), LedgerFileError> {
    LedgerFile::take_up(ledger, |_| Ok(()))?.bind(file, content)
}

/// Adds a line to the ledger of a run of a random search: it is the one that is published.
pub fn mark_ledger_as_published(ledger: &Path) -> Result<(), LedgerFileError> {
    let mut ledger = LedgerFile::take_up(ledger, |_| Ok(()))?;
    match ledger.published {
        true => Ok(()),
        false => ledger.append(&Published { published: true }),
    }
}

/// Reads the ledger file of a run, finished or not.
pub fn read_ledger_file(path: &Path) -> Result<LedgerRecord, LedgerFileError> {
    let bytes = std::fs::read(path).map_err(io_error("read", path))?;
    let contents = Contents::parse(path, &bytes)?;
    let released = contents.spent_steps();
    let Header {
        plan,
        private,
        label,
        ..
    } = contents.header;
    Ok(LedgerRecord {
        published: contents.published,
        files: contents.files,
        ..LedgerRecord::new(plan, released, private, label)
    })
}

/// The ledger file of a run in progress, locked against other writers.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    file: Locked,
    path: PathBuf,
    header: Header,
    chain: Chain,
    /// Steps before this one are on disk.
    reserved: u64,
    /// The next step that may be released.
    next: u64,
    /// Steps before this one cannot be given back.
    last_block: u64,
    /// SHA-256 of the files bound so far.
    files: BTreeMap<String, String>,
    published: bool,
    usable: bool,
}

impl LedgerFile {
    /// Begins the ledger of a new run; `path` must not exist.
    pub(crate) fn create(
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
        let header = Header {
            tacita_ledger: FORMAT,
            private,
            block_steps: block_steps(plan.steps()),
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
        };
        ledger.write(&line)?;
        sync_directory(path)?;
        Ok(ledger)
    }

    /// Takes up the ledger of a run that stopped or died, under the same plan and kind of keys.
    pub(crate) fn open(path: &Path, plan: &Ledger, private: bool) -> Result<Self, LedgerFileError> {
        Self::take_up(path, |header| {
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
        })
    }

    /// Takes up a ledger whose first line passes a check.
    fn take_up(
        path: &Path,
        check: impl FnOnce(&Header) -> Result<(), LedgerFileError>,
    ) -> Result<Self, LedgerFileError> {
        let opened = OpenOptions::new().read(true).write(true).open(path);
        let mut file = Locked::new(opened.map_err(io_error("open", path))?, path)?;
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
        };
        if contents.torn {
            // The torn line becomes the block it counts as. Dying here leaves it torn.
            if ledger.reserved < ledger.planned_steps() {
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

    /// Makes the entry of `step` durable and returns its round. Only after this may noise be drawn.
    ///
    /// One write in [`Header::block_steps`] calls goes to disk.
    pub(crate) fn admit(&mut self, step: u64) -> Result<Round, LedgerFileError> {
        if !self.usable {
            return Err(LedgerFileError::Unusable {
                path: self.path.clone(),
            });
        }
        if step != self.next {
            let expected = self.next;
            return Err(LedgerFileError::OutOfTurn { step, expected });
        }
        let planned = self.planned_steps();
        let round = self.header.plan.round_at(step);
        let round = round.ok_or(LedgerFileError::PlanFinished { step, planned })?;
        if step >= self.reserved {
            self.reserve_block()?;
        }
        self.next += 1;
        Ok(round)
    }

    /// Goes back to a step, in a run whose noise is not secret: the step is made again as before.
    pub(crate) fn rewind(&mut self, step: u64) {
        if !self.header.private {
            self.next = self.next.min(step);
        }
    }

    /// The step to come.
    pub(crate) fn next_step(&self) -> u64 {
        self.next
    }

    /// What was released under this ledger, as it would read if the run stopped now.
    pub(crate) fn released(&self) -> Ledger {
        self.header.plan.prefix(self.next)
    }

    /// Stops in order: gives back the steps that were reserved and not released. A run that went far
    /// back, which a fixed seed may, gives back nothing: earlier blocks stay as they are.
    pub(crate) fn close(mut self) -> Result<Ledger, LedgerFileError> {
        if self.usable && (self.last_block..self.reserved).contains(&self.next) {
            let stopped_before = self.next;
            self.append(&Stop { stopped_before })?;
        }
        Ok(self.released())
    }

    /// Binds a file of the run by its content; nothing is written if it is bound so already.
    pub(crate) fn bind(&mut self, file: &str, content: &[u8]) -> Result<(), LedgerFileError> {
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

    fn planned_steps(&self) -> u64 {
        self.header.plan.steps()
    }

    fn reserve_block(&mut self) -> Result<(), LedgerFileError> {
        let first = self.reserved;
        let steps = self.header.block_steps.min(self.planned_steps() - first);
        self.append(&Block { first, steps })?;
        (self.last_block, self.reserved) = (first, first + steps);
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
        let written = self
            .file
            .0
            .write_all(line.as_bytes())
            .and_then(|()| self.file.0.sync_data());
        written.map_err(io_error("write", &self.path))?;
        self.usable = true;
        Ok(())
    }
}

/// A hundredth of the plan, so that a crash wastes at most that; more than 256 saves nothing.
fn block_steps(planned: u64) -> u64 {
    (planned / 100).clamp(1, 256)
}

/// A ledger file taken apart.
struct Contents {
    header: Header,
    chain: Chain,
    /// Steps before this one were reserved by intact lines and not given back.
    reserved: u64,
    /// The first step of the last block.
    last_block: u64,
    /// SHA-256 of bound files, by name.
    files: BTreeMap<String, String>,
    published: bool,
    /// Length of the intact lines.
    intact_bytes: usize,
    /// Whether something follows them.
    torn: bool,
}

impl Contents {
    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, LedgerFileError> {
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
        if header.tacita_ledger != FORMAT || header.block_steps == 0 {
            return Err(damaged(1, "it is of an unknown format"));
        }
        // Checks what deserialising alone does not.
        header.plan = Ledger::from_json(&header.plan.to_json())?;

        let planned = header.plan.steps();
        let (mut last_block, mut reserved) = (0, 0);
        let (mut files, mut published) = (BTreeMap::new(), false);
        for (index, line) in lines.enumerate() {
            let damaged = |reason| damaged(index + 2, reason);
            let (entry, next) = chain.read(without_newline(line)).map_err(damaged)?;
            chain = next;
            match entry {
                Entry::Block(Block { first, steps }) => {
                    let most = header.block_steps.min(planned - reserved);
                    if first != reserved || steps == 0 || steps > most {
                        return Err(damaged("its steps do not follow those before"));
                    }
                    (last_block, reserved) = (first, first + steps);
                }
                Entry::Stop(Stop { stopped_before }) => {
                    if !(last_block..=reserved).contains(&stopped_before) {
                        return Err(damaged("it gives back steps that it cannot"));
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

    /// Steps that count as released, with the block that a torn line may have reserved.
    fn spent_steps(&self) -> u64 {
        self.reserved
            + if self.torn {
                self.header.block_steps
            } else {
                0
            }
    }
}

fn without_newline(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// A file no other writer can open.
#[derive(Debug)]
struct Locked(File);

impl Locked {
    fn new(file: File, path: &Path) -> Result<Self, LedgerFileError> {
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(LedgerFileError::InUse { path: path.into() }),
            Err(TryLockError::Error(source)) => Err(io_error("lock", path)(source)),
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing the file would do, but not while a process being started shares it for a moment.
        let _ = self.0.unlock();
    }
}

/// A new file survives a power cut only once its directory does.
fn sync_directory(path: &Path) -> Result<(), LedgerFileError> {
    if cfg!(unix) {
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new("."));
        let synced = File::open(directory).and_then(|directory| directory.sync_all());
        synced.map_err(io_error("create", path))?;
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
