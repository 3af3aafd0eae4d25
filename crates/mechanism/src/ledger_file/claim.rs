//! Which process may write a ledger: the one with the newest claim.
//!
//! A lock keeps two processes of one machine apart, and vanishes with the one that holds it. Between machines that share a
//! file system it may do neither: a process taken for dead may only have been slow. So each start also makes a *claim*,
//! the file `ledger.jsonl.claim-N` beside the ledger, by creating the next number, which the file system allows once. An
//! entry counts as written only if the claim of its process still was the newest *after* the entry was on the disk: a
//! process that was fenced off draws no noise. It stops there and then.
//!
//! Why two processes cannot both release a round: say the newer claim was made after the older process had looked. Then it
//! was made after that process's entry was on the disk, and the newer one, which reads the ledger only once it has its
//! claim, sees the entry. Otherwise the older one sees the newer claim, and does not release.
//!
//! A claim is removed when its process ends in order. One that is left is that of a process that was killed, or that still
//! runs. It was killed if its lock is gone and the lock can be trusted: on a file system of this machine, or if the claim
//! was made by this machine since it was started. Else a person has to say so ([`take_over`]).
//!
//! What is asked of a file system that machines share: that a file created by one is seen by the others at once (for NFS
//! the mount option `lookupcache=positive`).

use super::LedgerFileError;
use super::io_error;
use super::sync_directory;
use crate::fresh_key::identifier;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The claim of this process on a ledger; given up when dropped.
#[derive(Debug)]
pub(super) struct Claim {
    ledger: PathBuf,
    number: u64,
    holder: Holder,
}

/// Who made a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    /// No other claim has it.
    id: String,
    /// The machine since it was started, hashed, where the system tells.
    machine: Option<String>,
    /// The process on it.
    process: u32,
}

impl Claim {
    /// Makes the next claim, on a ledger that this process has locked. Refused while the process of the last one may
    /// still run.
    pub fn make(ledger: &Path) -> Result<Self, LedgerFileError> {
        Self::make_if(ledger, lock_can_be_trusted(ledger))
    }

    fn make_if(ledger: &Path, lock_tells: bool) -> Result<Self, LedgerFileError> {
        let newest = newest(ledger)?;
        if newest > 0 && !lock_tells {
            let holder = read(ledger, newest)?;
            let of_this_machine = holder
                .and_then(|holder| holder.machine)
                .is_some_and(|of_holder| Some(of_holder) == machine());
            if !of_this_machine {
                return Err(LedgerFileError::MayBeRunning {
                    path: ledger.into(),
                    claim: file(ledger, newest),
                });
            }
        }
        Self::next(ledger, newest)
    }

    fn next(ledger: &Path, newest: u64) -> Result<Self, LedgerFileError> {
        let claim = Self {
            ledger: ledger.into(),
            number: newest + 1,
            holder: Holder {
                id: identifier().map_err(LedgerFileError::Claim)?,
                machine: machine(),
                process: std::process::id(),
            },
        };
        let path = file(ledger, claim.number);
        let failed = io_error("claim", ledger);
        let text = serde_json::to_vec(&claim.holder).map_err(|error| failed(error.into()))?;
        let created = OpenOptions::new().write(true).create_new(true).open(&path);
        let mut created = created.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => LedgerFileError::InUse {
                path: ledger.into(),
            },
            _ => failed(error),
        })?;
        let written = created.write_all(&text).and_then(|()| {
            super::hide_time(&created);
            created.sync_all()?;
            sync_directory(&path)
        });
        if let Err(error) = written {
            // On a full disk: nobody holds it.
            let _ = fs::remove_file(&path);
            return Err(failed(error));
        }
        // Whoever made these has been fenced off: it finds its claim gone.
        for older in (1..=newest).rev().map(|number| file(ledger, number)) {
            if fs::remove_file(older).is_err() {
                break;
            }
        }
        Ok(claim)
    }

    /// Refuses if another process has made a newer one.
    ///
    /// # Guarantee
    /// Asked after an entry is on the disk, see the head of this file. Checked by
    /// `a_process_that_was_taken_over_writes_nothing_that_counts`.
    pub fn check(&self) -> Result<(), LedgerFileError> {
        let newer = file(&self.ledger, self.number + 1);
        let newer = newer
            .try_exists()
            .map_err(io_error("check", &self.ledger))?;
        match read(&self.ledger, self.number)? {
            Some(holder) if holder == self.holder && !newer => Ok(()),
            _ => Err(LedgerFileError::TakenOver {
                path: self.ledger.clone(),
            }),
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.check().is_ok() {
            let _ = fs::remove_file(file(&self.ledger, self.number));
        }
    }
}

/// Takes a ledger from the process that has the newest claim on it, which must not be running any more. If it does
/// after all, it stops at its next entry without releasing anything.
pub fn take_over(ledger: &Path) -> Result<(), LedgerFileError> {
    let claim = Claim::next(ledger, newest(ledger)?)?;
    // It stays until the run is resumed, which makes the next.
    std::mem::forget(claim);
    Ok(())
}

fn file(ledger: &Path, number: u64) -> PathBuf {
    let mut path = ledger.as_os_str().to_owned();
    path.push(format!(".claim-{number}"));
    path.into()
}

/// The highest number of a claim; 0 if there is none.
fn newest(ledger: &Path) -> Result<u64, LedgerFileError> {
    let failed = io_error("find claims on", ledger);
    let folder = ledger
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let name = file(ledger, 0);
    let name = name
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let start = name.trim_end_matches('0');
    let mut newest = 0;
    for entry in fs::read_dir(folder.unwrap_or(Path::new("."))).map_err(&failed)? {
        let name = entry.map_err(&failed)?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(start));
        newest = newest.max(number.and_then(|number| number.parse().ok()).unwrap_or(0));
    }
    Ok(newest)
}

