//! An index: a folder with a copy of prepared records, made once.
//!
//! It is private data at rest, so its files are for their owner alone, and it never lies in the folder of a run. It is
//! written beside its place and renamed when it is whole; who makes or opens one holds a lock, which the operating
//! system takes away from a process that dies.

use super::form::Unit;
use super::records::DiskRecords;
use super::shard::Shards;
use super::writer::{Writer, Written, create};
use crate::targets::Targets;
use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

const WARNING: &str = "PRIVATE DATA AT REST: a copy of prepared records, for `tacita train --on-disk`. Delete the folder when it is not needed";
const FORMAT: u32 = 1;
/// What tells the whole index; it is written last.
const MANIFEST: &str = "index.json";
const PARTS: [&str; 2] = ["training.rows", "held-out.rows"];

/// What is asked of an index.
pub(crate) struct Wanted<'a> {
    /// Where indices lie.
    pub folder: &'a Path,
    /// The name of this one: a hash of all that decides how records are prepared.
    pub name: String,
    /// The files of the records.
    pub files: &'a [PathBuf],
    /// Whether each of them is a record.
    pub files_are_records: bool,
    /// What the values of records are.
    pub unit: Unit,
    /// None yet, of the kind that there are.
    pub targets: &'a Targets,
    /// Make it even if there is one.
    pub again: bool,
    /// Say nothing.
    pub quiet: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest<P> {
    warning: String,
    tacita_index: u32,
    files: Shards,
    found: P,
    parts: [Written; 2],
}

/// What making an index takes: files to write to, and what is to be known of the records beside them.
pub(crate) type Make<'m, P> = dyn FnMut([Writer; 2]) -> Result<(P, [Writer; 2])> + 'm;

impl Wanted<'_> {
    /// Opens the index, or makes it first: what was found beside the records to train on and those held out.
    pub fn open<P: Serialize + DeserializeOwned>(
        &self,
        make: &mut Make<'_, P>,
    ) -> Result<(P, [DiskRecords; 2])> {
        refuse_run_folder(self.folder)?;
        make_private(self.folder)?;
        let _lock = self.lock()?;
        let now = Shards::of(self.files, self.files_are_records)?;
        let place = self.place();
        match self.read::<P>() {
            Some(manifest) if !self.again && manifest.files == now => {
                let parts = self.parts(&manifest.parts);
                if let Ok(parts) = parts {
                    return Ok((manifest.found, parts));
                }
                self.say("is damaged, and is made again");
            }
            Some(manifest) => {
                if let Some(gone) = manifest.files.vanished(&now)
                    && !self.again
                {
                    bail!(
                        "{} was there when the index {} was made, and is not any more. Restore it; or, to train without it, \
                         delete the folder of the index. Nothing was spent",
                        gone.display(),
                        place.display()
                    );
                }
                self.say("is older than the data, and is made again");
            }
            None => self.say("is being made; the records are read once"),
        }
        let manifest = self.make(now, make)?;
        let parts = self.parts(&manifest.parts)?;
        self.say(
            "is made. It is a copy of private records, for its owner alone to read (mode 0600) and not encrypted: delete the \
             folder when it is not needed",
        );
        Ok((manifest.found, parts))
    }

    fn place(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    fn say(&self, what: &str) {
        if !self.quiet {
            eprintln!("The index {} {what}.", self.place().display());
        }
    }

    /// No other process makes or opens this index while it is held.
    fn lock(&self) -> Result<File> {
        let path = self.folder.join(format!("{}.lock", self.name));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let unlocked = || {
            format!(
                "cannot lock the index {}; nothing was spent",
                path.display()
            )
        };
        let lock = options.open(&path).with_context(unlocked)?;
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::Error(error)) => return Err(error).with_context(unlocked),
            Err(TryLockError::WouldBlock) => {
                self.say("is being made by another process, which is waited for");
            }
        }
        lock.lock().with_context(unlocked)?;
        Ok(lock)
    }

    /// The index that is there, if it is whole and of this format.
    fn read<P: DeserializeOwned>(&self) -> Option<Manifest<P>> {
        let text = fs::read(self.place().join(MANIFEST)).ok()?;
        let manifest: Manifest<P> = serde_json::from_slice(&text).ok()?;
        (manifest.tacita_index == FORMAT).then_some(manifest)
    }

    fn parts(&self, written: &[Written; 2]) -> Result<[DiskRecords; 2]> {
        let open = |part: usize| {
            let path = self.place().join(PARTS[part]);
            DiskRecords::open(&path, written[part].clone(), self.targets)
        };
        Ok([open(0)?, open(1)?])
    }

    fn make<P: Serialize>(&self, now: Shards, make: &mut Make<'_, P>) -> Result<Manifest<P>> {
        let partial = self.folder.join(format!("{}.partial", self.name));
        remove(&partial)?;
        let made = self.write(&partial, now, make);
        if made.is_err() {
            let _ = fs::remove_dir_all(&partial);
        }
        made
    }

    fn write<P: Serialize>(
        &self,
        partial: &Path,
        before: Shards,
        make: &mut Make<'_, P>,
    ) -> Result<Manifest<P>> {
        make_private(partial)?;
        let writer = |part: usize| Writer::new(&partial.join(PARTS[part]), self.unit);
        let (found, [training, held_out]) = make([writer(0)?, writer(1)?])?;
        let after = Shards::of(self.files, self.files_are_records)?;
        ensure!(
            before == after,
            "the data were changed while the index was made of them; try again when nobody writes to them. Nothing was spent"
        );
        let manifest = Manifest {
            warning: WARNING.into(),
            tacita_index: FORMAT,
            files: before,
            found,
            parts: [training.finish()?, held_out.finish()?],
        };
        let path = partial.join(MANIFEST);
        let cannot = || {
            format!(
                "cannot write the index {}; nothing was spent",
                path.display()
            )
        };
        let text = serde_json::to_vec_pretty(&manifest)?;
        let mut file = create(&path)?;
        file.write_all(&text)
            .and_then(|()| file.sync_all())
            .with_context(cannot)?;
        // Whoever reads the old one has its files open.
        remove(&self.place())?;
        fs::rename(partial, self.place()).with_context(cannot)?;
        Ok(manifest)
    }
}

/// Removes what an index that was never finished, or an older one, left.
fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error)
            .with_context(|| format!("cannot remove {}; nothing was spent", folder.display())),
        _ => Ok(()),
    }
}

/// Makes a folder that only its owner can look into, if it is not there.
fn make_private(folder: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).with_context(|| {
        format!(
            "cannot make the folder {} for an index of the records; nothing was spent",
            folder.display()
        )
    })
}

/// The folder of a run is there to be published.
fn refuse_run_folder(folder: &Path) -> Result<()> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let run = (folder.ancestors()).find(|folder| folder.join("ledger.jsonl").exists());
    match run {
        None => Ok(()),
        Some(run) => bail!(
            "an index is a copy of private records, and {} is the folder of a run, which may be published; name another \
             folder: --on-disk=DIR. Nothing was spent",
            run.display()
        ),
    }
}
