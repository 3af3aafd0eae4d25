//! File times that tell nothing.
//!
//! Between two files of a run lies the time of the steps between them, which grows with the true number
//! of records. So all files of what may be published get one time, the same for every run.

use anyhow::{Context, Result};
use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Gives a folder and all that is in it one time: the beginning of 1970. What links lead to is left alone.
///
/// The system's own record of when a file was made or last changed cannot be set; it stays on the disk
/// and does not travel with a copy.
pub fn hide_times(folder: &Path) -> Result<()> {
    set_times(folder, one_time()).with_context(|| {
        format!(
            "cannot hide the times of {}, which tell how long the run took and so how many records there are; \
             do not publish the folder before it has other times",
            folder.display()
        )
    })
}

/// The same for a file that is being written, so far as the system lets us: nobody may see the time of a run that was
/// killed either.
pub fn hide_time(file: &File) {
    let _ = file.set_times(one_time());
}

fn one_time() -> FileTimes {
    FileTimes::new()
        .set_modified(UNIX_EPOCH)
        .set_accessed(UNIX_EPOCH)
}

fn set_times(path: &Path, times: FileTimes) -> std::io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_symlink() {
        return Ok(());
    }
    if kind.is_dir() {
        for entry in fs::read_dir(path)? {
            set_times(&entry?.path(), times)?;
        }
        // Elsewhere a folder cannot be opened.
        if !cfg!(unix) {
            return Ok(());
        }
        return File::open(path)?.set_times(times);
    }
    File::options().write(true).open(path)?.set_times(times)
}
