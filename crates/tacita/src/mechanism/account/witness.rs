//! The head of an account, kept where a copy of its file that is put back does not reach.

use super::{AccountError, AccountStanding, io_error};
use crate::mechanism::ledger_file::{AccountOfRun, sync_directory};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

fn file(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.json"))
}

/// What was last seen of an account on this machine; none if it was never reserved from here.
pub(super) fn read(folder: &Path, id: &str) -> Result<Option<AccountOfRun>, AccountError> {
    let path = file(folder, id);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        read => read.map_err(io_error("read", &path))?,
    };
    let seen: Result<AccountOfRun, _> = serde_json::from_str(&text);
    match seen {
        Ok(seen) if seen.id == id => Ok(Some(seen)),
        _ => Err(AccountError::Damaged {
            path,
            line: 1,
            reason: "it is not a witness",
        }),
    }
}

/// Keeps the head of an account; it is on disk when this returns.
pub(super) fn write(folder: &Path, standing: &AccountStanding) -> Result<(), AccountError> {
    let path = file(folder, standing.id());
    let seen = AccountOfRun {
        id: standing.id().into(),
        run: String::new(),
        line: standing.lines(),
        head: standing.head().into(),
    };
    let text = serde_json::to_string(&seen).unwrap_or_else(|_| unreachable!("plain data"));
    let beside = path.with_extension("new");
    let written = fs::create_dir_all(folder)
        .and_then(|()| File::create(&beside))
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&beside, &path))
        .and_then(|()| sync_directory(&path));
    written.map_err(io_error("write", &path))
}
