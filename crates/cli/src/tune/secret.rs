//! What a random search must keep to itself: the drawn number, the candidates, every run but the best.

use crate::files::{hide_times, write_lasting};
use crate::report;
use crate::run::{Part, RunFolder, RunRecord};
use crate::run_files::RunFiles;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The folder of what must not be published.
pub const FOLDER: &str = "secret";
/// The file in it of what was drawn.
pub const DRAWN: &str = "drawn.json";
/// The public file that says runs were drawn. It is there before the first of them begins, and stays.
const BEGUN: &str = "begun.txt";

/// Says for good that the runs of a search were drawn.
pub fn note_that_it_began(search: &Path) -> Result<()> {
    let file = search.join(BEGUN);
    if file.exists() {
        return Ok(());
    }
    let text = "The runs of this search were drawn. If they are lost, its budget is spent: they are not drawn again.\n";
    write_lasting(&file, text.as_bytes())
}

/// Refuses to draw again for a search whose first draw is gone: its runs may have been published, and the guarantee covers
/// one draw.
pub fn refuse_to_draw_twice(search: &Path) -> Result<()> {
    ensure!(
        !search.join(BEGUN).exists() && !search.join("winner").exists(),
        "the runs of {} were drawn before, and the record of them or the report is gone. Its budget is spent: restore \
         the folder, or start another search, with a budget of its own, in another folder. Nothing more was spent",
        search.display()
    );
    Ok(())
}

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
    let (text, settings) = (record.text()?, record.settings_text()?);
    let ledger = folder.ledger();
    tacita::mark_ledger_as_published(&ledger)?;
    tacita::bind_file_to_ledger(&ledger, RunFiles::RECORD, text.as_bytes())?;
    tacita::bind_file_to_ledger(&ledger, RunFiles::SETTINGS, settings.as_bytes())?;
    folder.write_record(&text, &settings)?;
    report::write_all(run)
}

/// Refuses the folder of a run that a random search keeps secret, wherever it was copied.
pub fn refuse(run: &Path) -> Result<()> {
    let run = run.canonicalize().unwrap_or_else(|_| run.to_path_buf());
    let mut above = run.ancestors();
    let secret = above.find(|folder| folder.ends_with(FOLDER) && folder.join(DRAWN).exists());
    let part = |(_, record): (RunFolder, RunRecord)| record.search.map(|search| search.part);
    let ledger = tacita::read_ledger_file(&RunFiles::of(&run).ledger());
    ensure!(
        secret.is_none()
            && !ledger.is_ok_and(|ledger| ledger.is_secret())
            && RunFolder::open(&run).ok().and_then(part) != Some(Part::Secret),
        "{} is one of the secret runs of a random search, of which only the best may be seen; resume the \
         search by its `tacita tune` command",
        run.display()
    );
    Ok(())
}

/// Takes away every run of a search that is not published, with all that was drawn; and the times of what
/// is, between which lies the time of all runs.
pub fn remove_all_but_published(search: &Path) -> Result<()> {
    let secret = search.join(FOLDER);
    if secret.exists() {
        fs::remove_dir_all(&secret).with_context(|| {
            format!(
                "cannot remove {}, which must not be published",
                secret.display()
            )
        })?;
    }
    hide_times(search)
}