/// Who made a claim; none if it is gone, or was not finished.
fn read(ledger: &Path, number: u64) -> Result<Option<Holder>, LedgerFileError> {
    match fs::read(file(ledger, number)) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error("check", ledger)(error)),
    }
}

/// This machine since it was started: a number that Linux draws at every start, hashed. Containers of a machine share it,
/// and its locks.
fn machine() -> Option<String> {
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digest = Sha256::digest(start.trim());
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// File systems that one machine has for itself.
const LOCAL: [&str; 14] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "tmpfs", "ramfs", "overlay",
    "vfat", "exfat", "ntfs3",
];

/// Whether a lock that was had on a file tells that no process of any machine holds it: on a file system of this machine.
/// Only Linux tells which it is; elsewhere it is taken for one.
fn lock_can_be_trusted(path: &Path) -> bool {
    let (Ok(mounts), Ok(path)) = (
        fs::read_to_string("/proc/self/mountinfo"),
        path.canonicalize(),
    ) else {
        return !cfg!(target_os = "linux");
    };
    file_system(&mounts, &path).is_some_and(|kind| LOCAL.contains(&kind))
}

/// The kind of file system that a file lies on, by the list of what is mounted where: proc(5).
fn file_system<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mounted = mounts.lines().filter_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let place = mount.split(' ').nth(4)?.replace("\\040", " ");
        path.starts_with(&place)
            .then(|| Some((place.len(), system.split(' ').next()?)))?
    });
    // The last of equals hides those before it.
    mounted
        .max_by_key(|(length, _)| *length)
        .map(|(_, kind)| kind)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("tacita-claim-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("ledger.jsonl"), "").unwrap();
            Self(path)
        }

        fn ledger(&self) -> PathBuf {
            self.0.join("ledger.jsonl")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn numbers(ledger: &Path) -> Vec<u64> {
        (0..20).filter(|n| file(ledger, *n).exists()).collect()
    }

    #[test]
    fn the_newest_claim_is_the_only_one_that_holds() {
        let folder = Folder::new("newest");
        let ledger = folder.ledger();
        let first = Claim::make(&ledger).unwrap();
        first.check().unwrap();
        take_over(&ledger).unwrap();
        assert!(matches!(
            first.check(),
            Err(LedgerFileError::TakenOver { .. })
        ));
        let third = Claim::make(&ledger).unwrap();
        assert!(first.check().is_err());
        third.check().unwrap();
        assert_eq!(numbers(&ledger), [3]);
        // One that was fenced off removes no claim but its own, and numbers that are used again are not its own.
        drop(third);
        assert_eq!(numbers(&ledger), [] as [u64; 0]);
        let again = Claim::make(&ledger).unwrap();
        assert_eq!((again.number, first.number), (1, 1));
        assert!(first.check().is_err());
        drop(first);
        again.check().unwrap();
    }

    /// On a file system that machines share.
    #[test]
    fn a_claim_that_another_machine_may_hold_is_taken_over_on_demand_only() {
        let folder = Folder::new("shared");
        let ledger = folder.ledger();
        // None is left by a process that ended in order.
        drop(Claim::make_if(&ledger, false).unwrap());
        // One of this machine, whose process is dead: the lock was had.
        std::mem::forget(Claim::make_if(&ledger, false).unwrap());
        let mut claim = Claim::make_if(&ledger, false).unwrap();
        assert_eq!(claim.number, 2);
        for machine in [Some("another".to_string()), None] {
            claim.holder.machine = machine;
            fs::write(file(&ledger, 2), serde_json::to_vec(&claim.holder).unwrap()).unwrap();
            let refused = Claim::make_if(&ledger, false);
            assert!(matches!(refused, Err(LedgerFileError::MayBeRunning { .. })));
            // A person says so; or the file system is of this machine.
            claim.check().unwrap();
        }
        // One that was cut short by a crash.
        fs::write(file(&ledger, 2), "{\"id\":").unwrap();
        assert!(Claim::make_if(&ledger, false).is_err());
        take_over(&ledger).unwrap();
        assert!(claim.check().is_err());
        Claim::make_if(&ledger, false).unwrap().check().unwrap();
    }

    #[test]
    fn of_many_processes_that_claim_at_once_one_has_the_newest() {
        let folder = Folder::new("race");
        let ledger = folder.ledger();
        let claims: Vec<Claim> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| Claim::next(&ledger, newest(&ledger).unwrap())))
                .collect();
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            ended.filter_map(Result::ok).collect()
        });
        let holding = claims.iter().filter(|claim| claim.check().is_ok()).count();
        assert_eq!(holding, 1);
    }

    #[test]
    fn a_file_lies_on_the_innermost_file_system() {
        let mounts = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
                      35 22 0:30 / /home rw shared:2 - nfs4 server:/home rw\n\
                      36 35 0:31 / /home/a\\040b rw - xfs /dev/sdb rw\n";
        let of = |path: &str| file_system(mounts, Path::new(path));
        assert_eq!(of("/tmp/run"), Some("ext4"));
        assert_eq!(of("/home/me/run"), Some("nfs4"));
        assert_eq!(of("/home/a b/run"), Some("xfs"));
        assert_eq!(of("/homes/run"), Some("ext4"));
        assert!(!LOCAL.contains(&"nfs4"));
    }
}
