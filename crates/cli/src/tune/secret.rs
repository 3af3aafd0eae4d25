//! What a random search must keep to itself: the drawn number, the candidates, every run but the best.

use crate::commands::report;
use crate::run::{Part, RunFolder, RunRecord};
use anyhow::{Context, Result, ensure};
use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The folder of what must not be published.
pub const FOLDER: &str = "secret";
/// The file in it of what was drawn.
pub const DRAWN: &str = "drawn.json";

/// A folder only its owner can look into, where the system knows such a thing.
pub fn make(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    (builder.create(path)).with_context(|| format!("cannot make {}", path.display()))
}

/// Makes the best run one that may be seen, with a report that states the guarantee of the search.
pub fn publish(run: &Path) -> Result<()> {
    let (folder, mut record) = RunFolder::open(run)?;
    if let Some(search) = &mut record.search {
        search.part = Part::Winner;
    }
    folder.write_record(&record)?;
    report::write_all(run)
}

/// Refuses the folder of a run that a random search keeps secret, wherever it was copied.
pub fn refuse(run: &Path) -> Result<()> {
    let run = run.canonicalize().unwrap_or_else(|_| run.to_path_buf());
    let mut above = run.ancestors();
    let secret = above.find(|folder| folder.ends_with(FOLDER) && folder.join(DRAWN).exists());
    let part = |(_, record): (RunFolder, RunRecord)| record.search.map(|search| search.part);
    ensure!(
        secret.is_none() && RunFolder::open(&run).ok().and_then(part) != Some(Part::Secret),
        "{} is one of the secret runs of a random search, of which only the best may be seen; go on with the \
         search by its `tacita tune` command",
        run.display()
    );
    Ok(())
}

/// Takes away every run of a search that is not published, with all that was drawn; and the times of what
/// is, between which lies the time of all runs.
pub fn leave_no_trace(search: &Path) -> Result<()> {
    let secret = search.join(FOLDER);
    if secret.exists() {
        fs::remove_dir_all(&secret).with_context(|| {
            format!(
                "cannot remove {}, which must not be published",
                secret.display()
            )
        })?;
    }
    let times = FileTimes::new()
        .set_modified(UNIX_EPOCH)
        .set_accessed(UNIX_EPOCH);
    set_times(search, times)
        .with_context(|| format!("cannot hide the times of {}", search.display()))
}

/// Gives a file, or a folder and all that is in it, the same times; not what links lead to.
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
