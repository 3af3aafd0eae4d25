//! Files and folders that are written whole, kept through a crash, or locked.

mod times;

pub use times::{hide_time, hide_times};

use anyhow::{Context, Result, bail};
use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes beside the file and renames, so that no reader sees half of it. The file has the time that all files of runs
/// have ([`hide_times`]), also if the run is killed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    let beside = path.with_file_name(name);
    let written = File::create(&beside)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            hide_time(&file);
            Ok(())
        })
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// The same for what must outlive a crash of the machine: file and folder are on the disk when it returns.
pub fn write_lasting(path: &Path, bytes: &[u8]) -> Result<()> {
    let synced = |path: &Path| {
        let file = File::open(path).and_then(|file| file.sync_all());
        file.with_context(|| format!("cannot keep {}", path.display()))
    };
    let beside = path.with_extension("unsynced");
    write_whole(&beside, bytes)?;
    synced(&beside)?;
    fs::rename(&beside, path).with_context(|| format!("cannot write {}", path.display()))?;
    match path.parent() {
        // Elsewhere a folder cannot be opened, and its entries last as they are.
        Some(folder) if cfg!(unix) => synced(folder),
        _ => Ok(()),
    }
}

/// Writes a new file that only its owner can read, where the system knows such a thing, so that it outlives a crash.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Locks a file, or where the system can a folder, against other processes.
pub fn lock(path: &Path) -> Result<File> {
    let unlocked = || format!("cannot lock {}", path.display());
    let lock = File::open(path).with_context(unlocked)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => bail!(
            "{} is in use by another process, which is training there; wait for it, or stop it. Nothing was \
             spent by this one",
            path.display()
        ),
        Err(TryLockError::Error(error)) => Err(error).with_context(unlocked),
    }
}

/// Makes a folder and those above it; false if it was there.
pub fn make(path: &Path) -> Result<bool> {
    let context = || format!("cannot make the folder {}", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(context)?;
    }
    match fs::create_dir(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error).with_context(context),
    }
}
